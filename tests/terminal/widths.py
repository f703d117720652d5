#!/usr/bin/env python3
"""No line of a text report is wider than its terminal, wide ones are used, nothing that is not text reaches it, and the
command that a report ends with can be typed: widths.py BTFTOOL TESTDATA [--show]"""
import ctypes
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from screen import on_terminal

BTFTOOL, TESTDATA = map(os.path.abspath, sys.argv[1:3])
SHOW = "--show" in sys.argv
failures = 0

libc = ctypes.CDLL(None)
libc.setlocale(0, b"C.UTF-8")
libc.wcwidth.argtypes = [ctypes.c_wchar]


def columns_of(line):
    """As the C library counts them; what it does not know yet counts nothing."""
    return sum(max(0, libc.wcwidth(character)) for character in line)


def fail(what):
    global failures
    failures += 1
    print("FAILED " + what)


def safetensors(path, tensors):
    """Tensors of float32: {name: numbers}"""
    head, data = {}, b""
    for name, numbers in tensors.items():
        piece = struct.pack(f"<{len(numbers)}f", *numbers)
        head[name] = {"dtype": "F32", "shape": [len(numbers)], "data_offsets": [len(data), len(data) + len(piece)]}
        data += piece
    text = json.dumps(head).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


LONG = "model.encoder.layers." + ".".join(f"block{i}" for i in range(60)) + ".weight"
NAMES = [
    "plain",
    LONG,
    "層/畳み込み/重み" * 12,
    "\x1b[2J\x1b[31mred\x07\r\n\ttab",
    "e\u0301\u0302" * 40,
    "\U0001f600" * 50,
    "right\u202eto left",
    "it's $HOME `id` \"quoted\" \\",
    "-x",
]


def hostile(directory):
    """Two files and two directories whose names and tensors try to break lines."""
    golden = {name: [0.5, 1.0, -2.0, 3.25e-5] for name in NAMES}
    actual = {name: [0.5, 1.0, 2.0, 3.25e-5 + i] for i, name in enumerate(NAMES)}
    actual["plain"] = golden["plain"]
    os.mkdir(directory + "/a")
    os.mkdir(directory + "/g")
    for side, tensors in ("a", actual), ("g", golden):
        safetensors(f"{directory}/{side}.safetensors", tensors)
        for i, (name, numbers) in enumerate(tensors.items()):
            file = re.sub("[/\0]", "_", name)[:60]
            safetensors(f"{directory}/{side}/{i}{file}.safetensors", {"w": numbers})
    safetensors(directory + "/a/only.safetensors", {"w": [1.0]})


def commands(directory):
    """Words of every command that prints text."""
    data = TESTDATA
    good, noisy, layers = data + "/good/mixed.btf", data + "/good/mixed_noisy.btf", data + "/layers/"
    yield from (["inspect", good, noisy], ["inspect", "--stats", "--strides", good])
    yield from (["inspect", "--values", "--tensor", "0", good], ["inspect", "--at=1,1,1,1", "--tensor", "1", good])
    yield ["inspect", layers + "weights.onnx"]
    yield ["inspect", directory + "/a.safetensors", directory + "/g"]
    for engine in sorted(os.listdir(data + "/tensorrt")):
        if engine.endswith(".json"):
            yield ["inspect", data + "/tensorrt/" + engine]
    for options in [], ["--all"], ["--summary"], ["--close"], ["--heatmap"], ["--sort=error"], ["-v"]:
        yield ["diff", *options, noisy, good]
        yield ["diff", *options, directory + "/a", directory + "/g"]
        yield ["diff", *options, directory + "/a.safetensors", directory + "/g.safetensors"]
    for tensor in range(4):
        yield ["diff", f"--tensor={tensor}", "--heatmap", "--show=20", "--rtol=1e-7", noisy, good]
    yield ["diff", "--pair=1:2", directory + "/a.safetensors", directory + "/g.safetensors"]
    yield ["diff", "--from-json", directory + "/report.json", "--atol=0.1"]
    for case in "scale", "dead_channel", "swapped", "sane":
        if os.path.exists(f"{layers}{case}.npz"):
            yield ["layers", "--graph", layers + "weights.onnx", f"{layers}{case}.npz", layers + "golden.npz"]
            yield ["layers", "--all", f"{layers}{case}.npz", layers + "golden.npz"]
    yield ["layers", directory + "/a.safetensors", directory + "/g.safetensors"]
    yield ["layers", "--all", directory + "/a", directory + "/g"]
    for dtype in "fp16", "int8", "fp8,int8":
        yield ["fit", f"--dtype={dtype}", "--graph", data + "/fit/model.onnx", data + "/fit/golden.npz"]
        yield ["fit", "--all", f"--dtype={dtype}", directory + "/a", directory + "/g.safetensors"]
    bad = [f"{data}/bad/{name}" for name in sorted(os.listdir(data + "/bad"))]
    yield ["validate", good, *bad, directory + "/a"]
    yield ["validate", "--strict", "--all", *(f"{data}/odd/{name}" for name in sorted(os.listdir(data + "/odd")))]
    for options in ["--dtype=fp16"], ["--dtype=int8"], ["--dtype=fp8", "-v"], ["--scale=auto", "--dtype=int8"]:
        yield ["convert", *options, good, directory + "/out.btf"]
        yield ["convert", *options, directory + "/a.safetensors", directory + "/out.safetensors"]
    yield ["convert", "--format=raw", "--tensor=0", good, directory + "/out.bin"]
    for damaged in bad[::5]:
        yield ["repair", damaged, directory + "/saved.btf"]
    yield from (["types"], ["types", "fp8"], ["types", "kHWC8", "1x3x2x2"], ["types", "kCHW32", "1x40x2x2"])
    yield from (["explain"], ["explain", "rounding"], ["help"], ["diff", "--help-all"])
    yield ["merge", "--expect=2", directory + "/1.part", directory + "/2.part"]
    yield ["diff", "--no-such", "x" * 300, good]
    yield ["diff", directory + "/" + "y" * 200, "層" * 60]


