#!/usr/bin/env python3
"""Compares random quantisations, and the way back, with exact arithmetic.

    check_quantisation.py BTFTOOL [COUNT [SEED]]

As check_conversions.py: COUNT of them (default 300) of SEED (default 1), to the byte and with the account."""

from fractions import Fraction

import btf_writer
import edits
import layouts
from btf_reader import Reader
from casts import Account, integer_limits, largest
from elements import BY_NAME, DTYPES, decode, sign_bit
from gates import random_gates
from harness import Conversion, Refused, run_cases
from quantisation import (BLOCKS, FLOAT32, affine_scale, dequantise, float32_bytes, is_affine, is_small,
                          largest_magnitude, mx_scale, nvfp4_scale, quantise, scale_of)
from random_files import random_code, random_dims

SMALL = [t for t in DTYPES if is_small(t)]
LARGE = [t for t in DTYPES if t.is_float and t.bits > 8]
SCALES = ["1", "0.5", "0.25", "0.02", "0.1", "3", "0.0078125", "1e-3", "17.5", "1e-30", "1e10"]


def zero_points(dtype):
    least, most = integer_limits(dtype)
    return max(least, -(1 << 53)), min(most, 1 << 53)


def random_number_code(rng, dtype, spread):
    """Mostly numbers that a scale can bring together."""
    if not dtype.is_float or dtype.bits <= 8 or rng.random() < 0.05:
        return random_code(rng, dtype)
    exponent = min(max(dtype.bias + rng.randrange(-spread, spread + 1), 0), 2 * dtype.bias)
    mantissa = rng.randrange(1 << dtype.mantissa) if rng.random() < 0.7 else rng.choice([0, 1 << dtype.mantissa - 1])
    return rng.choice([0, sign_bit(dtype)]) | exponent << dtype.mantissa | mantissa


def random_source(rng, dtype, rank):
    layout = layouts.LINEAR
    if dtype.bits > 4 and rng.random() < 0.3:
        layout = rng.choice([l for l in layouts.ALL_DENSE if layouts.least_rank(l) <= rank and
                             (l != layouts.SHUFFLED or dtype.bits > 8)])
    dims = random_dims(rng, rng.choice([30, 200, 400]), rank, zeros=0.02)
    if layout in (138, 154):
        dims[-3] = rng.choice([1, 3, 4])
    spread = rng.choice([2, 5, 12, 30])
    return btf_writer.dense(dtype, layout, dims, [random_number_code(rng, dtype, spread)
                                                  for _ in range(layouts.count(dims))])


def edited(reader, record, chain):
    """Codes of the edited tensor, and its dims."""
    dims, cells = edits.apply(record.dims, chain)
    source = reader.codes(record)
    return [source[cell] for cell in cells], dims


def groups(dims, axis):
    """The number of the scale of each element, and how many there are."""
    if axis is None:
        return [0] * layouts.count(dims), 1
    return [index[axis] for index in layouts.indices(dims)], dims[axis]


