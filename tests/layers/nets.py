"""Small networks as lists of operations, computed one after the other in a precision.

A network is of one of the kinds in KINDS and of a seed; its weights are random, its normalisations calibrated, as after
training. What an operation gives is rounded to the precision before the next one takes it, so that the tensors of two
runs differ as those of a framework and of a device do.
"""

import math

import numpy as np
import torch

from kinds import KINDS
from ops import Op
from precisions import unmasked


class Net:
    """Operations in execution order, and what goes in."""

    def __init__(self, kind, seed):
        self.kind, self.seed = kind, seed
        self.generator = torch.Generator().manual_seed(1000 * ([*KINDS].index(kind) + 1) + seed)
        self.ops = []
        self.values = {}  # the golden tensors of the calibration run, while the net is built
        self.input_shape = None
        KINDS[kind](self, np.random.default_rng(seed))
        self.inputs = {"input": self.normal(*self.input_shape)}
        self.calibrate(self.normal(*self.input_shape) for _ in range(CALIBRATION - 1))

    @property
    def name(self):
        return f"{self.kind}{self.seed}"

    def normal(self, *shape):
        return torch.randn(*shape, generator=self.generator)

    def uniform(self, low, high, *shape):
        return low + (high - low) * torch.rand(*shape, generator=self.generator)

    def start(self, *shape):
        self.input_shape = shape
        self.values["input"] = self.normal(*shape)
        return "input"

    def add(self, kind, scope, inputs, weights=None, **attributes):
        op = Op(kind, f"/{scope}/{kind}", list(inputs), weights or {}, attributes)
        self.ops.append(op)
        self.values[op.output] = op.compute([self.values[i] for i in inputs], op.weights)
        return op.output

    def calibrate(self, more):
        """The range of each tensor, over what the net was built with and more inputs."""
        self.ranges = {name: extremes(value) for name, value in self.values.items()}
        for x in more:
            values = {"input": x}
            for op in self.ops:
                values[op.output] = op.compute([values[i] for i in op.inputs], op.weights)
            self.ranges = {name: extremes(torch.cat([seen, values[name].flatten()]))
                           for name, seen in self.ranges.items()}

    # Layers, whose sizes follow from what goes in.

    def conv(self, scope, x, channels, kernel=3, stride=1, depthwise=False, bias=True):
        of = self.values[x].shape[1]
        groups = of if depthwise else 1
        fan = of // groups * kernel * kernel
        weights = {"weight": self.normal(channels, of // groups, kernel, kernel) * math.sqrt(2 / fan)}
        if bias:
            weights["bias"] = 0.2 * self.normal(channels)
        return self.add("Conv", scope, [x], weights, stride=stride, padding=kernel // 2, groups=groups)

    def batch_norm(self, scope, x):
        channels = self.values[x].shape[1]
        seen = self.values[x]
        return self.add("BatchNormalization", scope, [x], {
            "gamma": self.uniform(0.5, 1.5, channels), "beta": 0.4 * self.normal(channels),
            "mean": seen.mean((0, 2, 3)), "variance": seen.var((0, 2, 3))})

    def conv_norm(self, scope, x, channels, folded, **options):
        x = self.conv(scope + "/conv", x, channels, bias=folded, **options)
        if not folded:
            return self.batch_norm(scope + "/bn", x)
        # Folded: the weights take the normalisation in.
        op, seen = self.ops[-1], self.values[x]
        scale = self.uniform(0.5, 1.5, channels) / torch.sqrt(seen.var((0, 2, 3)) + 1e-5)
        op.weights["weight"] = op.weights["weight"] * scale.view(-1, 1, 1, 1)
        op.weights["bias"] = (op.weights["bias"] - seen.mean((0, 2, 3))) * scale + 0.4 * self.normal(channels)
        self.values[x] = op.compute([self.values[op.inputs[0]]], op.weights)
        return x

    def linear(self, scope, x, size, bias=True, gain=1.0):
        of = self.values[x].shape[-1]
        x = self.add("MatMul", scope, [x], {"weight": gain * self.normal(size, of) / math.sqrt(of)})
        return self.add("Add", scope, [x], {"bias": 0.1 * self.normal(size)}) if bias else x

    def norm(self, scope, x, kind="LayerNormalization"):
        size = self.values[x].shape[-1]
        gamma = self.uniform(0.6, 1.4, size)
        weights = {"gamma": gamma}
        if kind == "LayerNormalization":
            weights["beta"] = 0.2 * self.normal(size)
        return self.add(kind, scope, [x], weights)

    def heads(self, scope, x, heads):
        batch, tokens, size = self.values[x].shape
        x = self.add("Reshape", scope, [x], shape=(batch, tokens, heads, size // heads))
        return self.add("Transpose", scope, [x], permutation=(0, 2, 1, 3))

    def head(self, x, classes=10):
        x = self.add("GlobalAveragePool", "pool", [x])
        x = self.add("Flatten", "flatten", [x])
        of = self.values[x].shape[-1]
        x = self.add("Gemm", "fc", [x], {"weight": 2 * self.normal(classes, of) / math.sqrt(of),
                                         "bias": 0.1 * self.normal(classes)})
        self.add("Softmax", "softmax", [x])

    # Runs.

    def run(self, precision, faults=(), inputs=None):
        """The tensors by name, in the order in which they are computed: those computed, and those dumped."""
        computed, dumped = {}, {}
        for name, value in (inputs or self.inputs).items():
            computed[name] = precision.round(self, name, value)
            dumped[name] = computed[name]
        self.own_error = {}
        for op in self.ops:
            value = precision.compute(self, op, [computed[i] for i in op.inputs])
            shown = None
            for fault in faults:
                if fault.at == op.output:
                    before = value
                    value, shown = fault.apply(value, shown)
                    if not fault.dump_only:
                        value = precision.round(self, op.output, value)
                    self.own_error[op.output] = relative(before, shown if fault.dump_only else value)
            computed[op.output] = value
            dumped[op.output] = value if shown is None else shown
        return {name: precision.dump(value) for name, value in dumped.items()}


CALIBRATION = 8  # inputs


def extremes(x):
    x = unmasked(x)
    return torch.stack([x.min(), x.max()])


def relative(golden, actual):
    counts = torch.isfinite(golden) & torch.isfinite(actual)
    golden, actual = golden[counts].double(), actual[counts].double()
    size, error = torch.linalg.vector_norm(golden), torch.linalg.vector_norm(actual - golden)
    return float(error / size) if size else math.inf


def graph(net):
    """The network as an ONNX model whose weights are names only: `btftool layers` reads no values."""
    import onnx
    from onnx import helper

    nodes, initializers = [], []
    for op in net.ops:
        inputs = list(op.inputs)
        if op.kind == "DequantizeLinear":
            codes = op.name.replace("Dequantize", "Quantize") + "_output_0"
            nodes.append(helper.make_node("QuantizeLinear", [inputs[0], op.name + ".scale"], [codes],
                                          name=op.name.replace("Dequantize", "Quantize")))
            inputs = [codes]
        for key in ([*op.weights] if op.kind != "DequantizeLinear" else ["scale"]):
            initializers.append(helper.make_tensor(f"{op.name}.{key}", onnx.TensorProto.FLOAT, [1], [0.0]))
            inputs.append(f"{op.name}.{key}")
        nodes.append(helper.make_node(op.kind, inputs, [op.output], name=op.name))
    value = lambda name: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, list(net.values[name].shape))
    return helper.make_model(helper.make_graph(nodes, net.name, [value("input")], [value(net.ops[-1].output)],
                                               initializers))
