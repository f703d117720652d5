"""A network with a few nodes in it that change nothing in float32."""

import copy
import dataclasses

import numpy as np
import onnx
from onnx import helper, numpy_helper

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

    def whole(self, values):
        name = f"planted_a{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, np.int64), name))
        return name

    def reduced(self, op, x, since):
        """Over the last axis, which is an input since this version of the operators."""
        if self.opset >= since:
            return self.n(op, x, self.whole([-1]), keepdims=1)
        return self.n(op, x, axes=[self.x.ndim - 1], keepdims=1)

    def mean(self, x):
        return self.reduced("ReduceMean", x, 18)

    def sum(self, x):
        return self.reduced("ReduceSum", x, 13)

    def length(self, x):
        return self.reduced("ReduceL2", x, 18)

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


def differ(p, x, one, other):
    """x, and the difference of two ways to compute the same."""
    return p.n("Add", x, p.n("Mul", p.n("Sub", one, other), p.rms))
