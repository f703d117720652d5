"""A device that works in a narrow type, out of ONNX Runtime: narrow nodes read rounded inputs and weights, their results
are rounded, and normalisations, Softmax and means are made of parts that are rounded each."""

import copy

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

NARROW = ("float16", "bfloat16")
# Their results hold no numbers of their inputs, or are no floats of a type to choose.
LEFT = ("Constant", "Shape", "Size", "ConstantOfShape", "Range", "NonMaxSuppression", "If", "Loop", "Cast")


def session(model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def outputs_of(model, inputs):
    """Of each of several inputs."""
    ready = session(model)
    names = [o.name for o in ready.get_outputs()]
    return [dict(zip(names, ready.run(None, {i.name: one[i.name] for i in ready.get_inputs()}))) for one in inputs]


def all_tensors(model, inputs):
    """Of every node, and the inputs."""
    watched = copy.deepcopy(model)
    known = {o.name for o in watched.graph.output}
    for node in watched.graph.node:
        if node.op_type in ("Constant", "If", "Loop"):
            continue
        for name in node.output:
            if name and name not in known:
                watched.graph.output.append(helper.make_empty_tensor_value_info(name))
                known.add(name)
    found = outputs_of(watched, [inputs])[0]
    return {**{i.name: inputs[i.name] for i in model.graph.input if i.name in inputs},
            **{k: v for k, v in found.items() if isinstance(v, np.ndarray)}}


def constants(model):
    """Of the model by name: initializers and Constants."""
    found = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    for node in model.graph.node:
        for attribute in node.attribute:
            if node.op_type == "Constant" and attribute.name == "value":
                found[node.output[0]] = numpy_helper.to_array(attribute.t)
            elif node.op_type == "Constant" and attribute.name in ("value_float", "value_floats"):
                found[node.output[0]] = np.float32(helper.get_attribute_value(attribute))
    return found


class Device:
    """Of one network. `floats`: names of its float32 tensors; `shapes`: their dims."""

    def __init__(self, model, kind, tensors):
        self.model, self.kind = model, kind
        fixed = constants(model)
        self.shapes = {k: v.shape for k, v in {**fixed, **tensors}.items()}
        self.floats = {k for k, v in {**fixed, **tensors}.items() if v.dtype == np.float32}

    def run(self, inputs, wide=()):
        """Outputs of the network for each of the inputs; the nodes with these numbers are wide."""
        made = copy.deepcopy(self.model)
        self.nodes, self.count, self.rounded_names = [], 0, {}
        self.more = []
        self.__dict__.pop("split", None)
        for number, node in enumerate(self.model.graph.node):
            if number in wide or node.op_type in LEFT or not any(n in self.floats for n in (*node.input, *node.output)):
                self.nodes.append(copy.deepcopy(node))
            else:
                self.narrow(copy.deepcopy(node))
        del made.graph.node[:]
        made.graph.node.extend(self.nodes)
        made.graph.initializer.extend(self.more)
        return outputs_of(made, inputs)

    def name(self):
        self.count += 1
        return f"narrow_{self.count}"

    def add(self, op, inputs, target=None, **attributes):
        target = target or self.name()
        self.nodes.append(helper.make_node(op, inputs, [target], **attributes))
        return target

    def rounded(self, name, target=None):
        if self.kind == "bfloat16":
            return self.rounded_to_bfloat16(name, target)
        small = self.add("Cast", [name], to=TensorProto.FLOAT16)
        return self.add("Cast", [small], target, to=TensorProto.FLOAT)

    def rounded_to_bfloat16(self, name, target):
        """A float32 less the rest of its product with this keeps eight bits (Veltkamp); older sets of operators know no
        bfloat16. Numbers whose product is none are larger than any here but masks, which are rounded to Inf or not at all."""
        if not hasattr(self, "split"):
            self.split, self.large = self.constant(np.float32(2**16 + 1)), self.constant(np.float32(1e33))
            self.over, self.infinite = self.constant(np.float32(3.3961e38)), self.constant(np.float32(np.inf))
        product = self.add("Mul", [name, self.split])
        near = self.add("Sub", [product, self.add("Sub", [product, name])])
        size = self.add("Abs", [name])
        beyond = self.add("Where", [self.add("Greater", [size, self.over]),
                                    self.add("Mul", [name, self.infinite]), name])
        return self.add("Where", [self.add("Less", [size, self.large]), near, beyond], target)

    def do(self, op, inputs, target=None, **attributes):
        """An operator whose result is rounded."""
        return self.rounded(self.add(op, inputs, **attributes), target)

    def constant(self, array):
        name = self.name()
        self.more.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def number(self, value):
        return self.rounded(self.constant(np.float32(value)))

    def narrow(self, node):
        node.input[:] = [self.reads(n) if n in self.floats else n for n in node.input]
        inside = getattr(self, "inside_" + node.op_type, None)
        if inside is not None and inside(node, {a.name: helper.get_attribute_value(a) for a in node.attribute}):
            return
        targets = []
        for k, name in enumerate(node.output):
            if name in self.floats:
                targets.append((node.output[k], name))
                node.output[k] = self.name()
                targets[-1] = (node.output[k], name)
        self.nodes.append(node)
        for source, name in targets:
            self.rounded(source, name)

    def reads(self, name):
        if name not in self.rounded_names:
            self.rounded_names[name] = self.rounded(name)
        return self.rounded_names[name]

    # Each is given what it reads rounded, and says whether it did it.

    def version(self):
        return next((o.version for o in self.model.opset_import if o.domain in ("", "ai.onnx")), 1)

    def sum(self, x, axes, keep=1):
        if self.version() >= 13:
            return self.do("ReduceSum", [x, self.constant(np.array(axes, np.int64))], keepdims=keep)
        return self.do("ReduceSum", [x], axes=list(axes), keepdims=keep)

    def most(self, x, axes):
        if self.version() >= 18:
            return self.do("ReduceMax", [x, self.constant(np.array(axes, np.int64))], keepdims=1)
        return self.do("ReduceMax", [x], axes=list(axes), keepdims=1)

    def source(self, node):
        """The dims of the first input as it was before it was rounded."""
        return self.shapes[next(k for k, v in self.rounded_names.items() if v == node.input[0])]

    def inside_Softmax(self, node, attributes):
        shape = self.source(node)
        axis = attributes.get("axis", -1 if self.version() >= 13 else 1) % len(shape)
        axes = [axis] if self.version() >= 13 else list(range(axis, len(shape)))
        exp = self.do("Exp", [self.do("Sub", [node.input[0], self.most(node.input[0], axes)])])
        self.do("Div", [exp, self.sum(exp, axes)], node.output[0])
        return True

    def mean(self, x, axes, shape, target=None, keep=1):
        count = int(np.prod([shape[a] for a in axes])) if len(shape) else 1
        total = self.sum(x, axes, keep)
        # The count is a number of the device's own arithmetic.
        return self.do("Div", [total, self.constant(np.float32(count))], target)

    def inside_ReduceMean(self, node, attributes):
        shape = self.source(node)
        axes = attributes.get("axes")
        if axes is None and len(node.input) > 1:
            axes = constants(self.model).get(node.input[1])
        if axes is None and len(node.input) > 1:
            return False
        axes = [a % len(shape) for a in (axes if axes is not None and len(axes) else range(len(shape)))]
        self.mean(node.input[0], axes, shape, node.output[0], attributes.get("keepdims", 1))
        return True

    def inside_GlobalAveragePool(self, node, attributes):
        shape = self.source(node)
        self.mean(node.input[0], list(range(2, len(shape))), shape, node.output[0])
        return True

    def inside_LayerNormalization(self, node, attributes):
        shape = self.source(node)
        axes = list(range(attributes.get("axis", -1) % len(shape), len(shape)))
        if len(node.output) > 1:
            return False
        apart = self.do("Sub", [node.input[0], self.mean(node.input[0], axes, shape)])
        variance = self.mean(self.do("Mul", [apart, apart]), axes, shape)
        root = self.do("Sqrt", [self.do("Add", [variance, self.number(attributes.get("epsilon", 1e-5))])])
        scaled = [self.do("Div", [apart, root]), node.input[1]]
        biased = len(node.input) > 2 and node.input[2]
        product = self.do("Mul", scaled, None if biased else node.output[0])
        if biased:
            self.do("Add", [product, node.input[2]], node.output[0])
        return True


def error(found, right):
    """The largest of the outputs' relative ones; infinite where it is no number."""
    most = 0.0
    for name, wanted in right.items():
        if wanted.dtype != np.float32:
            continue
        wanted, got = wanted.astype(np.float64), found[name].astype(np.float64)
        if got.shape != wanted.shape or not np.isfinite(got).all():
            return np.inf
        most = max(most, np.sqrt(((got - wanted) ** 2).sum() / max((wanted ** 2).sum(), 1e-300)))
    return most
