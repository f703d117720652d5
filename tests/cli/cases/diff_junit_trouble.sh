# Trouble is an error in the report; a report that cannot be written is trouble.
needs test -c /dev/full
golden=$TESTDATA/good/mixed.btf
btftool diff --junit report.xml nothing.btf "$golden"; echo "exit $?"
cat report.xml
mkdir -p actual golden read-only
cp "$golden" golden/missing.btf
printf 'x\1' >$'actual/a\e<&>\xff.btf'
cp $'actual/a\e<&>\xff.btf' golden
btftool diff --junit report.xml actual golden; echo "exit $?"
cat report.xml
echo old >old.xml
for target in nothing/report.xml actual /dev/full "$PWD/actual/../golden/missing.btf"; do
  btftool diff --tensor 2 --junit "$target" "$golden" golden/missing.btf 2>stderr; echo "exit $?"
  sed "s|$PWD|PWD|" stderr
done
# A file keeps its mode, a link stays a link, an old report stays when there is none to take its place.
chmod 640 old.xml
ln -s old.xml link.xml
btftool diff -q --tensor 2 --junit link.xml "$golden" "$golden"; echo "exit $?"
stat -c '%A %F %n' old.xml link.xml
btftool diff -q --tensor 9 --junit old.xml "$golden" "$golden"; echo "exit $?"
grep -c '<error' old.xml
for name in '' -; do btftool diff --junit "$name" "$golden" "$golden"; echo "exit $?"; done
btftool diff --junit same --html same "$golden" "$golden"; echo "exit $?"
