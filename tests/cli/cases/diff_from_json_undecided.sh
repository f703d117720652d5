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
# A figure that the report lacks is never passed, whatever it would be; the others are judged.
btftool diff --no-hints --json --tensor 0 "$noisy" "$golden" | sed 's/"snr":[^,]*,//' >old.json
for gate in "--snr -1e300" "--psnr 80" "--snr 1 --psnr 80"; do btftool diff --from-json old.json $gate; echo "exit $?"; done
btftool diff --from-json old.json --json | cmp - old.json
