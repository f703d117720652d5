#!/usr/bin/env python3
"""Compares `diff --close` with the rule of docs/dtypes.md, section 6, worked out in fractions.

    check_close.py BTFTOOL [SEED]

Codes of every dtype that has scales, by one scale and by one for each index of a dim, on either side, against numbers
at, just inside and just outside the middle between two codes, and beyond the last; integers of every dtype against
every float; float32 against its own text as trtexec prints it. What is nearest is found among all codes, or by decimal
arithmetic: half a step is computed nowhere. Prints each disagreement; exit code 1 when there is any."""

import decimal
import json
import math
import os
import random
import struct
import sys
import tempfile
from bisect import bisect_left
from fractions import Fraction

import btf_writer
import layouts
from elements import BY_NAME, DTYPES, decode
from tool import Tool

SLACK = Fraction(3, 10 ** 7)
CODES = [t for t in DTYPES if t.is_integer and t.bits <= 16 or t.name in
         ("float8_e4m3fn", "float8_e5m2", "float4_e2m1fn")]
FLOATS = [t for t in DTYPES if t.is_float]
NUMBERS = {"float32": "<f", "float64": "<d"}


def float_code(name, value):
    """The nearest float32 or float64, and its bits."""
    packed = struct.pack(NUMBERS[name], float(value))
    return Fraction(struct.unpack(NUMBERS[name], packed)[0]), int.from_bytes(packed, "little")


class Codes:
    """All codes of a dtype with their numbers, in order."""

    def __init__(self, dtype):
        numbers = {}
        for code in range(1 << dtype.bits):
            value = decode(dtype, code).value
            if value is not None:
                numbers.setdefault(value, code)
        self.values = sorted(numbers)
        self.codes = [numbers[value] for value in self.values]

    def middle(self, i, up):
        """Half way from the i-th number to its neighbour; behind the last the step goes on."""
        j = i + (1 if up else -1)
        if 0 <= j < len(self.values):
            return (self.values[i] + self.values[j]) / 2
        k = i - (1 if up else -1)
        return self.values[i] + (self.values[i] - self.values[k]) / 2


