# Usage, and what cannot be compared.
golden=$TESTDATA/layers/golden.npz
healthy=$TESTDATA/layers/healthy.npz
try() { btftool layers "$@"; echo "exit $?"; }
try
try "$healthy"
try "$healthy" "$golden" more
try - -
try nothing.npz "$golden"
try "$healthy" "$TESTDATA/npz-bad"
try "$TESTDATA/good/mixed.btf" "$golden"
try --order nothing.txt "$healthy" "$golden"
echo "no_such_layer" >order.txt
try --order order.txt "$healthy" "$golden"
try --graph "$golden" "$healthy" "$golden"
try --graph "$TESTDATA/onnx/graph.onnx" "$healthy" "$golden"
try --order order.txt --graph m.onnx "$healthy" "$golden"
for line in 'a' '/x/' '/[/y/' '//y/' 'a	b	c' '	b'; do
  printf '%s\n' "$line" >map.txt
  try --map map.txt "$healthy" "$golden"
done
try --compute fp17 "$healthy" "$golden"
try --max-error much "$healthy" "$golden"
try --growth 0.5 "$healthy" "$golden"
try --limit x "$healthy" "$golden"
try --pairs --json "$healthy" "$golden"
try --html - "$healthy" "$golden"
try --html r --junit r "$healthy" "$golden"
try --baseline "$TESTDATA/good/mixed.btf" "$healthy" "$golden"
try --expect-output "$TESTDATA/good/mixed.btf" "$healthy" "$golden"
