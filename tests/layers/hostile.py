"""Models that nobody means well with: `btftool layers --graph` and `btftool fit --graph` say what is wrong or judge without them.

  hostile.py BTFTOOL [MUTATIONS [SEED]]
"""

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

BIG = 2**62
DIMS = [1, 4, 6, 6]


def value(name):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, DIMS)


def model(nodes, weights=(), opset=21):
    graph = helper.make_graph(nodes, "g", [value("x")], [value("y")],
                              [numpy_helper.from_array(array, name) for name, array in weights])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def node(op, inputs, outputs=("y",), **attributes):
    return helper.make_node(op, list(inputs), list(outputs), **attributes)


def ints(*values):
    return np.array(values, np.int64)


def outside(location):
    made = model([node("Add", ["x", "w"])])
    tensor = made.graph.initializer.add()
    tensor.name, tensor.data_type, tensor.data_location = "w", TensorProto.FLOAT, TensorProto.EXTERNAL
    tensor.dims.extend([1])
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", location
    return made


def cases():
    """Name, model, and words of the reason that must be given for 'y', if any."""
    rng = np.random.default_rng(1)
    w = rng.normal(size=(4, 4, 3, 3)).astype(np.float32)
    yield "cycle", model([node("Relu", ["b"], ["a"]), node("Relu", ["a"], ["b"]), node("Add", ["b", "x"])]), "'b'"
    yield "own output", model([node("Add", ["y", "x"])]), None
    yield "twice", model([node("Relu", ["x"], ["a"]), node("Neg", ["x"], ["a"]), node("Add", ["a", "x"])]), None
    yield "missing weight", model([node("Conv", ["x", "w"])]), "'w'"
    yield "other dims", model([node("Conv", ["x", "w"])], [("w", w[:, :3])]), "do not fit"
    yield "outside", outside("../../../../etc/passwd"), "outside"
    yield "not there", outside("nothing.bin"), "nothing.bin"
    yield "unknown operator", model([node("Frobnicate", ["x"])]), "Frobnicate"
    yield "other domain", model([helper.make_node("Relu", ["x"], ["y"], domain="com.example")]), "Relu"
    yield "deep", model([node("Relu", ["x" if k == 0 else f"t{k}"], ["y" if k == 99999 else f"t{k + 1}"])
                         for k in range(100000)]), "too many"
    yield "many inputs", model([node("Sum", ["x"] * 5000)]), None
    for name, nodes, weights in (
        ("window", [node("Conv", ["x", "w"], strides=[BIG, 1], pads=[BIG] * 4)], [("w", w)]),
        ("negative window", [node("Conv", ["x", "w"], strides=[-1, 0], dilations=[0, -9])], [("w", w)]),
        ("groups", [node("Conv", ["x", "w"], group=0)], [("w", w)]),
        ("pool", [node("MaxPool", ["x"], kernel_shape=[BIG, BIG])], []),
        ("no pool", [node("AveragePool", ["x"])], []),
        ("reshape", [node("Reshape", ["x", "s"], ["a"]), node("Flatten", ["a"])], [("s", ints(BIG, BIG, -1))]),
        ("expand", [node("Expand", ["x", "s"], ["a"]), node("ReduceSum", ["a"], keepdims=0)], [("s", ints(BIG, 4, 6, 6))]),
        ("tile", [node("Tile", ["x", "s"], ["a"]), node("ReduceMax", ["a"])], [("s", ints(2**40, 2**40, 1, 1))]),
        ("filled", [node("ConstantOfShape", ["s"], ["a"]), node("ReduceSum", ["a"])], [("s", ints(2**31, 2**16))]),
        ("range", [node("Range", ["s", "e", "d"], ["a"]), node("Gather", ["x", "a"])],
         [("s", np.array(0.0)), ("e", np.array(1e300)), ("d", np.array(1e-300))]),
        ("slice", [node("Slice", ["x", "s", "e", "a", "d"])],
         [("s", ints(-BIG)), ("e", ints(BIG)), ("a", ints(9)), ("d", ints(-BIG))]),
        ("pad", [node("Pad", ["x", "s"])], [("s", ints(*[BIG] * 8))]),
        ("gather", [node("Gather", ["x", "s"], axis=-77)], [("s", ints(BIG))]),
        ("far gather", [node("Gather", ["x", "s"])], [("s", np.full([1], BIG))]),
        ("resize", [node("Resize", ["x", "", "s"])], [("s", np.array([1, 1, 1e30, np.nan], np.float32))]),
        ("einsum", [node("Einsum", ["x", "x"], equation="......,->..")], []),
        ("topk", [node("TopK", ["x", "s"], ["y", "i"])], [("s", ints(BIG))]),
        ("split", [node("Split", ["x", "s"], ["y", "z"])], [("s", ints(-5, 6))]),
        ("depth", [node("DepthToSpace", ["x"], blocksize=0)], []),
        ("one hot", [node("OneHot", ["x", "s", "v"])], [("s", ints(BIG)), ("v", ints(0, 1))]),
        ("division", [node("Mod", ["a", "z"], ["b"]), node("Add", ["x", "b"])], [("a", ints(1)), ("z", ints(0))]),
        ("scales", [node("QuantizeLinear", ["x", "s"], axis=99)], [("s", np.ones(4, np.float32))]),
        ("blocks", [node("QuantizeLinear", ["x", "s"], block_size=BIG)], [("s", np.ones([1, 1, 1, 1], np.float32))]),
        ("epsilon", [node("LayerNormalization", ["x", "s"], epsilon=-1e9)], [("s", np.ones(6, np.float32))]),
        ("cast", [node("Cast", ["x"], to=999)], []),
    ):
        yield name, model(nodes, weights), None


