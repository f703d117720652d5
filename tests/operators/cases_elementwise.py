"""Functions of one element, and of elements at the same place."""

import numpy as np

from cases import Case, case


@case("Abs", "Neg", "Relu", "Sign", "Floor", "Ceil", "Round", "Exp", "Sin", "Cos", "Tanh", "Sigmoid", "Softplus",
      "Softsign", "Erf", "HardSwish", "Mish", "Identity", "Atan", "Asinh", "Sinh", "Cosh", "Selu", "Elu", "Celu",
      "LeakyRelu", "ThresholdedRelu", "HardSigmoid", "Shrink", "Gelu")
def plain(r, op):
    attributes = {}
    if op in ("Elu", "LeakyRelu", "ThresholdedRelu", "Celu", "HardSigmoid", "Selu") and r.chance():
        attributes["alpha"] = float(r.rng.uniform(0.05, 1.5))
    if op == "HardSigmoid" and r.chance():
        attributes["beta"] = float(r.rng.uniform(0.1, 0.9))
    if op == "Shrink":
        attributes = {"lambd": float(r.rng.uniform(0.1, 1)), "bias": float(r.rng.uniform(0, 1))}
    if op == "Gelu":
        attributes["approximate"] = r.pick("none", "tanh")
    return Case(op, [r.floats(r.shape(0, 4), r.pick(0.01, 1, 4))], attributes)


@case("Tan", "Asin", "Acos", "Atanh")
def near_zero(r, op):
    return Case(op, [r.uniform(r.shape(), -0.9, 0.9)])


@case("Sqrt", "Log", "Reciprocal")
def positive(r, op):
    return Case(op, [r.uniform(r.shape(), 0.05, 9)])


@case("Acosh")
def above_one(r):
    return Case("Acosh", [r.uniform(r.shape(), 1.1, 9)])


@case("Swish")
def swish(r):
    x, alpha = r.floats(r.shape(), 3), float(np.float32(r.rng.uniform(0.5, 2)))
    wide = x.astype(np.float64)
    return Case("Swish", [x], {"alpha": alpha}, 24, expected=[wide / (1 + np.exp(-alpha * wide))])


@case("Not", types=("float32",))
def negated(r):
    return Case("Not", [r.integers(r.shape(), 0, 1, bool)])


@case("IsNaN", "IsInf")
def special(r, op):
    x = r.floats(r.shape(1, 3))
    x.reshape(-1)[:: r.between(1, 3)] = r.pick(np.nan, np.inf, -np.inf)
    attributes = {} if op == "IsNaN" else {"detect_positive": r.between(0, 1), "detect_negative": r.between(0, 1)}
    return Case(op, [x], attributes, 20)


@case("Add", "Sub", "Mul")
def arithmetic(r, op):
    a, b = r.broadcast()
    if r.chance(0.2):
        return Case(op, [r.integers(a, -9, 9), r.integers(b, -9, 9)])
    return Case(op, [r.floats(a, 3), r.floats(b, 3)])


@case("Div")
def division(r):
    a, b = r.broadcast()
    if r.chance(0.3):
        return Case("Div", [r.integers(a, 0, 99), r.integers(b, 1, 9)])
    return Case("Div", [r.floats(a, 3), r.uniform(b, 0.3, 4)])


@case("Pow")
def power(r):
    a, b = r.broadcast()
    if r.chance(0.3):
        return Case("Pow", [r.floats(a, 2), r.integers(b, 0, 3, np.int64)])
    return Case("Pow", [r.uniform(a, 0.2, 3), r.uniform(b, -2, 2)])


@case("Mod")
def modulo(r):
    a, b = r.broadcast()
    if r.chance(0.7):
        signs = r.pick(1, -1)
        return Case("Mod", [r.integers(a, -40, 40), signs * r.integers(b, 1, 7)], {"fmod": r.between(0, 1)})
    return Case("Mod", [r.floats(a, 5), r.uniform(b, 1, 3)], {"fmod": 1})


@case("Min", "Max", "Sum", "Mean")
def variadic(r, op):
    return Case(op, [r.floats(shape) for shape in r.broadcast(r.between(1, 4))])


@case("Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual")
def comparison(r, op):
    a, b = r.broadcast()
    if r.chance():
        return Case(op, [r.integers(a, -2, 2), r.integers(b, -2, 2)])
    return Case(op, [r.floats(a), r.floats(b)])


@case("And", "Or", "Xor", types=("float32",))
def logical(r, op):
    a, b = r.broadcast()
    return Case(op, [r.integers(a, 0, 1, bool), r.integers(b, 0, 1, bool)])


@case("BitwiseAnd", "BitwiseOr", "BitwiseXor", types=("float32",))
def bitwise(r, op):
    a, b = r.broadcast()
    return Case(op, [r.integers(a, -99, 99, np.int32), r.integers(b, -99, 99, np.int32)])


@case("BitShift", types=("float32",))
def shift(r):
    a, b = r.broadcast()
    return Case("BitShift", [r.integers(a, 0, 255, np.uint8), r.integers(b, 0, 7, np.uint8)],
                {"direction": r.pick("LEFT", "RIGHT")})


@case("PRelu")
def prelu(r):
    shape = r.shape(2, 4)
    slope = [shape[1]] + [1] * (len(shape) - 2)
    return Case("PRelu", [r.floats(shape), r.floats(r.pick(slope, [1], shape))], fixed=(1,))


@case("Where")
def where(r):
    c, a, b = r.broadcast(3)
    return Case("Where", [r.integers(c, 0, 1, bool), r.numbers(a) if r.chance(0) else r.floats(a), r.floats(b)])


@case("Clip")
def clip(r):
    x, low, high = r.floats(r.shape(), 2), float(r.rng.uniform(-2, 0)), float(r.rng.uniform(0, 2))
    if r.chance(0.3) and r.dtype == np.float32:
        return Case("Clip", [x], {"min": low, "max": high}, r.pick(6, 10))
    limits = [np.asarray(low, r.dtype) if r.chance(0.8) else None, np.asarray(high, r.dtype) if r.chance(0.8) else None]
    return Case("Clip", [x, *limits], fixed=(1, 2) if r.chance() else ())
