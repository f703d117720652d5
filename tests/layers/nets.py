"""Small networks as lists of operations, computed one after the other in a precision.

A network is of one of the kinds in KINDS and of a seed; its weights are random, its normalisations calibrated, as after
training. What an operation gives is rounded to the precision before the next one takes it, so that the tensors of two
runs differ as those of a framework and of a device do.
"""

import dataclasses
import math
import typing

import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(1)


@dataclasses.dataclass
class Op:
    kind: str  # of ONNX
    name: str
    inputs: list  # names of tensors
    weights: dict = dataclasses.field(default_factory=dict)
    attributes: dict = dataclasses.field(default_factory=dict)
    result: str = ""  # where it is not called after the operation
    function: typing.Callable = None  # where it is not that of the kind

    @property
    def output(self):
        return self.result or self.name + "_output_0"

    def compute(self, inputs, weights):
        return (self.function or COMPUTE[self.kind])(inputs, weights, self.attributes)


def _conv(x, w, a):
    return F.conv2d(x[0], w["weight"], w.get("bias"), stride=a.get("stride", 1), padding=a.get("padding", 0),
                    groups=a.get("groups", 1))


def _batch_norm(x, w, a):
    shape = (1, -1, 1, 1)
    scale = w["gamma"] / torch.sqrt(w["variance"] + 1e-5)
    return (x[0] - w["mean"].view(shape)) * scale.view(shape) + w["beta"].view(shape)


def _rotate(x, w, a):
    half = x[0].shape[-1] // 2
    low, high = x[0][..., :half], x[0][..., half:]
    return torch.cat([low * w["cos"] - high * w["sin"], high * w["cos"] + low * w["sin"]], -1)


def _fake_quantise(x, w, a):
    q = torch.clamp(torch.round(x[0] / w["scale"]) + w["zero"], w["low"], w["high"])
    return (q - w["zero"]) * w["scale"]


COMPUTE = {
    "Conv": _conv,
    "BatchNormalization": _batch_norm,
    "Relu": lambda x, w, a: F.relu(x[0]),
    "Clip": lambda x, w, a: torch.clamp(x[0], 0, 6),
    "Add": lambda x, w, a: x[0] + (x[1] if len(x) > 1 else w["bias"]),
    "Sub": lambda x, w, a: x[0] - x[1],
    "Mul": lambda x, w, a: x[0] * (x[1] if len(x) > 1 else w["scale"]),
    "Concat": lambda x, w, a: torch.cat(x, 1),
    "GlobalAveragePool": lambda x, w, a: x[0].mean((2, 3), keepdim=True),
    "MaxPool": lambda x, w, a: F.max_pool2d(x[0], 2),
    "Flatten": lambda x, w, a: x[0].flatten(1),
    "Gemm": lambda x, w, a: F.linear(x[0], w["weight"], w.get("bias")),
    "MatMul": lambda x, w, a: torch.matmul(x[0], x[1] if len(x) > 1 else w["weight"].t()),
    "Softmax": lambda x, w, a: F.softmax(x[0], -1),
    "LayerNormalization": lambda x, w, a: F.layer_norm(x[0], x[0].shape[-1:], w["gamma"], w["beta"]),
    "SimplifiedLayerNormalization": lambda x, w, a: x[0] * torch.rsqrt(
        x[0].square().mean(-1, keepdim=True) + 1e-6) * w["gamma"],
    "Gelu": lambda x, w, a: F.gelu(x[0]),
    "Sigmoid": lambda x, w, a: torch.sigmoid(x[0]),
    "HardSwish": lambda x, w, a: F.hardswish(x[0]),
    "Transpose": lambda x, w, a: x[0].permute(a["permutation"]).contiguous(),
    "Reshape": lambda x, w, a: x[0].reshape(a["shape"]),
    "RotaryEmbedding": _rotate,
    "DequantizeLinear": _fake_quantise,  # of what QuantizeLinear gives, which is not dumped
}

