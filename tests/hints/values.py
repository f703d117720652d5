"""Elements that became something else, and codes that were read as others."""

import numpy as np

from causes import ALL, EIGHT_BITS_UP, HAVE_INF, IMAGES, cause, golden_of, pick
from tensors import (DTYPES, FLOATS, INTEGERS, NUMBERS, NUMPY, SIGNED, WIDE_FLOATS, Stored, bits, codes, limits,
                     numbers, of_codes, precision, rounded)


@cause("bytes reversed", "byte-order", [t for t in ALL if bits(t) >= 16])
def _(rng, dtype, golden_dtype, kind):
    x = numbers(rng, pick(rng, IMAGES), dtype, kind)
    return of_codes(codes(rounded(x, dtype)).byteswap(), dtype), golden_of(x, dtype, golden_dtype)


@cause("nibbles exchanged", "nibble-order", [t for t in ALL if bits(t) <= 8 and t != "bool"])
def _(rng, dtype, golden_dtype, kind):
    x = numbers(rng, pick(rng, IMAGES), dtype, kind)
    held = codes(rounded(x, dtype))
    if bits(dtype) == 4:
        held = held.reshape(-1, 2)[:, ::-1].reshape(x.shape)
    else:
        held = (held << 4 | held >> 4).astype(np.uint8)
    return of_codes(held, dtype), golden_of(x, dtype, golden_dtype)


@cause("bits of one dtype read as another", "dtype-misread", [t for t in ALL if t != "bool"])
def _(rng, dtype, golden_dtype, kind):
    if dtype not in FLOATS or bits(dtype) not in (8, 16):
        golden_dtype = dtype
    others = [t for t in DTYPES if bits(t) == bits(dtype) and t not in (dtype, "bool")]
    if golden_dtype != dtype:  # golden was never rounded to it
        others = [t for t in others if t in FLOATS and precision(t) != precision(dtype)]
    x = numbers(rng, pick(rng, IMAGES), dtype, kind)
    golden = rounded(x, dtype)
    read = [of_codes(codes(golden), t) for t in others]
    read = [a for a in read if np.mean(a.astype(np.float64) != golden.astype(np.float64)) > 0.02]
    return pick(rng, read), golden_of(x, dtype, golden_dtype)


# Elements that became something else.

def changed(what, names, dtypes, kinds=None, shapes=None):
    """`change(rng, x, dtype)` gives what actual is before it is rounded."""
    def add(change):
        def make(rng, dtype, golden_dtype, kind):
            x = numbers(rng, pick(rng, shapes or IMAGES), dtype, kind)
            golden = golden_of(x, dtype, golden_dtype)
            return rounded(change(rng, golden.astype(np.float64), dtype), dtype), golden
        cause(what, names, dtypes, kinds)(make)
        return change
    return add


@cause("a mask that says the opposite", "inverted", [t for t in ALL if t != "float8_e8m0fnu"], ["normal"])
def _(rng, dtype, golden_dtype, kind):
    mask = rng.random(pick(rng, IMAGES)) < rng.uniform(0.1, 0.9)
    return rounded(~mask, dtype), golden_of(mask, dtype, golden_dtype)


@changed("the other sign", "sign", SIGNED)
def _(rng, x, dtype):
    return -x


@changed("scaled", "scale", EIGHT_BITS_UP)
def _(rng, x, dtype):
    return x * pick(rng, [0.5 if bits(dtype) > 8 else 0.9, 0.7, 1 / 3, -0.6 if dtype in SIGNED else 0.6, 2.0 if bits(dtype) > 8 else 0.8])


@changed("an offset", "offset", EIGHT_BITS_UP, ["normal", "smooth", "channels"])
def _(rng, x, dtype):
    return x + np.std(x) * pick(rng, [0.5, 1.0, 0.7])


@changed("a scale and an offset", "affine", EIGHT_BITS_UP, ["normal", "smooth", "channels"])
def _(rng, x, dtype):
    return 0.7 * x + 0.4 * np.std(x)


def along(x, axis, low, high, rng):
    return rng.uniform(low, high, [n if d == axis else 1 for d, n in enumerate(x.shape)])


CHANNELS = [(2, 8, 12, 14), (48, 40)]


@changed("a factor of each channel", "channel-scale", EIGHT_BITS_UP, ["normal", "smooth", "channels"], CHANNELS)
def _(rng, x, dtype):
    return x * along(x, 1, 0.3, 1.0, rng)


@changed("an offset of each channel", "channel-scale", EIGHT_BITS_UP, ["normal", "smooth", "channels"], CHANNELS)
def _(rng, x, dtype):
    return x + np.std(x) * along(x, 1, -1 if dtype in SIGNED else 0, 1, rng)


