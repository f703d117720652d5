#!/usr/bin/env python3
"""Writes the small corpora from which fuzzing begins, out of testdata and the expected output of the
command line's tests.

    make_corpus.py            write them
    make_corpus.py --check    are they what it would write?

What is named crash-* was found by fuzzing and belongs to nobody but itself: it stays.
"""

import base64
import json
import pathlib
import random
import re
import struct
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TESTDATA = ROOT / "testdata"
MOST = 2600  # bytes of an input: libFuzzer is fast with short ones


def short_files(folders, pattern):
    for folder in folders:
        for path in sorted((TESTDATA / folder).glob(pattern)):
            if path.stat().st_size <= MOST:
                yield path


def btf(write):
    for path in short_files(["good", "odd", "bad"], "*.btf"):
        write(path.stem, path.read_bytes())


def npy(write):
    for path in short_files(["npy", "npy-bad"], "*.npy"):
        write(path.stem, b"\xff" + path.read_bytes())
    for told, name in ((11, "bfloat16"), (18, "bool"), (15, "float4"), (16, "int4")):
        path = next(short_files(["npy"], "*int8*.npy"))
        write("told-" + name, bytes([told]) + path.read_bytes())


def safetensors(write):
    for path in short_files(["safetensors", "safetensors-bad"], "*.safetensors"):
        write(path.stem, b"\0" + path.read_bytes())
    for path in (TESTDATA / "safetensors-sharded").glob("*.json"):
        write("index", b"\1" + path.read_bytes())
    some = random.Random(8)
    texts = (TESTDATA / "json" / "texts.txt").read_text().splitlines()
    for i, line in enumerate(some.sample(texts, 60)):
        write(f"json-{i}", b"\1" + bytes.fromhex(line.split("\t")[0]))


def gguf(write):
    for path in short_files(["gguf", "gguf-bad", "gguf-odd"], "*.gguf"):
        write(path.stem, path.read_bytes()[4:])


def torch(write):
    for path in sorted((TESTDATA / "torch").iterdir()):
        if path.name not in ("old.pt", "script.pt"):
            with zipfile.ZipFile(path) as archive:
                name = next(n for n in archive.namelist() if n.endswith("/data.pkl"))
                write(path.stem, b"\0" + archive.read(name))
    write("file", b"\1" + (TESTDATA / "torch" / "single.pt").read_bytes())
    # Python's pickle writes otherwise from version to version.
    write("protocol0", b"\0(lp0\nI1\naL2L\naF0.5\naS'a'\naV\\u00e9\naI01\na(ishop\nOdd\np1\n(dp2\nS'k'\ng0\nsba.")
    write("protocol1", b"\0]q\0(K\1U\1sT\1\0\0\0t(cshop\nOdd\nK\2o}q\1(X\1\0\0\0kh\0uber\2\0\0\0.")
    write("protocol3", b"\0\x80\3}q\0(C\2k\xffK\1B\1\0\0\0b\x8a\x09\0\0\0\0\0\0\0\0\1K\2\x8b\2\0\0\0\1\1u.")
    write("protocol4", b"\0\x80\4\x95\x2c\0\0\0\0\0\0\0\x8c\4shop\x8c\3Odd\x93\x94)}\x94\x92\x94(\x8f(K\1K\2\x90(K\3\x91Nt}\x8c\1k\x8e\1\0\0\0\0\0\0\0bs\x86b.")
    write("protocol5", b"\0\x80\5]\x94(\x96\2\0\0\0\0\0\0\0ab\x8d\1\0\0\0\0\0\0\0c220e.")


