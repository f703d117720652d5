"""Files that a reference wrote and that are checked in: written again, or compared with what is there."""

import os
import sys


def write_or_check(folder, files):
    """`files`: contents by name. With --check as the only argument names of files that differ are printed, and the exit code is 1."""
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(f"usage: {sys.argv[0]} [--check]")
    os.makedirs(folder, exist_ok=True)
    wrong = []
    for name, content in files.items():
        path = os.path.join(folder, name)
        if sys.argv[1:]:
            with open(path, "rb") as file:
                wrong += [name] if file.read() != content else []
            continue
        with open(path, "wb") as file:
            file.write(content)
    if wrong:
        sys.exit("differ: " + ", ".join(wrong))