@changed("a factor and an offset of each channel", "channel-scale", EIGHT_BITS_UP, ["normal", "smooth", "channels"], CHANNELS)
def _(rng, x, dtype):
    return x * along(x, 1, 0.3, 1.0, rng) + np.std(x) * along(x, 1, -1 if dtype in SIGNED else 0, 1, rng)


@cause("dequantised along the wrong dim", "scale-axis", WIDE_FLOATS, ["normal"])
def _(rng, dtype, golden_dtype, kind):
    shape = pick(rng, [(32, 32), (24, 24, 3, 3)])
    q = np.rint(rng.standard_normal(shape) * 40)
    scales = rng.uniform(0.001, 0.02, shape[0])
    by_row = scales.reshape(-1, *[1] * (len(shape) - 1))
    by_column = scales.reshape(1, -1, *[1] * (len(shape) - 2))
    return rounded(q * by_column, dtype), rounded(q * by_row, golden_dtype)


FUNCTIONS = {
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "tanh": np.tanh, "SiLU": lambda x: x / (1 + np.exp(-x)),
    "hard swish": lambda x: x * np.clip(x + 3, 0, 6) / 6, "leaky ReLU": lambda x: np.where(x > 0, x, 0.01 * x),
    "ELU": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))), "softplus": lambda x: np.log1p(np.exp(x)),
    "GELU": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3))), "exp": np.exp,
}


def functions(rng, dtype, golden_dtype, missing):
    x = 3 * rng.standard_normal(pick(rng, IMAGES))
    y = pick(rng, list(FUNCTIONS.values()))(x)
    return (rounded(x, dtype), rounded(y, golden_dtype)) if missing else (rounded(y, dtype), golden_of(x, dtype, golden_dtype))


@cause("a function that is missing", "activation", WIDE_FLOATS, ["normal"])
def _(rng, dtype, golden_dtype, kind):
    return functions(rng, dtype, golden_dtype, True)


@cause("a function too many", "activation", WIDE_FLOATS, ["normal"])
def _(rng, dtype, golden_dtype, kind):
    return functions(rng, dtype, golden_dtype, False)


@cause("a softmax that is missing or too many", "activation", WIDE_FLOATS, ["normal"])
def _(rng, dtype, golden_dtype, kind):
    # Of large ones rows have a peak, and most are next to nothing.
    x = pick(rng, [2, 8]) * rng.standard_normal(pick(rng, [(6, 40), (2, 10, 8, 9), (4, 8, 32)]))
    p = np.exp(x - x.max())
    p /= p.sum(axis=-1 if x.ndim < 4 else 1, keepdims=True)
    a, g = (x, p) if rng.random() < 0.5 else (p, x)
    return rounded(a, dtype), golden_of(g, dtype, golden_dtype)


@cause("a ReLU that is missing or too many", "saturation", SIGNED, ["normal", "smooth", "channels"])
def _(rng, dtype, golden_dtype, kind):
    x = numbers(rng, pick(rng, IMAGES), dtype, kind)
    a, g = (x, np.maximum(x, 0)) if rng.random() < 0.5 else (np.maximum(x, 0), x)
    return rounded(a, dtype), golden_of(g, dtype, golden_dtype)


@cause("a clip that is missing or too many", "saturation", NUMBERS, ["normal", "channels"])
def _(rng, dtype, golden_dtype, kind):
    x = numbers(rng, pick(rng, IMAGES), dtype, kind)
    level = float(rounded(np.quantile(x, 0.8), dtype))
    cut = np.minimum(x, level)
    a, g = (x, cut) if rng.random() < 0.5 else (cut, x)
    return rounded(a, dtype), golden_of(g, dtype, golden_dtype)


@cause("numbers at the limit of a dtype", "saturation", ["int8", "uint8", "int16", "int4", "float16",
       "float8_e4m3fn", "float8_e5m2", "float8_e4m3", "float4_e2m1fn", "float8_e4m3fnuz", "float8_e3m4"],
       ["normal", "smooth"])
def _(rng, dtype, golden_dtype, kind):
    x = rng.standard_normal(pick(rng, IMAGES)) * limits(dtype)[1] * 0.7
    return rounded(x, dtype), rounded(x, "float32")


@cause("Inf against the largest number", "saturation", HAVE_INF, ["normal"])
def _(rng, dtype, golden_dtype, kind):
    x = numbers(rng, pick(rng, IMAGES), dtype, kind)
    beyond = rng.random(x.shape) < 0.01
    sign = np.sign(x + 1e-30)
    actual, golden = rounded(x, dtype), rounded(x, dtype)
    actual[beyond] = (sign * np.inf)[beyond]
    golden[beyond] = rounded(sign * limits(dtype)[1], dtype)[beyond]
    return (actual, golden) if rng.random() < 0.5 else (golden, actual)


