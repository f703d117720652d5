"""Files that are readable but not canonical, each beside the canonical file it must become."""

import numpy as np

from . import good, layouts, wire
from .elements import codes_of, counting

JUNK = bytes([0xDE, 0xAD, 0xBE, 0xEF, 0x55, 0xAA, 0x01])  # no zero in it


def junk(count):
    return (JUNK * (count // len(JUNK) + 1))[:count]


def files():
    made = {}
    for name, (odd_file, canonical_records) in {**placement_oddities(), **content_oddities()}.items():
        made[f"{name}.btf"] = odd_file
        made[f"{name}.canonical.btf"] = wire.canonical_file(canonical_records)
    made["coo_duplicate_index.btf"] = duplicate_indices()
    return made


def plain_records():
    """Three records whose sizes are no multiples of 8."""
    return [
        wire.dense("int8", codes_of("int8", [[1, -2, 3], [-4, 5, -6]])),
        wire.dense("float32", codes_of("float32", [0.5, -1.25, 3.75])),
        wire.dense("uint16", codes_of("uint16", [[1000], [2000], [65535]])),
    ]


def placement_oddities():
    """Name -> (file, canonical records): right records in the wrong places, or with junk around them."""
    records = plain_records()
    whole = [wire.padded(record) for record in records]
    offsets = wire.contiguous_offsets(whole)

    backwards = list(reversed(wire.contiguous_offsets(whole[::-1])))
    spread = [offset + 24 * k for k, offset in enumerate(offsets)]
    with_gaps = bytearray(wire.file_at(whole, spread))
    for end in spread[1:]:
        with_gaps[end - 24 : end] = junk(24)

    return {
        "unpadded_last": (wire.file_at(whole[:-1] + records[-1:], offsets), records),
        "misaligned_offsets": (wire.file_at(records, wire.contiguous_offsets(records)), records),
        "reserved_not_zero": (wire.canonical_file([r[:10] + junk(6) + r[16:] for r in records]), records),
        "padding_not_zero": (wire.canonical_file([r + junk(wire.padding(len(r))) for r in records]), records),
        "offsets_not_ascending": (wire.file_at(whole, backwards), records),
        "gap_between_records": (bytes(with_gaps), records),
        "trailing_bytes": (wire.canonical_file(records) + junk(13), records),
    }


def content_oddities():
    """Name -> (file, canonical records): bytes that carry no value, or one value in several spellings."""
    flags = np.array([[0, 1, 2, 255, 0], [128, 1, 0, 254, 1]], "u1")
    bools = [
        wire.dense("bool", flags),
        wire.dense("int8", codes_of("int8", [2, -1])),
        good.coo_record("bool", (4,), [((0,), 2), ((3,), 255)]),
    ]
    lanes = [  # a lane filled with NaN would show in any statistics that reads it
        ("float16", counting("float16", (1, 3, 3, 5)), "hwc8", 0x7E5A),
        ("int8", counting("int8", (1, 6, 2, 3)), "chw4", 0x5A),
        ("float16", counting("float16", (1, 3, 3, 5)), "dla_hwc4", 0x7E5A),
    ]
    return {
        "bool_byte": (wire.canonical_file(bools), bools),
        "lane_padding_not_zero": (
            wire.canonical_file([layouts.record(*tensor) for tensor in lanes]),
            [layouts.record(*tensor[:3]) for tensor in lanes],
        ),
        "spare_nibble_not_zero": (
            wire.canonical_file(nibble_records(spare_nibble=0xA)),
            nibble_records(spare_nibble=0),
        ),
    }


def nibble_records(spare_nibble):
    def dense(dtype, codes):
        data = wire.pack(dtype, codes, spare_nibble)
        return wire.raw_dense(wire.DTYPES[dtype][0], wire.LINEAR, codes.shape, data)

    return [
        dense("int4", np.array([1, 15, 8, 7, 3], "u1")),
        dense("float4_e2m1fn", np.arange(9, dtype="u1").reshape(3, 3)),
        wire.raw_coo("uint4", wire.COO, (4, 4), [(0, 1), (2, 2), (3, 0)], [5, 9, 15], spare_nibble=spare_nibble),
    ]


def duplicate_indices():
    """Cell (1, 2) three times, (3, 3) twice; a dense record beside it."""
    entries = [((0, 1), 1.0), ((1, 2), 2.0), ((3, 3), 0.25), ((1, 2), 4.0), ((1, 2), -1.0), ((3, 3), 0.5)]
    sparse = [(index, int(codes_of("float32", value))) for index, value in entries]
    return wire.canonical_file([plain_records()[0], good.coo_record("float32", (4, 4), sparse)])
