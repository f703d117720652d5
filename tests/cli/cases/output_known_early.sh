# What cannot be replaced is known before the work: a mount point, in a sticky directory someone else's file.
# The input is a pipe that would be read to its end first.
needs unshare -Urm bash -c 'mkdir mounted && mount -t tmpfs none mounted'
rm -rf mounted
file=$TESTDATA/good/scalars.btf
mkfifo in
echo old >a
echo old >b
unshare -Urm bash -c 'mount --bind a b && timeout 20 btftool convert in b; echo "exit $?"; cat b
  timeout 20 btftool convert "$1" - >b; echo "exit $?"; cmp b "$1"
  timeout 20 btftool diff -q --junit b "$1" "$1"; echo "exit $?"' bash "$file"
cmp a "$file" && echo "in place"
mkdir -m 1777 sticky
echo old >sticky/theirs
needs chown -R 1234:1234 sticky
chmod 666 sticky/theirs
needs setpriv --bounding-set=-fowner --inh-caps=-fowner true
setpriv --bounding-set=-fowner --inh-caps=-fowner timeout 20 btftool convert in sticky/theirs; echo "exit $?"
setpriv --bounding-set=-fowner --inh-caps=-fowner btftool convert "$file" sticky/ours; echo "exit $?"
setpriv --bounding-set=-fowner --inh-caps=-fowner btftool convert "$file" sticky/ours; echo "exit $?"
btftool convert "$file" sticky/theirs; echo "exit $?"
# Others that need no special machine.
for out in "" nowhere/out in/out "$(printf 'x%.0s' {1..300})"; do timeout 20 btftool convert in "$out"; echo "exit $?"; done
ls -A . sticky
