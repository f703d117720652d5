# A byte of a stored member is changed: whoever reads all of it says so, with any number of threads, and
# makes no output; whoever reads a part of it does not.
try() {
  btftool "$@"
  local code=$?
  [ $code = 2 ] || echo "$*: exit $code"
}
head -c 16777216 /dev/zero >x.bin
btftool -q convert --input-spec fp32:1024x4096 x.bin large.npz && rm x.bin
cp large.npz damaged.npz
printf '\1' | dd of=damaged.npz bs=1 seek=9000000 conv=notrunc 2>/dev/null
echo "the old file" >old.btf
for threads in 1 2 7; do
  {
    try convert -j $threads damaged.npz old.btf
    try convert -j $threads damaged.npz copy.npz
    try convert -j $threads --dtype fp16 damaged.npz half.btf
    try convert -j $threads --permute 1,0 damaged.npz turned.btf
    try convert -j $threads --layout coo damaged.npz sparse.btf
    try convert -j $threads --dtype int8 --scale auto damaged.npz scaled.btf
    try diff -j $threads damaged.npz large.npz
    try diff -j $threads --close large.npz damaged.npz
    try diff -j $threads damaged.npz damaged.npz
    try inspect -j $threads --stats damaged.npz
    try layers -j $threads damaged.npz large.npz
  } >said.$threads 2>&1
done
cat said.1
cmp said.1 said.2 && cmp said.1 said.7 && rm said.*
cat old.btf
ls
echo "--- parts"
btftool inspect --at 5,6 damaged.npz
btftool -q convert --slice 0:8,: damaged.npz part.btf && btftool inspect part.btf
echo "--- PyTorch"
cp "$TESTDATA/torch/types.pth" "$TESTDATA/torch/views.pt" .
printf '\125' | dd of=types.pth bs=1 seek=2250 conv=notrunc 2>/dev/null
try inspect --stats --tensor 0 types.pth
try convert types.pth types.btf
try diff types.pth "$TESTDATA/torch/types.pth" | grep '^x\|^trouble'
btftool validate types.pth
printf '\125' | dd of=views.pt bs=1 seek=464 conv=notrunc 2>/dev/null
try inspect views.pt
btftool validate views.pt
