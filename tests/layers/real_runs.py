"""Runs of a real network by ONNX Runtime, with every tensor of its nodes, in six precisions."""

import copy
import os

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import real_models

PRECISIONS = ("float32", "fused", "float16", "bfloat16", "static-int8", "dynamic-int8")
SMALLER = ("float16", "bfloat16")


def session(model, level=onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL, save=None):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = level
    if save:
        options.optimized_model_filepath = save
    return onnxruntime.InferenceSession(model if isinstance(model, str) else model.SerializeToString(), options,
                                        providers=["CPUExecutionProvider"])


def watched(model):
    """With all outputs of nodes among those of the graph; types are found by who runs it."""
    model = copy.deepcopy(model)
    known = {o.name for o in model.graph.output}
    for node in model.graph.node:
        if node.op_type in ("Constant", "If", "Loop"):
            continue
        for name in node.output:
            if name and name not in known:
                model.graph.output.append(helper.make_empty_tensor_value_info(name))
                known.add(name)
    return model


def run(model, inputs, **options):
    """All tensors by name, inputs among them."""
    ready = session(watched(model), **options)
    names = [o.name for o in ready.get_outputs()]
    given = {i.name: inputs[i.name] for i in ready.get_inputs()}
    found = {k: v for k, v in zip(names, ready.run(names, given)) if isinstance(v, np.ndarray)}
    return {**given, **found}


def rounded_weights(model, kind):
    for tensor in model.graph.initializer:
        if tensor.data_type == TensorProto.FLOAT:
            tensor.CopyFrom(numpy_helper.from_array(narrow(numpy_helper.to_array(tensor), kind), tensor.name))
    for node in model.graph.node:
        for attribute in node.attribute:
            if node.op_type == "Constant" and attribute.t.data_type == TensorProto.FLOAT:
                value = narrow(numpy_helper.to_array(attribute.t), kind)
                attribute.t.CopyFrom(numpy_helper.from_array(value, attribute.t.name))


def narrow(x, kind):
    if kind == "float16":
        return x.astype(np.float16).astype(np.float32)
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    low = (bits >> 16) & 1
    return ((bits + 0x7FFF + low) & 0xFFFF0000).astype(np.uint32).view(np.float32).reshape(x.shape)


def smaller(model, kind, floats):
    """Each float that a node gives is rounded before the next takes it, and so are weights."""
    model = copy.deepcopy(model)
    rounded_weights(model, kind)
    nodes = []
    for node in model.graph.node:
        for k, name in enumerate(node.output):
            if name in floats and node.op_type != "Constant":
                node.output[k] = name + "_wide"
        nodes.append(node)
        for name in [n.removesuffix("_wide") for n in node.output if n.endswith("_wide")]:
            nodes += rounding(name, kind)
    if kind == "bfloat16":
        model.graph.initializer.append(numpy_helper.from_array(np.float32(SPLIT), "split_wide"))
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model


# A float32 less the rest of its product with this keeps eight bits (Veltkamp).
SPLIT = 2**16 + 1


def rounding(name, kind):
    if kind == "float16":
        return [helper.make_node("Cast", [name + "_wide"], [name + "_small"], to=TensorProto.FLOAT16),
                helper.make_node("Cast", [name + "_small"], [name], to=TensorProto.FLOAT)]
    return [helper.make_node("Mul", [name + "_wide", "split_wide"], [name + "_product_wide"]),
            helper.make_node("Sub", [name + "_product_wide", name + "_wide"], [name + "_rest_wide"]),
            helper.make_node("Sub", [name + "_product_wide", name + "_rest_wide"], [name])]


class Calibration:
    """Other inputs than those that are compared."""

    def __init__(self, real):
        self.left = [real_models.show(real, 100 + seed) for seed in range(4)]

    def get_next(self):
        return self.left.pop() if self.left else None

    def rewind(self):
        pass


def quantised(real, path, cache, kind):
    """The path of the model in int8."""
    from onnxruntime.quantization import QuantType, quantize_dynamic, quantize_static
    target = os.path.join(cache, f"{real.name}.{kind}.onnx")
    if os.path.exists(target):
        return target
    if kind == "dynamic-int8":
        quantize_dynamic(path, target, weight_type=QuantType.QUInt8)
    else:
        quantize_static(path, target, Calibration(real))
    return target


class Runs:
    """Of one network and one input."""

    def __init__(self, real, path, cache, seed=0):
        self.real, self.path, self.cache = real, path, cache
        self.inputs = real_models.show(real, seed)
        self.model = onnx.load(path)
        self.golden = run(self.model, self.inputs)
        self.floats = {k for k, v in self.golden.items() if v.dtype == np.float32}
        self.made = {}

    def computed(self, precision):
        """The model that is run, and the path of one that is not the original."""
        if precision not in self.made:
            self.made[precision] = self.make(precision)
        return self.made[precision]

    def make(self, precision):
        if precision == "float32":
            return self.model, None
        if precision == "fused":
            save = os.path.join(self.cache, self.real.name + ".fused.onnx")
            session(self.model, onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED, save)
            return onnx.load(save), None
        if precision in SMALLER:
            return smaller(self.model, precision, self.floats), None
        path = quantised(self.real, self.path, self.cache, precision)
        return onnx.load(path), path

    def tensors(self, precision, change=None):
        """What a run dumps. `change`: (tensor, array) that the rest is computed from."""
        model, _ = self.computed(precision)
        level = (onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL if precision == "float32"
                 else onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
        inputs = dict(self.inputs)
        if change:
            model = with_input(model, change[0], change[1])
            inputs[change[0]] = change[1]
        found = run(model, inputs, level=level)
        keep = {k: v for k, v in found.items() if not k.endswith(("_wide", "_small"))}
        if precision == "float16":
            keep = {k: v.astype(np.float16) if v.dtype == np.float32 and k not in self.inputs else v
                    for k, v in keep.items()}
        return keep


def with_input(model, name, array):
    """The tensor is given, and what computed it is not asked."""
    model = copy.deepcopy(model)
    for node in model.graph.node:
        for k, output in enumerate(node.output):
            if output == name:
                node.output[k] = name + "_wide"
    model.graph.input.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype),
                                                           list(array.shape)))
    for k, output in enumerate(model.graph.output):
        if output.name == name:
            del model.graph.output[k]
            break
    return model
