"""How well `fit --dtype int8` orders layers: its estimates against networks run with one layer in int8 each.

  rank.py BTFTOOL [--models A,B] [--inputs N] [--seed N] [--most N] [--cache DIR]

Real networks (tests/layers/real_models.py). A layer in int8 reads codes and gives codes, by the best scale that is said;
weights have a scale for each channel where that is better. By hand: minutes.
"""

import argparse
import copy
import json
import os
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../layers"))
import numpy as np
import onnx
from onnx import helper, numpy_helper

import device
import real_models


class Int8:
    """A network with chosen layers in int8, by the scales of a report."""

    def __init__(self, model, report, inputs):
        self.model, self.inputs = model, inputs
        self.tensors = {t["name"]: t for t in report["tensors"]}
        self.constants = device.constants(model)
        self.names = [o.name for o in model.graph.output if o.name in self.tensors]
        self.right = device.outputs_of(model, inputs)

    def scale(self, name):
        tensor = self.tensors.get(name)
        if tensor is None or not tensor["scales"]:
            return None
        best = next(s for s in tensor["scales"] if s["method"] == tensor["best"])
        channels = tensor["channels"]
        if tensor["weight"] and channels and float(channels["snr"]) > float(best["snr"]):
            axes = tuple(a for a in range(self.constants[name].ndim) if a != channels["axis"])
            most = np.abs(self.constants[name]).max(axis=axes, keepdims=True)
            return np.where(most > 0, most / 127, 1).astype(np.float32)
        return np.float32(best["scale"])

    def coded(self, graph, nodes, name, result):
        """Nodes that make `result` of `name`: what its codes stand for. False: it has none."""
        scale = self.scale(name)
        if scale is None:
            return False
        if name in self.constants:
            codes = np.clip(np.rint(self.constants[name] / scale), -128, 127)
            graph.initializer.append(numpy_helper.from_array((codes * scale).astype(np.float32), result))
            return True
        for end, value in (("scale", scale), ("low", np.float32(-128)), ("high", np.float32(127))):
            graph.initializer.append(numpy_helper.from_array(np.asarray(value), f"{result}.{end}"))
        nodes += [helper.make_node("Div", [name, result + ".scale"], [result + ".quotient"]),
                  helper.make_node("Round", [result + ".quotient"], [result + ".round"]),
                  helper.make_node("Clip", [result + ".round", result + ".low", result + ".high"], [result + ".code"]),
                  helper.make_node("Mul", [result + ".code", result + ".scale"], [result])]
        return True

    def error(self, layers):
        made = copy.deepcopy(self.model)
        nodes = []
        for number, node in enumerate(made.graph.node):
            if (node.name or node.output[0]) not in layers:
                nodes.append(node)
                continue
            for i, name in enumerate(node.input):
                if name and self.coded(made.graph, nodes, name, f"{name}.{number}.{i}"):
                    node.input[i] = f"{name}.{number}.{i}"
            nodes.append(node)
            for i, name in enumerate(node.output):
                if self.scale(name) is not None:
                    node.output[i] = name + ".wide"
                    self.coded_output(made.graph, nodes, name)
        del made.graph.node[:]
        made.graph.node.extend(nodes)
        found = device.outputs_of(made, self.inputs)
        worst = 0
        for name in self.names:
            off = sum(float(np.sum((np.float64(f[name]) - r[name]) ** 2)) for f, r in zip(found, self.right))
            size = sum(float(np.sum(np.float64(r[name]) ** 2)) for r in self.right)
            worst = max(worst, (off / size) ** 0.5 if size else 0)
        return worst

    def coded_output(self, graph, nodes, name):
        self.tensors[name + ".wide"] = self.tensors[name]
        self.coded(graph, nodes, name + ".wide", name)
        del self.tensors[name + ".wide"]


def ranks(values):
    return np.argsort(np.argsort(values))


def look_at(tool, real, path, options):
    model = onnx.load(path)
    inputs = [real_models.show(real, options.seed + i) for i in range(options.inputs)]
    with tempfile.TemporaryDirectory() as folder:
        dumps = [os.path.join(folder, f"{i}.npz") for i in range(len(inputs))]
        for dump, one in zip(dumps, inputs):
            np.savez(dump, **device.all_tensors(model, one))
        done = subprocess.run([tool, "fit", "--json", "--dtype", "int8", "--graph", path, *dumps], capture_output=True,
                              text=True, check=False)
    report = json.loads(done.stdout)["scaled"][0]
    estimates = {layer["name"]: layer["error"] for layer in report["layers"]}
    network = Int8(model, report, inputs)
    layers = list(estimates)  # the largest estimate first
    looked = layers[::max(1, -(-len(layers) // options.most))]
    errors = {name: network.error({name}) for name in looked}
    pairs = np.array([(estimates[n], errors[n]) for n in looked if estimates[n] > 0 and errors[n] > 0])
    ratio = pairs[:, 0] / pairs[:, 1]
    together = np.corrcoef(ranks(pairs[:, 0]), ranks(pairs[:, 1]))[0, 1]
    few = max(1, len(layers) // 10)
    rng = np.random.default_rng(options.seed)
    luck = [network.error(set(layers) - set(rng.permutation(layers)[:few])) for _ in range(3)]
    print(f"{real.name}: {len(layers)} layers, {report['unjudged']} not known; rank correlation {together:.2f}, "
          f"estimate / error {np.median(ratio):.2g} ({np.quantile(ratio, 0.1):.2g} to {np.quantile(ratio, 0.9):.2g}); "
          f"error of all {network.error(set(layers)):.2g} (estimate {max(o['error'] for o in report['outputs']):.2g}), "
          f"without the first tenth {network.error(set(layers[few:])):.2g}, without any tenth {np.median(luck):.2g}",
          flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--models", default="ocr-angle,captcha-read")
    parser.add_argument("--inputs", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=120)
    parser.add_argument("--cache", default=os.path.join(tempfile.gettempdir(), "btftool-real-models"))
    options = parser.parse_args()
    for real in real_models.MODELS:
        if real.name not in options.models.split(","):
            continue
        path = real_models.fetch(real, options.cache)
        if path is None:
            print(f"skipped {real.name}: its package cannot be had")
            continue
        look_at(options.tool, real, path, options)


if __name__ == "__main__":
    main()