def check(words, columns):
    code, text = on_terminal([BTFTOOL, *words], columns)
    title = f"{' '.join(words):.120} at {columns}"
    if code not in (0, 1, 2):
        fail(f"{title}: exit code {code}")
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    if SHOW:
        print(f"=== {title}\n{text}")
    if odd := re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text):
        fail(f"{title}: {odd[:3]!r} in it")
    for line in text.split("\n"):
        # A word of the help, such as an example, stays whole.
        if columns_of(line) > columns and not line.startswith("  btftool"):
            fail(f"{title}: {columns_of(line)} columns: {line!r:.300}")
            break
    return text


def next_of(text):
    """The command at the end of a report, over its lines."""
    found = re.search(r"^(?:next: |  next    )((?:.*\\\n)*.*)$", text, re.M)
    return found and found[1]


def check_next(words, environment, code=1, says="mismatches, "):
    """Typed as a pipe has it, and as it is copied from a terminal; its exit code and what it says."""
    piped = subprocess.run([BTFTOOL, *words], capture_output=True, text=True, check=False).stdout
    commands = [next_of(text) for text in (piped, check(words, 80), check(words, 60))]
    results = set()
    for shell in filter(shutil.which, ("bash", "zsh")):
        for command in commands:
            typed = subprocess.run(
                [shell, "-c", command or "exit 9"], env=environment, capture_output=True, text=True, check=False
            )
            if typed.returncode != code or says not in typed.stdout or typed.stderr:
                fail(f"{shell}: {command!r} after {words}: {typed}")
            results.add(typed.stdout)
    if len(results) != 1:
        fail(f"{words}: next commands that differ: {commands}")


def check_map(directory):
    """A heat map that has more cells than a narrow terminal has columns: fewer, which cover more."""
    off = [i for i in range(1000) if 300 <= i < 420 and i % 3]
    for side in "a", "g":
        safetensors(f"{directory}/map_{side}.safetensors", {"w": [float(i in off and side == "a") for i in range(1000)]})
    cells = set()
    for columns in 56, 60, 70, 80, 120:
        text = check(["diff", "--heatmap", "--show=0", f"{directory}/map_a.safetensors", f"{directory}/map_g.safetensors"], columns)
        first, last, bad, count = map(int, re.search(r"densest at dim 0 = (\d+)-(\d+): (\d+) of (\d+) elements", text).groups())
        if count != last - first + 1 or bad != len([i for i in off if first <= i <= last]):
            fail(f"map at {columns}: {first}-{last}: {bad} of {count}")
        cells.add(count)
    if len(cells) < 2:
        fail(f"maps of cells of {cells} elements, whatever the width")


# Names that differ in their beginnings, middles and ends, and in nothing that a cut leaves.
MANY = (
    [f"model.layers.{i}.self_attn.{kind}_proj.weight" for i in range(10) for kind in "qkvo"]
    + [f"model.layers.{i}.mlp.{kind}_proj.weight" for i in range(11) for kind in ("gate", "up", "down")]
    + [f"{side}.of.a.network.with.a.very.long.name.that.goes.on.and.on.weight" for side in ("encoder", "decoder")]
    + ["lm_head.weight", "model.embed_tokens.weight"]
    + ["x" * 90 + middle + "y" * 90 for middle in ("a", "b", "cc")]
)


