"""outputs.py BTFTOOL TESTDATA: no output takes the place of a file that the run reads, nor of another output.

A matrix of every command, every option that writes a file and every file that is read. The options come from
the help, so a new one that takes a file fails here until it is said below what it does with it.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BTFTOOL = os.path.abspath(sys.argv[1])
TESTDATA = Path(sys.argv[2]).resolve()
COMMANDS = ["inspect", "convert", "diff", "validate", "layers", "fit", "merge", "repair"]
# Values that are files, as the help has them.
FILE_TYPES = re.compile(r"^(?:\S*\|)?(?:FILE|MODEL|LIST|REPORT|SET|OUT|FORM FILE|\[GLOB=\]SPEC|PATH|DIR)$")
failures = []
count = 0

# How an option that reads a file is given: the file, its word, and others that it needs.
READS = {
    "--map": ("map.txt", "{}"),
    "--rules": ("rules.json", "{}"),
    "--order": ("order.txt", "{}"),
    "--files-from": ("list.txt", "{}"),
    "--rename-file": ("rename.txt", "{}"),
    "--names": ("names.txt", "{}"),
    "--graph": ("m.onnx", "{}"),
    "--actual-graph": ("m2.onnx", "{}", "--graph", "m.onnx"),
    "--baseline": ("base.npz", "{}"),
    "--expect-output": ("expected.npz", "{}"),
    "--from-json": ("report.json", "{}"),
    "--input-spec": ("engine.json", "@{}"),
    "--actual-spec": ("engine.json", "@{}"),
    "--golden-spec": ("engine.json", "@{}"),
}
# How one that writes a file is given.
WRITES = {
    "--html": ("--html", "{}"),
    "--junit": ("--junit", "{}"),
    "--image": ("--image", "{}"),
    "--part": ("--shard", "1/1", "--part", "{}"),
    "--emit": ("--emit", "names", "{}"),
    "--output": ("--output", "{}"),
}
OPERANDS = {
    "inspect": ["one.npy"],
    "convert": ["one.npy"],
    "diff": ["one.npy", "two.npy"],
    "validate": ["one.npy"],
    "layers": ["actual.npz", "golden.npz"],
    "fit": ["golden.npz"],
    "merge": ["1.jsonl"],
    "repair": ["one.btf"],
}
DIRECTORIES = {"inspect": ["a"], "convert": ["a"], "diff": ["a", "g"], "validate": ["a"], "layers": ["a", "g"], "fit": ["a"]}
# Options that exclude each other, in either order.
EXCLUDED = [{"--from-json", "--part"}, {"--from-json", "--image"}]


def fail(what, why):
    failures.append(what)
    print(f"FAILED {what}: {why}")


def run(*words, **more):
    return subprocess.run([BTFTOOL, *words], capture_output=True, text=True, timeout=60, **more)


def options_of(command):
    """Options of a command that take a file."""
    text = run(command, "--help-all", env={**os.environ, "COLUMNS": "200"}).stdout
    rows = re.findall(r"^  (?:-\w, )?(--[a-z][\w-]*)(?:,--[\w-]+)* (\S+(?: FILE)?)(?:  |$)", text, re.M)
    return [name for name, kind in rows if FILE_TYPES.match(kind)]


def make_files(at):
    for folder in ("a", "g", "ext"):
        (at / folder).mkdir()
    for name in ("golden.npz", "weights.onnx", "dead_channel.npz", "order.txt"):
        shutil.copy(TESTDATA / "layers" / name, at / name)
    for old, new in (("weights.onnx", "m.onnx"), ("weights.onnx", "m2.onnx"), ("golden.npz", "base.npz"),
                     ("golden.npz", "expected.npz"), ("dead_channel.npz", "actual.npz")):
        shutil.copy(at / old, at / new)
    for file in (TESTDATA / "onnx-external").iterdir():
        shutil.copy(file, at / "ext" / file.name)
    shutil.copy(TESTDATA / "good" / "mixed.btf", at / "one.btf")
    for name in ("one", "two", "a/t0", "a/t1", "g/t0", "g/t1"):
        made = run("convert", "--tensor", "0", "--layout", "kLINEAR", "one.btf", f"{name}.npy", cwd=at)
        assert made.returncode == 0, made.stderr
    (at / "map.txt").write_text("t0\tt0\n")
    (at / "rules.json").write_text('{"schema": "btftool/rules/1", "rules": []}')
    (at / "list.txt").write_text("t0.npy\n")
    (at / "rename.txt").write_text("one=uno\n")
    (at / "names.txt").write_text("uno\n")
    (at / "engine.json").write_text('{"Layers": [{"Name": "l", "LayerType": "Reformat", "Inputs": [], "Outputs": '
                                    '[{"Name": "one", "Location": "Device", "Dimensions": [1], "Format/Datatype": "Row major linear FP32 format"}]}]}')
    (at / "report.json").write_text(run("diff", "--json", "one.npy", "two.npy", cwd=at).stdout)
    (at / "layers.json").write_text(run("layers", "--json", "actual.npz", "golden.npz", cwd=at).stdout)
    made = run("diff", "--shard", "1/1", "--part", "1.jsonl", "one.npy", "two.npy", cwd=at)
    assert made.returncode == 0, made.stderr


def state(at):
    found = {}
    for path in sorted(at.rglob("*")):
        status = path.lstat()
        data = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(at))] = (status.st_ino, status.st_mode, data)
    return found


def refused(at, what, words, names, **more):
    """The command ends by 2, says both names, and has changed nothing."""
    global count
    count += 1
    before = state(at)
    found = run(*words, cwd=at, **more)
    after = state(at)
    if found.returncode != 2:
        fail(what, f"exit {found.returncode}, {found.stderr.strip()!r}: {' '.join(words)}")
    elif not re.search(r"would overwrite|name the same file|is the same file", found.stderr):
        fail(what, f"another message, {found.stderr.strip()!r}: {' '.join(words)}")
    for name in names:
        if name not in found.stderr:
            fail(what, f"{name} is not in {found.stderr.strip()!r}")
    if before != after:
        fail(what, f"changed {[name for name in before.keys() | after.keys() if before.get(name) != after.get(name)]}")
        shutil.rmtree(at)
        at.mkdir()
        make_files(at)


def words_of(command, write, target, read=None, operands=None):
    operands = list(OPERANDS[command] if operands is None else operands)
    words = []
    if read:
        row = READS[read]
        words += [read, row[1].format(row[0]), *row[2:]]
        if read == "--from-json":
            operands = []
            words[1] = "layers.json" if command == "layers" else row[0]
        if read == "--files-from":
            operands = list(DIRECTORIES[command])
    if write == "--emit" and command == "fit" and "--graph" not in words:
        words += ["--graph", "m.onnx"]
    # A conversion to a part needs a directory to write to.
    if command == "convert" and write == "--part":
        operands = [*(DIRECTORIES[command] if operands == OPERANDS[command] else operands), "out/"]
    elif command in ("convert", "repair") and write is None:
        operands.append(target)
    if command == "convert" and write in (None, "--output"):
        words += ["--format", "btf"]  # whatever the file is called
    if write:
        words += [word.format(target) for word in WRITES[write]]
    return [command, *words, *operands]


def aliases(at, target):
    """The file by its name, and by others that lead to it."""
    yield target
    yield "./" + target
    os.symlink(at / target, at / "soft")
    yield "soft"
    (at / "soft").unlink(missing_ok=True)
    os.link(at / target, at / "hard")
    yield "hard"
    (at / "hard").unlink(missing_ok=True)


def matrix(at):
    for command in COMMANDS:
        options = options_of(command)
        for option in options:
            if option not in READS and option not in WRITES:
                fail(f"{command} {option}", "takes a file: say in READS or WRITES of this test what it does with it")
        reads = [option for option in options if option in READS]
        writes = [option for option in options if option in WRITES]
        if command in ("convert", "repair"):
            writes.append(None)  # the operand OUT
        for write in writes:
            for read in reads:
                if {write, read} in EXCLUDED or (command == "convert" and write == "--output" and read == "--files-from"):
                    continue
                target = "layers.json" if (command, read) == ("layers", "--from-json") else READS[read][0]
                for alias in aliases(at, target):
                    refused(at, f"{command} {write or 'OUT'} onto {read}", words_of(command, write, alias, read), [alias, target])
            in_place = command in ("convert", "repair") and write in (None, "--output")
            for operand in OPERANDS[command]:
                for alias in [] if in_place else aliases(at, operand):
                    operands = ["a", operand] if (command, write) == ("convert", "--part") else None
                    refused(at, f"{command} {write} onto {operand}", words_of(command, write, alias, operands=operands), [alias, operand])
            # Files below an operand that is a directory.
            for directory in DIRECTORIES.get(command, ()):
                for alias in aliases(at, f"{directory}/t1.npy"):
                    refused(at, f"{command} {write or 'OUT'} into {directory}",
                            words_of(command, write, alias, operands=DIRECTORIES[command]), [alias, f"{directory}/t1.npy"])
            # Data of a model beside it.
            if command in DIRECTORIES and not (command, write) == ("convert", "--part"):
                operands = ["ext/model.onnx"] * len(OPERANDS[command])
                refused(at, f"{command} {write or 'OUT'} onto external data",
                        words_of(command, write, "ext/weights.bin", operands=operands), ["ext/weights.bin"])
            for graph in ("--graph", "--actual-graph"):
                if graph in reads:
                    words = words_of(command, write, "ext/weights.bin", graph)
                    words[words.index(READS[graph][0])] = "ext/model.onnx"
                    refused(at, f"{command} {write} onto data of {graph}", words, ["ext/weights.bin"])
        # Two outputs that are one file.
        files = [write for write in writes if write and write != "--output"]
        for one in files:
            for other in files:
                if "--part" in (one, other) or (one == other and one != "--emit"):
                    continue
                if command == "inspect":  # a page and a picture exclude each other
                    continue
                words = words_of(command, one, "new.out")
                words[1:1] = [word.format("./new.out") for word in WRITES[other]]
                if other == "--emit" and command == "fit" and "--graph" not in words:
                    words[1:1] = ["--graph", "m.onnx"]
                refused(at, f"{command} {one} and {other}", words, ["new.out"])
        # Standard output is an output as well.
        for operand in OPERANDS[command]:
            with open(at / operand, "r+b") as same:
                words = words_of(command, None, "new.out")
                refused_by_descriptor(at, f"{command} > {operand}", words, operand, same)


def refused_by_descriptor(at, what, words, operand, file, stdin=None):
    global count
    count += 1
    before = state(at)
    by_number = any(word.startswith(("/dev/fd/", "/proc/self/fd/")) for word in words)
    found = subprocess.run([BTFTOOL, *words], cwd=at, stdin=stdin, stdout=subprocess.DEVNULL if by_number else file,
                           stderr=subprocess.PIPE, text=True, pass_fds=[file.fileno()], timeout=60)
    if found.returncode != 2 or "would overwrite" not in found.stderr:
        fail(what, f"exit {found.returncode}, {found.stderr.strip()!r}")
    if before != state(at):
        fail(what, f"{operand} was changed")
        shutil.rmtree(at)
        at.mkdir()
        make_files(at)


def by_descriptor(at):
    """An output that is a descriptor of the process is written in place, also where OUT may be IN."""
    for command, name, extra in (("convert", "one.npy", ["--format", "npy"]), ("repair", "one.btf", [])):
        for source in (name, "-"):
            with open(at / name, "r+b") as file, open(at / name, "rb") as again:
                number = file.fileno()
                for out in (f"/dev/fd/{number}", f"/proc/self/fd/{number}", "-", "/dev/stdout"):
                    refused_by_descriptor(at, f"{command} {source} {out}", [command, *extra, source, out], name, file,
                                          stdin=again if source == "-" else None)
    with open(at / "two.npy", "r+b") as file:
        refused_by_descriptor(at, "diff --html /dev/fd", ["diff", "--html", f"/dev/fd/{file.fileno()}", "one.npy", "two.npy"], "two.npy", file)
        refused_by_descriptor(at, "diff --json", ["diff", "--json", "one.npy", "two.npy"], "two.npy", file)


def of_parts(at):
    """FILE.partial is written too, and so is what a part names read by merge."""
    shutil.copy(at / "one.npy", at / "x.partial")
    refused(at, "validate --part beside", ["validate", "--shard", "1/1", "--part", "x", "x.partial"], ["x.partial"])
    os.unlink(at / "x.partial")
    refused(at, "merge --html onto an operand of the parts", ["merge", "--html", "one.npy", "1.jsonl"], ["one.npy"])
    refused(at, "diff --part and its own report", ["diff", "--shard", "1/1", "--part", "a/t0.npy", "a", "g"], ["a/t0.npy"])


def of_directories(at):
    """Outputs of a conversion to a directory, whose names are made of tensors and files."""
    (at / "out").mkdir()
    os.symlink("t1.npy", at / "out" / "t0.npy")
    refused(at, "convert a out/ with a link between outputs", ["convert", "a", "out/"], ["out/t0.npy", "out/t1.npy"])
    os.unlink(at / "out" / "t0.npy")
    os.link(at / "a" / "t1.npy", at / "out" / "t0.npy")
    refused(at, "convert a out/ with another input there", ["convert", "a", "out/"], ["out/t0.npy", "a/t1.npy"])
    os.unlink(at / "out" / "t0.npy")
    os.symlink("../a/t1.npy", at / "out" / "t0.npy")
    refused(at, "convert a out/ with a link to an input", ["convert", "a", "out/"], ["out/t0.npy", "a/t1.npy"])
    os.unlink(at / "out" / "t0.npy")
    shutil.copy(at / "list.txt", at / "out" / "t0.npy")
    refused(at, "convert a out/ onto its list", ["convert", "--files-from", "out/t0.npy", "a", "out/"], ["out/t0.npy"])
    refused(at, "convert a out/ onto its part", ["convert", "--shard", "1/1", "--part", "out/t0.npy", "a", "out/"], ["out/t0.npy"])
    shutil.rmtree(at / "out")


def of_msprobe(at):
    """The list of callers next to a dump of msprobe is read with it."""
    shutil.copytree(TESTDATA / "msprobe" / "statistics", at / "probe")
    for dump in sorted((at / "probe").rglob("dump.json")):
        folder = str(dump.parent.relative_to(at))
        for operand in (folder, folder + "/dump.json"):
            for command in ("layers", "diff"):
                refused(at, f"{command} --html onto construct.json",
                        [command, "--html", folder + "/construct.json", operand, operand], ["construct.json"])
    shutil.rmtree(at / "probe")


def goes_on(at):
    """What is no input may be replaced, and OUT may be IN."""
    def works(what, *words, code=0):
        global count
        count += 1
        found = run(*words, cwd=at)
        if found.returncode != code:
            fail(what, f"exit {found.returncode}: {found.stderr.strip()!r}")

    works("convert X X", "convert", "--dtype", "fp16", "one.npy", "one.npy")
    os.symlink("one.npy", at / "soft.npy")
    works("convert X, by a link", "convert", "--dtype", "fp32", "one.npy", "soft.npy")
    works("convert X Y X", "convert", "--format", "npz", "one.npy", "two.npy", "one.npy")
    works("repair X X", "repair", "one.btf", "one.btf")
    for _ in range(2):  # the second time the reports are there, in a directory that is compared
        works("reports beside tensors", "diff", "--html", "a/page.html", "--junit", "a/junit.xml", "--image", "a/x.png", "a", "g")
    os.link(at / "a" / "page.html", at / "copy.html")
    works("two names of a file", "diff", "--html", "a/page.html", "--junit", "copy.html", "a", "g")
    works("what is thrown away", "diff", "--html", "/dev/null", "--junit", "/dev/./null", "a", "g")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        at = Path(scratch, "work")
        at.mkdir()
        make_files(at)
        for group in (matrix, by_descriptor, of_parts, of_directories, of_msprobe, goes_on):
            group(at)
    print(f"{count} commands, {len(failures)} failed")
    return 1 if failures or count < 300 else 0


if __name__ == "__main__":
    sys.exit(main())
