"""Networks of kinds that packages have few of, with weights by chance: of speech, unrolled in time, of attention."""

import dataclasses

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Made:
    """A network that grows by a node; weights keep the size of what goes through."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.weights, self.count = [], [], 0

    def w(self, value):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(value, np.float32), name))
        return name

    def whole(self, *values):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(values, np.int64), name))
        return name

    def n(self, op, *inputs, outputs=1, **attributes):
        self.count += 1
        names = [f"t{self.count}" if k == 0 else f"t{self.count}_{k}" for k in range(outputs)]
        self.nodes.append(helper.make_node(op, [i if isinstance(i, str) else self.w(i) for i in inputs], names,
                                           name=f"{op}_{self.count}", **attributes))
        return names[0] if outputs == 1 else names

    def normal(self, *dims, fan):
        return self.rng.normal(size=dims) * np.sqrt(1.5 / fan)

    def linear(self, x, size, to):
        return self.n("Add", self.n("MatMul", x, self.normal(size, to, fan=size)), 0.1 * self.rng.normal(size=to))

    def gelu(self, x):
        part = self.n("Add", self.n("Erf", self.n("Div", x, np.sqrt(2))), 1.0)
        return self.n("Mul", self.n("Mul", x, part), 0.5)

    def norm(self, x, size):
        d = self.n("Sub", x, self.n("ReduceMean", x, axes=[-1]))
        variance = self.n("ReduceMean", self.n("Pow", d, 2.0), axes=[-1])
        y = self.n("Div", d, self.n("Sqrt", self.n("Add", variance, 1e-5)))
        return self.n("Add", self.n("Mul", y, 1 + 0.1 * self.rng.normal(size=size)), 0.1 * self.rng.normal(size=size))

    def heads(self, x, time, count, each):
        return self.n("Transpose", self.n("Reshape", x, self.whole(1, time, count, each)), perm=[0, 2, 1, 3])

    def attention(self, x, time, size, count):
        each = size // count
        q, k, v = (self.heads(self.linear(x, size, size), time, count, each) for _ in range(3))
        scores = self.n("MatMul", self.n("Mul", q, each**-0.5), self.n("Transpose", k, perm=[0, 1, 3, 2]))
        read = self.n("Transpose", self.n("MatMul", self.n("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        return self.linear(self.n("Reshape", read, self.whole(1, time, size)), size, size)

    def model(self, result, **inputs):
        graph = helper.make_graph(
            self.nodes, "made",
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, dims) for n, dims in inputs.items()],
            [helper.make_tensor_value_info(result, TensorProto.FLOAT, None)], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
        return onnx.shape_inference.infer_shapes(model)


def unrolled_lstm(steps=8, size=24, hidden=32):
    """A sequence through gates, step by step, as tools write it out that know no loops."""
    net = Made(11)
    weights = net.w(net.normal(size, 4 * hidden, fan=size))
    again = net.w(net.normal(hidden, 4 * hidden, fan=hidden))
    bias = net.w(0.2 * net.rng.normal(size=4 * hidden))
    h = c = None
    for step in range(steps):
        x = net.n("Squeeze", net.n("Slice", "x", net.whole(step), net.whole(step + 1), net.whole(1)), net.whole(1))
        gates = net.n("Add", net.n("MatMul", x, weights), bias)
        if h:
            gates = net.n("Add", gates, net.n("MatMul", h, again))
        i, f, g, o = net.n("Split", gates, outputs=4, axis=1)
        c_new = net.n("Mul", net.n("Sigmoid", i), net.n("Tanh", g))
        c = net.n("Add", net.n("Mul", net.n("Sigmoid", f), c), c_new) if c else c_new
        h = net.n("Mul", net.n("Sigmoid", o), net.n("Tanh", c))
    return net.model(net.linear(h, hidden, 10), x=[4, steps, size])


def speech_encoder(time=40, mels=20, size=48, heads=4, layers=2):
    """Two convolutions over time, then attention, as speech recognition has it."""
    net = Made(12)
    x = net.gelu(net.n("Conv", "mel", net.normal(size, mels, 3, fan=3 * mels), 0.1 * net.rng.normal(size=size), pads=[1, 1]))
    x = net.gelu(net.n("Conv", x, net.normal(size, size, 3, fan=3 * size), 0.1 * net.rng.normal(size=size), pads=[1, 1],
                       strides=[2]))
    x = net.n("Add", net.n("Transpose", x, perm=[0, 2, 1]), 0.3 * net.rng.normal(size=(time // 2, size)))
    for _ in range(layers):
        x = net.n("Add", x, net.attention(net.norm(x, size), time // 2, size, heads))
        x = net.n("Add", x, net.linear(net.gelu(net.linear(net.norm(x, size), size, 4 * size)), 4 * size, size))
    return net.model(net.norm(x, size), mel=[1, mels, time])


def sound_kinds(mels=32, time=48):
    """Convolutions over a spectrogram with batch normalisation, and the mean of what is left."""
    net = Made(13)
    x, channels = "mel", 1
    for to in (12, 24, 48):
        x = net.n("Conv", x, net.normal(to, channels, 3, 3, fan=9 * channels), pads=[1, 1, 1, 1])
        x = net.n("BatchNormalization", x, 1 + 0.2 * net.rng.normal(size=to), 0.2 * net.rng.normal(size=to),
                  0.2 * net.rng.normal(size=to), 0.5 + net.rng.random(size=to))
        x = net.n("MaxPool", net.n("Relu", x), kernel_shape=[2, 2], strides=[2, 2])
        channels = to
    x = net.n("Flatten", net.n("GlobalAveragePool", x))
    x = net.n("Gemm", x, net.normal(channels, 12, fan=channels), 0.1 * net.rng.normal(size=12))
    return net.model(net.n("Softmax", x, axis=1), mel=[1, 1, mels, time])


@dataclasses.dataclass(frozen=True)
class MadeModel:
    """As Real of real_models.py is asked."""
    name: str
    make: object
    inputs: dict  # by name: (kind, dims)


MADE = (
    MadeModel("unrolled-lstm", unrolled_lstm, {"x": ("normal", (4, 8, 24))}),
    MadeModel("speech-encoder", speech_encoder, {"mel": ("mel", (1, 20, 40))}),
    MadeModel("sound-kinds", sound_kinds, {"mel": ("mel", (1, 1, 32, 48))}),
)
