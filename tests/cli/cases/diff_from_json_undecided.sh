# Where the report's figures do not allow a decision that is trouble; the tensor and the figure are named.
noisy=$TESTDATA/good/mixed_noisy.btf
golden=$TESTDATA/good/mixed.btf
btftool diff --no-hints --json --atol 1e-5 "$noisy" "$golden" >report.json
again() { btftool diff --from-json report.json "$@"; echo "exit $?"; }
again --atol 1e-4 --max-mismatch 1
again -q --quantile 0.5=1e-9
again -q --top-k 3
again --json --top-k 3
# A count that is not known stays so: the second judgement is not built on the first.
btftool diff --from-json report.json --json --rtol 1e-9 >second.json
btftool diff --from-json second.json --rtol 1e-9 --max-mismatch 1; echo "exit $?"
btftool diff --from-json second.json --rtol 1e-9; echo "exit $?"
# Tolerances of single tensors.
again --atol 9=1
again --atol -1=1
