"""rule.py BTFTOOL: small networks made by hand, of which it is known by hand which layers must stay wide.

Each case says why: from the limits of the types (float16 ends at 65504, and counts from half of it; half a step is
2^-11, of bfloat16 2^-8) and what the function does, never from what the tool says. Dumps are of ONNX Runtime. Seconds.
"""

import sys

try:
    import numpy as np
    import onnx  # noqa: F401
    import onnxruntime  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}; tests/interop/venv.sh installs what is needed")
    sys.exit(0)

from small import Net, layers_in, normal, run_with_tool

CASES = []
TYPES = ("float16", "bfloat16")


def case(float16=None, bfloat16=None, unjudged=()):
    """What must stay wide in a type: layers, each with a reason that must be among those that are said. All others fit."""
    def take(make):
        CASES.append((make, {"float16": float16 or {}, "bfloat16": bfloat16 or {}}, set(unjudged)))
        return make
    return take


# What overflows.

@case(float16={"exp": "overflow-output", "log": "overflow-input"})
def logarithm_of_exponential():
    """exp(14) is 1.2e6, and log(Inf) is Inf where 14 is right. In bfloat16 it is 14 (1 + 2^-9) after all."""
    net = Net(x=normal(200, 16))
    product = normal(200, 16) @ normal(16, 8)
    scale = 20 / (product.max() - product.min())
    x = net.add("product", "MatMul", "x", normal(16, 8) * scale)
    x = net.add("bias", "Add", x, np.full(8, -6 - product.min() * scale))
    return net, net.add("log", "Log", net.add("exp", "Exp", x))


@case()
def cube_in_tanh():
    """50^3 is 125000: tanh of it is 1, and so is that of Inf."""
    net = Net(x=np.linspace(-50, 50, 700))
    return net, net.add("tanh", "Tanh", net.add("cube", "Mul", net.add("square", "Mul", "x", "x"), "x"))


@case()
def gelu_by_tanh():
    """As networks have it: 60^3 = 216000 in front of a factor, a sum and a tanh."""
    net = Net(x=np.linspace(-60, 60, 700))
    x = net.add("part", "Mul", net.add("cube", "Pow", "x", 3.0), 0.044715)
    x = net.add("tanh", "Tanh", net.add("scale", "Mul", net.add("with", "Add", "x", x), 0.79788))
    return net, net.add("gelu", "Mul", "x", net.add("half", "Mul", net.add("one", "Add", x, 1.0), 0.5))


@case(float16={"up": "overflow-output", "down": "overflow-input"})
def times_and_over():
    """x 1e6 / 1e6: a product of 3e6."""
    net = Net(x=normal(700))
    return net, net.add("down", "Div", net.add("up", "Mul", "x", 1e6), 1e6)


@case()
def over_much():
    """x / 1e7 is nothing beside x; that 1e7 becomes Inf makes it 0."""
    net = Net(x=normal(700))
    return net, net.add("add", "Add", "x", net.add("divide", "Div", "x", 1e7))


@case(float16={"down": "overflow-input"})
def constant_of_the_graph():
    """x / 1e5, of a node without inputs: with the layer wide it is as wide, and the output is ordinary."""
    net = Net(x=1e3 * normal(700))
    return net, net.add("down", "Div", "x", net.add("much", "Constant", value_float=1e5))


@case(float16={"mean": "overflow-inside"})
def mean_of_many():
    """The sum of 4096 numbers of about 100 is 4e5, their mean is 100."""
    net = Net(x=100 + normal(2, 4096))
    return net, net.add("mean", "ReduceMean", "x", axes=[1])


@case(float16={"up": "overflow-output"})
def output_of_the_network():
    """Nothing reads it that could take Inf."""
    net = Net(x=normal(50, 32))
    return net, net.add("up", "Mul", net.add("product", "MatMul", "x", normal(32, 8)), 1e5)


@case()
def sign_of_much():
    net = Net(x=normal(4, 80))
    return net, net.add("sign", "Sign", net.add("up", "Mul", "x", 1e5))


