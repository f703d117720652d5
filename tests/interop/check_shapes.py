#!/usr/bin/env python3
"""Tensors whose dims differ by their order, by dims of 1 or by flattening: what `diff` finds when it is told, and what
it hints when it is not.

    check_shapes.py BTFTOOL [COUNT [SEED]]

COUNT pairs (default 150) of SEED (default 1), in any layouts, sparse ones too; every second pair has one element that is
another. With the option the verdict and the place of that element are those of golden. Without it, where the dims differ,
what is hinted must be true of every element, and of equal pairs it must be hinted. A pair on which they disagree is
printed, and its files kept in the current directory."""

import json
import os
import random
import re

import btf_writer
import layouts
from check_diffs import record
from elements import BY_NAME
from harness import Disagreement, run_pairs
from random_files import random_dims

DTYPES = [BY_NAME[name] for name in ("int8", "int16", "int32", "uint8", "int4")]


def number(dims, index):
    at = 0
    for dim, i in zip(dims, index):
        at = at * dim + i
    return at


def transposed(codes, dims, order):
    """numpy.transpose: the codes of the result, and its dims."""
    to = [dims[d] for d in order]
    result = []
    for index in layouts.indices(to):
        before = [0] * len(dims)
        for d, i in zip(order, index):
            before[d] = i
        result.append(codes[number(dims, before)])
    return result, to


def inverse(order):
    return [order.index(d) for d in range(len(order))]


def with_ones(rng, dims):
    dims = [dim for dim in dims if dim != 1]
    for _ in range(rng.randrange(3)):
        dims.insert(rng.randrange(len(dims) + 1), 1)
    return dims


def regrouped(rng, dims):
    """Some neighbours as one dim."""
    groups = []
    for dim in dims:
        if groups and rng.random() < 0.5:
            groups[-1] *= dim
        else:
            groups.append(dim)
    return groups


class Case:
    def __init__(self, seed, n):
        rng = random.Random(f"{seed}:{n}")
        dtype = rng.choice(DTYPES)
        self.golden_dims = random_dims(rng, rng.choice([12, 60, 200]), rank=rng.randrange(1, 5), zeros=0)
        count = layouts.count(self.golden_dims)
        self.golden = [rng.randrange(1 << dtype.bits) for _ in range(count)]
        kind = rng.choice(["permute", "squeeze", "reshape"])
        self.option = ["--" + kind]
        if kind == "permute":
            order = list(range(len(self.golden_dims)))
            rng.shuffle(order)
            self.actual, self.actual_dims = transposed(self.golden, self.golden_dims, inverse(order))
            self.option.append(",".join(map(str, order)))
        else:
            self.actual = list(self.golden)
            change = with_ones if kind == "squeeze" else regrouped
            self.actual_dims = change(rng, self.golden_dims)
            self.option += ["actual"] * (kind == "reshape")
        self.changed = None
        if n % 2:
            at = rng.randrange(count)
            index = next(i for k, i in enumerate(layouts.indices(self.actual_dims)) if k == at)
            self.actual[at] ^= 1 << rng.randrange(dtype.bits)
            self.changed = self.place_in_golden(kind, list(index), at)
        self.files = [btf_writer.file([record(rng, dtype, self.actual_dims, self.actual)]),
                      btf_writer.file([record(rng, dtype, self.golden_dims, self.golden)])]
        self.rank = len(self.golden_dims)

    def place_in_golden(self, kind, index, at):
        if kind == "permute":
            return [index[int(d)] for d in self.option[1].split(",")]
        dims = [d for d in self.golden_dims if d != 1] if kind == "squeeze" else self.golden_dims
        return list(next(i for k, i in enumerate(layouts.indices(dims)) if k == at))

    def __str__(self):
        return f"{' '.join(self.option)}, {self.actual_dims} against {self.golden_dims}"

    def run(self, tool, scratch):
        paths = [os.path.join(scratch, name) for name in ("actual.btf", "golden.btf")]
        for path, data in zip(paths, self.files):
            with open(path, "wb") as file:
                file.write(data)
        done = tool.run("-j", 2, "diff", "--json", *self.option, *paths)
        if done.returncode != (0 if self.changed is None else 1):
            raise Disagreement(f"the exit code is {done.returncode}: {done.stderr.decode().strip()}")
        found = json.loads(done.stdout)["tensors"][0]
        if found["compared"] != len(self.golden):
            raise Disagreement(f"{found['compared']} elements were compared instead of {len(self.golden)}")
        if self.changed is not None:
            places = [mismatch["index"] for mismatch in found["first"]]
            if places != [self.changed]:
                raise Disagreement(f"the mismatches are at {places} instead of {self.changed}")
        return self.check_hint(tool, paths)

    def check_hint(self, tool, paths):
        if self.actual_dims == self.golden_dims:
            return False
        done = tool.run("diff", "--json", *paths)
        found = json.loads(done.stdout)["tensors"][0]
        if done.returncode != 1 or found["result"] != "shape":
            raise Disagreement(f"other dims are {found['result']}, exit code {done.returncode}")
        for hint in found["hints"]:
            if not self.is_true(hint["evidence"]):
                raise Disagreement(f"'{hint['evidence']}' is not true")
        if self.changed is None and not found["hints"]:
            raise Disagreement("nothing is hinted of what is equal")
        return bool(found["hints"])

    def is_true(self, words):
        """One element may be another: then it says of how many, or how large the noise is."""
        words, noise, _ = words.partition(", but for noise of ")
        if noise and self.changed is None:
            return False
        others = re.fullmatch(r"with golden's dims actual holds golden transposed to dims ([\d, ]+): (\d+) of (\d+) elements", words)
        if others:
            turned, dims = transposed(self.golden, self.golden_dims, [int(d) for d in others[1].split(",")])
            equal = sum(a == b for a, b in zip(turned, self.actual))
            return len(dims) == len(self.golden_dims) and (int(others[2]), int(others[3])) == (equal, len(self.golden))
        after = words.removeprefix("equal after ")
        if after.startswith("permute "):
            order = [int(d) for d in after.removeprefix("permute ").split(",")]
            turned, dims = transposed(self.actual, self.actual_dims, order)
            return dims == self.golden_dims and self.differ(turned) == (1 if noise else 0)
        without_ones = [[d for d in dims if d != 1] for dims in (self.actual_dims, self.golden_dims)]
        if (after == "squeeze") != (without_ones[0] == without_ones[1]):
            return False
        return after in ("squeeze", "reshape") and self.differ(self.actual) == (1 if noise else 0)

    def differ(self, values):
        return sum(a != b for a, b in zip(values, self.golden))


def summary(count, seed, hinted):
    return f"{count} pairs (seed {seed}), {hinted} hints"


if __name__ == "__main__":
    run_pairs(Case, "shapes", 150, __doc__, summary)
