"""run_torch.py MODEL.onnx INPUT.npy OUT.npz: the same network on PyTorch in float16, each operator by a function of torch."""

import sys

import numpy as np
import onnx
import torch
import torch.nn.functional as F


def conv(x, weight, bias=None, *, strides, pads, group, **_):
    return F.conv2d(x, weight, bias, strides, pads[:2], groups=group)


def normalised(x, scale, offset, mean, variance, *, epsilon, **_):
    return F.batch_norm(x, mean, variance, scale, offset, eps=epsilon)


def reshaped(x, shape):
    return x.reshape([x.shape[axis] if size == 0 else size for axis, size in enumerate(shape.tolist())])


def sliced(x, starts, ends, axes, steps):
    for start, end, axis in zip(starts.tolist(), ends.tolist(), axes.tolist(), strict=True):
        x = x.narrow(axis, start, end - start)
    return x


OPERATORS = {
    "Add": torch.add,
    "BatchNormalization": normalised,
    "Cast": lambda x, to: x.to(torch.int64),
    "Clip": torch.clamp,
    "Concat": lambda *parts, axis: torch.cat([part.reshape(-1) for part in parts], axis),
    "Conv": conv,
    "Div": torch.div,
    "GlobalAveragePool": lambda x: x.mean((2, 3), keepdim=True),
    "HardSigmoid": lambda x, **_: F.hardsigmoid(x),
    "Identity": lambda x: x,
    "MatMul": torch.matmul,
    "MaxPool": lambda x, *, kernel_shape, strides, pads, **_: F.max_pool2d(x, kernel_shape, strides, pads[:2]),
    "Mul": torch.mul,
    "Relu": F.relu,
    "Reshape": reshaped,
    "Shape": lambda x: torch.tensor(x.shape),
    "Slice": sliced,
    "Softmax": lambda x, axis: F.softmax(x, axis),
}


def half(array):
    """Weights and what is computed from them are float16; shapes stay integers."""
    tensor = torch.from_numpy(np.array(array))
    return tensor.half() if tensor.is_floating_point() else tensor


model_file, input_file, out_file = sys.argv[1:]
graph = onnx.load(model_file).graph
values = {tensor.name: half(onnx.numpy_helper.to_array(tensor)) for tensor in graph.initializer}
values[graph.input[0].name] = half(np.load(input_file))
dump = {graph.input[0].name: values[graph.input[0].name]}
for node in graph.node:
    attributes = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
    if node.op_type == "Constant":
        values[node.output[0]] = half(onnx.numpy_helper.to_array(attributes["value"]))
    else:
        values[node.output[0]] = OPERATORS[node.op_type](*(values[name] if name else None for name in node.input), **attributes)
        dump[node.output[0]] = values[node.output[0]]
np.savez(out_file, **{name: tensor.numpy() for name, tensor in dump.items()})
