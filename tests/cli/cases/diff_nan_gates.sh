# No gate accepts a NaN or an Inf that the other side has not: not even the widest.
noisy=$TESTDATA/good/mixed_noisy.btf
golden=$TESTDATA/good/mixed.btf
for gate in "--cosine -1" "--psnr -1e300" "--snr -1e300" "--rmse 1e300" "--max-abs 1e300" "--quantile 1=1e300" "--top-k 1" \
  "--ulp 18446744073709551615" "--rtol 1e300 --cosine 0"; do
  btftool diff --tensor 1 --show 0 --no-hints $gate "$noisy" "$golden" >report; echo "[$gate] exit $?"
  grep -e ^diff -e failed report
done
btftool diff --tensor 1 --max-mismatch 1 "$noisy" "$golden"; echo "exit $?"
# A figure of no pair of numbers accepts nothing that does not match.
cp "$golden" nan.btf
for at in {88..855..4}; do printf '\0\0\300\177'; done | dd of=nan.btf bs=1 seek=88 conv=notrunc status=none
gate="--max-mismatch 100% --cosine 0.9 --quantile 0.5=1"
btftool diff --tensor 0 --show 0 $gate --html page.html nan.btf "$golden"; echo "exit $?"
grep -o '"criteria":\[[^]]*\]' page.html
btftool diff --tensor 0 $gate nan.btf nan.btf; echo "exit $?"
