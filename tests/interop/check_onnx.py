"""check_onnx.py BTFTOOL TESTDATA [COUNT [SEED]]: btftool and onnx read each other's tensors and models.

Needs the onnx package (1.23.2 was current when this was written) with NumPy and ml_dtypes; says "skipped" where there is none.
"""

import glob
import os
import random
import sys
import tempfile

import btf_writer
from elements import BY_NAME, pack
from harness import Exchange
from random_files import random_code, random_dims
from tool import Tool

try:
    import ml_dtypes
    import numpy as np
    import onnx
    from google.protobuf.message import DecodeError
    from onnx import external_data_helper, helper, numpy_helper
except ImportError:
    print("skipped: no onnx (pip install onnx==1.23.2 ml_dtypes)")
    sys.exit(0)

TYPES = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9, "float16": 10, "float64": 11, "uint32": 12,
    "uint64": 13, "bfloat16": 16, "float8_e4m3fn": 17, "float8_e4m3fnuz": 18, "float8_e5m2": 19, "float8_e5m2fnuz": 20, "uint4": 21, "int4": 22,
    "float4_e2m1fn": 23, "float8_e8m0fnu": 24,
}
NAMES = ["a", "b.c", "0", "layer 1/x:0", "é", "\"", "\\", "\U0001f600", "w" * 300]


def damaged_models(rng):
    """Sound ones that have a bit of everything that a model can have."""
    weights = numpy_helper.from_array(np.arange(12, dtype=np.float32).reshape(3, 4), "w")
    packed = helper.make_tensor("packed", onnx.TensorProto.INT64, [3], [1, -2, 1 << 40])
    strings = helper.make_tensor("strings", onnx.TensorProto.STRING, [2], [b"one", b"two"])
    value = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["batch", 4])
    made = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)
    of_sequence = helper.make_value_info("s", helper.make_sequence_type_proto(helper.make_tensor_type_proto(1, [2])), doc_string="a sequence")
    of_map = helper.make_value_info("m", helper.make_map_type_proto(7, helper.make_optional_type_proto(helper.make_tensor_type_proto(1, [2]))))
    nodes = [
        helper.make_node("Gemm", ["x", "w"], ["g"], name="gemm", alpha=0.5, transB=1, doc_string="words", letters="abc", many=[1, 2, 300], some=[0.5, 1.5],
                         words=["a", "b"], t=weights, ts=[packed, strings]),
        helper.make_node("Constant", [], ["c"], value=packed),
        helper.make_node("If", ["c"], ["i"], then_branch=helper.make_graph([helper.make_node("Relu", ["g"], ["r"])], "then", [], [made], [packed]),
                         else_branch=helper.make_graph([], "else", [], [])),
        helper.make_node("mine", ["g"], ["y"], domain="own"),
    ]
    sparse = helper.make_sparse_tensor(helper.make_tensor("sv", 1, [2], [1.0, 2.0]), helper.make_tensor("si", 7, [2], [1, 3]), [4])
    graph = helper.make_graph(nodes, "all", [value, of_sequence], [made, of_map], [weights, packed], "of the graph", [value], sparse_initializer=[sparse])
    function = helper.make_function("own", "mine", ["a"], ["b"], [helper.make_node("Abs", ["a"], ["b"], name="abs")], [helper.make_opsetid("", 21)], ["k"])
    model = helper.make_model(graph, functions=[function], opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("own", 1)], doc_string="d" * 20)
    helper.set_model_props(model, {"key": "value", "other": "more"})
    plain = helper.make_model(helper.make_graph(nodes[:1], "plain", [value], [made], [numpy_helper.from_array(np.ones(rng.randrange(1, 9)), "w")]))
    return [model, plain]


def array_of(name, dims, codes):
    held = np.array(codes, f"u{max(BY_NAME[name].bits, 8) // 8}")
    return held.view(getattr(ml_dtypes, name, None) or np.dtype(name)).reshape(dims)