# What a device computes in its low precision; the rest it does in the one that the tensors have.
PRODUCTS = ("Conv", "Gemm", "MatMul")


class Net:
    """Operations in execution order, and what goes in."""

    def __init__(self, kind, seed):
        self.kind, self.seed = kind, seed
        self.generator = torch.Generator().manual_seed(1000 * ([*KINDS].index(kind) + 1) + seed)
        self.ops = []
        self.values = {}  # the golden tensors of the calibration run, while the net is built
        self.input_shape = None
        KINDS[kind](self, np.random.default_rng(seed))
        self.calibration = self.values
        self.inputs = {"input": self.normal(*self.input_shape)}

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


def relative(golden, actual):
    counts = torch.isfinite(golden) & torch.isfinite(actual)
    golden, actual = golden[counts].double(), actual[counts].double()
    size, error = torch.linalg.vector_norm(golden), torch.linalg.vector_norm(actual - golden)
    return float(error / size) if size else math.inf


# Precisions.


class Precision:
    """The golden one: float32."""

    name = "float32"
    compute_option = None

    def weight(self, net, op, weight):
        return weight

    def operand(self, net, op, x):
        return x

    def round(self, net, name, x):
        return x

    def compute(self, net, op, inputs):
        if op.kind in PRODUCTS:
            weights = {key: self.weight(net, op, w) for key, w in op.weights.items()}
            inputs = [self.operand(net, name, x) for name, x in zip(op.inputs, inputs)]
        else:
            weights = op.weights
        return self.round(net, op.output, op.compute(inputs, weights))

    def dump(self, x):
        return x.numpy().astype(np.float32)


def widened(weight):
    return weight.double() if torch.is_tensor(weight) and weight.is_floating_point() else weight


class OtherOrder(Precision):
    """float32 whose sums are added up in another order (here: in double precision)."""

    name = "float32x"

    def compute(self, net, op, inputs):
        weights = {key: widened(w) for key, w in op.weights.items()}
        return op.compute([x.double() for x in inputs], weights).float()


class Float(Precision):
    """Weights and tensors of a smaller float; sums in float32."""

    def __init__(self, name, dtype, stored):
        self.name, self.dtype, self.stored = name, dtype, stored

    def weight(self, net, op, weight):
        return weight.to(self.dtype).float()

    def round(self, net, name, x):
        return x.to(self.dtype).float()

    def dump(self, x):
        return x.numpy().astype(self.stored)


class TF32(Precision):
    """Operands of products lose 13 bits, which the tensors do not show."""

    name = "tf32"
    compute_option = "float16"  # which rounds as finely

    @staticmethod
    def cut(x):
        bits = x.contiguous().view(torch.int32)
        return ((bits + 0x1000) & ~0x1FFF).view(torch.float32)

    def weight(self, net, op, weight):
        return self.cut(weight)

    def operand(self, net, name, x):
        return self.cut(x)


def _int8_grid(seen):
    if seen.min() >= 0:
        return float(seen.max()) / 255 or 1.0, 0, 255
    return float(seen.abs().max()) / 127 or 1.0, -128, 127


class Int8(Precision):
    """Tensors quantised, each with the range that another input gave it; weights a scale a channel (odd seeds) or one."""

    name = "int8"

    def weight(self, net, op, weight):
        if weight.dim() < 2:
            return weight
        if net.seed % 2:
            scale = weight.abs().amax(tuple(range(1, weight.dim())), keepdim=True) / 127
        else:
            scale = weight.abs().max() / 127
        return torch.clamp(torch.round(weight / scale), -127, 127) * scale

    def round(self, net, name, x):
        scale, low, high = _int8_grid(unmasked(net.calibration[name]))
        return torch.where(x > MASKED, torch.clamp(torch.round(x / scale), low, high) * scale, x)


