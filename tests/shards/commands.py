#!/usr/bin/env python3
"""validate, layers, fit and convert by shards and merge: commands.py BTFTOOL TESTDATA

The report of one run is the oracle.
"""
import json
import os
import random
import shutil
import sys
import tempfile

from support import check, end, lines, npy, report, run, trouble

TESTDATA = os.path.abspath(sys.argv[2])


def parts(command, of, options, operands, folder="parts"):
    """The parts of a command, one made again from nothing, in any order."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    paths = [f"{folder}/{k}.jsonl" for k in range(1, of + 1)]
    for k, path in enumerate(paths, 1):
        done = run(command, *options, "--shard", f"{k}/{of}", "--part", path, *operands)
        check(f"{command} {options} {k}/{of} ends well: {done.stderr}", done.returncode, 0)
    random.Random(of).shuffle(paths)
    return paths


def check_merge(command, options, operands, reports, shards=(1, 2, 7, 64)):
    for of in shards:
        paths = parts(command, of, options, operands)
        items = [item for path in paths for item in lines(path)[1:-1]]
        numbers = sorted(item["number"] for item in items)
        check(f"{command}: each item once", numbers, list(range(len(numbers))))
        heads = [lines(path)[0] for path in paths]
        check(f"{command}: one plan", len({(head["plan"], head["items"]) for head in heads}), 1)
        check(f"{command}: items of the plan", heads[0]["items"], len(items))
        for words in reports:
            check(
                f"merge of {of} {words}: {command} {options} {operands}",
                report("merge", "--expect", str(of), *words, *paths),
                report(command, *options, *words, *operands),
            )
    return paths


def check_validate():
    for name in ("good", "bad", "npy", "npy-bad", "onnx-set", "safetensors-sharded"):
        shutil.copytree(f"{TESTDATA}/{name}", f"all/{name}")
    with open("all/notes.txt", "w") as file:
        file.write("no tensors")
    for i in range(60):
        npy(f"nan/{i}.npy", [float("nan")] * (1 + 100 * (i % 7)))
    reports = ([], ["--json"], ["-q"])
    check_merge("validate", [], ["all"], reports)
    check_merge("validate", ["--strict", "--nan"], ["all/", "nan"], reports, (3,))
    check_merge("validate", ["--all", "--nan", "--for", "tfrt"], ["nan", "all/good", "all/bad"], reports, (5,))  # fmt: skip
    check_merge("validate", [], ["nan/1.npy", "no such file", "nan/2.npy"], reports, (2,))
    paths = parts("validate", 3, ["--strict"], ["all"])
    trouble("a report that validate has not", ["--html", "x.html", *paths], "--html", "validate")
    paths.remove("parts/2.jsonl")
    trouble("one is missing", paths, "shard 2 of 3 is missing", "btftool validate --shard 2/3 --part parts/2.jsonl --strict all")  # fmt: skip
    done = run("validate", "--json", "--part", "x", "all")
    check("--json is merge's", (done.returncode, b"btftool merge" in done.stderr), (2, True))
    # A file that was changed is looked at again, and only that.
    run("validate", "--part", "one.jsonl", "all")
    count = len(lines("one.jsonl")) - 2
    os.utime("all/npy/" + sorted(os.listdir("all/npy"))[0])
    done = run("validate", "--resume", "--part", "one.jsonl", "all")
    check("resume", done.stdout.decode(), f"shard 1 of 1: {count} files, {count - 1} from an earlier run, one.jsonl\n")  # fmt: skip
    check("merge after it", report("merge", "--json", "one.jsonl"), report("validate", "--json", "all"))  # fmt: skip


def check_layers():
    nets = f"{TESTDATA}/layers"
    golden = f"{nets}/golden.npz"
    reports = ([], ["--json"], ["--all"], ["-q"], ["--junit", "report.xml", "--html", "report.html"])
    for name in ("healthy", "scale", "nan", "dead_channel", "dump", "missing", "inputs"):
        check_merge("layers", [], [f"{nets}/{name}.npz", golden], reports, (3,))
        graph = ["--graph", f"{nets}/weights.onnx"]
        check_merge("layers", graph, [f"{nets}/{name}.npz", golden], reports, (2,))
    broken = f"{nets}/dead_channel.npz"
    healthy = f"{nets}/healthy.npz"
    check_merge("layers", ["--baseline", healthy, "--compute", "fp16"], [broken, golden], reports)
    check_merge("layers", ["--expect-output", healthy, "--no-hints"], [broken, golden], reports, (5,))  # fmt: skip
    check_merge("layers", ["--order", f"{nets}/order.txt", "--growth", "3"], [broken, golden], reports, (5,))  # fmt: skip
    run("convert", "-q", "--format", "npy", broken, "broken/")
    run("convert", "-q", "--format", "npy", golden, "golden/")
    check_merge("layers", ["--graph", f"{nets}/model.onnx"], ["broken", "golden/"], reports)
    run("convert", "-q", "--dtype", "int8", "--scale", "auto", healthy, "codes.btf")
    check_merge("layers", ["--dequantize"], ["codes.btf", golden], reports, (4,))
    check_recomputed(f"{nets}/weights.onnx", healthy)
    # Shapes that do not fit, files that cannot be read.
    first = sorted(os.listdir("broken"))[0]
    npy(f"broken/{first}", [1.0, 2.0, 3.0])
    with open("broken/" + sorted(os.listdir("broken"))[1], "r+b") as file:
        file.truncate(200)
    check_merge("layers", [], ["broken", "golden"], reports, (3,))
    # What cannot be judged fails at once, and dumps that are others than those of the parts.
    done = run("layers", "--map", "no map", "--part", "x", "broken", "golden")
    check("a wrong map", done.returncode, 2)
    check("no part of it", os.path.exists("x"), False)
    paths = parts("layers", 2, [], ["broken", "golden"])
    trouble("a report that layers has not", ["--summary", *paths], "--summary", "layers")
    npy("golden/added.npy", [1.0] * 9)
    npy("broken/added.npy", [1.0] * 9)
    trouble("other dumps", paths, "not those that the parts were made of")


def check_recomputed(graph, healthy):
    """Elements are recomputed by the shards: merge reads none of a run where all follow."""
    run("convert", "-q", "--format", "npy", healthy, "healthy/")
    words = ["--graph", graph, "healthy", "golden/"]
    one_run = report("layers", "--json", *words)
    spots = [pair["spot"] for pair in json.loads(one_run[1])["pairs"] if pair["spot"]]
    follow = [spot["state"] for spot in spots].count("follows")
    check("layers that follow", follow > 8, True)
    paths = parts("layers", 3, [], words)
    items = [item for path in paths for item in lines(path)[1:-1]]
    checked = [item for item in items if item.get("check", {}).get("checked")]
    check("layers that shards recomputed", len(checked) >= follow, True)
    check("files that these were computed from", sum("inputs" in item for item in items) > 8, True)
    data = {name: open(f"healthy/{name}", "rb").read() for name in os.listdir("healthy")}
    for name, whole in data.items():
        with open(f"healthy/{name}", "r+b") as file:
            file.seek(128)
            file.write(bytes(len(whole) - 128))
    check("of files full of zeros", report("merge", "--json", *paths), one_run)
    check("one run of these", report("layers", "--json", *words)[0], 1)
    for name, whole in data.items():
        with open(f"healthy/{name}", "wb") as file:
            file.write(whole)
    # A layer is measured again where a file that it was computed from was changed.
    run("layers", "--part", "one.jsonl", *words)
    items = lines("one.jsonl")[1:-1]
    path = next(item["inputs"][0] for item in items if "inputs" in item)
    again = sum(path in [item["actual"], *item.get("inputs", [])] for item in items)
    check("layers that read it", again > 1, True)
    os.utime(path)
    done = run("layers", "--resume", "--part", "one.jsonl", *words)
    kept = len(items) - again
    check("resume", done.stdout.decode(), f"shard 1 of 1: {len(items)} layers, {kept} from an earlier run, one.jsonl\n")  # fmt: skip
    check("merge after it", report("merge", "--json", "one.jsonl"), one_run)


def check_fit():
    """Measured by shards, judged by merge: float types, types with scales, several dumps, with a graph and without."""
    net = f"{TESTDATA}/fit"
    golden, half, mixed = (f"{net}/{name}.npz" for name in ("golden", "half", "mixed"))
    graph = ["--graph", f"{net}/model.onnx"]
    reports = ([], ["--json"], ["--all"], ["-q"], ["--html", "report.html"])
    lists = (["--emit", "names", "list.txt"], ["-q", "--emit", "trtexec", "list.txt"])
    check_merge("fit", graph, [golden], [*reports, *lists], (1, 2, 3, 7))
    check_merge("fit", [*graph, "--dtype", "bf16,int8,fp8"], [mixed, golden], reports, (3,))
    # All numbers are of float16 by chance.
    check_merge("fit", graph, [half], reports, (2,))
    check_merge("fit", [*graph, "--dtype", "int8"], [golden], [["--emit", "scales", "list.txt"]], (2,))
    check_merge("fit", ["--dtype", "fp16,int8"], [golden, half], reports, (1, 7))
    paths = check_fit_refused(graph, golden)
    for words, told in (
        (["--junit", "x.xml", *paths], "--junit does not apply: the parts are of fit"),
        (["--emit", "scales", "x", *paths], "--emit scales needs a --dtype with scales"),
        (["--html", "x", "--emit", "names", "x", *paths], "name the same file"),
    ):
        trouble(f"merge {words}", words, told)
    validated = parts("validate", 1, [], [golden], "others")
    trouble("lists of validate", ["--emit", "names", "x", *validated], "--emit does not apply: the parts are of validate")
    done = run("fit", "--emit", "names", "x", *graph, "--part", "p", golden)
    check("--emit is merge's", (done.returncode, b"btftool merge" in done.stderr), (2, True))
    check_fit_of_files(graph[1], golden)


def check_fit_refused(graph, golden):
    """Parts of another graph, of other types, of another dump; one twice, one missing."""
    shutil.copy(graph[1], "net.onnx")
    whole = open("net.onnx", "rb").read()
    paths = sorted(parts("fit", 3, ["--graph", "net.onnx"], [golden]))
    trouble("one is missing", paths[:2], "shard 3 of 3 is missing", "btftool fit --shard 3/3 --part parts/3.jsonl --graph=net.onnx")  # fmt: skip
    with open("net.onnx", "wb") as file:
        file.write(whole.replace(b"Relu", b"Sqrt"))
    trouble("another graph since", paths, "not those that the parts were made of")
    run("fit", "--graph", "net.onnx", "--shard", "2/3", "--part", "graph", golden)
    trouble("a part of another graph", [paths[0], "graph", paths[2]], "graph: was made of other files")
    with open("net.onnx", "wb") as file:
        file.write(whole)
    run("fit", "--graph", "net.onnx", "--dtype", "bf16", "--shard", "2/3", "--part", "types", golden)
    trouble("a part of other types", [paths[0], "types", paths[2]], "was made with --dtype=bf16 --graph=net.onnx, not with --graph=net.onnx")  # fmt: skip
    run("convert", "-q", "--tensor", "0-4", golden, "few.npz")
    run("fit", "--graph", "net.onnx", "--shard", "2/3", "--part", "another", "few.npz")
    trouble("a part of another dump", [paths[0], "another", paths[2]], "another: was made of other files")
    run("fit", "--graph", "net.onnx", "--shard", "2/3", "--part", "twice", golden)
    check("the same shard twice", run("merge", "twice", *paths).returncode, 1)
    with open("twice", "r+b") as file:
        text = file.read()
        file.seek(text.index(b'"lost":') + 7)
        file.write(b"7")
    trouble("a byte was changed", [paths[0], "twice", paths[2]], "was changed after it was written")
    return paths


def check_fit_of_files(graph, golden):
    """Merge reads no numbers where none overflow; what was read is measured again where it was changed."""
    run("convert", "-q", "--format", "npy", golden, "dump/")
    words = ["--dtype", "bf16,int8,fp8", "--graph", graph, "dump/"]
    one_run = report("fit", "--json", *words)
    paths = parts("fit", 3, [], words)
    alone = parts("fit", 2, [], ["dump/"], "alone")
    expected = report("fit", "--json", "dump/")
    data = {name: open(f"dump/{name}", "rb").read() for name in os.listdir("dump")}
    for name, whole in data.items():
        with open(f"dump/{name}", "r+b") as file:
            file.seek(128)
            file.write(bytes(len(whole) - 128))
    check("of files full of zeros", report("merge", "--json", *paths), one_run)
    check("likewise without a graph", report("merge", "--json", *alone), expected)
    check("one run of these", report("fit", "--json", *words) == one_run, False)
    for name, whole in data.items():
        with open(f"dump/{name}", "wb") as file:
            file.write(whole)
    run("fit", "--part", "one.jsonl", *words)
    items = lines("one.jsonl")[1:-1]
    again = sum("dump/hidden.npy" in item["inputs"] for item in items)
    check("what reads it", 1 < again < len(items), True)
    os.utime("dump/hidden.npy")
    done = run("fit", "--resume", "--part", "one.jsonl", *words)
    check("resume", done.stdout.decode(), f"shard 1 of 1: {len(items)} items, {len(items) - again} from an earlier run, one.jsonl\n")  # fmt: skip
    check("merge after it", report("merge", "--json", "one.jsonl"), one_run)
    # A tensor that cannot be read, and one with NaN.
    with open("dump/squares.npy", "r+b") as file:
        file.truncate(200)
    with open("dump/hidden.npy", "r+b") as file:
        file.seek(128)
        file.write(b"\0\0\xc0\x7f")
    for options in (["--graph", graph], [], ["--dtype", "int8"], ["--dtype", "bf16,int8", "--graph", graph]):
        check_merge("fit", options, ["dump"], ([], ["--json"], ["--all"]), (2,))


def tree(folder):
    return {
        os.path.relpath(os.path.join(path, name), folder): open(os.path.join(path, name), "rb").read()
        for path, _, names in os.walk(folder)
        for name in names
    }


def check_convert():
    """A directory to a directory: the files and the report of one run."""
    shutil.rmtree("in", ignore_errors=True)
    rng = random.Random(3)
    for i in range(25):
        npy(f"in/{['', 'sub/', 'sub/more/'][i % 3]}t{i}.npy", [rng.gauss(0, 300) for _ in range(rng.choice([4, 40, 9000]))])  # fmt: skip
    shutil.copy(f"{TESTDATA}/layers/golden.npz", "in/several.npz")
    with open("in/notes.txt", "w") as file:
        file.write("no tensors")
    for options, of in (
        ([], 3),
        (["--dtype", "fp16", "--format", "btf"], 1),
        (["--dtype", "fp8", "--format", "npy"], 2),
        (["--dtype", "int8", "--scale", "auto", "--format", "btf"], 7),
        (["--dtype", "int8", "--scale", "auto", "--zero-point", "auto", "--format", "npz", "--compress", "3"], 64),  # fmt: skip
        (["--format", "raw", "--rename", "t3=first", "--tensor", "38-42,18-25,0,t3"], 5),
    ):
        one, two = ["in", "one/"], ["in/", "two/"]
        for folder in ("one", "two"):
            shutil.rmtree(folder, ignore_errors=True)
        expected = report("convert", *options, "--json", *one)
        check(f"convert {options}", expected[0], 0)
        paths = parts("convert", of, options, two)
        check(f"files of convert {options} by {of}", tree("two"), tree("one"))
        outputs = [output for path in paths for item in lines(path)[1:-1] for output in item["outputs"]]  # fmt: skip
        check("no file is written twice", sorted(outputs), sorted("two/" + place for place in tree("two")))  # fmt: skip
        for words in ([], ["--json"], ["-q"]):
            check(
                f"merge of {of} {words}: convert {options}",
                report("merge", "--expect", str(of), *words, *paths),
                report("convert", *options, *words, *two),
            )
        check("merge wrote nothing", tree("two"), tree("one"))
    # What was converted is kept where input and output are as they were.
    shutil.rmtree("two")
    run("convert", "--dtype", "fp16", "--part", "c.jsonl", "in", "two/")
    count = len(lines("c.jsonl")) - 2
    os.remove("two/t0.npy")
    os.utime("in/t3.npy")
    with open("two/sub/t1.npy", "r+b") as file:
        file.truncate(20)
    done = run("convert", "--dtype", "fp16", "--resume", "--part", "c.jsonl", "in", "two/")
    check("resume", done.stdout.decode(), f"shard 1 of 1: {count} files, {count - 3} from an earlier run, c.jsonl\n")  # fmt: skip
    run("convert", "--dtype", "fp16", "in", "three/")
    check("files after it", tree("two"), tree("three"))
    for words, told in (
        (["in", "new.btf"], "a directory as OUT"),
        (["in/t0.npy", "new.npy"], "a directory as OUT"),
        (["--json", "in", "two/"], "btftool merge"),
        (["--rename", "nobody=x", "in", "two/"], "there is no such tensor"),
        (["--lossless", "--dtype", "int8", "in", "two/"], "not written"),  # fmt: skip
    ):
        done = run("convert", "--part", "x.jsonl", *words)
        check(f"convert {words}", done.returncode, 2)
        check(f"'{told}' in {done.stderr}", told in done.stderr.decode(), True)
        check("no part of it", os.path.exists("x.jsonl"), False)


def check_files_from():
    """A list in place of a walk: the same as with these files alone."""
    shutil.rmtree("in", ignore_errors=True)
    for i in range(30):
        npy(f"a/{i % 4}/t{i}.npy", [1.0] * (1 + 50 * i))
        if i != 9:
            npy(f"b/{i % 4}/t{i}.npy", [1.0] * (i % 5) + [2.0] * (1 + 50 * i - i % 5))
    names = [f"{i % 4}/t{i}.npy" for i in range(0, 30, 3)]
    for side in ("a", "b"):
        for name in names:
            if os.path.exists(f"{side}/{name}"):
                os.makedirs(os.path.dirname(f"few/{side}/{name}"), exist_ok=True)
                shutil.copy2(f"{side}/{name}", f"few/{side}/{name}")
    random.Random(1).shuffle(names)
    with open("list", "w") as file:
        file.write("\n".join(["./" + name for name in names]) + "\n\n")
    listed = ["--files-from", os.path.abspath("list")]
    for command, options, operands in (
        ("diff", ["--close"], ["a", "b"]),
        ("validate", ["--nan"], ["a"]),
        ("layers", [], ["a", "b"]),
        ("convert", ["--dtype", "fp16"], ["a", "out/"]),
    ):
        expected = report(command, *options, "--json", *operands, **{"cwd": "few"})
        check(f"{command} {listed}", report(command, *options, *listed, "--json", *operands), expected)  # fmt: skip
        check_merge(command, options + listed, operands, ([], ["--json"]), (3,))
        if command != "layers":
            paths = parts(command, 3, options + listed, operands)
            os.rename("list", "elsewhere")
            check(f"merge without the list: {command}", run("merge", "--json", *paths).stdout, expected[1])  # fmt: skip
            os.rename("elsewhere", "list")
    for command, text, operands, told in (
        ("diff", "none.npy", ["a", "b"], "'none.npy' is neither in a nor in b"),
        ("layers", "none.npy", ["a", "b"], "'none.npy' is neither in a nor in b"),
        ("validate", "none.npy", ["a"], "a/none.npy: cannot open"),
        ("validate", "../a/0/t0.npy", ["a"], "is not a path below the directory"),
        ("validate", "/etc/passwd", ["a"], "is not a path below the directory"),
        ("validate", "0/t0.npy\n0/t0.npy", ["a"], "is listed twice"),
        ("validate", "0", ["a"], "a/0: not a regular file"),
        ("validate", "", ["a"], "lists no files"),
        ("validate", "x", ["a/0/t0.npy"], "is not a directory"),
        ("diff", "x", ["a/0/t0.npy", "b/0/t0.npy"], "is not a directory"),
    ):
        done = run(command, "--files-from", "-", *operands, input=text.encode())
        check(f"{command} of a list '{text}'", done.returncode, 2)
        check(f"'{told}' in {done.stderr}", told in done.stderr.decode(), True)
    done = run("diff", "--files-from", "-", "--part", "x", "a", "b", input=b"0/t0.npy")
    check("a list on stdin for a part", (done.returncode, b"other shards read the same list" in done.stderr), (2, True))  # fmt: skip


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_validate()
        check_layers()
        check_fit()
        check_convert()
        check_files_from()
        os.chdir("/")
    end()


main()
