#!/usr/bin/env python3
"""Runs the commands that btftool prints.

    printed_commands.py BTFTOOL TESTDATA options   every option of the commands that make pages, given
                                                   once, and twice if it may be: the page's command has
                                                   each word, and makes the same page; likewise the
                                                   command that runs a shard again
    printed_commands.py BTFTOOL TESTDATA cases     every command that the cases beside this file make it
                                                   print (`next` of diff and layers, pages of diff,
                                                   layers, inspect and fit) is run where it was printed

The second works by a program called btftool that runs the real one, and then what that has printed.
"""
import html
import json
import os
import pathlib
import re
import shlex
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
failures = []


def fail(text):
    failures.append(text)
    print("WRONG", text, flush=True)


def run(command, cwd, **more):
    """A command line as a shell runs it, or a list of words."""
    words = ["bash", "-c", command] if isinstance(command, str) else command
    return subprocess.run(words, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", **more)


def page_commands(text):
    """The command at the top of a page, and all others on it."""
    found = re.findall(r"<code>(btftool [^<]*)</code>", text)
    return [html.unescape(command) for command in found if len(command.split()) > 2]


def next_commands(text):
    """Commands that a report in text says to type next."""
    found = []
    lines = text.split("\n")
    for at, line in enumerate(lines):
        begin = re.match(r"(?:next: | *next +)(btftool .*)", line)
        if not begin:
            continue
        words = [begin[1]]
        while words[-1].endswith("\\"):
            at += 1
            words[-1] = words[-1][:-1]
            words.append(lines[at].strip())
        found.append(" ".join(word.strip() for word in words))
    return found


def subject(text):
    """The tensor that a report speaks of first."""
    named = re.search(r"^(?:first different: |BROKE AT +|WRONG DUMP +|INPUTS DIFFER +|DRIFTED TO +|AMPLIFIED AT +)(.*)", text, re.M)
    return named[1] if named else None


# ---------------------------------------------------------------------------------------------- cases

def check_run(real, arguments, cwd, code, printed):
    """What one run of the program has printed, run in its turn; `code` is the first one's."""
    found = []
    usage = "Try 'btftool"
    for command in next_commands(printed):
        again = run(command, cwd)
        what = {"from": arguments, "cwd": cwd, "printed": command, "exit": again.returncode, "stderr": again.stderr[:500]}
        # Where files could not be read there is trouble again; but it is no wrong command.
        bad = again.returncode not in (0, 1) and (code != 2 or usage in again.stderr)
        name = subject(printed)
        # Names of files are not always those of tensors in them; numbers are. What one side alone has is shown by no
        # command that compares.
        missing = name and re.search(rf"^[x ] *{re.escape(name)} .*no (?:actual|golden) tensor", printed, re.M)
        if not bad and again.returncode == 1 and name and not missing:
            parts = name.split(" ")[0].split("#")[0].split("/")
            if not all(part in again.stdout + command for part in parts):
                bad, what["absent"] = True, name
        found.append(what | {"wrong": bad})
    for page in [value.split("=", 1)[-1] for value in html_values(arguments)]:
        path = pathlib.Path(cwd, page)
        if not path.is_file():
            continue
        text = path.read_text(errors="replace")
        for number, command in enumerate(page_commands(text)):
            what = {"from": arguments, "cwd": cwd, "printed": command}
            with tempfile.NamedTemporaryFile(suffix=".html") as made:
                more = f" --html={made.name}" if number == 0 else ""
                again = run(command + more, cwd)
                what |= {"exit": again.returncode, "stderr": again.stderr[:500]}
                bad = again.returncode not in (0, 1) and (code != 2 or usage in again.stderr)
                # A page of a saved report has no date: its inputs are not read.
                if number == 0 and not bad and "--from-json" not in " ".join(arguments) and arguments[:1] != ["merge"]:
                    bad = pathlib.Path(made.name).read_text(errors="replace") != text
                    what["page"] = "differs" if bad else "same"
            found.append(what | {"wrong": bad})
    return found


def html_values(arguments):
    values = [word for word in arguments if word.startswith("--html=")]
    return values + [value for option, value in zip(arguments, arguments[1:]) if option == "--html"]


WRAPPER = """#!/bin/bash
# Runs the real program; then, where it may have printed a command, what that was.
case " $* " in *" diff "* | *" layers "* | *" inspect "* | *" fit "* | *" merge "*) ;; *) exec "$REAL" "$@" ;; esac
printed=$(mktemp "$PRINTED/XXXXXX") 2>/dev/null || exec "$REAL" "$@"
"$REAL" "$@" >"$printed"
code=$?
cat "$printed"
if grep -qE '^ *next:? ' "$printed" || [[ " $* " == *" --html"* ]]; then
  (ulimit -S -v unlimited; PATH=${REAL%/*}:$PATH "$PYTHON" "$CHECK" --check "$printed" "$code" "$@") >>"$PRINTED.log" 2>&1 </dev/null
fi
rm -f "$printed"
exit $code
"""


def check_cases(tool, testdata):
    cases = sorted(path for path in (HERE / "cases").glob("*.sh")
                   if re.search(r"\b(diff|layers|inspect|fit|merge)\b", path.read_text()))
    with tempfile.TemporaryDirectory() as folder:
        wrapper = pathlib.Path(folder, "btftool")
        wrapper.write_text(WRAPPER)
        wrapper.chmod(0o755)

        def one(case):
            printed = pathlib.Path(folder, case.stem)
            printed.mkdir()
            environment = os.environ | {"REAL": str(tool), "PRINTED": str(printed), "PYTHON": sys.executable, "CHECK": str(pathlib.Path(__file__).resolve())}
            run([str(HERE / "run_case.sh"), str(wrapper), str(testdata), str(case)], folder, env=environment)
            log = pathlib.Path(f"{printed}.log")
            return case, log.read_text() if log.exists() else ""

        count = 0
        with ThreadPoolExecutor(2) as pool:
            for case, log in pool.map(one, cases):
                for line in log.splitlines():
                    try:
                        what = json.loads(line)
                    except ValueError:
                        fail(f"{case.stem}: {line}")
                        continue
                    count += 1
                    if what.pop("wrong"):
                        fail(f"{case.stem}: {json.dumps(what)}")
        # That none is found is a fault of this test.
        if count < 60:
            fail(f"only {count} commands were found in {len(cases)} cases")
        print(f"{count} printed commands of {len(cases)} cases were run")


# -------------------------------------------------------------------------------------------- options

# Two words for each option with one that decides what is compared or read, or how. None: the option says
# only what is said of it, where, or on which machine.
VALUES = {
    "--rtol": ("1e-3", "fc*=1e-2"), "--atol": ("1e-3", "fc*=1e-2"), "--ulp": ("2", "fc*=3"), "--close-as": ("fp16", "fp32"),
    "--max-mismatch": ("10%", "3"), "--cosine": ("0.99", "0.9"), "--psnr": ("30", "40"), "--snr": ("30", "40"), "--rmse": ("1", "2"),
    "--mae": ("1", "2"), "--bias": ("1", "2"), "--max-abs": ("1", "2"), "--quantile": ("0.5=1", "0.9=2"), "--top-k": ("1", "2"),
    "--tensor": ("fc", "conv1"), "--pair": ("fc:fc", "conv1:conv1"), "--pair-by": ("name", "exact"), "--map": ("map.txt", "map.txt"),
    "--rules": ("rules.json", "rules.json"), "--actual-scale": ("0.5", "2"), "--golden-scale": ("0.5", "2"), "--permute": ("1,0", "0,1"),
    "--reshape": ("actual", "actual"), "--files-from": ("list.txt", "list.txt"), "--include": ("conv*", "f?.raw"), "--exclude": ("skip*", "sk*.raw"),
    "--from-json": None, "--actual-spec": ("conv*=fp16:1x4x3", "fc*=fp16:2x5"), "--golden-spec": ("conv*=fp16:1x4x3", "fc*=fp16:2x5"),
    "--shape": ("x:1x3", "y:2x2"), "--layout-in": ("kLINEAR", "kHWC8"), "--nvmedia": None, "--show": ("2", "3"), "--heatmap": ("1", "0"),
    "--order": ("order.txt", "order.txt"), "--graph": None, "--weights": None, "--actual-graph": None, "--accumulate": None,
    "--compute": ("fp16", "conv*=fp32"), "--baseline": ("near.npz", "near.npz"), "--expect-output": ("a.npz", "a.npz"),
    "--max-error": ("1%", "0.5"), "--growth": ("2", "3"), "--max-own-error": ("1%", "0.5"), "--block": ("2", "1x2"), "--limit": ("2", "3"),
    "--percentiles": ("1,50", "50"), "--histogram": ("4", "8"), "--by-axis": ("0", "1"), "--values": ("3", "4"), "--slice": ("0", "1"),
    "--at": ("0,0", "1,1"), "--input-spec": ("conv*=fp16:1x4x3", "fc*=fp16:2x5"), "--dtype": ("fp16", "bf16"),
    "--sort": None, "--json-schema": None, "--junit": None, "--html": None, "--image": None, "--image-at": None, "--image-as": None,
    "--image-range": None, "--image-zoom": None, "--image-scale": None, "--shard": None, "--part": None, "--shard-by": None, "--emit": None,
}
# Options without a word: which of them decide.
FLAGS = {"--close", "--equal-nan", "--no-equal-nan", "--strict", "--dequantize", "--codes", "--squeeze", "--no-hints", "--isolated", "--require-all", "--stats", "--strides"}
QUIET_FLAGS = {"--help", "--help-all", "--all", "--summary", "--json", "--resume", "--pairs", "--manifest"}

RAW_SPECS = ["--actual-spec=conv*=fp16:1x4x3", "--actual-spec=fc*=fp16:2x5", "--golden-spec=conv*=fp16:1x4x3", "--golden-spec=fc*=fp16:2x5"]
# What else must be there for an option to be right.
BESIDE = {
    ("diff", "--actual-scale"): ["q", "h"], ("diff", "--golden-scale"): ["h", "q"], ("diff", "--dequantize"): ["a.npz", "g.npz"],
    ("layers", "--actual-scale"): ["q", "h"], ("layers", "--golden-scale"): ["h", "q"],
    ("diff", "--include"): RAW_SPECS + ["raw_a", "raw_g"], ("diff", "--exclude"): RAW_SPECS + ["raw_a", "raw_g"],
    ("diff", "--files-from"): RAW_SPECS + ["raw_a", "raw_g"], ("layers", "--files-from"): RAW_SPECS + ["raw_a", "raw_g"],
    ("diff", "--actual-spec"): ["raw_near", "g.npz"], ("diff", "--golden-spec"): ["a.npz", "raw_near"],
    ("layers", "--actual-spec"): ["--files-from=list.txt", "raw_a", "g.npz"], ("layers", "--golden-spec"): ["--files-from=list.txt", "g.npz", "raw_g"],
    ("inspect", "--input-spec"): ["raw_near"], ("fit", "--input-spec"): ["raw_near"],
    ("inspect", "--shape"): ["--input-spec=@engine.json", "by_engine"], ("fit", "--shape"): ["--input-spec=@engine.json", "by_engine"],
    ("diff", "--shape"): ["--actual-spec=@engine.json", "by_engine", "engine.npz"],
    ("layers", "--shape"): ["--actual-spec=@engine.json", "by_engine", "engine.npz"],
    ("diff", "--block"): ["--dequantize", "a.npz", "g.npz"], ("layers", "--block"): ["--dequantize", "a.npz", "g.npz"],
    ("inspect", "--at"): ["--tensor=fc", "a.npz"], ("inspect", "--slice"): ["--tensor=fc", "a.npz"],
}
OPERANDS = {"diff": ["a.npz", "g.npz"], "layers": ["a.npz", "g.npz"], "inspect": ["a.npz"], "fit": ["g.npz"]}


def halves(values):
    return struct.pack(f"<{len(values)}e", *values)


def npy(kind, dims, data):
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({', '.join(map(str, dims))},), }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data


