"""Real engines: every tensor of a network by its ONNX name, as each engine computes it.

An engine is a function from a model and its inputs to arrays by name. A tensor that an engine does not have, as it was
fused away, is left out.
"""

import contextlib
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
import torch
import torch.nn.functional as F
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import real_runs

PINS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "engines.txt")
LEVELS = onnxruntime.GraphOptimizationLevel


def install(folder):
    """Puts the engines of engines.txt into a folder of their own and on the path. What is wrong, or nothing."""
    done = os.path.join(folder, "installed.txt")
    with open(PINS) as file:
        wanted = file.read()
    if not os.path.exists(done) or open(done).read() != wanted:
        # What they need besides is there already.
        command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--retries",
                   "0", "--timeout", "20", "--upgrade", "--target", folder, "-r", PINS]
        if subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
            return "the packages of tests/layers/engines.txt cannot be installed"
        with open(done, "w") as file:
            file.write(wanted)
    sys.path.append(folder)
    return None


@contextlib.contextmanager
def silent():
    """Without what native code prints."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(1), os.dup(2)]
    with open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
        try:
            yield
        finally:
            for k, saved in enumerate(kept):
                os.dup2(saved, k + 1)
                os.close(saved)


def by_onnxruntime(level):
    """All that is left after its optimisation, which is done before outputs are asked for."""
    def run(model, inputs):
        with tempfile.TemporaryDirectory() as scratch:
            path = os.path.join(scratch, "optimised.onnx")
            real_runs.session(model, level=level, save=path)
            names = {o for node in model.graph.node for o in node.output} | set(inputs)
            found = real_runs.run(onnx.load(path), inputs)
        return {k: v for k, v in found.items() if k in names}
    return run


def by_openvino(precision):
    def run(model, inputs):
        import openvino
        core = openvino.Core()
        read = core.read_model(model.SerializeToString())
        read.reshape({k: list(v.shape) for k, v in inputs.items()})
        known = {name for op in read.get_ops() for o in op.outputs() for name in o.get_names()}
        there = {name for o in read.outputs for name in o.get_names()}
        read.add_outputs([o for node in model.graph.node for o in node.output if o in known - there])
        ready = core.compile_model(read, "CPU", {"INFERENCE_PRECISION_HINT": precision, "INFERENCE_NUM_THREADS": 1})
        if precision not in str(ready.get_property("INFERENCE_PRECISION_HINT")).replace("float", "f"):
            raise RuntimeError(f"this CPU has no {precision}")
        results = ready({k: v for k, v in inputs.items()})
        wanted = {o for node in model.graph.node for o in node.output}
        return {**inputs, **{name: np.array(results[o]) for o in ready.outputs for name in o.get_names()
                             if name in wanted}}
    return run


def by_mnn(model, inputs):
    """With Winograd's convolutions."""
    with silent(), tempfile.TemporaryDirectory() as scratch:
        # Not MNN.tools: that reports its use over the network, and installs what it needs for it.
        import _tools
        import MNN
        source, target = os.path.join(scratch, "a.onnx"), os.path.join(scratch, "a.mnn")
        onnx.save(real_runs.watched(model), source)
        if not _tools.mnnconvert(["mnnconvert", "-f", "ONNX", "--modelFile", source, "--MNNModel", target, "--bizCode",
                                  "btf", "--keepInputFormat=1"]):
            raise RuntimeError("it cannot convert the model")
        ready = MNN.Interpreter(target)
        session = ready.createSession({"numThread": 1})
        own = ready.getSessionInputAll(session)
        for name, array in inputs.items():
            ready.resizeTensor(own[name], tuple(array.shape))
        ready.resizeSession(session)
        for name, array in inputs.items():
            kind = MNN.Halide_Type_Float if array.dtype == np.float32 else MNN.Halide_Type_Int
            own[name].copyFromHostTensor(MNN.Tensor(array.shape, kind, array, MNN.Tensor_DimensionType_Caffe))
        ready.runSession(session)
        found = dict(inputs)
        names = {o for node in model.graph.node for o in node.output}
        for name, output in ready.getSessionOutputAll(session).items():
            if name not in names or output.getDataType() != MNN.Halide_Type_Float:
                continue
            shape = output.getShape()
            copy = MNN.Tensor(shape, MNN.Halide_Type_Float, np.zeros(shape, np.float32), MNN.Tensor_DimensionType_Caffe)
            output.copyToHostTensor(copy)
            found[name] = np.array(copy.getNumpyData(), np.float32)
    return found


