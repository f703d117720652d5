# One tensor goes into a .npy, row-major.
good=$TESTDATA/good
btftool convert "$good/mixed.btf" all.npy
btftool convert --tensor 0 --layout kHWC8 "$good/mixed.btf" hwc8.npy
btftool convert --tensor 0 --layout coo "$good/mixed.btf" coo.npy
btftool convert --as-uint --tensor 0 "$good/mixed.btf" out.btf
btftool convert --tensor 0 --block-scale mxfp8 "$good/mixed.btf" scaled.npy
ls -A
btftool convert --tensor 0 "$good/mixed.btf" image.npy
btftool convert --tensor 2 "$good/layouts_i8.btf" linear.npy
btftool convert --tensor 2 --plain "$good/layouts_i8.btf" plain.npy
btftool convert --tensor 3 "$good/mixed.btf" dense.NPY
btftool convert --tensor 0 --dtype fp4 -q "$good/mixed.btf" fp4.npy
btftool convert --tensor 0 --dtype bf16 --as-uint --json -q "$good/mixed.btf" bf16.npy
btftool inspect image.npy linear.npy plain.npy dense.NPY bf16.npy
head -c 80 fp4.npy | tail -c +11
echo
btftool diff image.npy "$good/mixed.btf" --tensor 0