@cause("NaN against the largest number", "saturation", ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2fnuz",
       "float8_e4m3b11fnuz"], ["normal"])
def _(rng, dtype, golden_dtype, kind):
    x = numbers(rng, pick(rng, IMAGES), dtype, kind)
    beyond = rng.random(x.shape) < 0.01
    actual, golden = rounded(x, dtype), rounded(x, dtype)
    actual[beyond] = np.nan
    golden[beyond] = rounded(np.sign(x + 1e-30) * 1e300, dtype)[beyond]
    return (actual, golden) if rng.random() < 0.5 else (golden, actual)


@cause("overflow of a narrower dtype", "saturation", ["float16", "float8_e5m2", "float8_e4m3", "float8_e3m4"],
       ["normal"])
def _(rng, dtype, golden_dtype, kind):
    x = rng.standard_normal(pick(rng, IMAGES)) * limits(dtype)[1] * 0.5
    return x.astype(NUMPY[dtype]), rounded(x, "float32")


@cause("integers that came round", "wrapped", INTEGERS, ["normal"])
def _(rng, dtype, golden_dtype, kind):
    width = min(bits(dtype), 32)
    x = np.rint(rng.standard_normal(pick(rng, IMAGES)) * 2.0 ** (width - 1)).astype(np.int64)
    narrow = [t for t in INTEGERS if bits(t) == width and (t[0] == "u") == (dtype[0] == "u")][0]
    low, high = limits(narrow)
    wrapped = (x - int(low)) % (int(high) - int(low) + 1) + int(low)
    return rounded(wrapped, dtype), x.astype(np.float64 if width == 32 else np.float32)


@cause("integers that came round, and were cut off in golden", "wrapped", [t for t in INTEGERS if bits(t) in (8, 16)], ["normal"])
def _(rng, dtype, golden_dtype, kind):
    low, high = (int(limit) for limit in limits(dtype))
    x = np.rint(rng.standard_normal(pick(rng, IMAGES)) * 2.0 ** (bits(dtype) - 2)).astype(np.int64)
    wrapped, cut = (x - low) % (high - low + 1) + low, np.clip(x, low, high)
    a, g = (wrapped, cut) if rng.random() < 0.5 else (cut, wrapped)
    return rounded(a, dtype), rounded(g, golden_dtype)


def cut_bits(x, kept, how):
    held = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    drop = 24 - kept
    if how == "nearest":
        held = held + (1 << (drop - 1)) - 1 + (held >> drop & 1)
    return (held >> drop << drop).astype(np.uint32).view(np.float32)


@cause("bfloat16 or TF32 in float32", "rounding", ["float32"])
def _(rng, dtype, golden_dtype, kind):
    x = rounded(numbers(rng, pick(rng, IMAGES), dtype, kind), "float32")
    return cut_bits(x, pick(rng, [8, 11]), pick(rng, ["nearest", "zero"])), x


@cause("rounded to the narrower dtype", "rounding", [t for t in NUMBERS if bits(t) < 32])
def _(rng, dtype, golden_dtype, kind):
    x = numbers(rng, pick(rng, IMAGES), dtype, kind)
    return rounded(x, dtype), rounded(x, "float32")


@cause("rounded to zero instead of the nearest", "rounding", [t for t in NUMBERS if bits(t) < 32], ["normal", "smooth"])
def _(rng, dtype, golden_dtype, kind):
    x = rounded(numbers(rng, pick(rng, IMAGES), dtype, kind), "float32").astype(np.float64)
    if dtype in INTEGERS:
        return rounded(np.trunc(x), dtype), rounded(x, "float32")
    near = rounded(x, dtype)
    held = codes(near)
    return of_codes(np.where(np.abs(near.astype(np.float64)) > np.abs(x), held - 1, held).astype(held.dtype),
                    dtype), rounded(x, "float32")


@cause("COO counted from 1", "index-base", ALL, ["normal"])
def _(rng, dtype, golden_dtype, kind):
    shape = pick(rng, [(40, 30), (6, 20, 20)])
    places = [tuple(map(int, at)) for at in np.argwhere(rng.random([n - 1 for n in shape]) < 0.1)]
    values = np.abs(numbers(rng, len(places), dtype, "normal"))
    values = rounded(np.maximum(values, 1) if dtype != "float8_e8m0fnu" else values, dtype)
    near, far = Stored(values, rows=places, dims=shape), Stored(
        values, rows=[tuple(i + 1 for i in at) for at in places], dims=shape)
    return (far, near) if rng.random() < 0.5 else (near, far)