class Int8Products(Int8):
    """Only products are of int8; tensors are float16, which shows nothing of it."""

    name = "w8a8"
    compute_option = "int8"

    def operand(self, net, name, x):
        return super().round(net, name, x)

    def round(self, net, name, x):
        return x.half().float()

    def dump(self, x):
        return x.numpy().astype(np.float16)


class Float8(Precision):
    """float8_e4m3fn, each tensor and weight with a scale of its own."""

    name = "fp8"
    compute_option = "float8_e4m3fn"

    @staticmethod
    def grid(seen, x):
        scale = float(seen.abs().max()) / 448 or 1.0
        return torch.clamp(x / scale, -448, 448).to(torch.float8_e4m3fn).float() * scale

    def weight(self, net, op, weight):
        return self.grid(weight, weight) if weight.dim() > 1 else weight

    def round(self, net, name, x):
        return torch.where(x > MASKED, self.grid(unmasked(net.calibration[name]), x), x)


MASKED = -1e8  # what is below stands for "not this one" in front of a softmax, and survives every rounding but float16's


def unmasked(x):
    return x[torch.isfinite(x) & (x > MASKED)]


GOLDEN = Precision()
PRECISIONS = {p.name: p for p in (
    OtherOrder(), TF32(), Float("float16", torch.float16, np.float16), Float("bfloat16", torch.bfloat16, np.float32),
    Int8(), Int8Products(), Float8())}


# Kinds of networks. `rng` draws what the structure depends on.


