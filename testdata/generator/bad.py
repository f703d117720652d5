"""Files that are not well-formed: one per finding of `validate`, and hostile ones whose arithmetic wraps at 2^64.

Apart from its one fault a file is as sound as it can be; the faulty record comes last wherever its size is a lie,
so that the fault is not hidden behind an overlap with the next record."""

from . import layouts, wire
from .elements import codes_of, counting
from .wire import LINEAR, COO, u64

HEALTHY = wire.padded(wire.dense("float32", codes_of("float32", [1.0, 2.0, 3.0])))
CODE = {dtype: code for dtype, (code, _) in wire.DTYPES.items()}
KHWC8, KCHW4, KDLA_HWC4 = (layouts.LAYOUTS[name][0] for name in ("hwc8", "chw4", "dla_hwc4"))


def files():
    """The files and expected.tsv: file, finding code, tensor or '-'."""
    made, expected = {}, []
    for group in (whole_file_faults(), placement_faults(), record_faults(), coo_faults(), wrapping_numbers()):
        for stem, (content, finding, tensor) in group.items():
            made[f"{stem}.btf"] = content
            expected.append(f"{stem}.btf\t{finding or stem}\t{tensor}\n")
    made["expected.tsv"] = "".join(sorted(expected)).encode()
    return made


# Each function below returns stem -> (content, finding code or None when the stem is the code, tensor).


def last(faulty):
    """A healthy record, then the faulty one."""
    return wire.canonical_file([HEALTHY, faulty])


def between(faulty):
    """The faulty record, whose size in the file is honest, between two healthy ones."""
    return wire.canonical_file([HEALTHY, faulty, HEALTHY])


def whole_file_faults():
    record = wire.dense("float32", codes_of("float32", range(6)))
    return {
        "empty-file": (b"", "file-too-short", "-"),
        "file-too-short": (u64(1)[:7], None, "-"),
        "offset-table-too-long": (u64(2**61, 16) + record, None, "-"),  # 64 bytes; 8 * 2^61 wraps to 0
    }


def overlaps_header():
    """Record 0 starts at byte 8, on its own entry of the offset table, and is sound in itself: its rank is that
    entry (8), its dtype and layout are the low bytes of the second entry (128: float16, kLINEAR)."""
    dims = (2, 2, 5, 1, 1, 1, 1, 1)
    image = u64(2, 8, 128) + u64(*dims) + wire.pack("float16", counting("float16", dims))
    return image + HEALTHY


def overlapping_records():
    """Record 1 is sound, and lies within the data of record 0; record 2 is healthy."""
    data = bytes(8) + HEALTHY + bytes(8)
    outer = wire.raw_dense(CODE["uint8"], LINEAR, (len(data),), data)
    start = 8 + 3 * 8
    inner_start = start + len(outer) - len(data) + 8
    records_end = start + len(outer)
    return wire.file_at([outer, HEALTHY], [start, records_end], table=[start, inner_start, records_end])


def placement_faults():
    start = 8 + 2 * 8
    past_end = start + len(HEALTHY) + 64
    return {
        "record-offset-past-end": (wire.file_at([HEALTHY], [start], table=[start, past_end]), None, 1),
        "record-overlaps-header": (overlaps_header(), None, 0),
        "records-overlap": (overlapping_records(), None, 1),
    }


