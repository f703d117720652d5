"""scales.py BTFTOOL: what `fit` says of types with scales, against NumPy and ml_dtypes.

Scales, signal-to-noise ratios, counts of clipped and lost numbers, and what channels gain are computed here from the
arrays; the least sum of squares by trying many scales. Seconds.
"""

import json
import math
import os
import subprocess
import sys
import tempfile

try:
    import ml_dtypes
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError as missing:
    print(f"skipped: {missing}; tests/interop/venv.sh installs what is needed")
    sys.exit(0)

PARTS = {"maximum": 1, "p99.999": 0.99999, "p99.99": 0.9999, "p99.9": 0.999}
INTEGERS = {"int8": (-128, 127), "int4": (-8, 7)}
FLOATS = {"float8_e4m3fn": ml_dtypes.float8_e4m3fn, "float8_e5m2": ml_dtypes.float8_e5m2,
          "float8_e4m3fnuz": ml_dtypes.float8_e4m3fnuz, "float8_e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
          "float8_e3m4": ml_dtypes.float8_e3m4, "float8_e4m3": ml_dtypes.float8_e4m3,
          "float8_e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz, "float4_e2m1fn": ml_dtypes.float4_e2m1fn}
DTYPES = (*INTEGERS, *FLOATS)
checks = 0


def largest_of(dtype):
    return float(INTEGERS[dtype][1] if dtype in INTEGERS else ml_dtypes.finfo(FLOATS[dtype]).max)


def values_of(dtype):
    """All numbers that codes stand for, ascending."""
    if dtype in INTEGERS:
        return np.arange(INTEGERS[dtype][0], INTEGERS[dtype][1] + 1, dtype=np.float64)
    codes = np.arange(256 if dtype != "float4_e2m1fn" else 16, dtype=np.uint8).view(FLOATS[dtype]).astype(np.float64)
    return np.unique(codes[np.isfinite(codes)])


def narrowed(dtype, quotients):
    """The numbers that the nearest codes stand for, and which are beyond the last one."""
    if dtype in INTEGERS:
        whole = np.rint(quotients)
        low, high = INTEGERS[dtype]
        return np.clip(whole, low, high), (whole < low) | (whole > high)
    most = largest_of(dtype)
    values = values_of(dtype)
    # Where rounding goes beyond: half a step above the last number, ties away from it if it is odd.
    step = most - values[-2]
    size = np.abs(quotients)
    even = round(most / step) % 2 == 0
    beyond = size > most + step / 2 if even else size >= most + step / 2
    inside = np.clip(quotients, -most, most)
    return inside.astype(FLOATS[dtype]).astype(np.float64), beyond


def measured(dtype, x, scale):
    """Of a scale, or an array of scales: dB, clipped, lost."""
    x = x.astype(np.float64)
    values, beyond = narrowed(dtype, x / scale)
    error = math.fsum(((values * scale - x) ** 2).ravel())
    signal = math.fsum((x**2).ravel())
    snr = math.inf if error == 0 else 10 * math.log10(signal / error)
    return snr, int(beyond.sum()), int(((values == 0) & (x != 0)).sum())


def scale_of(dtype, largest):
    return float(np.float32(largest / largest_of(dtype))) if largest > 0 else 1.0


def same(what, found, expected, part=1e-9):
    global checks
    checks += 1
    if isinstance(found, str):
        found = float(found)
    if found != expected and not abs(found - expected) <= part * max(1, abs(expected)):
        raise AssertionError(f"{what}: {found}, expected {expected}")


def check_scales(name, dtype, x, tensor):
    sizes = np.sort(np.abs(x[np.isfinite(x)]).astype(np.float64))
    exact = sizes.size <= 4096
    for scale in tensor["scales"]:
        what = f"{name} {dtype} {scale['method']}"
        if scale["method"] in PARTS:
            rank = math.ceil(PARTS[scale["method"]] * sizes.size)
            expected = scale_of(dtype, sizes[rank - 1])
            # Of many numbers the percentile is the end of a bin, a 512th at most above it.
            if exact or scale["method"] == "maximum":
                same(what, scale["scale"], expected, 0)
            elif not expected * (1 - 1e-6) <= scale["scale"] <= expected * (1 + 1 / 500):
                raise AssertionError(f"{what}: {scale['scale']}, expected {expected}")
        snr, clipped, lost = measured(dtype, x[np.isfinite(x)], scale["scale"])
        same(what + " snr", scale["snr"], snr)
        same(what + " clipped", scale["clipped"], clipped)
        same(what + " lost", scale["lost"], lost)
    by = {scale["method"]: float(scale["snr"]) for scale in tensor["scales"]}
    same(f"{name} {dtype} best", by[tensor["best"]], max(by.values()))
    top = scale_of(dtype, sizes[-1])
    steps = range(-8, 160) if dtype in ("int8", "int4", "float8_e4m3fn") and x.size < 10000 else range(0, 64, 4)
    tried = max(measured(dtype, x[np.isfinite(x)], scale)[0]
                for scale in (float(np.float32(top * 2 ** (-step / 16))) for step in steps) if scale > 0)
    # The search does not know that negative codes go one further, which is much of a step of int4.
    if float(by["squares"]) < tried - (1 if dtype == "int4" else 0.1):
        raise AssertionError(f"{name} {dtype}: {by['squares']} dB by least squares, {tried} by trying")


def check_channels(name, dtype, x, tensor, axis):
    channels = tensor["channels"]
    if axis is None:
        same(f"{name}: no channels", channels is None, True)
        return
    moved = np.moveaxis(x, axis, 0).reshape(x.shape[axis], -1)
    maxima = np.abs(moved).max(axis=1).astype(np.float64)
    scales = np.array([scale_of(dtype, m) for m in maxima])
    snr = measured(dtype, moved, scales[:, None])[0]
    what = f"{name} {dtype} channels"
    same(what, channels["axis"], axis)
    same(what, channels["count"], x.shape[axis])
    same(what + " snr", channels["snr"], snr)
    one = float(tensor["scales"][0]["snr"])
    gain = 0 if snr == one else snr - one
    same(what + " gain", channels["gain"], gain)
    highest = int(maxima.argmax())
    others = np.delete(maxima, highest).max()
    apart = np.full(len(maxima), scale_of(dtype, others))
    apart[highest] = scales[highest]
    by_one = measured(dtype, moved, apart[:, None])[0] if others > 0 else -math.inf
    blamed = others > 0 and maxima[highest] >= 1.4 * others and gain >= 3 and by_one - one >= gain / 2
    same(what + " outlier", channels["outlier"] is not None, blamed)
    if blamed:
        found = channels["outlier"]
        same(what + " outlier", found["channel"], highest)
        same(what + " outlier", found["largest"], maxima[highest], 0)
        same(what + " outlier", found["median"], np.sort(maxima)[len(maxima) // 2], 0)
        same(what + " outlier", found["snr"], by_one)
    return blamed


def check_state(name, dtype, x, tensor):
    odd = x.size - np.isfinite(x).sum()
    same(f"{name} elements", tensor["elements"], x.size)
    same(f"{name} nan", tensor["nan"], int(np.isnan(x).sum()))
    same(f"{name} inf", tensor["inf"], int(np.isinf(x).sum()))
    same(f"{name} zeros", tensor["zeros"], int((x == 0).sum()))
    nonzero = int((np.isfinite(x) & (x != 0)).sum())
    if nonzero == 0:
        expected = "nonfinite" if odd else "nothing"
    else:
        best = next(s for s in tensor["scales"] if s["method"] == tensor["best"])
        poor = float(best["snr"]) < 20 or best["lost"] > nonzero / 2
        expected = "nonfinite" if odd else "poor" if poor else "held"
    if tensor["state"] != expected:
        raise AssertionError(f"{name} {dtype}: {tensor['state']}, expected {expected}")
    return expected in ("held", "nothing")


def tensors(rng):
    """Name to array and the axis of its channels."""
    outlier = rng.normal(size=(2, 6, 7, 5))
    outlier[:, 4] *= 300
    uneven = rng.normal(size=(2, 8, 33)) * 10.0 ** np.arange(-3, 1, 0.5)[None, :, None]
    masked = rng.normal(size=(3, 40))
    masked[1, 5], masked[2, 7], masked[0, 0] = np.nan, np.inf, -np.inf
    sparse = np.where(rng.random((4, 3, 50)) < 0.99, 0, rng.normal(size=(4, 3, 50)))
    relu = np.maximum(rng.normal(size=(1, 4, 41, 40)), 0)
    return {name: (np.asarray(x, dtype=np.float32), axis) for name, (x, axis) in {
        "normal": (rng.normal(size=(1, 3, 29, 70)), 1),
        "tails": (rng.standard_t(2, size=(2, 5, 30, 31)), 1),
        "rare": (np.where(rng.random((1, 2, 100, 99)) < 1e-3, 1000, 1) * rng.normal(size=(1, 2, 100, 99)), 1),
        "few": (rng.normal(size=37), None),
        "outlier": (outlier, 1),
        "uneven": (uneven, 1),
        "logits": (rng.normal(size=(1, 1000)), None),
        "matrix": (rng.normal(size=(40, 9)), 1),
        "constant": (np.full((2, 3, 8), 0.3), 1),
        "one": (-2.5, None),
        "zeros": (np.zeros((2, 3, 9)), 1),
        "empty": (np.zeros((0, 3)), None),
        "masked": (masked, None),
        "nan": (np.full(5, np.nan), None),
        "sparse": (sparse, 1),
        "relu": (relu, 1),
        "tiny": (rng.normal(size=(2, 2, 20)) * 1e-39, 1),
        "huge": (rng.normal(size=(2, 2, 20)) * 1e37, 1),
        "steps": (np.arange(-512, 512).reshape(2, 2, 256) / 4, 1),
    }.items()}


def report(tool, *words):
    done = subprocess.run([tool, "fit", "--json", *words], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise AssertionError(f"{words}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout), done.returncode


def check_dumps(tool, folder):
    made = tensors(np.random.default_rng(3))
    path = os.path.join(folder, "golden.npz")
    np.savez(path, **{name: x for name, (x, _) in made.items()})
    found, code = report(tool, "--dtype", ",".join(DTYPES), path)
    blamed, fits = 0, True
    for dtype, of_type in zip(DTYPES, found["scaled"]):
        same("types", of_type["dtype"] == dtype, True)
        for tensor in of_type["tensors"]:
            x, axis = made[tensor["name"]]
            fits &= check_state(tensor["name"], dtype, x, tensor)
            if not np.any(np.isfinite(x) & (x != 0)):
                same(tensor["name"], tensor["scales"] == [] and tensor["best"] is None, True)
                continue
            check_scales(tensor["name"], dtype, x, tensor)
            if np.isfinite(x).all():
                blamed += bool(check_channels(tensor["name"], dtype, x, tensor, axis))
    same("fits", found["fits"], fits)
    same("exit", code, 0 if fits else 1)
    if blamed == 0:
        raise AssertionError("no outlier was found")


def check_union(tool, folder):
    """Two dumps, the second of other heights: as one tensor that has the numbers of both."""
    rng = np.random.default_rng(4)
    parts = [rng.normal(size=(1, 5, 30, 20)), 3 * rng.normal(size=(1, 5, 60, 20))]
    parts = [p.astype(np.float32) for p in parts]
    paths = [os.path.join(folder, f"{i}.npz") for i in (1, 2)]
    for path, part in zip(paths, parts):
        np.savez(path, x=part)
    both = np.concatenate(parts, axis=2)
    for dtype, of_type in zip(("int8", "float8_e4m3fn"), report(tool, "--dtype=int8,fp8", *paths)[0]["scaled"]):
        check_scales("both", dtype, both, of_type["tensors"][0])
        check_channels("both", dtype, both, of_type["tensors"][0], 1)


def saved(folder, nodes, weights, inputs, outputs, values):
    """A model and a dump of these values: their paths."""
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in inputs],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs],
        [numpy_helper.from_array(np.asarray(w, dtype=np.float32), n) for n, w in weights.items()])
    model = os.path.join(folder, "net.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), model)
    dump = os.path.join(folder, "net.npz")
    np.savez(dump, **{n: np.asarray(v, dtype=np.float32) for n, v in values.items()})
    return ["--graph", model, dump]


def check_axes(tool, folder):
    """Weights have the channels of the results, by the operator that reads them."""
    rng = np.random.default_rng(5)
    node = helper.make_node
    weights = {"conv.w": rng.normal(size=(6, 3, 3, 3)), "up.w": rng.normal(size=(6, 4, 2, 2)),
               "gemm.w": rng.normal(size=(9, 20)), "turned.w": rng.normal(size=(20, 9)),
               "matmul.w": rng.normal(size=(20, 9)), "scale": rng.normal(size=(9, 20))}
    nodes = [node("Conv", ["image", "conv.w"], ["features"], "conv"),
             node("ConvTranspose", ["features", "up.w"], ["wider"], "up"),
             node("Gemm", ["rows", "gemm.w"], ["a"], "gemm", transB=1), node("Gemm", ["rows", "turned.w"], ["b"], "turned"),
             node("MatMul", ["words", "matmul.w"], ["c"], "matmul"), node("Mul", ["rows", "scale"], ["d"], "mul")]
    values = {"image": rng.normal(size=(1, 3, 9, 9)), "features": rng.normal(size=(1, 6, 7, 7)),
              "rows": rng.normal(size=(9, 20)), "words": rng.normal(size=(2, 9, 20)), "c": rng.normal(size=(2, 9, 9))}
    words = saved(folder, nodes, weights, ["image", "rows", "words"], ["wider", "a", "b", "c", "d"], values)
    axes = {"conv.w": 0, "up.w": 1, "gemm.w": 0, "turned.w": 1, "matmul.w": 1, "scale": None, "image": 1, "features": 1,
            "rows": 1, "words": 2, "c": 2}
    found = report(tool, "--dtype=int8", *words)[0]["scaled"][0]["tensors"]
    same("tensors", sorted(t["name"] for t in found) == sorted(axes), True)
    for tensor in found:
        x = np.asarray({**weights, **values}[tensor["name"]], dtype=np.float32)
        same(tensor["name"] + " weight", tensor["weight"], tensor["name"] in weights)
        check_scales(tensor["name"], "int8", x, tensor)
        check_channels(tensor["name"], "int8", x, tensor, axes[tensor["name"]])


def check_layers(tool, folder):
    """What a layer in a narrow type does to the output, against the network run with that layer so."""
    rng = np.random.default_rng(6)
    weights = {f"w{i}": rng.normal(size=(64, 64)) / 8 for i in range(4)}
    weights["w2"][:, 3] *= 6  # a channel that is larger, and taken back
    weights["w3"][3] /= 6
    names = [f"l{i}" for i in range(4)]
    nodes = [helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"y{i}"], names[i]) for i in range(4)]
    nodes += [helper.make_node("Tanh" if i == 0 else "Relu", [f"y{i}"], [f"x{i + 1}"], f"f{i}") for i in range(3)]
    nodes.sort(key=lambda n: (int(n.name[1:]), n.name[0] == "f"))
    steps = {n.name: n for n in nodes}

    def run(x, narrow, values=None):
        held = {"x0": x, **weights}
        for name, step in steps.items():
            def read(tensor, name=name):
                return rounded(tensor, held[tensor]) if name in narrow else held[tensor]
            inputs = [read(t) for t in step.input]
            made = inputs[0] @ inputs[1] if step.op_type == "MatMul" else (
                np.tanh(inputs[0]) if step.op_type == "Tanh" else np.maximum(inputs[0], 0))
            out = step.output[0]
            held[out] = rounded(out, made) if name in narrow else made
        if values is not None:
            values.update({k: v for k, v in held.items() if k not in weights})
        return held["y3"]

    x = rng.normal(size=(50, 64))
    values = {}
    exact = run(x, (), values)
    words = saved(folder, nodes, weights, ["x0"], ["y3"], values)
    for dtype in ("int8", "float8_e4m3fn"):
        found = report(tool, "--dtype", dtype, *words)[0]["scaled"][0]
        scales = {t["name"]: t for t in found["tensors"]}

        def rounded(name, x, dtype=dtype, scales=scales):
            tensor = scales[name]
            scale = next(s["scale"] for s in tensor["scales"] if s["method"] == tensor["best"])
            if tensor["weight"] and tensor["channels"] and tensor["channels"]["snr"] > max(s["snr"] for s in tensor["scales"]):
                scale = np.array([scale_of(dtype, m) for m in np.abs(np.float32(x)).max(axis=0)])
            return narrowed(dtype, x / scale)[0] * scale

        size = math.sqrt(np.mean(exact**2))
        errors = {n: math.sqrt(np.mean((run(x, (n,)) - exact) ** 2)) / size for n in steps}
        estimates = {layer["name"]: layer["error"] for layer in found["layers"]}
        same(dtype + " layers", sorted(estimates) == sorted(errors), True)
        for name, error in errors.items():
            within(f"{dtype} {name}", estimates[name], error, 4)
        everything = math.sqrt(np.mean((run(x, tuple(steps)) - exact) ** 2)) / size
        within(f"{dtype} all", found["outputs"][0]["error"], everything, 4)
        ordered = [layer["error"] for layer in found["layers"]]
        same(dtype + " order", ordered == sorted(ordered, reverse=True), True)
        same(dtype + " shares", sum(layer["share"] for layer in found["layers"]), 1)


def within(what, found, expected, factor):
    global checks
    checks += 1
    if not expected / factor <= found <= expected * factor:
        raise AssertionError(f"{what}: an estimate of {found}, and it is {expected}")


def check_far(tool, folder):
    """Doubles beyond what float32 scales reach are not held, and nothing of them is said to be exact."""
    path = os.path.join(folder, "far.npz")
    np.savez(path, large=np.array([1e300, 1, 2]), small=np.array([1e-300, 2e-300]))
    found, code = report(tool, "--dtype=int8,fp8", path)
    same("far exit", code, 1)
    for of_type in found["scaled"]:
        for tensor in of_type["tensors"]:
            same("far state", tensor["state"] == "poor", True)
            same("far snr", all(scale["snr"] == "-inf" for scale in tensor["scales"]), True)


def check_emit(tool, folder):
    """Every tensor that has one, with its best scale."""
    path, out = os.path.join(folder, "golden.npz"), os.path.join(folder, "scales.json")
    subprocess.run([tool, "-q", "fit", "--dtype=int8", path, "--emit", "scales", out], check=False, capture_output=True)
    with open(out, encoding="utf-8") as file:
        written = json.load(file)
    expected = {t["name"]: next(s["scale"] for s in t["scales"] if s["method"] == t["best"])
                for t in report(tool, "--dtype=int8", path)[0]["scaled"][0]["tensors"] if t["scales"]}
    same("scales", written == expected, True)


def check_scale_option(tool, folder):
    """The scale that is said, given to `convert`, counts the same numbers."""
    path, out = os.path.join(folder, "golden.npz"), os.path.join(folder, "codes.btf")
    for dtype in ("int8", "fp8"):
        for tensor in report(tool, "--dtype", dtype, path)[0]["scaled"][0]["tensors"]:
            for scale in tensor["scales"][::2] if tensor["name"] in ("tails", "rare", "steps") else ():
                done = subprocess.run([tool, "convert", "--json", "--tensor", tensor["name"], "--dtype", dtype, "--scale",
                                       repr(scale["scale"]), "--min-snr", "0dB", path, out],
                                      capture_output=True, text=True, check=False)
                said = json.loads(done.stdout)["tensors"][0]["loss"]
                what = f"{tensor['name']} {dtype} {scale['method']} by convert"
                same(what, said["snr"], scale["snr"])
                same(what, said["overflowed"], scale["clipped"])
                same(what, said["to_zero"], scale["lost"])


def main():
    tool = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        check_dumps(tool, folder)
        check_union(tool, folder)
        check_scale_option(tool, folder)
        check_axes(tool, folder)
        check_layers(tool, folder)
        check_emit(tool, folder)
        check_far(tool, folder)
    print(f"{checks} figures of scales as NumPy has them")


if __name__ == "__main__":
    main()
