# Many files on one screen: the first difference in full, then a few lines a file.
golden=$TESTDATA/good/mixed.btf
mkdir actual golden
for i in {100..160}; do cp "$golden" actual/$i.btf; cp "$golden" golden/$i.btf; done
btftool diff actual golden; echo "exit $?"
for i in {120..150..2}; do cp "$TESTDATA/good/mixed_noisy.btf" actual/$i.btf; done
btftool diff actual golden >report; echo "exit $?"
cat report
test "$(wc -l <report)" -le 40 || echo "too long"
btftool diff --all --no-hints actual golden | grep -c 'would pass with'