def json_files(write):
    npy = base64.b64encode(next(short_files(["npy"], "*int16.c.little.v1.npy")).read_bytes()).decode()
    array = {"array": npy, "polygraphy_class": "ndarray"}
    lazy = {"values": array, "polygraphy_class": "LazyArray"}
    iteration = {"outputs": {"a": lazy, "b": lazy}, "runtime": float("nan"), "polygraphy_class": "IterationResult"}
    for name, value in {
        "outputs": {"lst": [["r", [iteration, iteration]], ["s", [iteration]]], "polygraphy_class": "RunResults"},
        "inputs": [{"x": array}, {"x": array}],
        "old": [{"x": {"array": npy, "__polygraphy_encoded_ndarray": "polygraphy_serialized_json_type"}}],
        "torch": [{"x": {"tensor": "AAAA", "polygraphy_class": "Tensor"}}],
    }.items():
        write("polygraphy-" + name, b"\2" + json.dumps(value).encode())
    write("trtexec", b"\3" + b"""[
  { "name" : "a "b"
  , "dimensions" : "1x3"
  , "values" : [ 0.5, nan, -inf ]
  }
, { "name" : "c"
  , "dimensions" : "(2, )"
  , "values" : [ Final shape is 2 reported by the output allocator.
1e-07, 3 ]
  }
]""")
    for name, dtype, values in (("int64", 3, "-1, 9223372036854775807"), ("float16", 10, "65504, 0.333"), ("int4", 18, "7, -8, 1")):
        text = f'[ {{ "name" : "x", "dimensions" : "-1", "values" : [ Final shape is {values.count(",") + 1} reported by the output allocator.\n{values} ] }} ]'
        write("trtexec-" + name, b"\4" + bytes([dtype]) + text.encode())
    entries = [{"file": "a.raw", "spec": "fp16:hwc8:1x3x2x2", "name": "n", "order": 3, "role": "input", "offset": 8, "comment": 1},
               {"file": "b.npz", "tensor": "x"}, {"file": "b.npz", "tensor": 7}]
    write("manifest", b"\0" + json.dumps({"schema": "btftool/manifest/1", "tensors": entries}).encode())
    tensor = {"name": "x", "shape": [1, 2], "type": "HALF", "statistics": {"min": "nan"}, "files": {"raw": "d/x.raw", "numpy": "x.npy", "string": None}}
    summary = json.dumps({"metadata": {}, "tensors": [tensor, tensor]}).encode()
    write("summary", b"\1" + summary)
    write("summary-cut", b"\1" + summary[:-40])


def tvm(write):
    for path in short_files(["tvm", "tvm-bad"], "*.params"):
        write(path.stem, path.read_bytes()[8:])


def onnx(write):
    for folder in ("onnx", "onnx-bad"):
        for pattern in ("*.pb", "*.onnx"):
            for path in short_files([folder], pattern):
                write(path.name, b"\0" + path.read_bytes())
    some = random.Random(8)
    for kind in range(1, 29):
        for how in range(4):
            write(f"built-{kind}-{how}", bytes([1, kind, how, some.randrange(3)]) + some.randbytes(some.choice([6, 20, 50])))


def network(write):
    """A node of every operator that is computed, once of floats alone and once with integers behind them."""
    sys.path.insert(0, str(ROOT / "testdata"))
    from generator import onnx as made
    sources = "".join(path.read_text() for path in sorted((ROOT / "lib/network/operators").rglob("*.cc")))
    names = sorted(set(re.findall(r'^    \{"([A-Z]\w+)"', sources, re.M)))

    def integers(name, *values):
        return made.attribute(name, 8, b"".join(made.varint(v) for v in values))

    attributes = (integers("kernel_shape", 2, 2) + integers("strides", 1, 2) + integers("pads", 0, 1, 0, 1)
                  + integers("axes", 1))
    for name in names:
        for kind, inputs in (("floats", ["a", "b", "c"]), ("integers", ["a", "bi", "ci", "di"])):
            nodes = [made.node(name, inputs, ["y"], "", attributes), made.node("Relu", ["y"], ["z"])]
            write(f"{name}-{kind}", made.model(made.graph(nodes=nodes, inputs=inputs, outputs=["z"])))