def check_names(directory):
    """No name is shortened to what another one is; and in a pipe none is shortened."""
    for side, off in ("many_a", 1.0), ("many_g", 0.0):
        safetensors(f"{directory}/{side}.safetensors", {name: [1.0 + off * i, 2.0] for i, name in enumerate(MANY)})
    a, g = f"{directory}/many_a.safetensors", f"{directory}/many_g.safetensors"
    for words, row in (
        (["inspect", a], r"^ *\d+  float32 .* (\S+)$"),
        (["diff", "--no-hints", a, g], r"^[x ] (\S+) +[\d.<]+%? "),
        (["diff", "--no-hints", "--sort=error", a, g], r"^[x ] (\S+) +[\d.<]+%? "),
        (["layers", "--no-hints", "--all", a, g], r"^ *\d+  (\S+) .*(?:healthy|broke|unjudged)"),
        (["fit", "--all", a], r"^  (\S+) +[\d.]+ +[\d.e+]+ "),
        (["fit", "--all", "--dtype=int8", a], r"^  (\S+) +(?:maximum|p99|squares|scale|zeros|no )"),
    ):
        # In few columns scales are sentences, whose names are whole.
        for columns in (80, 100, 132) if "--dtype=int8" in words else (60, 80, 100, 132):
            shown = re.findall(row, check(words, columns), re.M)
            if len(shown) < len(MANY) or len(set(shown)) != len(set(shown[: len(MANY)])) or len(set(shown)) < len(MANY):
                fail(f"{words[:3]} at {columns}: {len(shown)} rows with {len(set(shown))} names of {len(MANY)}: {shown[:3]}")
        piped = subprocess.run([BTFTOOL, *words], capture_output=True, text=True, check=False).stdout
        if absent := [name for name in MANY if name not in piped]:
            fail(f"{words[:3]} in a pipe: no {absent[0]}, and {len(absent) - 1} more")


def main():
    with tempfile.TemporaryDirectory() as directory:
        hostile(directory)
        environment = {**os.environ, "PATH": os.path.dirname(BTFTOOL) + ":" + os.environ["PATH"]}
        a, g = directory + "/a", directory + "/g"
        for k in "1", "2":
            subprocess.run([BTFTOOL, "-q", "diff", f"--shard={k}/2", f"--part={directory}/{k}.part", a, g], check=True)
        with open(directory + "/report.json", "wb") as file:
            subprocess.run([BTFTOOL, "diff", "--json", a + ".safetensors", g + ".safetensors"], stdout=file, check=False)
        count = 0
        for words in commands(directory):
            for columns in (80,) if words[0] == "repair" else (60, 80, 120, 200):
                check(words, columns)
                count += 1
        if not any(len(line) > 100 for line in check(["diff", a, g], 200).split("\n")):
            fail("a wide terminal is not used")
        check_map(directory)
        check_names(directory)
        for words in (
            ["diff", a, g],
            ["diff", "--close", "--rtol=*=1e-3", "--no-hints", a, g],
            ["diff", a + ".safetensors", g + ".safetensors"],
            ["diff", "--rtol=1=1e-3,0=1e-2", "--cosine=0.9999", a + ".safetensors", g + ".safetensors"],
            ["diff", TESTDATA + "/good/mixed_noisy.btf", TESTDATA + "/good/mixed.btf"],
            ["layers", "--no-hints", a, g],
            ["layers", TESTDATA + "/layers/dead_channel.npz", TESTDATA + "/layers/golden.npz"],
            ["merge", "--expect=2", directory + "/1.part", directory + "/2.part"],
        ):
            check_next(words, environment)
        line, cube = directory + "/line.safetensors", directory + "/it's a cube.npy"
        safetensors(line, {"line": [0.5 * i for i in range(24)]})
        for made, options in (cube, ["--reshape=2,3,4", line]), ("turned", ["--permute=2,0,1", cube]), ("ones", ["--unsqueeze=1", cube]):
            subprocess.run([BTFTOOL, "-q", "convert", *options, os.path.join(directory, made.removesuffix(".npy") + ".npy")], check=True)
        for other in line, directory + "/turned.npy", directory + "/ones.npy":
            check_next(["diff", "--atol=0.25", other, cube], environment, 0, "same: 1 tensor")
        check_next(["diff", line, a + ".safetensors"], environment, 0, "line.safetensors: safetensors, 1 tensor")
        for i in range(1, len(NAMES)):
            check_next(["diff", f"--include={i}*", a, g], environment)
    print(f"{count} reports on terminals: " + (f"{failures} failures" if failures else "every line fits"))
    return 1 if failures else 0


sys.exit(main())
