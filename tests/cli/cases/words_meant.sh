# Words that people type: a slip of the finger, other programs' names, -V, help, -o.
try() {
  btftool "$@" 2>&1 | head -1
}
try inspec x
try helpp
try help dif
try help diff layers
try help inspect
try -V
try diff --layot x
try diff --rtoll=1e-3 a b
try convert --layout hcw8 a b
try convert --dtype flaot16 a b
try convert --format safetensor a b
try convert --overflow satrate a b
try inspect --tensor Block0/Add_output_0 ../testdata/layers/golden.npz
try inspect --tensor nothing ../testdata/layers/golden.npz
# Told apart from what is like nothing.
try frobnicate
try diff --frobnicate
try convert --layout frobnicate a b

btftool convert --tensor 0 --dtype torch.float16 --layout TensorFormat::kHWC8 -o a.btf ../testdata/good/mixed.btf
btftool convert --tensor 0 --dtype kHALF --layout kHWC8 ../testdata/good/mixed.btf b.btf
cmp a.btf b.btf
btftool convert --tensor 0 --dtype DataType::kHALF:nvinfer1::TensorFormat::kHWC8 ../testdata/good/mixed.btf --output c.btf
cmp a.btf c.btf
btftool convert --tensor 0 --layout channels_last --dtype np.float32 ../testdata/good/mixed.btf d.btf
btftool inspect d.btf
head -c 1024 /dev/zero >x.raw
btftool inspect --input-spec 'fp16:hwc8:[1,3,8,8]' x.raw
btftool inspect --input-spec 'torch.float16:TensorFormat::kHWC8:[1, 3, 8, 8]' x.raw
btftool inspect --input-spec 'fp8e5m2:[1024]' x.raw
btftool repair ../testdata/good/mixed.btf -o r.btf
cmp r.btf ../testdata/good/mixed.btf
btftool convert ../testdata/good/mixed.btf -o
btftool convert -o x