def graph(write):
    """Chains of nodes, each operator among them: of one input to many, of one output to many, with weights and without, and as models are that no run has."""
    sys.path.insert(0, str(ROOT / "testdata"))
    import numpy as np
    from generator import onnx as made
    some = random.Random(11)
    sources = "".join(path.read_text() for path in sorted((ROOT / "lib/network/operators").rglob("*.cc")))
    names = sorted(set(re.findall(r'^    \{"([A-Z]\w+)"', sources, re.M)))

    def weight(name, *dims):
        values = np.array([some.randrange(-8, 9) / 4 for _ in range(int(np.prod(dims)))], np.float32)
        return made.raw("float32", values.view(np.uint32).reshape(dims), name)

    def chain(nodes, weights=(), inputs=("x",), outputs=("z",)):
        return made.model(made.graph(initializers=weights, nodes=nodes, inputs=inputs, outputs=outputs))

    def options(number):
        return bytes([number % 4 if number % 3 else 0, number % 5 if number % 7 == 0 else 0, number % 4, number % 5, number % 6, number % 11, number % 4, number % 3])

    axes = made.chunk(5, made.chunk(1, "axis") + made.number(3, 1) + made.number(20, 2))
    for number, name in enumerate(names):
        inputs = some.choice([["y"], ["y", "w"], ["y", "y"], ["y", "w", "b"], ["y", "w", "b", "b", "b"], []])
        outputs = some.choice([["v"], ["v"], ["v", "v2"], ["", "v"]])
        nodes = [made.node("Mul", ["x", "s"], ["y"], "scaled"), made.node(name, inputs, outputs, "middle", axes if number % 2 else b""), made.node("Relu", ["v"], ["z"], "last")]
        write(name, options(number) + chain(nodes, [weight("w", 3, 3, 1, 1), weight("b", 3), weight("s", 1)]))
    relu = made.node("Relu", ["x"], ["y"], "one")
    conv = made.node("Conv", ["x", "w", "b"], ["y"], "conv", made.attribute("pads", 8, bytes([0, 0, 0, 0])))
    norm = made.node("LayerNormalization", ["y", "s"], ["n"], "norm")
    add = made.node("Add", ["n", "x"], ["z"], "added")
    weights = [weight("w", 3, 3, 1, 1), weight("b", 3), weight("s", 4)]
    models = {
        "block": chain([conv, norm, add], weights),
        "softmax": chain([made.node("MatMul", ["x", "w"], ["y"], "product"), made.node("Softmax", ["y"], ["z"], "softmax")], [weight("w", 4, 4)]),
        "means": chain([relu, made.node("ReduceMean", ["y"], ["m"], "mean"), made.node("Sub", ["y", "m"], ["z"], "centred")]),
        "cycle": chain([made.node("Add", ["x", "z"], ["y"], "a"), made.node("Relu", ["y"], ["z"], "b")]),
        "twice": chain([relu, made.node("Neg", ["x"], ["y"], "two"), made.node("Relu", ["y"], ["z"], "three")]),
        "unnamed": chain([made.node("Relu", ["x"], [""], ""), relu], outputs=("y",)),
        "no-input": chain([made.node("Relu", [], ["y"], "one"), made.node("Relu", ["y"], ["z"])]),
        "one-operand": chain([made.node("Einsum", ["x"], ["z"], "einsum", made.attribute("equation", 4, b"abcd->ab"))]),
        "codes": chain([made.node("QuantizeLinear", ["x", "s"], ["q"], "q"), made.node("DequantizeLinear", ["q", "s"], ["z"], "dq")], [weight("s", 1)]),
        "many": chain([made.node("Relu", [f"v{i}" if i else "x"], [f"v{i + 1}"], f"n{i}") for i in range(24)], outputs=("v24",)),
        "branches": chain([relu, made.node("Exp", ["y"], ["e"]), made.node("Sqrt", ["y"], ["r"]), made.node("Div", ["e", "r"], ["z"], "ratio")], outputs=("z", "e")),
    }
    for number, (name, content) in enumerate(models.items()):
        for way in range(2):
            write(f"model-{name}-{way}", (options(number) if way else bytes([0, 0, 0, 0, 2, 1, 3, 2])) + content)


