"""Networks with trained weights, as nets.Net: any ONNX model of the operations below, and BERT from safetensors.

They are not part of the tests: `evaluate.py BTFTOOL --models FILE.onnx,FOLDER` takes them from wherever they are.
"""

import json
import math
import os

import numpy as np
import torch
import torch.nn.functional as F

import nets
from ops import Op


def _conv(x, a):
    pads = a.get("pads", [0, 0, 0, 0])
    if pads[:2] != pads[2:]:
        x[0], pads = F.pad(x[0], (pads[1], pads[3], pads[0], pads[2])), [0, 0]
    return F.conv2d(*x, stride=a.get("strides", 1), padding=pads[:2], groups=a.get("group", 1))


def _clip(x, a):
    bounds = [float(t) for t in x[1:]] if len(x) > 1 else [a.get("min"), a.get("max")]
    return torch.clamp(x[0], *bounds)


def _pool(function):
    def pool(x, a):
        assert not any(a.get("pads", [])) or a["pads"][:2] == a["pads"][2:]
        return function(x[0], a["kernel_shape"], a.get("strides", 1), a.get("pads", [0, 0])[:2],
                        ceil_mode=bool(a.get("ceil_mode", 0)))
    return pool


def _slice(x, a):
    starts, ends, axes = (t.tolist() for t in x[1:4])
    for start, end, axis in zip(starts, ends, axes):
        size = x[0].shape[axis]
        x[0] = x[0].narrow(axis, start % size, min(end if end >= 0 else end + size, size) - start % size)
    return x[0]


def _squeeze(x, a):
    for axis in sorted(a.get("axes") or x[1].tolist(), reverse=True):
        x[0] = x[0].squeeze(axis)
    return x[0]


def _reshape(x, a):
    return x[0].reshape([x[0].shape[k] if n == 0 else n for k, n in enumerate(x[1].tolist())])


COMPUTE = {
    "Add": lambda x, a: x[0] + x[1],
    "AveragePool": _pool(F.avg_pool2d),
    "BatchNormalization": lambda x, a: F.batch_norm(x[0], x[3], x[4], x[1], x[2], eps=a.get("epsilon", 1e-5)),
    "Cast": lambda x, a: x[0].to({1: torch.float32, 6: torch.int64, 7: torch.int64}[a["to"]]),
    "Clip": _clip,
    "Concat": lambda x, a: torch.cat([t.reshape(-1) if t.dim() == 0 else t for t in x], a["axis"]),
    "Conv": _conv,
    "ConvTranspose": lambda x, a: F.conv_transpose2d(*x, stride=a.get("strides", 1), padding=a.get("pads", [0, 0])[:2]),
    "Div": lambda x, a: x[0] / x[1],
    "GlobalAveragePool": lambda x, a: x[0].mean((2, 3), keepdim=True),
    "HardSigmoid": lambda x, a: torch.clamp(a.get("alpha", 0.2) * x[0] + a.get("beta", 0.5), 0, 1),
    "Identity": lambda x, a: x[0],
    "MatMul": lambda x, a: torch.matmul(x[0], x[1]),
    "MaxPool": _pool(F.max_pool2d),
    "Mul": lambda x, a: x[0] * x[1],
    "Pow": lambda x, a: torch.pow(x[0], x[1].to(x[0].dtype)),
    "ReduceMean": lambda x, a: x[0].mean(a["axes"], keepdim=bool(a.get("keepdims", 1))),
    "Relu": lambda x, a: F.relu(x[0]),
    "Reshape": _reshape,
    "Resize": lambda x, a: F.interpolate(x[0], scale_factor=[float(s) for s in x[-1][2:]], mode="nearest"),
    "Shape": lambda x, a: torch.tensor(x[0].shape),
    "Sigmoid": lambda x, a: torch.sigmoid(x[0]),
    "Slice": _slice,
    "Softmax": lambda x, a: F.softmax(x[0], a.get("axis", -1)),
    "Sqrt": lambda x, a: torch.sqrt(x[0]),
    "Squeeze": _squeeze,
    "Sub": lambda x, a: x[0] - x[1],
    "Transpose": lambda x, a: x[0].permute(a["perm"]).contiguous(),
}


class Trained(nets.Net):
    def __init__(self, kind, calibration, given):
        self.kind, self.seed, self.ops = kind, 0, []
        self.values = {"input": calibration}
        self.inputs = {"input": given}

    def take(self, op):
        self.ops.append(op)
        self.values[op.output] = op.compute([self.values[i] for i in op.inputs], op.weights)

    def finish(self):
        self.calibrate([])
        return self


def _ordered(kind, arguments):
    """A function of tensors and weights, each in its place of the node's inputs."""
    def compute(x, weights, attributes):
        given = [x[a] if isinstance(a, int) else weights[a] for a in arguments]
        return COMPUTE[kind](given, attributes)
    return compute


