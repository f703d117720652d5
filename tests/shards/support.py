"""What tests of parts share: BTFTOOL is the first argument of the program."""
import json
import os
import struct
import subprocess
import sys

BTFTOOL = os.path.abspath(sys.argv[1])
REPORTS = ("report.xml", "report.html", "list.txt")
failures = []


def check(what, found, expected):
    if found == expected:
        return
    failures.append(what)
    found, expected = str(found), str(expected)
    first = len(os.path.commonprefix([found, expected]))
    begin = max(0, first - 60)
    print(f"FAILED {what}, from {first}")
    print(f"  found    {found[begin:first + 200]}\n  expected {expected[begin:first + 200]}")


def npy(path, values, dims=None):
    dims = dims or [len(values)]
    shape = "(" + "".join(f"{d}," for d in dims) + ")"
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        file.write(struct.pack(f"<{len(values)}f", *values))


def run(*words, **more):
    return subprocess.run([BTFTOOL, *words], capture_output=True, **more)


def report(*words, **more):
    """All that a command says: exit status, both outputs, files of reports."""
    for name in REPORTS:
        if os.path.exists(name):
            os.remove(name)
    done = run(*words, **more)
    files = [
        open(name, "rb").read() if os.path.exists(name) else None
        for name in REPORTS
    ]
    return done.returncode, done.stdout, done.stderr, files


def lines(path):
    return [json.loads(line) for line in open(path)]


def trouble(what, words, *told):
    done = run("merge", *words)
    check(f"{what}: exit status", done.returncode, 2)
    check(f"{what}: nothing on stdout", done.stdout, b"")
    text = done.stderr.decode()
    check(f"{what}: one line", text.count("\n"), 1)
    for words in told:
        check(f"{what}: says '{words}' in '{text}'", words in text, True)


def end():
    print(f"{len(failures)} failures" if failures else "all as one run says it")
    sys.exit(1 if failures else 0)