def make_data(folder):
    import zipfile
    golden = {"conv1": ((1, 4, 3), [0.25 * i - 1 for i in range(12)]), "fc": ((2, 5), [0.5 * i + 1 for i in range(10)])}
    actual = {name: (dims, [value + (1 if at == 5 else 0) for at, value in enumerate(values)]) for name, (dims, values) in golden.items()}
    near = {name: (dims, [value + (0.002 if at == 5 else 0) for at, value in enumerate(values)]) for name, (dims, values) in golden.items()}
    for side, tensors in (("a", actual), ("g", golden), ("near", near)):
        with zipfile.ZipFile(folder / f"{side}.npz", "w") as archive:
            for name, (dims, values) in tensors.items():
                archive.writestr(f"{name}.npy", npy("<f2", dims, halves(values)))
        (folder / f"raw_{side}").mkdir()
        for name, (dims, values) in tensors.items():
            (folder / f"raw_{side}" / f"{name}.raw").write_bytes(halves(values))
        if side != "near":
            (folder / f"raw_{side}" / "skip.raw").write_bytes(b"12345")
    for side in ("q", "h"):
        (folder / side).mkdir()
    (folder / "q" / "fc.npy").write_bytes(npy("|i1", (2, 5), bytes(range(10))))
    (folder / "h" / "fc.npy").write_bytes(npy("<f4", (2, 5), struct.pack("<10f", *range(10))))
    (folder / "by_engine").mkdir()
    tensors = {"x": ((1, 3), [1, 2, 3]), "y": ((2, 2), [1, 2, 3, 4])}
    with zipfile.ZipFile(folder / "engine.npz", "w") as archive:
        for name, (dims, values) in tensors.items():
            (folder / "by_engine" / f"{name}.raw").write_bytes(halves(values))
            archive.writestr(f"{name}.npy", npy("<f2", dims, halves([2 * value for value in values])))
    (folder / "map.txt").write_text("conv1\tconv1\n")
    (folder / "order.txt").write_text("conv1\nfc\n")
    (folder / "list.txt").write_text("conv1.raw\nfc.raw\n")
    (folder / "rules.json").write_text('{"schema": "btftool/rules/1", "rules": [{"tensor": "fc*", "rtol": 0.125}, {"tensor": "conv*", "rtol": 0.0625}]}')
    (folder / "engine.json").write_text(json.dumps({"Layers": [{"Name": "l", "LayerType": "Convolution", "Inputs": [{"Name": "x", "Dimensions": [-1, 3], "Format/Datatype": "Row major linear FP16 format"}], "Outputs": [{"Name": "y", "Dimensions": [-1, 2], "Format/Datatype": "Row major linear FP16 format"}]}], "Bindings": ["x", "y"]}))


