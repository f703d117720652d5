# A suite a pair of files, a case a tensor; what failed and how.
noisy=$TESTDATA/good/mixed_noisy.btf
golden=$TESTDATA/good/mixed.btf
btftool diff --junit report.xml --show 1 --no-hints "$noisy" "$golden" | tail -n 2; echo "exit ${PIPESTATUS[0]}"
cat report.xml
btftool diff -q --junit report.xml --rtol 2e-3 --cosine 0.9 "$golden" "$golden"; echo "exit $?"
cat report.xml
# Pipes and devices are written in place.
btftool diff -q --tensor 2 --junit /dev/stdout "$golden" "$golden" | cat
ls -A