def npz(write):
    for path in short_files(["npz", "npz-bad"], "*.npz"):
        write(path.stem, b"\xff\0" + path.read_bytes())
    arrays = [path.read_bytes() for path in short_files(["npy"], "*int*.npy")]
    some = random.Random(8)
    for i in range(30):
        members = some.sample([a for a in arrays if len(a) < 500], 3)
        parts = b"".join(bytes([some.randrange(2)]) + struct.pack("<H", len(m)) + m for m in members)
        write(f"built-{i}", bytes([some.choice([11, 16, 255]), 1, i % 3]) + some.randbytes(9) + parts)


def raw(write):
    specs = [
        "fp16:hwc8:1x3x2x2",
        "f32:2x3",
        "int4:5",
        "fp16:1x3x4x5:strides=96,32,8,1",
        "f32:2x3:strides=4B,8B",
        "fp16:5x4x3x1:strides=2,16,64,192:nvmedia=NCHW",
        "int8:kDLA_HWC4:xavier:1x3x2x2",
        "e8m0:scalar",
        "coo:3",
        "bf16",
        "bool:chw32:1x5x1x2",
        "u8:0x3",
    ]
    for i, spec in enumerate(specs):
        for size in (6, 32, 192):
            write(f"{i}-{size}", spec.encode() + b"\n" + bytes(range(size)))
    # Numbers in text, by the same target.
    for name, spec, text in (
        ("plain", "text:fp32:2x3", "# made\n0.5, -1.25, 3\n1e-3,nan,-inf\n"),
        ("ties", "text:fp16", "1.00048828125 1.00048828124999999999999999999 65519.99 1e-400 2.98e-8"),
        ("whole", "text:int64", "9223372036854775807 1.000000000000000000e+00 -1270e-1 0x1"),
        ("nibbles", "text:int4", "-8 7 +3\n----\n0"),
        ("shape", "text:e4m3", "Shape is {1 2 1 2}, data type is fp32\nBatch 0:\n\tChannel 0:\n\t\t 0.5 -1 \n\tChannel 1:\n 2 448"),
        ("commas", "text:uint8", "1,,2"),
    ):
        write("text-" + name, f"{spec}\n{text}".encode())


def text(write):
    texts = [
        (0, "fp16:hwc8:1x3x224x224"), (0, "kDLA_HWC4:xavier:int8:1x3x2x2"), (0, "f32:scalar"),
        (0, "fp16:1x3x4x5:strides=96,32,8,1"), (0, "f32:2x3:strides=4B,8B"),
        (0, "fp16:5x4x3x1x2:strides=2,16,64,192,384:nvmedia=NCxHWx:c=3"), (0, "bf16"),
        (2, "dir/x.output.1.3.224.224.fp16.raw"), (2, "x.input.2.int8.raw"),
        (3, "NC/32HW32"), (3, "F8_E4M3"), (3, "khwc8"), (3, "half"),
        (4, "0,2-5,-1"), (4, "49,0-49,-50--1"), (5, "0,3,1,2"), (6, "0,0,-1,7"), (6, "3,0,6,299"),
        (7, "0,:,1:3,::2"), (7, "::-1,:,-3:,5:100:7"), (7, "..."), (8, "-1.5e300"), (8, "12"),
        (8, "inf"),
    ]
    for i, (what, line) in enumerate(texts):
        write(str(i), bytes([what]) + line.encode())


def kernels(write):
    some = random.Random(1)
    for what in range(3, 8):
        for i in range(6):
            write(f"{what}-{i}", bytes([what]) + some.randbytes(40 + 60 * i))
    for source in range(19):
        for target in some.sample(range(19), 4):
            options = bytes([0, source, target, some.choice([0, 3]), 0, 0, 0, 0, 3, 9])
            write(f"cast-{source}-{target}", options + some.randbytes(some.choice([16, 64, 130])))


def files_to_convert():
    return [p for p in short_files(["good", "odd"], "*.btf") if p.stat().st_size < 1200] + list(
        short_files(["npy"], "*int*c*little.v1.npy"))


