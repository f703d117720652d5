#!/usr/bin/env python3
"""Compares `btftool convert --dtype` with NumPy's astype, and with torch's `to` where torch is installed.

    casts_numpy.py BTFTOOL [DTYPE...]     target types; default: all that NumPy or torch has

Run by hand; it needs NumPy and about a minute. Prints a line per pair of types and policy: how many elements were
compared, how many differ, and the first that do. Exit code 1 when anything differs that NumPy defines.

Compared are the values that NumPy defines, which excludes a float beyond the range of an integer type. NaN equals NaN,
whatever its bits. With `--overflow wrap`, which is NumPy's rule, integers are compared beyond the range too, and floats
as far as they fit the int32 or int64 to which NumPy truncates first. (Beyond it NumPy's result depends on the machine,
and for uint32 on whether the element fell into its vector loop.)

Differences from torch are printed and no error. docs/dtypes.md, section 4, has all that are expected; with the options
used here that is one: torch rounds float64, int32 and int64 twice, by way of float32.
"""

import os
import struct
import subprocess
import sys
import tempfile

import numpy as np

try:
    import torch
except ImportError:
    torch = None

CODES = {"int8": 0, "int16": 1, "int32": 2, "int64": 3, "float32": 4, "float64": 5, "uint8": 6, "uint16": 7,
         "uint32": 8, "uint64": 9, "float16": 128, "bfloat16": 129, "float8_e4m3fn": 130, "float8_e5m2": 131,
         "bool": 136}
INTEGERS = [name for name in CODES if "int" in name]
# What the bits of a type without a NumPy type are held in.
STORAGE = {"bfloat16": np.uint16, "float8_e4m3fn": np.uint8, "float8_e5m2": np.uint8}
# NaN is every code above this, without the sign.
LAST_NUMBER = {"bfloat16": 0x7F80, "float8_e4m3fn": 0x7E, "float8_e5m2": 0x7C}


def write_btf(path, tensors):
    """Rank 1 tensors, one record each."""
    offset = 8 + 8 * len(tensors)
    table, records = b"", b""
    for array in tensors:
        record = struct.pack("<QBB6xQ", 1, CODES[array.dtype.name], 0, len(array)) + array.tobytes()
        record += bytes(-len(record) % 8)
        table += struct.pack("<Q", offset + len(records))
        records += record
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(tensors)) + table + records)


def read_btf(path, dtype):
    with open(path, "rb") as file:
        data = file.read()
    count, = struct.unpack_from("<Q", data)
    for offset in struct.unpack_from(f"<{count}Q", data, 8):
        rank, code, layout, size = struct.unpack_from("<QBB6xQ", data, offset)
        assert (rank, code, layout) == (1, CODES[dtype], 0)
        yield np.frombuffer(data, STORAGE.get(dtype, dtype), size, offset + 24)


def midpoints(values):
    """Those between neighbours, of finite floats in any order, with the values themselves."""
    values = np.unique(values[np.isfinite(values)].astype(np.float64))
    return np.concatenate([values, (values[1:] + values[:-1]) / 2])


def with_neighbours(values, dtype):
    values = values.astype(dtype)
    return np.concatenate([values, np.nextafter(values, dtype(np.inf)), np.nextafter(values, dtype(-np.inf))])


def sources():
    random = np.random.default_rng(1)
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    bfloats = (np.arange(1 << 16, dtype=np.uint32) << 16).view(np.float32)
    floats = random.integers(0, 1 << 32, 200_000, np.uint32).view(np.float32)
    doubles = random.integers(0, 1 << 64, 200_000, np.uint64).view(np.float64)
    # Midpoints of float32, by sorting random ones and their upper neighbours.
    float_middles = (floats.astype(np.float64) + np.nextafter(floats, np.float32(np.inf)).astype(np.float64)) / 2
    points = np.concatenate([midpoints(halves), midpoints(bfloats), np.arange(-70_000, 70_000) / 2])
    arrays = [halves,
              np.concatenate([bfloats, floats, with_neighbours(points, np.float32)]),
              np.concatenate([bfloats.astype(np.float64), doubles,
                              with_neighbours(np.concatenate([points, float_middles]), np.float64)])]
    for name in INTEGERS:
        bits = np.iinfo(name).bits
        if bits <= 16:
            arrays.append(np.arange(1 << bits, dtype=f"u{bits // 8}").view(name))
            continue
        powers = np.uint64(1) << np.arange(64, dtype=np.uint64)
        # With the midpoints of bfloat16, float16, float32 and float64 next to each.
        middles = [powers + (powers >> np.uint64(digits)) for digits in (8, 11, 24, 53)]
        near = np.concatenate([base + np.uint64(step & (1 << 64) - 1) for base in [powers, *middles]
                               for step in (-2, -1, 0, 1, 2)])
        wild = random.integers(0, 1 << 64, 200_000, np.uint64)
        wild = wild >> random.integers(0, 64, wild.size, np.uint64)
        codes = np.concatenate([near, wild])
        codes = np.concatenate([codes, np.uint64(0) - codes])
        arrays.append(codes.astype(f"u{bits // 8}").view(name))
    return arrays + [np.array([False, True])]


