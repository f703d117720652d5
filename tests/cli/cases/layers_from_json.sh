# A report is judged again by its figures alone, and by other limits.
golden=$TESTDATA/layers/golden.npz
for fault in healthy dead_channel scale nan dump missing inputs; do
  for graph in "" "--graph $TESTDATA/layers/model.onnx"; do
    btftool layers --json $graph "$TESTDATA/layers/$fault.npz" "$golden" >report.json
    btftool layers --json --from-json report.json >again.json
    echo "$fault exit $?"
    cmp report.json again.json
  done
done
btftool layers --json "$TESTDATA/layers/scale.npz" "$golden" >scale.json
for words in "--limit 30" "--limit 20" "--compute int8" "--isolated" "--max-error 1%" "--order $TESTDATA/layers/order.txt"; do
  btftool layers --from-json scale.json $words | head -n 3; echo "[$words] exit ${PIPESTATUS[0]}"
done
btftool layers --json "$TESTDATA/layers/missing.npz" "$golden" >missing.json
btftool -q layers --from-json missing.json --require-all; echo "exit $?"
btftool layers --from-json - <scale.json | head -n 1