def block_groups(dims, size):
    blocks = -(-dims[-1] // size)
    return [(k // dims[-1]) * blocks + k % dims[-1] // size for k in range(layouts.count(dims))], \
        layouts.count([*dims[:-1], blocks])


class Case(Conversion):
    def __init__(self, seed, number):
        super().__init__(seed, number)
        rng = self.rng
        self.kind = rng.choice(["scale", "scale", "auto", "axis", "mxfp8", "mxfp4", "nvfp4", "back", "dequantize"])
        self.overflow, self.round, self.lossless = "saturate", None, False
        self.zero_point, self.edits, self.layout, self.axis = 0, [], None, None
        getattr(self, "make_" + (self.kind if self.kind not in BLOCKS else "blocks"))()
        self.reader = Reader(self.data)
        self.add("--overflow", None if self.overflow == "saturate" else self.overflow)
        self.add("--round", self.round)
        self.add("--zero-point", "auto" if self.zero_point is None else self.zero_point or None)
        self.arguments += edits.arguments(self.edits)
        self.gates = random_gates(rng)
        self.arguments += self.gates.arguments()
        self.add("--jobs", rng.choice([None, 1, 2]))
        self.arguments += ["--lossless"] if self.lossless else []

    def add(self, option, value):
        if value is not None:
            self.arguments += [f"{option}={value}"]

    def sources(self, dtypes, rank):
        records = [random_source(self.rng, self.rng.choice(dtypes), rank) for _ in range(self.rng.choice([1, 1, 2]))]
        self.data = btf_writer.file(records)

    def policies(self):
        rng = self.rng
        policies = ["saturate", "saturate", "error"]
        if self.target.is_float and self.target.specials != "none":
            policies.append("ieee")
        self.overflow = rng.choice(policies)
        if self.target.is_integer and rng.random() < 0.5:
            self.round = rng.choice(["nearest", "zero", "up", "down"])
        self.lossless = rng.random() < 0.05

    def target_layout(self, rank):
        """Codes go into a layout too."""
        rng = self.rng
        if rank and rng.random() < 0.2:
            self.edits = [("permute", rng.sample(range(rank), rank))]
        elif rng.random() < 0.5:
            rank = self.edit(rank)
        self.layout = layouts.LINEAR
        if self.target.bits > 4 and rng.random() < 0.5:
            self.layout = rng.choice([l for l in layouts.PADDED if layouts.least_rank(l) <= rank and
                                      l not in (138, 154)] or [layouts.LINEAR])
        self.add("--layout", layouts.NAMES[self.layout])

    def edit(self, rank):
        """A chain that all tensors take, to a rank that the axis and blocks go with."""
        all_dims = [record.dims for record in Reader(self.data).records.values()]
        chain = edits.random_edits(self.rng, all_dims[0])
        try:
            ranks = {len(edits.apply(dims, chain)[0]) for dims in all_dims}
        except Refused:
            return rank
        if len(ranks) > 1 or ranks == {0} or (self.axis is not None and self.axis >= min(ranks)):
            return rank
        self.edits = chain
        return ranks.pop()

    def make_scale(self):
        rng, rank = self.rng, self.rng.choice([0, 1, 2, 3, 4, 4])
        self.target = rng.choice(SMALL)
        self.sources(DTYPES, rank)
        self.scale = rng.choice(SCALES)
        self.add("--dtype", self.target.name)
        self.add("--scale", self.scale)
        if self.target.is_integer and rng.random() < 0.4:
            least, most = zero_points(self.target)
            self.zero_point = rng.choice([least, most, rng.randrange(max(least, -300), min(most, 300) + 1)])
        self.policies()
        self.target_layout(rank)

    def make_auto(self, axis=False):
        rng, rank = self.rng, self.rng.choice([1, 2, 3, 4, 4])
        self.target = rng.choice(SMALL)
        self.sources(DTYPES, rank)
        self.add("--dtype", self.target.name)
        self.add("--scale", "auto")
        if axis:
            self.axis = rng.randrange(rank)
            self.add("--scale-axis", self.axis)
        if self.target.is_integer and self.target.bits <= 32 and rng.random() < 0.5:
            least, most = integer_limits(self.target)
            self.zero_point = rng.choice([None, None, least, most, rng.randrange(max(least, -300), min(most, 300) + 1)])
        self.policies()
        self.target_layout(rank)

    def make_axis(self):
        self.make_auto(True)

    def make_blocks(self):
        rng, rank = self.rng, self.rng.choice([1, 2, 3, 4])
        self.target = BY_NAME[BLOCKS[self.kind][0]]
        if self.kind == "mxfp8" and rng.random() < 0.4:
            self.target = BY_NAME["float8_e5m2"]
            self.add("--dtype", self.target.name)
        self.sources(DTYPES, rank)
        self.add("--block-scale", self.kind)
        self.policies()
        self.target_layout(rank)

    def make_back(self):
        """From codes to numbers, with a scale that is given."""
        rng, rank = self.rng, self.rng.choice([0, 1, 2, 4])
        self.target = rng.choice(LARGE)
        self.sources(SMALL, rank)
        self.scale = rng.choice(SCALES)
        self.add("--dtype", self.target.name)
        self.add("--scale", self.scale)
        kinds = [record.dtype for record in Reader(self.data).records.values()]
        if all(kind.is_integer for kind in kinds) and rng.random() < 0.5:
            least = max(zero_points(kind)[0] for kind in kinds)
            most = min(zero_points(kind)[1] for kind in kinds)
            self.zero_point = rng.choice([least, most, 0])
        self.lossless = rng.random() < 0.05
        self.target_layout(rank)

    def make_dequantize(self):
        """From codes and the records of scales behind them."""
        rng = self.rng
        self.target = rng.choice(LARGE)
        self.arguments.append("--dequantize")
        if self.target is not FLOAT32 or rng.random() < 0.5:
            self.add("--dtype", self.target.name)
        records = []
        for _ in range(rng.choice([1, 1, 2])):
            records += self.random_quantised()
        self.data = btf_writer.file(records)

    def random_quantised(self):
        rng = self.rng
        rank = rng.choice([1, 2, 3, 4])
        form = rng.choice(["tensor", "axis", "mxfp8", "mxfp4", "nvfp4"])
        dtype = rng.choice(SMALL) if form in ("tensor", "axis") else BY_NAME[BLOCKS[form][0]]
        if self.zero_point is None:
            form = rng.choice(["tensor", "axis"])
            dtype = rng.choice([t for t in SMALL if t.is_integer and t.bits <= 32])
        dims = random_dims(rng, 200, rank, zeros=0)
        codes = btf_writer.dense(dtype, layouts.LINEAR, dims,
                                 [random_code(rng, dtype) for _ in range(layouts.count(dims))])

        def positive():
            return rng.randrange(1, 254) << 23 | rng.randrange(1 << 23)

        if form in ("tensor", "axis"):
            axis = rng.randrange(rank)
            shape = [] if form == "tensor" else [dim if d == axis else 1 for d, dim in enumerate(dims)]
            count = layouts.count(shape)
            records = [codes, btf_writer.dense(FLOAT32, 0, shape, [positive() for _ in range(count)])]
            if self.zero_point is None:
                records.append(btf_writer.dense(dtype, 0, shape, [random_code(rng, dtype) for _ in range(count)]))
            return records
        size = BLOCKS[form][1]
        shape = [*dims[:-1], -(-dims[-1] // size)]
        scale = BY_NAME["float8_e4m3fn" if form == "nvfp4" else "float8_e8m0fnu"]
        records = [codes, btf_writer.dense(scale, 0, shape, [rng.randrange(256) for _ in range(layouts.count(shape))])]
        return records + [btf_writer.dense(FLOAT32, 0, [], [positive()])] if form == "nvfp4" else records

    # What must come out.

    def expected(self):
        if self.kind == "dequantize":
            return self.expected_back()
        records, reports = [], []
        for record in self.reader.records.values():
            written, members, account = self.convert(record)
            self.check(account)
            records += written
            reports.append((members, account))
        return records, reports

    def check(self, account):
        if self.lossless and account.changed or self.overflow == "error" and account.counts["overflowed"]:
            raise Refused
        self.gates.check(account)

    def convert(self, record):
        codes, dims = edited(self.reader, record, self.edits)
        account = Account(self.gates.snr is not None)
        members = {"dtype": self.target.name, "shape": dims}
        if self.kind == "back":
            scale = Fraction(float(self.scale))
            codes = [dequantise(c, record.dtype, scale, self.zero_point, self.target, self.overflow, account)
                     for c in codes]
            return [btf_writer.dense(self.target, self.layout, dims, codes)], members, account
        numbers = [decode(record.dtype, code) for code in codes]
        scales, group, behind = self.scales(numbers, dims)
        zero_points = self.found or [self.zero_point] * len(scales)
        result = [quantise(n, self.target, scales[g], zero_points[g], self.overflow, self.round, account)
                  for n, g in zip(numbers, group)]
        return [btf_writer.dense(self.target, self.layout, dims, result), *behind], members, account

    def scales(self, numbers, dims):
        """Those of all groups, the group of each element, and the records behind the codes."""
        self.found = []
        if self.kind == "scale":
            return [Fraction(float(self.scale))], [0] * len(numbers), []
        if self.kind in ("auto", "axis"):
            group, count = groups(dims, self.axis)
            shape = [] if self.axis is None else [d if k == self.axis else 1 for k, d in enumerate(dims)]
            members = self.members(numbers, group, count)
            if is_affine(self.target, self.zero_point):
                pairs = [affine_scale(m, self.target, self.zero_point, self.round or "nearest") for m in members]
                scales = [scale for scale, _ in pairs]
                self.found = [zero for _, zero in pairs] if self.zero_point is None else []
            else:
                scales = [scale_of(largest_magnitude(m), largest(self.target)) for m in members]
            behind = [btf_writer.dense(FLOAT32, 0, shape, [float32_bytes(s) for s in scales])]
            if self.zero_point is None:
                mask = (1 << self.target.bits) - 1
                behind.append(btf_writer.dense(self.target, 0, shape, [zero & mask for zero in self.found]))
            return scales, group, behind
        size = BLOCKS[self.kind][1]
        group, count = block_groups(dims, size)
        shape = [*dims[:-1], -(-dims[-1] // size)]
        maxima = [largest_magnitude(m) for m in self.members(numbers, group, count)]
        if self.kind != "nvfp4":
            pairs = [mx_scale(maximum, self.target) for maximum in maxima]
            record = btf_writer.dense(BY_NAME["float8_e8m0fnu"], 0, shape, [code for code, _ in pairs])
            return [scale for _, scale in pairs], group, [record]
        of_tensor = scale_of(largest_magnitude(numbers), 6 * 448)
        pairs = [nvfp4_scale(maximum, self.target, of_tensor) for maximum in maxima]
        return [scale * of_tensor for _, scale in pairs], group, [
            btf_writer.dense(BY_NAME["float8_e4m3fn"], 0, shape, [code for code, _ in pairs]),
            btf_writer.dense(FLOAT32, 0, [], [float32_bytes(of_tensor)])]

    @staticmethod
    def members(numbers, group, count):
        parts = [[] for _ in range(count)]
        for n, g in zip(numbers, group):
            parts[g].append(n)
        return parts

    def expected_back(self):
        records, reports = [], []
        todo = list(self.reader.records.values())
        while todo:
            data = todo.pop(0)
            behind = todo.pop(0)
            codes, dims = self.reader.codes(data), data.dims
            scales = [decode(behind.dtype, c) for c in self.reader.codes(behind)]
            values = [scale.value for scale in scales]
            if behind.dtype == FLOAT32:
                axis = next((d for d, dim in enumerate(behind.dims) if dim != 1), None)
                group, _ = groups(dims, axis)
            else:
                group, _ = block_groups(dims, 16 if behind.dtype.name == "float8_e4m3fn" else 32)
            if behind.dtype.name == "float8_e4m3fn":
                of_tensor = decode(FLOAT32, self.reader.codes(todo.pop(0))[0]).value
                values = [None if v is None else v * of_tensor for v in values]
            zero_points = [0] * len(values)
            if self.zero_point is None:
                behind = todo.pop(0)
                zero_points = [int(decode(behind.dtype, c).value) for c in self.reader.codes(behind)]
            account = Account(self.gates.snr is not None)
            result = [dequantise(c, data.dtype, values[g], zero_points[g], self.target, self.overflow, account,
                                 scales[g].negative) for c, g in zip(codes, group)]
            records.append(btf_writer.dense(self.target, data.layout, dims, result))
            reports.append(({"dtype": self.target.name, "shape": dims}, account))
            self.check(account)
        return records, reports


if __name__ == "__main__":
    run_cases(Case, "quantisation", __doc__)