@case()
def nothing_reads_it():
    """What overflows goes to no output."""
    net = Net(x=normal(50, 32))
    net.add("up", "Mul", "x", 1e5)
    return net, net.add("product", "MatMul", net.add("relu", "Relu", "x"), normal(32, 4))


@case()
def mask_in_softmax():
    """exp(-1e9) is 0, and so is exp(-Inf)."""
    net = Net(x=normal(4, 8, 8))
    return net, net.add("softmax", "Softmax", net.add("mask", "Add", "x", np.where(np.tri(8) > 0, 0, -1e9)), axis=-1)


@case()
def limits_of_clip():
    net = Net(x=normal(4, 8))
    return net, net.add("clip", "Clip", "x", -1e6, 1e6)


@case(float16={"up": "overflow-output", "codes": "overflow-input"}, unjudged=("codes", "numbers"))
def quantised():
    """66000 / 1000 is the code 66; that of Inf is 127. Rounding to codes is no error that is followed."""
    net = Net(x=normal(700))
    x = net.add("codes", "QuantizeLinear", net.add("up", "Mul", "x", 3e4), 1000.0, np.int8(0))
    return net, net.add("down", "Mul", net.add("numbers", "DequantizeLinear", x, 0.01, np.int8(0)), 0.5)


@case()
def sigmoid_by_parts():
    """exp(25) is 7e10, and 1 / Inf is as good as 1e-11. Where 1 / (1 + exp(x)) is not 0, exp(x) is off as x is."""
    net = Net(x=np.linspace(-25, 10, 700))
    x = net.add("plus", "Add", net.add("exp", "Exp", net.add("negative", "Neg", "x")), 1.0)
    return net, net.add("inverse", "Div", 1.0, x)


@case()
def sigmoid_of_an_input():
    """The same of the network's own input."""
    net = Net(x=np.linspace(-10, 25, 700))
    return net, net.add("inverse", "Div", 1.0, net.add("plus", "Add", net.add("exp", "Exp", "x"), 1.0))


@case(float16={"log": "nonfinite"})
def one_of_many():
    """One number of 786432 vanishes, and its logarithm is -Inf."""
    x = 1 + np.abs(normal(12, 256, 256))
    x[7, 100, 31] = 1e-9
    net = Net(x=x)
    return net, net.add("log", "Log", "x")


@case(float16={"inverse": "nonfinite"})
def one_channel_of_many():
    """The same of a channel's scale, which is broadcast."""
    scale = np.full((12, 1, 1), 0.5)
    scale[4] = 1e-9
    net = Net(x=(1 + np.abs(normal(12, 256, 256))) * scale * 1000)
    return net, net.add("inverse", "Div", "x", scale)


# What is rounded.

@case(*[{"square": "feeds", "mean_of_squares": "feeds", "mean": "feeds", "square_of_mean": "feeds",
         "variance": "rounding"}] * 2)
def variance_by_squares():
    """3601 - 3600: half a step of 3601 is 1, in bfloat16 8. Squares are off by as much each, their mean by a 64th. What
    is squared is off by half a step of 60, but the same in both terms: that is some thousandths of the variance, as what
    is before it is."""
    net = Net(x=normal(8, 4096))
    x = net.add("far", "Add", net.add("double", "Mul", net.add("half", "Mul", "x", 0.3), 3.3), 60.0)
    mean = net.add("mean", "ReduceMean", x, axes=[-1])
    squares = net.add("mean_of_squares", "ReduceMean", net.add("square", "Mul", x, x), axes=[-1])
    return net, net.add("variance", "Sub", squares, net.add("square_of_mean", "Mul", mean, mean))


@case(*[{"far": "feeds", "near": "feeds", "square_of_far": "feeds", "square_of_near": "feeds",
         "difference": "rounding"}] * 2, unjudged=("codes", "back"))
def difference_of_squares():
    """(x + 45)^2 - (x - 45)^2 is 180 x. A step of 45 is 1/32, in bfloat16 1/4, and both sums are off by the same, 0.3 steps:
    18 half steps of x. A square, about 2025, is off by 0.3 steps of it: 5 half steps of the difference, which is borne.
    Only all of it together is not. Codes are behind, so that nothing is known of the network's own error."""
    net = Net(x=normal(700))
    far, near = net.add("far", "Add", "x", 45.0), net.add("near", "Sub", "x", 45.0)
    squares = [net.add("square_of_far", "Mul", far, far), net.add("square_of_near", "Mul", near, near)]
    x = net.add("quotient", "Div", net.add("difference", "Sub", *squares), 180.0)
    code = [np.float32(1 / 32), np.int8(0)]
    return net, net.add("back", "DequantizeLinear", net.add("codes", "QuantizeLinear", x, *code), *code)


