"""make_testdata.py DIR: the small network of docs/fit.md, a run in float32, one in float16, and one with the layers in
float32 that fit names there. Needs onnx and onnxruntime."""

import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import device

NAMES = ("pow", "mean")


def network():
    """A block of a transformer's kind: a product, the root mean square taken out by hand, another product."""
    rng = np.random.default_rng(7)

    def weights(name, array):
        return numpy_helper.from_array(array.astype(np.float32), name)

    nodes = [
        helper.make_node("MatMul", ["input", "up.weight"], ["up"], "up"),
        helper.make_node("Add", ["up", "up.bias"], ["hidden"], "bias"),
        helper.make_node("Pow", ["hidden", "two"], ["squares"], "pow"),
        helper.make_node("ReduceMean", ["squares"], ["variance"], "mean", axes=[-1], keepdims=1),
        helper.make_node("Add", ["variance", "eps"], ["variance_eps"], "epsilon"),
        helper.make_node("Sqrt", ["variance_eps"], ["rms"], "root"),
        helper.make_node("Div", ["hidden", "rms"], ["normal"], "divide"),
        helper.make_node("Mul", ["normal", "norm.weight"], ["scaled"], "scale"),
        helper.make_node("MatMul", ["scaled", "down.weight"], ["down"], "down"),
        helper.make_node("Relu", ["down"], ["output"], "relu"),
    ]
    up = rng.normal(size=(16, 24)) / 4
    up[:, 5] *= 400  # one channel that is far larger than the others, as networks have them
    graph = helper.make_graph(
        nodes, "block", [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 12, 16])],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, [1, 12, 8])],
        [weights("up.weight", up), weights("up.bias", rng.normal(size=24) / 8),
         weights("two", np.array(2.0)), weights("eps", np.array(1e-6)),
         weights("norm.weight", rng.uniform(0.5, 1.5, size=24)), weights("down.weight", rng.normal(size=(24, 8)) / 5)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def narrow_run(model, inputs, tensors, wide):
    """All tensors of a device that works in float16 but for these nodes, each in its own type."""
    watched = onnx.ModelProto()
    watched.CopyFrom(model)
    del watched.graph.output[:]
    for node in model.graph.node:
        watched.graph.output.append(helper.make_empty_tensor_value_info(node.output[0]))
    number = [i for i, node in enumerate(model.graph.node) if node.name in wide]
    found = device.Device(watched, "float16", tensors).run([inputs], number)[0]
    held = {model.graph.node[i].output[0] for i in number}
    return {"input": inputs["input"],
            **{k: v if k in held else v.astype(np.float16) for k, v in found.items()}}


def main(folder):
    model = network()
    inputs = {"input": np.random.default_rng(1).normal(size=(1, 12, 16)).astype(np.float32)}
    tensors = device.all_tensors(model, inputs)
    onnx.save(model, os.path.join(folder, "model.onnx"))
    np.savez(os.path.join(folder, "golden.npz"), **tensors)
    with np.errstate(all="ignore"):
        np.savez(os.path.join(folder, "half.npz"), **narrow_run(model, inputs, tensors, ()))
        np.savez(os.path.join(folder, "mixed.npz"), **narrow_run(model, inputs, tensors, NAMES))


if __name__ == "__main__":
    main(sys.argv[1])