def in_range(values, least, largest):
    """Exactly: both limits of a float range are powers of two, or one below."""
    if values.dtype.kind == "f":
        return (values >= float(least)) & (values < float(largest + 1))
    if values.dtype.kind == "b":
        return np.ones(values.shape, bool)
    own = np.iinfo(values.dtype)
    return (values >= max(least, own.min)) & (values <= min(largest, own.max))


ROUNDINGS = {"": np.trunc, "nearest": np.rint, "up": np.ceil, "down": np.floor, "zero": np.trunc}


def cases(target, cast, roundings):
    """(options, function): values -> (which of them the reference defines, what it gives)."""

    def all_of(values):
        return np.ones(values.shape, bool), cast(values)

    if target in STORAGE:
        return [(["--overflow", "ieee"], all_of)]
    if target not in INTEGERS:
        return [([], all_of)]

    limits = np.iinfo(target)

    def within(rounding):
        def expected(values):
            rounded = ROUNDINGS[rounding](values) if values.dtype.kind == "f" else values
            return in_range(rounded, limits.min, limits.max), cast(rounded)
        return expected

    def wrapped(values):
        if values.dtype.kind != "f":
            return all_of(values)
        first = np.iinfo("int64" if limits.bits == 64 else "int32")
        return in_range(np.trunc(values), first.min, max(first.max, limits.max)), cast(values)

    return [(["--round", rounding] if rounding else [], within(rounding)) for rounding in roundings] + \
        [(["--overflow", "wrap"], wrapped)]


def numpy_cases(target):
    if target in STORAGE:
        return []
    return cases(target, lambda values: values.astype(target), ROUNDINGS)


def torch_cases(target):
    if torch is None or not hasattr(torch, target):
        return []

    def cast(values):
        result = torch.from_numpy(values).to(getattr(torch, target))
        if target not in STORAGE:
            return result.numpy()
        bits = torch.int16 if target == "bfloat16" else torch.uint8
        return result.view(bits).numpy().view(STORAGE[target])

    def known(expected_of):  # not every torch has the other unsigned types
        return lambda values: (np.zeros(values.shape, bool), values) \
            if values.dtype.kind == "u" and values.dtype.itemsize > 1 else expected_of(values)

    return [(options, known(expected_of)) for options, expected_of in cases(target, cast, [""])]


def same(actual, expected, dtype):
    if dtype in LAST_NUMBER:
        magnitude = np.iinfo(STORAGE[dtype]).max >> 1
        nan = (actual & magnitude > LAST_NUMBER[dtype]) & (expected & magnitude > LAST_NUMBER[dtype])
        return nan | (actual == expected)
    if np.dtype(dtype).kind != "f":
        return actual == expected
    bits = f"u{np.dtype(dtype).itemsize}"
    return (np.isnan(actual) & np.isnan(expected)) | (actual.view(bits) == expected.view(bits))


def convert(btftool, source, target, options):
    with tempfile.TemporaryDirectory() as scratch:
        result = os.path.join(scratch, "result.btf")
        subprocess.run([btftool, "-q", "convert", "--dtype", target, *options, source, result], check=True)
        yield from read_btf(result, target)


def compare(btftool, path, arrays, target, options, expected_of, reference):
    """Prints what differs and returns how many elements do."""
    total = 0
    for values, actual in zip(arrays, convert(btftool, path, target, options)):
        with np.errstate(all="ignore"):
            defined, expected = expected_of(values)
        wrong = np.flatnonzero(defined & ~same(actual, expected, target))
        total += len(wrong)
        print(f"{reference}: {' '.join([values.dtype.name, 'to', target] + options)}: "
              f"{np.count_nonzero(defined)} compared, {len(wrong)} differ")
        for i in wrong[:3]:
            print(f"    {values[i]!r}: btftool {actual[i]!r}, {reference} {expected[i]!r}")
    return total


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    btftool, targets = sys.argv[1], sys.argv[2:] or list(CODES)
    if torch is None:
        print("torch is not installed: left out")
    with np.errstate(all="ignore"):
        arrays = sources()
    differences = 0
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "source.btf")
        write_btf(path, arrays)
        for target in targets:
            for options, expected_of in numpy_cases(target):
                differences += compare(btftool, path, arrays, target, options, expected_of, "numpy")
            for options, expected_of in torch_cases(target):
                compare(btftool, path, arrays, target, options, expected_of, "torch")
    print(f"{differences} differences from NumPy")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
