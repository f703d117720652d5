"""Canonical files and their goldens."""

import numpy as np

from . import elements, layouts, wire
from .elements import Lcg, codes_of, counting

VOLUME = (3, 5, 7)  # [D, H, W] of the layout files
BELOW_AT_ABOVE = (-1, 0, 1)


def files():
    made = {}
    made.update(dtype_files())
    made.update(layout_files())
    made.update(channel_files())
    made.update(shuffled_files())
    made.update(coo_files())
    made.update(shape_files())
    made.update(mixed_files())
    return made


def linear_file(tensors):
    """tensors: (dtype, codes)"""
    return wire.canonical_file([wire.dense(dtype, codes) for dtype, codes in tensors])


# Element types


def dtype_codes(dtype):
    """Codes that show a type's extremes, in a shape whose element count is odd for 4-bit types."""
    bits = wire.DTYPES[dtype][1]
    shape = (3, 3, 5) if bits == 4 else (2, 3, 5)
    count = int(np.prod(shape))
    if dtype == "bool":
        first = [0, 1]
    elif dtype == "float8_e8m0fnu":
        first = [0x00, 0x01, 0x7E, 0x7F, 0x80, 0xFD, 0xFE, 0xFF]
    elif dtype in elements.FLOATS:
        first = elements.special_codes(dtype)
    else:
        half = 1 << (bits - 1)  # the least signed number, or the middle of the unsigned ones
        first = [0, 1, half - 1, half, half + 1, 2 * half - 2, 2 * half - 1]
    if bits == 4:
        rest = [number % 16 for number in range(count)]
    elif dtype == "bool":
        rest = [number // 3 % 2 for number in range(count)]
    else:
        lcg = Lcg(bits)
        rest = [lcg.below(2**31) * (2**33 + 5) % 2**bits for _ in range(count)]
    return np.array((first + rest)[:count], f"u{max(bits, 8) // 8}").reshape(shape)


def dtype_files():
    all_types = [(dtype, dtype_codes(dtype)) for dtype in wire.DTYPES]
    small_types = ["float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float4_e2m1fn", "int4", "uint4", "float8_e4m3fnuz",
                   "float8_e5m2fnuz", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz"]
    small = [(dtype, np.arange(2 ** wire.DTYPES[dtype][1], dtype="u1")) for dtype in small_types]
    return {
        "dtypes.btf": linear_file(all_types),
        "dtypes.float64.btf": linear_file(("float64", elements.widened(*tensor, "float64")) for tensor in all_types),
        "small_codes.btf": linear_file(small),
        "small_codes.float32.btf": linear_file(("float32", elements.widened(*tensor, "float32")) for tensor in small),
    }


# Layouts


def with_linear_golden(stem, tensors):
    """tensors: (dtype, codes, layout)"""
    return {
        f"{stem}.btf": wire.canonical_file([layouts.record(*tensor) for tensor in tensors]),
        f"{stem}.linear.btf": linear_file((dtype, codes) for dtype, codes, _ in tensors),
    }


def layout_files():
    """The same values in every layout: [1, 3, 5, 7], and [1, 3, 3, 5, 7] where the layout has a depth."""
    made = {}
    for stem, dtype in (("layouts_f16", "float16"), ("layouts_i8", "int8"), ("layouts_f32", "float32")):
        tensors = []
        for layout, (_, least_rank, _) in layouts.LAYOUTS.items():
            shape = (1, 3) + (VOLUME if least_rank == 4 else VOLUME[1:])
            tensors.append((dtype, counting(dtype, shape), layout))
        made.update(with_linear_golden(stem, tensors))
    return made


def shuffled_files():
    """Every type whose elements have several bytes; rank 0, one element, no element."""
    tensors = []
    for dtype, (_, bits) in wire.DTYPES.items():
        if bits > 8:
            lcg = Lcg(bits)
            codes = [lcg.below(2**31) * (2**33 + 5) % 2**bits for _ in range(105)]
            tensors.append((dtype, np.array(codes, f"u{bits // 8}").reshape(3, 5, 7)))
    tensors += [("float32", counting("float32", shape)) for shape in ((), (1,), (1, 2, 3, 5))]
    tensors.append(("float64", np.zeros((2, 0), "u8")))
    return {
        "shuffled.btf": wire.canonical_file([layouts.shuffled_record(*tensor) for tensor in tensors]),
        "shuffled.linear.btf": linear_file(tensors),
    }


def channel_files():
    """Per layout: C below, at and above the vector width, then the least rank, then two leading dims."""
    widths = {"chw2": 2, "hwc8": 8, "chw4": 4, "chw16": 16, "chw32": 32, "dhwc8": 8, "cdhw32": 32, "hwc16": 16}
    unpadded = {"hwc": 2, "dhwc": 2}  # no lanes: C = 1, 2, 3
    made = {}
    for layout, width in {**widths, **unpadded}.items():
        dtype = "int8" if layout in ("chw4", "chw32") else "float16"
        space = (3, 3, 5) if layouts.LAYOUTS[layout][1] == 4 else (3, 5)
        shapes = [(1, width + step) + space for step in BELOW_AT_ABOVE]
        shapes += [(width + 1,) + space, (2, 2, width + 1) + space]
        made.update(with_linear_golden(f"layout_{layout}_c", [(dtype, counting(dtype, s), layout) for s in shapes]))
    made.update(dla_files())
    return made


def dla_files():
    """The DLA layouts pad the row, so here it is W that is below, at and above a step; DLA_HWC4 has C = 1, 3, 4."""
    linear_shapes = [(1, 3, 3, 32 + step) for step in BELOW_AT_ABOVE] + [(3, 3, 33), (2, 2, 3, 3, 33)]
    hwc4 = []
    for layout, row_bytes in (("dla_hwc4", 64), ("dla_hwc4_xavier", 32)):
        for channels, stored_channels in ((1, 1), (3, 4), (4, 4)):
            row = row_bytes // stored_channels // 2  # elements of float16
            shapes = [(1, channels, 3, row + step) for step in BELOW_AT_ABOVE]
            hwc4 += [("float16", counting("float16", shape), layout) for shape in shapes]
        hwc4 += [("float16", counting("float16", shape), layout) for shape in ((3, 3, 5), (2, 2, 3, 3, 5))]
    linear = [("float16", counting("float16", shape), "dla_linear") for shape in linear_shapes]
    return {**with_linear_golden("layout_dla_linear_c", linear), **with_linear_golden("layout_dla_hwc4_c", hwc4)}


# COO

NEGATIVE_ZERO, NAN_WITH_PAYLOAD = 0x80000000, 0x7FC0BEEF  # float32

# (dtype, dims, {index: code}); canonical: ascending, no zeros
COO_TENSORS = [
    ("float32", (), {(): 0x40600000}),  # 3.5
    ("int64", (), {}),
    ("float32", (9,), {(0,): 0x3F800000, (2,): NEGATIVE_ZERO, (5,): NAN_WITH_PAYLOAD, (6,): 0xFF800000, (8,): 1}),
    ("bool", (11,), {(0,): 1, (3,): 1, (10,): 1}),
    ("int64", (4, 6), {(0, 5): 1, (1, 0): 2**63, (1, 1): 2**63 - 1, (3, 5): 2**64 - 1}),
    ("int4", (5, 7), {(0, 0): 8, (1, 6): 7, (2, 3): 15, (4, 0): 1, (4, 6): 9}),
    ("float16", (2, 3, 4), {(0, 0, 1): 0x3C00, (0, 2, 3): 0x8000, (1, 0, 0): 0x7C00, (1, 2, 3): 0x0001}),
    ("float32", (3, 4, 5), {}),
    ("float16", (1, 3, 8, 8), {(0, 0, 7, 7): 0x4200, (0, 1, 0, 0): 0xC200, (0, 2, 7, 6): 0x7BFF}),
    ("int4", (2, 2, 3, 3), {(0, 0, 0, 1): 3, (0, 1, 2, 2): 12, (1, 0, 0, 0): 5, (1, 1, 2, 2): 10}),
    ("int64", (2, 1, 3, 2, 2), {(0, 0, 2, 1, 1): 42, (1, 0, 0, 0, 0): 2**64 - 42}),
    ("bool", (1, 2, 1, 2, 3), {(0, 1, 0, 1, 2): 1}),
    ("float32", (0, 4), {}),
    ("float32", (2, 3), {(i, j): 0x3F800000 + 3 * i + j for i in range(2) for j in range(3)}),  # nothing is zero
]

# (dtype, dims, [(index, code)]); in any order, with explicit zeros
UNSORTED_TENSORS = [
    ("float32", (8,), [((7,), 0x40E00000), ((0,), 0), ((3,), NEGATIVE_ZERO), ((1,), NAN_WITH_PAYLOAD), ((2,), 0)]),
    ("float32", (3, 4), [((2, 1), 0x3F800000), ((0, 3), 0x40000000), ((2, 0), 0), ((1, 3), 0x40400000), ((0, 0), 1)]),
    ("int4", (3, 3), [((2, 2), 15), ((1, 1), 0), ((0, 1), 8)]),
    ("float16", (2, 2, 300), [((1, 0, 256), 0x3C00), ((1, 0, 1), 0x4000), ((0, 1, 299), 0), ((0, 1, 2), 0x8000)]),
]


def coo_record(dtype, dims, entries, layout_code=wire.COO):
    return wire.raw_coo(dtype, layout_code, dims, [index for index, _ in entries], [code for _, code in entries])


def densified(dtype, dims, entries):
    codes = np.zeros(dims, f"u{max(wire.DTYPES[dtype][1], 8) // 8}")
    for index, code in entries:
        codes[index] = code
    return dtype, codes


def coo_files():
    canonical = [(dtype, dims, sorted(entries.items())) for dtype, dims, entries in COO_TENSORS]
    in_order = [(dtype, dims, sorted(entries)) for dtype, dims, entries in UNSORTED_TENSORS]
    return {
        "coo_code2.btf": wire.canonical_file([coo_record(*tensor) for tensor in canonical]),
        "coo_code1.btf": wire.canonical_file([coo_record(*tensor, wire.COO_TFRT) for tensor in canonical]),
        "coo_code2.dense.btf": linear_file(densified(*tensor) for tensor in canonical),
        "coo_unsorted.btf": wire.canonical_file([coo_record(*tensor) for tensor in UNSORTED_TENSORS]),
        "coo_unsorted.canonical.btf": wire.canonical_file([coo_record(*tensor) for tensor in in_order]),
        "coo_unsorted.dense.btf": linear_file(densified(*tensor) for tensor in in_order),
    }


# Shapes at the edge


def shape_files():
    scalars = [("float32", 0x40490FDB), ("int8", 0x80), ("float64", 0x7FF0000000000000), ("int4", 9), ("bool", 1)]
    empty_f32, empty_f16, empty_i8 = (np.zeros(0, unsigned) for unsigned in ("u4", "u2", "u1"))
    zero_dims = [wire.dense("float32", empty_f32.reshape(shape)) for shape in ((0,), (3, 0, 2), (0, 0), (2**32, 0))]
    zero_dims += [wire.dense("int4", empty_i8.reshape(0, 3)), coo_record("float32", (0, 4), [])]
    zero_dims += [layouts.record("float16", empty_f16.reshape(shape), "hwc8") for shape in ((1, 0, 3, 5), (1, 3, 0, 5))]
    zero_dims += [layouts.record("int8", empty_i8.reshape(0, 3, 5, 7), "chw32")]
    zero_dims += [layouts.record("int8", empty_i8.reshape(1, 3, 5, 0), layout) for layout in ("dla_linear", "dla_hwc4")]
    deep = np.array([1, 2, 255], "u1")
    deep_dims = [1] * 100 + [3] + [1] * 154
    many = [codes_of("int32", [10 * number + k for k in range(1 + number % 3)]) for number in range(300)]
    return {
        "empty.btf": wire.canonical_file([]),
        "scalars.btf": linear_file((dtype, np.array(code, "u8")) for dtype, code in scalars),
        "zero_dims.btf": wire.canonical_file(zero_dims),
        "rank255.btf": wire.canonical_file([wire.raw_dense(wire.DTYPES["uint8"][0], 0, deep_dims, deep.tobytes())]),
        "many.btf": linear_file(("int32", codes) for codes in many),
    }


# A small realistic file, and the same with noise

NOISY_PIXELS = ((0, 0, 2, 3), (0, 1, 4, 4), (0, 2, 7, 0))
NOISE = 1e-3
NAN_WEIGHT = (5, 1, 1, 2)


def smooth_image():
    """[1, 3, 8, 8] between 0 and 1: a bowl in each channel, from +, - and * alone so that every machine agrees."""
    channel, row, column = np.meshgrid(np.arange(3), np.arange(8) / 7, np.arange(8) / 7, indexing="ij")
    bowl = row * (1 - row) + column * (1 - column)
    return (0.125 + 0.25 * channel + 0.5 * bowl).astype("f4").reshape(1, 3, 8, 8)


def small_weights():
    lcg = Lcg(1)
    return np.array([(lcg.below(2**16) - 2**15) / 2**17 for _ in range(16 * 27)], "f4").reshape(16, 3, 3, 3)


def sparse_entries():
    lcg = Lcg(2)
    cells = sorted({(lcg.below(64), lcg.below(64)) for _ in range(20)})
    return [(cell, int(codes_of("float32", (lcg.below(256) + 1) / 16))) for cell in cells]


def mixed_file(image, weights):
    return wire.canonical_file(
        [
            wire.dense("float32", image.view("u4")),
            wire.dense("float32", weights.view("u4")),
            wire.dense("int64", codes_of("int64", [1, 3, 8, 8])),
            coo_record("float32", (64, 64), sparse_entries()),
        ]
    )


def mixed_files():
    image, weights = smooth_image(), small_weights()
    noisy_image, noisy_weights = image.copy(), weights.copy()
    for pixel in NOISY_PIXELS:
        noisy_image[pixel] = np.float32(float(image[pixel]) * (1 + NOISE))
    noisy_weights[NAN_WEIGHT] = np.nan
    return {"mixed.btf": mixed_file(image, weights), "mixed_noisy.btf": mixed_file(noisy_image, noisy_weights)}
