#!/usr/bin/env python3
"""Casts in memory beside those of NumPy with ml_dtypes, one thread: which pairs the peer is faster in.

usage: pairs.py BTF_PAIRS_BENCH
"""
import subprocess
import sys

import numpy

import cliffs_peers

NAMES = {"boolean": "bool"}


def main():
    lines = subprocess.run(sys.argv[1:2], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    ratios = []
    for source, target, ns in (line.split() for line in lines):
        if source.startswith("quantise"):
            print(f"{source} to {target}: {ns} ns an element")
            continue
        peer = cliffs_peers.cast_nanoseconds(NAMES.get(source, source), NAMES.get(target, target))
        if peer is not None:
            ratios.append((float(ns) / peer, source, target, float(ns), peer))
    ratios.sort(reverse=True)
    slower = [row for row in ratios if row[0] > 1]
    print(f"{len(ratios)} pairs; time over the peer's: median {numpy.median([row[0] for row in ratios]):.2f}; "
          f"the peer is faster in {len(slower)}")
    for ratio, source, target, ns, peer in ratios[:max(10, len(slower))]:
        print(f"{source} to {target}: {ratio:.2f} ({ns:.2f} ns, {peer:.2f})")


if __name__ == "__main__":
    main()
