"""The bytes of a BTF file: element packing, records, the offset table. No function here checks anything,
so that the files for `bad/` can be written with the same bricks."""

import struct

import numpy as np

# name: (code, bits per element), in the order of the codes.
DTYPES = {
    "int8": (0, 8),
    "int16": (1, 16),
    "int32": (2, 32),
    "int64": (3, 64),
    "float32": (4, 32),
    "float64": (5, 64),
    "uint8": (6, 8),
    "uint16": (7, 16),
    "uint32": (8, 32),
    "uint64": (9, 64),
    "float16": (128, 16),
    "bfloat16": (129, 16),
    "float8_e4m3fn": (130, 8),
    "float8_e5m2": (131, 8),
    "float8_e8m0fnu": (132, 8),
    "float4_e2m1fn": (133, 4),
    "int4": (134, 4),
    "uint4": (135, 4),
    "bool": (136, 8),
    "float8_e4m3fnuz": (137, 8),
    "float8_e5m2fnuz": (138, 8),
    "float8_e3m4": (139, 8),
    "float8_e4m3": (140, 8),
    "float8_e4m3b11fnuz": (141, 8),
}

LINEAR = 0
COO = 2  # the code of the published text
COO_TFRT = 1  # the code of TFRT's own reader

ZERO_RESERVED = bytes(6)


def u64(*numbers):
    return struct.pack(f"<{len(numbers)}Q", *numbers)


def padding(size):
    """How many bytes bring `size` to a multiple of 8."""
    return -size % 8


def padded(record):
    return record + bytes(padding(len(record)))


def pack(dtype, codes, spare_nibble=0):
    """The bytes of an array of bit patterns (`codes`, unsigned integers), taken in row-major order."""
    bits = DTYPES[dtype][1]
    flat = np.asarray(codes, f"<u{max(bits, 8) // 8}").reshape(-1)
    if bits == 4:
        nibbles = flat.tolist()
        if len(nibbles) % 2:
            nibbles.append(spare_nibble)
        return bytes(low | high << 4 for low, high in zip(nibbles[0::2], nibbles[1::2]))
    return flat.tobytes()


def header(rank, dtype_code, layout_code, reserved=ZERO_RESERVED):
    return u64(rank) + bytes([dtype_code, layout_code]) + reserved


def raw_dense(dtype_code, layout_code, dims, data, rank=None, reserved=ZERO_RESERVED):
    """A dense record, unpadded. `rank` may lie about the number of dims."""
    return header(len(dims) if rank is None else rank, dtype_code, layout_code, reserved) + u64(*dims) + data


def raw_coo(dtype, layout_code, dims, indices, values, index_shape=None, value_count=None, spare_nibble=0):
    """A COO record, unpadded. `index_shape` and `value_count` may lie about the payloads that follow them."""
    rows, columns = index_shape or (len(indices), len(dims))
    count = len(values) if value_count is None else value_count
    flat_indices = [number for index in indices for number in index]
    return (
        header(len(dims), DTYPES[dtype][0], layout_code)
        + u64(*dims)
        + u64(rows, columns, *flat_indices)
        + u64(count)
        + pack(dtype, values, spare_nibble)
    )


def dense(dtype, codes):
    """A canonical kLINEAR record, unpadded."""
    codes = np.asarray(codes)
    return raw_dense(DTYPES[dtype][0], LINEAR, codes.shape, pack(dtype, codes))


def file_at(records, offsets, table=None):
    """A file with record k at offsets[k]; bytes between records are zero. `table` replaces the offset table."""
    table = offsets if table is None else table
    image = bytearray(u64(len(table), *table))
    for record, offset in zip(records, offsets):
        end = offset + len(record)
        image.extend(bytes(max(0, end - len(image))))
        image[offset:end] = record
    return bytes(image)


def contiguous_offsets(records):
    offsets, offset = [], 8 + 8 * len(records)
    for record in records:
        offsets.append(offset)
        offset += len(record)
    return offsets


def canonical_file(records):
    """Records in order, contiguous from the end of the table, each padded to 8 with zeros."""
    records = [padded(record) for record in records]
    return file_at(records, contiguous_offsets(records))
