"""Random BTF files: canonical ones, odd ones, and broken ones."""

import layouts
from btf_writer import header, word
from elements import DTYPES, pack, sign_bit

NASTY = [0, 1, 2, 3, 7, 8, 9, 255, 256, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 32) + 1, 1 << 61, (1 << 63) - 1, 1 << 63,
         (1 << 63) + 2, (1 << 64) - 88, (1 << 64) - 16, (1 << 64) - 8, (1 << 64) - 1]


def random_code(rng, dtype):
    """Any bits; often those at the borders of the type."""
    if dtype.kind == "bool":
        return rng.randrange(2)
    mask = (1 << dtype.bits) - 1
    if rng.random() < 0.6:
        return rng.randrange(mask + 1)
    edges = [0, 1, mask, sign_bit(dtype), sign_bit(dtype) - 1, sign_bit(dtype) + 1]
    if dtype.is_float:
        infinity = ((1 << dtype.exponent) - 1) << dtype.mantissa
        one = dtype.bias << dtype.mantissa
        edges += [infinity, infinity - 1, infinity + 1, 1 << dtype.mantissa, (1 << dtype.mantissa) - 1, one, one + 1]
    code = rng.choice(edges) & mask
    return code ^ (sign_bit(dtype) if rng.random() < 0.3 else 0)


def random_dims(rng, most=60, rank=None, zeros=0.06):
    """Dims of at most so many elements."""
    rank = rng.choice([0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 5, 6]) if rank is None else rank
    dims, left = [], most
    for _ in range(rank):
        dim = 0 if rng.random() < zeros else rng.choice([1, 1, 2, 3, 4, 5, 7, 8, 9, 17, 33])
        dim = min(dim, left)
        dims.append(dim)
        left //= max(dim, 1)
    rng.shuffle(dims)
    return dims


def random_pair(rng):
    """A dtype, a layout, and dims that go with them."""
    dtype = rng.choice(DTYPES)
    kind = rng.random()
    if kind < 0.25:
        return dtype, rng.choice(layouts.COO), random_dims(rng)
    if kind < 0.5 or dtype.bits == 4:
        return dtype, layouts.LINEAR, random_dims(rng)
    layout = rng.choice([l for l in layouts.ALL_DENSE if l != layouts.SHUFFLED or dtype.bits > 8])
    least = layouts.least_rank(layout)
    dims = random_dims(rng, rank=rng.randrange(least, least + 3))
    if layout in (138, 154):
        dims[-3] = rng.choice([1, 3, 4])
    return dtype, layout, dims


def random_index(rng, dims):
    return tuple(rng.randrange(dim) for dim in dims)


