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
for i in {10..40}; do echo text >actual/$i; echo text >golden/$i; done
btftool diff --summary actual golden >report; echo "exit $?"
sort report | uniq -c | wc -l
