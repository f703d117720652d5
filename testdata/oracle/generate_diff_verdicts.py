#!/usr/bin/env python3
"""Writes pairs of small tensors with the verdicts of NumPy and torch on them, or checks that they are what it would write.

    generate_diff_verdicts.py             write diff_*.txt beside this script
    generate_diff_verdicts.py --check     regenerate and compare; exit 1 when anything differs

Needs Python 3, NumPy and torch, and a long double of 64 bits or more. What the lines mean: README.md of testdata. The
first line of each file names the versions that made it; --check does not compare that line.
"""

import argparse
import os
import sys

sys.dont_write_bytecode = True

import numpy  # noqa: E402 (after the line that keeps __pycache__ out of the tree)
import torch  # noqa: E402

from verdicts import close, elements, figures, ulp  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = {"diff_elements.txt": elements.lines, "diff_close.txt": close.lines, "diff_ulp.txt": ulp.lines,
         "diff_figures.txt": figures.lines}


def fresh(make):
    made_by = f"# NumPy {numpy.__version__}, torch {torch.__version__}"
    return [made_by] + make()


def check():
    problems = 0
    for name, make in FILES.items():
        path = os.path.join(HERE, name)
        found = open(path, encoding="ascii").read().splitlines() if os.path.exists(path) else []
        expected = fresh(make)
        differing = sum(a != b for a, b in zip(found[1:], expected[1:])) + abs(len(found) - len(expected))
        print(f"{name}: {len(expected) - 1} lines, {differing} differ; it says {found[0] if found else 'nothing'}")
        problems += differing
    return 1 if problems else 0


def main():
    parser = argparse.ArgumentParser(description="Writes verdicts of NumPy and torch, or checks them with --check.")
    parser.add_argument("--check", action="store_true", help="write nothing; compare with what is there")
    if parser.parse_args().check:
        return check()
    for name, make in FILES.items():
        with open(os.path.join(HERE, name), "w", encoding="ascii") as out:
            out.write("\n".join(fresh(make)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
