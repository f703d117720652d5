#!/usr/bin/env python3
"""How often `diff` names another order or reading of the elements among noise, and that it names none where there is none.

    noisy.py BTFTOOL [--pairs N] [--seed S] [--show]

Golden is broken by NumPy: dims in another order, bytes of one layout under the name of another, dims reversed, bytes,
halves and nibbles exchanged. Then noise is added, of so many parts of the standard deviation. A row for each kind, a column
for each noise: found of how many. The last rows are of pairs without such a cause, in which none may be named.
It fails where less than 95 of 100 are found in a row at one noise, and where one is named that is none.
"""

import argparse
import itertools
import os
import sys
import tempfile

try:
    import ml_dtypes  # noqa: F401
    import numpy as np
except ImportError:
    print("skipped: no NumPy or no ml_dtypes")
    sys.exit(0)

from matrix import hints, random_of
from tensors import Stored, elements, layouts

FLOAT32 = elements.BY_NAME["float32"]
LEAST = 0.95  # found in each row at each noise, or all but one
NOISES = [0, 1e-4, 1e-3, 1e-2, 5e-2]
ORDER = {"layout", "permutation", "byte-order", "nibble-order", "dtype-misread", "shift", "mirrored", "rotated",
         "channels-reversed", "shape", "shuffled", "interleaved", "repeated", "pitch", "reordered"}
SHAPES = {2: [(40, 30), (24, 64), (32, 32)], 3: [(6, 18, 20), (5, 9, 31), (12, 12, 12)],
          4: [(1, 16, 12, 12), (2, 6, 14, 10), (3, 4, 8, 9), (1, 12, 12, 12)]}