def picture(seed, height, width):
    """Dark marks on a light ground, in rows like text."""
    rng = np.random.default_rng(seed)
    image = np.full((height, width), 0.8) + 0.05 * rng.standard_normal((height, width))
    for top in range(6, height - 12, 24):
        for left in range(4, width - 10, 12):
            glyph = np.kron(rng.random((5, 4)) < 0.5, np.ones((3, 2)))
            image[top:top + 15, left:left + 8] -= 0.9 * glyph
    return torch.from_numpy(np.repeat(image[None, None], 3, 1).astype(np.float32))


def from_onnx(path, height, width):
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(path).graph
    constants = {t.name: torch.from_numpy(numpy_helper.to_array(t).copy()) for t in graph.initializer}
    net = Trained(os.path.basename(path).split(".onnx")[0], picture(1, height, width), picture(2, height, width))
    names = {graph.input[0].name: "input"}
    for node in graph.node:
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        inputs = [names.get(name, name) for name in node.input if name]
        if node.op_type == "Constant":
            constants[node.output[0]] = torch.from_numpy(numpy_helper.to_array(attributes["value"]).copy())
        elif all(name in constants for name in inputs) or node.op_type == "Shape":
            # What follows from shapes alone is no layer.
            known = [constants[n] if n in constants else net.values[n] for n in inputs]
            constants[node.output[0]] = COMPUTE[node.op_type](known, attributes)
        else:
            seen = [name for name in dict.fromkeys(inputs) if name not in constants]
            weights = {name: constants[name] for name in inputs if name in constants}
            arguments = [seen.index(name) if name in seen else name for name in inputs]
            net.take(Op(node.op_type, node.name or node.output[0], seen, weights, attributes,
                             node.output[0], _ordered(node.op_type, arguments)))
    return net.finish()


SENTENCES = ("the old man sat by the river and watched the boats go home before the storm came in from the sea",
             "a new engine for the small car was built in the north of the country and sold to many people last year")


def from_bert(folder):
    from safetensors.torch import load_file

    weights = load_file(os.path.join(folder, "model.safetensors"))
    config = json.load(open(os.path.join(folder, "config.json")))
    words = json.load(open(os.path.join(folder, "tokenizer.json")))["model"]["vocab"]

    def embedded(sentence):
        ids = [words["[CLS]"], *(words[w] for w in sentence.split()), words["[SEP]"]]
        tables = [weights[f"embeddings.{kind}_embeddings.weight"] for kind in ("word", "token_type", "position")]
        return (tables[0][ids] + tables[1][0] + tables[2][:len(ids)])[None]

    def norm(scope, x):
        return net.add("LayerNormalization", scope, [x], {"gamma": weights[scope + ".weight"],
                                                          "beta": weights[scope + ".bias"]})

    def linear(scope, x):
        x = net.add("MatMul", scope, [x], {"weight": weights[scope + ".weight"]})
        return net.add("Add", scope, [x], {"bias": weights[scope + ".bias"]})

    length = min(len(s.split()) for s in SENTENCES)
    first, second = (embedded(" ".join(s.split()[:length])) for s in SENTENCES)
    net = Trained(os.path.basename(os.path.normpath(folder)), first, second)
    size, heads = config["hidden_size"], config["num_attention_heads"]
    x = norm("embeddings.LayerNorm", "input")
    for k in range(config["num_hidden_layers"]):
        scope = f"encoder.layer.{k}"
        q, key, v = (net.heads(f"{scope}/{part}", linear(f"{scope}.attention.self.{part}", x), heads)
                     for part in ("query", "key", "value"))
        key = net.add("Transpose", scope + "/kt", [key], permutation=(0, 1, 3, 2))
        s = net.add("MatMul", scope + "/qk", [q, key])
        s = net.add("Mul", scope + "/scale", [s], {"scale": torch.tensor(1 / math.sqrt(size / heads))})
        p = net.add("Softmax", scope + "/softmax", [s])
        y = net.add("MatMul", scope + "/pv", [p, v])
        y = net.add("Transpose", scope + "/back", [y], permutation=(0, 2, 1, 3))
        y = net.add("Reshape", scope + "/merge", [y], shape=tuple(net.values[x].shape))
        y = linear(scope + ".attention.output.dense", y)
        x = norm(scope + ".attention.output.LayerNorm", net.add("Add", scope + "/add1", [x, y]))
        y = net.add("Gelu", scope + "/gelu", [linear(scope + ".intermediate.dense", x)])
        y = linear(scope + ".output.dense", y)
        x = norm(scope + ".output.LayerNorm", net.add("Add", scope + "/add2", [x, y]))
    return net.finish()


def load(path):
    if os.path.isdir(path):
        return from_bert(path)
    return from_onnx(path, *((48, 96) if "rec" in path or "cls" in path else (96, 128)))
