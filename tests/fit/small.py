"""Small networks made by hand, their runs in float32, and what `btftool fit` says of them."""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


def narrowed(x):
    x = np.asarray(x)
    return x if x.dtype.kind in "iub" else x.astype(np.float32)


class Net:
    """A network that grows by a node; its layers are called by what they are for."""

    def __init__(self, **inputs):
        self.inputs = {name: narrowed(x) for name, x in inputs.items()}
        self.nodes, self.weights = [], {}

    def weight(self, value):
        name = f"w{len(self.weights)}"
        self.weights[name] = narrowed(value)
        return name

    def add(self, name, op, *inputs, domain="", **attributes):
        """The name of the result. Inputs that are no names are weights."""
        named = [i if isinstance(i, str) else self.weight(i) for i in inputs]
        self.nodes.append(helper.make_node(op, named, [name + ":0"], name, domain=domain, **attributes))
        return name + ":0"

    def model(self, outputs, dims=None, domains=()):
        def info(name, x):
            kind = TensorProto.BOOL if x.dtype == bool else TensorProto.FLOAT
            return helper.make_tensor_value_info(name, kind, dims or list(x.shape))
        graph = helper.make_graph(
            self.nodes, "net", [info(n, x) for n, x in self.inputs.items()],
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs],
            [numpy_helper.from_array(w, n) for n, w in self.weights.items()])
        opsets = [helper.make_opsetid("", 17), *(helper.make_opsetid(d, 1) for d in domains)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)

    def run(self, **feed):
        """All tensors of a run in float32, with these inputs or its own."""
        feed = {name: narrowed(x) for name, x in feed.items()} or self.inputs
        names = [o for n in self.nodes for o in n.output]
        model = self.model([])
        for x in model.graph.input:  # of any size
            x.type.tensor_type.ClearField("shape")
        del model.graph.output[:]
        model.graph.output.extend(onnx.ValueInfoProto(name=n) for n in names)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return {**feed, **dict(zip(names, session.run(names, feed)))}


def normal(*dims):
    return np.random.default_rng(7).normal(size=dims)


class Tool:
    def __init__(self, path, folder):
        self.path, self.folder, self.checks = path, folder, 0

    def file(self, name):
        return os.path.join(self.folder, name)

    def dump(self, tensors, name="golden.npz"):
        np.savez(self.file(name), **tensors)
        return name

    def model(self, model, **how):
        onnx.save(model, self.file("model.onnx"), **how)

    def run(self, *words):
        return subprocess.run([self.path, "fit", *words], capture_output=True, text=True, check=False, cwd=self.folder)

    def report(self, *words, code, graph=True):
        """The report, or the error, and the lines beside it."""
        done = self.run("--json", *(["--graph", "model.onnx"] if graph else []), *words)
        self.same(f"exit of {' '.join(words)}: {done.stdout} {done.stderr}", done.returncode, code)
        return json.loads(done.stdout), done.stderr.splitlines()

    def same(self, what, found, expected):
        self.checks += 1
        if found != expected:
            raise AssertionError(f"{what}: {found}, expected {expected}")

    def has(self, what, text, *parts):
        for part in parts:
            self.same(f"{what}: '{part}' in '{text}'", part in text, True)


def run_with_tool(*checks):
    """Checks with the tool that the command line names; how many things they looked at."""
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(os.path.abspath(sys.argv[1]), folder)
        for check in checks:
            check(tool)
    return tool.checks


def layers_in(of_type, state):
    return {layer["name"]: layer for layer in of_type["layers"] if layer["state"] == state}
