"""What btftool prints as JSON when it runs the commands of commands.txt, and what the cases of tests/cli expect of it."""

import json
import os
import shlex
import shutil
import struct
import subprocess
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Each is inspected, validated, and converted as far as it can be.
FOLDERS = """bad gguf gguf-bad gguf-odd gguf-split good names npy npy-bad npz npz-bad odd onnx onnx-bad onnx-external
    onnx-set polygraphy safetensors safetensors-bad safetensors-sharded torch tvm tvm-bad zstd""".split()
NAN, INF = float("nan"), float("inf")


def npy(path, values, dtype="<f4", shape=None):
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {tuple(shape or [len(values)])}, }}".ljust(117) + "\n"
    code = {"<f4": "f", "<i8": "q", "|i1": "b"}[dtype]
    Path(path).parent.mkdir(exist_ok=True, parents=True)
    Path(path).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}{code}", *values))


def make_files(run, testdata):
    """What testdata does not have. `run` takes the words of a command."""
    Path("8.bin").write_bytes(bytes(8))
    Path("x.txt").write_text("1.250\n-2.500\n3.125\n0.001\n")
    Path("y.json").write_text('[ { "name" : "y", "dimensions" : "4", "values" : [ 1.23457, -23.4568, 3.4e-05, 0.1 ] } ]\n')
    npy("x.npy", [1.25, -2.5, 3.1251, 0.0013])
    npy("y.npy", [1.234567, -23.45678, 3.4e-05, 0.1])
    npy("special.npy", [NAN, NAN, 1, INF, INF, INF, -INF, 2.5], shape=[2, 4])
    npy("other.npy", [NAN, 1, NAN, INF, -INF, 0, 1, 2], shape=[2, 4])
    npy("none.npy", [NAN, INF])
    npy("big.npy", [2**53, 2**53 + 1, -(2**63), 2**63 - 1], "<i8")
    npy("huge.npy", [2**53, 2**53 + 3, 2**63 - 1, -(2**63)], "<i8")
    npy("codes.npy", [127, 127, -128, 5] * 4, "|i1", [4, 4])
    npy("wide.npy", [63.5, 90, -64, 2.5] * 4, shape=[4, 4])
    npy("a/x.npy", [1, 2, 3, 4])
    npy("g/x.npy", [1, 2, 3.5, 4])
    for path in ("a/y.npy", "g/y.npy", "a/sub/left.npy", "g/right.npy", "folder/x.npy"):
        npy(path, range(8))
        npy(path.replace("a/", "ab/").replace("g/", "gb/"), range(8))
    for path, text in (("a/notes.txt", "a"), ("g/notes.txt", "b"), ("folder/notes.txt", "c"), ("ab/bad.npy", "\x93NUMPY"), ("gb/bad.npy", "")):
        Path(path).write_text(f"no tensors are in {text}" if "notes" in path else text)
    count = 400
    records = b"".join(struct.pack("<QBB6xQ", 0, 99 if i != 300 else 0, 99 if i == 300 else 0, 7) for i in range(count))
    table = struct.pack("<Q", count) + struct.pack(f"<{count}Q", *(8 + 8 * count + 24 * i for i in range(count)))
    Path("many.btf").write_bytes(table + records)
    Path("short.btf").write_bytes(bytes(3))
    shutil.copy(f"{testdata}/odd/gap_between_records.btf", "gap.btf")
    for folder in ("ab", "gb"):
        shutil.copy(f"{testdata}/bad/data-past-end.btf", folder)
    mixed = bytearray(Path(testdata, "good/mixed.btf").read_bytes())
    Path("cut.btf").write_bytes(mixed[:2700])
    mixed[16:24] = bytes(8)  # the offset of tensor 1
    mixed[2632] = 0xFF  # the rank of tensor 2
    Path("damaged.btf").write_bytes(mixed)
    run("convert", "--compress", f"{testdata}/good/mixed.btf", "whole.btf.zst")
    frames = bytearray(Path("whole.btf.zst").read_bytes())
    frames[12] ^= 0x10
    Path("wrong_frame.btf.zst").write_bytes(frames)
    run("convert", "--layout", "dla_hwc4", "--where-possible", f"{testdata}/good/layouts_f16.linear.btf", "dla.btf")
    run("convert", "--dtype", "int8", "--scale", "auto", "x.npy", "scaled.btf")
    run("convert", "--dtype", "int4", "--tensor", "0", "--overflow", "saturate", f"{testdata}/good/mixed.btf", "nibbles.btf")
    run("convert", "--layout", "coo", "--dtype", "int4", "codes.npy", "coo.btf")
    make_layers(run, f"{testdata}/layers")
    for kind in ("fit", "layers"):
        torn(f"{testdata}/{kind}/golden.npz", f"torn_{kind}.npz")
    Path("manifest.json").write_text(
        json.dumps({"schema": "btftool/manifest/1", "comment": "x", "tensors": [
            {"name": "half", "file": "8.bin", "spec": "fp16:2", "offset": 4, "order": 1, "role": "input"},
            {"name": "first", "file": "8.bin", "spec": "fp32:1", "offset": 0, "order": 0}]}))  # fmt: skip
    tensor = {"Name": "open", "Dimensions": [-1, 3], "Format/Datatype": "Row major linear FP32"}
    layer = {"Name": "a", "LayerType": "conv", "Inputs": [{"Name": "x", "Dimensions": [1], "Format/Datatype": "?"}], "Outputs": [tensor]}
    Path("engine.json").write_text(json.dumps({"Layers": [layer], "Bindings": ["x", "open"]}))
    Path("report.json").write_text(run("diff", "--json", f"{testdata}/good/mixed_noisy.btf", f"{testdata}/good/mixed.btf"))
    Path("old.json").write_text(run("diff", "--json", "--json-schema", "1", "a", "g"))
    run("diff", "--shard", "1/1", "--part", "whole.jsonl", "a", "g")
    axis = Path(f"{testdata}/onnx/quantized.onnx").read_bytes().replace(b"axis\x18\x00", b"axis\x18\x01")
    Path("axis.onnx").write_bytes(axis)
    for side, model in (("models", "fit/model.onnx"), ("others", "layers/weights.onnx")):
        Path(side).mkdir()
        Path(side, "m.onnx").write_bytes(Path(testdata, model).read_bytes())