@case(*[{"shift": "feeds", "centre": "rounding"}] * 2)
def centred_by_a_matrix():
    """At 400 a step is 1/4, in bfloat16 2: beside numbers of 1, which are left when the mean is taken out. The matrix,
    1/64 and 63/64, is exact. What comes behind is ordinary."""
    net = Net(x=normal(16, 64))
    centred = net.add("centre", "MatMul", net.add("shift", "Add", "x", 400.0), np.eye(64) - 1 / 64)
    return net, net.add("back", "Add", centred, net.add("mean", "ReduceMean", "x", axes=[1]))


@case()
def centred_and_taken_back():
    """The same with the mean of 400 added again: an error of 1/4 is half a step there."""
    net = Net(x=normal(16, 64))
    shifted = net.add("shift", "Add", "x", 400.0)
    centred = net.add("centre", "MatMul", shifted, np.eye(64) - 1 / 64)
    return net, net.add("back", "Add", centred, net.add("mean", "ReduceMean", shifted, axes=[1]))


@case(*[{"shift": "feeds", "back": "rounding"}] * 2)
def offsets_that_cancel():
    """At 1000 a step is 1/2, in bfloat16 4."""
    net = Net(x=normal(700))
    return net, net.add("back", "Sub", net.add("shift", "Add", "x", 1000.0), 1000.0)


@case()
def last_sigmoid():
    """Logits of -9 are off by 2^-9 each, as the layer that makes them rounds, and so are probabilities, relatively: 5
    half steps. Those, of 1e-4 and less, are few steps above the smallest normal number of float16 or below it: 9 bits."""
    net = Net(x=normal(50, 32))
    x = net.add("bias", "Add", net.add("product", "MatMul", "x", normal(32, 8) * 0.1), np.full(8, -9.0))
    return net, net.add("sigmoid", "Sigmoid", x)


@case(float16={"norm": "overflow-inside"})
def norm_of_thousands():
    """3000^2 is 9e6."""
    net = Net(x=3000 * normal(16, 64))
    return net, net.add("norm", "LayerNormalization", "x", 1 + 0.1 * normal(64), 0.1 * normal(64), axis=-1)


@case(*[{"shift": "feeds", "norm": "rounding"}] * 2)
def norm_around_thousands():
    """At 3000 a step is 2, in bfloat16 16: as much as the deviation of 1, and more."""
    net = Net(x=normal(16, 64))
    x = net.add("shift", "Add", "x", 3000.0)
    return net, net.add("norm", "LayerNormalization", x, 1 + 0.1 * normal(64), 0.1 * normal(64), axis=-1)


# What vanishes.

def epsilon(x):
    net = Net(x=x)
    return net, net.add("log", "Log", net.add("plus", "Add", net.add("relu", "Relu", "x"), 1e-9))


@case(float16={"plus": "feeds", "log": "nonfinite"})
def epsilon_that_is_lost():
    """Half of the numbers are 1e-9, below 6e-8: log(0) is -Inf. The others have errors of their size, 1 to 1.2."""
    x = normal(4, 80)
    return epsilon(np.where(x > 0, 1 + np.abs(x) % 0.2, -1))


@case(float16={"plus": "feeds", "log": "nonfinite"})
def epsilon_beside_luck():
    """The same with others that are rounded with less error."""
    return epsilon(normal(4, 80))


@case(float16={"less": "feeds", "up": "lost"})
def down_and_up():
    """1e-8 is below 6e-8; 1e-4 is not, and what is between is wide."""
    net = Net(x=normal(4, 80))
    x = net.add("less", "Mul", net.add("down", "Mul", "x", 1e-4), 1e-4)
    return net, net.add("more", "Mul", net.add("up", "Mul", x, 1e4), 1e4)


