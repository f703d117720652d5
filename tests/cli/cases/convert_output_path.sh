# Where no file can be.
mkdir directory
ln -s loop loop
ln -s nowhere/out.btf dangling
touch file
for out in nowhere/out.btf directory directory/ . file/out.btf loop dangling; do
  btftool convert "$TESTDATA/good/mixed.btf" "$out"
  echo "exit $?"
done
ls -A . directory
