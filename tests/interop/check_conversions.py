#!/usr/bin/env python3
"""Compares random conversions with exact arithmetic: dtype, layout, edits of dims, plain, shuffled, sparse, compressed.

    check_conversions.py BTFTOOL [COUNT [SEED]]

COUNT conversions (default 300) of SEED (default 1). Each writes a file of one to three tensors, says what it must
become, to the byte and with its account, and lets btftool do it. Where the result must be refused, nothing may be
written. A conversion on which they disagree is printed, and its input kept in the current directory."""

import btf_writer
import compressed
import edits
import layouts
from btf_reader import Reader
from conversions import COO, Options, convert, fits
from elements import DTYPES
from gates import random_gates
from harness import Conversion, Refused, run_cases
from random_files import random_code, random_dims, random_index

HOW_MANY = [40, 40, 40, 200, 200, 2000]  # elements at most


def random_tensor(rng, rank, duplicates, small_numbers):
    """A record, as bytes."""
    most = rng.choice(HOW_MANY)
    dtype = rng.choice(DTYPES)
    kind = rng.random()
    layout = layouts.LINEAR
    if kind < 0.3:
        layout = rng.choice(layouts.COO)
    elif kind < 0.75 and dtype.bits > 4:
        layout = rng.choice([l for l in layouts.ALL_DENSE if layouts.least_rank(l) <= rank and
                             (l != layouts.SHUFFLED or dtype.bits > 8)])
    dims = random_dims(rng, most, rank, zeros=0.02)
    if layout in (138, 154):
        dims[-3] = rng.choice([1, 3, 4])

    def code():
        if small_numbers and not dtype.is_float:
            return rng.randrange(2)
        return random_code(rng, dtype)

    if layout not in layouts.COO:
        return btf_writer.dense(dtype, layout, dims, [code() for _ in range(layouts.count(dims))])
    rows = []
    if layouts.count(dims):
        rows = list({random_index(rng, dims) for _ in range(rng.randrange(2 * most // 3))})
        rng.shuffle(rows)
        if rows and duplicates:
            rows += [rng.choice(rows) for _ in range(rng.randrange(5))]
    return btf_writer.sparse(dtype, dims, rows, [code() if rng.random() > 0.1 else 0 for _ in rows], layout)


def random_options(rng, rank, dims):
    dtype = rng.choice(DTYPES) if rng.random() < 0.7 else None
    options = {"dtype": dtype}
    if rng.random() < 0.15:
        options["shuffle"] = True
    elif rng.random() < 0.7:
        options["layout"] = rng.choice([COO, COO, layouts.LINEAR, *layouts.ALL_DENSE])
    if rank > 0 and rng.random() < 0.2:
        options["edits"] = [("permute", rng.sample(range(rank), rank))]
    elif rng.random() < 0.6:
        options["edits"] = edits.random_edits(rng, dims)
    options["plain"] = not options.get("shuffle") and rng.random() < 0.2 and options.get("layout") != layouts.SHUFFLED
    options["where_possible"] = rng.random() < 0.6
    options["duplicates"] = rng.choice([None, "first", "last", "sum", "sum"])
    options["prune_zeros"] = rng.random() < 0.3
    options["coo_code"] = rng.choice([None, None, "tfrt", "spec"])
    if dtype is not None:
        policies = ["saturate", "saturate", "error"]
        if dtype.is_float and dtype.specials != "none":
            policies.append("ieee")
        if dtype.is_integer:
            policies.append("wrap")
        options["overflow"] = rng.choice(policies)
        if dtype.is_integer or dtype.is_scale:
            options["round"] = rng.choice([None, "nearest", "zero", "up", "down"])
        options["lossless"] = rng.random() < 0.1
    options["gates"] = random_gates(rng)
    options["threads"] = rng.choice([0, 1, 2, 3])
    options["memory"] = rng.choice([None, "16M"])
    return Options(**options)


def accept(reader, options, rng):
    """Does the file go with the options? One misfit of ten is left in: it must be refused."""
    for record in reader.records.values():
        try:
            dims, _ = edits.apply(record.dims, options.edits)
        except Refused:
            return rng.random() < 0.2
        dtype = options.dtype or record.dtype
        layout = options.layout if options.layout is not None else record.layout
        if not fits(COO if layout in layouts.COO else layout, dims, dtype) and not options.where_possible:
            return rng.random() < 0.1
    return True


def large(rng):
    """A tensor of more elements than a block of shuffled ones has, and of several slabs; with options. No cast: that
    takes long here."""
    dtype = rng.choice([t for t in DTYPES if t.bits >= 16])
    dims = rng.choice([[3, 50000, 1], [layouts.BLOCK // 4, 2, 2], [2, 5, 45, 300], [1, 64, 64, 33]])
    layout, target = (rng.choice([layouts.LINEAR, layouts.SHUFFLED, *layouts.PADDED]) for _ in range(2))
    chain = rng.choice([[], [("permute", rng.sample(range(len(dims)), len(dims)))], edits.random_edits(rng, dims)])
    options = Options(layout=rng.choice([COO, target]), edits=chain, where_possible=True,
                      threads=rng.choice([1, 3, 8]), memory="16M")
    if not fits(layout, dims, dtype) or layouts.count(layouts.stored_shape(layout, dims, dtype)) > 1 << 19:
        layout = layouts.SHUFFLED
    codes = [rng.randrange(1 << dtype.bits) for _ in range(layouts.count(dims))]
    return btf_writer.dense(dtype, layout, dims, codes), options


class Case(Conversion):
    def __init__(self, seed, number):
        super().__init__(seed, number)
        rng = self.rng
        if number % 250 == 100:
            record, self.options = large(rng)
            self.data = btf_writer.file([record])
        while not self.data:
            rank = rng.choice([0, 1, 2, 3, 3, 4, 4, 4, 5])
            duplicates = rng.random() < 0.4
            small = rng.random() < 0.2
            records = [random_tensor(rng, rank, duplicates, small) for _ in range(rng.choice([1, 1, 2, 3]))]
            data = btf_writer.file(records)
            reader = Reader(data)
            self.options = random_options(rng, rank, next(iter(reader.records.values())).dims)
            if accept(reader, self.options, rng):
                self.data = data
        self.reader = Reader(self.data)
        self.compressed = rng.random() < 0.15 and compressed.available()
        self.arguments = self.options.arguments()

    def expected(self):
        results = [convert(self.reader, record, self.options) for record in self.reader.records.values()]
        reports = [({"dtype": r.dtype.name, "shape": r.dims, "nnz": r.nnz, "layout": layouts.NAMES[r.layout],
                     "kept_layout": r.kept_layout}, r.account) for r in results]
        return [r.record for r in results], reports


if __name__ == "__main__":
    run_cases(Case, "conversion", __doc__)
