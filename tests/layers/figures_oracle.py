"""The figures of a pair of tensors from their definitions (docs/layers.md), with NumPy.

  figures_oracle.py BTFTOOL [COUNT [SEED]]

compares those of `btftool layers --json` with them, on random pairs and on hostile ones.
"""

import json
import math
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: no NumPy")
    sys.exit(0)

MASK = -9000.0  # what is not above it, on both sides, stands for "not this one" in front of a softmax...
LOUD = 1000.0  # ...where nothing else is as large as this


def ratio(over, under):
    if over == 0:
        return 0.0
    return float(math.sqrt(over / under)) if under > 0 else math.inf


def figures(actual, golden):
    """Sums in long double; `e` is relative to golden's norm."""
    actual, golden = np.asarray(actual), np.asarray(golden)
    a = actual.astype(np.longdouble).ravel()
    g = golden.astype(np.longdouble).ravel()
    numbers = np.isfinite(a) & np.isfinite(g)
    masked = (a <= MASK) & (g <= MASK)
    others = numbers & ~masked
    if np.abs(g[others]).max(initial=0) <= LOUD and np.abs(a[others]).max(initial=0) <= LOUD:
        numbers = others
    else:
        masked[:] = False
    a_numbers, g_numbers = np.where(numbers, a, 0), np.where(numbers, g, 0)
    e = a_numbers - g_numbers
    n = int(numbers.sum())
    ee, gg = e @ e, g_numbers @ g_numbers
    out = {
        "n": n,
        "e": ratio(ee, gg),
        "rho": float(abs(e @ g_numbers) / np.sqrt(ee * gg)) if ee * gg > 0 else 0.0,
        "mu": float(abs(e.sum()) / np.sqrt(ee * n)) if ee > 0 else 0.0,
        "nan": int((np.isnan(a) & ~np.isnan(g)).sum()),
        "inf": int((np.isinf(a) & (a != g) & ~masked).sum()),
        "w": 0.0, "norm": float(np.sqrt(gg)), "max": float(np.abs(g_numbers).max(initial=0)),
    }
    for index, slices in slicings(golden.shape, g.size):
        es = np.zeros(slices, np.longdouble)
        gs = np.zeros(slices, np.longdouble)
        np.add.at(es, index, e * e)
        np.add.at(gs, index, g_numbers * g_numbers)
        under = np.maximum(gs, gs.sum() / slices)
        with np.errstate(all="ignore"):
            out["w"] = max(out["w"], float(np.sqrt(np.where(es > 0, es / under, 0).max())))
    return out


