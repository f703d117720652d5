# A tensor of a file that cannot be compared is named and is trouble; the others of the file are compared.
bad=$TESTDATA/npz-bad
# With the crc in its directory put right.
good=good.npz
cp "$bad/crc-stored.npz" $good
printf '\346\270\032\072' | dd of=$good bs=1 seek=481 conv=notrunc 2>/dev/null
for broken in array-header deflate-wrong encrypted; do
  btftool diff "$bad/$broken.npz" "$good"; echo "exit $?"
  btftool diff --summary "$good" "$bad/$broken.npz" 2>&1; echo "exit $?"
  btftool layers "$bad/$broken.npz" "$good" 2>&1; echo "exit $?"
done
# A dtype that is not known; what differs and what is missing is told as ever.
unknown=$TESTDATA/bad/unknown-dtype.btf
btftool -q convert --tensor 0 --dtype int8 "$unknown" three.btf
btftool -q convert three.btf three.btf three.btf three.btf more.btf
btftool diff --show 0 "$unknown" more.btf; echo "exit $?"
btftool diff --json --junit report.xml --html report.html "$unknown" more.btf >report.json; echo "exit $?"
grep -o '"members":.*"tensors"' report.json
grep -o '"error":[^,]*,"actual".*"shape":null}' report.json
cat report.xml
grep -o '<h1.*\|.*unknown dtype code.*' report.html
btftool diff --from-json report.json; echo "exit $?"
btftool -q diff --from-json report.json --json | cmp - report.json
btftool diff --json --json-schema 1 "$unknown" more.btf 2>&1 >old.json; echo "exit $?"
btftool diff --from-json old.json 2>&1; echo "exit $?"
# Where nothing can be compared the errors say all.
btftool diff --tensor 1 --json "$unknown" more.btf 2>&1; echo "exit $?"
# A tensor without a scale, among others that have one.
btftool -q convert --tensor 0,1 "$TESTDATA/layers/golden.npz" numbers.npz
btftool -q convert --tensor 0 --dtype int8 --scale 0.05 numbers.npz codes.npz
btftool -q convert --tensor 1 numbers.npz rest.npz
btftool -q convert codes.npz rest.npz alone.npz
btftool -q convert rest.npz codes.npz behind.npz
for file in alone.npz behind.npz; do btftool diff --dequantize $file numbers.npz 2>/dev/null; echo "exit $?"; done
# In directories the file is trouble by that tensor.
mkdir actual golden
cp alone.npz actual/a.npz; cp numbers.npz golden/a.npz
cp rest.npz actual/b.npz; cp rest.npz golden/b.npz
btftool diff --dequantize actual golden 2>/dev/null; echo "exit $?"
btftool diff --dequantize --summary actual golden 2>/dev/null; echo "exit $?"
