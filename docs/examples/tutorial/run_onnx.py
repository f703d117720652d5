"""run_onnx.py MODEL.onnx INPUT.npy OUT.npz: every tensor of a run by ONNX Runtime, under its name."""

import sys

import numpy as np
import onnx
import onnxruntime

model_file, input_file, out_file = sys.argv[1:]
model = onnx.load(model_file)
known = {output.name for output in model.graph.output}
for node in model.graph.node:
    if node.op_type != "Constant":
        model.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in node.output if name not in known)

options = onnxruntime.SessionOptions()
options.log_severity_level = 3
# As the graph has them: nothing is fused, so that each layer is there to be seen.
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
given = {session.get_inputs()[0].name: np.load(input_file)}
names = [output.name for output in session.get_outputs()]
np.savez(out_file, **given, **dict(zip(names, session.run(names, given))))
