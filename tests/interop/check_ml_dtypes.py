#!/usr/bin/env python3
"""Compares casts to and from 8-bit floats with ml_dtypes, the library whose names they have.

    check_ml_dtypes.py BTFTOOL

Needs NumPy and ml_dtypes 0.5 or later; says "skipped" where they are missing. Compared are all 256 codes of each type
as float64 and float32, and from float16 (every code), float32 and float64 (every number of the type, every middle
between two, their neighbours, numbers at random) to each type, bit for bit but for NaN.

With `--overflow ieee` both must agree everywhere. Without, numbers beyond the range and Inf are clamped by btftool;
ml_dtypes makes NaN or Inf of them (docs/dtypes.md 4.1). ml_dtypes 0.6 rounds float64 twice, by way of float32; so it is
given a float32 that was rounded to odd, from which the second rounding is as good as one from the float64.
"""

import os
import subprocess
import sys
import tempfile

import btf_reader
import btf_writer
from elements import BY_NAME

try:
    import ml_dtypes
    import numpy as np

    TYPES = {name: getattr(ml_dtypes, name) for name in (
        "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e3m4", "float8_e4m3",
        "float8_e4m3b11fnuz")}
except (ImportError, AttributeError):
    print("skipped: no NumPy or no ml_dtypes of version 0.5 or later")
    sys.exit()


def converted(tool, folder, tensors, target, *options):
    """Arrays by their dtype's name, as codes of the target: (dtype, codes) in, a list of codes for each out."""
    source, result = os.path.join(folder, "in.btf"), os.path.join(folder, "out.btf")
    with open(source, "wb") as file:
        file.write(btf_writer.file([btf_writer.dense(BY_NAME[dtype], 0, [len(codes)], codes.tolist())
                                         for dtype, codes in tensors]))
    subprocess.run([tool, "-q", "convert", "--dtype", target, *options, source, result], check=True,
                   stderr=subprocess.DEVNULL)
    with open(result, "rb") as file:
        reader = btf_reader.Reader(file.read())
    return [np.array(reader.codes(record), f"u{BY_NAME[target].bytes}") for record in reader.records.values()]


def numbers(ml_type):
    """All finite ones, ascending."""
    values = np.arange(256, dtype=np.uint8).view(ml_type).astype(np.float64)
    return np.unique(values[np.isfinite(values)])


def sources(ml_type, dtype):
    if dtype == np.float16:
        return np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    values = numbers(ml_type)
    beyond = 2 * values[-1] - values[-2]
    values = np.concatenate([values, [beyond, -beyond]])
    values.sort()
    values = np.concatenate([values, (values[1:] + values[:-1]) / 2, [0.0, -0.0, np.inf, -np.inf, np.nan]]).astype(dtype)
    random = np.random.default_rng(1)
    with np.errstate(all="ignore"):
        words = random.integers(0, 1 << 32, 40_000, np.uint32).view(np.float32).astype(dtype)
    near = (random.standard_normal(40_000) * float(values[-6])).astype(dtype)
    inf = dtype(np.inf)
    return np.concatenate([values, np.nextafter(values, inf), np.nextafter(values, -inf), words, near])


def codes_of(array):
    return array.view(f"u{array.itemsize}")


def to_odd(values):
    """float32 of float64 in which no later rounding to fewer bits is misled: cut off, with the last bit set if anything
    was."""
    with np.errstate(all="ignore"):
        near = values.astype(np.float32)
        too_far = np.abs(near.astype(np.float64)) > np.abs(values)
    cut = np.where(too_far, np.nextafter(near, np.float32(0)), near)
    exact = (cut == values) | np.isnan(values)
    return np.where(exact, cut.view(np.uint32), cut.view(np.uint32) | 1).view(np.float32)


class Comparison:
    def __init__(self):
        self.compared = 0
        self.different = 0

    def take(self, what, source, ours, theirs, nan):
        """Codes; where both are NaN any will do."""
        wrong = np.flatnonzero((ours != theirs) & ~nan)
        self.compared += len(ours)
        self.different += len(wrong)
        for at in wrong[:3]:
            print(f"{what}: {source[at]!r} is {int(ours[at]):#x} here, {int(theirs[at]):#x} in ml_dtypes")


def check_from(tool, folder, name, comparison):
    """All codes, as larger floats."""
    codes = np.arange(256, dtype=np.uint8)
    for target in (np.float64, np.float32):
        theirs = codes.view(TYPES[name]).astype(target)
        ours, = converted(tool, folder, [(name, codes)], target.__name__)
        both_nan = np.isnan(theirs) & np.isnan(ours.view(target))
        comparison.take(f"{name} to {target.__name__}", codes, ours, codes_of(theirs), both_nan)


def check_to(tool, folder, name, comparison):
    ml_type = TYPES[name]
    largest = numbers(ml_type)[-1]
    arrays = [sources(ml_type, dtype) for dtype in (np.float16, np.float32, np.float64)]
    tensors = [(array.dtype.name, codes_of(array)) for array in arrays]
    clamped = converted(tool, folder, tensors, name)
    as_ieee = converted(tool, folder, tensors, name, "--overflow", "ieee")
    for array, ours, ieee in zip(arrays, clamped, as_ieee):
        what = f"{array.dtype.name} to {name}"
        with np.errstate(all="ignore"):
            theirs = (to_odd(array) if array.dtype == np.float64 else array).astype(ml_type)
        nan = np.isnan(array)
        if not np.isnan(ieee.view(ml_type)[nan]).all() or not np.isnan(ours.view(ml_type)[nan]).all():
            comparison.different += 1
            print(f"{what}: a NaN became a number")
        comparison.take(what + " with --overflow ieee", array, ieee, codes_of(theirs), nan)
        if not np.isfinite(theirs[~nan]).all():
            gone = ~np.isfinite(theirs) & ~nan
            theirs[gone] = np.copysign(largest, array[gone].astype(np.float64)).astype(ml_type)
        comparison.take(what, array, ours, codes_of(theirs), nan)


def main():
    tool = os.path.abspath(sys.argv[1])
    comparison = Comparison()
    with tempfile.TemporaryDirectory() as folder:
        for name in TYPES:
            check_from(tool, folder, name, comparison)
            check_to(tool, folder, name, comparison)
    print(f"{len(TYPES)} types, ml_dtypes {ml_dtypes.__version__}: {comparison.compared} codes compared, "
          f"{comparison.different} different")
    return 1 if comparison.different else 0


if __name__ == "__main__":
    sys.exit(main())
