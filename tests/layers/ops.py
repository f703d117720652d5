"""Operations of networks, by the names that ONNX has for them."""

import dataclasses
import typing

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