@case()
def little_beside_much():
    """What vanishes is added to what is 1e9 times as large."""
    net = Net(x=normal(4, 80))
    return net, net.add("add", "Add", "x", net.add("less", "Mul", "x", 1e-9))


# What vanishes in a few places, so that no mean shows it, and is divided by there or has its logarithm taken.

def beside_ordinary(little):
    """Numbers from 1 to 4 in float16, and one that is little."""
    x = 1 + np.round(3 * np.random.default_rng(8).random((16, 64)) * 64) / 64
    x[3, 5] = little
    return x


def root_of_squares(net, x, epsilon):
    return net.add("root", "Sqrt", net.add("plus", "Add", net.add("square", "Mul", x, x), epsilon))


@case(float16={"square": "feeds", "plus": "feeds", "root": "feeds"})
def a_square_that_vanishes():
    """2^-26 is below half of the least subnormal, 2^-25, and 1e-12 is: 2^-13 / 0. The root, 2^-13, is no such number."""
    net = Net(x=beside_ordinary(2.0**-13))
    return net, net.add("quotient", "Div", "x", root_of_squares(net, "x", 1e-12))


@case(float16={"square": "feeds", "plus": "feeds", "root": "feeds"})
def a_square_that_vanishes_far_before():
    """The same through layers that only move it."""
    net = Net(x=beside_ordinary(2.0**-13))
    root = root_of_squares(net, net.add("turned", "Transpose", "x", perm=[1, 0]), 1e-12)
    root = net.add("flat", "Reshape", net.add("back", "Transpose", root, perm=[1, 0]), np.array([4, 256]))
    return net, net.add("quotient", "Div", net.add("even", "Reshape", "x", np.array([4, 256])), root)


@case(float16={"square": "feeds", "plus": "feeds", "power": "nonfinite"})
def a_power_of_zero():
    """0^-0.5; the power itself is 2^13."""
    net = Net(x=beside_ordinary(2.0**-13))
    power = net.add("power", "Pow", net.add("plus", "Add", net.add("square", "Pow", "x", 2.0), 1e-12), -0.5)
    return net, net.add("product", "Mul", "x", power)


@case(float16={"square": "feeds", "plus": "feeds", "root": "feeds"})
def a_reciprocal_of_zero():
    net = Net(x=beside_ordinary(2.0**-13))
    inverse = net.add("inverse", "Reciprocal", root_of_squares(net, "x", 1e-12))
    return net, net.add("product", "Mul", "x", inverse)


@case(float16={"square": "feeds", "plus": "feeds", "root": "feeds"})
def a_logarithm_of_zero():
    net = Net(x=beside_ordinary(2.0**-13))
    return net, net.add("log", "Log", root_of_squares(net, "x", 1e-12))


@case(float16={"square": "feeds", "mean": "feeds", "plus": "feeds", "root": "feeds"})
def a_row_that_vanishes():
    """The mean of a row's squares is 2^-26, those of others are about 6."""
    x = beside_ordinary(1)
    x[3] = np.where(np.arange(64) % 2, 2.0**-13, -2.0**-13)
    net = Net(x=x)
    mean = net.add("mean", "ReduceMean", net.add("square", "Mul", "x", "x"), axes=[-1])
    return net, net.add("quotient", "Div", "x", net.add("root", "Sqrt", net.add("plus", "Add", mean, 1e-12)))


@case(float16={"power": "feeds", "bands": "feeds"})
def a_silent_frame():
    """Powers of 2^-26 become 0, and so do sums of 25 of them in bands, by weights of a half, with an epsilon of 1e-9. The
    logarithm of 1.9e-7 is off by 0.05, which is nothing beside 400 other frames."""
    x = np.round(np.random.default_rng(8).normal(size=(400, 201)) * 64) / 64
    x[7] = 2.0**-13
    net = Net(x=x)
    weights = np.zeros((201, 8))
    weights[np.arange(201), np.arange(201) % 8] = 0.5
    bands = net.add("bands", "MatMul", net.add("power", "Mul", "x", "x"), weights)
    return net, net.add("log", "Log", net.add("plus", "Add", bands, 1e-9))


