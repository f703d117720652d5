# A name that says something else than what would be written is refused; with --format it is meant so.
in=$TESTDATA/good/mixed.btf
for out in a.onnx a.gguf a.png a.pt a.ONNX a.npy.gz a.gguf.zst dir.d/a.json; do
  btftool convert --tensor 0 "$in" $out
done
echo "what is not written as it is called:"
btftool convert --tensor 0 --compress "$in" a.npy
btftool convert --tensor 0 --compress "$in" a.input.1.3.8.8.fp32.raw
btftool convert --tensor 2 --output-spec int64:4 "$in" a.npy
btftool convert --tensor 2 --output-spec int64:4 "$in" a.btf
ls -A
echo "meant:"
btftool convert --tensor 0 --format btf "$in" a.npz && cmp -n 8 a.npz <(printf '\1\0\0\0\0\0\0\0')
btftool convert --tensor 0 --format npy --compress "$in" a.npy && btftool inspect a.npy
btftool convert --tensor 2 --format raw "$in" a.btf
echo "names that say nothing, or what is written:"
for out in a a.bin a.dat a.model.v2 .npz_ a.NPY a.npy.zst a.npy.ZST a.zst a.btf.zst a.tensor; do
  btftool convert --tensor 0 "$in" $out && btftool inspect --json $out | grep -o '"format":"[a-z]*","compressed":[a-z]*\|"format":"[a-z]*"'
done
btftool convert --tensor 0 --compress "$in" a.btf && btftool diff -q --tensor 0 a.btf "$in" && echo "compressed BTF"
btftool convert --tensor 2 --output-spec int64:4 "$in" a.bin && stat -c %s a.bin
btftool convert --tensor 2 --output-spec int64:4 "$in" a.bin.zst && zstd -dc a.bin.zst | cmp - a.bin
