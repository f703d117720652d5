"""What convert's edits of dims make of a tensor (docs/convert.md, section 7), said with Python's own slices and ranges."""

from itertools import product

import layouts
from harness import Refused


class Text:
    """A slice or an index as the command line says it."""

    def __init__(self, part):
        self.part = part

    def __str__(self):
        if not isinstance(self.part, slice):
            return str(self.part)
        text = ":".join("" if n is None else str(n) for n in (self.part.start, self.part.stop))
        return text if self.part.step is None else f"{text}:{self.part.step}"


def dim_of(number, rank):
    if not -rank <= number < rank:
        raise Refused
    return number % rank


def select(dims, cells, parts):
    """The positions that every dim keeps, and the dims that are left."""
    if len(parts) > len(dims):
        raise Refused
    positions, left = [], []
    for d, dim in enumerate(dims):
        part = parts[d] if d < len(parts) else slice(None)
        if isinstance(part, slice):
            positions.append(range(dim)[part])
            left.append(len(positions[-1]))
        else:
            positions.append([dim_of(part, dim)])
    return left, [cells[layouts.row_major(dims, index)] for index in product(*positions)]


def apply_one(dims, cells, kind, value):
    if kind == "permute":
        if sorted(value) != list(range(len(dims))):
            raise Refused
        turned = [dims[d] for d in value]
        back = [value.index(d) for d in range(len(dims))]
        return turned, [cells[layouts.row_major(dims, [index[d] for d in back])] for index in layouts.indices(turned)]
    if kind == "slice":
        return select(dims, cells, value)
    if kind == "squeeze":
        if value is None:
            return [dim for dim in dims if dim != 1], cells
        gone = [dim_of(number, len(dims)) for number in value]
        if len(set(gone)) < len(gone) or any(dims[d] != 1 for d in gone):
            raise Refused
        return [dim for d, dim in enumerate(dims) if d not in gone], cells
    if kind == "unsqueeze":
        at = dim_of(value, len(dims) + 1)
        return [*dims[:at], 1, *dims[at:]], cells
    known = layouts.count([dim for dim in value if dim != -1])
    if value.count(-1) > 1 or min(value) < -1 or (-1 in value and (known == 0 or len(cells) % known)):
        raise Refused
    dims = [len(cells) // known if dim == -1 else dim for dim in value]
    if layouts.count(dims) != len(cells):
        raise Refused
    return dims, cells


def apply(dims, edits):
    """The dims of the result, and for each of its elements in row-major order the row-major number of the source's."""
    dims, cells = list(dims), list(range(layouts.count(dims)))
    for kind, value in edits:
        dims, cells = apply_one(dims, cells, kind, value)
    return dims, cells


def arguments(edits):
    words = []
    for kind, value in edits:
        if value is None:
            words.append(f"--{kind}")
        else:
            parts = value if isinstance(value, (list, tuple)) else [value]
            words.append(f"--{kind}=" + ",".join(str(Text(part)) for part in parts))
    return words


def random_slice(rng, dims):
    def bound(dim):
        return rng.choice([None, None, rng.randrange(-dim - 2, dim + 3)])

    parts = []
    for dim in dims[:rng.choice([len(dims), len(dims), rng.randrange(len(dims) + 1)])]:
        kind = rng.random()
        if kind < 0.15 and dim:
            parts.append(rng.randrange(-dim, dim))
        elif kind < 0.45:
            parts.append(slice(None))
        else:
            parts.append(slice(bound(dim), bound(dim), rng.choice([None, None, 1, 2, 3, 4, 8, 17, -1, -1, -2, -5])))
    return parts or [slice(None)]


def random_reshape(rng, dims):
    """Neighbours joined, dims split, or any shape of as many elements."""
    count = layouts.count(dims)
    if count == 0 or rng.random() < 0.02:
        return rng.choice([[count, 1], [0, 3], [-1], [2, count]])
    sizes = list(dims)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(sizes)) if sizes else 0
        if len(sizes) > 1 and rng.random() < 0.5:
            at = min(at, len(sizes) - 2)
            sizes[at:at + 2] = [sizes[at] * sizes[at + 1]]
        elif sizes:
            divisors = [d for d in range(1, min(sizes[at], 64) + 1) if sizes[at] % d == 0]
            outer = rng.choice(divisors)
            sizes[at:at + 1] = [outer, sizes[at] // outer]
    sizes = sizes or [1]
    if rng.random() < 0.4:
        sizes[rng.randrange(len(sizes))] = -1
    return sizes


def random_edits(rng, dims, most=4):
    """A chain that mostly goes with the dims."""
    edits, dims = [], list(dims)
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3, most])):
        rank = len(dims)
        kind = rng.choice(["permute", "permute", "slice", "slice", "squeeze", "unsqueeze", "reshape"])
        if kind == "permute":
            value = rng.sample(range(rank), rank)
        elif kind == "slice":
            value = random_slice(rng, dims)
        elif kind == "squeeze":
            ones = [d for d, dim in enumerate(dims) if dim == 1]
            value = rng.choice([None, [d - rng.choice([0, rank]) for d in ones] or None])
            value = [rng.randrange(-rank, rank)] if rank and rng.random() < 0.03 else value
        elif kind == "unsqueeze":
            value = rng.randrange(-rank - 1, rank + 1)
        else:
            value = random_reshape(rng, dims)
        if value == []:
            continue
        try:
            after, _ = apply_one(dims, range(layouts.count(dims)), kind, value)
        except Refused:
            return [*edits, (kind, value)] if rng.random() < 0.5 else edits
        if len(after) > 8:
            continue
        edits.append((kind, value))
        dims = after
    return edits
