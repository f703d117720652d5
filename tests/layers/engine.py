"""A network as TensorRT would have it, a fault in one of its fused layers: does `btftool layers` name it?

  engine.py BTFTOOL [--faults N] [--seed S] [--verbose]
  engine.py --write DIR    a small one with a fault: DIR/engine.json, model.onnx, golden.npz and trt/, for documents

The net (42 ONNX nodes) is computed in numpy as an engine would: fused, reformatted, in fp32, in fp16, or mixed (int8
inside, fp16 around, fp32 at the end), from the tensors that the engine itself has. What it computes is dumped as
raw bytes in the engine's own layouts, which only the layer list says. Golden is the same net in float64. Each list is
written as 8.6, 10.x and 11.x write it and as a log has it; nothing here reads what the library knows of any of them.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError as missing:
    print(f"skipped: {missing}; tests/interop/venv.sh installs what is needed")
    sys.exit(0)

SIZE = 12
FORMATS = {  # name: sentence, and the bytes of an NCHW array
    "linear": "Row major linear {t} format",
    "chw32": "Thirty-two wide channel vectorized row major {t} format",
    "hwc8": "Channel major {t} format where channel % 8 == 0",
    "chw4": "Four wide channel vectorized row major {t} format",
}
TYPES = {"fp32": ("FP32", "Float", np.float32), "fp16": ("FP16", "Half", np.float16), "int8": ("Int8", "Int8", np.int8)}


def up(n, m):
    return -(-n // m) * m


def arranged(array, form):
    """The array's bytes, by transposing what is padded."""
    if form == "linear" or array.ndim != 4:
        return array.tobytes()
    n, c, h, w = array.shape
    lanes = {"chw32": 32, "hwc8": 8, "chw4": 4}[form]
    padded = np.zeros((n, up(c, lanes), h, w), array.dtype)
    padded[:, :c] = array
    if form == "hwc8":
        return padded.transpose(0, 2, 3, 1).tobytes()
    return padded.reshape(n, -1, lanes, h, w).transpose(0, 1, 3, 4, 2).tobytes()


def conv(x, w, b, pad):
    n, c, h, wd = x.shape
    k = w.shape[2]
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    parts = np.stack([x[:, :, i:i + h, j:j + wd] for i in range(k) for j in range(k)], 2)
    return np.einsum("nckhw,ock->nohw", parts, w.reshape(*w.shape[:2], -1)) + b.reshape(1, -1, 1, 1)


