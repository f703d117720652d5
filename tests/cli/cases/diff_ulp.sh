# Representable steps of the coarser dtype.
noisy=$TESTDATA/good/mixed_noisy.btf
golden=$TESTDATA/good/mixed.btf
for steps in 0 11726 11727; do
  btftool diff --tensor 0 --ulp "$steps" "$noisy" "$golden" >report
  echo "[--ulp $steps] exit $?"
  sed -n '1p; $p' report
done
# Rounded to float16, less than a step of float16 off.
btftool -q convert --tensor 0 --dtype fp16 "$golden" half.btf
btftool diff --tensor 0 --ulp 0 half.btf "$golden"; echo "exit $?"
btftool diff --tensor 0 --ulp 0 --rtol 1e-4 --no-hints --show 1 half.btf "$golden"; echo "exit $?"
# What would pass: no step at all.
btftool diff --tensor 0 --no-hints --show 0 half.btf "$golden"; echo "exit $?"
