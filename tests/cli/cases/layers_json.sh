# The whole document, of two layers.
btftool -q convert --tensor 0,1 "$TESTDATA/layers/golden.npz" golden.npz
btftool -q convert --tensor 0,1 "$TESTDATA/layers/inputs.npz" actual.npz
btftool layers --json --graph "$TESTDATA/layers/model.onnx" actual.npz golden.npz; echo "exit $?"
btftool layers --json --no-hints golden.npz golden.npz; echo "exit $?"
