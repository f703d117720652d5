#!/usr/bin/env python3
"""JSON on a terminal is indented, and the same document as in a pipe: terminal.py BTFTOOL TESTDATA"""
import json
import os
import subprocess
import sys

from screen import on_terminal

BTFTOOL, TESTDATA = map(os.path.abspath, sys.argv[1:3])
failures = 0


def check(what, found, expected):
    global failures
    if found != expected:
        failures += 1
        print(f"FAILED {what}: found {found!r:.200}, expected {expected!r:.200}")


good = TESTDATA + "/good/mixed.btf"
noisy = TESTDATA + "/good/mixed_noisy.btf"
for command in (
    ["inspect", "--json", "--stats", good],
    ["diff", "--json", good, noisy],
    ["layers", "--json", TESTDATA + "/layers/scale.npz", TESTDATA + "/layers/golden.npz"],
    ["validate", "--json", good, TESTDATA + "/bad/data-past-end.btf"],
    ["types", "--json"],
    ["diff", "--json", "nothing", good],
    ["diff", "--json", "--rtol", "x", good, good],
):
    piped = subprocess.run([BTFTOOL, *command], capture_output=True, check=False)
    code, shown = on_terminal([BTFTOOL, *command], stderr_too=False)
    check(f"{command}: exit code", code, piped.returncode)
    check(f"{command}: one line in a pipe", piped.stdout.count(b"\n"), 1)
    lines = json.dumps(json.loads(shown), indent=2).count("\n") + 1
    check(f"{command}: lines", (shown[:4], shown.count("\n"), shown[-2:]), ('{\n  ', lines, "}\n"))
    check(f"{command}: the document", json.loads(shown), json.loads(piped.stdout))
print("JSON on a terminal: " + (f"{failures} failures" if failures else "as in a pipe, indented"))
sys.exit(1 if failures else 0)
