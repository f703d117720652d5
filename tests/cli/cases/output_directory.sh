# OUT is a directory: the file goes into it under IN's name.
file=$TESTDATA/good/mixed.btf
mkdir d "$PWD/e e" d/scalars.btf
ln -s d link
btftool convert --tensor 0 "$file" d && btftool inspect d/mixed.btf
btftool -v convert "$file" "e e/" && cmp "e e/mixed.btf" "$file"
btftool convert "$file" link && cmp d/mixed.btf "$file"
btftool convert "$TESTDATA/npy/int32.c.little.v1.npy" d && cmp d/int32.c.little.v1.npy "$TESTDATA/npy/int32.c.little.v1.npy"
btftool convert "$TESTDATA/zstd/seekable.btf.zst" d && zstd -dcq d/seekable.btf.zst | cmp - "$file"
btftool convert --json "$file" . | grep -o '"output":"[^"]*"'
cp "$file" model.btf
echo "refused:"
btftool convert --dtype fp16 model.btf .; echo "exit $?"
btftool convert --dtype fp16 d/mixed.btf link; echo "exit $?"
cmp model.btf "$file"
btftool convert "$TESTDATA/good/scalars.btf" d; echo "exit $?"
btftool convert - d <"$file"; echo "exit $?"
btftool convert --tensor 0 --format npy "$file" d; echo "exit $?"
btftool convert --tensor 2 --output-spec int64:4 "$file" d; echo "exit $?"
btftool convert "$file" nothing/; echo "exit $?"
btftool diff --junit d "$file" "$file"; echo "exit $?"
ls -AR
