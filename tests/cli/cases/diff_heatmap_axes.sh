# Axes have the letters of NCHW in rank 4 only; a rank of 0 has none. Where one of several tensors has not the axes, they are picked.
noisy=$TESTDATA/good/mixed_noisy.btf
golden=$TESTDATA/good/mixed.btf
map() { btftool diff --no-hints --show 0 --tensor "$1" --heatmap "$2" "$noisy" "$golden" | sed -n '/^  mismatches/,$p'; return "${PIPESTATUS[0]}"; }
map 0 1,3
map 0 -1
map 1 0,1
map 0 4; echo "exit $?"
btftool diff --tensor 0 --heatmap 1,-3 -q "$golden" "$golden"; echo "exit $?"
btftool diff --no-hints --show 0 --tensor 0,1 --heatmap 1,4 --html page.html "$noisy" "$golden" | sed -n '/^  mismatches/,/^ *$/p;'
grep -c 'were picked, as there is no dim 4 in rank 4' page.html
{ printf '\1\0\0\0\0\0\0\0\20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1'; } >actual.btf
{ printf '\1\0\0\0\0\0\0\0\20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'; } >golden.btf
btftool diff --no-hints --heatmap --show 0 actual.btf golden.btf
