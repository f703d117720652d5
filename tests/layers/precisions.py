"""What tensors are rounded to: an operation is computed on rounded tensors, in float32, and its result rounded."""

import numpy as np
import torch

from ops import PRODUCTS


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


def int8_grid(seen):
    if seen.min() >= 0:
        return float(seen.max()) / 255 or 1.0, 0, 255
    return float(seen.abs().max()) / 127 or 1.0, -128, 127


class Int8(Precision):
    """Tensors quantised, each with the range that other inputs gave it; weights with a scale a channel or one."""

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
        scale, low, high = int8_grid(net.ranges[name])
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
        return torch.where(x > MASKED, self.grid(net.ranges[name], x), x)


# What is below stands for "not this one" in front of a softmax, and survives every rounding but float16's.
MASKED = -1e8


def unmasked(x):
    return x[torch.isfinite(x) & (x > MASKED)]


GOLDEN = Precision()
PRECISIONS = {p.name: p for p in (
    OtherOrder(), TF32(), Float("float16", torch.float16, np.float16), Float("bfloat16", torch.bfloat16, np.float32),
    Int8(), Int8Products(), Float8())}


class _Reordered:
    """Sums in double precision, then the rounding of another precision."""

    def __new__(cls, base):
        class Reordered(type(base)):
            def compute(self, net, op, inputs):
                inputs = [x.double() for x in inputs]
                low = self.weight if op.kind in PRODUCTS else lambda net, op, weight: weight
                weights = {k: widened(low(net, op, w)) for k, w in op.weights.items()}
                return self.round(net, op.output, op.compute(inputs, weights).float())

        other = Reordered.__new__(Reordered)
        other.__dict__.update(base.__dict__)
        return other


OTHER_ORDERS = {name: _Reordered(p) for name, p in PRECISIONS.items()
                if name in ("float16", "bfloat16", "int8", "fp8")}
