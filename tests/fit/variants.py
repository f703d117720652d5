"""A network with a few nodes in it that change nothing in float32: hard ones fail in a narrow type, harmless ones do not,
whatever they look like."""

import copy
import dataclasses

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HARD, HARMLESS = {}, {}


def hard(*kinds):
    """In float16, bfloat16 or both."""
    def add(f):
        HARD[f.__name__] = (f, kinds)
        return f
    return add


def harmless(f):
    HARMLESS[f.__name__] = (f, ("float16", "bfloat16"))
    return f


@dataclasses.dataclass
class Variant:
    name: str
    model: onnx.ModelProto
    planted: list  # numbers of the nodes that are new


class Part:
    """Nodes in place of a tensor, before whatever reads it."""

    def __init__(self, model, source, tensor, rng):
        self.model, self.source, self.rng = model, source, rng
        self.x = tensor.astype(np.float64)
        self.rms = float(np.sqrt((self.x ** 2).mean())) or 1.0
        self.most = float(np.abs(self.x).max()) or 1.0
        self.nodes, self.constants, self.count = [], [], 0
        self.opset = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 1)

    def c(self, value):
        name = f"planted_c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, np.float32), name))
        return name

    def n(self, op, *inputs, **attributes):
        self.count += 1
        name = f"planted_{self.count}"
        self.nodes.append(helper.make_node(op, [i if isinstance(i, str) else self.c(i) for i in inputs], [name],
                                           name=f"planted_node_{self.count}", **attributes))
        return name

    def mean(self, x, axes=(-1,)):
        if self.opset >= 18:
            name = f"planted_a{len(self.constants)}"
            self.constants.append(numpy_helper.from_array(np.asarray(axes, np.int64), name))
            return self.n("ReduceMean", x, name, keepdims=1)
        return self.n("ReduceMean", x, axes=[a % self.x.ndim for a in axes], keepdims=1)

    def sum(self, x):
        if self.opset >= 13:
            name = f"planted_a{len(self.constants)}"
            self.constants.append(numpy_helper.from_array(np.asarray([-1], np.int64), name))
            return self.n("ReduceSum", x, name, keepdims=1)
        return self.n("ReduceSum", x, axes=[self.x.ndim - 1], keepdims=1)

    def pick(self, low, high):
        return float(np.exp(self.rng.uniform(np.log(low), np.log(high))))


def planted(model, source, tensor, kind, seed):
    """`source`: a tensor that a node makes. Nothing: the kind does not go with it."""
    made = copy.deepcopy(model)
    function = {**HARD, **HARMLESS}[kind][0]
    part = Part(made, source, tensor, np.random.default_rng(seed))
    result = function(part, source)
    if result is None:
        return None
    at = next(i for i, node in enumerate(made.graph.node) if source in node.output)
    for node in made.graph.node:
        for k, name in enumerate(node.input):
            if name == source:
                node.input[k] = result
    nodes = list(made.graph.node)
    nodes[at + 1:at + 1] = part.nodes
    del made.graph.node[:]
    made.graph.node.extend(nodes)
    made.graph.initializer.extend(part.constants)
    return Variant(kind, made, list(range(at + 1, at + 1 + len(part.nodes))))


# What overflows.

@hard("float16")
def hypotenuse(p, x):
    k = p.pick(600, 3000) / p.most
    s = p.n("Mul", x, k)
    root = p.n("Sqrt", p.n("Mul", s, s))
    return p.n("Mul", p.n("Mul", p.n("Sign", x), root), 1 / k)


@hard("float16")
def fourth_power(p, x):
    k = p.pick(25, 60) / p.most
    s = p.n("Pow", p.n("Mul", p.n("Abs", x), k), 4.0)
    return p.n("Mul", p.n("Mul", p.n("Sign", x), p.n("Pow", s, 0.25)), 1 / k)


@hard("float16")
def product_first(p, x):
    k = p.pick(2e5, 1e7) / p.most
    return p.n("Div", p.n("Mul", x, k), k)


@hard("float16")
def divided_by_little(p, x):
    k = p.pick(1e-5, 1e-4) * p.rms
    return p.n("Mul", p.n("Div", x, k), k)


@hard("float16")
def exponential_out_of_range(p, x):
    k = p.pick(13, 20) / p.most
    return p.n("Mul", p.n("Log", p.n("Exp", p.n("Mul", x, k))), 1 / k)


@hard("float16")
def sum_of_many(p, x):
    if p.x.shape[-1] < 4:
        return None
    k = p.pick(6e4, 1.2e5) / p.x.shape[-1] / p.rms
    v = p.n("Add", p.n("Mul", p.n("Abs", x), k), 5e4 / p.x.shape[-1])
    m = p.mean(v)
    return p.n("Mul", p.n("Div", x, m), p.n("Div", p.sum(v), float(p.x.shape[-1])))


