# Golden's tie may be broken either way; what is none in golden is one as far as the tolerance says, and a report knows no other.
noisy=$TESTDATA/good/mixed_noisy.btf
mixed=$TESTDATA/good/mixed.btf
top() { btftool diff --show 0 --no-hints --tensor 0 --top-k 1 "$@" | grep -v "figures\|decade\|█\|refused  "; }
top "$noisy" "$mixed"
top "$mixed" "$noisy"
top --atol 1e-3 "$mixed" "$noisy"
top --atol 1e-4 --max-mismatch 5% "$mixed" "$noisy"
btftool diff --json --tensor 0 --top-k 1 --atol 1e-3 "$mixed" "$noisy" >report.json
for atol in 1e-3 2e-3 1e-4; do btftool diff --from-json report.json --top-k 1 --atol $atol; echo "exit $?"; done
