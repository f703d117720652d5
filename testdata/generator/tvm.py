"""Files of TVM's parameters (".params") put together by hand, sound ones with the same tensors as BTF beside them, and broken ones."""

import struct

from . import wire
from .good import dtype_codes

MAGIC, TENSOR_MAGIC = 0xF7E58D4F05049CB7, 0xDD5E40F096B4A13F

# DLPack's code and bits of each type.
TYPES = {
    "int8": (0, 8), "int16": (0, 16), "int32": (0, 32), "int64": (0, 64), "float32": (2, 32), "float64": (2, 64), "uint8": (1, 8),
    "uint16": (1, 16), "uint32": (1, 32), "uint64": (1, 64), "float16": (2, 16), "bfloat16": (4, 16), "float8_e4m3fn": (10, 8),
    "float8_e5m2": (12, 8), "float8_e8m0fnu": (14, 8), "float4_e2m1fn": (17, 4), "int4": (0, 4), "uint4": (1, 4), "bool": (6, 8),
    "float8_e4m3fnuz": (11, 8), "float8_e5m2fnuz": (13, 8), "float8_e3m4": (7, 8), "float8_e4m3": (8, 8), "float8_e4m3b11fnuz": (9, 8),
}  # fmt: skip


def tensor(code, bits, dims, data, lanes=1, magic=TENSOR_MAGIC, reserved=0, device=1, number=0, ndim=None, size=None):
    ndim = len(dims) if ndim is None else ndim
    size = len(data) if size is None else size
    return struct.pack(f"<QQiiiBBH{len(dims)}qq", magic, reserved, device, number, ndim, code, bits, lanes, *dims, size) + data


def of_codes(dtype, codes):
    """4-bit codes take a byte each."""
    data = codes.astype("u1").tobytes() if wire.DTYPES[dtype][1] == 4 else wire.pack(dtype, codes)
    return tensor(*TYPES[dtype], codes.shape, data)


def file(named, magic=MAGIC, reserved=0, count=None, second=None):
    """Of (name, tensor's bytes)."""
    names = b"".join(struct.pack("<Q", len(name)) + name for name, _ in named)
    head = struct.pack("<QQQ", magic, reserved, len(named) if count is None else count) + names
    return head + struct.pack("<Q", len(named) if second is None else second) + b"".join(data for _, data in named)


def twin(tensors):
    return wire.canonical_file([wire.dense(dtype, codes) for dtype, codes in tensors])


def files():
    every = [(dtype, dtype_codes(dtype)) for dtype in TYPES]
    whole = [(dtype, codes) for dtype, codes in every if TYPES[dtype][1] > 4]
    halves = [(dtype, codes) for dtype, codes in every if TYPES[dtype][1] == 4]
    scalar = dtype_codes("float32").reshape(-1)[2:3].reshape(())
    empty = dtype_codes("uint8")[:0]
    held = dtype_codes("float32")
    dump = [("data____topo-index:0____output-num:0", 0), ("tvmgen_default_fused_nn_conv2d____topo-index:3____output-num:0", 1),
            ("tvmgen_default_fused_split____topo-index:12____output-num:1", 2), ("other____topo-index:x____output-num:0", 3),
            ("____topo-index:5____output-num:0____topo-index:7____output-num:1", 4), ("p0____topo-index:8____output-num:", 5),
            ("a____topo-index:9____output-num:0_copy", 6), ("b____topo-index:18446744073709551616____output-num:0", 7)]  # fmt: skip
    names = [b"", b" ", b"1017", b"a/b", b"bell\x07", "caf\u00e9".encode(), b"p" * 500]
    foreign = [("before", of_codes("uint8", empty)), ("vector", tensor(2, 32, (3,), bytes(12), lanes=4)),
               ("vector, counted", tensor(2, 32, (3,), bytes(48), lanes=4)), ("handle", tensor(3, 64, (2,), bytes(16))),
               ("complex", tensor(5, 64, (1,), bytes(8))), ("six", tensor(15, 6, (5,), bytes(5))), ("custom", tensor(130, 16, (2,), bytes(4))),
               ("wide", tensor(0, 128, (1, 2), bytes(32))), ("two bits", tensor(1, 2, (3,), bytes(3))), ("void", tensor(3, 0, (2,), b"", lanes=0)),
               ("after", of_codes("float32", held))]  # fmt: skip
    return {
        "types.params": file([(f"x.{dtype}".encode(), of_codes(dtype, codes)) for dtype, codes in whole]),
        "types.btf": twin(whole),
        "nibbles.params": file([(f"x.{dtype}".encode(), of_codes(dtype, codes)) for dtype, codes in halves]),
        "nibbles.btf": twin(halves),
        "small.params": file([(b"scalar", of_codes("float32", scalar)), (b"empty", of_codes("uint8", empty))]),
        "small.btf": twin([("float32", scalar), ("uint8", empty)]),
        "none.params": file([]),
        "none.btf": wire.canonical_file([]),
        # A device number and reserved words are passed over, as by TVM; a bool was an unsigned integer of one bit once.
        "odd.params": file([(b"x", tensor(1, 1, (3,), b"\0\1\1", reserved=7, number=3))], reserved=9),
        "odd.btf": wire.canonical_file([wire.raw_dense(wire.DTYPES["bool"][0], 0, (3,), b"\0\1\1")]),
        "dump.params": file([(name.encode(), of_codes("float32", held + number)) for name, number in dump]),
        "dump.btf": twin([("float32", held + number) for _, number in dump]),
        "names.params": file([(name, of_codes("uint8", dtype_codes("uint8").reshape(-1)[i : i + 1])) for i, name in enumerate(names)]),
        "names.btf": twin([("uint8", dtype_codes("uint8").reshape(-1)[i : i + 1]) for i in range(len(names))]),
        "foreign.params": file([(name.encode(), data) for name, data in foreign]),
    }


