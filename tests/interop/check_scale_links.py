"""check_scale_links.py BTFTOOL [COUNT [SEED]]: which scale belongs to which codes, whatever the order of tensors, against NumPy.

Needs onnx and NumPy, and for its last part onnxruntime; says "skipped" where they are missing. Networks are put together here with opaque or misleading names,
and files of tensors where names say it or nothing does; the last part is what onnxruntime's quantisers write.
"""

import os
import random
import sys
import tempfile

from harness import Exchange
from tool import Tool

try:
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper
except ImportError:
    print("skipped: no onnx (pip install onnx==1.23.2)")
    sys.exit(0)

FLOAT = onnx.TensorProto.FLOAT
MS = "com.microsoft"


class Network:
    """Nodes and initializers, and what each of these stands for."""

    def __init__(self, rng):
        self.rng, self.nodes, self.held, self.numbers, self.kept = rng, [], {}, {}, set()
        self.values = 0

    def name(self):
        self.values += 1
        return f"v{self.values}"

    def add(self, array, name=None):
        name = name or self.name()
        self.held[name] = array
        return name

    def node(self, operator, inputs, outputs=1, **attributes):
        made = [self.name() for _ in range(outputs)]
        domain = MS if operator in ("QGemm", "MatMulIntegerToFloat", "DynamicQuantizeMatMul", "QLinearAdd") else ""
        self.nodes.append(helper.make_node(operator, inputs, made, domain=domain, **attributes))
        return made[0] if outputs == 1 else made

    def codes(self, dims, axis=None, block=0, zero=True, names=None):
        """Codes, scales and zero points as initializers; their names."""
        rng = self.rng
        dtype = rng.choice((np.int8, np.uint8))
        held = np.frombuffer(rng.randbytes(int(np.prod(dims))), dtype).reshape(dims)
        shape, count = (), 1
        if axis is not None:
            count = dims[axis] if not block else -(-dims[axis] // block)
            shape = (count,) if not block else tuple(count if d == axis else n for d, n in enumerate(dims))
        scale = np.array([rng.uniform(0.001, 2) for _ in range(int(np.prod(shape)))], np.float32).reshape(shape)
        point = np.array([rng.randrange(np.iinfo(dtype).min, np.iinfo(dtype).max + 1) for _ in range(int(np.prod(shape)))], dtype).reshape(shape)
        if not zero:
            point = np.zeros_like(point)
        by, shift = scale.astype(np.float64), point.astype(np.float64)
        if axis is not None and not block:
            around = tuple(-1 if d == axis % len(dims) else 1 for d in range(len(dims)))
            by, shift = by.reshape(around), shift.reshape(around)
        if block:
            by, shift = (np.take(np.repeat(x, block, axis), range(dims[axis]), axis) for x in (by, shift))
        code, scales, points = (self.add(array, name) for array, name in zip((held, scale, point), names or (None,) * 3))
        self.numbers[code] = (held.astype(np.float64) - shift) * by
        return code, scales, points

    def dequantize(self):
        dims = (self.rng.randrange(2, 5), self.rng.randrange(2, 5))
        axis, block = self.rng.choice(((None, 0), (0, 0), (1, 0), (1, 2)))
        said = {} if axis is None else {"axis": self.rng.choice((axis, axis - 2))}
        self.node("DequantizeLinear", self.codes(dims, axis, block), **said, **({"block_size": block} if block else {}))

    def activation(self):
        """Quantised as it comes: its scale and zero point are initializers and no one's codes."""
        scale, zero = self.add(np.float32(self.rng.uniform(0.001, 2))), self.add(np.int8(self.rng.randrange(-128, 128)))
        self.kept |= {scale, zero}
        return self.node("QuantizeLinear", ["x", scale, zero]), scale, zero

    def qlinear(self):
        n = self.rng.randrange(2, 5)
        to = self.add(np.float32(0.5)), self.add(np.int8(3))
        self.kept |= set(to)
        if self.rng.random() < 0.5:
            self.node("QLinearMatMul", [*self.activation(), *self.codes((n, n), self.rng.choice((None, 1))), *to])
        else:
            self.node("QLinearConv", [*self.activation(), *self.codes((n, 1, n, n), self.rng.choice((None, 0))), *to])

    def gemm(self):
        n, turned = self.rng.randrange(2, 5), self.rng.randrange(2)
        self.node("QGemm", [*self.activation(), *self.codes((n, n), self.rng.choice((None, 1 - turned)))], transB=turned)

    def contrib(self):
        n = self.rng.randrange(2, 5)
        code, scale, zero = self.codes((n, n), self.rng.choice((None, 1)))
        if self.rng.random() < 0.5:
            return self.node("DynamicQuantizeMatMul", ["x", code, scale, zero])
        quantised, by, point = self.node("DynamicQuantizeLinear", ["x"], 3)
        return self.node("MatMulIntegerToFloat", [quantised, code, by, scale, point, zero])

    def dynamic(self):
        """Sums of products of codes, and the scales of both sides multiplied in some order."""
        n, rng = self.rng.randrange(2, 5), self.rng
        conv = rng.random() < 0.3
        code, scale, zero = self.codes((n, 1, n, n) if conv else (n, n), rng.choice((None, 0 if conv else 1)))
        if rng.random() < 0.3:
            quantised, by, point = self.activation()
        else:
            quantised, by, point = self.node("DynamicQuantizeLinear", ["x"], 3)
        sums = self.node("ConvInteger" if conv else "MatMulInteger", [quantised, code, point, zero])
        real = self.node("Cast", [sums], to=FLOAT)
        if rng.random() < 0.3:
            scale = self.node("Identity", [scale])
        first, second = rng.sample((by, scale), 2)
        if rng.random() < 0.5:
            both = self.node("Mul", [first, second])
            last = self.node("Mul", rng.sample((real, both), 2))
        else:
            last = self.node("Mul", [self.node("Mul", rng.sample((real, first), 2)), second])
        # A factor behind it is no scale.
        gain = self.add(np.float32(7.0))
        self.kept.add(gain)
        self.node("Mul", [last, gain])

    def rows(self):
        """Rows of a table are taken before they are made numbers."""
        code, scale, zero = self.codes((4, 3))
        index = self.add(np.array([1, 2], np.int64))
        self.kept.add(index)
        self.node("DequantizeLinear", [self.node("Gather", [code, index]), scale, zero])

    def misleading(self):
        """Names say that each has the other's scale, nodes say the truth."""
        n = self.values
        for a, b in ((f"w{n}", f"u{n}"), (f"u{n}", f"w{n}")):
            self.node("DequantizeLinear", self.codes((2, 3), names=(f"{a}_quantized", f"{b}_scale", f"{b}_zero_point")))

    def named(self):
        """No node says it, names do."""
        n = self.values
        self.codes((3, 2), names=(f"n{n}_quantized", f"n{n}_scale", f"n{n}_zero_point"))

    def model(self):
        held = list(self.held.items())
        self.rng.shuffle(held)
        graph = helper.make_graph(self.nodes, "g", [helper.make_tensor_value_info("x", FLOAT, None)], [], [numpy_helper.from_array(np.asarray(a), n) for n, a in held])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid(MS, 1)], ir_version=10)