class Random:
    """One file. How odd it is, is drawn once; what is odd, again and again."""

    def __init__(self, rng):
        self.rng = rng
        self.oddness = rng.choice([0, 0, 0.1, 0.4])  # of whatever a reader takes
        self.wrongness = rng.choice([0, 0, 0, 0.2])  # of records

    def odd(self):
        return self.rng.random() < self.oddness

    def byte(self):
        return self.rng.randrange(1, 256)

    def junk(self, length):
        return bytes(self.rng.choice([0, self.byte()]) for _ in range(length))

    def dense(self, dtype, layout, dims):
        codes = [random_code(self.rng, dtype) for _ in range(layouts.count(dims))]
        if dtype.kind == "bool" and self.odd():
            codes = [self.byte() if self.odd() else code for code in codes]
        fill = (lambda: random_code(self.rng, dtype) if self.odd() else 0) if self.odd() else None
        return layouts.arrange(layout, dims, dtype, codes, fill)

    def sparse(self, dtype, dims):
        rng = self.rng
        rows = []
        if layouts.count(dims):
            rows = sorted({random_index(rng, dims) for _ in range(rng.randrange(12))})
        if self.odd():
            rng.shuffle(rows)
        if rows and self.odd():
            rows += [rng.choice(rows) for _ in range(rng.randrange(1, 4))]
        codes = [random_code(rng, dtype) for _ in rows]
        if dtype.kind == "bool" and self.odd():
            codes = [self.byte() for _ in codes]
        rows = [list(row) for row in rows]
        if rows and dims and rng.random() < self.wrongness:
            d = rng.randrange(len(dims))
            rng.choice(rows)[d] = rng.choice([dims[d], dims[d] + 1, (1 << 64) - 1])
        values = bytearray(pack(dtype, codes))
        count = lambda: len(rows) if rng.random() >= self.wrongness / 2 else rng.choice([len(rows) + 1, *NASTY])
        rank = len(dims) if rng.random() >= self.wrongness / 2 else rng.randrange(8)
        return (word(count()) + word(rank) + b"".join(word(i) for row in rows for i in row) + word(count()) +
                bytes(values))

    def record(self):
        rng = self.rng
        dtype, layout, dims = random_pair(rng)
        if layout in layouts.COO:
            payload = self.sparse(dtype, dims)
        else:
            payload = bytearray(self.dense(dtype, layout, dims))
            if dtype.bits == 4 and layouts.count(dims) % 2 and self.odd():
                payload[-1] |= rng.randrange(16) << 4
        dtype_code, layout_code = dtype.code, layout
        if rng.random() < self.wrongness:
            fault = rng.randrange(5)
            if fault == 0:
                dtype_code = rng.choice([10, 42, 127, 137, 255, rng.choice(DTYPES).code])
            elif fault == 1:
                layout_code = rng.choice([3, 77, 128, 141, 153, 155, 191, 193, 255, *layouts.NAMES])
            elif fault == 2 and dims:
                dims = list(dims)
                dims[rng.randrange(len(dims))] = rng.choice([0, 1, 2, 3, 1000, *NASTY])
            elif fault == 3:
                payload = payload[:rng.randrange(len(payload) + 1)]
            else:
                dims = dims + [rng.choice([1, 2, 1 << 40])]
        reserved = self.junk(6) if self.odd() else bytes(6)
        return header(dims, dtype_code, layout_code, reserved) + bytes(payload)

    def file(self):
        rng = self.rng
        records = [self.record() for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 5]))]
        body = bytearray()
        begin = 8 + 8 * len(records)
        offsets = [0] * len(records)
        order = list(range(len(records)))
        if self.odd():
            rng.shuffle(order)
        unpadded = self.odd()
        for index in order:
            if self.odd():
                body += self.junk(rng.choice([1, 3, 8, 16, 24]))
            offsets[index] = begin + len(body)
            body += records[index]
            if not unpadded:
                padding = -len(records[index]) % 8
                body += self.junk(padding) if self.odd() else bytes(padding)
        if rng.random() < self.wrongness and offsets:
            offsets[rng.randrange(len(offsets))] = rng.choice(
                [0, 8, begin, begin + 8, rng.choice(offsets), rng.randrange(len(body) + begin + 1), *NASTY])
        if self.odd():
            body += self.junk(rng.choice([1, 7, 8, 40]))
        data = bytearray(word(len(records)) + b"".join(map(word, offsets)) + body)
        if rng.random() < self.wrongness:
            self.damage(data)
        return bytes(data)

    def damage(self, data):
        """What neither a record nor the table intended."""
        rng = self.rng
        fault = rng.randrange(3)
        if fault == 0:
            del data[rng.randrange(len(data) + 1):]
        elif fault == 1 and len(data) >= 8:
            at = rng.randrange(0, len(data) - 7, 8)
            data[at:at + 8] = word(rng.choice([len(data), len(data) + 1, len(data) - 8, *NASTY]))
        else:
            for _ in range(rng.randrange(1, 4)):
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def random_file(rng):
    return Random(rng).file()


def damaged_file(rng, data):
    data = bytearray(data)
    while data and rng.random() < 0.7:
        Random(rng).damage(data)
    return bytes(data)
