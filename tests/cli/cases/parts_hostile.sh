# What is no part is refused at once, in little memory: a line has a limit, and a part is a regular file.
cp "$TESTDATA/good/mixed.btf" a.btf; cp a.btf b.btf
btftool diff --shard 1/1 --part 1.jsonl a.btf b.btf
ulimit -v 400000
try() { timeout 10 btftool merge "$@" 2>&1; echo "exit $?"; }
try /dev/zero
try /dev/null
mkfifo pipe
try pipe
try <(cat 1.jsonl) | sed 's|/dev/fd/[0-9]*|FD|'
mkdir dir
try dir
truncate -s 3G zeros
try zeros
head -c 20000000 /dev/zero | tr '\0' '{' >braces
try braces
# Lines that begin as those of a part do: the head, and an item.
{ printf '{"schema":"btftool/part/1","x":"'; head -c 70000000 /dev/zero | tr '\0' x; } >head
try head
{ head -n 1 1.jsonl; printf '{"number":0,"x":"'; head -c 70000000 /dev/zero | tr '\0' x; printf '"}\n'; } >item
try item
{ head -n 1 1.jsonl; echo; } >empty
try empty
{ head -n 2 1.jsonl; printf '\0\0\0\0'; } >cut
try cut
btftool diff --resume --shard 1/1 --part cut a.btf b.btf
try cut