def whole(rng):
    w = rng.normal(size=(4, 4, 3, 3)).astype(np.float32)
    return model([node("Conv", ["x", "w"], ["a"], pads=[1] * 4), node("Shape", ["x"], ["s"]),
                  node("Reshape", ["a", "s"], ["b"]), node("Softmax", ["b"], ["c"], axis=1),
                  node("Concat", ["c", "c"], ["d"], axis=1), node("Slice", ["d", "f", "t", "t"], ["e"]),
                  node("Add", ["e", "x"])], [("w", w), ("f", ints(0)), ("t", ints(1))])


class Asked:
    def __init__(self, tool, scratch):
        self.tool, self.scratch, self.name = tool, scratch, ""
        rng = np.random.default_rng(2)
        x, y = (rng.normal(size=DIMS).astype(np.float32) for _ in range(2))
        for name, noise in (("golden", 0), ("actual", 1e-3)):
            np.savez(os.path.join(scratch, name + ".npz"), x=x, y=y + np.float32(noise) * x, z=np.abs(x))

    def ask(self, content):
        path = os.path.join(self.scratch, "model.onnx")
        with open(path, "wb") as file:
            file.write(content)
        done = subprocess.run([self.tool, "layers", "--json", "--no-hints", "--graph", path,
                               *(os.path.join(self.scratch, n + ".npz") for n in ("actual", "golden"))],
                              capture_output=True, timeout=60)
        if done.returncode not in (0, 1, 2) or not done.stdout or (done.returncode == 2 and not done.stderr):
            raise SystemExit(f"{self.name}: exit code {done.returncode}: {done.stderr.decode()[-300:]}")
        self.fit(path)
        report = json.loads(done.stdout)
        if "error" in report:
            return None, done.stderr.decode()
        spots = {p["golden"]: p["spot"] for p in report["pairs"]}
        return spots["y"], report["verdict"]["words"]


    def fit(self, path, words=None):
        """The other walk over the same graph, by all that it measures, and in a part. With `words`: they are among the reasons."""
        part = os.path.join(self.scratch, "fit.part")
        dump = os.path.join(self.scratch, "golden.npz")
        for options in (["--json"], ["--dtype", "int8,bf16"], ["--shard", "1/1", "--part", part]):
            if os.path.exists(part):
                os.remove(part)
            done = subprocess.run([self.tool, "fit", *options, "--graph", path, dump], capture_output=True, timeout=60)
            if done.returncode not in (0, 1, 2) or (done.returncode == 2 and not done.stderr):
                raise SystemExit(f"{self.name}: fit {options}: exit code {done.returncode}: {done.stderr.decode()[-300:]}")
            if words and words not in done.stdout.decode() + done.stderr.decode():
                raise SystemExit(f"{self.name}: fit does not say '{words}': {done.stdout.decode()[-600:]} {done.stderr.decode()[-300:]}")
            words = None


