# Tolerances of single tensors, by index in ACTUAL; a bare number is for all the others.
noisy=$TESTDATA/good/mixed_noisy.btf
golden=$TESTDATA/good/mixed.btf
compare() { btftool diff --tensor 0,2,3 "$@" >report; echo "[$*] exit $?"; grep -v '^  ' report; }
compare --rtol 0=2e-3 "$noisy" "$golden"
compare --rtol 0=5e-4 "$noisy" "$golden"
compare --rtol -4=2e-3 "$noisy" "$golden"
compare --rtol 0:2e-3 "$noisy" "$golden"
compare --rtol 1e-9,0=2e-3 "$noisy" "$golden"
compare --rtol 0=2e-3,1e-9 --atol 2=1,3=1 "$noisy" "$golden"
compare --atol 1,0=1e-4 "$noisy" "$golden"
compare --rtol 0=4e-4 --atol 0=5e-4 "$noisy" "$golden"
compare --ulp 0=11727 "$noisy" "$golden"
compare --ulp 99999,0=11726 "$noisy" "$golden"
# The tensor's own tolerance is told with its details, and a long list is cut short in the verdict.
btftool diff --tensor 0 --show 0 --no-hints --rtol 1,0=1e-4 "$noisy" "$golden"
btftool diff --atol 0=1,1=1,2=1,3=1,4=1,5=1 "$TESTDATA/good/many.btf" "$TESTDATA/good/many.btf" | tail -n 1
