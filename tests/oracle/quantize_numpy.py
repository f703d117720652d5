#!/usr/bin/env python3
"""Compares `btftool convert` with --scale, --block-scale and --dequantize with the same worked out in NumPy.

    quantize_numpy.py BTFTOOL

Run by hand; it needs NumPy and less than a minute. The formulas are those of docs/dtypes.md, section 5, computed in
float64; where a quotient comes near a tie, fractions decide. Prints a line per comparison with the number of codes that
differ and the first of them. Exit code 1 when any does.
"""

import os
import struct
import subprocess
import sys
import tempfile
from fractions import Fraction

import numpy as np

CODES = {"int8": 0, "int16": 1, "int32": 2, "float32": 4, "float64": 5, "uint8": 6, "uint16": 7, "uint32": 8,
         "float16": 128, "float8_e4m3fn": 130, "float8_e5m2": 131, "float8_e8m0fnu": 132, "float4_e2m1fn": 133,
         "int4": 134, "uint4": 135}
NAMES = {code: name for name, code in CODES.items()}


def bits_of(name):
    return int(name.split("_")[0].lstrip("uintfloat"))


def limits(name):
    size = 1 << bits_of(name)
    return (0, size - 1) if name[0] == "u" else (-size // 2, size // 2 - 1)


LIMITS = {name: limits(name) for name in CODES if "int" in name}


def magnitudes(mantissa_bits, bias, largest):
    """The numbers of a small float by their codes, and the one that would follow the largest."""
    code = np.arange(largest + 2)
    field, mantissa = code >> mantissa_bits, code % (1 << mantissa_bits) / (1 << mantissa_bits)
    return np.where(field == 0, mantissa * 2.0 ** (1 - bias), (1 + mantissa) * 2.0 ** (field - bias))


SMALL_FLOATS = {"float8_e4m3fn": magnitudes(3, 7, 0x7E), "float8_e5m2": magnitudes(2, 15, 0x7B),
                "float4_e2m1fn": magnitudes(1, 1, 7)}
SIGN = {"float8_e4m3fn": 0x80, "float8_e5m2": 0x80, "float4_e2m1fn": 0x8}
NAN = {"float8_e4m3fn": 0x7F, "float8_e5m2": 0x7E, "float4_e2m1fn": 0x7}


# Files

def pack(name, codes):
    if bits_of(name) != 4:
        return codes.tobytes()
    nibbles = np.append(codes.ravel(), np.zeros(codes.size % 2, np.uint8)).astype(np.uint8)
    return (nibbles[::2] | nibbles[1::2] << 4).tobytes()


def unpack(name, data, dims):
    count = int(np.prod(dims))
    if bits_of(name) == 4:
        packed = np.frombuffer(data, np.uint8, (count + 1) // 2)
        return np.stack([packed & 15, packed >> 4], 1).ravel()[:count].reshape(dims)
    return np.frombuffer(data, np.uint8 if "float8" in name else name, count).reshape(dims)


def write_btf(path, tensors):
    """(name of the type, codes) per record."""
    offset, table, records = 8 + 8 * len(tensors), b"", b""
    for name, codes in tensors:
        record = struct.pack("<QBB6x", codes.ndim, CODES[name], 0) + struct.pack(f"<{codes.ndim}Q", *codes.shape)
        record += pack(name, codes)
        table += struct.pack("<Q", offset + len(records))
        records += record + bytes(-len(record) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(tensors)) + table + records)


def read_btf(path):
    with open(path, "rb") as file:
        data = file.read()
    count, = struct.unpack_from("<Q", data)
    for offset in struct.unpack_from(f"<{count}Q", data, 8):
        rank, code = struct.unpack_from("<QB", data, offset)
        dims = struct.unpack_from(f"<{rank}Q", data, offset + 16)
        yield NAMES[code], unpack(NAMES[code], data[offset + 16 + 8 * rank:], dims)


# What must come out. `scale` is an array that broadcasts against x.

def is_above(x, scale, bound):
    """x / scale compared with bound, exactly: -1, 0, 1."""
    left, right = Fraction(float(x)), Fraction(float(bound)) * Fraction(float(scale))
    return (left > right) - (left < right)


def near(values, bounds):
    return np.abs(values - bounds) <= 1e-12 * np.abs(bounds)


def quantize_integer(x, scale, name, zero_point):
    least, largest = LIMITS[name]
    scale = np.broadcast_to(scale, x.shape)
    y = x / scale
    rounded = np.rint(y)
    floor = np.floor(y)
    for i in np.argwhere(np.isfinite(y) & near(y, floor + 0.5)):
        i = tuple(i)
        side = is_above(x[i], scale[i], floor[i] + 0.5)
        rounded[i] = floor[i] + (side > 0 or side == 0 and floor[i] % 2 == 1)
    codes = np.clip(rounded + zero_point, least, largest)
    codes = np.where(np.isnan(x), zero_point, codes).astype(np.int64)
    return codes & 15 if bits_of(name) == 4 else codes.astype(name)


def quantize_float(x, scale, name):
    values = SMALL_FLOATS[name]
    middles = (values[1:] + values[:-1]) / 2
    scale = np.broadcast_to(scale, x.shape)
    size = np.abs(x) / np.where(scale == 0, 1, scale)
    code = np.searchsorted(middles, size)
    below = middles[np.minimum(np.maximum(code - 1, 0), len(middles) - 1)]
    above = middles[np.minimum(code, len(middles) - 1)]
    for middle in (below, above):
        for i in np.argwhere(np.isfinite(size) & near(size, middle)):
            i = tuple(i)
            low = int(np.searchsorted(middles, middle[i]))
            side = is_above(abs(x[i]), scale[i], middle[i])
            code[i] = low + (side > 0 or side == 0 and low % 2 == 1)
    code = np.where(scale == 0, 0, np.minimum(code, len(values) - 2))
    code = np.where(np.isnan(x), NAN[name], code)
    lost = np.isnan(x) & (name == "float4_e2m1fn")
    return np.where(np.signbit(x) & ~lost, code | SIGN[name], code).astype(np.uint8)


def quantize(x, scale, name, zero_point=0):
    with np.errstate(all="ignore"):
        x = x.astype(np.float64)
        return quantize_float(x, scale, name) if name in SIGN else quantize_integer(x, scale, name, zero_point)


def decode(codes, name):
    if name in SIGN:
        magnitude = (codes & (SIGN[name] - 1)).astype(np.int64)
        known = magnitude <= len(SMALL_FLOATS[name]) - 2
        values = np.where(known, SMALL_FLOATS[name][np.where(known, magnitude, 0)], np.nan)
        return np.where(codes & SIGN[name], -values, values)
    if name == "int4":
        return ((codes.astype(np.int64) + 8) % 16 - 8).astype(np.float64)
    return codes.astype(np.float64)


def largest_finite(x, axis=None):
    x = np.abs(np.where(np.isfinite(x), x, 0).astype(np.float64))
    return x.max(axis=axis, keepdims=axis is not None)


def representable(name):
    return SMALL_FLOATS[name][-2] if name in SIGN else float(LIMITS[name][1])


def as_scale(values):
    least, largest = np.float64(2.0 ** -149), np.finfo(np.float32).max.astype(np.float64)
    return np.where(values == 0, 1, np.clip(values, least, largest)).astype(np.float32)


def nearest_float32(ratio):
    """Of a Fraction: the nearest float32, ties to even, within its positive numbers."""
    guess = np.float32(float(ratio))
    around = [np.nextafter(guess, np.float32(0)), guess, np.nextafter(guess, np.float32(np.inf))]
    best = min(around, key=lambda f: (abs(Fraction(float(f)) - ratio), int(f.view(np.uint32)) & 1))
    return max(best, np.float32(2.0 ** -149))


def fit(lo, hi, name, zero):
    """Scale and zero point for numbers from lo to hi: docs/dtypes.md, section 5.2. None if they cannot fit."""
    least, largest = LIMITS[name]
    lo, hi = Fraction(min(0, float(lo))), Fraction(max(0, float(hi)))
    if lo == hi:
        return np.float32(1), zero or 0
    if zero is None:
        ratio = (hi - lo) / (largest - least)
    elif lo < 0 and zero == least or hi > 0 and zero == largest:
        return None
    else:
        ratio = max(x / (end - zero) for x, end in ((lo, least), (hi, largest)) if end != zero)
    scale = nearest_float32(ratio)
    while True:
        down, up = round(lo / Fraction(float(scale))), round(hi / Fraction(float(scale)))
        z = least - down if zero is None else zero
        if least <= z + down and z + up <= largest:
            return scale, z
        scale = np.nextafter(scale, np.float32(np.inf))


def fit_all(x, name, axes, zero):
    """Arrays that broadcast against x; None if something cannot fit."""
    finite = np.where(np.isfinite(x), x, 0).astype(np.float64)
    lo = np.asarray(finite.min(axis=axes, keepdims=axes is not None))
    hi = np.asarray(finite.max(axis=axes, keepdims=axes is not None))
    fits = [fit(a, b, name, zero) for a, b in zip(lo.ravel(), hi.ravel())]
    if None in fits:
        return None
    return (np.array([scale for scale, _ in fits], np.float32).reshape(lo.shape),
            np.array([z for _, z in fits], np.int64).reshape(lo.shape))


BLOCKS = {"mxfp8": (32, "float8_e8m0fnu"), "mxfp4": (32, "float8_e8m0fnu"), "nvfp4": (16, "float8_e4m3fn")}


def quantize_blocks(x, form, name):
    """The records' codes: elements, scales, and the scale of the tensor."""
    size, scale_name = BLOCKS[form]
    columns = x.shape[-1]
    padded = np.zeros((*x.shape[:-1], -(-columns // size) * size))
    padded[..., :columns] = x
    blocks = padded.reshape(*x.shape[:-1], -1, size)
    largest = largest_finite(blocks, -1)
    if form == "nvfp4":
        tensor = as_scale(largest_finite(x) / 2688)
        codes = quantize_float(largest, 6 * np.float64(tensor), scale_name)
        scale = decode(codes, scale_name) * np.float64(tensor)
    else:
        emax = np.frexp(representable(name))[1] - 1
        exponent = np.clip(np.frexp(largest)[1] - 1 - emax, -127, 127)
        codes = np.where(largest == 0, 0, exponent + 127).astype(np.uint8)
        scale = 2.0 ** (codes - 127.0)
    elements = quantize(blocks, scale, name).reshape(padded.shape)[..., :columns]
    scales = np.repeat(scale, size, -1).reshape(padded.shape)[..., :columns]
    records = [(name, elements), (scale_name, codes[..., 0])]
    return records + ([("float32", tensor)] if form == "nvfp4" else []), scales


# The comparisons

class Comparison:
    def __init__(self, btftool, scratch):
        self.btftool, self.scratch, self.differences = btftool, scratch, 0

    def convert(self, tensors, options):
        source, result = (os.path.join(self.scratch, name) for name in ("source.btf", "result.btf"))
        write_btf(source, tensors)
        subprocess.run([self.btftool, "-q", "convert", *options, source, result], check=True)
        return list(read_btf(result))

    def compare(self, tensors, options, expected):
        actual = self.convert(tensors, options)
        wrong, first = 0, ""
        same_shape = [(name, codes.shape) for name, codes in actual] == \
            [(name, np.shape(codes)) for name, codes in expected]
        if not same_shape:
            wrong, first = 1, f"records {[(n, c.shape) for n, c in actual]}"
        for (name, got), (_, want) in zip(actual, expected) if same_shape else []:
            equal = (got == want) | ((got != got) & (want != want))
            if name in ("float32", "float64"):
                equal &= (np.signbit(got) == np.signbit(want)) | np.isnan(got)
            places = np.argwhere(~equal)
            wrong += len(places)
            if len(places) and not first:
                first = f"{name} at {places[0].tolist()}: btftool {got[tuple(places[0])]!r}, " \
                        f"NumPy {want[tuple(places[0])]!r}"
        count = sum(np.size(codes) for _, codes in expected)
        print(f"{tensors[0][0]}: {' '.join(options)}: {count} compared, {wrong} differ{first and ': ' + first}")
        self.differences += wrong


    def compare_fits(self, x, name, axis, axes):
        for zero in (None, 5, *LIMITS[name]):
            if zero == 0 and LIMITS[name][0] < 0:
                continue
            for y in (x, np.abs(x), -np.abs(x)):
                source = [(y.dtype.name, y)]
                options = ["--scale", "auto", "--dtype", name, "--zero-point", "auto" if zero is None else str(zero)]
                options += [] if axis is None else ["--scale-axis", str(axis)]
                found = fit_all(y, name, axes, zero)
                if found is None:
                    self.refuse(source, options)
                    continue
                scale, zeros = found
                codes = quantize(y, scale.astype(np.float64), name, zeros)
                records = [(name, codes), ("float32", scale)]
                if zero is None:
                    records += [(name, (zeros & 15 if bits_of(name) == 4 else zeros).astype(codes.dtype))]
                self.compare(source, options, records)
                self.compare(records, ["--dequantize", *options[4:6]], [
                    ("float32", dequantize(codes, name, scale.astype(np.float64), zeros, np.float32))])

    def refuse(self, tensors, options):
        source, result = (os.path.join(self.scratch, name) for name in ("source.btf", "result.btf"))
        write_btf(source, tensors)
        run = subprocess.run([self.btftool, "-q", "convert", *options, source, result], capture_output=True, text=True)
        good = run.returncode == 2 and "do not fit" in run.stderr
        print(f"{tensors[0][0]}: {' '.join(options)}: {'refused' if good else 'NOT REFUSED'}")
        self.differences += 0 if good else 1


def dequantize(elements, name, scale, zero_point, target):
    with np.errstate(all="ignore"):
        # A product of two short numbers is exact in float64, so it is rounded once here.
        return ((decode(elements, name) - zero_point) * scale).astype(target)


def sources(random):
    shape = (7, 5, 75)
    wide = random.standard_normal(shape) * 2.0 ** random.integers(-12, 12, shape)
    wide[0, 0, :6] = [np.nan, np.inf, -np.inf, 0, -0.0, 1e-30]
    wide[1] = 0
    ties = (random.integers(-600, 600, shape) + 0.5) * 0.0625
    return [wide.astype(np.float32), wide, wide.astype(np.float16), ties.astype(np.float32),
            random.integers(-40000, 40000, shape).astype(np.int32)]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as scratch:
        comparison = Comparison(sys.argv[1], scratch)
        for x in sources(random):
            source = [(x.dtype.name, x)]
            for name in [*LIMITS, *SIGN]:
                for scale in (0.0625, 0.1, 3.0):
                    zero_points = (0,) if name in SIGN else (0, LIMITS[name][0], 5)
                    for zero in zero_points:
                        options = ["--scale", repr(scale), "--dtype", name]
                        options += ["--zero-point", str(zero)] if zero else []
                        comparison.compare(source, options, [(name, quantize(x, scale, name, zero))])
                for axis in (None, 0, 1, 2):
                    axes = None if axis is None else tuple(d for d in range(3) if d != axis)
                    if name in LIMITS:
                        comparison.compare_fits(x, name, axis, axes)
                    if name in LIMITS and LIMITS[name][0] == 0:
                        continue
                    scale = as_scale(np.asarray(largest_finite(x, axes) / representable(name)))
                    codes = quantize(x, scale.astype(np.float64), name)
                    options = ["--scale", "auto", "--dtype", name]
                    options += [] if axis is None else ["--scale-axis", str(axis)]
                    records = [(name, codes), ("float32", scale)]
                    comparison.compare(source, options, records)
                    comparison.compare(records, ["--dequantize"], [
                        ("float32", dequantize(codes, name, scale.astype(np.float64), 0, np.float32))])
            for form, name in (("mxfp8", "float8_e4m3fn"), ("mxfp8", "float8_e5m2"), ("mxfp4", "float4_e2m1fn"),
                               ("nvfp4", "float4_e2m1fn")):
                records, scales = quantize_blocks(x.astype(np.float64), form, name)
                comparison.compare(source, ["--block-scale", form, "--dtype", name], records)
                for target in ("float32", "float64"):
                    comparison.compare(records, ["--dequantize", "--dtype", target], [
                        (target, dequantize(records[0][1], name, scales, 0, target))])
    print(f"{comparison.differences} differences")
    return 1 if comparison.differences else 0


if __name__ == "__main__":
    sys.exit(main())
