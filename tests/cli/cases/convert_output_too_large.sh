# A file that cannot be finished: the old one stays, nothing else does.
echo old >out.btf
message=$(ulimit -f 2; btftool convert "$TESTDATA/good/mixed.btf" out.btf 2>&1); echo "exit $?"
sed 's/cannot .*:/cannot WRITE:/' <<<"$message"
cat out.btf
ls -A