@case()
def a_square_that_does_not():
    """2^-10 squared is 2^-20, and so is its root in float16."""
    net = Net(x=beside_ordinary(2.0**-10))
    return net, net.add("quotient", "Div", "x", root_of_squares(net, "x", 1e-12))


@case()
def a_quotient_that_is_not_taken():
    """Inf where another number is chosen."""
    net = Net(x=beside_ordinary(2.0**-13))
    quotient = net.add("quotient", "Div", "x", root_of_squares(net, "x", 1e-12))
    return net, net.add("chosen", "Where", net.add("small", "Less", "x", 0.5), 1.0, quotient)


@case()
def a_reciprocal_that_is_limited():
    """2^13 or Inf, and 10 is less."""
    net = Net(x=beside_ordinary(2.0**-13))
    inverse = net.add("inverse", "Reciprocal", root_of_squares(net, "x", 1e-12))
    return net, net.add("least", "Min", net.add("less", "Mul", inverse, 0.5), 10.0)


@case(float16={"square": "feeds", "mean_of_squares": "feeds", "variance": "rounding"},
      bfloat16={"mean": "feeds", "square": "feeds", "mean_of_squares": "feeds", "square_of_mean": "feeds",
                "variance": "rounding", "centred": "feeds"})
def a_variance_that_vanishes():
    """A row of 30 +- 1/64: its numbers, their mean and its square 900 are of float16, the mean of squares 900 + 2^-12 is
    not, nor are squares with their step of 1/2. Variances of other rows are about 1, and larger than their means. In
    bfloat16 the numbers are none either, and a mean is one by chance."""
    x = np.round(64 * np.random.default_rng(9).normal(size=(16, 64))) / 64
    x[3] = 30 + np.where(np.arange(64) % 2, 1 / 64, -1 / 64)
    net = Net(x=x)
    mean = net.add("mean", "ReduceMean", "x", axes=[-1])
    squares = net.add("mean_of_squares", "ReduceMean", net.add("square", "Mul", "x", "x"), axes=[-1])
    variance = net.add("variance", "Sub", squares, net.add("square_of_mean", "Mul", mean, mean))
    root = net.add("root", "Sqrt", net.add("plus", "Add", variance, 1e-12))
    return net, net.add("quotient", "Div", net.add("centred", "Sub", "x", mean), root)


def judged(tool, make, expected, unjudged):
    net, output = make()
    tool.model(net.model([output]))
    dump = tool.dump(net.run())
    code = 1 if any(expected.values()) else 0
    report = tool.report("--dtype=fp16,bf16", dump, code=code)[0]
    tool.same("fits", report["fits"], code == 0)
    tool.same("types", [t["dtype"] for t in report["types"]], list(TYPES))
    for of_type in report["types"]:
        dtype = of_type["dtype"]
        wide = layers_in(of_type, "wide")
        tool.same(f"wide in {dtype}", sorted(wide), sorted(expected[dtype]))
        tool.same(f"count in {dtype}", of_type["wide"], len(wide))
        for name, reason in expected[dtype].items():
            tool.has(f"reasons of {name} in {dtype}", [f["reason"] for f in wide[name]["findings"]], reason)
        for output in of_type["outputs"]:
            tool.same(f"error of '{output['name']}' with these wide", isinstance(output["kept_error"], float), True)
        beside = layers_in(of_type, "unjudged")
        tool.same(f"unjudged in {dtype}", set(beside), unjudged - set(wide))
        for layer in beside.values():
            tool.has(f"why of {layer['name']}", layer["why"], f"'{layer['op']}'")
    tool.run("--graph", "model.onnx", dump, "--emit", "names", "names.txt")
    with open(tool.file("names.txt"), encoding="utf-8") as file:
        tool.same("list", sorted(file.read().split()), sorted(expected["float16"]))


def check_cases(tool):
    for make, expected, unjudged in CASES:
        try:
            judged(tool, make, expected, unjudged)
        except AssertionError as error:
            raise AssertionError(f"{make.__name__}: {error}") from error


if __name__ == "__main__":
    checks = run_with_tool(check_cases)
    print(f"{len(CASES)} networks; {checks} checks")