@hard("float16")
def zero_times_a_mask(p, x):
    mask = p.n("Mul", p.n("Sub", p.n("Sign", p.n("Add", p.n("Abs", x), 1.0)), 1.0), p.pick(1e6, 1e9))
    return p.n("Add", x, mask)


@hard("float16")
def infinity_less_infinity(p, x):
    far = p.n("Add", p.n("Mul", p.n("Abs", x), 0.0), p.pick(1e5, 1e6))
    return p.n("Mul", x, p.n("Div", far, p.n("Identity", far)))


@hard("float16")
def squared_distance(p, x):
    """sqrt(x^2 + c^2) with a side that is large, over that."""
    c = p.pick(400, 2000)
    far = p.n("Add", p.n("Mul", x, 0.0), c)
    root = p.n("Sqrt", p.n("Mul", far, far))
    return p.n("Mul", p.n("Div", x, root), c)


# What vanishes.

@hard("float16")
def cube_that_vanishes(p, x):
    k = p.pick(2e-4, 1e-3) / p.most
    s = p.n("Mul", x, k)
    cube = p.n("Mul", p.n("Mul", s, s), s)
    root = p.n("Pow", p.n("Abs", cube), 1 / 3)
    return p.n("Mul", p.n("Mul", p.n("Sign", x), root), 1 / k)


@hard("float16")
def epsilon_of_a_root(p, x):
    zero = p.n("Mul", p.n("Abs", x), 0.0)
    root = p.n("Sqrt", p.n("Add", zero, p.pick(1e-12, 1e-9) if False else 1e-12))
    return p.n("Mul", p.n("Div", x, root), 1e-6)


@hard("float16")
def least_of_a_clip(p, x):
    eps = 1e-10
    low = p.n("Max", p.n("Mul", x, 0.0), eps)
    return p.n("Mul", p.n("Div", x, low), eps)


@hard("float16")
def reciprocal_of_much(p, x):
    k = p.pick(1e-9, 1e-8) / p.rms
    return p.n("Div", p.n("Mul", x, k), k)


@hard("float16")
def product_of_littles(p, x):
    k = p.pick(1e-5, 5e-5) / p.rms
    little = p.n("Mul", x, k)
    less = p.n("Mul", little, p.pick(1e-5, 5e-5))
    return p.n("Div", less, float(k * numpy_helper.to_array(p.constants[-1])))


@hard("float16")
def softplus_of_the_low(p, x):
    """log(softplus) far below zero is the number itself."""
    k = 2 / p.most
    low = p.n("Sub", p.n("Mul", x, k), 20.0)
    return p.n("Mul", p.n("Add", p.n("Log", p.n("Softplus", low)), 20.0), 1 / k)


# What cancels.

@hard("float16", "bfloat16")
def offset(p, x):
    c = p.pick(150, 400) * p.rms
    return p.n("Sub", p.n("Add", x, c), c)


@hard("float16", "bfloat16")
def halves(p, x):
    c = p.pick(150, 400) * p.rms
    far, near = p.n("Add", x, c), p.n("Sub", x, c)
    return p.n("Mul", p.n("Add", far, near), 0.5)


@hard("float16", "bfloat16")
def one_less(p, x):
    k = p.pick(1e-3, 4e-3) / p.rms
    return p.n("Div", p.n("Sub", 1.0, p.n("Sub", 1.0, p.n("Mul", x, k))), k)


@hard("float16", "bfloat16")
def exponential_less_one(p, x):
    k = p.pick(1e-3, 4e-3) / p.most
    return p.n("Div", p.n("Log", p.n("Exp", p.n("Mul", x, k))), k)


@hard("float16", "bfloat16")
def logit(p, x):
    k = 1 / p.most
    s = p.n("Sigmoid", p.n("Add", p.n("Mul", x, k), 6.5))
    odds = p.n("Div", s, p.n("Sub", 1.0, s))
    return p.n("Div", p.n("Sub", p.n("Log", odds), 6.5), k)


@hard("float16", "bfloat16")
def difference_of_squares(p, x):
    """(x + c)^2 - (x - c)^2 is 4 c x."""
    c = p.pick(40, 90) * p.rms
    k = 40 / (p.most + c)
    a, b = p.n("Mul", p.n("Add", x, c), k), p.n("Mul", p.n("Sub", x, c), k)
    return p.n("Div", p.n("Sub", p.n("Mul", a, a), p.n("Mul", b, b)), 4 * c * k * k)


@hard("float16", "bfloat16")
def variance_of_the_far(p, x):
    """The mean of squares less the square of the mean, of numbers that are far from zero."""
    if p.x.shape[-1] < 4:
        return None
    c = p.pick(25, 60) * p.rms
    k = 60 / (p.most + c)
    v = p.n("Mul", p.n("Add", p.n("Abs", x), c), k)
    exact = p.n("Sub", v, p.mean(v))
    right = p.n("Add", p.mean(p.n("Mul", exact, exact)), 1e-3)
    mean = p.mean(v)
    naive = p.n("Add", p.n("Sub", p.mean(p.n("Mul", v, v)), p.n("Mul", mean, mean)), 1e-3)
    return p.n("Mul", x, p.n("Div", naive, right))


