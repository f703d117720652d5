#!/usr/bin/env python3
"""Formats in TensorRT's own words as specs: raw bytes that this program arranges are read back as they were.

    check_tensorrt.py BTFTOOL [COUNT [SEED]]

Every sentence of the table below, with and without the full stop and the enumerator, and every layout as a verbose log
writes it, on random dims (default COUNT 4 each of SEED 1). The strides of logs are counted here, in vectors."""

import os
import random
import sys
import tempfile

import layouts
from tool import Tool

BYTES = {"FP32": 4, "FP16": 2, "BFloat16": 2, "INT8": 1, "Int8": 1, "UInt8": 1, "FP8": 1, "BOOL": 1, "Int32": 4,
         "Int64": 8, "Float": 4, "Half": 2, "Bool": 1, "Double": 8}
NAMES = {"FP32": "float32", "FP16": "float16", "BFloat16": "bfloat16", "INT8": "int8", "Int8": "int8", "UInt8": "uint8",
         "FP8": "float8_e4m3fn", "BOOL": "bool", "Int32": "int32", "Int64": "int64", "Float": "float32", "Half": "float16",
         "Bool": "bool", "Double": "float64"}
THREE = " with 3 spatial dimensions"
SENTENCES = [  # sentence, types, the code of a layout or (lanes, row pitch in elements), dims
    ("Row major linear {}", ["FP32", "BOOL", "Int32"], 0, None),
    ("Row major linear {} format", ["FP16", "Int64", "UInt8", "BFloat16", "FP8"], 0, None),
    ("Row major {} format", ["Int8"], 0, None),
    ("Two wide channel vectorized row major {} format", ["FP16", "BFloat16"], 129, None),
    ("Four wide channel vectorized row major {} format", ["Int8", "FP32"], 131, None),
    ("Sixteen wide channel vectorized row major {} format", ["FP16"], 132, None),
    ("Thirty-two wide channel vectorized row major {} format", ["Int8", "FP32", "FP16"], 133, None),
    ("Thirty-two wide channel vectorized row major {} format" + THREE, ["Int8", "FP16"], 135, None),
    ("Channel major {} format where channel % 8 == 0", ["FP16", "BFloat16"], 130, None),
    ("Channel major {} format where C % 8 == 0", ["FP16"], 130, None),
    ("Channel major {} format where channel % 8 == 0" + THREE, ["FP16"], 134, None),
    ("Channel major {} format" + THREE + " where channel % 8 == 0", ["FP16"], 134, None),
    ("Channel major {} format where channel % 16 == 0", ["FP16", "INT8"], 139, None),
    ("Channel major {} format", ["FP32", "FP16", "Int8", "UInt8"], 136, None),
    ("Channel major {} format" + THREE, ["FP32"], 140, None),
    ("Channel major {} format where channel % 4 == 0", ["FP16", "FP32", "Int8", "BFloat16"], (4, 1), None),
    ("Channel major {} format where channel % 2 == 0", ["FP16"], (2, 1), None),
    ("Channel major {} format where C % 8 == 0 and H Stride % 32 == 0", ["FP16"], (8, 32), None),
    ("Row major {} format where column stride % 64 == 0", ["INT8", "FP16"], 137, None),
    ("Channel major {} format where channel == 4 and column stride % 32 == 0", ["FP16", "INT8"], 154, 4),
    ("Channel major {} format where channel == 1 and column stride % 32 == 0", ["FP16", "INT8"], 154, 1),
    ("Channel major {} format where column stride % 32 == 0", ["INT8"], 154, 3),
    ("{}", ["Half", "Float", "FP8", "BFloat16", "Int8", "Int32", "Int64", "Bool", "UInt8", "Double"], 0, None),
]
ENUMERATORS = {0: "kLINEAR", 129: "kCHW2", 130: "kHWC8", 131: "kCHW4", 132: "kCHW16", 133: "kCHW32", 134: "kDHWC8",
               135: "kCDHW32", 136: "kHWC", 137: "kDLA_LINEAR", 139: "kHWC16", 140: "kDHWC", 154: "kDLA_HWC4"}
LOGGED = {0: None, 129: 2, 130: 8, 131: 4, 132: 16, 133: 32, 134: 8, 135: 32, 136: None, 139: 16, 140: None}


class Typed:
    def __init__(self, name):
        self.bytes, self.bits = BYTES[name], 8 * BYTES[name]


