#!/usr/bin/env python3
"""diff by shards and merge: shards.py BTFTOOL

The report of one run is the oracle of merge; what each shard gets is worked out here. Files are
written by this program, without NumPy, so that it runs where Debian's packages are all there is.
"""
import itertools
import json
import os
import random
import signal
import subprocess
import tempfile
import time

from support import BTFTOOL, check, end, lines, npy, report, run, trouble

REPORTS = [
    [],
    ["--json"],
    ["--json", "--json-schema", "1"],
    ["--summary"],
    ["--all"],
    ["--sort", "error"],
    ["--junit", "report.xml", "--html", "report.html"],
    ["--json", "--html", "report.html"],
    ["-q"],
]

def make(pairs):
    rng = random.Random(7)
    for i in range(pairs):
        values = [rng.gauss(0, 1) for _ in range(rng.choice([3, 50, 700, 20000 if i < 3 else 90]))]
        place = ["", "sub/", "sub/deep er/"][i % 3] + f"t{i}.npy"
        if i != 4:
            npy("out/" + place, values)
        if i % 6 == 1:
            values[rng.randrange(len(values))] += 0.5
        if i % 9 == 2:
            values = [2 * v for v in values]
        if i == 7:
            values = values[:-1]
        if i == 10:
            values[0] = float("nan")
        if i != 5:
            npy("golden/" + place, values)
    with open("out/bad.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00nothing that is a header")
    npy("golden/bad.npy", [1.0])
    # Names that are not UTF-8, and characters that stand for such bytes in a part.
    for name in (b"latin \xe9\xff.npy", "\U0010fee9\u00e9.npy".encode()):
        npy(b"out/" + name, [1.0, 2.0])
        npy(b"golden/" + name, [1.0, 3.0])
    for side in ("out", "golden"):
        with open(side + "/notes.txt", "w") as file:
            file.write("notes of " + side)


def parts(of, options=(), operands=("out", "golden"), folder="parts"):
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(folder):
        os.remove(f"{folder}/{name}")
    paths = [f"{folder}/{k}.jsonl" for k in range(1, of + 1)]
    for k, path in enumerate(paths, 1):
        done = run("diff", *options, "--shard", f"{k}/{of}", "--part", path, *operands)
        check(f"shard {k}/{of} {options} ends well", done.returncode, 0)
    return paths


def check_merge():
    commands = [
        ((), ("out", "golden")),
        (("--close", "--max-mismatch", "1%", "--cosine", "0.9"), ("out", "golden")),
        (("--rtol", "1e-3,*t1*=0.1", "--atol", "1e-6", "--heatmap"), ("out", "golden")),
        (("--strict", "--no-equal-nan", "--no-hints", "--show", "1"), ("out/", "golden")),
        (("--include", "*t1*", "--ulp", "3"), ("out", "golden")),
        ((), ("out/sub/t1.npy", "golden/sub/t1.npy")),
        (("--rtol", "1e-3"), ("out/bad.npy", "golden/bad.npy")),
    ]
    for options, operands in commands:
        for of in (1, 2, 7, 64) if not options else (3,):
            paths = parts(of, options, operands)
            for words in REPORTS:
                if "--summary" in words and ("--heatmap" in options or "--show" in options):
                    continue  # diff refuses these together
                random.Random(of).shuffle(paths)
                check(
                    f"merge of {of} {words}: diff {options} {operands}",
                    report("merge", "--expect", str(of), *words, *paths),
                    report("diff", *options, *words, *operands),
                )


def file_name(text):
    """A name as a part has it: U+10FE80 to U+10FEFF are bytes."""
    return b"".join(
        bytes([ord(c) - 0x10FE00]) if 0x10FE80 <= ord(c) <= 0x10FEFF else c.encode() for c in text
    )