def options_of(tool, command, folder):
    """The names of a command's options, and whether they take a word."""
    text = run([tool, command, "--help-all"], folder).stdout
    found = []
    for line in re.findall(r"^  ((?:-\w, )?--[^ ].*)", text, re.M):
        names = re.match(r"((?:-\w, |--[a-z-]+, )*)(--[a-z-]+)( [^ ]+)?", line)
        first = re.search(r"--[a-z-]+", line)[0]
        found.append((first, bool(re.match(r".*?--[a-z-]+ \S", line.split("  ")[0])), names))
    return [(name, valued) for name, valued, _ in found]


def words_of(command):
    return shlex.split(command)


def page_of(tool, folder, command, words, name):
    """Makes a page; its text and what was printed."""
    path = folder / name
    path.unlink(missing_ok=True)
    made = run([tool, command, f"--html={path}", *words], folder)
    return made, path.read_text() if path.is_file() else None


def check_option(tool, folder, command, option, words):
    """A page with these words of one option: its command has each, and makes the page again."""
    operands = BESIDE.get((command, option), OPERANDS[command])
    given = [*words, *operands]
    made, text = page_of(tool, folder, command, given, "first.html")
    what = f"{command} {' '.join(given)}"
    if made.returncode == 2:
        return fail(f"{what}: this test uses it wrongly: {made.stderr.strip()}")
    printed = page_commands(text)[0]
    for word in given:
        if word.startswith("--") and word not in words_of(printed) and word != "--squeeze":
            fail(f"{what}: printed without {word}: {printed}")
    again = run(f"{printed} --html=second.html", folder)
    if again.returncode != made.returncode or (folder / "second.html").read_text() != text:
        fail(f"{what}: {printed}: exit {again.returncode}, not {made.returncode}, or another page")
    for after in next_commands(made.stdout):
        again = run(after, folder)
        if again.returncode not in (0, 1):
            fail(f"{what}: next: {after}: exit {again.returncode}: {again.stderr.strip()}")


