"""work.py BTFTOOL: what `layers --graph` may take to recompute elements has a bound for the whole run.

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


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    for model in models():
        check_model(*model)
print("FAILED" if failures else "ok")
sys.exit(1 if failures else 0)
