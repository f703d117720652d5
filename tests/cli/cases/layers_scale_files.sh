# Codes whose scales are files of their own: what is to be typed next works as it is printed.
broken=$TESTDATA/layers/dead_channel.npz
golden=$TESTDATA/layers/golden.npz
btftool inspect "$golden" | tail -n +3 | awk '{print $NF}' >order.txt
next() { sed -n '/^  next/,/^  [0-9]/p' | sed '/^  [0-9]/d; s/^  next//; s/ *\\$//' | tr '\n' ' ' | sed 's/  */ /g; s/^ //; s/ $//'; }
try() { # axis
  rm -rf actual plain
  btftool -q convert --dtype int8 --scale auto --zero-point auto $1 "$broken" codes.btf
  btftool -q convert --format npy codes.btf actual/
  btftool -q convert --format npy "$golden" plain/
  btftool layers --order order.txt --dequantize actual plain >report.txt; echo "exit $?"
  sed -n 1,2p report.txt
  next <report.txt >next.txt; cat next.txt; echo
  eval "$(cat next.txt)" | sed -n '1p; /^different/p'
  btftool layers --order order.txt --dequantize --json actual plain >report.json
  btftool layers --from-json report.json | next | cmp - next.txt
}
try ""
grep -o '"actual_scale":{[^}]*}' report.json
# More scales than one types: the directories find them again.
try "--scale-axis 1"
# Other names on both sides: a pair of names.
rename() { for file in actual/*fc2*; do mv "$file" "${file/fc2/second}"; done; }
rename
for layer in '%2fblock0%2f' '%2fblock1%2f' '%2fblock2%2f'; do
  printf '%ssecond%%2fMatMul_output_0\t%sfc2%%2fMatMul_output_0\n' "$layer" "$layer"
done >map.txt
btftool layers --map map.txt --order order.txt --dequantize actual plain 2>/dev/null | next >next.txt
cat next.txt; echo
eval "$(cat next.txt)" | sed -n '1p; /^different/p'