def slicings(shape, size):
    """For each way to cut a tensor into slices: the number of the slice of every element, and of slices."""
    rank, at = len(shape), np.arange(size)
    if size == 0:
        return
    if rank >= 3 and shape[-3] > 1:
        count = shape[-3]
        yield at // (shape[-1] * shape[-2]) % count % 4096, min(count, 4096)
    if rank >= 1 and rank != 4 and 1 < shape[-1] < size:
        yield at % shape[-1] % 4096, min(shape[-1], 4096)
    part = max(1024, -(-size // 64))
    if part < size:
        yield at // part, -(-size // part)


# Pairs.


def hostile(rng):
    """One pair that may break sums: NaN, Inf, zeros, constants, large means, tiny and huge numbers, few elements."""
    rank = rng.integers(0, 6)
    shape = tuple(int(x) for x in rng.choice([1, 2, 3, 5, 8, 33, 70], rank))
    while math.prod(shape) > 60000:
        shape = shape[1:]
    if rng.random() < 0.05:
        shape = (*shape, 0)
    dtype = rng.choice(["f4", "f4", "f8", "f2", "i1", "u1", "i4", "i8", "?"])
    g = rng.standard_normal(shape)
    kind = rng.integers(0, 9)
    if kind == 1:
        g = g * 0
    elif kind == 2:
        g = g * 0 + 3
    elif kind == 3:
        g = g + 1000
    elif kind == 4:
        g = g * 1e30
    elif kind == 5:
        g = g * 1e-30
    elif kind == 6:
        g = np.maximum(g, 0)
    noise = rng.choice([0, 1e-3, 1]) * np.abs(g).sum() / max(1, g.size)
    a = g * (1 + rng.choice([0, 1e-6, 0.05])) + noise * rng.standard_normal(shape)
    if not np.issubdtype(np.dtype(dtype), np.floating):
        g, a = np.clip(np.round(g * 20), -100, 100), np.clip(np.round(a * 20), -100, 100)
        if dtype in ("u1", "?"):
            g, a = np.abs(g), np.abs(a)
    with np.errstate(all="ignore"):
        g, a = np.array(np.nan_to_num(g).astype(dtype)), np.array(np.nan_to_num(a).astype(dtype))
    if a.size and np.issubdtype(a.dtype, np.floating):
        for side in (a, g):
            for value in (math.nan, math.inf, -math.inf):
                if rng.random() < 0.2:
                    side.flat[rng.integers(0, a.size, max(1, a.size // 50))] = value
        if rng.random() < 0.1 and a.dtype != np.float16:
            hidden = rng.random(shape) < 0.4
            g = np.where(hidden, np.array(-1e9, g.dtype), g)
            a = np.where(hidden, np.array(rng.choice([-1e9, -65504, -math.inf]), a.dtype), a)
    return a, g


def close(theirs, ours, exact):
    theirs = float(theirs) if theirs is not None else math.nan
    if math.isinf(ours) or math.isinf(theirs):
        return ours == theirs
    return abs(theirs - ours) <= 1e-9 + exact * abs(ours)


def ask(tool, actual, golden):
    """The pairs of the report, by name."""
    done = subprocess.run([tool, "layers", "--json", "--no-hints", actual, golden], capture_output=True, text=True,
                          timeout=300)
    report = {pair["golden"]: pair for pair in json.loads(done.stdout)["pairs"]}
    for pair in report.values():
        pair["nan"], pair["inf"] = pair["nan"]["actual"], pair["inf"]["actual"] + pair["inf"]["opposite"]
    return report


def compare(pairs, report, what):
    """How many figures there are, and how many are others than NumPy's."""
    wrong = seen = 0
    for name, (a, g) in pairs.items():
        if a.size == 0:
            continue
        with np.errstate(all="ignore"):
            ours, theirs = figures(a, g), report[name]
        for figure in ("e", "w", "rho", "mu", "nan", "inf"):
            if figure in ("rho", "mu") and ours["e"] < 1e-12:
                continue  # of nothing but roundings
            seen += 1
            if not close(theirs[figure], ours[figure], 1e-7):
                wrong += 1
                print(f"{what} {name} {g.dtype} {g.shape}: {figure} is {theirs[figure]} instead of {ours[figure]}")
    return seen, wrong


def main():
    if len(sys.argv) not in (2, 3, 4):
        sys.exit(__doc__)
    tool = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 400
    rng = np.random.default_rng(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    pairs = {f"t{k:04}": hostile(rng) for k in range(count)}
    listed = {name: pair for name, pair in pairs.items() if pair[0].ndim > 0 and pair[0].dtype != bool}
    with tempfile.TemporaryDirectory() as scratch:
        path = lambda name: os.path.join(scratch, name)
        for k, side in enumerate(("actual", "golden")):
            np.savez(path(side + ".npz"), **{name: pair[k] for name, pair in pairs.items()})
        np.savez(path("listed.npz"), **{name: pair[0] for name, pair in listed.items()})
        # The same numbers as a list of those that are not zero.
        subprocess.run([tool, "-q", "convert", "--layout", "coo", path("listed.npz"), path("listed.btf")], check=True)
        seen, wrong = compare(pairs, ask(tool, path("actual.npz"), path("golden.npz")), "dense")
        more, others = compare(listed, ask(tool, path("listed.btf"), path("golden.npz")), "COO")
    print(f"{len(pairs)} pairs, {len(listed)} of them COO too, {seen + more} figures, {wrong + others} disagree")
    sys.exit(wrong + others > 0 or seen < 4 * count)


if __name__ == "__main__":
    main()
