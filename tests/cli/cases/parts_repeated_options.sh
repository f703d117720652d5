# A part keeps every value of an option that is given more than once, so that merge judges as one run does.
mkdir -p a g
for i in 0 1; do
  btftool convert --tensor $i "$TESTDATA/good/mixed.btf" g/t$i.npy
  btftool -q convert --dtype fp16 g/t$i.npy half.npy && btftool convert --dtype fp32 half.npy a/t$i.npy
done
rules="--rtol t0=1e-2 --rtol t1=1e-9 --atol t0=1e-3"
btftool diff --no-hints --show 0 $rules a g >one; echo "exit $?"
btftool diff --no-hints --show 0 $rules --shard 1/1 --part part a g
head -n 1 part | grep -o '"options":[^]]*]'
btftool merge part >merged; echo "exit $?"
cmp one merged
layers="--compute t0=fp16 --compute t1=fp32"
btftool layers $layers --json a g | tr ',' '\n' | grep -c broke
btftool layers $layers --shard 1/1 --part layers a g
head -n 1 layers | grep -o '"options":[^]]*]'
btftool layers $layers a g >one; echo "exit $?"
btftool merge layers >merged; echo "exit $?"
cmp one merged
