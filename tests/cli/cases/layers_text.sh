# The screen: the verdict first, at most 80 columns, the same for any number of threads.
golden=$TESTDATA/layers/golden.npz
for fault in dead_channel dump healthy missing; do
  btftool layers "$TESTDATA/layers/$fault.npz" "$golden" >text; echo "exit $?"
  cat text
  for jobs in 1 2 5; do btftool -j $jobs layers "$TESTDATA/layers/$fault.npz" "$golden" | cmp - text; done
  LC_ALL=C.UTF-8 awk 'length > 80 { print "too long: " $0 }' text
done
btftool layers --all --no-hints --graph "$TESTDATA/layers/model.onnx" "$TESTDATA/layers/dead_channel.npz" "$golden"
btftool -q layers "$TESTDATA/layers/nan.npz" "$golden"; echo "exit $?"
