"""What `btftool layers` says of runs of ONNX Runtime's quantised models (QDQ) against the float model, healthy and
with faults.

  quantised.py BTFTOOL [--models A,B] [--kinds A,B] [--sites N] [--cache DIR] [--show]
  quantised.py BTFTOOL --fast

`quantize_static` makes the models, and two dumps are made of each: every value of every node, and what ONNX Runtime's
own `qdq_loss_debug` saves, which is flat and in no order. A fault is put into the quantised model, and its run judged
by the sound model, by the float model, and by neither. It counts if it changes its tensor by a twentieth, and by four
times what quantisation does to it.
"""

import argparse
import collections
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import helper, numpy_helper
    from onnxruntime import quantization
    from onnxruntime.quantization import qdq_loss_debug

    import real_models
    import real_runs
except ImportError as missing:
    print(f"skipped: {missing}; tests/interop/venv.sh installs what is needed")
    sys.exit(0)

U8, S8, U16, S16 = (quantization.QuantType[n] for n in ("QUInt8", "QInt8", "QUInt16", "QInt16"))
KINDS = {
    "uint8": {"activation_type": U8, "weight_type": S8},
    "per channel": {"activation_type": U8, "weight_type": S8, "per_channel": True},
    "int8": {"activation_type": S8, "weight_type": S8, "extra_options": {"ActivationSymmetric": True}},
    "int16": {"activation_type": S16, "weight_type": S8},
    "own pairs": {"activation_type": U8, "weight_type": S8, "extra_options": {"DedicatedQDQPair": True}},
}
MODELS = ("net", "ocr-angle", "text-kind", "detector", "ocr-read", "wake-word", "sound-embed")
DEQUANTISED = "_DequantizeLinear_Output"


class Feeds(quantization.CalibrationDataReader):
    def __init__(self, feeds):
        self.left = iter(feeds)

    def get_next(self):
        return next(self.left, None)


