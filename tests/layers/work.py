"""work.py BTFTOOL: what `layers --graph` and `fit --graph` may take to compute has a bound for the whole run.

Small models that ask for much: windows as large as the tensor, sums up to each element, means of everything, hundreds
of layers. The work is counted, in terms, as parts say it of each layer; no time is measured. What was left out is said,
and is the same on any number of threads and out of parts.
"""

import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper
except ImportError as missing:
    print(f"skipped: {missing}; tests/interop/venv.sh installs what is needed")
    sys.exit(0)

BTFTOOL = os.path.abspath(sys.argv[1])
OF_LAYER, OF_RUN, LEAST = 2**22, 2**27, 2**16
USED_UP = "the work that a run may take to recompute elements was used up"
failures = []


def check(what, holds, found=""):
    if not holds:
        failures.append(what)
        print(f"FAILED {what}: {found}")


def run(*words):
    return subprocess.run([BTFTOOL, *words], capture_output=True, text=True, timeout=300)


def write(name, nodes, weights, values):
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, values["x"].shape)],
                              [helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, None)], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    with open(f"{name}.onnx", "wb") as file:
        file.write(model)
    np.savez(f"{name}.golden.npz", **values)
    some = np.random.default_rng(1)
    np.savez(f"{name}.actual.npz", **{key: (v * (1 + .3 * some.standard_normal(v.shape))).astype(np.float32)
                                      for key, v in values.items()})
    return len(model)


def models():
    """Name, nodes, weights, values."""
    some = np.random.default_rng(0)
    image = some.standard_normal((1, 1, 1024, 1024)).astype(np.float32)
    pooled = some.standard_normal((1, 1, 512, 512)).astype(np.float32)
    yield ("windows", [helper.make_node("MaxPool", ["x"], [f"y{i}"], kernel_shape=[513, 513]) for i in range(8)], [],
           {"x": image, **{f"y{i}": pooled for i in range(8)}})
    line = some.standard_normal(2**19).astype(np.float32)
    yield ("cumsum", [helper.make_node("CumSum", ["x", "axis"], [f"y{i}"]) for i in range(8)],
           [numpy_helper.from_array(np.int64(0), "axis")], {"x": line, **{f"y{i}": np.cumsum(line) for i in range(8)}})
    square = some.standard_normal((512, 512)).astype(np.float32)
    chain = []
    for i in range(12):
        chain += [helper.make_node("ReduceMean", [f"y{i - 1}" if i else "x"], [f"m{i}"], axes=[1]),
                  helper.make_node("Sub", [f"y{i - 1}" if i else "x", f"m{i}"], [f"y{i}"])]
    yield "chain", chain, [], {"x": square, "y11": square}
    yield ("layers", [helper.make_node("ReduceSum", ["x"], [f"y{i}"], keepdims=0) for i in range(700)], [],
           {"x": square, **{f"y{i}": np.float32(square.sum()) for i in range(700)}})


def used_up(report):
    return [layer["golden"] for layer in report["pairs"] if layer["spot"] and layer["spot"]["why"] == USED_UP]


def check_model(name, nodes, weights, values):
    size = write(name, nodes, weights, values)
    words = ["--graph", f"{name}.onnx", f"{name}.actual.npz", f"{name}.golden.npz"]
    whole = run("layers", "--json", "-j", "1", *words)
    check(f"{name}: ends", whole.returncode in (0, 1), whole.stderr)
    report = json.loads(whole.stdout)
    left_out = used_up(report)
    print(f"{name}: {size} bytes, {len(values)} tensors, {len(left_out)} left out")
    parts = []
    terms = 0
    for shard in (1, 2):
        part = f"{name}.{shard}.jsonl"
        done = run("layers", "--shard", f"{shard}/2", "--part", part, *words)
        check(f"{name}: shard {shard}", done.returncode == 0, done.stderr)
        parts.append(part)
        with open(part) as file:
            for line in file:
                found = json.loads(line).get("check")
                if found:
                    check(f"{name}: terms of a layer", found["terms"] <= OF_LAYER, found["terms"])
                    terms += found["terms"]
    check(f"{name}: terms of the shards", terms <= 2 * (OF_RUN + LEAST * len(values)), terms)
    merged = run("merge", "--json", *parts)
    check(f"{name}: parts say the same", merged.stdout == whole.stdout, merged.stderr)
    if name != "layers":
        return
    check("what is left out", left_out, report["pairs"][1]["spot"])
    check("threads", run("layers", "--json", "-j", "4", *words).stdout == whole.stdout)
    text = " ".join(run("layers", *words).stdout.split())
    check("said in the line trust", USED_UP in text.partition("trust")[2], text)


FIT_OF_RUN, FIT_PER_NUMBER = 2**30, 16
FIT_USED_UP = "the work that a run may take to measure layers was used up"


