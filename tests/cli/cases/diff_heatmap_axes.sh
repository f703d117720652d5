# Axes have the letters of NCHW in rank 4 only; a rank of 0 has none. Where a tensor has not the axes, they are picked.
noisy=$TESTDATA/good/mixed_noisy.btf
golden=$TESTDATA/good/mixed.btf
map() { btftool diff --no-hints --show 0 --tensor "$1" --heatmap "$2" "$noisy" "$golden" | sed -n '/^  mismatches/,$p'; }
map 0 1,3
map 0 -1
map 1 0,1
map 0 4
{ printf '\1\0\0\0\0\0\0\0\20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1'; } >actual.btf
{ printf '\1\0\0\0\0\0\0\0\20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'; } >golden.btf
btftool diff --no-hints --heatmap --show 0 actual.btf golden.btf
