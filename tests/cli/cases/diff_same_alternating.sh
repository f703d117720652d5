# Tensors that are the same between others that differ.
file=$TESTDATA/good/many.btf
pairs=
for i in {0..9}; do pairs+=",$i:$((i + 1 - i % 2))"; done
btftool diff --show 0 --pair "${pairs:1}" "$file" "$file"