def check_fit():
    """Layers that are counted beyond the bound are not judged, and are the same ones out of parts and on any number of threads."""
    x = np.random.default_rng(0).standard_normal(2**20).astype(np.float32)
    write("fit", [helper.make_node("LogSoftmax", ["x"], [f"y{i}"]) for i in range(60)], [],
          {"x": x})
    words = ["--graph", "fit.onnx", "fit.golden.npz"]
    whole = run("fit", "--json", "--all", "-j", "1", *words)
    check("fit: ends", whole.returncode in (0, 1), whole.stderr)
    layers = json.loads(whole.stdout)["types"][0]["layers"]
    out = [layer["name"] for layer in layers if layer["why"] == FIT_USED_UP]
    print(f"fit: {len(layers)} layers, {len(out)} left out")
    check("fit: some are left out, and they are the last", 0 < len(out) < 50 and out == [layer["name"] for layer in layers][-len(out):], out)
    check("fit: threads", run("fit", "--json", "--all", "-j", "3", *words).stdout == whole.stdout)
    parts, work = [], 0
    for shard in (1, 2):
        parts.append(f"fit.{shard}.jsonl")
        done = run("fit", "--shard", f"{shard}/2", "--part", parts[-1], *words)
        check(f"fit: shard {shard}", done.returncode == 0, done.stderr)
        with open(parts[-1]) as file:
            work += sum(of_type["layer"]["work"] for line in file for one in json.loads(line).get("runs", [])
                        for of_type in one["types"] if "layer" in of_type)
    check("fit: work of the shards", FIT_OF_RUN < work <= 2 * (FIT_OF_RUN + (FIT_PER_NUMBER + 64) * x.size), work)
    merged = run("merge", "--json", "--all", *parts)
    check("fit: parts say the same", merged.stdout == whole.stdout, merged.stderr)


def check_bombs():
    """What took minutes: the taps of a transposed convolution that fall between its inputs, products of recurrent layers,
    elements of a line that may change places, values that each result has to be tried with. Seconds are enough."""
    some = np.random.default_rng(0)
    small = some.standard_normal((1, 1, 2, 2)).astype(np.float32)
    line = np.sort(some.standard_normal(2**18).astype(np.float32) * np.float32(1e-4) + 1)[::-1].copy()
    hidden, steps = 256, 512
    weights = {"w": some.standard_normal((1, 4 * hidden, 1)).astype(np.float32) * np.float32(.1),
               "r": some.standard_normal((1, 4 * hidden, hidden)).astype(np.float32) * np.float32(.1)}
    states = some.standard_normal((steps, 1, 1, hidden)).astype(np.float32)
    many = {f"v{i}": line[:4096] for i in range(700)}
    for name, nodes, stored, values in (
        ("taps", [helper.make_node("ConvTranspose", ["x", "w"], ["y"], strides=[2047, 2047])], {"w": np.ones((1, 1, 2048, 2048), np.float32)},
         {"x": small, "y": np.ones((1, 1, 4095, 4095), np.float32)}),
        ("recurrent", [helper.make_node("LSTM", ["x", "w", "r"], [f"y{i}"], hidden_size=hidden) for i in range(24)], weights,
         {"x": some.standard_normal((steps, 1, 1)).astype(np.float32), **{f"y{i}": states for i in range(24)}}),
        ("places", [helper.make_node("TopK", ["x", "k"], [f"y{i}", f"i{i}"]) for i in range(12)], {"k": np.array([2**18])},
         {"x": line, **{f"i{i}": np.arange(2**18) for i in range(12)}}),
        ("operands", [helper.make_node("Sum", list(many), ["y"])], {}, {"x": line[:4], **many, "y": line[:4096]}),
    ):
        write(name, nodes, [numpy_helper.from_array(array, key) for key, array in stored.items()], values)
        dumps = [f"{name}.actual.npz", f"{name}.golden.npz"]
        for words in (["layers", "--json", "--no-hints", "--graph", f"{name}.onnx", *dumps], ["fit", "--json", "--graph", f"{name}.onnx", dumps[1]]):
            before = os.times()
            done = run(*words)
            took = sum(os.times()[2:4]) - sum(before[2:4])
            check(f"{name}: {words[0]} ends", done.returncode in (0, 1) or (words[0] == "fit" and "no layer can be judged" in done.stderr), done.stderr)
            # Far more than it takes, since the machine may be busy, and far less than it took.
            check(f"{name}: {words[0]} takes seconds", took < 25, f"{took:.1f} s")
            print(f"{name}: {words[0]} {took:.1f} s")


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    for model in models():
        check_model(*model)
    check_fit()
    check_bombs()
print("FAILED" if failures else "ok")
sys.exit(1 if failures else 0)
