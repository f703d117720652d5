# From no mismatch to nothing else: every level, with and without colour.
rows=(0 1 5 100 500 1500 2000)
header() { # dims
  printf '\1\0\0\0\0\0\0\0\20\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0\320\7\0\0\0\0\0\0'
}
{ header; head -c 14000 /dev/zero; } >golden.btf
{
  header
  for wrong in "${rows[@]}"; do
    head -c "$wrong" /dev/zero | tr '\0' '\1'
    head -c $((2000 - wrong)) /dev/zero
  done
} >actual.btf
map() { btftool diff --no-hints --show 0 "$@" actual.btf golden.btf | sed -n '/^  mismatches/,$p'; }
map --heatmap 0
map --heatmap 0 --color always
map --heatmap 0,1
map --heatmap
