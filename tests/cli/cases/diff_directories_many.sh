# Many files: each tensor has its line, and the first difference is told in full.
golden=$TESTDATA/good/mixed.btf
mkdir actual golden
for i in {100..160}; do cp "$golden" actual/$i.btf; cp "$golden" golden/$i.btf; done
btftool diff actual golden >report; echo "exit $?"
sed -n '1,6p;$p' report
for i in {120..150..2}; do cp "$TESTDATA/good/mixed_noisy.btf" actual/$i.btf; done
btftool diff actual golden >report; echo "exit $?"
grep -c '^  [0-9]*#' report
grep '^x' report | head -n 4
tail -n +246 report
btftool diff --all --no-hints actual golden | grep -c 'would \(pass with\|accept it\)'