class Check(Exchange):
    kind = "onnx"

    def convert(self, source, target, data, *arguments):
        done = self.tool.run("-q", "convert", *arguments, source, self.path(target))
        if done.returncode != 0:
            self.wrong("is refused: " + done.stderr.decode(), data)
        return done.returncode == 0

    def random_tensor(self, rng, name):
        dims = random_dims(rng)
        count = int(np.prod(dims, dtype=object)) if dims else 1
        codes = [random_code(rng, BY_NAME[name]) for _ in range(count)]
        if name == "bool":
            codes = [code & 1 for code in codes]
        dtype = BY_NAME[name]
        return dims, codes, btf_writer.header(dims, dtype.code, 0) + pack(dtype, codes)

    def tensor(self, rng, name):
        """Both ways: what onnx writes, in raw_data and in a field for its values, and what is written is onnx's to the byte."""
        dims, codes, record = self.random_tensor(rng, name)
        called = rng.choice(NAMES)
        proto = numpy_helper.from_array(array_of(name, dims, codes), called)
        data = proto.SerializeToString()
        expected = btf_writer.file([record])
        if self.convert(self.put("in.pb", data), "out.btf", data, "--names", "drop") and self.get("out.btf") != expected:
            self.wrong(f"{name}: what onnx wrote is read otherwise", data)
        listed = self.put("names", called.encode() + b"\n")
        if self.convert(self.put("in.btf", expected), "out.pb", expected, "--names", listed) and self.get("out.pb") != data:
            self.wrong(f"{name}: is not what onnx writes", expected)
        self.typed(name, dims, codes, expected, wider=False)
        self.typed(name, dims, codes, expected, wider=True)

    def typed(self, name, dims, codes, expected, wider):
        """`wider`: codes of halves, small floats and of 4 bits as if they were signed, which some programs make int32 of."""
        proto = onnx.TensorProto(data_type=TYPES[name], dims=dims)
        field = helper.tensor_dtype_to_field(TYPES[name])
        bits, kind = BY_NAME[name].bits, BY_NAME[name].kind
        if field in ("float_data", "double_data"):
            values = array_of(name, dims, codes).reshape(-1)
            if np.isnan(values).any():  # Python's floats do not keep its bits
                return
            values = values.tolist()
        elif bits == 4:
            values = [byte - 256 if wider and byte >> 7 else byte for byte in pack(BY_NAME[name], codes)]
        else:
            signed = kind == "signed" or (wider and field == "int32_data" and name.startswith(("float", "bfloat")))
            values = [code - 2**bits if signed and code >> (bits - 1) else code for code in codes]
        getattr(proto, field).extend(values)
        data = proto.SerializeToString()
        if self.convert(self.put("in.pb", data), "out.btf", data, "--names", "drop") and self.get("out.btf") != expected:
            self.wrong(f"{name}: what stands in {field} is read otherwise", data)

    def model(self, rng):
        """Initializers of one, with external data or without."""
        chosen = [(name, *self.random_tensor(rng, name)) for name in rng.sample(sorted(TYPES), rng.randrange(1, 6))]
        tensors = [numpy_helper.from_array(array_of(name, dims, codes), name) for name, dims, codes, _ in chosen]
        graph = helper.make_graph([], "g", [], [], initializer=tensors)
        model = helper.make_model(graph)
        expected = btf_writer.file([record for *_, record in chosen])
        location = f"{rng.randrange(10**9)}.bin"
        save = {"save_as_external_data": True, "location": location, "size_threshold": 0} if rng.random() < 0.5 else {}
        if save and rng.random() < 0.5:
            save["all_tensors_to_one_file"] = False
            del save["location"]
        for name in TYPES:  # each in a file of its name
            if os.path.exists(self.path(name)):
                os.unlink(self.path(name))
        onnx.save_model(model, self.path("in.onnx"), **save)
        data = self.get("in.onnx")
        if self.convert(self.path("in.onnx"), "out.btf", data, "--names", "drop") and self.get("out.btf") != expected:
            self.wrong("the initializers of a model are read otherwise", data)

    def values(self, rng):
        """What Constant nodes hold, in a graph, a subgraph and a function, and sequences, as numpy_helper reads them."""

        def constants(count):
            nodes, expected = [], {}
            for number in range(count):
                name = f"c{number}"
                some = [rng.randrange(-(2**63), 2**63) for _ in range(rng.randrange(4))]
                real = np.array([rng.uniform(-9, 9) for _ in some], np.float32)
                whole = np.array(some, np.int64)
                form = rng.choice(["value", "value_ints", "value_floats", "value_int", "value_float", "sparse_value"])
                if form == "value":
                    made, value = real, numpy_helper.from_array(real, "inner")
                elif form == "sparse_value":
                    made = np.array([0, 1.5, 0, -2], np.float32)
                    value = helper.make_sparse_tensor(numpy_helper.from_array(made[[1, 3]]), numpy_helper.from_array(np.array([1, 3], np.int64)), [4])
                elif form.endswith("s"):
                    made = whole if form == "value_ints" else real
                    value = made.tolist()
                else:
                    made = np.array(7 - 2**40, np.int64) if form == "value_int" else np.array(0.1, np.float32)
                    value = made.item()
                attribute = helper.make_attribute(form, value) if value != [] else onnx.AttributeProto(
                    name=form, type=onnx.AttributeProto.INTS if form == "value_ints" else onnx.AttributeProto.FLOATS)
                node = helper.make_node("Constant", [], [name])
                node.attribute.append(attribute)
                nodes.append(node)
                expected[name] = made
            return nodes, expected

        whole, expected = constants(6)
        inner, of_inner = constants(3)
        called, of_called = constants(3)
        branch = helper.make_graph(inner, "then", [], [helper.make_tensor_value_info("c0", 1, None)])
        whole.append(helper.make_node("If", ["c0"], ["i"], name="if", then_branch=branch, else_branch=branch))
        function = helper.make_function("own", "f", ["a"], ["c0"], called, [helper.make_opsetid("", 21)])
        model = helper.make_model(helper.make_graph(whole, "g", [], []), functions=[function])
        expected |= {f"if/{arm}/{name}": made for arm in ("then_branch", "else_branch") for name, made in of_inner.items()}
        expected |= {f"own::f/{name}": made for name, made in of_called.items()}
        self.listed("model", "in.onnx", model.SerializeToString(), expected)
        arrays = [np.array([rng.uniform(-9, 9) for _ in range(rng.randrange(5))], np.float32) for _ in range(rng.randrange(1, 5))]
        data = numpy_helper.from_list(arrays, "seq").SerializeToString()
        self.listed("sequence", "in.pb", data, {f"seq#{number}": array for number, array in enumerate(arrays)})
        data = numpy_helper.from_list([arrays, arrays[:1]], "n").SerializeToString()
        nested = {f"n#0#{number}": array for number, array in enumerate(arrays)} | {"n#1#0": arrays[0]}
        self.listed("sequence of sequences", "in.pb", data, nested)
        self.listed("optional", "in.pb", numpy_helper.from_optional(arrays[0], "opt").SerializeToString(), {"opt#0": arrays[0]})

    def listed(self, what, name, data, expected):
        if not self.convert(self.put(name, data), "out.npz", data):
            return
        with np.load(self.path("out.npz")) as made:
            if sorted(made.files) != sorted(expected):
                self.wrong(f"{what}: the tensors are {sorted(made.files)}, not {sorted(expected)}", data)
                return
            for key, array in expected.items():
                if made[key].dtype != array.dtype or not np.array_equal(made[key], array):
                    self.wrong(f"{what}: {key} is {made[key]}, not {array}", data)

    def damage(self, rng, count):
        """What onnx cannot parse is not called well-formed, wherever the damage is."""
        sound = [proto.SerializeToString() for proto in damaged_models(rng)]
        files = {}
        for number in range(count):
            data = bytearray(rng.choice(sound))
            for _ in range(rng.randrange(1, 4)):
                at = rng.randrange(len(data))
                change = rng.randrange(4)
                if change == 0:
                    data[at] = rng.randrange(256)
                elif change == 1:
                    data[at] ^= 1 << rng.randrange(8)
                elif change == 2:
                    del data[at]
                else:
                    data.insert(at, rng.randrange(256))
            files[self.put(f"damaged-{number}.onnx", bytes(data))] = bytes(data)
        for number, data in enumerate(sound):
            files[self.put(f"sound-{number}.onnx", data)] = data
        corrupt = 0
        paths = list(files)
        for first in range(0, len(paths), 250):
            for path, entry in self.tool.json_of_files("validate", "--json", *paths[first : first + 250]).items():
                try:
                    onnx.ModelProto.FromString(files[path])
                except DecodeError:
                    corrupt += 1
                    if entry["result"] == "well-formed":
                        self.wrong("onnx cannot parse it, and it is called well-formed", files[path])
                    continue
                if "sound" in path and entry["result"] != "well-formed":
                    self.wrong(f"what onnx made is called {entry['result']}: {entry['findings']}", files[path])
        return corrupt

    def read_by_onnx(self, path):
        """Our sound files: onnx can read them, too."""
        with open(path, "rb") as file:
            data = file.read()
        try:
            if "sequence" in path or "optional" in path:
                onnx.SequenceProto.FromString(data)
                return
            if path.endswith(".pb"):
                numpy_helper.to_array(onnx.TensorProto.FromString(data))
                return
            model = onnx.ModelProto.FromString(data)
            external_data_helper.load_external_data_for_model(model, os.path.dirname(path))
            for tensor in model.graph.initializer:
                if tensor.data_type <= 28:
                    numpy_helper.to_array(tensor)
        except Exception as error:  # of several kinds
            self.wrong(f"{path}: onnx does not read it: {error}", data)


def main():
    if len(sys.argv) not in (3, 4, 5):
        sys.exit(__doc__)
    tool, testdata = Tool(sys.argv[1]), sys.argv[2]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 4
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    with tempfile.TemporaryDirectory() as scratch:
        check = Check(tool, scratch)
        files = sorted(glob.glob(os.path.join(testdata, "onnx", "*.pb")) + glob.glob(os.path.join(testdata, "onnx", "types.*.onnx")))
        for path in files:
            check.read_by_onnx(path)
        corrupt = 0
        for number in range(count):
            rng = random.Random(f"{seed}:{number}")
            for name in TYPES:
                check.tensor(rng, name)
            for _ in range(4):
                check.model(rng)
            for _ in range(4):
                check.values(rng)
            corrupt += check.damage(rng, 250)
    print(f"onnx {onnx.__version__}: {len(files)} files, {count * len(TYPES)} tensors both ways, {4 * count} models (seed {seed}), "
          f"{count * 250} damaged ones, {corrupt} of them corrupt to onnx, {check.failed} disagreements")
    sys.exit(1 if check.failed else 0)


if __name__ == "__main__":
    main()