def torn(path, copy):
    """A bit of the third member's last byte is another."""
    content = bytearray(Path(path).read_bytes())
    with zipfile.ZipFile(path) as archive:
        content[archive.infolist()[3].header_offset - 1] ^= 1
    Path(copy).write_bytes(content)


def make_layers(run, layers):
    run("convert", "a/x.npy", "a/y.npy", "near.npz")
    run("convert", "g/x.npy", "g/y.npy", "far.npz")
    run("convert", "x.npy", "y.npy", "wide.npy", "--rename", "x=one/block/conv", "--rename", "y=two/block/conv", "ambiguous.npz")
    run("convert", "x.npy", "wide.npy", "--rename", "x=three/block/conv", "doubtful.npz")
    run("convert", "--format", "npy", f"{layers}/healthy.npz", "plain/")
    run("convert", "--rename", "output=result", f"{layers}/healthy.npz", "renamed.npz")
    run("convert", "--format", "npy", "renamed.npz", "renamed/")
    Path("map.txt").write_text("result\toutput\n")
    npy("negated.npy", [-(i % 7) - 1 for i in range(64)])
    for name, zero in (("p", 1), ("q", 0), ("r", 1)):
        npy(f"zeros/{name}.npy", [zero * (i % 7 + 1) for i in range(64)])
        npy(f"full/{name}.npy", [i % 7 + 1 for i in range(64)])
    run("convert", "--unsqueeze", "0", f"{layers}/healthy.npz", "shapes.npz")
    run("convert", "--dtype", "int8", "--scale", "auto", "--zero-point", "auto", f"{layers}/dead_channel.npz", "codes.btf")
    run("convert", "--format", "npy", "codes.btf", "codes/")
    Path("layers.json").write_text(run("layers", "--json", f"{layers}/dead_channel.npz", f"{layers}/golden.npz"))


def commands(path, testdata):
    found = [f"{command} --json {testdata}/{folder}" for folder in FOLDERS for command in ("inspect --stats --strides", "validate")]
    found += [f"convert --json --dtype fp32 --where-possible {testdata}/{folder} {folder}.btf" for folder in FOLDERS]
    for line in Path(path).read_text().splitlines():
        if not line.startswith(" "):
            first = line.partition(" ")[0]
        line = f"{first} {line.strip()}" if line.startswith(" ") else line
        if line.startswith("#"):
            continue
        if not any(word in line for word in ("--manifest", "{}")):
            line = f"{line} --json"
        found.append(line.replace("$", testdata))
    return found


def of_commands(tool, root):
    """(command, documents), of a part its lines; in an empty folder. What is no JSON is a document of that text."""
    testdata = os.path.relpath(Path(root, "testdata"))

    def run(*words):
        return subprocess.run([tool, *words], capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL).stdout

    def run_line(number, line):
        part = f"{number}.jsonl"
        printed = run(*(word.replace("{}", part) for word in shlex.split(line)))
        return line, Path(part).read_text().splitlines() if "{}" in line and Path(part).exists() else [printed]

    make_files(run, testdata)
    lines = commands(Path(__file__).with_name("commands.txt"), testdata)
    with ThreadPoolExecutor() as pool:
        for line, printed in pool.map(run_line, range(len(lines)), lines):
            yield line, [parsed(text) for text in printed]


def parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def of_cases(root):
    """(name of a file, documents): lines of what cases expect on stdout."""
    for path in sorted(Path(root, "tests/cli/cases").glob("*.stdout")):
        for line in path.read_text(errors="replace").split("\n"):
            if line.startswith("{") and isinstance(document := parsed(line), dict) and document.get("schema", "").startswith("btftool/"):
                yield path.name, [document]
