# What /dev/stdout, /dev/fd/N and >(cmd) name is written in place: behind what is there, never replaced.
needs test -e /proc/self/fd/1
needs test -e /dev/fd/1
file=$TESTDATA/good/scalars.btf
size=$(stat -c %s "$file")
for out in - /dev/stdout /dev/fd/1 /proc/self/fd/1; do
  echo "$out"
  printf head >f
  inode=$(stat -c %i f)
  btftool convert "$file" $out >>f
  tail -c +5 f | cmp - "$file" && [ "$(stat -c %i,%s f)" = "$inode,$((size + 4))" ] || echo "wrong behind what is there"
  { printf head; btftool convert "$file" $out; printf tail; } >f
  head -c $((size + 4)) f | tail -c +5 | cmp - "$file" && [ "$(tail -c 4 f)" = tail ] || echo "wrong in the middle"
  btftool convert "$file" $out | cmp - "$file"
  btftool convert --compress "$file" $out | zstd -dc | cmp - "$file"
done
btftool convert "$file" >(cat >f; echo done >over)
while [ ! -e over ]; do sleep 0.01; done
cmp f "$file"
exec 7>f
printf one >&7
btftool convert "$file" /dev/fd/7
printf two >&7
exec 7>&-
{ printf one; cat "$file"; printf two; } | cmp - f
ln -s /dev/fd/1 link
btftool convert "$file" link | cmp - "$file"
[ -L link ] || echo "the link is gone"
mkfifo pipe
cat pipe >f &
btftool convert "$file" pipe
wait
cmp f "$file"
# Reports of diff go the same way.
printf 'head\n' >f
btftool -q diff --junit /dev/stdout "$file" "$file" >>f
sed 's/<testsuites.*/<testsuites/; 4q' f
btftool -q diff --html >(head -c 15; cat >/dev/null; echo; echo done >over2) "$file" "$file"
while [ ! -e over2 ]; do sleep 0.01; done
# What is not open for writing; two that want standard output.
btftool convert "$file" /dev/fd/199; echo "exit $?"
btftool convert "$file" /dev/fd/8 8<"$file"; echo "exit $?"
btftool diff --junit /dev/fd/199 "$file" "$file"; echo "exit $?"
btftool convert --json "$file" /dev/stdout; echo "exit $?"
btftool convert --format raw --tensor 0 "$file" /dev/stdout | od -An -tx1
