# Tensors that are the same between others that differ: on the last lines too, one of them has its own line.
file=$TESTDATA/good/many.btf
pairs=
for i in {0..29}; do pairs+=",$i:$((i + 1 - i % 2))"; done
btftool diff --pair "${pairs:1}" "$file" "$file" | tail -n 4
