# A size that does not match, and specs that cannot be.
head -c 192 /dev/zero >x.bin
for spec in fp16:1x3x4x4 fp16:hwc8:1x3x4x4 int8:1x3x4x4 fp32:1x3x4x5 fp16:2x3:strides=2,1 fp16:coo:1x2 fp16:hwc8 \
  fp16:1x3x4x4:strides=1,2 fp99:1x2 bf16 ''; do
  btftool inspect --input-spec "$spec" x.bin
  echo "[$spec] exit $?"
done
btftool validate --input-spec fp16:1x3x4x4 x.bin
echo "exit $?"
good=$TESTDATA/good
btftool convert --tensor 0 --output-spec fp16:1x3x7x5 "$good/layouts_f16.btf" out.bin
btftool convert --output-spec fp16:1x3x5x7 "$good/layouts_f16.btf" out.bin
btftool convert --tensor 0 --dtype int8 --output-spec fp16:1x3x5x7 "$good/layouts_f16.btf" out.bin
btftool convert --tensor 0 --output-spec fp16:1x3x5x7 "$good/layouts_f16.btf" out.npy
btftool convert --tensor 0 --output-spec fp16 "$good/layouts_f16.btf" out.bin
btftool convert --tensor 0 --plain --output-spec fp16:1x3x5x7 "$good/layouts_f16.btf" out.bin
btftool convert --tensor 3 "$good/mixed.btf" out.raw
btftool convert --tensor 0 "$good/mixed.btf" out.output.1.3.8.8.fp16.raw
ls