KINDS = (Network.dequantize, Network.qlinear, Network.gemm, Network.contrib, Network.dynamic, Network.rows, Network.misleading, Network.named)


class Check(Exchange):
    kind = "onnx"

    def network(self, rng):
        network = Network(rng)
        for _ in range(rng.randrange(1, 6)):
            rng.choice(KINDS)(network)
        data = network.model().SerializeToString()
        self.made(data, network.numbers, {name: network.held[name] for name in network.kept})

    def made(self, data, numbers, kept):
        path, target, golden = self.put("codes.onnx", data), self.path("made.npz"), self.path("golden.npz")
        done = self.tool.run("-q", "convert", "--dequantize", "--dtype", "fp64", path, target)
        if done.returncode:
            return self.wrong(f"convert says {done.stderr.decode()}", data)
        with np.load(target) as made:
            for name, array in numbers.items():
                if name not in made or not np.array_equal(made[name], array):
                    self.wrong(f"'{name}' is not what its codes stand for", data)
            for name, array in kept.items():
                if name not in made or not np.array_equal(made[name], np.asarray(array).astype(np.float64)):
                    self.wrong(f"'{name}', which no stored codes are scaled by, did not stay", data)
            if set(made) != set(numbers) | set(kept):
                self.wrong(f"{sorted(set(made) ^ set(numbers) ^ set(kept))} are too many or missing", data)
        np.savez(golden, **numbers)
        names = ",".join(numbers)
        for command in (("diff", "--tensor", names), ("layers",)):
            done = self.tool.run(*command, "--dequantize", path, golden)
            if done.returncode:
                self.wrong(f"{command[0]} exits {done.returncode}: {done.stdout.decode()}{done.stderr.decode()}", data)
        return None

    def two_nodes(self, rng):
        network = Network(rng)
        code, scale, zero = network.codes((2, 3))
        other = network.add(np.float32(3))
        for by in rng.sample((scale, other), 2):
            network.node("DequantizeLinear", [code, by, zero])
        self.refused("two nodes", "onnx", network.model().SerializeToString(), (scale, other))

    def refused(self, what, ending, data, words):
        path = self.put(f"codes.{ending}", data)
        done = self.tool.run("convert", "--dequantize", path, self.path("no.npz"))
        said = done.stderr.decode()
        if done.returncode != 2 or any(word not in said for word in words):
            self.wrong(f"{what}: exit {done.returncode}, {said}", data)

    def unlinked(self, rng):
        """Tensors of which no name says that one is another's scale."""
        tensors = {"output": np.frombuffer(rng.randbytes(6), np.int8).reshape(2, 3)}
        for name in rng.sample(("latency_ms", "gain", "fc.weight_quantizer._amax", "activation_scaling_factor", "bias"), rng.randrange(1, 4)):
            tensors[name] = np.float32(rng.uniform(1, 2)) if rng.random() < 0.7 else np.array([1, 2, 3], np.float32)
        names = list(tensors)
        rng.shuffle(names)
        path = self.path("codes.npz")
        np.savez(path, **{name: tensors[name] for name in names})
        with open(path, "rb") as file:
            data = file.read()
        self.refused(f"{names}", "npz", data, [f"'{name}'" for name in names if name != "output"])


