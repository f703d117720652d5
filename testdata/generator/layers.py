"""Dumps of a small residual network, healthy and with one fault each, for `btftool layers`.

Every product and sum is exact in float64 (multiples of a power of two, and few bits), so that the bytes do not depend
on the machine. Golden is rounded to multiples of 2^-12 and stored as float32, all others are rounded to float16 after each
operation.
"""

import numpy as np

from . import npy, npz, onnx

SIZE = 24
BLOCKS = 4


def numbers(count, bits, seed):
    """Pseudo-random multiples of 2^-bits in [-1, 1), by a generator of our own."""
    state, found = seed, []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        found.append((state >> 33) % 2 ** (bits + 1) - 2**bits)
    return np.array(found, np.float64) / 2**bits


def fine(values):
    return np.round(values * 2**12) / 2**12


def half(values):
    return values.astype(np.float16).astype(np.float64)


def weights_of():
    return [half(numbers(SIZE * SIZE, 5, 7 + i).reshape(SIZE, SIZE) / 4) for i in range(2 * BLOCKS)]


def run(rounded, fault=None, at=None):
    """Tensors by name in the order of execution. `fault` changes what layer `at` computes."""
    found = {}

    def keep(name, values):
        values = rounded(values)
        if name == at:
            values = rounded(fault(values.copy()))
        found[name] = values
        return values

    weights = weights_of()
    x = keep("input", numbers(SIZE * SIZE, 8, 3).reshape(1, SIZE, SIZE))
    for i in range(BLOCKS):
        y = keep(f"/block{i}/fc1/MatMul_output_0", x @ weights[2 * i])
        y = keep(f"/block{i}/relu/Relu_output_0", np.maximum(y, 0))
        y = keep(f"/block{i}/fc2/MatMul_output_0", y @ weights[2 * i + 1])
        x = keep(f"/block{i}/Add_output_0", x + y)
    keep("output", np.maximum(x, 0))
    return found


def dead_channel(values):
    values[..., 5] = 0
    return values


def born(values):
    values[0, 3, 4] = np.nan
    return values


def graph(with_weights=False, beside=None):
    """`beside`: the file of the weights, which are not in the model then."""
    nodes, x = [], "input"
    for i in range(BLOCKS):
        names = [f"/block{i}/{part}_output_0" for part in ("fc1/MatMul", "relu/Relu", "fc2/MatMul", "Add")]
        nodes += [
            onnx.node("MatMul", [x, f"block{i}.fc1.weight"], [names[0]], f"/block{i}/fc1/MatMul"),
            onnx.node("Relu", [names[0]], [names[1]], f"/block{i}/relu/Relu"),
            onnx.node("MatMul", [names[1], f"block{i}.fc2.weight"], [names[2]], f"/block{i}/fc2/MatMul"),
            onnx.node("Add", [x, names[2]], [names[3]], f"/block{i}/Add"),
        ]
        x = names[3]
    nodes.append(onnx.node("Relu", [x], ["output"], "/Relu"))
    weights = []
    if with_weights:
        names = [f"block{i}.fc{k}.weight" for i in range(BLOCKS) for k in (1, 2)]
        weights = [onnx.tensor([SIZE, SIZE], 1, onnx.chunk(9, w.astype("<f4").tobytes()), name)
                   for name, w in zip(names, weights_of())]
        if beside:
            bytes_each = 4 * SIZE * SIZE
            weights = [onnx.external([SIZE, SIZE], 1, name, location=beside, offset=number * bytes_each, length=bytes_each)
                       for number, name in enumerate(names)]
    return onnx.model(onnx.graph(weights, nodes=nodes, inputs=["input"], outputs=["output"]))


def saved(tensors, dtype):
    return npz.archive([npz.Member(name + ".npy", npy.saved(values.astype(dtype))) for name, values in tensors.items()])


def hook(name):
    """As torch's hooks call it: a block is called after its last operation."""
    parts = name.strip("/").split("/")
    return ".".join(parts[:-1]) or name


def files():
    at = "/block1/fc2/MatMul_output_0"
    healthy = run(half)
    dump = dict(healthy)
    dump[at] = np.ascontiguousarray(healthy[at].transpose(0, 2, 1))
    missing = run(half, dead_channel, at)
    del missing[at]
    return {
        "golden.npz": saved(run(fine), np.float32),
        "healthy.npz": saved(healthy, np.float16),
        "dead_channel.npz": saved(run(half, dead_channel, at), np.float16),
        "scale.npz": saved(run(half, lambda values: values * 1.0625, at), np.float16),
        "nan.npz": saved(run(half, born, at), np.float16),
        "dump.npz": saved(dump, np.float16),
        "missing.npz": saved(missing, np.float16),
        "inputs.npz": saved(run(half, lambda values: values * 0.5, "input"), np.float16),
        "hooks.npz": saved({hook(name): values for name, values in healthy.items()}, np.float16),
        "model.onnx": graph(),
        "weights.onnx": graph(with_weights=True),
        "external.onnx": graph(with_weights=True, beside="external.bin"),
        "external.bin": b"".join(w.astype("<f4").tobytes() for w in weights_of()),
        "order.txt": "".join(name + "\n" for name in healthy).encode(),
    }