class Net:
    """Nodes (op, name, inputs, output, extra) and weights; layers: lists of node numbers that are fused."""

    def __init__(self, rng, blocks=5):
        self.nodes, self.weights, self.layers, self.rng = [], {}, [], rng
        self.channels = {"input": 3}
        x = self.block("stem", "input", 16, relu=True)
        for i in range(blocks):
            y = self.block(f"b{i}/one", x, 16, relu=True)
            x = self.block(f"b{i}/two", y, 16, relu=True, add=x)
        x = self.fused([self.node("GlobalAveragePool", "pool", [x], 16)])
        x = self.fused([self.node("Flatten", "flat", [x], 16)])
        self.weights["fc.w"] = rng.normal(size=(10, 16)) * 0.8
        self.weights["fc.b"] = rng.normal(size=10) * 0.1
        x = self.fused([self.node("Gemm", "fc", [x, "fc.w", "fc.b"], 10)])
        self.fused([self.node("Softmax", "prob", [x], 10)])

    def node(self, op, name, inputs, channels):
        output = name + "_out"
        self.channels[output] = channels
        self.nodes.append((op, name, inputs, output))
        return len(self.nodes) - 1

    def fused(self, nodes):
        self.layers.append(nodes)
        return self.nodes[nodes[-1]][3]

    def block(self, name, x, channels, relu, add=None):
        rng = self.rng
        c = self.channels[x]
        k = 3
        self.weights[name + ".w"] = rng.normal(size=(channels, c, k, k)) * np.sqrt(2 / (c * k * k))
        self.weights[name + ".b"] = rng.normal(size=channels) * 0.1
        for part, value in (("scale", rng.uniform(0.7, 1.3, channels)), ("shift", rng.normal(size=channels) * 0.1),
                            ("mean", rng.normal(size=channels) * 0.1), ("var", rng.uniform(0.6, 1.4, channels))):
            self.weights[f"{name}.{part}"] = value
        nodes = [self.node("Conv", name + "/conv", [x, name + ".w", name + ".b"], channels)]
        nodes.append(self.node("BatchNormalization", name + "/bn", [self.nodes[-1][3]] + [
            f"{name}.{part}" for part in ("scale", "shift", "mean", "var")], channels))
        if add:
            nodes.append(self.node("Add", name + "/add", [self.nodes[-1][3], add], channels))
        if relu:
            nodes.append(self.node("Relu", name + "/relu", [self.nodes[-1][3]], channels))
        return self.fused(nodes)

    def compute(self, node, values, weights):
        op, _, inputs, _ = node
        a = [values[i] if i in values else weights[i] for i in inputs]
        if op == "Conv":
            return conv(a[0], a[1], a[2], 1)
        if op == "BatchNormalization":
            s, b, m, v = (p.reshape(1, -1, 1, 1) for p in a[1:])
            return (a[0] - m) / np.sqrt(v + 1e-5) * s + b
        if op == "Add":
            return a[0] + a[1]
        if op == "Relu":
            return np.maximum(a[0], 0)
        if op == "GlobalAveragePool":
            return a[0].mean((2, 3), keepdims=True)
        if op == "Flatten":
            return a[0].reshape(a[0].shape[0], -1)
        if op == "Gemm":
            return a[0] @ a[1].T + a[2]
        e = np.exp(a[0] - a[0].max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def golden(self, x):
        values = {"input": x}
        for node in self.nodes:
            values[node[3]] = self.compute(node, values, self.weights)
        return values

    def model(self, path):
        kinds = {"Conv": {"pads": [1] * 4}, "Gemm": {"transB": 1}}
        nodes = [helper.make_node(op, inputs, [output], name=name, **kinds.get(op, {}))
                 for op, name, inputs, output in self.nodes]
        graph = helper.make_graph(
            nodes, "net", [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 3, SIZE, SIZE])],
            [helper.make_tensor_value_info(self.nodes[-1][3], TensorProto.FLOAT, [1, 10])],
            [numpy_helper.from_array(w.astype(np.float32), name) for name, w in self.weights.items()])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def kinds_of(net, precision):
    """The type of each layer's output."""
    if precision != "mixed":
        return [precision] * len(net.layers)
    return ["fp16" if i == 0 else "int8" if i < 11 else "fp16" if i < len(net.layers) - 1 else "fp32"
            for i in range(len(net.layers))]


def rounded(x, kind, scale=None):
    if kind == "int8":
        return np.clip(np.rint(x / scale), -128, 127) * scale
    return x.astype(TYPES[kind][2]).astype(np.float64)


def run(net, golden, kinds, fault=None):
    """What the device has, and its scales. `fault`: the layer, and what is done to the layer's numbers."""
    values = {"input": golden["input"].astype(np.float32).astype(np.float64)}
    scales = {name: np.abs(g).max() / 127 for name, g in golden.items()}
    for i, layer in enumerate(net.layers):
        kind = kinds[i]
        own = {name: rounded(v, kind, scales[name]) if name in scales else v for name, v in values.items()}
        weights = {}
        for number in layer:
            for name in net.nodes[number][2]:
                if name in net.weights:
                    w = net.weights[name]
                    axis = tuple(range(1, w.ndim))
                    weights[name] = rounded(w, kind, np.abs(w).max(axis, keepdims=True) / 127) if kind != "int8" or w.ndim > 1 else w
        for number in layer:
            own[net.nodes[number][3]] = net.compute(net.nodes[number], own, weights)
        name = net.nodes[layer[-1]][3]
        result = own[name]
        if fault and fault[0] == i:
            result = fault[1](result)
        values[name] = rounded(result, kind, scales[name])
    return values, scales


FAULTS = {
    "channels": lambda rng: (lambda x: np.concatenate([x[:, :4] * 2.5 + 0.5, x[:, 4:]], 1)),
    "gain": lambda rng: (lambda x: x * 1.5),
    "swapped": lambda rng: (lambda x: x[:, ::-1].copy()),
    "offset": lambda rng: (lambda x: x + 0.3 * np.abs(x).max()),
    "noise": lambda rng: (lambda x: x + rng.normal(size=x.shape) * 0.25 * x.std()),
}