def own_places(lanes, pitch, dims):
    """Channels last, their number rounded up, rows at multiples of the pitch; and how many elements that takes."""
    *outer, c, h, w = dims
    column = layouts.up(c, lanes)
    row = layouts.up(w * column, pitch)
    places, total = [], layouts.count(outer) * h * row
    for number, index in enumerate(layouts.indices(dims)):
        batch = 0
        for extent, i in zip(outer, index):
            batch = batch * extent + i
        places.append(batch * h * row + index[-2] * row + index[-1] * column + index[-3])
    return places, total


def random_dims(rng, rank, channels):
    dims = [rng.randrange(1, 3)] + [rng.choice([1, 2, 3, 5, 9]) for _ in range(rank - 1)]
    at = -3 if rank < 5 else -4
    dims[at] = channels or rng.choice([1, 3, 4, 8, 17, 33])
    return dims


class Checks:
    def __init__(self, tool, scratch, rng):
        self.tool, self.rng, self.count, self.failed = Tool(tool), rng, 0, 0
        self.raw, self.out = os.path.join(scratch, "x.raw"), os.path.join(scratch, "x.btf")

    def complain(self, what):
        self.failed += 1
        print(what)

    def arranged(self, code, dims, dtype):
        """The tensor in row-major order, and as it is stored."""
        if isinstance(code, tuple):
            places, total = own_places(*code, dims)
        else:
            places = layouts.places(code, dims, dtype)
            total = layouts.count(layouts.stored_shape(code, dims, dtype))
        width = dtype.bytes
        plain = bytes(self.rng.randrange(2) if width == 1 else self.rng.randrange(60)
                      for _ in range(len(places) * width))
        stored = bytearray(total * width)
        for number, place in enumerate(places):
            stored[place * width:(place + 1) * width] = plain[number * width:(number + 1) * width]
        return plain, bytes(stored)

    def check(self, words, name, code, dims):
        self.count += 1
        plain, stored = self.arranged(code, dims, Typed(name))
        with open(self.raw, "wb") as file:
            file.write(stored)
        spec = f"{words}:{'x'.join(map(str, dims))}"
        done = self.tool.run("convert", "--input-spec", spec, "--layout", "kLINEAR", self.raw, self.out)
        if done.returncode != 0:
            return self.complain(f"{spec}: {done.stderr.decode()}")
        with open(self.out, "rb") as file:
            written = file.read()
        if plain not in written:
            return self.complain(f"{spec}: other elements")
        listed = self.tool.json_of_files("inspect", "--json", "--input-spec", spec, self.raw)[self.raw]["tensors"][0]
        if listed["dtype"] != NAMES[name] or listed["shape"] != dims:
            return self.complain(f"{spec}: {listed['dtype']} {listed['shape']}")
        if not isinstance(code, tuple) and words.startswith(("Row", "Two", "Four", "Six", "Thirty", "Channel")):
            if listed["layout"] != ENUMERATORS[code]:
                self.complain(f"{spec}: {listed['layout']} and not {ENUMERATORS[code]}")

    def sentence(self, row):
        text, types, code, channels = row
        rank = 5 if THREE in text else self.rng.choice([3, 4]) if not isinstance(code, tuple) and code else 4
        for name in types:
            words = text.format(name)
            if len(words) > 10:
                words += self.rng.choice(["", ".", f" ({ENUMERATORS.get(code, 'kHWC')})"
                                          if not isinstance(code, tuple) else ""])
            self.check(words, name, code, random_dims(self.rng, rank, channels))

    def log(self, code, lanes):
        rank = 5 if code in (134, 135, 140) else 4
        dims = random_dims(self.rng, rank, None)
        name = self.rng.choice(["Half", "Float", "Int8"])
        steps = layouts.strides(code, dims, Typed(name))
        vector = len(dims) - (4 if rank == 5 else 3)
        parts = []
        for d, step in enumerate(steps):
            if lanes is None:
                parts.append(str(step))
            elif d == vector:  # from vector to vector
                parts.append(f"{step * (lanes if code in (130, 134, 139) else 1) // lanes}:{lanes}")
            else:
                parts.append(str(step // lanes))
        self.check(f"{name}({','.join(parts)})", name, code, dims)


def main():
    tool, count, seed = sys.argv[1], int((sys.argv + ["4"])[2]), int((sys.argv + ["4", "1"])[3])
    with tempfile.TemporaryDirectory() as scratch:
        checks = Checks(tool, scratch, random.Random(seed))
        for _ in range(count):
            for row in SENTENCES:
                checks.sentence(row)
            for code, lanes in LOGGED.items():
                checks.log(code, lanes)
    print(f"{checks.count} formats, {checks.failed} read as something else")
    return 1 if checks.failed or not checks.count else 0


if __name__ == "__main__":
    sys.exit(main())