def convert(write):
    some = random.Random(2)
    for path in files_to_convert():
        for i in range(2):
            options = some.randbytes(24) if i else bytes([some.randrange(4)]) + some.randbytes(2) + bytes(21)
            write(f"{path.stem}-{i}", options + path.read_bytes())


def diff(write):
    some = random.Random(3)
    for path in files_to_convert():
        file = path.read_bytes()
        for i in range(2):
            changes = some.randbytes(i * 3)
            options = bytes([some.choice([0, 3, 8, 4])]) + (some.randbytes(27) if i else bytes(27))
            places = struct.pack("<HH", len(file), some.randrange(len(file)))
            write(f"{path.stem}-{i}", options + places + file + changes)
    for name in ("coo_code2", "coo_unsorted", "small_codes"):
        a = next(TESTDATA.glob(f"good/{name}.btf")).read_bytes()
        other = "dense" if name.startswith("coo") else "float32"
        b = next(TESTDATA.glob(f"good/{name}.{other}.btf")).read_bytes()
        write(name, bytes(28) + struct.pack("<HH", len(a), 0) + a + b)


def write_then_read(write):
    some = random.Random(4)
    for i in range(40):
        write(str(i), some.randbytes(some.choice([20, 60, 90])))


def zstd(write):
    for path in sorted((TESTDATA / "zstd").glob("*.zst")):
        write(path.name.removesuffix(".btf.zst"), bytes([0, 37]) + path.read_bytes())
    some = random.Random(5)
    for path in short_files(["good"], "*.btf"):
        if path.stat().st_size > 700:
            continue
        for flags in (0, 1, 3, 9, 17):
            how = bytes([flags, some.randrange(1, 20), some.randrange(2)]) + some.randbytes(12)
            write(f"built-{path.stem}-{flags}", bytes([1, some.randrange(1, 255)]) + how + path.read_bytes())


def repair(write):
    some = random.Random(7)
    for path in short_files(["good", "odd", "bad"], "*.btf"):
        file = bytearray(path.read_bytes())
        write(path.stem, bytes([0]) + file)
        if len(file) > 16:
            write(f"{path.stem}-cut", bytes([some.choice([0, 2])]) + file[: some.randrange(16, len(file))])
            file[some.randrange(16)] ^= 1 << some.randrange(8)
            write(f"{path.stem}-bit", bytes([some.choice([0, 4, 8, 0xE0])]) + file)
    for path in short_files(["good"], "*.btf"):
        for flags in (1, 3, 17, 35):
            how = bytes([flags, some.randrange(1, 20), some.randrange(4)]) + some.randbytes(12)
            write(f"built-{path.stem}-{flags}", bytes([some.choice([1, 3, 5])]) + how + path.read_bytes())
    for path in sorted((TESTDATA / "zstd").glob("*.zst")):
        if path.stat().st_size <= MOST:
            write(path.name.removesuffix(".btf.zst") + "-zst", bytes([0]) + path.read_bytes())


def capi(write):
    some = random.Random(6)
    for path in files_to_convert():
        for what in some.sample(range(4), 2):
            options = bytes([what]) + bytes([0, 1]) + some.randbytes(61)
            write(f"{path.stem}-{what}", options + path.read_bytes())


def report(write):
    number = 0
    for path in sorted((ROOT / "tests/cli/cases").glob("*.stdout")):
        for line in path.read_text(errors="replace").splitlines():
            if line.startswith(('{"schema":"btftool/diff/', '{"schema":"btftool/layers/')) and len(line) <= 6000:
                write(f"{path.stem}-{number}", line.encode())
                number += 1