class Engine:
    """The list of layers, and in which type and format each tensor is."""

    def __init__(self, net, kinds):
        self.net, self.kinds = net, kinds
        self.tensors = {"input": ("fp32", "linear")}
        self.layers = []
        for i, layer in enumerate(net.layers):
            kind, form = kinds[i], self.form(i)
            nodes = [net.nodes[n] for n in layer]
            made = {node[3] for node in nodes}
            inputs = []
            for node in nodes:
                for name in node[2]:
                    if name not in self.net.weights and name not in made and name not in inputs:
                        inputs.append(name)
            inputs = [self.reformatted(k, name, kind, nodes) for k, name in enumerate(inputs)]
            out = nodes[-1][3]
            self.tensors[out] = (kind, form if self.rank(out) == 4 else "linear")
            title = " + ".join(f"PWN({n[1]})" if n[0] == "Relu" else n[1] for n in nodes)
            kindly = {"Conv": "CaskConvolution", "Softmax": "SoftMax", "GlobalAveragePool": "CaskPooling",
                      "Gemm": "CaskGemmConvolution", "Flatten": "NoOp"}[nodes[0][0]]
            self.layers.append((title, kindly, inputs, [out], [n[1] for n in nodes], kind))

    def rank(self, name):
        return 4 if name == "input" or not name.startswith(("flat", "fc", "prob")) else 2

    def form(self, i):
        kind = self.kinds[i]
        return {"int8": "chw32", "fp16": "hwc8", "fp32": "linear"}[kind]

    def reformatted(self, k, name, kind, nodes):
        """In another type it is copied before it is read."""
        if self.tensors[name][0] == kind:
            return name
        title = " + ".join(n[1] for n in nodes)
        copy = f"Reformatted Input Tensor {k} to {title}"
        self.tensors[copy] = (kind, "linear" if self.rank(name) == 2 else {"int8": "chw32", "fp16": "hwc8", "fp32": "linear"}[kind])
        self.layers.append((f"Reformatting CopyNode for Input Tensor {k} to {title}", "Reformat", [name], [copy], [], None))
        self.shape_of = getattr(self, "shape_of", {})
        self.shape_of[copy] = name
        return copy

    def dims(self, name, values):
        return list(values[getattr(self, "shape_of", {}).get(name, name)].shape)

    def tensor(self, name, values, version):
        kind, form = self.tensors[name]
        sentence = FORMATS[form].format(t=TYPES[kind][0])
        said = {"Name": name, "Location": "Device", "Dimensions": self.dims(name, values)}
        if version == "11":
            said |= {"Format": sentence + " (" + {"linear": "kLINEAR", "chw32": "kCHW32", "hwc8": "kHWC8"}[form] + ")",
                     "Datatype": TYPES[kind][1]}
        else:
            said["Format/Datatype"] = sentence + ("." if version == "8.6" else "")
        return said

    def write(self, path, values, version):
        if version == "log":
            return self.write_log(path, values)
        layers = []
        for title, kind, inputs, outputs, nodes, computed in self.layers:
            layer = {"Name": title, "LayerType": kind, "Inputs": [self.tensor(n, values, version) for n in inputs],
                     "Outputs": [self.tensor(n, values, version) for n in outputs], "ParameterType": kind, "TacticName": "t"}
            if computed and kind.startswith("Cask"):
                layer["Weights"] = {"Type": TYPES[computed][1], "Count": 9}
            if version != "8.6":
                layer |= {"StreamId": 0, "Metadata": "\x1e".join(f"[ONNX Layer: {n}]" for n in nodes)}
            layers.append(layer)
        last = self.net.nodes[-1][3]
        whole = {"Layers": layers}
        if version == "11":
            whole["I/O Tensors"] = [{"Name": n, "IOMode": mode, "DataType": "Float", "Dimensions": self.dims(n, values)}
                                    for n, mode in (("input", "Input"), (last, "Output"))]
        else:
            whole["Bindings"] = ["input", last]
        with open(path, "w") as file:
            json.dump(whole, file)

    def write_log(self, path, values):
        def listed(names):
            return ", ".join("{ " + f"Name: {n}, Location: Device, Dimensions: [{','.join(map(str, self.dims(n, values)))}], "
                             f"Format/Datatype: {self.tensor(n, values, '10')['Format/Datatype']}" + " }" for n in names)
        with open(path, "w") as file:
            file.write("[11/26/2026-10:00:00] [I] Engine built in 2 sec.\n[11/26/2026-10:00:00] [I] Layers:\n")
            for title, kind, inputs, outputs, nodes, _ in self.layers:
                metadata = "\x1e".join(f"[ONNX Layer: {n}]" for n in nodes)
                file.write(f"Name: {title}, LayerType: {kind}, Inputs: [ {listed(inputs)}], Outputs: [ {listed(outputs)}], "
                           f"ParameterType: {kind}, TacticName: t, StreamId: 0, Metadata: {metadata}\n")
            file.write("\nBindings:\ninput\nprob_out\n[11/26/2026-10:00:01] [I] Starting inference\n")

    def dump(self, folder, values, scales):
        os.makedirs(folder, exist_ok=True)
        for name in values:
            kind, form = self.tensors[name]
            array = values[name]
            array = np.rint(array / scales[name]) if kind == "int8" else array
            with open(os.path.join(folder, name.replace("/", "%2f") + ".raw"), "wb") as file:
                file.write(arranged(array.astype(TYPES[kind][2]), form))