def check_plan():
    """Longest first, each to the least loaded, by brute force."""
    sizes = {}
    for side in (b"out", b"golden"):
        for folder, _, names in os.walk(side):
            for name in names:
                if name == b"notes.txt":
                    continue  # no tensors
                path = os.path.join(folder, name)
                place = os.path.relpath(path, side)
                sizes[place] = sizes.get(place, 0) + os.path.getsize(path)
    for of in (1, 2, 5, 64):
        loads = [0] * of
        expected = [set() for _ in range(of)]
        for cost, place in sorted((-(size + 65536), place) for place, size in sizes.items()):
            least = loads.index(min(loads))
            loads[least] -= cost
            expected[least].add(place)
        paths = parts(of)
        found = [{file_name(item["path"]) for item in lines(path)[1:-1]} for path in paths]
        check(f"plan of {of} shards", found, expected)
        heads = [lines(path)[0] for path in paths]
        check(f"one plan of {of}", len({head["plan"] for head in heads}), 1)
        check("the head's members", set(heads[0]) >= {"schema", "shard", "of", "plan", "version", "command", "options", "roots"}, True)  # fmt: skip
        for path in paths:
            for item in lines(path)[1:-1]:
                check("an item's members", set(item) >= {"path", "result", "error", "tensors", "sizes", "mtimes_ns", "seconds"}, True)  # fmt: skip
            check("an end", lines(path)[-1]["end"], True)


