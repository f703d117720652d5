#!/usr/bin/env python3
"""Compares random comparisons with exact arithmetic, and a saved report judged again with a fresh one.

    check_diffs.py BTFTOOL [COUNT [SEED]]

COUNT pairs (default 200) of SEED (default 1) of any dtypes and layouts, sparse ones too. For each: the figures and the
verdict of `diff --json` by random criteria, then two other sets of criteria on the saved report (--from-json) and on
the files. A report that does not know enough may say so; what it says must be what the files say. A pair on which they
disagree is printed, and its files kept in the current directory."""

import json
import math
import os
import random
import struct

import btf_writer
import layouts
from casts import cast_number
from comparisons import Criteria, Pair, Unclear, as_double, root
from elements import BY_NAME, DTYPES, decode
from harness import Disagreement, number, run_pairs
from random_files import random_code, random_dims


def random_layout(rng, dtype, dims):
    while True:
        layout = rng.choice([layouts.LINEAR, *layouts.COO, *layouts.ALL_DENSE])
        if layout in layouts.COO:
            return layout
        try:
            layouts.check_pair(layout, dims, dtype)
            return layout
        except layouts.Misfit:
            pass


def record(rng, dtype, dims, codes):
    layout = random_layout(rng, dtype, dims)
    if layout not in layouts.COO:
        return btf_writer.dense(dtype, layout, dims, codes)
    entries = [(tuple(index), code) for index, code in zip(layouts.indices(dims), codes) if code or rng.random() < 0.1]
    rng.shuffle(entries)
    return btf_writer.sparse(dtype, dims, [row for row, _ in entries], [code for _, code in entries], layout)


def golden_code(rng, dtype, kind):
    if kind == "any":
        return random_code(rng, dtype)
    if kind == "sparse" and rng.random() < 0.7:
        return 0
    return cast_number(decode(BY_NAME["float64"], as_float64(rng.gauss(0, 1) * (20 if dtype.bits > 4 else 2))), dtype)[0]


