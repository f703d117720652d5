# NHWC becomes NCHW; COO is permuted too. The permutation comes before the layout.
file=$TESTDATA/good/mixed.btf
btftool convert --tensor 0 --permute 0,2,3,1 "$file" nhwc.btf
btftool inspect nhwc.btf --at 0,1,2,0
btftool convert --permute 0,3,1,2 nhwc.btf out.btf
btftool convert --tensor 0 "$file" golden.btf
cmp out.btf golden.btf && echo "there and back"
btftool convert --tensor 0 --layout hwc "$file" hwc.btf
btftool convert --plain hwc.btf out.btf 2>/dev/null
cmp out.btf nhwc.btf && echo "kHWC is NHWC"
btftool convert --tensor 3 --permute 1,0 "$file" out.btf
btftool convert --permute 1,0 out.btf back.btf
btftool diff back.btf golden.btf --tensor 0 | head -n 1
btftool convert --tensor 3 "$file" golden.btf
cmp back.btf golden.btf && echo "COO there and back"
