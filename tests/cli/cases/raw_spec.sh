# Raw bytes in and out, described by a spec.
good=$TESTDATA/good
btftool convert --tensor 2 --output-spec fp16:hwc8:1x3x5x7 "$good/layouts_f16.btf" out.bin
wc -c out.bin
btftool inspect --input-spec fp16:hwc8:1x3x5x7 --strides --at 0,2,1,3 out.bin
btftool diff --actual-spec fp16:hwc8:1x3x5x7 out.bin "$good/layouts_f16.linear.btf" --pair 0:2
btftool validate --input-spec fp16:hwc8:1x3x5x7 out.bin
btftool convert --input-spec fp16:1x3x5x7:strides=280,1,56,8 out.bin a.npy
btftool diff a.npy --golden-spec fp16:hwc8:1x3x5x7 out.bin
btftool inspect --json --input-spec FP16:HWC8:1x3x5x7 - <out.bin
# Another type and another layout on the way out, and a pipe.
btftool convert -q --tensor 0 --output-spec int8:chw32:1x3x5x7 "$good/layouts_f16.btf" - | wc -c
btftool convert --tensor 0 "$good/layouts_f16.btf" x.raw
btftool convert --tensor 0 --layout hwc8 "$good/layouts_f16.btf" x.output.1.3.5.7.fp16.raw
btftool inspect --layout-in hwc8 x.output.1.3.5.7.fp16.raw
btftool inspect x.output.1.3.5.7.fp16.raw
btftool inspect x.raw