def as_float64(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def disturbed(rng, code, golden, actual, share):
    code = cast_number(decode(golden, code), actual)[0] if actual != golden else code
    if rng.random() >= share:
        return code
    if actual.kind == "bool":
        return 1 - code
    step = rng.choice([1, -1, 2, rng.randrange(1 << actual.bits)])
    return (code + step) % (1 << actual.bits)


def random_criteria(rng, pair):
    """Mostly near what decides."""
    def around(value):
        value = min(max(value, 0.0), 1e300)
        return value * rng.choice([0.0, 0.5, 0.999, 1.001, 2.0])

    options = {}
    if rng.random() < 0.5:
        worst = float(min(pair.max_abs(), 10 ** 30))
        if rng.random() < 0.7:
            options["atol"] = around(worst)
        if rng.random() < 0.7:
            options["rtol"] = rng.choice([0.0, 1e-6, 1e-3, 0.02, 0.3, 1.0])
    if rng.random() < 0.2:
        options["ulp"] = max(0, min(pair.max_ulp(), 1 << 40) + rng.choice([-1, 0, 0, 1]))
    options["close"] = rng.random() < 0.15
    options["equal_nan"] = rng.random() < 0.85
    if rng.random() < 0.2:
        options["max_mismatch"] = rng.randrange(len(pair.numbers) + 1)
    figures = {**pair.figures(), "max-abs": float(min(pair.max_abs(), 10 ** 300))}
    gates = []
    for name, value in figures.items():
        if rng.random() < 0.12 and math.isfinite(value):
            gates.append((name, abs(value) * rng.choice([0.9, 0.999, 1.001, 1.1]) if name != "cosine" else
                          min(1.0, max(-1.0, value + rng.choice([-1e-3, 1e-3])))))
    options["gates"] = tuple(gates)
    if rng.random() < 0.2:
        options["quantiles"] = tuple({q: around(pair.quantile(q)) for q in
                                      rng.sample([0.0, 0.25, 0.5, 0.9, 1.0], rng.randrange(1, 3))}.items())
    if rng.random() < 0.2:
        options["top_k"] = rng.randrange(1, 5)
    return Criteria(**options)


def compare(what, ours, theirs, near=0.0):
    ours, theirs = number(ours) if isinstance(ours, str) else ours, number(theirs)
    if ours != theirs and not abs(ours - theirs) <= near * max(abs(ours), abs(theirs), 1e-300):
        raise Disagreement(f"{what} is {theirs!r} instead of {ours!r}")


class Case:
    def __init__(self, seed, n):
        rng = self.rng = random.Random(f"{seed}:{n}")
        golden = rng.choice(DTYPES)
        actual = golden if rng.random() < 0.6 else rng.choice(DTYPES)
        dims = random_dims(rng, rng.choice([12, 60, 300]), zeros=0)
        kind = rng.choice(["any", "mild", "mild", "sparse"])
        count = layouts.count(dims)
        share = rng.choice([0.0, 0.02, 0.3, 1.0])
        codes = [golden_code(rng, golden, kind) for _ in range(count)]
        others = [disturbed(rng, code, golden, actual, share) for code in codes]
        self.pair = Pair(dims, actual, others, golden, codes)
        self.files = [btf_writer.file([record(rng, actual, dims, others)]),
                      btf_writer.file([record(rng, golden, dims, codes)])]
        self.criteria = [random_criteria(rng, self.pair) for _ in range(3)]
        self.threads = rng.choice([1, 2])
        self.arguments = []

    def __str__(self):
        return " ".join(self.arguments)

    def judge(self, tool, criteria, *sources):
        self.arguments = criteria.arguments()
        done = tool.run("-j", self.threads, "diff", "--json", *self.arguments, *sources)
        return done, (json.loads(done.stdout)["tensors"][0] if done.returncode < 2 else None)

    def run(self, tool, scratch):
        paths = [os.path.join(scratch, name) for name in ("actual.btf", "golden.btf")]
        for path, data in zip(paths, self.files):
            with open(path, "wb") as file:
                file.write(data)
        done, found = self.judge(tool, self.criteria[0], *paths)
        self.check_verdict(self.criteria[0], done)
        self.check_figures(self.criteria[0], found)
        report = os.path.join(scratch, "report.json")
        with open(report, "wb") as file:
            file.write(done.stdout)
        known = 0
        for criteria in self.criteria[1:]:
            fresh, tensor = self.judge(tool, criteria, *paths)
            self.check_verdict(criteria, fresh)
            again, same = self.judge(tool, criteria, "--from-json", report)
            if again.returncode == 2 and b"does not show" in again.stderr:
                continue
            known += 1
            compare("the exit code of the report judged again", fresh.returncode, again.returncode)
            if [(c["name"], c["passed"]) for c in tensor["criteria"]] != [(c["name"], c["passed"]) for c in
                                                                          same["criteria"]]:
                raise Disagreement("the report judged again has other criteria")
        return known

    def check_verdict(self, criteria, done):
        try:
            same = self.pair.same(criteria)
        except Unclear:
            return
        if done.returncode != (0 if same else 1):
            raise Disagreement(f"the exit code is {done.returncode} instead of {0 if same else 1}: "
                               f"{done.stderr.decode().strip()}")

    def check_figures(self, criteria, found):
        pair = self.pair
        compare("compared", len(pair.numbers), found["compared"])
        try:
            compare("mismatched", pair.mismatched(criteria.for_types(*pair.types)), found["mismatched"])
        except Unclear:
            pass
        compare("max_abs", as_double(pair.max_abs()), found["max_abs"], 1e-15)
        compare("max_ulp", min(pair.max_ulp(), (1 << 64) - 1), int(found["max_ulp"]))
        nan, inf = pair.counts()
        if nan != found["nan"] or inf != found["inf"]:
            raise Disagreement(f"NaN and Inf are {found['nan']} {found['inf']} instead of {nan} {inf}")
        if found["figures"]:
            compare("pairs", len(pair.finite), found["figures"]["pairs"])
            figures = pair.figures() if pair.finite else {}
            if not pair.finite and (found["figures"]["cosine"] is not None or not found["figures"]["reason"]):
                raise Disagreement("no pair is finite, and figures are given, or no reason for their absence")
            for name, value in figures.items():
                theirs = number(found["figures"][name])
                if name == "bias" and abs(value - theirs) <= 1e-13 * figures["mae"]:
                    continue
                # A logarithm of nearly 1, and the sum of products that cancel each other.
                if not abs(value - theirs) <= 1e-12:
                    compare(name, value, theirs, 1e-10)
            if pair.finite:
                self.check_fit(found["figures"])
        for quantile in found["quantiles"]:
            compare(f"quantile {quantile['q']}", pair.quantile(number(quantile["q"])), quantile["value"], 1e-12)
        if found["top_k"]:
            compare("disagreeing rows", pair.top_k(criteria.top_k, criteria.for_types(*pair.types)), found["top_k"]["disagreeing"])


    def check_fit(self, found):
        fit = self.pair.fit()
        theirs = [found[name] for name in ("gain", "offset", "residual")]
        if fit is None:
            if theirs != [None] * 3:
                raise Disagreement(f"golden is constant, and the best fit is {theirs}")
            return
        gain, offset, residual, spread = fit
        if theirs == [None] * 3:
            if spread > 1e-11:
                raise Disagreement("there is no best fit")
            return
        # Sums of squares have some digits, of which a mean that is large beside the spread takes its part.
        most = 1e-13 / spread * (1 + abs(as_double(gain)))
        rms = max(root(sum(x * x for x in side) / len(side)) for side in zip(*self.pair.finite))
        for name, value, found_one, limit in (("gain", gain, theirs[0], most),
                                              ("offset", offset, theirs[1], most * rms),
                                              ("residual", residual, theirs[2], math.sqrt(most) * rms)):
            if not abs(as_double(value) - number(found_one)) <= limit:
                compare(name, as_double(value), number(found_one), 1e-12)


def summary(count, seed, known):
    return f"{count} pairs (seed {seed}), {known} of {2 * count} reports judged again"


if __name__ == "__main__":
    run_pairs(Case, "diff", 200, __doc__, summary)
