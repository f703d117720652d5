# Dumps of ONNX Runtime's quantised models: what is computed with in place of X is compared with X.
data=$TESTDATA/layers
show() { btftool layers --json --no-hints "$@" >report.json; echo "exit $?"; grep -o '"verdict":{"kind":"[a-z-]*","layer":[^,]*' report.json; grep -o '"tier":"[a-z]*"' report.json | sort | uniq -c | tr -s ' '; grep -o '"flat":[^]]*]' report.json; }
cp "$data"/qdq*.npz "$data"/qdq*.onnx .
btftool layers --graph qdq.onnx qdq.npz qdq_golden.npz; echo "exit $?"
for graph in '--graph qdq_float.onnx' '--graph qdq.onnx' '--graph qdq_float.onnx --actual-graph qdq.onnx' ''; do
  echo "with $graph"
  show $graph qdq.npz qdq_golden.npz
  show $graph qdq_golden.npz qdq.npz
  # As onnxruntime.quantization.qdq_loss_debug saves them: flat, and in the order of a set.
  show $graph qdq_flat.npz qdq_flat_golden.npz
  show $graph qdq_flat.npz qdq_golden.npz
done
# What is not compared is said, and is missing nowhere.
grep -o '"actual_beside":\[{[^}]*}' report.json
btftool layers --from-json report.json | grep -A 2 pairs
# Against itself each form has its own pair.
show qdq.npz qdq.npz
# Faults: of a scale, of a channel of a weight, of a ReLU that the codes do not clip.
for fault in scale dead no; do
  for graph in '--graph qdq.onnx' '--graph qdq_float.onnx' ''; do show $graph qdq_$fault.npz qdq_golden.npz | head -2; done
done
btftool layers --graph qdq.onnx qdq_scale.npz qdq_golden.npz | head -4
# Files of one tensor each, and diff.
mkdir actual golden
for name in input relu0 relu1 relu1_DequantizeLinear_Output relu1_QuantizeLinear_Output relu0_DequantizeLinear_Output; do btftool -q convert --tensor $name qdq.npz actual/$name.npy; done
for name in input relu0 relu1; do btftool -q convert --tensor $name qdq_golden.npz golden/$name.npy; done
show --graph qdq_float.onnx actual golden
btftool diff --atol 1 qdq.npz qdq_golden.npz >diff.txt; echo "exit $?"
head -20 diff.txt
btftool diff --atol 1 actual golden | head -9
btftool diff --pair-by exact --atol 1 qdq.npz qdq_golden.npz | grep -c relu1_
