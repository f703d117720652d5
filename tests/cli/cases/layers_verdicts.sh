# What each fault is called, by order alone and with the graph; exit codes.
golden=$TESTDATA/layers/golden.npz
for fault in healthy dead_channel scale nan dump missing inputs hooks; do
  for graph in "" "--graph $TESTDATA/layers/model.onnx"; do
    btftool layers --json $graph "$TESTDATA/layers/$fault.npz" "$golden" >report.json
    echo "$fault${graph:+ with the graph}: exit $?"
    grep -o '"kind":"[a-z-]*","layer":[^,]*,"between":[^]]*]' report.json
    grep -o '"words":"[^"]*"' report.json
    grep -o '"order":{[^}]*}' report.json
  done
done
