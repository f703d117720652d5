# NaN equals NaN unless it must not; against a number it never does, whatever the tolerance.
noisy=$TESTDATA/good/mixed_noisy.btf
compare() { btftool diff --tensor 1 "$@" >report; echo "exit $?"; sed -n '1p; $p' report; }
compare "$noisy" "$noisy"
compare --no-equal-nan "$noisy" "$noisy"
compare --rtol 1e30 --atol 1e30 "$noisy" "$TESTDATA/good/mixed.btf"
compare --rtol 1e30 --atol 1e30 "$TESTDATA/good/mixed.btf" "$noisy"