def by_reference(model, inputs):
    names = list(dict.fromkeys(o for node in model.graph.node for o in node.output if o))
    watched = real_runs.watched(model)
    found = ReferenceEvaluator(watched).run(names, inputs)
    return {**inputs, **{k: np.asarray(v) for k, v in zip(names, found)}}


def attributes(node):
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


def pads_of(a, x, kernel):
    n = len(kernel)
    strides, dilations = a.get("strides", [1] * n), a.get("dilations", [1] * n)
    auto = a.get("auto_pad", b"NOTSET").decode()
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        pads = []
        for d in range(n):
            size = x.shape[2 + d]
            total = max((-(-size // strides[d]) - 1) * strides[d] + (kernel[d] - 1) * dilations[d] + 1 - size, 0)
            small = total // 2
            pads.append((small, total - small) if auto == "SAME_UPPER" else (total - small, small))
    else:
        flat = a.get("pads", [0] * 2 * n)
        pads = [(flat[d], flat[n + d]) for d in range(n)]
    return strides, dilations, [p for d in reversed(range(n)) for p in pads[d]]


def conv(a, x, w, b=None):
    strides, dilations, pads = pads_of(a, x, w.shape[2:])
    n = w.dim() - 2
    # Symmetrical ones are the library's own work.
    own = [pads[2 * (n - 1 - d)] for d in range(n)]
    if [p for d in reversed(range(n)) for p in (own[d], own[d])] == pads:
        pads = None
    if pads:
        x, own = F.pad(x, pads), [0] * n
    call = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}[n]
    return call(x, w, b, stride=strides, padding=own, dilation=dilations, groups=a.get("group", 1))


def gemm(a, x, y, c=None):
    x, y = (x.t() if a.get("transA") else x), (y.t() if a.get("transB") else y)
    made = a.get("alpha", 1.0) * (x @ y)
    return made if c is None else made + a.get("beta", 1.0) * c


def norm(a, x, scale, shift, mean, var):
    return F.batch_norm(x, mean, var, scale, shift, eps=a.get("epsilon", 1e-5))


# What PyTorch computes in the precision of the run. All else is computed by ONNX Runtime, in float32.
TORCH = {
    "Conv": conv,
    "MatMul": lambda a, x, y: x @ y,
    "Gemm": gemm,
    "BatchNormalization": norm,
    "Add": lambda a, x, y: x + y,
    "Sub": lambda a, x, y: x - y,
    "Mul": lambda a, x, y: x * y,
    "Div": lambda a, x, y: x / y,
    "Relu": lambda a, x: F.relu(x),
    "Sigmoid": lambda a, x: torch.sigmoid(x),
    "HardSigmoid": lambda a, x: torch.clamp(a.get("alpha", 0.2) * x + a.get("beta", 0.5), 0, 1),
    "HardSwish": lambda a, x: F.hardswish(x),
    "Tanh": lambda a, x: torch.tanh(x),
    "Erf": lambda a, x: torch.erf(x),
    "Gelu": lambda a, x: F.gelu(x, approximate=a.get("approximate", b"none").decode()),
    "Exp": lambda a, x: torch.exp(x),
    "Sqrt": lambda a, x: torch.sqrt(x),
    "Reciprocal": lambda a, x: torch.reciprocal(x),
    "LeakyRelu": lambda a, x: F.leaky_relu(x, a.get("alpha", 0.01)),
    "Softmax": lambda a, x: torch.softmax(x, a.get("axis", -1)),
    "GlobalAveragePool": lambda a, x: x.mean(tuple(range(2, x.dim())), keepdim=True),
    "LayerNormalization": lambda a, x, w, b=None: F.layer_norm(x, w.shape, w, b, a.get("epsilon", 1e-5)),
}


class ByTorch:
    """Node by node; each tensor is rounded to the type that the next operation takes."""

    def __init__(self, dtype):
        self.dtype = dtype
        self.sessions = {}

    def __call__(self, model, inputs):
        values = {name: torch.from_numpy(np.array(array)) for name, array in inputs.items()}
        values.update({t.name: torch.from_numpy(np.array(numpy_helper.to_array(t))) for t in model.graph.initializer
                       if t.name not in values})
        values = {k: self.small(v) for k, v in values.items()}
        opsets = model.opset_import
        softmax_axis = 1 if next(o.version for o in opsets if o.domain in ("", "ai.onnx")) < 13 else -1
        found = dict(inputs)
        with torch.no_grad():
            for node in model.graph.node:
                given = [values[name] if name else None for name in node.input]
                floats = all(v is None or v.dtype == self.dtype for v in given)
                if node.op_type in TORCH and floats and not node.domain:
                    a = attributes(node)
                    if node.op_type == "Softmax":
                        a.setdefault("axis", softmax_axis)
                    made = [TORCH[node.op_type](a, *[v for v in given])]
                else:
                    made = self.other(model, node, given)
                for name, value in zip(node.output, made):
                    if name:
                        values[name] = self.small(value)
                        found[name] = values[name].float().numpy() if values[name].is_floating_point() \
                            else values[name].numpy()
        if self.dtype == torch.float16:
            found = {k: v.astype(np.float16) if v.dtype == np.float32 and k not in inputs else v
                     for k, v in found.items()}
        return found

    def small(self, x):
        return x.to(self.dtype) if x.is_floating_point() and x.dtype != self.dtype else x

    def other(self, model, node, given):
        names = [name for name in node.input if name]
        arrays = {name: (v.float() if v.is_floating_point() else v).numpy() for name, v in zip(node.input, given)
                  if name}
        graph = helper.make_graph(
            [node], "one",
            [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(arrays[n].dtype), arrays[n].shape)
             for n in dict.fromkeys(names)],
            [helper.make_empty_tensor_value_info(o) for o in node.output if o])
        one = helper.make_model(graph, opset_imports=model.opset_import, ir_version=min(model.ir_version, 10))
        ready = real_runs.session(one)
        made = iter(ready.run(None, arrays))
        return [torch.from_numpy(np.array(next(made))) if o else torch.zeros(0) for o in node.output]


# How far outputs of healthy runs may be from golden's.
WIDE, NARROW = 1e-4, 0.1

ENGINES = {
    "ort-basic": (by_onnxruntime(LEVELS.ORT_ENABLE_BASIC), WIDE),
    "ort-extended": (by_onnxruntime(LEVELS.ORT_ENABLE_EXTENDED), WIDE),
    "ort-all": (by_onnxruntime(LEVELS.ORT_ENABLE_ALL), WIDE),
    "openvino-f32": (by_openvino("f32"), WIDE),
    "openvino-bf16": (by_openvino("bf16"), NARROW),
    "openvino-f16": (by_openvino("f16"), NARROW),
    "mnn": (by_mnn, WIDE),
    "torch-float32": (ByTorch(torch.float32), WIDE),
    "torch-bfloat16": (ByTorch(torch.bfloat16), NARROW),
    "torch-float16": (ByTorch(torch.float16), NARROW),
    "reference": (by_reference, WIDE),
}