def record_faults():
    four_bytes = [2**63 + 2, 2]  # their product wraps to 4
    float16_data = wire.pack("float16", counting("float16", (24,)))
    return {
        "rank-too-large": (between(wire.raw_dense(CODE["uint8"], LINEAR, [1] * 256, b"\7")), None, 1),
        "dims-past-end": (last(wire.raw_dense(CODE["uint8"], LINEAR, [1, 1], b"", rank=200)), None, 1),
        "size-overflow": (last(wire.raw_dense(CODE["uint8"], LINEAR, four_bytes, b"\1\2\3\4")), None, 1),
        "data-past-end": (last(wire.raw_dense(CODE["float32"], LINEAR, [1000], bytes(16))), None, 1),
        "unknown-dtype": (between(wire.raw_dense(42, LINEAR, [4], bytes(16))), None, 1),
        "unknown-layout": (between(wire.raw_dense(CODE["float32"], 77, [4], bytes(16))), None, 1),
        "layout-rank": (between(wire.raw_dense(CODE["float16"], KHWC8, [8, 3], float16_data)), None, 1),
        "layout-dtype": (between(wire.raw_dense(CODE["int4"], KCHW4, [1, 4, 2, 2], bytes(8))), None, 1),
        "layout-dtype-shuffled": (between(wire.raw_dense(CODE["int8"], 192, [8], bytes(8))), "layout-dtype", 1),
        "layout-channels": (between(wire.raw_dense(CODE["int8"], KDLA_HWC4, [1, 2, 2, 5], bytes(128))), None, 1),
    }


def coo_faults():
    indices, values = [(0, 1), (2, 3)], [0x3F800000, 0x40000000]

    def coo(dims=(4, 4), indices=indices, values=values, dtype="float32", **lies):
        return wire.raw_coo(dtype, COO, dims, indices, values, **lies)

    cut = coo(dtype="float64", values=[0x3FF0000000000000, 0x4000000000000000])[:-8]
    return {
        "coo-indices-past-end": (last(coo(index_shape=(1000, 2), value_count=1000)), None, 1),
        "coo-rank-mismatch": (between(coo(indices=[(0, 1, 0), (2, 3, 0)], index_shape=(2, 3))), None, 1),
        "coo-count-mismatch": (between(coo(values=values + [0x40400000])), None, 1),
        "coo-values-past-end": (last(cut), None, 1),
        "coo-index-out-of-range": (between(coo(indices=[(0, 1), (2, 4)])), None, 1),
    }


def data_that_ends_at_zero():
    """uint8 data so long that its end, data offset + size, is 2^64: 0 where sums wrap."""
    data_offset = 8 + 2 * 8 + len(HEALTHY) + 16 + 8
    return last(wire.raw_dense(CODE["uint8"], LINEAR, [2**64 - data_offset], bytes(8)))


def wrapping_numbers():
    def dense(dtype, dims, layout=LINEAR, data=bytes(16), **lies):
        return last(wire.raw_dense(CODE[dtype], layout, dims, data, **lies))

    start = 8 + 2 * 8
    coo = wire.raw_coo("int64", COO, (4,), [], [], index_shape=(2**61, 1), value_count=2**61)
    faults = {
        "tensor-count": (u64(2**64 - 1, 16) + HEALTHY, "offset-table-too-long", "-"),  # 8 + 8 * count is 0
        "offset": (wire.file_at([HEALTHY], [start], table=[start, 2**64 - 8]), "record-offset-past-end", 1),
        "rank": (dense("uint8", [1, 1], rank=2**63), "rank-too-large", 1),  # 8 * rank is 0
        "dims": (dense("uint8", [2**32, 2**32, 1]), "size-overflow", 1),  # the product is 0
        "bytes": (dense("float64", [2**31, 2**30]), "size-overflow", 1),  # 2^61 elements are 0 bytes
        "lanes": (dense("float16", [2**64 - 1, 1, 1], layout=KHWC8), "size-overflow", 1),  # C rounds up to 0
        "nibbles": (dense("int4", [2**64 - 1]), "data-past-end", 1),  # (n + 1) / 2 is 0; the truth, 2^63, does not wrap
        "end": (data_that_ends_at_zero(), "data-past-end", 1),
        "coo-count": (last(coo), "coo-indices-past-end", 1),  # 8 * N is 0, for the indices and for the values
    }
    return {f"numbers-wrap-{name}": fault for name, fault in faults.items()}
