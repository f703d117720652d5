"""Elements that stand in other places, and places where they are wrong."""

import numpy as np

from causes import ALL, IMAGES, cause, golden_of, pick, zero_like
from tensors import FLOATS, NUMBERS, Stored, bits, layouts, numbers, rounded


def moved(what, names, shapes, kinds=None, dtypes=ALL):
    """`move(rng, x)` gives the elements of `x` where they stand then."""
    def add(move):
        def make(rng, dtype, golden_dtype, kind):
            x = numbers(rng, pick(rng, shapes), dtype, kind)
            golden = golden_of(x, dtype, golden_dtype)
            actual = np.ascontiguousarray(move(rng, rounded(x, dtype)))
            return actual.reshape(golden.shape), golden
        cause(what, names, dtypes, kinds)(make)
        return move
    return add


@moved("dims in another order", "permutation layout", [(2, 3, 12, 14), (40, 30), (32, 32), (6, 8, 10), (2, 8, 9, 9)])
def _(rng, x):
    while True:
        order = rng.permutation(x.ndim)
        if [d for d in order if x.shape[d] > 1] != sorted(d for d in order if x.shape[d] > 1):
            return x.transpose(order)


@moved("channels last under dims with channels first", "layout", IMAGES)
def _(rng, x):
    return x.transpose(0, 2, 3, 1)


@moved("shifted in row-major order", "shift", [(2, 3, 12, 14), (3000,)])
def _(rng, x):
    k = int(rng.integers(1, 40)) * pick(rng, [-1, 1])
    flat = np.roll(x.ravel(), k)
    if rng.random() < 0.5:
        flat[slice(k) if k > 0 else slice(k, None)] = zero_like(x)
    return flat


@moved("shifted along a dim", "shift", [(2, 3, 12, 14), (40, 30)])
def _(rng, x):
    return np.roll(x, int(rng.integers(1, 4)), axis=int(rng.integers(x.ndim - 2, x.ndim)))


@moved("mirrored in H or W", "mirrored", [(2, 3, 12, 14), (20, 24)])
def _(rng, x):
    return np.flip(x, axis=int(rng.integers(x.ndim - 2, x.ndim)))


@moved("turned by 180 degrees", "rotated", [(2, 3, 12, 14), (20, 24)])
def _(rng, x):
    return np.flip(x, axis=(-1, -2))


@moved("turned by 90 degrees", "rotated", [(2, 3, 12, 14), (16, 16)])
def _(rng, x):
    return np.rot90(x, pick(rng, [1, 3]), axes=(-2, -1))


@moved("RGB against BGR, channels first", "channels-reversed", [(2, 3, 12, 14), (1, 4, 10, 10), (1, 3, 16, 16)])
def _(rng, x):
    return x[:, ::-1]


@moved("RGB against BGR, channels last", "channels-reversed", [(16, 20, 3), (12, 12, 4)])
def _(rng, x):
    return x[..., ::-1] if x.shape[-1] == 3 or rng.random() < 0.5 else x[..., [2, 1, 0, 3]]


