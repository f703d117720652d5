# What cannot be judged is said, and never guessed.
fit=$TESTDATA/fit
run() { btftool fit "$@"; echo "exit $?"; }
run
run --dtype uint8 "$fit/golden.npz"
run --dtype fp16,fp16 "$fit/golden.npz"
run --emit names wide.txt "$fit/golden.npz"
run --emit nmaes wide.txt --graph "$fit/model.onnx" "$fit/golden.npz"
run --emit names
run --emit names list.txt --dtype fp16,bf16 --graph "$fit/model.onnx" "$fit/golden.npz"
run --emit names wide.txt --dtype int8 --graph "$fit/model.onnx" "$fit/golden.npz"
run --emit scales scales.json --graph "$fit/model.onnx" "$fit/golden.npz"
run nothing.npz
run --graph nothing.onnx "$fit/golden.npz"
run --graph "$fit/golden.npz" "$fit/golden.npz"
# Another network's dump; one that is narrow already; one of a tensor only; numbers that are none.
run --graph "$fit/model.onnx" "$TESTDATA/layers/golden.npz"
run --graph "$fit/model.onnx" "$fit/half.npz"
btftool convert -q --tensor input "$fit/golden.npz" input.npz
run --graph "$fit/model.onnx" input.npz
btftool convert -q --dtype int32 --scale 0.01 "$fit/golden.npz" codes.npz
run --graph "$fit/model.onnx" codes.npz
run --json codes.npz
run --dtype int8 codes.npz