@hard("float16", "bfloat16")
def softmax_of_the_far(p, x):
    if p.x.shape[-1] < 4:
        return None
    k = 2 / p.most
    c = 500.0
    far = p.n("Softmax", p.n("Add", p.n("Mul", x, k), c), axis=p.x.ndim - 1)
    near = p.n("Softmax", p.n("Mul", x, k), axis=p.x.ndim - 1)
    return p.n("Mul", x, p.n("Div", far, near))


@hard("float16", "bfloat16")
def angle(p, x):
    """The arc cosine of a cosine near one."""
    k = p.pick(0.02, 0.05) / p.most
    a = p.n("Mul", p.n("Add", p.n("Abs", x), 0.2 * p.most), k)
    back = p.n("Sub", p.n("Div", p.n("Acos", p.n("Cos", a)), k), 0.2 * p.most)
    return p.n("Mul", p.n("Sign", x), back)


@hard("float16", "bfloat16")
def hyperbolic(p, x):
    k = 1 / p.most
    t = p.n("Tanh", p.n("Add", p.n("Mul", x, k), 3.5))
    return p.n("Div", p.n("Sub", p.n("Atanh", t), 3.5), k)


@hard("float16", "bfloat16")
def power_of_one_and_little(p, x):
    k = p.pick(1e-3, 3e-3) / p.most
    y = p.n("Pow", p.n("Add", p.n("Mul", x, k), 1.0), 8.0)
    return p.n("Div", p.n("Sub", p.n("Pow", y, 0.125), 1.0), k)


# What looks like it and is none.

@harmless
def scaled(p, x):
    k = p.pick(600, 20000) / p.most
    return p.n("Mul", p.n("Mul", x, k), 1 / k)


@harmless
def small_offset(p, x):
    c = p.pick(0.5, 3) * p.rms
    return p.n("Sub", p.n("Add", x, c), c)


@harmless
def wide_clip(p, x):
    return p.n("Min", p.n("Max", x, -p.pick(1e6, 1e30)), p.pick(1e6, 1e30))


@harmless
def masked_softmax(p, x):
    """A mask that is Inf in the narrow type, which Softmax takes for what it is."""
    if p.x.shape[-1] < 4:
        return None
    mask = np.zeros(p.x.shape[-1])
    mask[::2] = -1e9
    y = p.n("Softmax", p.n("Add", p.n("Mul", x, 1 / p.most), mask), axis=p.x.ndim - 1)
    return p.n("Add", x, p.n("Mul", y, 1e-4 * p.rms))


@harmless
def saturated(p, x):
    far = p.n("Mul", p.n("Abs", x), p.pick(1e6, 1e8) / p.rms)
    return p.n("Add", x, p.n("Mul", p.n("Sub", p.n("Tanh", far), 1.0), 1e-3 * p.rms))


@harmless
def dead_branch(p, x):
    p.n("Exp", p.n("Mul", p.n("Abs", x), 60 / p.most))
    return p.n("Identity", x)


@harmless
def attenuated(p, x):
    c = p.pick(150, 400) * p.rms
    noise = p.n("Sub", p.n("Sub", p.n("Add", x, c), c), x)
    return p.n("Add", x, p.n("Mul", noise, 1e-3))


@harmless
def small_square(p, x):
    k = p.pick(5, 100) / p.most
    s = p.n("Mul", x, k)
    return p.n("Mul", p.n("Mul", p.n("Sign", x), p.n("Sqrt", p.n("Mul", s, s))), 1 / k)


@harmless
def epsilon_beside_much(p, x):
    far = p.n("Add", p.n("Abs", x), p.rms)
    with_eps = p.n("Add", far, 1e-12)
    return p.n("Mul", x, p.n("Div", with_eps, far))


@harmless
def logarithm_of_exponential(p, x):
    k = 5 / p.most
    return p.n("Mul", p.n("Log", p.n("Exp", p.n("Mul", x, k))), 1 / k)


@harmless
def other_of_where(p, x):
    never = p.n("Greater", p.n("Abs", x), 2 * p.most)
    return p.n("Where", never, p.pick(1e6, 1e9), x)


@harmless
def large_weight(p, x):
    """A mean of numbers that are few hundred."""
    k = 400 / p.most
    v = p.n("Mul", p.n("Abs", x), k)
    m = p.n("Add", p.mean(v), 1.0)
    return p.n("Mul", p.n("Div", x, m), m)


@harmless
def drowned(p, x):
    little = p.n("Mul", x, p.pick(1e-7, 1e-6) / p.most)
    return p.n("Add", x, p.n("Mul", little, little))