@moved("groups of channels shuffled", "shuffled", [(2, 24, 5, 6), (1, 12, 8, 8)])
def _(rng, x):
    n, c, h, w = x.shape
    groups = pick(rng, [3, 4])
    return x.reshape(n, groups, c // groups, h, w).swapaxes(1, 2)


@moved("q, k, v by heads against heads of q, k, v", "shuffled", [(30, 48), (2, 12, 96)])
def _(rng, x):
    *rest, d = x.shape
    return x.reshape(*rest, 3, 4, d // 12).swapaxes(-2, -3)


@moved("heads in another order", "shuffled", [(24, 64), (2, 12, 96)])
def _(rng, x):
    order = [3, 0, 2, 1]
    *rest, d = x.shape
    return x.reshape(*rest, 4, d // 4)[..., order, :]


@moved("heads not moved", "shuffled", [(2, 10, 48), (12, 64)])
def _(rng, x):
    *rest, t, d = x.shape
    return x.reshape(*rest, t, 4, d // 4).swapaxes(-2, -3)


@moved("interleaved against halves", "interleaved", [(30, 36), (2, 6, 7, 32)])
def _(rng, x):
    *rest, d = x.shape
    if rng.random() < 0.5:
        return x.reshape(*rest, 2, d // 2).swapaxes(-1, -2)
    return x.reshape(*rest, d // 2, 2).swapaxes(-1, -2)


@moved("the batch is its first item", "repeated", [(4, 3, 12, 14), (8, 200)])
def _(rng, x):
    return np.broadcast_to(x[:1], x.shape)


@cause("golden's batch is its first item", "repeated region", ALL)
def _(rng, dtype, golden_dtype, kind):
    x = numbers(rng, pick(rng, [(4, 3, 12, 14), (8, 200)]), dtype, kind)
    return rounded(x, dtype), np.ascontiguousarray(np.broadcast_to(golden_of(x, dtype, golden_dtype)[:1], x.shape))


def pitched(x, pitch):
    """Rows that stand `pitch` apart in memory, read as if they did not."""
    width = x.shape[-1]
    rows = x.reshape(-1, width)
    held = np.full((len(rows), max(pitch, width)), zero_like(x), x.dtype)
    held[:, :width] = rows
    return held[:, :pitch].reshape(-1)[:x.size]


@moved("rows with a pitch, read without", "pitch", [(2, 3, 12, 14), (40, 30), (1, 8, 16, 20)])
def _(rng, x):
    width = x.shape[-1]
    return pitched(x, pick(rng, [width + 1, width + 2, -(-width // 16) * 16 + 16 * (width % 16 == 0), 2 * width]))


@moved("rows without a pitch, read with one", "pitch", [(2, 3, 12, 14), (40, 30)])
def _(rng, x):
    pitch = x.shape[-1] + int(rng.integers(1, 4))
    flat = np.append(x.ravel(), np.full(x.size, zero_like(x), x.dtype))
    at = np.arange(x.size)
    return flat[np.minimum(at // x.shape[-1] * pitch + at % x.shape[-1], len(flat) - 1)]


@moved("indices of a dim in another order", "reordered", [(60, 12), (2, 30, 8), (100, 8)])
def _(rng, x):
    return np.take(x, rng.permutation(x.shape[-2]), axis=-2)


@moved("boxes in another order", "reordered", [(1, 100, 6), (300, 4)], ["normal", "relu", "smooth", "channels"],
       [t for t in NUMBERS if bits(t) >= 8])
def _(rng, x):
    score = x[..., -1].astype(np.float64).ravel()
    return x[..., np.argsort(-score, kind="stable"), :]


@moved("a list in another order", "reordered", [(200,), (1, 300)], ["normal"], [t for t in NUMBERS if bits(t) >= 32])
def _(rng, x):
    return x[..., rng.permutation(x.shape[-1])]


@moved("indices in another order, some twice", "reordered", [(60, 12), (100, 8)], ["normal", "channels"],
       [t for t in NUMBERS if bits(t) >= 8])
def _(rng, x):
    order = rng.permutation(len(x))
    order[rng.integers(1, len(x), 4)] = order[0]
    return x[order]


@moved("lost at the end", "zero-tail", [(2, 3, 12, 14), (3000,)], ["normal", "smooth", "channels"],
       [t for t in NUMBERS] + ["bool"])
def _(rng, x):
    flat = x.ravel().copy()
    flat[int(x.size * rng.uniform(0.5, 0.95)):] = zero_like(x)
    return flat


@moved("a dead channel", "region", [(2, 8, 12, 14), (24, 48)], ["normal", "smooth", "channels"], NUMBERS)
def _(rng, x):
    x = x.copy()
    x[..., int(rng.integers(1, x.shape[-1] - 1))] = zero_like(x)
    return x


@moved("a tile of another tensor", "region", [(2, 4, 12, 16), (40, 30)], ["normal", "channels"],
       [t for t in ALL if t != "bool"])
def _(rng, x):
    x = x.copy()
    part = x[..., 2:8, 3:9]
    x[..., 2:8, 3:9] = rng.permutation(part.ravel()).reshape(part.shape)
    return x


@moved("a channel of NaN", "region", [(2, 8, 12, 14)], ["normal", "smooth"],
       [t for t in FLOATS if t != "float4_e2m1fn"])
def _(rng, x):
    x = x.copy()
    x[:, 3] = np.nan
    return x


@cause("padding that was not cleared", "stale-padding", NUMBERS, ["normal", "smooth"])
def _(rng, dtype, golden_dtype, kind):
    x = numbers(rng, (2, 16, 9, 7), dtype, "normal")
    live = np.where(np.arange(16).reshape(1, 16, 1, 1) < int(rng.integers(5, 15)), x, 0)
    return rounded(x, dtype), golden_of(live, dtype, golden_dtype)


LAYOUTS = [layouts.LINEAR, 129, 130, 131, 132, 139]


@cause("bytes taken for another layout", "layout", [t for t in ALL if bits(t) >= 8])
def _(rng, dtype, golden_dtype, kind):
    shape = (1, 16, 9, 7)  # as many stored elements in all of them
    x = numbers(rng, shape, dtype, kind)
    right = wrong = np.zeros(0)
    while np.array_equal(right, wrong):
        both = [int(code) for code in rng.permutation(LAYOUTS)[:2]]
        right, wrong = (np.array(layouts.places(code, shape, None)) for code in both)
    held = np.empty(x.size, rounded(x, dtype).dtype)
    held[right] = rounded(x, dtype).ravel()
    return Stored(held[wrong].reshape(shape), both[1]), golden_of(x, dtype, golden_dtype)