# Attributes without which onnx.checker refuses the node.
NEEDED = {"Einsum": {"equation": "ij->ij"}, "Cast": {"to": 1}, "AveragePool": {"kernel_shape": [2, 2]},
          "MaxPool": {"kernel_shape": [2, 2]}, "LpPool": {"kernel_shape": [2, 2]}, "LRN": {"size": 3}, "Concat": {"axis": 1},
          "DepthToSpace": {"blocksize": 2}, "SpaceToDepth": {"blocksize": 2}, "BitShift": {"direction": "LEFT"},
          "GroupNormalization": {"num_groups": 1}}


def every_operator(asked):
    """All operators that ONNX has, with no input, one, two and many, and outputs that are nameless, absent, taken, or in a cycle."""
    count = legal = 0
    for op in sorted({schema.name for schema in onnx.defs.get_all_schemas() if schema.domain == ""}):
        if op in ("If", "Loop", "Scan", "SequenceMap"):
            continue
        graphs = [[node(op, ins, outs, **NEEDED.get(op, {}))]
                  for ins, outs in (([], ["y"]), (["x"], ["y"]), (["x", "x"], ["y"]), (["x"] * 3, ["y", "p"]), (["x"] * 9, ["y", "p", "q"]),
                                    (["", "x"], ["y"]), (["x", ""], ["y"]), (["x", "x", "x"], [""]), (["x"], ["", "y"]), (["x"], []),
                                    (["x", "x"], ["y", "y"]), (["x"], ["x"]), (["y"], ["y"]))]
        graphs.append([node(op, ["b"], ["a"], **NEEDED.get(op, {})), node(op, ["a"], ["b"], **NEEDED.get(op, {})), node("Add", ["b", "x"])])
        for nodes in graphs:
            made = model(nodes)
            asked.name = f"{op} of {list(nodes[0].input)} to {list(nodes[0].output)}"
            path = os.path.join(asked.scratch, "model.onnx")
            onnx.save(made, path)
            try:
                onnx.checker.check_model(made)
                legal += 1
            except (onnx.checker.ValidationError, ValueError):
                pass
            count += 1
            for command in (["fit", "--json"], ["fit", "--dtype", "int8"], ["layers", "--no-hints", "--json"]):
                done = subprocess.run([asked.tool, *command, "--graph", path, os.path.join(asked.scratch, "golden.npz"),
                                       *([os.path.join(asked.scratch, "golden.npz")] if command[0] == "layers" else [])],
                                      capture_output=True, timeout=60)
                if done.returncode not in (0, 1, 2) or (done.returncode == 2 and not done.stderr):
                    raise SystemExit(f"{asked.name}: {command}: exit code {done.returncode}: {done.stderr.decode()[-300:]}")
    print(f"every operator: {count} models, {legal} of them legal")


def whys(asked):
    """What is wrong is said, by fit as by layers."""
    for name, nodes, words in (
        ("no name", [node("Relu", ["x"], [""]), node("Neg", ["x"])], "its first output has no name"),
        ("taken", [node("Relu", ["x"], ["y"], name="r"), node("Neg", ["x"], ["y"], name="n")], "'y' is made by 'r' before it"),
        ("twice", [node("Split", ["x"], ["y", "y"], name="s", axis=3)], "'y' is made by 's' twice"),
        ("cycle", [node("Relu", ["y"], ["a"], name="r"), node("Neg", ["a"], ["y"], name="n")], "'y' is read before 'n' makes it"),
        ("own", [node("Relu", ["y"], ["y"], name="r"), node("Neg", ["x"], ["q"])], "'y' is an input and an output of 'r'"),
        ("input", [node("Relu", ["y"], ["x"], name="r")], "'x' is an input of the graph too"),
        ("arity", [node("Relu", ["x", "x"])], "Relu has 1 inputs, not 2"),
        ("few", [node("MatMul", ["x"])], "MatMul has 2 inputs, not 1"),
    ):
        asked.name = name
        path = os.path.join(asked.scratch, "model.onnx")
        # A layer that can be judged, so that there is a report.
        onnx.save(model([*nodes, node("Abs", ["x"], ["z"])]), path)
        asked.fit(path, words)


