# Which layers must stay wide, and why; lists for other tools.
fit=$TESTDATA/fit
btftool fit --graph "$fit/model.onnx" "$fit/golden.npz" --emit names wide.txt; echo "exit $?"
cat wide.txt
btftool fit --all --dtype fp16,bf16 --graph "$fit/model.onnx" "$fit/golden.npz"; echo "exit $?"
# Several dumps are taken together, and each layer says in how many.
btftool convert -q --tensor 0-4 "$fit/golden.npz" part.npz
btftool fit --graph "$fit/model.onnx" "$fit/golden.npz" part.npz; echo "exit $?"
for form in autocast onnxconverter trtexec polygraphy; do
  btftool -q fit --graph "$fit/model.onnx" "$fit/golden.npz" --emit $form list.txt; echo "exit $?"
  cat list.txt
done
# Without a graph: tensors only.
btftool fit "$fit/golden.npz"; echo "exit $?"
btftool fit --dtype bf16 --all "$fit/golden.npz"; echo "exit $?"