# What is wrong with each: the file and the code of the finding.


def bad_files():
    made, expected = {}, []
    for stem, (content, finding) in faults().items():
        made[f"{stem}.params"] = content
        expected.append(f"{stem}.params\t{finding}\n")
    made["expected.tsv"] = "".join(sorted(expected)).encode()
    return made


def one(**told):
    """A sound tensor but for what is told of it."""
    return file([(b"x", tensor(**{"code": 1, "bits": 8, "dims": (4,), "data": b"abcd", **told}))])


def faults():
    sound = one()
    both = [(b"a", tensor(1, 8, (1,), b"a")), (b"b", tensor(1, 8, (1,), b"b"))]
    header, size, cut = "tvm-header", "tvm-size", "data-past-end"
    length_at = 24  # of the first name
    return {
        "header-cut": (sound[:17], cut),
        "magic-only": (sound[:8], cut),
        "names-2-60": (file(both, count=2**60), header),
        "names-2-64": (file(both, count=2**64 - 1), header),
        "names-many": (file(both, count=2**20 + 1), header),
        "names-2-20": (file(both, count=2**20), header),
        "name-length-wraps": (sound[:length_at] + struct.pack("<Q", 2**64 - 1) + sound[length_at + 8 :], header),
        "name-long": (sound[:length_at] + struct.pack("<Q", 65536) + sound[length_at + 8 :], header),
        "name-past-end": (sound[:length_at] + struct.pack("<Q", 60000) + sound[length_at + 8 :], cut),
        "name-cut": (file([(b"name", tensor(1, 8, (1,), b"a"))])[:34], cut),
        "name-twice": (file([(b"a", both[0][1]), (b"b", both[0][1]), (b"a", both[1][1])]), "tvm-names"),
        "name-empty-twice": (file([(b"", both[0][1]), (b"", both[1][1])]), "tvm-names"),
        "fewer-names": (file(both, second=3), header),
        "more-names": (file(both, second=1), header),
        "count-cut": (sound[:35], cut),
        "no-tensors-there": (sound[:41], cut),
        "tensor-header-cut": (sound[:70], cut),
        "tensor-magic": (one(magic=TENSOR_MAGIC + 1), header),
        "magic-of-file": (one(magic=MAGIC), header),
        "device-gpu": (one(device=2), header),
        "device-zero": (one(device=0), header),
        "device-negative": (one(device=-1), header),
        "ndim-negative": (one(ndim=-1), header),
        "ndim-least": (one(ndim=-(2**31)), header),
        "ndim-256": (one(dims=(1,) * 255 + (4, 1)), "rank-too-large"),
        "ndim-2-31": (one(ndim=2**31 - 1), "rank-too-large"),
        "dims-past-end": (one(ndim=200), cut),
        "dim-negative": (one(dims=(2, -2)), header),
        "dim-least": (one(dims=(-(2**63),)), header),
        "bytes-negative": (one(size=-4), header),
        "bytes-more": (one(size=5), size),
        "bytes-less": (one(size=3), size),
        "bytes-of-type": (one(code=2, bits=32), size),
        "bytes-of-lanes": (one(lanes=3, data=bytes(8)), size),
        "bytes-packed": (one(code=0, bits=4, dims=(8,)), size),
        "bytes-of-foreign": (one(code=130, bits=16), size),
        "product-wraps": (one(dims=(2**33, 2**33), size=0, data=b""), "size-overflow"),
        "product-wraps-to-size": (one(dims=(2**32, 2**32, 2), data=b""), "size-overflow"),
        "zero-hides-overflow": (one(dims=(2**40, 0, 2**40), data=b""), "size-overflow"),
        "bytes-wrap": (one(code=2, bits=64, dims=(2**61,), size=0, data=b""), "size-overflow"),
        "end-wraps": (one(dims=(2**63 - 1,), size=2**63 - 1), "size-overflow"),
        "data-past-end": (one(dims=(2**40,), size=2**40), cut),
        "cut": (sound[:-1], cut),
        "second-cut": (file(both)[:-50], cut),
        "tail": (sound + b"\0", "bytes-after-data"),
        "tail-of-none": (file([]) + b"more", "bytes-after-data"),
    }  # fmt: skip