def layers(tool, *arguments):
    done = subprocess.run([tool, "layers", "--json", "--no-hints", *arguments], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"layers {' '.join(arguments)}: exit code {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def write_example(folder):
    global SIZE
    SIZE = 6
    rng = np.random.default_rng(7)
    net = Net(rng, blocks=2)
    kinds = ["fp16", "fp16", "int8", "int8", "fp16", "fp16", "fp16", "fp16", "fp32"]
    golden = net.golden(rng.normal(size=(1, 3, SIZE, SIZE)))
    values, scales = run(net, golden, kinds, (1, FAULTS["channels"](rng)))
    engine = Engine(net, kinds)
    os.makedirs(folder, exist_ok=True)
    engine.write(os.path.join(folder, "engine.json"), values, "10")
    engine.dump(os.path.join(folder, "trt"), values, scales)
    net.model(os.path.join(folder, "model.onnx"))
    np.savez_compressed(os.path.join(folder, "golden.npz"), **{n: golden[n].astype(np.float32) for n in values})


def main():
    if sys.argv[1:2] == ["--write"]:
        return write_example(sys.argv[2])
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--faults", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    versions = ["8.6", "10", "11", "log"]
    right, asked, blamed, healthy, wrong = 0, 0, 0, 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(args.faults):
            net = Net(rng)
            precision = ["fp32", "fp16", "mixed"][number % 3]
            kinds = kinds_of(net, precision)
            x = rng.normal(size=(1, 3, SIZE, SIZE))
            golden = net.golden(x)
            at = int(rng.integers(0, 11))
            name = list(FAULTS)[number % len(FAULTS)]
            # Codes without a scale are measured by one that is fitted, which takes a gain out again; a mean over
            # all places takes noise out.
            if name == "gain" and kinds[at] == "int8":
                name = "offset"
            if name == "noise" and at == 10:
                at = 9
            fault = (at, FAULTS[name](rng))
            model, gold = (os.path.join(scratch, f) for f in ("model.onnx", "golden.npz"))
            net.model(model)
            engine = Engine(net, kinds)
            np.savez(gold, **{n: v.astype(np.float32) for n, v in golden.items()})
            for broken in (False, True):
                values, scales = run(net, golden, kinds, fault if broken else None)
                trt = os.path.join(scratch, f"trt{number}{broken}")
                engine.dump(trt, values, scales)
                paths = []
                for version in versions:
                    paths.append(os.path.join(scratch, f"engine-{version}" + (".log" if version == "log" else ".json")))
                    engine.write(paths[-1], values, version)
                reports = [layers(args.tool, "--graph", path, "--actual-spec", "@" + path, trt, gold) for path in paths]
                reports.append(layers(args.tool, "--graph", paths[1], "--graph", model, "--actual-spec", "@" + paths[1], trt, gold))
                # The log has no types of weights, which are those of their layers here.
                for report, path in zip(reports[:4], paths):
                    if report["verdict"]["layer"] != reports[0]["verdict"]["layer"]:
                        wrong += 1
                        print(f"{path} says another thing than {paths[0]}: {report['verdict']['words']}")
                for with_model, report in enumerate(reports[3:]):
                    verdict = report["verdict"]
                    told = f"{number} {precision} {name} at {at}{' with the model' if with_model else ''}: {verdict['words']}"
                    if not broken:
                        healthy += 1
                        if verdict["kind"] in ("broke", "inputs", "dump-wrong"):
                            blamed += 1
                            print("healthy " + told)
                        continue
                    asked += 1
                    nodes = [net.nodes[n] for n in net.layers[at]]
                    found = (verdict["kind"] == "broke" and verdict["layer"] == nodes[-1][3] and
                             verdict["fused"]["nodes"] == [n[1] for n in nodes])
                    right += found
                    if not found or args.verbose:
                        print(told)
    print(f"{right} of {asked} faults named first with their nodes, {blamed} of {healthy} healthy runs blamed, "
          f"{wrong} lists of other versions say another thing")
    return 0 if right >= 0.95 * asked and blamed == 0 and wrong == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