def names(write):
    """Maps with names to pair, orders of layers, rules, lists of files."""
    actual = ["conv1", "bn1", "model.layers.0.attn", "model.layers.10.attn", "a/b", "fc"]
    golden = ["conv_1", "batch1", "blk.0.attn", "blk.10.attn", "a.b", "fc"]
    maps = [
        "conv1\tconv_1\n# a note\n\nbn1\tbatch1\r\n", "/model\\.layers\\.([0-9]+)\\.(.*)/blk.$1.$2/\n",
        "/(a)\\1/$&/\n/^(?=c)(?!d)conv\\b/x$`$'/\n", "/[[:alpha:]]+(a+)+b/$1/\n/a{2,3}|\\w*?/b/\n", "conv1\n", "a\tb\na\tc\n", "/(/x/\n", "/a\\/b/a.b/\nnone\tnothing\n",
    ]
    for number, text in enumerate(maps):
        write(f"map-{number}", b"\0" + "\n----\n".join([text, "\n".join(actual), "\n".join(golden)]).encode())
    write("map-none", b"\0" + ("#\n----\n" + "\n".join(actual) + "\n----\n" + "\n".join("m." + a for a in actual)).encode())
    for number, text in enumerate(["conv1\nbn1\nrelu\n", "fc2\nfc\nmodel.conv1\n# x\n\nnone\n", "relu\nrelu\n", ""]):
        write(f"order-{number}", b"\2" + text.encode())
    rules = [
        {"schema": "btftool/rules/1", "comment": "x", "rules": [{"tensor": "conv*", "rtol": 1e-3, "atol": "1e-5"}, {"tensor": "[ab]?", "ulp": 2}]},
        {"schema": "btftool/rules/1", "rules": [{"tensor": "*", "actual_spec": "fp16:hwc8:1x3x2x2", "golden_spec": "fp32"}]},
        {"schema": "btftool/rules/2", "rules": [{"tensor": 1, "rtol": None}]},
    ]
    for number, value in enumerate(rules):
        write(f"rules-{number}", b"\3" + json.dumps(value).encode())
    for number, text in enumerate(["a.npy\nsub/a.npy\n", "./b.npy\nnotes.txt\nnone.npy\n", "../x\n/etc/hostname\nsub/../a.npy\nsub\n.\n"]):
        write(f"list-{number}", b"\4" + text.encode())


def parts(write):
    """What shards of each command wrote once, together and alone, with and without their ends."""
    files = {path.stem: path.read_bytes().rstrip(b"\n") for path in sorted((TESTDATA / "parts").glob("*.jsonl"))}
    for name, part in files.items():
        write(name, b"\1" + part)
        write(name + "-ended", bytes([2 * (len(name) % 8)]) + part)
    write("diff", b"\1" + files["diff-1"] + b"\n----\n" + files["diff-2"])
    write("diff-json", b"\2" + files["diff-1"] + b"\n----\n" + files["diff-2"])
    write("mixed", b"\0" + files["diff-1"] + b"\n----\n" + files["validate"])
    write("twice", b"\0" + files["diff-1"] + b"\n----\n" + files["diff-1"] + b"\n----\n" + files["diff-2"])


CORPORA = {"names": names, "parts": parts, "btf": btf, "npy": npy, "npz": npz, "network": network, "graph": graph, "onnx": onnx, "raw": raw, "text": text, "kernels": kernels, "convert": convert,
           "diff": diff, "write": write_then_read, "zstd": zstd, "capi": capi, "repair": repair,
           "report": report, "safetensors": safetensors, "tvm": tvm, "gguf": gguf, "json": json_files, "torch": torch}


def generate(root):
    for name, make in CORPORA.items():
        folder = root / name
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            if not old.name.startswith("crash-"):
                old.unlink()
        make(lambda file, content: (folder / file).write_bytes(content))


def content(root):
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*")
            if p.is_file() and not p.name.startswith("crash-")}


def main():
    if sys.argv[1:] == ["--check"]:
        with tempfile.TemporaryDirectory() as scratch:
            generate(pathlib.Path(scratch))
            fresh, there = content(pathlib.Path(scratch)), content(HERE / "corpus")
        wrong = sorted(n for n in fresh.keys() | there.keys() if fresh.get(n) != there.get(n))
        print("\n".join(wrong) or "the corpora are what this script writes")
        return 1 if wrong else 0
    if len(sys.argv) > 1:
        print(__doc__, file=sys.stderr)
        return 2
    generate(HERE / "corpus")
    return 0


if __name__ == "__main__":
    sys.exit(main())
