# Which files of directories: by path or by name; a * takes slashes too.
mkdir -p actual/sub golden/sub
for name in a.btf b.btf sub/a.btf sub/c.btf; do
  cp "$TESTDATA/good/mixed.btf" "actual/$name"
  cp "$TESTDATA/good/mixed.btf" "golden/$name"
done
echo text >actual/notes.txt
compare() { btftool diff "$@" actual golden; echo "[$*] exit $?"; }
compare --include '*.btf'
compare --include a.btf
compare --include 'sub/*'
compare --include a.btf --include 'b.*'
compare --include '*.btf' --exclude 'sub/*'
compare --exclude notes.txt --exclude 'a.*'
compare --include '[ab].btf' --exclude a.btf
compare --include '*.bin'
compare --include '*.btf' --include '*.bin'
compare --exclude '*'
# A glob that leaves nothing out is said.
mkdir -p one two; cp "$TESTDATA/good/mixed.btf" one; cp "$TESTDATA/good/mixed.btf" two
btftool diff --summary --exclude 'nope*' --exclude '*.npy' one two; echo "exit $?"
btftool diff --summary --exclude 'mix*' one two; echo "exit $?"
