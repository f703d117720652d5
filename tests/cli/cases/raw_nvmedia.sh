# Sizes and strides as NvMedia's metadata has them, and strides for pitched buffers.
good=$TESTDATA/good
btftool convert --tensor 4 --output-spec fp16:16x7x5x1x1:strides=2,32,224,1120,1120:nvmedia=NCxHWx:c=3 \
  "$good/layouts_f16.btf" cx.bin
btftool inspect --nvmedia NCxHWx --input-spec fp16:16x7x5x1x1:strides=2,32,224,1120,1120:c=3 --strides --at 0,2,1,3 cx.bin
btftool diff --nvmedia NCxHWx --actual-spec fp16:16x7x5x1x1:strides=2,32,224,1120,1120:c=3 cx.bin \
  --golden-spec fp16:chw16:1x3x5x7 cx.bin
btftool convert --tensor 0 --output-spec fp16:1x3x5x7:strides=960B,320B,64B,2B "$good/layouts_f16.btf" pitch.bin
wc -c pitch.bin
btftool inspect --nvmedia NCHW --input-spec fp16:7x5x3x1:strides=2,64,320,960 --strides --at 0,2,1,3 pitch.bin
btftool diff --nvmedia NCHW --actual-spec fp16:7x5x3x1:strides=2,64,320,960 pitch.bin --pair 0:0 \
  "$good/layouts_f16.btf"
btftool validate --nvmedia NCHW --input-spec fp16:7x5x3x1:strides=2,64,320,960 pitch.bin
btftool inspect --input-spec fp16:dla_linear:1x3x5x7 --strides pitch.bin
btftool inspect --nvmedia NCHW pitch.bin