def inputs_behind(tool, scratch):
    """A list that puts an input behind what is computed from it; the input's dump is wrong, and nothing computes it here."""
    path = [os.path.join(scratch, name) for name in ("behind.onnx", "a.npz", "g.npz", "order.txt")]
    onnx.save(model([node("Frobnicate", ["x"], ["a"]), node("Neg", ["a"])]), path[0])
    x = np.random.default_rng(4).normal(size=DIMS).astype(np.float32)
    np.savez(path[1], x=x, a=x * np.float32(1.05), y=-x)
    np.savez(path[2], x=x, a=x, y=-x)
    with open(path[3], "w") as file:
        file.write("y\na\nx\n")
    done = subprocess.run([tool, "layers", "--json", "--no-hints", "--graph", path[0], "--order", path[3], path[1], path[2]],
                          capture_output=True, timeout=60)
    states = {p["golden"]: p["spot"]["state"] for p in json.loads(done.stdout).get("pairs", [])}
    if done.returncode != 1 or states.get("a") != "unused":
        print(f"an input behind: exit code {done.returncode}, {states}")
        return 1
    return 0


def names(tool, scratch):
    """Names that a terminal would interpret, in the sentences of reports and in messages."""
    harmful = "\u202e\u2066\x9b\x1b\r\x07"
    odd = "n\u202e\x1b]0;t\x07\x9b\u2066\rz"
    made = model([node("Mul", ["x" + odd, "x" + odd], ["y" + odd], name="mul" + odd),
                  node("Frob" + odd, ["y" + odd], ["z" + odd], name="frob" + odd, domain="d" + odd),
                  node("MatMul", ["y" + odd, "y" + odd], ["q" + odd])])
    path = [os.path.join(scratch, name) for name in ("odd.onnx", "odd.a.npz", "odd.g.npz", "odd.1.jsonl", "odd.2.jsonl")]
    onnx.save(made, path[0])
    x = np.random.default_rng(5).normal(size=DIMS).astype(np.float32) * np.float32(1e5)
    np.savez(path[1], **{"x" + odd: x * np.float32(1.5), "y" + odd: x * np.float32(np.nan), "z" + odd: x})
    np.savez(path[2], **{"x" + odd: x, "y" + odd: x * x, "z" + odd: x})
    wrong = 0
    for words in (["layers", "--graph", path[0], path[1], path[2]], ["layers", "--all", path[1], path[2]],
                  ["layers", "--graph", path[0], "--shard", "1/1", "--part", path[3], path[1], path[2]], ["merge", path[3]],
                  ["fit", "--graph", path[0], path[2]], ["fit", "--all", "--dtype", "fp16,int8", "--graph", path[0], path[2]],
                  ["fit", "--graph", path[0], "--shard", "1/1", "--part", path[4], path[2]], ["merge", "--all", path[4]],
                  ["fit", path[1]], ["diff", path[1], path[2]], ["inspect", path[0]], ["validate", path[0]]):
        done = subprocess.run([tool, *words], capture_output=True, timeout=60)
        found = {letter for letter in (done.stdout + done.stderr).decode("utf-8", "replace") if letter in harmful}
        if found or done.returncode not in (0, 1, 2):
            wrong += 1
            print(f"names: {words[:2]}: exit code {done.returncode}, {sorted(found)}")
    return wrong


def main():
    tool = sys.argv[1]
    mutations = int(sys.argv[2]) if len(sys.argv) > 2 else 150
    rng = np.random.default_rng(int(sys.argv[3]) if len(sys.argv) > 3 else 3)
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        asked = Asked(tool, scratch)
        count = 0
        for name, made, words in cases():
            count += 1
            asked.name = name
            spot, said = asked.ask(made.SerializeToString())
            if spot is None:
                # A sentence, and no judgement.
                wrong += words is not None and words not in said
                continue
            why = spot["why"] or ""
            if words is not None and words not in why:
                wrong += 1
                print(f"{name}: '{words}' was expected in the reason, it is '{why}'")
            # Of a hostile model nothing follows, and nothing is blamed by it.
            if spot["state"] not in ("unchecked", "follows") and name not in ("many inputs", "twice"):
                wrong += 1
                print(f"{name}: {spot}")
        whys(asked)
        every_operator(asked)
        wrong += inputs_behind(tool, scratch)
        wrong += names(tool, scratch)
        content = bytearray(whole(rng).SerializeToString())
        for number in range(mutations):
            asked.name = f"mutation {number}"
            some = bytearray(content)
            for _ in range(int(rng.integers(1, 6))):
                some[int(rng.integers(len(some)))] = int(rng.integers(256))
            if rng.random() < 0.2:
                del some[int(rng.integers(len(some))):]
            asked.ask(bytes(some))
    print(f"{count} models and {mutations} mutations, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