def quantised(folder):
    """What onnxruntime's quantisers make of small networks: a model, and how far from the floats it may be."""
    try:
        import logging
        from onnxruntime import quantization as ort
    except ImportError:
        return
    logging.disable(logging.WARNING)
    rng = np.random.default_rng(3)
    weights = {"fc1.weight": rng.normal(0, 0.1, (32, 32)), "fc2.weight": rng.normal(0, 0.7, (32, 32)), "conv.weight": rng.normal(0, 2, (8, 4, 3, 3))}
    weights = {name: array.astype(np.float32) for name, array in weights.items()}
    nodes = [helper.make_node("MatMul", ["x", "fc1.weight"], ["a"]), helper.make_node("MatMul", ["a", "fc2.weight"], ["b"]),
             helper.make_node("Reshape", ["b", "shape"], ["c"]), helper.make_node("Conv", ["c", "conv.weight"], ["y"], pads=[1, 1, 1, 1])]
    held = [numpy_helper.from_array(a, n) for n, a in weights.items()] + [numpy_helper.from_array(np.array([1, 4, 4, 2], np.int64), "shape")]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", FLOAT, [1, 32])], [helper.make_tensor_value_info("y", FLOAT, [1, 8, 4, 2])], held)
    source = os.path.join(folder, "floats.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), source)

    class Reader(ort.CalibrationDataReader):
        left = 4

        def get_next(self):
            self.left -= 1
            return {"x": rng.normal(0, 1, (1, 32)).astype(np.float32)} if self.left >= 0 else None

    for kind in (ort.QuantType.QInt8, ort.QuantType.QUInt8):
        for channels in (False, True):
            target = os.path.join(folder, "quantised.onnx")
            ort.quantize_dynamic(source, target, weight_type=kind, per_channel=channels)
            yield target, weights, f"dynamic {kind} {channels}"
            for form in (ort.QuantFormat.QDQ, ort.QuantFormat.QOperator):
                ort.quantize_static(source, target, Reader(), quant_format=form, activation_type=ort.QuantType.QUInt8, weight_type=kind, per_channel=channels)
                yield target, weights, f"static {form} {kind} {channels}"


def check_quantisers(check):
    count = 0
    for path, weights, what in quantised(check.scratch):
        count += 1
        held = {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load(path).graph.initializer}
        made = check.path("made.npz")
        done = check.tool.run("-q", "convert", "--dequantize", path, made)
        if done.returncode:
            check.wrong(f"{what}: convert says {done.stderr.decode()}", b"")
            continue
        with np.load(made) as got:
            for name, floats in weights.items():
                scale, zero = held[name + "_scale"], held[name + "_zero_point"]
                axis = 0 if floats.ndim == 4 else floats.ndim - 1
                around = [-1 if d == axis and scale.size > 1 else 1 for d in range(floats.ndim)]
                numbers = (held[name + "_quantized"].astype(np.float64) - zero.astype(np.float64).reshape(around)) * scale.astype(np.float64).reshape(around)
                if not np.array_equal(got[name + "_quantized"], numbers.astype(np.float32)):
                    check.wrong(f"{what}: '{name}' is off by {np.abs(got[name + '_quantized'] - floats).max()}", b"")
            for name, array in held.items():
                of_weight = any(name.startswith(weight) for weight in weights)
                if name.endswith(("_scale", "_zero_point")) and not of_weight and "bias" not in name and not np.array_equal(got.get(name), array):
                    check.wrong(f"{what}: '{name}' did not stay", b"")
    return count


def main():
    if len(sys.argv) not in (2, 3, 4):
        sys.exit(__doc__)
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    seed = sys.argv[3] if len(sys.argv) > 3 else "1"
    with tempfile.TemporaryDirectory() as scratch:
        check = Check(Tool(sys.argv[1]), scratch)
        for number in range(count):
            rng = random.Random(f"{seed}:{number}")
            check.network(rng)
            check.two_nodes(rng)
            check.unlinked(rng)
        models = check_quantisers(check)
    print(f"{count} networks and files, {models} models of onnxruntime, {check.failed} disagreements")
    sys.exit(1 if check.failed else 0)


if __name__ == "__main__":
    main()