class Checker:
    def __init__(self, tool, scratch, seed):
        self.tool, self.rng, self.failed = tool, random.Random(seed), 0
        self.paths = [os.path.join(scratch, name) for name in ("actual.btf", "golden.btf")]

    def write(self, which, dtype, dims, codes):
        with open(self.paths[which], "wb") as file:
            file.write(btf_writer.file([btf_writer.dense(dtype, layouts.LINEAR, dims, codes)]))

    def check(self, what, dims, refused, *options, paths=None, saturated=None):
        """`refused`: which elements, by their numbers."""
        paths = paths or self.paths
        arguments = ["-j", self.rng.choice([1, 2]), "diff", "--no-hints", "--json", "--show", 100000, *options, *paths]
        done = self.tool.run(*arguments)
        if done.returncode > 1:
            return self.disagree(what, arguments, done.stderr.decode())
        tensor = json.loads(done.stdout)["tensors"][0]
        strides = [math.prod(dims[d + 1:]) for d in range(len(dims))]
        found = {sum(i * s for i, s in zip(one["index"], strides)) for one in tensor["first"]}
        if found != set(refused):
            wrong = sorted(found ^ set(refused))
            self.disagree(what, arguments, f"{len(wrong)} of {math.prod(dims)}, the first is {wrong[0]}, which is "
                          f"{'refused' if wrong[0] in found else 'accepted'}")
        counted = tensor.get("saturated", {"actual": 0, "golden": 0})
        if saturated is not None and counted != saturated:
            self.disagree(what, arguments, f"saturated {counted} instead of {saturated}")

    def disagree(self, what, arguments, text):
        print(f"{what}: {' '.join(map(str, arguments))}: {text}")
        self.failed += 1

    def codes(self, dtype, several, golden_is_codes, number):
        rng, grid = self.rng, Codes(dtype)
        channels = 5 if several else 1
        if rng.random() < 0.5:
            scales = [2.0 ** rng.randrange(-12, 5) for _ in range(channels)]  # ties are exact
        else:
            scales = [float_code("float32", rng.uniform(0.001, 0.2))[0] for _ in range(channels)]
        zeros = [rng.choice([0, 3, -7]) if dtype.kind == "signed" else rng.choice([0, 8]) if dtype.is_integer else 0
                 for _ in range(channels)]
        dims = [3, channels, 60]
        own, others, refused, saturated = [], [], [], 0
        for at in range(math.prod(dims)):
            channel = at // 60 % channels
            scale, zero = Fraction(scales[channel]), zeros[channel]
            i = rng.choice([0, len(grid.values) - 1, rng.randrange(len(grid.values))])
            if rng.random() < 0.3 and 0 in grid.values:
                i = min(len(grid.values) - 1, max(0, bisect_left(grid.values, 0) + rng.randrange(-3, 4)))
            up = rng.random() < 0.5
            middle = (grid.middle(i, up) - zero) * scale
            value = (grid.values[i] - zero) * scale
            share = rng.choice([0, 0.3, 0.999, 1, 1, 1.001, 2, 3.5])
            other, bits = float_code(number, value + (middle - value) * Fraction(share))
            bounds = [(grid.middle(i, side) - zero) * scale for side in (False, True)]
            slack = SLACK * abs(value if golden_is_codes else other)
            near = min(abs(other - bound) for bound in bounds)
            if near and abs(near - slack) <= slack / 2:  # too near to be a question
                other, bits = float_code(number, value)
                near = None
            accepted = bounds[0] - slack <= other <= bounds[1] + slack or float(other) == float(value)
            own.append(grid.codes[i])
            others.append(bits)
            if accepted:
                continue
            refused.append(at)
            lowest = 1 if dtype.kind == "signed" and zero == 0 else 0  # -127 of int8, too
            high, low = i == len(grid.values) - 1, i <= lowest if dtype.is_integer else i == 0
            saturated += high and other > value or low and other < value
        side = "golden" if golden_is_codes else "actual"
        self.write(golden_is_codes, dtype, dims, own)
        self.write(not golden_is_codes, BY_NAME[number], dims, others)
        text = "/".join(repr(float(s)) + (f",{z}" if z else "") for s, z in zip(scales, zeros))
        self.check(f"{dtype.name}, {number}", dims, refused, f"--{side}-scale", ("1:" if several else "") + text,
                   "--close", saturated={"actual": 0, "golden": 0, side: saturated})

    def integers(self, integer, real, golden_is_integer):
        rng = self.rng
        numbers = []
        while len(numbers) < 60:
            code = rng.getrandbits(integer.bits) >> rng.randrange(integer.bits) if integer.kind != "bool" else rng.randrange(2)
            numbers.append((code, rng.getrandbits(real.bits)))
            for near in (0, 1, -1):
                value = decode(integer, code).value + near
                bits = self.nearest(real, value)
                if bits is not None:
                    numbers.append((code, bits))
        numbers = [(c, b) for c, b in numbers if decode(real, b).value is not None]
        refused = [at for at, (c, b) in enumerate(numbers) if decode(integer, c).value != decode(real, b).value]
        self.write(golden_is_integer, integer, [len(numbers)], [c for c, _ in numbers])
        self.write(not golden_is_integer, real, [len(numbers)], [b for _, b in numbers])
        self.check(f"{integer.name}, {real.name}", [len(numbers)], refused, "--close")

    @staticmethod
    def nearest(real, value):
        if real.name in NUMBERS:
            return float_code(real.name, value)[1]
        if real.name == "float16" and abs(value) < 65504:
            return int.from_bytes(struct.pack("<e", float(value)), "little")
        return None

    def text(self, off):
        """float32 against what trtexec prints of it; `off`: so many units of the last digit away."""
        rng = self.rng
        values, printed, refused = [], [], []
        specials = [1e-05, 0.00012345, 0.0, 9.999996, 99999.95, 999999.5, 1234565.0, 3.4028234e38, 1e-45, 1.1754944e-38]
        while len(values) < 2000:
            wanted = specials.pop() if specials else rng.choice([
                lambda: rng.gauss(0, 1), lambda: rng.uniform(-1e7, 1e7), lambda: rng.randrange(10 ** 7) / 2,
                lambda: struct.unpack("<f", struct.pack("<I", rng.getrandbits(32)))[0]])()
            if not math.isfinite(wanted):
                continue
            value = float_code("float32", wanted)[0]
            text = "%.6g" % float(value)
            if off and value:
                digits = decimal.Decimal(text)
                unit = decimal.Decimal(1).scaleb(digits.adjusted() - 5)
                text = str(digits + off * unit)
                if abs(float(text)) > 3.4e38 or abs(float(text)) < 1e-37:
                    continue
            read = float_code("float32", float(text))[0]
            half = Fraction(decimal.Decimal(5).scaleb(decimal.Decimal(text).adjusted() - 6)) if float(text) else 0
            ulp = Fraction(2) ** (max(math.frexp(abs(float(read)))[1] - 1, -126) - 23)
            allowed = max(Fraction(1e-5) + Fraction(1.3e-6) * abs(value), half + ulp / 2)
            error = abs(read - value)
            if error > allowed:
                refused.append(len(values))
            elif error * 3 > allowed * 2 and off:
                continue  # where the decade changes
            values.append(float_code("float32", value)[1])
            printed.append(text)
        path = self.paths[0] + ".json"
        with open(path, "w", encoding="ascii") as file:
            file.write('[\n  { "name" : "x"\n  , "dimensions" : "%d"\n  , "values" : [ %s ]\n  }\n]\n'
                       % (len(printed), ", ".join(printed)))
        self.write(1, BY_NAME["float32"], [len(values)], values)
        if not off and refused:
            self.disagree("text", [], "the oracle refuses a tensor's own text")
        for paths in ([path, self.paths[1]], [self.paths[1], path]):
            self.check(f"text, {off} units off", [len(values)], refused, "--close", paths=paths)


def main():
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with tempfile.TemporaryDirectory() as scratch:
        checker = Checker(Tool(sys.argv[1]), scratch, seed)
        for dtype in CODES:
            for several in (False, True):
                for golden_is_codes in (False, True):
                    checker.codes(dtype, several, golden_is_codes, checker.rng.choice(sorted(NUMBERS)))
        for integer in (t for t in DTYPES if not t.is_float):
            for golden_is_integer in (False, True):
                checker.integers(integer, checker.rng.choice(FLOATS), golden_is_integer)
        for off in (0, 1, -3):
            checker.text(off)
        print(f"{checker.tool.runs} comparisons, {checker.failed} disagree")
    return 1 if checker.failed else 0


if __name__ == "__main__":
    sys.exit(main())