def is_repeated(tool, folder, command, option, words):
    operands = BESIDE.get((command, option), OPERANDS[command])
    return "is given more than once" not in run([tool, command, *words, *operands], folder).stderr.replace("for all files", "")


def check_options(tool, _testdata):
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        make_data(folder)
        os.environ["PATH"] = f"{tool.parent}:{os.environ['PATH']}"
        checked = repeated = 0
        for command in OPERANDS:
            for option, valued in options_of(str(tool), command, folder):
                if option in QUIET_FLAGS or (option in VALUES and VALUES[option] is None):
                    continue
                if option in FLAGS:
                    check_option(str(tool), folder, command, option, [option])
                    checked += 1
                    continue
                if option not in VALUES:
                    fail(f"{command} {option}: VALUES does not have it")
                    continue
                first, second = VALUES[option]
                both = [f"{option}={first}", f"{option}={second}"]
                if is_repeated(str(tool), folder, command, option, both):
                    repeated += 1
                    check_option(str(tool), folder, command, option, both)
                else:
                    check_option(str(tool), folder, command, option, both[:1])
                checked += 1
        if repeated < 12:
            fail(f"only {repeated} options may be repeated")
        check_shards(str(tool), folder)
        print(f"{checked} options, {repeated} of them repeated")


SHARDS = {
    "diff": (RAW_SPECS + ["--exclude=skip*", "--include=conv*", "--include=fc*", "--rtol=1", "--rtol=fc*=2"], ["raw_a", "raw_g"]),
    "layers": (RAW_SPECS + ["--files-from=list.txt", "--compute=fp16", "--compute=fc*=fp32"], ["raw_a", "raw_g"]),
    "validate": (["--input-spec=conv*=fp16:1x4x3", "--input-spec=fc*=fp16:2x5", "--files-from=list.txt"], ["raw_near"]),
    "convert": (["--unsqueeze=0", "--permute=1,0,2,3", "--squeeze=1", "--slice=0", "--unsqueeze=0", "--files-from=order.list", "--input-spec=co*=fp16:1x4x3",
                 "--input-spec=conv*=fp16:1x4x3"], ["raw_near", "out/"]),
}


