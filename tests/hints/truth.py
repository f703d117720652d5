#!/usr/bin/env python3
"""Is what `diff` says of a region true of every element that it speaks of?

    truth.py BTFTOOL [--pairs N] [--seed S] [--show]

Random pairs with one or two planted faults (numbers scaled, moved, replaced, NaN, Inf, in rows, channels, columns, blocks,
at every k-th index). The sentence is read, and each part of it is checked with NumPy: how many mismatches, that each of them
is in the region and how large that is, that a period has three places and mismatches at every index that follows from it,
what is said to be there, and the law that numbers there are said to follow.
"""

import argparse
import os
import re
import sys
import tempfile

try:
    import ml_dtypes  # noqa: F401
    import numpy as np
except ImportError:
    print("skipped: no NumPy or no ml_dtypes")
    sys.exit(0)

from matrix import hints, random_of

SHAPES = [(1, 20, 12, 12), (2, 8, 10, 14), (64, 48), (51, 40), (7, 272), (1904,), (20000,), (3, 6, 30, 16), (40, 16, 9)]
KINDS = ["scaled", "offset", "negated", "constant", "zero", "nan", "inf", "other", "one nan"]


def part(rng, shape):
    """Indices of the elements that a fault is in."""
    size = int(np.prod(shape))
    where = np.zeros(shape, bool)
    kind = rng.integers(5)
    if kind == 4 or len(shape) == 1:
        length = int(rng.integers(8, max(9, size // 20)))
        for at in rng.integers(0, size - length, int(rng.integers(1, 4))):
            where.ravel()[at:at + length] = True
        return where
    dim = int(rng.integers(len(shape)))
    n = shape[dim]
    if kind == 0:
        chosen = rng.permutation(n)[:int(rng.integers(1, 4))]
    elif kind == 1:
        period = int(rng.integers(2, 9))
        chosen = np.arange(int(rng.integers(period)), n, period)
    elif kind == 2:
        chosen = np.arange(int(rng.integers(n)), n)
    else:
        first, step = int(rng.integers(n)), int(rng.integers(2, 20))
        chosen = np.arange(first, min(n, first + 3 * step), step)
    at = [slice(None)] * len(shape)
    at[dim] = chosen
    where[tuple(at)] = True
    return where


def broken(rng, what, a, where):
    if what == "one nan":
        a.ravel()[rng.integers(a.size)] = np.nan
        return
    made = {"scaled": lambda x: x * np.float32(rng.choice([1.02, 0.5, 3.7])), "offset": lambda x: x + np.float32(0.3),
            "negated": lambda x: -x, "constant": lambda x: np.full_like(x, 7), "zero": np.zeros_like,
            "nan": lambda x: np.full_like(x, np.nan), "inf": lambda x: np.full_like(x, np.inf),
            "other": lambda x: rng.standard_normal(x.shape).astype(np.float32)}[what]
    a[where] = made(a[where])


def pair(rng):
    shape = SHAPES[rng.integers(len(SHAPES))]
    g = rng.standard_normal(shape).astype(np.float32)
    if rng.random() < 0.3:
        g = np.maximum(g, 0)
    a = g.copy()
    for _ in range(int(rng.integers(1, 3))):
        broken(rng, KINDS[rng.integers(len(KINDS))], a, part(rng, shape))
    return a, g


def axis_index(name, shape):
    size = int(np.prod(shape))
    if name in ("element number", "stored position"):
        return np.arange(size).reshape(shape), size
    d = int(re.match(r"dim (\d+)", name)[1])
    return np.broadcast_to(np.arange(shape[d]).reshape([-1 if k == d else 1 for k in range(len(shape))]), shape), shape[d]


def member(text, index):
    """Which indices "= 5 or 40", "in 3..9 or 12", ">= 7", "< 4", "% 8 in 2..3" hold, and the period."""
    period = None
    if text.startswith("% "):
        _, period, text = text.split(" ", 2)
        period = int(period)
        index = index % period
    if text.startswith(">= "):
        return index >= int(text[3:]), period
    if text.startswith("< "):
        return index < int(text[2:]), period
    held = np.zeros(index.shape, bool)
    for one in re.split(r", | or ", re.sub(r"^(==|=|in) ", "", text)):
        low, _, high = one.partition("..")
        held |= (index >= int(low)) & (index <= int(high or low))
    return held, period


PART = r"(?:dim \d+(?: \([NCHW]\))?|element number|stored position) (?:% \d+ )?(?:==|=|in|>=|<) [^;(,]*?(?:, [0-9.]+)*(?: or [0-9.]+)?"


def parts_of(text):
    return re.findall(r"(dim \d+(?: \([NCHW]\))?|element number|stored position) ((?:% \d+ )?(?:==|=|in|>=|<) [0-9., or]+?)(?= and (?:dim|element|stored)|$)", text)


class Untrue(Exception):
    pass


def ask(fact, what):
    if not fact:
        raise Untrue(what)


def region_of(text, shape, hit):
    inside = np.ones(shape, bool)
    found = parts_of(text)
    ask(found, f"no part in '{text}'")
    for name, which in found:
        index, size = axis_index(name, shape)
        held, period = member(which, index)
        inside &= held
        line, _ = member(which, np.arange(size))
        if period is not None:
            ask(len(set(np.flatnonzero(line) // period)) >= 3, f"{name} {which}: fewer than three places")
        if period is not None and hit is not None:
            ask(set(np.flatnonzero(line)) == set(index[hit]), f"{name} {which}: an index without a mismatch")
    return inside


def number(text):
    return {"NaN": np.nan, "Inf": np.inf, "-Inf": -np.inf}.get(text) if "N" in text or "I" in text else float(text)


def check_law(text, a, g):
    """"actual = 1.02 * golden: 144 of 144 elements" of the elements a and g."""
    law = re.match(r"actual = (?:(-?[\d.e+-]+)(?: \([^)]*\))? \* golden|-golden|golden ([+-]) ([\d.e+-]+))(?: ([+-]) ([\d.e+-]+))?: (\d+) of (\d+) elements(.*)", text)
    if not law:
        return False
    gain, sign, offset, sign2, offset2, fits, of, rest = law.groups()
    scale = float(gain) if gain else -1.0 if "-golden" in text.split(":")[0] else 1.0
    add = float(offset or offset2 or 0) * (-1 if (sign or sign2) == "-" else 1)
    ask(int(of) == a.size, f"{of} elements, but there are {a.size}")
    if "more within" in rest or "saturat" in rest:
        return True
    near = np.isclose(a, scale * g + add, rtol=1e-5, atol=1e-5 * max(1, abs(add)))
    ask(near.sum() >= int(fits) and near.sum() - int(fits) <= 0.05 * a.size + 2, f"'{text}': it holds for {near.sum()}")
    return True


def check(evidence, a, g):
    shape = a.shape
    mismatch = ~((a == g) | (np.isnan(a) & np.isnan(g)))
    nan = mismatch & (np.isnan(a) | np.isnan(g))
    inf = mismatch & ~nan & (np.isinf(a) | np.isinf(g))
    kinds = {"NaN": nan, "Inf": inf, "finite": mismatch & ~nan & ~inf, "": mismatch}
    told = np.zeros(shape, bool)
    inside = own = None
    laws = 0
    evidence, _, besides = evidence.partition("; besides, ")
    for sentence in evidence.split("; "):
        if sentence.startswith("all "):
            count, kind, text, size = re.fullmatch(
                r"all (\d+) (?:(finite|NaN|Inf) )?mismatches have (.*?)(?: \((\d+) elements?\))?", sentence).groups()
            own = kinds[kind or ""]
            ask(int(count) == own.sum(), f"{count} {kind} mismatches, but there are {own.sum()}")
            inside = region_of(text.split(", where golden")[0], shape, own)
            ask(not (own & ~inside).any(), f"a mismatch is not in '{text}'")
            ask(size is None or int(size) == inside.sum(), f"{size} elements, but there are {inside.sum()}")
            told |= own
        elif there := re.fullmatch(r"actual is (.*) there", sentence):
            of = a[inside]
            want = np.isinf(of) if "or" in there[1] else np.isnan(of) if there[1] == "NaN" else of == np.float32(number(there[1]))
            ask(want.all(), f"'{sentence}' is not so")
        elif every := re.fullmatch(r"actual is (.*) in all of them", sentence):
            ask((np.isnan(a[own]) if every[1] == "NaN" else np.isinf(a[own])).all(), f"'{sentence}' is not so")
        elif sentence.startswith("there "):
            laws += check_law(sentence[6:], a[inside], g[inside])
        elif sentence.startswith("where "):
            place, law = re.fullmatch(r"where (.*?), (actual .*)", sentence).groups()
            here = region_of(place, shape, None)
            if same := re.fullmatch(r"actual is (.*)", law):
                ask((a[here] == np.float32(number(same[1]))).all() or (same[1] == "NaN" and np.isnan(a[here]).all()), f"'{sentence}' is not so")
            laws += check_law(law, a[here], g[here])
        else:
            raise Untrue(f"'{sentence}' is not understood")
    for count, kind in re.findall(r"(\d+) mismatch(?:es)? of (finite|NaN|Inf)", besides):
        ask(int(count) == kinds[kind].sum(), f"{count} {kind} besides, but there are {kinds[kind].sum()}")
        told |= kinds[kind]
    ask(told[mismatch].all(), "mismatches that nothing is said of")
    return laws


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool", type=os.path.abspath)
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    made = [pair(random_of("truth", n, args.seed)) for n in range(args.pairs)]
    regions = laws = untrue = 0
    with tempfile.TemporaryDirectory() as scratch:
        for n, ((a, g), said) in enumerate(zip(made, hints(args.tool, made, scratch))):
            if said is None:
                continue
            if args.show:
                print(n, a.shape, said)
            if said[0] not in ("region", "stale-padding"):
                continue
            regions += 1
            try:
                laws += check(said[1], a, g)
            except Untrue as error:
                untrue += 1
                print(f"pair {n} {a.shape}: {said[1]}\n    {error}")
    print(f"{regions} regions of {args.pairs} pairs, {laws} laws in them, {untrue} untrue")
    sys.exit(0 if untrue == 0 and regions > args.pairs / 4 and laws > 0 else 1)


if __name__ == "__main__":
    main()
