# Where no file can be.
ln -s loop loop
ln -s nowhere/out.btf dangling
touch file
for out in nowhere/out.btf file/out.btf loop dangling nowhere/; do
  btftool convert "$TESTDATA/good/mixed.btf" "$out"
  echo "exit $?"
done
ls -A