def check_bad_parts():
    paths = parts(4, ("--rtol", "1e-3"))
    again = "btftool diff --shard 2/4 --part parts/2.jsonl --rtol=1e-3 out golden"
    good = open(paths[1], "rb").read()

    def with_second(data):
        with open(paths[1], "wb") as file:
            file.write(data)
        return paths

    trouble("one is missing", [paths[0], *paths[2:]], "shard 2 of 4 is missing", again)
    trouble("two are missing", paths[2:], "shards 1, 2 of 4 are missing", "--shard 1/4")
    trouble("--expect", ["--expect", "5", *paths], "4 shards", "--expect 5")
    for cut in (len(good) - 1, len(good) // 2, good.index(b"\n") + 1):
        trouble(f"cut at {cut}", with_second(good[:cut]), "parts/2.jsonl", "incomplete", again)
    trouble("cut in its head", with_second(good[:20]), "parts/2.jsonl", "not a part")
    trouble("a byte changed", with_second(good.replace(b'"same"', b'"sane"', 1)), "changed", again)
    trouble("more behind the end", with_second(good + b"{}\n"), "after the end", again)
    trouble("no JSON", with_second(b"\x93NUMPY\n"), "parts/2.jsonl", "not a part of btftool")
    trouble("a report", ["report.json"], "report.json", "btftool/part/1") if write_report() else None
    with_second(good)
    trouble("no such file", ["parts/no.jsonl"], "parts/no.jsonl")

    # The same part twice is no trouble; another one for its shard is.
    copy = "parts/copy.jsonl"
    run("diff", "--rtol", "1e-3", "--shard", "2/4", "--part", copy, "out", "golden")
    check("a part twice", report("merge", "--json", copy, *paths), report("diff", "--json", "--rtol", "1e-3", "out", "golden"))  # fmt: skip
    values = "out/t3.npy"
    before = os.stat(values)
    kept = open(values, "rb").read()
    shard = next(k for k in range(4) if any(i["path"] == "t3.npy" for i in lines(paths[k])[1:-1]))
    with open(values, "r+b") as file:
        file.seek(-1, 2)
        file.write(b"\x7e")
    run("diff", "--rtol", "1e-3", "--shard", f"{shard + 1}/4", "--part", copy, "out", "golden")
    trouble("other results", [*paths, copy], "other results", f"--shard {shard + 1}/4")
    with open(values, "wb") as file:
        file.write(kept)
    os.utime(values, ns=(before.st_atime_ns, before.st_mtime_ns))

    # Parts of other comparisons.
    for what, words, told in (
        ("other options", ["--rtol", "1e-2", "--shard", "2/4"], "--rtol=1e-2"),
        ("other shards", ["--rtol", "1e-3", "--shard", "2/5"], "5 shards"),
    ):
        run("diff", *words, "--part", paths[1], "out", "golden")
        trouble(what, paths, "parts/2.jsonl", told, again)
    npy("out/new.npy", [1.0])
    run("diff", "--rtol", "1e-3", "--shard", "2/4", "--part", paths[1], "out", "golden")
    trouble("other files", paths, "parts/2.jsonl", "other files", again)
    os.remove("out/new.npy")
    with_second(good.replace(b'"version":"', b'"version":"9', 1))
    trouble("another version", paths, "parts/2.jsonl", "by btftool 9", again)
    with_second(good)
    trouble("a report over a part", ["--html", paths[0], *paths], "would overwrite")


def write_report():
    with open("report.json", "wb") as file:
        file.write(run("diff", "--json", "out", "golden").stdout)
    return True


def check_by_tensor():
    """Few files of many tensors: each tensor is an item, and the report is that of the files."""
    for side in ("out", "golden"):
        os.makedirs(f"few/{side}/sub")
        good = [f"{side}/{name}" for name in os.listdir(side) if name[0] == "t"]
        run("convert", "-q", *sorted(good), f"{side}/sub", f"few/{side}/a.npz")
        run("convert", "-q", f"{side}/sub", f"few/{side}/sub/b.btf")
        npy(f"few/{side}/c.npy", [1.0, 2.0])
        npy(f"few/{side}/only {side}.npy", [1.0, 2.0])
    with open("few/out/sub/b.btf", "rb") as file:
        damaged = bytearray(file.read())
    damaged[8 * 20 + 5] = 0xEE  # the offset table, or the header of a tensor
    for side in ("out", "golden"):
        with open(f"few/{side}/d.btf", "wb") as file:
            file.write(damaged if side == "out" else damaged[:700])
    for options, operands in (
        ((), ("few/out", "few/golden")),
        (("--close", "--strict"), ("few/out", "few/golden")),
        (("--rtol", "1e-3,0=0.5", "--tensor", "t*"), ("few/out", "few/golden")),
        (("--rtol", "1e-3,1=0.5", "--heatmap"), ("few/out/a.npz", "few/golden/a.npz")),
        (("--pair-by", "number"), ("few/out/a.npz", "few/golden/sub/b.btf")),
    ):
        for of in (1, 3, 64):
            paths = parts(of, ("--shard-by", "tensor", *options), operands)
            for words in REPORTS:
                if "--summary" in words and "--heatmap" in options:
                    continue
                check(
                    f"by tensors, merge of {of} {words}: diff {options} {operands}",
                    report("merge", "--expect", str(of), *words, *paths),
                    report("diff", *options, *words, *operands),
                )
    items = [item for path in paths for item in lines(path)[1:-1]]
    tensors = len(json.loads(run("inspect", "--json", "few/out/a.npz").stdout)["files"][0]["tensors"])
    check("an item for each tensor", len(items) >= tensors, True)
    check("with one tensor", {len(item["tensors"]) for item in items}, {1})
    part = paths[0]
    before = open(part, "rb").read()
    count = before.count(b"\n") - 2
    done = run("diff", "--shard-by", "tensor", "--pair-by", "number", "--resume", "--shard", "1/64", "--part", part, *operands)  # fmt: skip
    check("resume by tensors", f", {count} from an earlier run" in done.stdout.decode(), count > 0)
    trouble("by files and by tensors", [*parts(2, (), operands)[:1], *parts(2, ("--shard-by", "tensor"), operands, "others")[1:]], "--shard-by=tensor")  # fmt: skip
    # What no tensor is for is trouble, what one is for is none.
    pair = ("few/out/a.npz", "few/golden/a.npz")
    for options in (("--permute", "0,1,2,4,3,5"), ("--actual-scale", "2")):
        one_run = report("diff", *options, *pair)
        check(f"{options} for no tensor", one_run[0], 2)
        for of in (1, 3, 64):
            paths = parts(of, ("--shard-by", "tensor", *options), pair)
            check(f"{options}, merge of {of}", report("merge", *paths), one_run)
    for side in ("e", "f"):
        npy(f"empty/{side}/one.npy", [], [0, 3])
        npy(f"empty/{side}/two.npy", [], [0])
        run("convert", "-q", f"empty/{side}/one.npy", f"empty/{side}/two.npy", f"empty/{side}.npz")
    pair = ("empty/e.npz", "empty/f.npz")
    for of in (1, 2, 7):
        paths = parts(of, ("--shard-by", "tensor"), pair)
        for words in REPORTS:
            check(f"no elements, merge of {of} {words}", report("merge", *words, *paths), report("diff", *words, *pair))
    os.makedirs("ranks")
    for side in ("a", "b"):
        npy(f"ranks/{side}/one.npy", [1.0, 2.0])
        npy(f"ranks/{side}/two.npy", [1.0, 2.0, 3.0, 4.0], [2, 2])
        run("convert", "-q", f"ranks/{side}/one.npy", f"ranks/{side}/two.npy", f"ranks/{side}.npz")
    pair = ("ranks/a.npz", "ranks/b.npz")
    paths = parts(3, ("--shard-by", "tensor", "--permute", "1,0"), pair)
    check("--permute for one tensor", report("merge", *paths), report("diff", "--permute", "1,0", *pair))
    done = run("diff", "--shard-by", "tensors", "--part", "x", *operands)
    check("--shard-by tensors", (done.returncode, b"file|tensor" in done.stderr), (2, True))


def check_resume():
    expected = report("diff", "--json", "out", "golden")
    path = "parts/1.jsonl"
    parts(1)
    whole = open(path, "rb").read()
    count = whole.count(b"\n") - 2
    ends = [i + 1 for i, byte in enumerate(whole) if byte == 10]
    for cut, kept in ((ends[0], 0), (ends[3], 3), (ends[3] + 40, 3), (ends[-2], count), (20, 0)):
        os.path.exists(path) and os.remove(path)
        with open(path + ".partial", "wb") as file:
            file.write(whole[:cut])
        done = run("diff", "--resume", "--part", path, "out", "golden")
        check(f"resume of {cut}", done.returncode, 0)
        told = f", {kept} from an earlier run" if kept else ""
        check("what was kept", done.stdout.decode(), f"shard 1 of 1: {count} pairs{told}, {path}\n")
        check(f"merge after {cut}", report("merge", "--json", path), expected)
        check("no partial is left", os.path.exists(path + ".partial"), False)

    # A file that was changed is compared again; so is all after other options.
    os.utime("out/t0.npy")
    done = run("diff", "--resume", "--part", path, "out", "golden")
    check("one changed", f", {count - 1} from an earlier run" in done.stdout.decode(), True)
    done = run("diff", "--resume", "--rtol", "1", "--part", path, "out", "golden")
    check("another plan", "from before" in done.stdout.decode(), False)
    check("which is said", "another plan" in done.stderr.decode(), True)


def check_killed():
    """Killed at any time: FILE is not there, and what FILE.partial has is kept."""
    for i in range(3):
        npy(f"out/big/b{i}.npy", [0.5] * 400000)
        npy(f"golden/big/b{i}.npy", [0.5] * 400000)
    expected = report("diff", "--json", "out", "golden")
    path = "parts/killed.jsonl"
    finished = 0
    for delay in itertools.chain((0.004, 0.01, 0.02, 0.03, 0.05), [None]):
        process = subprocess.Popen(
            [BTFTOOL, "diff", "-j1", "--resume", "--part", path, "out", "golden"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        if delay is None:
            process.wait()
        else:
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
            process.wait()
        finished += process.returncode == 0
        check("FILE is whole, or not there", os.path.exists(path), finished > 0)
    check("the last one ended", process.returncode, 0)
    check("merge after kills", report("merge", "--json", path), expected)


def check_words():
    for words, told in (
        (["--shard", "0/3", "--part", "x"], "shards are numbered from 1"),
        (["--shard", "4/3", "--part", "x"], "the last of 3 shards is 3/3"),
        (["--shard", "3", "--part", "x"], "K/N"),
        (["--shard", "1/0", "--part", "x"], "K/N"),
        (["--shard", "1/3"], "--part"),
        (["--resume"], "--part"),
        (["--part", "-"], "file name"),
        (["--part", "x", "--json"], "btftool merge"),
    ):
        done = run("diff", *words, "out", "golden")
        check(f"{words}: exit status", done.returncode, 2)
        check(f"{words}: '{told}'", told in done.stderr.decode(), True)
    for part, why in (("/dev/full", "regular file"), ("no folder/x", "No such file")):
        done = run("diff", "--part", part, "out", "golden")
        check(f"--part {part}", done.returncode, 2)
        check(f"--part {part} says why", why in done.stderr.decode(), True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make(30)
        check_words()
        check_plan()
        check_merge()
        check_bad_parts()
        check_by_tensor()
        check_resume()
        check_killed()
        os.chdir("/")
    end()


main()
