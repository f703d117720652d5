# BTF_CPU: the same bytes with narrower loops; what the CPU does not have is trouble.
file=$TESTDATA/good/mixed.btf
btftool -q convert --tensor 0 --dtype fp16 "$file" widest.btf
BTF_CPU=plain btftool -q convert --tensor 0 --dtype fp16 "$file" plain.btf
BTF_CPU= btftool -q convert --tensor 0 --dtype fp16 "$file" unset.btf
cmp widest.btf plain.btf && cmp widest.btf unset.btf && echo same
BTF_CPU=avx9 btftool inspect "$file" 2>&1 | sed 's/but plain.*/but plain .../'
BTF_CPU=AVX9 btftool diff --json "$file" "$file" 2>/dev/null | sed 's/but plain[^"]*/but plain .../'
