"""Writes BTF: records of any kind, and the canonical form (docs/format.md 6)."""

import layouts
from elements import pack


def word(n):
    return n.to_bytes(8, "little")


def header(dims, dtype_code, layout_code, reserved=bytes(6)):
    return word(len(dims)) + bytes([dtype_code, layout_code]) + reserved + b"".join(map(word, dims))


def dense(dtype, layout, dims, codes):
    """A record without padding; `codes` in row-major order."""
    return header(dims, dtype.code, layout) + layouts.arrange(layout, dims, dtype, codes)


def sparse(dtype, dims, rows, codes, layout=2):
    indices = b"".join(word(i) for row in rows for i in row)
    return (header(dims, dtype.code, layout) + word(len(rows)) + word(len(dims)) + indices + word(len(rows)) +
            pack(dtype, codes))


def pad(record):
    return record + bytes(-len(record) % 8)


def file(records):
    at = 8 + 8 * len(records)
    table, body = b"", b""
    for record in map(pad, records):
        table += word(at + len(body))
        body += record
    return word(len(records)) + table + body


def canonical_record(reader, record):
    """The record as a conversion without options writes it; its index must be sound and free of duplicates."""
    if record.sparse:
        entries = sorted(zip(*reader.entries(record)))
        return sparse(record.dtype, record.dims, [row for row, _ in entries], [code for _, code in entries])
    return dense(record.dtype, record.layout, record.dims, reader.codes(record))


def canonical(reader):
    return file([canonical_record(reader, record) for record in reader.records.values()])