def residual(net, rng):
    folded = bool(net.seed // 2 % 2)
    width = int(rng.choice([12, 16, 24]))
    x = net.start(2, 3, 16, 16)
    x = net.add("Relu", "stem/relu", [net.conv_norm("stem", x, width, folded)])
    blocks = 10 if folded else 7
    for k in range(blocks):
        scope = f"layer{k}"
        stride = 2 if k in (3, 6) else 1
        channels = width * (1 + (k >= 3) + (k >= 6))
        skip = x
        if stride > 1:
            skip = net.conv_norm(scope + "/down", x, channels, folded, kernel=1, stride=stride)
        y = net.conv_norm(scope + "/a", x, channels, folded, stride=stride)
        y = net.add("Relu", scope + "/relu1", [y])
        y = net.conv_norm(scope + "/b", y, channels, folded)
        y = net.add("Add", scope + "/add", [y, skip])
        x = net.add("Relu", scope + "/relu2", [y])
    net.head(x)


def depthwise(net, rng):
    folded = bool(net.seed // 2 % 2)
    width = int(rng.choice([8, 12, 16]))
    x = net.start(2, 3, 20, 20)
    x = net.add("Clip", "stem/relu6", [net.conv_norm("stem", x, width, folded, stride=2)])
    blocks = 8 if folded else 5
    for k in range(blocks):
        scope = f"features{k}"
        of = net.values[x].shape[1]
        channels = of if k % 3 else of + 4
        y = net.add("Clip", scope + "/relu6a", [net.conv_norm(scope + "/expand", x, 3 * of, folded, kernel=1)])
        y = net.add("Clip", scope + "/relu6b", [net.conv_norm(scope + "/dw", y, 3 * of, folded, depthwise=True)])
        y = net.conv_norm(scope + "/project", y, channels, folded, kernel=1)
        x = net.add("Add", scope + "/add", [y, x]) if channels == of else y
    net.head(x)


def attention(net, scope, x, heads, masked):
    batch, tokens, size = net.values[x].shape
    q = net.heads(scope + "/q", net.linear(scope + "/q", x, size), heads)
    k = net.heads(scope + "/k", net.linear(scope + "/k", x, size), heads)
    v = net.heads(scope + "/v", net.linear(scope + "/v", x, size), heads)
    k = net.add("Transpose", scope + "/kt", [k], permutation=(0, 1, 3, 2))
    s = net.add("MatMul", scope + "/qk", [q, k])
    s = net.add("Mul", scope + "/scale", [s], {"scale": torch.tensor(2.0 / math.sqrt(size / heads))})
    if masked:
        hidden = torch.full((tokens, tokens), -math.inf).triu(1)
        s = net.add("Add", scope + "/mask", [s], {"bias": hidden})
    p = net.add("Softmax", scope + "/softmax", [s])
    y = net.add("MatMul", scope + "/pv", [p, v])
    y = net.add("Transpose", scope + "/back", [y], permutation=(0, 2, 1, 3))
    y = net.add("Reshape", scope + "/merge", [y], shape=(batch, tokens, size))
    return net.linear(scope + "/out", y, size)


def encoder(net, rng):
    size = int(rng.choice([48, 64, 96]))
    x = net.start(2, 24, size)
    for k in range(2):
        scope = f"encoder{k}"
        y = net.norm(scope + "/ln1", x)
        y = attention(net, scope + "/attn", y, 4, masked=bool(net.seed // 2 % 2))
        x = net.add("Add", scope + "/add1", [x, y])
        y = net.norm(scope + "/ln2", x)
        y = net.linear(scope + "/fc1", y, 2 * size)
        y = net.add("Gelu", scope + "/gelu", [y])
        y = net.linear(scope + "/fc2", y, size)
        x = net.add("Add", scope + "/add2", [x, y])
    x = net.norm("final", x)
    x = net.linear("head", x, 32, gain=2.0)
    net.add("Softmax", "softmax", [x])


def decoder(net, rng):
    """As language models are: RMS norm, rotary embedding, gates, and channels that stand out."""
    size = int(rng.choice([64, 96]))
    heads = 4
    x = net.start(1, 32, size)
    angle = torch.outer(torch.arange(32.), 10000 ** (-torch.arange(0, size // heads, 2) / (size // heads)))
    rotary = {"cos": angle.cos(), "sin": angle.sin()}
    loud = torch.ones(size)
    loud[torch.from_numpy(rng.choice(size, 2, replace=False))] = 12.0
    x = net.add("Mul", "embed", [x], {"scale": loud})
    hidden = torch.full((32, 32), -1e9).triu(1) if net.seed // 2 % 2 else torch.full((32, 32), -math.inf).triu(1)
    for k in range(2):
        scope = f"model/layers.{k}"
        y = net.norm(scope + "/norm1", x, "SimplifiedLayerNormalization")
        q = net.heads(scope + "/q", net.linear(scope + "/q", y, size, bias=False), heads)
        q = net.add("RotaryEmbedding", scope + "/q_rot", [q], rotary)
        key = net.heads(scope + "/k", net.linear(scope + "/k", y, size, bias=False), heads)
        key = net.add("RotaryEmbedding", scope + "/k_rot", [key], rotary)
        v = net.heads(scope + "/v", net.linear(scope + "/v", y, size, bias=False), heads)
        key = net.add("Transpose", scope + "/kt", [key], permutation=(0, 1, 3, 2))
        s = net.add("MatMul", scope + "/qk", [q, key])
        s = net.add("Mul", scope + "/scale", [s], {"scale": torch.tensor(2.0 / math.sqrt(size / heads))})
        s = net.add("Add", scope + "/mask", [s], {"bias": hidden})
        p = net.add("Softmax", scope + "/softmax", [s])
        y = net.add("MatMul", scope + "/pv", [p, v])
        y = net.add("Transpose", scope + "/back", [y], permutation=(0, 2, 1, 3))
        y = net.add("Reshape", scope + "/merge", [y], shape=(1, 32, size))
        x = net.add("Add", scope + "/add1", [x, net.linear(scope + "/o", y, size, bias=False)])
        y = net.norm(scope + "/norm2", x, "SimplifiedLayerNormalization")
        gate = net.linear(scope + "/gate", y, 2 * size, bias=False)
        up = net.linear(scope + "/up", y, 2 * size, bias=False)
        sigmoid = net.add("Sigmoid", scope + "/sigmoid", [gate])
        y = net.add("Mul", scope + "/silu", [gate, sigmoid])
        y = net.add("Mul", scope + "/gated", [y, up])
        x = net.add("Add", scope + "/add2", [x, net.linear(scope + "/down", y, size, bias=False)])
    x = net.norm("model/norm", x, "SimplifiedLayerNormalization")
    net.linear("lm_head", x, 128, bias=False)


def quantised(net, rng):
    """Trained with quantisation: both runs round tensors and weights to int8, which is part of the network."""
    width = int(rng.choice([12, 16]))

    def fake(scope, x):
        scale, low, high = _int8_grid(net.values[x])
        return net.add("DequantizeLinear", scope, [x], {"scale": scale, "zero": 0, "low": low, "high": high})

    def conv(scope, x, channels, **options):
        x = net.conv_norm(scope, fake(scope + "/q", x), channels, True, **options)
        op = net.ops[-1]
        op.weights["weight"] = Int8().weight(net, op, op.weights["weight"])
        net.values[x] = op.compute([net.values[op.inputs[0]]], op.weights)
        return x

    x = net.start(2, 3, 16, 16)
    x = net.add("Relu", "stem/relu", [conv("stem", x, width)])
    for k in range(5):
        scope = f"block{k}"
        y = net.add("Relu", scope + "/relu1", [conv(scope + "/a", x, width)])
        y = conv(scope + "/b", y, width)
        y = net.add("Add", scope + "/add", [y, x])
        x = net.add("Relu", scope + "/relu2", [y])
    net.head(fake("last", x))


def cancelling(net, rng):
    """A difference of numbers that are nearly the same: what they were rounded by is all the larger there."""
    x = net.add("Relu", "stem/relu", [net.conv_norm("stem", net.start(2, 3, 16, 16), 16, True)])
    for k in range(6):
        scope = f"block{k}"
        y = net.add("Relu", scope + "/relu", [net.conv_norm(scope, x, 16, True)])
        if k == 3:
            small = net.add("Mul", scope + "/small", [y], {"scale": torch.tensor(0.01)})
            y = net.add("Sub", scope + "/sub", [net.add("Add", scope + "/both", [x, small]), x])
            y = net.batch_norm(scope + "/bn", y)
        x = net.add("Add", scope + "/add", [x, y])
    net.head(x)


def outliers(net, rng):
    """A few channels twenty times as large as the others behind a norm, as in large language models."""
    size = 64
    x = net.start(2, 24, size)
    for k in range(5):
        scope = f"block{k}"
        y = net.norm(scope + "/ln", x)
        loud = torch.from_numpy(rng.choice(size, 2, replace=False))
        net.ops[-1].weights["gamma"][loud] *= 20
        net.values[y] = net.ops[-1].compute([net.values[x]], net.ops[-1].weights)
        y = net.linear(scope + "/fc1", y, 2 * size)
        # As trained: what comes in loud is weighed little.
        product = net.ops[-2]
        product.weights["weight"][:, loud] /= 20
        for op in net.ops[-2:]:
            net.values[op.output] = op.compute([net.values[op.inputs[0]]], op.weights)
        y = net.add("Gelu", scope + "/gelu", [y])
        x = net.add("Add", scope + "/add", [x, net.linear(scope + "/fc2", y, size)])
    net.linear("head", x, 32)


KINDS = {"residual": residual, "depthwise": depthwise, "encoder": encoder, "decoder": decoder, "quantised": quantised,
         "cancelling": cancelling, "outliers": outliers}
ORDINARY = [*KINDS][:5]


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
    golden = net.calibration
    value = lambda name: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, list(golden[name].shape))
    return helper.make_model(helper.make_graph(nodes, net.name, [value("input")], [value(net.ops[-1].output)],
                                               initializers))
