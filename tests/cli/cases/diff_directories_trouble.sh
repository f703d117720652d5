# What cannot be compared is named and is trouble; the others are compared.
golden=$TESTDATA/good/mixed.btf
mkdir -p actual/sub golden/sub
for name in a.btf z.btf; do cp "$golden" "actual/$name"; cp "$golden" "golden/$name"; done
echo text >actual/README
echo text >golden/README
head -c 2000 "$golden" >actual/cut.btf
cp "$golden" golden/cut.btf
mkfifo actual/pipe
ln -s nowhere actual/link.btf
ln -s .. actual/sub/loop
btftool diff actual golden; echo "exit $?"
btftool diff --exclude README --exclude 'cut*' --exclude pipe --exclude link.btf actual golden; echo "exit $?"
rm actual/sub/loop
btftool diff --exclude README --exclude 'cut*' --exclude pipe --exclude link.btf actual golden; echo "exit $?"
rm -r actual/* golden/*
btftool diff actual golden; echo "exit $?"
btftool diff actual nothing; echo "exit $?"
btftool diff actual -; echo "exit $?"
# Many alike are counted.
for i in {10..40}; do printf '\1\2\3' | tee actual/$i >golden/$i; done
btftool diff --summary actual golden >report; echo "exit $?"
sort report | uniq -c | wc -l
# The tensors before the trouble are one line if they are the same; those that differ are told of.
rm -r actual/* golden/*
for name in a b; do cp "$golden" "golden/$name.btf"; done
head -c 3000 "$golden" >actual/a.btf
head -c 3000 "$TESTDATA/good/mixed_noisy.btf" >actual/b.btf
btftool diff --no-hints --show 0 --include a.btf actual golden 2>&1; echo "exit $?"
btftool diff --no-hints --show 0 --include a.btf --all actual golden 2>&1; echo "exit $?"
btftool diff --no-hints --show 0 --rtol 0.1 actual golden 2>&1; echo "exit $?"
