#!/usr/bin/env python3
"""Which causes `diff` names, by dtype, in pairs that NumPy broke; and that it names none in noise.

    matrix.py BTFTOOL [--pairs N] [--seed S] [--only PART] [--dtype T] [--show]

N pairs (default 1) of each cause, dtype, kind of data and golden's dtype (the same, and float32). A cause counts as found
in a dtype if it is named in nine of ten pairs. In each dtype nine of ten causes must be found, every cause in nine of
ten of all its pairs (in all but one of fewer than ten), and none in pairs that differ by noise. --show tells what was said where a cause is missed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import zlib

try:
    import ml_dtypes  # noqa: F401
    import numpy as np
except ImportError:
    print("skipped: no NumPy or no ml_dtypes")
    sys.exit(0)

import mixed  # noqa: F401
import places  # noqa: F401
import values  # noqa: F401
from causes import CAUSES
from noise import noises
from tensors import DTYPES, write

NINE_OF_TEN = 0.9


def hints(tool, pairs, scratch, *options):
    """What is said of each pair: cause and evidence; of the same ones, nothing."""
    paths = [os.path.join(scratch, name) for name in ("actual.btf", "golden.btf")]
    for side, path in enumerate(paths):
        write(path, [pair[side] for pair in pairs])
    done = subprocess.run([tool, "-j", "2", "diff", "--json", "--show", "0", "--pair-by", "number", *options, *paths],
                          capture_output=True)
    if done.returncode not in (0, 1):
        sys.exit(f"exit {done.returncode}: " + done.stderr.decode())
    for tensor in json.loads(done.stdout)["tensors"]:
        if tensor["result"] == "same":
            yield None
        else:
            yield next(((hint["cause"], hint["evidence"]) for hint in tensor["hints"]), ("nothing", ""))


def random_of(*what):
    return np.random.default_rng(zlib.crc32(repr(what).encode()))


def pairs_of(cause, args):
    for dtype in cause.dtypes:
        if args.dtype not in ("", dtype):
            continue
        for golden in dict.fromkeys([dtype, "float32"]):
            for kind in cause.kinds:
                for n in range(args.pairs):
                    rng = random_of(cause.what, dtype, golden, kind, n, args.seed)
                    yield (dtype, golden, kind, n), cause.make(rng, dtype, golden, kind)


def row_of(cause, args, scratch):
    """Of each dtype: how many were found, of how many."""
    made = list(pairs_of(cause, args))
    row = {}
    for (mark, _), said in zip(made, hints(args.tool, [pair for _, pair in made], scratch) if made else ()):
        if said is None:
            continue
        cell = row.setdefault(mark[0], [0, 0])
        cell[1] += 1
        if said[0] in cause.names:
            cell[0] += 1
        elif args.show:
            print(f"{cause.what} | {mark}: {': '.join(said)}")
    return row


def share(cells):
    found, tried = (sum(cell[k] for cell in cells) for k in (0, 1))
    return found, tried, found >= NINE_OF_TEN * tried


def claims_in_noise(args, scratch):
    claims = tried = 0
    for dtype in DTYPES:
        if args.dtype not in ("", dtype):
            continue
        made = [pair for n in range(args.pairs * 12) for pair in noises(random_of("noise", dtype, n, args.seed), dtype)]
        for options in ((), ("--close",)):
            for (what, actual, golden), said in zip(made, hints(args.tool, [p[1:] for p in made], scratch, *options)):
                tried += said is not None
                if said is not None and said[0] not in ("nothing", "rounding"):
                    claims += 1
                    print(f"claimed in noise: {what} of {dtype} {golden.shape}: {': '.join(said)}")
    return claims, tried


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool", type=os.path.abspath)
    parser.add_argument("--pairs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--dtype", default="")
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    good = True
    table = {}
    with tempfile.TemporaryDirectory() as scratch:
        for cause in CAUSES:
            if args.only in cause.what and (row := row_of(cause, args, scratch)):
                table[cause.what] = row
        claims, noisy = (0, 0) if args.only else claims_in_noise(args, scratch)
    print(f"{'cause':46} {'found':>11}  less than nine of ten in")
    for what, row in table.items():
        found, tried, enough = share(row.values())
        enough |= tried - found <= 1  # of fewer than ten
        low = " ".join(f"{dtype}:{cell[0]}/{cell[1]}" for dtype, cell in row.items() if not share([cell])[2])
        print(f"{what:46} {found:5}/{tried:5}  {low}")
        good &= enough
    print(f"\n{'dtype':20} {'found':>11}  causes")
    for dtype in DTYPES:
        cells = [row[dtype] for row in table.values() if dtype in row]
        if not cells:
            continue
        found, tried, _ = share(cells)
        causes = sum(share([cell])[2] for cell in cells)
        print(f"{dtype:20} {found:5}/{tried:5}  {causes} of {len(cells)}")
        good &= causes >= NINE_OF_TEN * len(cells)
    print(f"\n{claims} causes claimed in {noisy} pairs that differ by noise")
    sys.exit(0 if good and claims == 0 else 1)


if __name__ == "__main__":
    main()