def net(seed=0, width=8):
    """Convolutions with ReLU, a residual addition, a product."""
    rng = np.random.default_rng(seed)
    nodes, weights = [], []

    def weight(name, *dims):
        array = (rng.normal(size=dims) / np.sqrt(np.prod(dims[1:]))).astype(np.float32)
        weights.append(numpy_helper.from_array(array, name))
        return name

    x = "input"
    for i in range(4):
        inputs = [x, weight(f"w{i}", width, 3 if i == 0 else width, 3, 3), weight(f"b{i}", width)]
        nodes.append(helper.make_node("Conv", inputs, [f"conv{i}"], pads=[1] * 4))
        nodes.append(helper.make_node("Relu", [f"conv{i}"], [f"relu{i}"]))
        x = f"relu{i}"
        if i == 2:
            nodes.append(helper.make_node("Add", ["relu2", "relu1"], ["sum"]))
            x = "sum"
    nodes += [helper.make_node("GlobalAveragePool", [x], ["pool"]), helper.make_node("Flatten", ["pool"], ["flat"]),
              helper.make_node("Gemm", ["flat", weight("fc", width, 10), weight("fcb", 10)], ["logits"])]
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("input", 1, [1, 3, 16, 16])],
                              [helper.make_tensor_value_info("logits", 1, [1, 10])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def relative(a, g):
    a, g = a.astype(np.float64).ravel(), g.astype(np.float64).ravel()
    size = np.linalg.norm(g)
    return np.linalg.norm(a - g) / size if size else float(np.any(a))


class Case:
    """A float model, the quantised one, and what is shown to both."""

    def __init__(self, name, kind, cache, scratch):
        self.name, self.scratch = f"{name}, {kind}", scratch
        self.graph = os.path.join(scratch, "float.onnx")
        self.quantised = os.path.join(scratch, "quantised.onnx")
        if name == "net":
            onnx.save(net(), self.graph)
            rng = np.random.default_rng(1)
            feeds = [{"input": rng.normal(size=(1, 3, 16, 16)).astype(np.float32)} for _ in range(9)]
        else:
            source = next(m for m in real_models.MODELS + real_models.HELD_OUT if m.name == name)
            path = real_models.fetch(source, cache)
            if path is None:
                raise FileNotFoundError("the package index cannot be reached for real models")
            shutil.copy(path, self.graph)
            feeds = [real_models.show(source, seed) for seed in range(5)]
        wanted = {i.name for i in real_runs.session(self.graph).get_inputs()}
        self.inputs, *others = [{k: v for k, v in feed.items() if k in wanted} for feed in feeds]
        quantization.quantize_static(self.graph, self.quantised, Feeds(others), **KINDS[kind])
        self.model = onnx.load(self.quantised)
        self.golden = {"nodes": real_runs.run(onnx.load(self.graph), self.inputs), "helper": self.by_helper(self.graph)}
        self.sound = {"nodes": real_runs.run(self.model, self.inputs), "helper": self.by_helper(self.quantised)}
        self.paths = {kind: self.save("golden", kind, tensors) for kind, tensors in self.golden.items()}

    def by_helper(self, path):
        watched = os.path.join(self.scratch, "watched.onnx")
        qdq_loss_debug.modify_model_output_intermediate_tensors(path, watched)
        return {k: v[0] for k, v in qdq_loss_debug.collect_activations(watched, Feeds([self.inputs])).items()}

    def save(self, what, kind, tensors):
        path = os.path.join(self.scratch, f"{what}.{kind}.npz")
        np.savez(path, **tensors)
        return path

    def form(self, name):
        """What the quantised model computes with in place of a tensor."""
        return name + DEQUANTISED if name + DEQUANTISED in self.sound["nodes"] else name


def constant(model, name):
    return numpy_helper.to_array(next(t for t in model.graph.initializer if t.name == name))


def put(model, name, array):
    model.graph.initializer.append(numpy_helper.from_array(array, name))
    return name


def faults(case, name):
    """By name: the model with one wrong thing, for one tensor whose codes are numbers again at `name`."""
    def changed():
        model = onnx.ModelProto()
        model.CopyFrom(case.model)
        makers = {o: node for node in model.graph.node for o in node.output}
        again = makers[case.form(name)]
        codes = makers[again.input[0]]
        return model, again, codes, makers.get(codes.input[0])

    def scale(times):
        model, again, _, _ = changed()
        again.input[1] = put(model, "wrong", constant(model, again.input[1]) * np.float32(times))
        return model

    def zero_point():
        model, again, _, _ = changed()
        zero = constant(model, again.input[2])
        step = (np.iinfo(zero.dtype).max - np.iinfo(zero.dtype).min) // 12
        again.input[2] = put(model, "wrong", (zero - step if zero > 0 else zero + step).astype(zero.dtype))
        return model

    def clipped():
        model, again, codes, _ = changed()
        wrong = put(model, "wrong", constant(model, again.input[1]) * np.float32(0.3))
        again.input[1] = codes.input[1] = wrong
        return model

    def no_relu():
        # The clip that stood for it does not happen where codes have room for negative numbers.
        model, again, codes, maker = changed()
        zero = constant(model, again.input[2])
        least, most = np.iinfo(zero.dtype).min, np.iinfo(zero.dtype).max
        if maker is None or maker.op_type not in ("Conv", "Gemm") or zero != least:
            return None
        again.input[1] = codes.input[1] = put(model, "wrong", constant(model, again.input[1]) * np.float32(2))
        middle = np.array(least + (most - least + 1) // 2, zero.dtype)
        again.input[2] = codes.input[2] = put(model, "middle", middle)
        return model

    def weight(change):
        model, _, _, maker = changed()
        if maker is None or maker.op_type not in ("Conv", "Gemm", "MatMul") or len(maker.input) < 2:
            return None
        makers = {o: node for node in model.graph.node for o in node.output}
        again = makers.get(maker.input[1])
        known = {t.name for t in model.graph.initializer}
        if again is None or again.op_type != "DequantizeLinear" or not known.issuperset(again.input):
            return None
        change(model, again, 0 if maker.op_type == "Conv" else -1)
        return model

    def dead_channel(model, again, axis):
        codes = np.moveaxis(constant(model, again.input[0]).copy(), axis, 0)
        sizes = [np.abs(c.astype(np.float64)).sum() for c in codes]
        zero = constant(model, again.input[2]).ravel() if len(again.input) > 2 else np.zeros(1, codes.dtype)
        at = int(np.argmax(sizes))
        codes[at] = zero[at if len(zero) > 1 else 0]
        again.input[0] = put(model, "wrong", np.ascontiguousarray(np.moveaxis(codes, 0, axis)))

    def weight_scale(model, again, _):
        again.input[1] = put(model, "wrong", constant(model, again.input[1]) * np.float32(1.5))

    return {"scale 1.5": lambda: scale(1.5), "scale 0.5": lambda: scale(0.5), "zero point": zero_point,
            "clipped": clipped, "no ReLU": no_relu, "dead channel": lambda: weight(dead_channel),
            "weight's scale": lambda: weight(weight_scale)}


WAYS = {"its model": lambda case: ["--graph", case.quantised],
        "both models": lambda case: ["--graph", case.graph, "--actual-graph", case.quantised],
        "float model": lambda case: ["--graph", case.graph],
        "no model": lambda case: []}


def verdict(tool, case, kind, path, way):
    command = [tool, "layers", "--json", "--no-hints", *WAYS[way](case), path, case.paths[kind]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    report = json.loads(done.stdout)
    return {"kind": "trouble", "layer": None, "words": done.stderr} if "error" in report else report["verdict"]


def judge_case(options, case, tally):
    def show(what, found):
        if options.show:
            print(f"  {case.name}: {what}: {found['kind']} {found['layer']}: {found['words'][:160]}")

    for kind, tensors in case.sound.items():
        path = case.save("sound", kind, tensors)
        for way in WAYS:
            found = verdict(options.tool, case, kind, path, way)
            tally[way, "healthy"] += 1
            # An output that quantisation ruins is what drift says.
            fine = found["kind"] in ("clean", "drift")
            tally[way, "clean"] += fine
            tally[way, "cannot tell"] += found["kind"] == "cannot-tell"
            if not fine:
                show(f"{kind}, {way}, healthy", found)
    sites = [n for n, a in case.golden["nodes"].items()
             if n + DEQUANTISED in case.sound["nodes"] and n in {o for node in case.model.graph.node for o in node.output}
             and a.size >= 64 and np.ptp(a) > 0]
    for name in [sites[i] for i in np.linspace(0, len(sites) - 1, min(options.sites, len(sites))).astype(int)]:
        for fault, make in faults(case, name).items():
            model = make()
            if model is None:
                continue
            run = real_runs.run(model, case.inputs)
            form = case.form(name)
            size = relative(run[form], case.sound["nodes"][form])
            if size < max(0.05, 4 * relative(case.sound["nodes"][form], case.golden["nodes"][name])):
                continue
            onnx.save(model, os.path.join(case.scratch, "fault.onnx"))
            dumps = {"nodes": run, "helper": case.by_helper(os.path.join(case.scratch, "fault.onnx"))}
            for kind, tensors in dumps.items():
                path = case.save("fault", kind, tensors)
                for way in WAYS:
                    # The helper's names are in no order.
                    if way == "no model" and kind == "helper":
                        continue
                    found = verdict(options.tool, case, kind, path, way)
                    right = found["kind"] == "broke" and found["layer"] == name
                    tally[way, "faults"] += 1
                    tally[way, "right"] += right
                    if not right:
                        show(f"{kind}, {way}, '{fault}' at {name} ({size:.0%})", found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--sites", type=int, default=4)
    parser.add_argument("--cache", default=os.path.join(tempfile.gettempdir(), "btftool-real-models"))
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    onnxruntime.set_default_logger_severity(4)
    if options.fast:
        options.models, options.sites, options.show = "net", 3, True
    everything = collections.Counter()
    ways = list(WAYS)
    print("| model, codes | " + " | ".join(f"{w}: healthy, faults" for w in ways) + " |\n|" + " --- |" * (len(ways) + 1))

    def line(name, tally):
        cells = [f"{tally[w, 'clean']} of {tally[w, 'healthy']}, {tally[w, 'right']} of {tally[w, 'faults']}" for w in ways]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)

    for name in options.models.split(","):
        for kind in options.kinds.split(","):
            tally = collections.Counter()
            with tempfile.TemporaryDirectory() as scratch:
                try:
                    case = Case(name, kind, options.cache, scratch)
                except FileNotFoundError as missing:
                    print(f"skipped: {missing}")
                    return 0
                except Exception as error:  # a model that ONNX Runtime cannot quantise
                    print(f"  {name}, {kind}: not quantised: {str(error).splitlines()[0][:120]}")
                    continue
                judge_case(options, case, tally)
            line(f"{name}, {kind}", tally)
            everything += tally
    line("all", everything)
    if not options.fast:
        return 0
    t = everything
    fine = all(t[w, "clean"] == t[w, "healthy"] > 0 for w in ways) and all(
        t[w, "right"] >= least * t[w, "faults"] > 0
        for w, least in {"its model": 0.95, "both models": 0.95, "float model": 0.75, "no model": 0.7}.items())
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
