"""What a case is, and random shapes and numbers for it."""

import dataclasses

import numpy as np
from onnx import TensorProto, helper

NEWEST = 23
TYPES = {"float32": np.float32, "float16": np.float16}


@dataclasses.dataclass
class Case:
    """A node: `inputs` are arrays or None; those whose numbers are in `fixed` stand in the model."""

    op: str
    inputs: list
    attributes: dict = dataclasses.field(default_factory=dict)
    opset: int = NEWEST
    fixed: tuple = ()
    outputs: int = 1
    # Computed here, where the reference is wrong or has no such operator.
    expected: list | None = None
    # The largest distance of codes that is no fault.
    code_slack: int = 0


OPERATORS = {}


def case(*names, types=("float32", "float16"), optional=False):
    """Registers a generator of random cases under the names of operators; it takes the operator too if there are
    several."""

    def register(function):
        for name in names:
            OPERATORS[name] = (function, types, optional)
        return function

    return register


class Random:
    """Shapes and numbers; `dtype` is that of the floats."""

    def __init__(self, seed, dtype):
        self.rng = np.random.default_rng(seed)
        self.dtype = dtype

    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def below(self, end):
        return int(self.rng.integers(end))

    def between(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def chance(self, part=0.5):
        return bool(self.rng.random() < part)

    def shape(self, low=1, high=4, most=5):
        return [self.between(1, most) for _ in range(self.between(low, high))]

    def floats(self, shape, scale=1.0, offset=0.0):
        return (self.rng.normal(size=shape) * scale + offset).astype(self.dtype)

    def uniform(self, shape, low, high):
        return self.rng.uniform(low, high, size=shape).astype(self.dtype)

    def different(self, shape):
        """No two are equal."""
        count = int(np.prod(shape))
        return (self.rng.permutation(count).reshape(shape) / 7 - count / 14).astype(self.dtype)

    def integers(self, shape, low, high, dtype=np.int64):
        return self.rng.integers(low, high + 1, size=shape).astype(dtype)

    def numbers(self, shape):
        """Floats, and sometimes integers."""
        return self.integers(shape, -9, 9, self.pick(np.int32, np.int64)) if self.chance(0.2) else self.floats(shape)

    def broadcast(self, count=2):
        full = self.shape(1, 4)
        shapes = []
        for _ in range(count):
            own = [1 if self.chance(0.25) else size for size in full]
            shapes.append(own[self.below(len(own)):] if self.chance(0.3) else own)
        return shapes


def model_of(case):
    """The model of one node, and the inputs that are not in it."""
    names = ["" if x is None else f"x{k}" for k, x in enumerate(case.inputs)]
    while names and not names[-1]:
        names.pop()
    given, fixed, values = {}, [], []
    for k, (name, array) in enumerate(zip(names, case.inputs)):
        if not name:
            continue
        array = np.asarray(array)
        if k in case.fixed:
            fixed.append(helper.make_tensor(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape,
                                            array.tobytes(), raw=True))
        else:
            given[name] = array
            values.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype),
                                                        list(array.shape)))
    outputs = [f"y{k}" for k in range(case.outputs)]
    node = helper.make_node(case.op, names, outputs, **case.attributes)
    graph = helper.make_graph([node], "one", values,
                              [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in outputs],
                              fixed)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", case.opset)], ir_version=10), given