def smooth(rng, shape):
    """Images: white noise through a wide filter, a level of its own in each channel."""
    x = rng.standard_normal(shape)
    for axis in range(max(0, len(shape) - 2), len(shape)):
        n = shape[axis]
        width = max(1.0, n / 12)
        kernel = np.exp(-0.5 * ((np.arange(n) - n // 2) / width) ** 2)
        x = np.real(np.fft.ifft(np.fft.fft(x, axis=axis) * np.expand_dims(
            np.fft.fft(np.fft.ifftshift(kernel)), [d for d in range(len(shape)) if d != axis]), axis=axis))
    x /= x.std()
    return x + 0.3 * rng.standard_normal([1 if d != max(0, len(shape) - 3) else n for d, n in enumerate(shape)])


DATA = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "relu": lambda rng, shape: np.maximum(rng.standard_normal(shape), 0),
    "image": smooth,
    "channels": lambda rng, shape: rng.standard_normal(shape) * 2.0 ** rng.uniform(
        -1, 1, [1 if d != max(0, len(shape) - 3) else n for d, n in enumerate(shape)]),
    "positive": lambda rng, shape: 5 + rng.gamma(2.0, 1.0, shape),
}

KINDS = {}


def kind(name):
    def add(make):
        KINDS[name] = make
        return make
    return add


def noisy(rng, x, noise):
    return x + noise * np.std(x) * rng.standard_normal(x.shape)


def add_permutations(rank):
    @kind(f"dims of rank {rank} in every order")
    def _(rng, data, noise):
        for shape in SHAPES[rank]:
            moving = [d for d in range(rank) if shape[d] > 1]
            for order in itertools.permutations(range(rank)):
                if [d for d in order if shape[d] > 1] == moving:
                    continue
                g = DATA[data](rng, shape)
                a = noisy(rng, g.transpose(order), noise).astype(np.float32).reshape(shape)
                yield {"permutation", "layout", "rotated"}, a, g.astype(np.float32)


for RANK in SHAPES:
    add_permutations(RANK)

@kind("dims in every order, and they say so")
def _(rng, data, noise):
    for rank in SHAPES:
        for shape in SHAPES[rank]:
            for order in itertools.permutations(range(rank)):
                g = DATA[data](rng, shape)
                a = noisy(rng, g.transpose(order), noise).astype(np.float32)
                if [d for d in order if shape[d] > 1] == [d for d in range(rank) if shape[d] > 1]:
                    continue
                yield {"shape", "permutation", "layout", "rotated"}, a, g.astype(np.float32)


@kind("the same without dims of 1, or with more of them")
def _(rng, data, noise):
    for shape in [(1, 16, 12, 10), (1, 3, 24, 20), (40, 1, 30)]:
        moving = [d for d in range(len(shape)) if shape[d] > 1]
        for order in itertools.permutations(moving):
            g = DATA[data](rng, shape)
            a = noisy(rng, np.squeeze(g).transpose([moving.index(d) for d in order]), noise).astype(np.float32)
            yield {"shape"}, a, g.astype(np.float32)
            yield {"shape"}, g.astype(np.float32)[..., None], a


@kind("flat, channels last")
def _(rng, data, noise):
    for shape in SHAPES[4]:
        g = DATA[data](rng, shape)
        a = noisy(rng, g.transpose(0, 2, 3, 1), noise).astype(np.float32)
        yield {"layout", "permutation", "rotated"}, a.ravel(), g.astype(np.float32)
        yield {"layout", "permutation", "rotated"}, a.reshape(shape[0], -1), g.astype(np.float32)


@kind("flat, in order")
def _(rng, data, noise):
    for shape in SHAPES[3] + SHAPES[4]:
        g = DATA[data](rng, shape)
        yield {"shape"}, noisy(rng, g, noise).astype(np.float32).ravel(), g.astype(np.float32)


@kind("a padded layout, taken for kLINEAR")
def _(rng, data, noise):
    for code, shape in itertools.product(range(129, 141), [(1, 3, 10, 12), (2, 6, 9, 8), (1, 20, 6, 7)]):
        if code in (134, 135, 138, 140):
            continue
        g = DATA[data](rng, shape)
        a = noisy(rng, g, noise).astype(np.float32).ravel()
        at = np.array(layouts.places(code, shape, FLOAT32))
        held = np.zeros(layouts.count(layouts.stored_shape(code, shape, FLOAT32)), np.float32)
        held[at] = a
        if held.size == a.size:
            continue
        yield {"layout"}, held, g.astype(np.float32)


@kind("channels last, scaled and shifted")
def _(rng, data, noise):
    for shape in SHAPES[4]:
        g = DATA[data](rng, shape)
        a = noisy(rng, g.transpose(0, 2, 3, 1), noise) * rng.choice([0.5, 1 / 255, 3]) + rng.choice([0, 0.5])
        yield {"permutation", "layout", "rotated"}, a.astype(np.float32).reshape(shape), g.astype(np.float32)
        yield {"shape", "permutation", "layout", "rotated"}, a.astype(np.float32), g.astype(np.float32)


FULL = {code: (1, 64, 8, 32) for code in (0, 129, 130, 131, 132, 133, 136, 137, 138, 139)}
FULL.update({code: (1, 64, 3, 8, 32) for code in (134, 135, 140)})
FULL[138] = (1, 4, 8, 32)


@kind("12 layouts, called kLINEAR")
def _(rng, data, noise):
    for code, shape in FULL.items():
        g = DATA[data](rng, shape)
        a = noisy(rng, g, noise).astype(np.float32).ravel()
        at = np.array(layouts.places(code, shape, FLOAT32))
        assert sorted(at) == list(range(a.size)), code  # no padding
        if np.array_equal(at, np.arange(a.size)):
            continue
        held = np.empty_like(a)
        held[at] = a
        yield {"layout", "permutation", "shuffled"}, held.reshape(shape), g.astype(np.float32)


@kind("another of 12 layouts than it says")
def _(rng, data, noise):
    for code, shape in FULL.items():
        others = [o for o in FULL if o != code and len(FULL[o]) == len(shape) and FULL[o][1] == shape[1]]
        if code == layouts.LINEAR or not others:
            continue
        other = others[rng.integers(len(others))]
        g = DATA[data](rng, shape)
        a = noisy(rng, g, noise).astype(np.float32).ravel()
        right, wrong = (np.array(layouts.places(c, shape, FLOAT32)) for c in (code, other))
        if np.array_equal(right, wrong):
            continue
        held = np.empty_like(a)
        held[right] = a
        yield {"layout", "permutation", "shuffled"}, Stored(held[wrong].reshape(shape), other), g.astype(np.float32)


@kind("dims reversed")
def _(rng, data, noise):
    for rank in SHAPES:
        for shape in SHAPES[rank]:
            for count in range(1, rank + 1):
                for axes in itertools.combinations([d for d in range(rank) if shape[d] > 1], count):
                    g = DATA[data](rng, shape)
                    a = noisy(rng, np.flip(g, axes), noise).astype(np.float32)
                    yield {"mirrored", "rotated", "channels-reversed", "shift"}, a, g.astype(np.float32)


def swapped(x, change):
    bits = x.dtype.itemsize * 8
    code = np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}")
    if change == "bytes":
        code = code.byteswap()
    elif change == "halves":
        code = (code << (bits // 2)) | (code >> (bits // 2))
    else:
        code = (code << 4) | (code >> 4)
    return code.view(x.dtype)


@kind("bytes or halves exchanged")
def _(rng, data, noise):
    for dtype, change in itertools.product(["float16", "bfloat16", "float32", "float64", "int16", "int32"], ["bytes", "halves"]):
        numpy = np.dtype(getattr(ml_dtypes, dtype, None) or dtype)
        if change == "halves" and numpy.itemsize < 4:
            continue
        scale = {"int16": 3000, "int32": 1e8}.get(dtype, 1)
        for shape in [(1, 16, 12, 12), (40, 30)]:
            g = DATA[data](rng, shape) * scale
            a = noisy(rng, g, noise).astype(numpy)
            yield {"byte-order"}, swapped(a, change), g.astype(numpy)


@kind("nibbles exchanged")
def _(rng, data, noise):
    for dtype in ["int8", "uint8", "int4", "uint4"]:
        numpy = np.dtype(getattr(ml_dtypes, dtype, None) or dtype)
        info = ml_dtypes.iinfo(numpy)
        middle = 0 if info.min < 0 else info.max / 2
        for shape in [(1, 16, 12, 12), (40, 30)]:
            x = DATA[data](rng, shape)
            g = middle + (x - x.mean()) / x.std() * info.max / (5 if info.min < 0 else 8)
            both = [np.clip(np.rint(v), info.min, info.max).astype(numpy) for v in (noisy(rng, g, noise), g)]
            if dtype.endswith("4"):
                both[0] = both[0].reshape(-1, 2)[:, ::-1].reshape(shape)
            else:
                both[0] = swapped(both[0], "nibbles")
            yield {"nibble-order"}, both[0], both[1]


@kind("channels last, codes and halves")
def _(rng, data, noise):
    for dtype, scale in [("float16", 1), ("bfloat16", 1), ("float8_e4m3fn", 1), ("int8", 30)]:
        numpy = np.dtype(getattr(ml_dtypes, dtype, None) or dtype)
        for shape in SHAPES[4]:
            g = DATA[data](rng, shape)
            g = (g - g.mean()) * scale
            a = noisy(rng, g.transpose(0, 2, 3, 1), noise)
            a = (np.clip(np.rint(a), -128, 127) if dtype == "int8" else a).astype(numpy)
            yield {"permutation", "layout", "rotated"}, a.reshape(shape), g.astype(np.float32)
            yield {"shape", "permutation", "layout", "rotated"}, a, g.astype(np.float32)


@kind("channels last, codes times a scale")
def _(rng, data, noise):
    for shape in SHAPES[4]:
        g = DATA[data](rng, shape)
        a = noisy(rng, g.transpose(0, 2, 3, 1), noise)
        step = np.abs(g).max() / 127
        a = (np.clip(np.rint(a / step), -128, 127) * step).astype(np.float32)
        yield {"permutation", "layout", "rotated"}, a.reshape(shape), g.astype(np.float32)
        yield {"shape", "permutation", "layout", "rotated"}, a, g.astype(np.float32)


def healthy(rng, data, noise):
    for shape in itertools.chain(*SHAPES.values(), [(1, 3, 32, 32), (2000,), (1, 1, 28, 28)]):
        g = DATA[data](rng, shape)
        yield noisy(rng, g, noise).astype(np.float32), g.astype(np.float32)


def unrelated(rng, data, noise):
    """Another tensor of the same kind; where it is an image, sines, ramps and spots of other phases, too."""
    for shape in itertools.chain(*SHAPES.values(), [(1, 3, 32, 32), (2000,), (1, 1, 28, 28)]):
        a, g = (noisy(rng, DATA[data](rng, shape), noise) for _ in range(2))
        yield a.astype(np.float32), g.astype(np.float32)
        if data != "image":
            continue
        at = np.meshgrid(*[np.arange(n) / n for n in shape], indexing="ij")
        wave = [sum(np.sin(2 * np.pi * rng.uniform(0.5, 3) * x + rng.uniform(0, 6)) for x in at) for _ in range(2)]
        ramp = [sum(rng.standard_normal() * x for x in at) for _ in range(2)]
        spot = [np.exp(-30 * sum((x - rng.uniform(0, 1)) ** 2 for x in at)) for _ in range(2)]
        for a, g in (wave, ramp, spot):
            if min(np.std(a), np.std(g)) > 1e-3:
                yield noisy(rng, a, noise).astype(np.float32), noisy(rng, g, noise).astype(np.float32)


def partly(rng, data, noise):
    """Right but for a tenth of it, which is another tensor's; the same numbers in any order."""
    for shape in itertools.chain(*SHAPES.values()):
        x, y = (DATA[data](rng, shape) for _ in range(2))
        some = rng.random(shape) < 0.1
        yield noisy(rng, np.where(some, y, x), noise).astype(np.float32), x.astype(np.float32)
        yield noisy(rng, rng.permutation(x.ravel()).reshape(shape), noise).astype(np.float32), x.astype(np.float32)


def other_dims(rng, data, noise):
    """Another tensor of the same kind, of the same dims in another order, without some, or flat; and small ones."""
    for shape in itertools.chain(*SHAPES.values(), [(1, 3, 32, 32), (2000,), (1, 1, 28, 28), (1, 4, 3, 2), (2, 3), (1, 8, 4, 2)]):
        a, g = (noisy(rng, DATA[data](rng, shape), noise).astype(np.float32) for _ in range(2))
        yield np.ascontiguousarray(a.transpose(rng.permutation(len(shape))))[None], g
        yield a.ravel()[None], g
        yield a.reshape(-1, 1, shape[-1]), g


NONE = {"no cause: unrelated, of other dims": other_dims, "no cause: noise alone": healthy, "no cause: unrelated": unrelated, "no cause: a tenth is wrong, any order": partly}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool", type=os.path.abspath)
    parser.add_argument("--pairs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--options", default="", help="of diff: --close")
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    options = args.options.split()
    print(f"{'kind':42}" + "".join(f"{noise:>14g}" for noise in NOISES))
    missed = false = 0
    low = []
    with tempfile.TemporaryDirectory() as scratch:
        for name, make in KINDS.items():
            if args.only not in name:
                continue
            line = ""
            for noise in NOISES:
                made = [(data, *pair) for data in DATA for n in range(args.pairs)
                        for pair in make(random_of(name, data, noise, n, args.seed), data, noise)]
                found = tried = other = 0
                for (data, names, actual, _), said in zip(made, hints(args.tool, [p[2:] for p in made], scratch, *options)):
                    if said is None:
                        continue
                    tried += 1
                    found += said[0] in names
                    other += said[0] not in names and said[0] != "nothing"
                    if said[0] not in names and args.show:
                        shape = getattr(actual, "array", actual).shape
                        print(f"{name} | {data} {noise} {shape}: {': '.join(said)}")
                missed += tried - found
                if found < min(LEAST * tried, tried - 1):
                    low.append(f"{name}, noise {noise}: {found} of {tried}")
                line += f"{found:>8}/{tried}".rjust(14) if other == 0 else f"{found}/{tried} ({other} other)".rjust(14)
            print(f"{name:42}{line}", flush=True)
        for name, make in NONE.items():
            if args.only not in name:
                continue
            line = ""
            for noise in NOISES:
                made = [(data, *pair) for data in DATA for n in range(4 * args.pairs)
                        for pair in make(random_of(name, data, noise, n, args.seed), data, noise)]
                claims = tried = 0
                for (data, actual, _), said in zip(made, hints(args.tool, [p[1:] for p in made], scratch, *options)):
                    if said is None:
                        continue
                    tried += 1
                    if said[0] in ORDER:
                        claims += 1
                        print(f"{name} | {data} {noise} {actual.shape}: {': '.join(said)}")
                false += claims
                line += f"{claims:>8}/{tried}".rjust(14)
            print(f"{name:42}{line}", flush=True)
    print(f"{missed} missed, {false} false")
    for row in low:
        print(f"less than {LEAST:.0%} found: {row}")
    sys.exit(0 if false == 0 and not low else 1)


if __name__ == "__main__":
    main()
