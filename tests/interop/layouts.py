"""Where the elements of a dense tensor stand (docs/format.md 4)."""

from itertools import product

from elements import pack, stream_bytes

LINEAR = 0
COO = (1, 2)
SHUFFLED = 192
BLOCK = 1 << 17  # elements of a block of SHUFFLED

NAMES = {
    0: "kLINEAR", 1: "coo", 2: "coo", 129: "kCHW2", 130: "kHWC8", 131: "kCHW4", 132: "kCHW16",
    133: "kCHW32", 134: "kDHWC8", 135: "kCDHW32", 136: "kHWC", 137: "kDLA_LINEAR", 138: "kDLA_HWC4",
    139: "kHWC16", 140: "kDHWC", 154: "kDLA_HWC4", 192: "shuffled",
}
VECTOR_MAJOR = {129: (3, 2), 131: (3, 4), 132: (3, 16), 133: (3, 32), 135: (4, 32)}  # code: (C from the end, lanes)
VECTOR_MINOR = {130: (3, 8), 134: (4, 8), 136: (3, 1), 139: (3, 16), 140: (4, 1)}
DLA_ROW = {137: 64, 138: 64, 154: 32}  # code: bytes that rows are a multiple of
DLA = (132, 133, 137, 138, 154)
PADDED = sorted({*VECTOR_MAJOR, *VECTOR_MINOR, *DLA_ROW})
ALL_DENSE = [LINEAR, *PADDED, SHUFFLED]


class Misfit(Exception):
    """The layout does not go with rank, dtype or dims; the argument is the code of the finding."""


def up(n, m):
    return -(-n // m) * m


def count(dims):
    total = 1
    for dim in dims:
        total *= dim
    return total


def least_rank(code):
    if code in VECTOR_MAJOR:
        return VECTOR_MAJOR[code][0]
    if code in VECTOR_MINOR:
        return VECTOR_MINOR[code][0]
    return 3 if code in DLA_ROW else 0


def check_pair(code, dims, dtype):
    """Step 9."""
    if len(dims) < least_rank(code):
        raise Misfit("layout-rank")
    if dtype.bits == 4 and code != LINEAR or dtype.bits <= 8 and code == SHUFFLED:
        raise Misfit("layout-dtype")
    if code in (138, 154) and dims[-3] not in (1, 3, 4):
        raise Misfit("layout-channels")


def stored_shape(code, dims, dtype):
    """The dims of the stored array."""
    dims = list(dims)
    if code in VECTOR_MAJOR:
        from_end, lanes = VECTOR_MAJOR[code]
        c = len(dims) - from_end
        return [*dims[:c], -(-dims[c] // lanes), *dims[c + 1:], lanes]
    if code in VECTOR_MINOR:
        from_end, lanes = VECTOR_MINOR[code]
        c = len(dims) - from_end
        return [*dims[:c], *dims[c + 1:], up(dims[c], lanes)]
    if code == 137:
        return [*dims[:-1], up(dims[-1], 64 // dtype.bytes)]
    if code in DLA_ROW:
        channels = 1 if dims[-3] == 1 else 4
        row = DLA_ROW[code] // (channels * dtype.bytes)
        return [*dims[:-3], dims[-2], up(dims[-1], row), channels]
    return dims


def sized(code, dims, dtype):
    """Step 10: do the numbers of elements, stored elements and bytes fit 64 bits? A dim of 0 counts as 1."""
    dims = [dim or 1 for dim in dims]
    stored = count(stored_shape(code, dims, dtype))
    return max(count(dims), stored, stream_bytes(dtype, stored)) < 1 << 64


def stored_index(code, index):
    """Where in the stored array an element of the tensor stands."""
    if code in VECTOR_MAJOR:
        from_end, lanes = VECTOR_MAJOR[code]
        c = len(index) - from_end
        return [*index[:c], index[c] // lanes, *index[c + 1:], index[c] % lanes]
    if code in VECTOR_MINOR or code in (138, 154):
        c = len(index) - (VECTOR_MINOR[code][0] if code in VECTOR_MINOR else 3)
        return [*index[:c], *index[c + 1:], index[c]]
    return index


def row_major(shape, index):
    at = 0
    for extent, i in zip(shape, index):
        at = at * extent + i
    return at


def indices(dims):
    return product(*map(range, dims)) if count(dims) else iter(())


def places(code, dims, dtype):
    """Of every element, in row-major order, its place in the stored array."""
    shape = stored_shape(code, dims, dtype)
    return [row_major(shape, stored_index(code, index)) for index in indices(dims)]


def strides(code, dims, dtype):
    """What one step along each dim is in the stored array, in elements; of the channels of vector-major layouts, from
    block to block. A dim of 0 counts as 1 (docs/layouts.md 5)."""
    shape = stored_shape(code, [dim or 1 for dim in dims], dtype)
    packed = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        packed[axis] = packed[axis + 1] * shape[axis + 1]
    if code in VECTOR_MAJOR:
        return packed[:-1]
    if code in VECTOR_MINOR or code in (138, 154):
        c = len(dims) - (VECTOR_MINOR[code][0] if code in VECTOR_MINOR else 3)
        return [*packed[:c], packed[-1], *packed[c:-1]]
    return packed


def shuffle(dtype, data):
    """The bytes of elements in the order of kLINEAR, apart (4.3)."""
    b = dtype.bytes
    out = bytearray()
    for start in range(0, len(data), BLOCK * b):
        block = data[start:start + BLOCK * b]
        for k in range(b):
            out += block[k::b]
    return bytes(out)


def unshuffle(dtype, data):
    b = dtype.bytes
    out = bytearray(len(data))
    for start in range(0, len(data), BLOCK * b):
        m = min(BLOCK, (len(data) - start) // b)
        for k in range(b):
            out[start + k:start + m * b:b] = data[start + k * m:start + (k + 1) * m]
    return bytes(out)


def arrange(code, dims, dtype, codes, fill=None):
    """The data of a record: codes in row-major order in the layout. `fill` gives the codes of padding."""
    if code == SHUFFLED:
        return shuffle(dtype, pack(dtype, codes))
    stored = [None] * count(stored_shape(code, dims, dtype))
    for place, element in zip(places(code, dims, dtype), codes):
        stored[place] = element
    return pack(dtype, [(fill() if fill else 0) if c is None else c for c in stored])
