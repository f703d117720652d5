"""changing_inputs.py BTFTOOL SHIM TESTDATA [--all] [WORD...]: inputs that another process writes while they are read.

Each command of a list runs once for each of its inputs, each way to change it, and a number of moments: before its n-th read
(change.c). What comes of it must be what the old file gives, what the new one gives, or exit code 2 with a message that names
the file; never something between, and no output then. `--all`: at every moment; WORD: only commands that have it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BTFTOOL, SHIM = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
TESTDATA = Path(sys.argv[3]).resolve()
EVERY = "--all" in sys.argv
WORDS = [word for word in sys.argv[4:] if word != "--all"]
MOMENTS = 4  # of each run, spread over its reads
HOW = ("patch", "append", "cut", "replace")
failures = []
counts = {"old": 0, "new": 0, "refused": 0}

# Words of a command and the inputs that are changed. OUT is its output.
COMMANDS = [
    ("inspect --stats big.btf", ["big.btf"]),
    ("inspect --stats --json big.npy", ["big.npy"]),
    ("inspect --at 5 --input-spec fp32:65536 big.raw", ["big.raw"]),
    ("validate --nan big.npz", ["big.npz"]),
    ("convert --dtype fp16 big.btf OUT.btf", ["big.btf"]),
    ("convert big.safetensors OUT.npz", ["big.safetensors"]),
    ("convert --layout coo big.npz OUT.btf", ["big.npz"]),
    ("convert big.btf.zst OUT.btf", ["big.btf.zst"]),
    ("convert --dtype int8 --scale auto a OUT.npz", ["a/y.npy"]),
    ("repair big.btf OUT.btf", ["big.btf"]),
    ("diff big.btf golden.npy", ["big.btf", "golden.npy"]),
    ("diff --json golden.npy big.npz", ["golden.npy", "big.npz"]),
    ("diff --actual-spec fp32:65536 --close big.raw big.btf.zst", ["big.raw", "big.btf.zst"]),
    ("diff a g", ["a/y.npy", "g/y.npy"]),
    ("diff --map map.txt --rules rules.json a g", ["map.txt", "rules.json"]),
    ("diff --files-from list.txt a g", ["list.txt"]),
    ("diff --strict weights.onnx other.onnx", ["weights.onnx", "other.onnx"]),
    ("diff --from-json report.json", ["report.json"]),
    ("diff --heatmap 0 --html OUT.html big.btf golden.npy", ["big.btf", "golden.npy"]),
    ("layers --json actual.npz golden.npz", ["actual.npz", "golden.npz"]),
    ("layers --json --graph weights.onnx actual.npz golden.npz", ["weights.onnx", "actual.npz", "golden.npz"]),
    ("layers --json --order order.txt --baseline base.npz actual.npz golden.npz", ["order.txt", "base.npz"]),
    ("layers --json --graph external.onnx actual.npz golden.npz", ["external.onnx", "external.bin"]),
    ("layers --html OUT.html actual.npz golden.npz", ["actual.npz"]),
    ("inspect --html OUT.html big.npy a/y.npy", ["a/y.npy"]),
    ("fit --json --graph weights.onnx golden.npz", ["weights.onnx", "golden.npz"]),
    ("fit --json --dtype int8 --graph weights.onnx golden.npz", ["weights.onnx", "golden.npz"]),
    ("merge 1.part", ["1.part"]),
]


def run(at, words, **environment):
    for old in at.glob("OUT*"):
        old.unlink()
    done = subprocess.run([BTFTOOL, "-j", "2", *words.split()], capture_output=True, cwd=at, timeout=60,
                          env={**os.environ, "LD_PRELOAD": SHIM, **environment})
    outputs = {path.name: path.read_bytes() for path in at.glob("OUT*")}
    return done.returncode, done.stdout, outputs, done.stderr.decode()


def make(at):
    """Inputs, each with another of the same kind beside it, FILE.new."""
    def tool(*words):
        done = subprocess.run([BTFTOOL, "-q", *words], cwd=at, capture_output=True, text=True)
        assert done.returncode < 2, (words, done.stderr)
        return done.stdout

    def npy(name, seed):
        values = [((seed + number) * 2654435761 % (1 << 20)) << 3 for number in range(65536)]
        data = b"".join((0x3f000000 + value).to_bytes(4, "little") for value in values)
        head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (65536,), }".ljust(117) + b"\n"
        (at / name).write_bytes(b"\x93NUMPY\x01\x00v\x00" + head + data)
        return data

    for folder in ("a", "g"):
        (at / folder).mkdir()
    for new, seed in (("", 1), (".new", 7)):
        data = npy("big.npy", seed)
        (at / ("big.raw" + new)).write_bytes(data)
        for ending in ("btf", "npz", "safetensors", "btf.zst"):
            tool("convert", "big.npy", "made." + ending)
            os.rename(at / ("made." + ending), at / f"big.{ending}{new}")
        for name in ("golden", "a/x", "a/y", "g/x", "g/y"):
            npy(f"{name}.npy{new}", 1 if not new else 3)
    os.rename(at / "big.npy", at / "big.npy.new")
    npy("big.npy", 1)
    for name in ("weights.onnx", "external.onnx", "external.bin", "golden.npz", "order.txt"):
        shutil.copy(TESTDATA / "layers" / name, at / name)
    shutil.copy(TESTDATA / "layers" / "dead_channel.npz", at / "actual.npz")
    for old, new in (("golden.npz", "base.npz"), ("golden.npz", "base.npz.new"), ("actual.npz", "golden.npz.new"),
                     ("golden.npz", "actual.npz.new"), ("weights.onnx", "other.onnx")):
        shutil.copy(at / old, at / new)
    model = (at / "weights.onnx").read_bytes()
    for name in ("weights.onnx", "other.onnx"):
        changed = bytearray(model)
        changed[len(model) // 2:len(model) // 2 + 64] = b"\x3d" * 64
        (at / (name + ".new")).write_bytes(changed)
    for name in ("external.onnx", "external.bin"):
        content = (at / name).read_bytes()
        (at / (name + ".new")).write_bytes(content.replace(b"external.bin", b"external.bit") if name.endswith("x") else content[::-1])
    (at / "order.txt.new").write_bytes(b"".join((at / "order.txt").read_bytes().splitlines(True)[:-1]))
    for name, old, new in (("map.txt", "/(.*)/$1/\n", "x\tx\n"), ("list.txt", "x.npy\ny.npy\n", "y.npy\n"),
                           ("rules.json", '{"schema": "btftool/rules/1", "rules": [{"tensor": "*", "atol": 0.5}]}',
                            '{"schema": "btftool/rules/1", "rules": []}')):
        (at / name).write_text(old)
        (at / (name + ".new")).write_text(new)
    (at / "report.json").write_text(tool("diff", "--json", "big.npy", "golden.npy"))
    (at / "report.json.new").write_text(tool("diff", "--json", "golden.npy", "big.btf"))
    for name, words in (("1.part", ["a", "g"]), ("1.part.new", ["g", "a"])):
        tool("diff", "--shard", "1/1", "--part", name, *words)


def aged(at):
    """As files that nobody has written for long; the times of what replaces them are those that change.c gives."""
    for path in at.rglob("*"):
        if path.is_file():
            os.utime(path, (1.1e9, 1.1e9) if path.suffix == ".new" else (1e9, 1e9))


def change(at, name, how):
    """By change.c, in front of a read of another program: before the run, whose threads may open a file before they read one."""
    subprocess.run(["cat", "/dev/null"], check=True, env={**os.environ, "LD_PRELOAD": SHIM, "BTF_CHANGE": f"{how}:1:{at / name}"})


def one(fresh, at, words, name, how):
    def prepare():
        for suffix in ("", ".new"):
            shutil.copy2(fresh / (name + suffix), at / (name + suffix))

    prepare()
    reads = at / "reads"
    reads.write_bytes(b"")
    old = run(at, words, BTF_READS=str(reads))
    assert old[0] < 2, (words, old[3])
    total = reads.stat().st_size
    change(at, name, how)
    new = run(at, words)
    moments = sorted({1 + number * max(total - 1, 1) // (MOMENTS - 1) for number in range(MOMENTS)})
    for moment in range(1, total + 1) if EVERY else moments:
        prepare()
        found = run(at, words, BTF_CHANGE=f"{how}:{moment}:{at / name}")
        what = f"{words}: {how} of {name} at read {moment} of {total}"
        base = Path(name).name
        if found[:3] == old[:3]:
            counts["old"] += 1
        elif found[:3] == new[:3] and (found[0] < 2 or found[3]):
            counts["new"] += 1
        elif found[0] == 2 and base in found[3] and all("while it was read" in str(page) for page in found[2].values()):
            counts["refused"] += 1
        else:
            failures.append(what)
            print(f"FAILED {what}: exit {found[0]}, old {old[0]}, new {new[0]}; {found[3].strip()!r}, outputs {list(found[2])}")
    prepare()


def main():
    with tempfile.TemporaryDirectory() as scratch:
        fresh, at = Path(scratch, "fresh"), Path(scratch, "work")
        fresh.mkdir()
        make(fresh)
        aged(fresh)
        shutil.copytree(fresh, at)
        for words, names in COMMANDS:
            if WORDS and not all(word in words for word in WORDS):
                continue
            for name in names:
                for how in HOW:
                    one(fresh, at, words, name, how)
    print(f"{sum(counts.values()) + len(failures)} runs: {counts}, {len(failures)} failed")
    return 1 if failures else 0


sys.exit(main())