def check_shards(tool, folder):
    """The command that makes a missing shard; and merge, which makes what one run makes."""
    (folder / "order.list").write_text("conv1.raw\n")
    for command, (options, operands) in SHARDS.items():
        def part(k):
            return folder / f"{command}-{k}.jsonl"
        first = run([tool, command, "--shard", "1/2", "--part", str(part(1)), *options, *operands], folder)
        if first.returncode != 0:
            fail(f"{command} --shard 1/2: {first.stderr}")
            continue
        refused = run([tool, "merge", "--expect", "2", str(part(1))], folder)
        printed = re.search(r"run: (btftool .*)", refused.stderr)
        if not printed:
            fail(f"merge of one part of {command}: {refused.stderr}")
            continue
        words = words_of(printed[1])
        for option in options:
            if words.count(option) != options.count(option):
                fail(f"{command}: printed without {option}: {printed[1]}")
        missing = words[words.index("--part") + 1]
        again = run(printed[1], folder)
        merged = run([tool, "merge", str(part(1)), missing], folder)
        (folder / "out").mkdir(exist_ok=True)
        whole = run([tool, command, *options, *operands], folder)
        if again.returncode != 0 or (merged.returncode, merged.stdout) != (whole.returncode, whole.stdout):
            fail(f"{command}: {printed[1]}: exit {again.returncode} {again.stderr}; merged: {merged.stdout}{merged.stderr}; one run: {whole.stdout}{whole.stderr}")


def main():
    if sys.argv[1] == "--check":
        printed, code, arguments = sys.argv[2], int(sys.argv[3]), sys.argv[4:]
        for what in check_run(os.environ["REAL"], arguments, os.getcwd(), code, pathlib.Path(printed).read_text(errors="replace")):
            print(json.dumps(what))
        return 0
    tool, testdata, what = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
    {"options": check_options, "cases": check_cases}[what](tool, testdata)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
