# A part is only written into files that its process has made: links at FILE.partial lead nowhere, and one at FILE is followed.
cp "$TESTDATA/good/mixed.btf" a.btf; cp a.btf b.btf
echo precious >kept
shard="btftool diff --shard 1/1 a.btf b.btf --part"
ln -s kept one.partial
$shard one; echo "exit $?"
cat kept
ln -s nowhere two.partial
$shard two; echo "exit $?"
ls nowhere 2>/dev/null
ln kept three.partial
$shard three; echo "exit $?"
cat kept
ln kept four.partial-new
$shard four; echo "exit $?"
cat kept
mkfifo five.partial
timeout 10 $shard five; echo "exit $?"
mkdir six.partial
$shard six; echo "exit $?"
mkdir there && ln -s there/part.jsonl seven
$shard seven; echo "exit $?"
readlink seven; ls there
mkfifo eight
timeout 10 $shard eight; echo "exit $?"
# What another process holds stays as it is, and this one has a file of its own.
cp kept nine.partial
exec 8<nine.partial && flock 8
$shard nine --resume; echo "exit $?"
cat nine.partial
flock -u 8
btftool merge one 2>&1 | sed 's/;.*//'
btftool merge seven nine; echo "exit $?"
ls -A | grep -e partial
