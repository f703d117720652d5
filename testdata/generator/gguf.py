"""GGUF files put together by hand, sound ones with the same tensors as BTF beside them, and broken ones. What blocks stand for is computed here
number by number, in float32, from the published layouts."""

import struct

import numpy as np

from . import wire
from .elements import Lcg
from .good import dtype_codes

# Value types of keys.
U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
FORMS = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "B", U64: "Q", I64: "q", F64: "d"}

PLAIN = {"float32": 0, "float16": 1, "int8": 24, "int16": 25, "int32": 26, "int64": 27, "float64": 28, "bfloat16": 30}
# name: (code, elements, bytes)
BLOCKS = {
    "Q4_0": (2, 32, 18), "Q4_1": (3, 32, 20), "Q5_0": (6, 32, 22), "Q5_1": (7, 32, 24), "Q8_0": (8, 32, 34), "Q8_1": (9, 32, 36),
    "Q2_K": (10, 256, 84), "Q3_K": (11, 256, 110), "Q4_K": (12, 256, 144), "Q5_K": (13, 256, 176), "Q6_K": (14, 256, 210),
    "Q8_K": (15, 256, 292), "IQ2_XXS": (16, 256, 66), "IQ2_XS": (17, 256, 74), "IQ3_XXS": (18, 256, 98), "IQ1_S": (19, 256, 50),
    "IQ4_NL": (20, 32, 18), "IQ3_S": (21, 256, 110), "IQ2_S": (22, 256, 82), "IQ4_XS": (23, 256, 136), "IQ1_M": (29, 256, 56),
    "TQ1_0": (34, 256, 54), "TQ2_0": (35, 256, 66), "MXFP4": (39, 32, 17), "NVFP4": (40, 64, 36), "Q1_0": (41, 128, 18),
    "Q2_0": (42, 64, 18),
}  # fmt: skip
f32 = np.float32


# What blocks stand for.


def half(block, at):
    return f32(np.frombuffer(bytes(block[at : at + 2]), "<f2")[0])


def nibble(block, at, i, width):
    """Low nibbles of `width` bytes first, then the high ones."""
    return block[at + i % width] >> (4 if i >= width else 0) & 15


def bit(block, at, i):
    return block[at + i // 8] >> i % 8 & 1


def e2m1_twice(code):
    return f32((-1 if code & 8 else 1) * [0, 1, 2, 3, 4, 6, 8, 12][code & 7] + 0)


def packed_six_bits(block, at, i):
    """Scale and minimum number i of eight, in 12 bytes."""
    if i < 4:
        return block[at + i] % 64, block[at + 4 + i] % 64
    both = block[at + 4 + i]
    return both % 16 + block[at + i - 4] // 64 * 16, both // 16 + block[at + i] // 64 * 16


def q4_0(b, i):
    return half(b, 0) * f32(nibble(b, 2, i, 16) - 8)


def q4_1(b, i):
    return half(b, 0) * f32(nibble(b, 4, i, 16)) + half(b, 2)


def q5_0(b, i):
    return half(b, 0) * f32(nibble(b, 6, i, 16) + 16 * bit(b, 2, i) - 16)


def q5_1(b, i):
    return half(b, 0) * f32(nibble(b, 8, i, 16) + 16 * bit(b, 4, i)) + half(b, 2)


def q8_0(b, i):
    return half(b, 0) * f32(b[2 + i] - 256 * (b[2 + i] > 127))


def mxfp4(b, i):
    return f32(2.0 ** (b[0] - 128)) * e2m1_twice(nibble(b, 1, i, 16))


def nvfp4(b, i):
    code = b[i // 16]
    exponent, mantissa = code // 8 % 16, code % 8
    scale = 0.0 if code == 0x7F else (mantissa / 8 + (exponent > 0)) * 2.0 ** (max(exponent, 1) - 7)
    return f32(scale / 2) * e2m1_twice(nibble(b, 4 + i // 16 * 8, i % 16, 8))


def two_bits(b, at, i):
    """The codes of 128 elements stand in 32 bytes, those of 32 elements one pair of bits further."""
    return b[at + i // 128 * 32 + i % 32] >> 2 * (i % 128 // 32) & 3


def q2_k(b, i):
    scales = b[i // 16]
    return half(b, 80) * f32(scales % 16) * f32(two_bits(b, 16, i)) - half(b, 82) * f32(scales // 16)


def q3_k(b, i):
    k = i // 16
    scale = (b[96 + k % 8] >> (4 if k >= 8 else 0) & 15) + 16 * (b[104 + k % 4] >> 2 * (k // 4) & 3)
    code = two_bits(b, 32, i) + 4 * (b[i % 32] >> i // 32 & 1) - 4
    return half(b, 108) * f32(scale - 32) * f32(code)


def q4_k(b, i):
    scale, least = packed_six_bits(b, 4, i // 32)
    code = nibble(b, 16 + i // 64 * 32, i % 64, 32)
    return half(b, 0) * f32(scale) * f32(code) - half(b, 2) * f32(least)


def q5_k(b, i):
    scale, least = packed_six_bits(b, 4, i // 32)
    code = nibble(b, 48 + i // 64 * 32, i % 64, 32) + 16 * (b[16 + i % 32] >> i // 32 & 1)
    return half(b, 0) * f32(scale) * f32(code) - half(b, 2) * f32(least)


def q6_k(b, i):
    four = nibble(b, i // 128 * 64, i % 128, 64)
    two = b[128 + i // 128 * 32 + i % 32] >> 2 * (i % 128 // 32) & 3
    scale = b[192 + i // 16] - 256 * (b[192 + i // 16] > 127)
    return half(b, 208) * f32(scale) * f32(four + 16 * two - 32)


DECODERS = {"Q4_0": q4_0, "Q4_1": q4_1, "Q5_0": q5_0, "Q5_1": q5_1, "Q8_0": q8_0, "Q2_K": q2_k, "Q3_K": q3_k, "Q4_K": q4_k,
            "Q5_K": q5_k, "Q6_K": q6_k, "MXFP4": mxfp4, "NVFP4": nvfp4}  # fmt: skip
# Where the float16 numbers of a block stand.
HALVES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2],
          "Q5_K": [0, 2], "Q6_K": [208], "IQ2_XXS": [0], "IQ2_XS": [0], "IQ2_S": [0], "IQ3_XXS": [0], "IQ3_S": [0], "IQ1_S": [0], "IQ4_NL": [0],
          "IQ4_XS": [0], "TQ1_0": [52], "TQ2_0": [64]}  # fmt: skip
# Those whose code books only the gguf package knows (oracle/generate_gguf.py).
OF_CODE_BOOKS = ["IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_NL", "IQ4_XS", "TQ1_0", "TQ2_0"]


def blocks_of(name, count):
    """Any codes. The halves: of usual size, then the least, the least normal, the largest, 0, negative."""
    _, _, size = BLOCKS[name]
    lcg = Lcg(size + count)
    made = bytearray(lcg.below(256) for _ in range(size * count))
    edges = [0x0001, 0x03FF, 0x0400, 0x7BFF, 0x0000, 0x8000, 0xFBFF]
    for k in range(count):
        for at in HALVES.get(name, []):
            code = edges[k] if k < len(edges) and at != 2 else 0x2000 + lcg.below(0x1800) + 0x8000 * lcg.below(2)
            made[k * size + at : k * size + at + 2] = struct.pack("<H", code)
    if name == "IQ1_M":  # its half lies in the upper bits of four words
        for k in range(count):
            made[k * size + 55] = [0x60, 0x00, 0xE0][k % 3] + made[k * size + 55] % 16
    if name == "MXFP4":
        for k, code in zip(range(count), [0, 1, 2, 3, 127, 128, 253, 254, 255]):
            made[k * size] = code
    if name == "NVFP4":
        for k in range(count):
            made[k * size : k * size + 4] = bytes([0, 1, 7, 8, 0x38, 0x7E, 0x7F, 0x80, 0xFF, lcg.below(256), 0x40, 0x77][(3 * k + j) % 12] for j in range(4))
    return bytes(made)


def numbers_of(name, data):
    _, elements, size = BLOCKS[name]
    with np.errstate(over="ignore"):
        return np.array([DECODERS[name](data[at : at + size], i) for at in range(0, len(data), size) for i in range(elements)], "<f4")


# Files.


def string(text):
    text = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<Q", len(text)) + text


def value(kind, held):
    return string(held) if kind == STRING else struct.pack("<" + FORMS[kind], held)


def key(name, kind, held):
    return string(name) + struct.pack("<i", kind) + (held if isinstance(held, bytes) and kind == ARRAY else value(kind, held))


def array(kind, held):
    return struct.pack("<iQ", kind, len(held)) + b"".join(value(kind, one) for one in held)


def info(name, dims, code, offset, ndim=None):
    return string(name) + struct.pack(f"<I{len(dims)}QiQ", len(dims) if ndim is None else ndim, *reversed(dims), code, offset)


def padded(data, alignment=32):
    return data + bytes(-len(data) % alignment)


def head(tensors, keys, version=3, magic=b"GGUF"):
    return magic + struct.pack("<IQQ", version, tensors, keys)


def file(tensors, keys=(), alignment=32, version=3, whole=True, gap=0):
    """Of (name, dims, code, data). `whole`: with the padding behind the last one. `gap`: bytes before the data."""
    infos, data = b"", bytes(gap)
    for name, dims, code, held in tensors:
        infos += info(name, dims, code, len(data))
        data += padded(held, alignment)
    if not whole:
        data = data[: len(data) - (-len(tensors[-1][3]) % alignment)]
    front = head(len(tensors), len(keys), version) + b"".join(keys) + infos
    return padded(front, alignment) + data


def plain_tensors():
    return [(f"x.{dtype}", dtype_codes(dtype).shape, PLAIN[dtype], wire.pack(dtype, dtype_codes(dtype))) for dtype in PLAIN]


def plain_twin():
    return [wire.dense(dtype, dtype_codes(dtype)) for dtype in PLAIN]


KEYS = [
    key("general.architecture", STRING, "llama"), key("a.u8", U8, 255), key("a.i8", I8, -128), key("a.u16", U16, 65535), key("a.i16", I16, -32768),
    key("a.u32", U32, 2**32 - 1), key("a.i32", I32, -(2**31)), key("a.u64", U64, 2**64 - 1), key("a.i64", I64, -(2**63)), key("a.f32", F32, 1e-6),
    key("a.f64", F64, 0.1), key("a.true", BOOL, 1), key("a.false", BOOL, 0), key("a.text", STRING, "two\nlines \u00e9"), key("a.empty", STRING, ""),
    key("a.list", ARRAY, array(I16, [-1, 2, 3])), key("a.floats", ARRAY, array(F32, [0.5, -2, 3e9])), key("a.bools", ARRAY, array(BOOL, [1, 0])),
    key("a.no list", ARRAY, array(U64, [])), key("a.long list", ARRAY, array(U8, range(17))), key("a.words", ARRAY, array(STRING, ["a", "", "b"])),
    key("a.long text", STRING, "t" * 65537), key("a.latin-1", STRING, b"\xe9"), key("", U8, 1),
]  # fmt: skip


def decoded_tensors():
    """Rows of several blocks."""
    made = []
    for name in DECODERS:
        code, elements, _ = BLOCKS[name]
        made.append((f"x.{name}", (3, 3 * elements), code, blocks_of(name, 9)))
    return made


def decoded_twin():
    twins = []
    for name in DECODERS:
        elements = BLOCKS[name][1]
        codes = numbers_of(name, blocks_of(name, 9)).view("<u4").reshape(3, 3 * elements)
        twins.append(wire.dense("float32", codes))
    return twins


def code_book_tensors():
    return [(f"x.{name}", (3, BLOCKS[name][1]), BLOCKS[name][0], blocks_of(name, 3)) for name in OF_CODE_BOOKS]


def big_endian(quantised):
    """Numbers the other way round; blocks of single bytes as they are. `quantised`: and one of whose scales nobody knows."""

    def text(name):
        return struct.pack(">Q", len(name)) + name.encode()

    tensors = [(f"x.{dtype}", dtype_codes(dtype).shape, PLAIN[dtype], wire.pack(dtype, dtype_codes(dtype)), int(wire.DTYPES[dtype][1]) // 8) for dtype in PLAIN]
    tensors.append(("x.MXFP4", (3, 32), 39, blocks_of("MXFP4", 3), 1))
    if quantised:
        tensors.append(("x.Q8_0", (2, 32), 8, blocks_of("Q8_0", 2), 1))
    infos, data = b"", b""
    for name, dims, code, held, width in tensors:
        infos += text(name) + struct.pack(f">I{len(dims)}QiQ", len(dims), *reversed(dims), code, len(data))
        data += padded(np.frombuffer(held, f"u{width}").byteswap().tobytes())
    keys = text("general.architecture") + struct.pack(">i", STRING) + text("llama") + text("a.i16") + struct.pack(">ih", I16, -2)
    keys += text("a.list") + struct.pack(">iiQ3i", ARRAY, I32, 3, 1, -2, 70000)
    return padded(b"GGUF" + struct.pack(">IQQ", 3, len(tensors), 3) + keys + infos) + data


def big_endian_twin():
    codes = numbers_of("MXFP4", blocks_of("MXFP4", 3)).view("<u4").reshape(3, 32)
    return wire.canonical_file(plain_twin() + [wire.dense("float32", codes)])


def mixed_tensors():
    held = dtype_codes("int8").reshape(-1)[:12].reshape(3, 4)
    ones = dtype_codes("float16").reshape(-1)[:6].reshape(6)
    blocks = blocks_of("Q8_0", 4)
    return [("tokens", (3, 4), 24, held.tobytes()), ("blk.0.w", (2, 64), 8, blocks), ("norm", (6,), 1, wire.pack("float16", ones))], [
        wire.dense("int8", held), wire.dense("float32", numbers_of("Q8_0", blocks).view("<u4").reshape(2, 64)), wire.dense("float16", ones)]


def split_parts():
    held = dtype_codes("float32")
    parts = [["token_embd.weight", "blk.0.attn_q.weight"], ["blk.1.attn_q.weight"], ["output.weight"]]
    names = sum(parts, [])
    made = []
    for number, part in enumerate(parts):
        keys = [key("split.no", U16, number), key("split.count", U16, len(parts)), key("split.tensors.count", I32, len(names))]
        keys = ([key("general.name", STRING, "tiny")] if number == 0 else []) + keys
        made.append(file([(name, held.shape, 0, wire.pack("float32", held + names.index(name))) for name in part], keys))
    return made, wire.canonical_file([wire.dense("float32", held + i) for i in range(len(names))])


def split_files():
    parts, _ = split_parts()
    return {f"tiny-{i + 1:05}-of-{len(parts):05}.gguf": part for i, part in enumerate(parts)}


def files():
    mixed, mixed_twin = mixed_tensors()
    scalar = dtype_codes("float32").reshape(-1)[2:3].reshape(())
    every = [("x." + name, (1, elements), code, bytes(size)) for name, (code, elements, size) in BLOCKS.items()]
    small = [("scalar", (), 0, wire.pack("float32", scalar)), ("none", (2, 0), 12, b""), ("four", (1, 2, 1, 2), 24, b"abcd")]
    small_twin = [wire.dense("float32", scalar), wire.raw_dense(wire.DTYPES["float32"][0], 0, (2, 0), b""),
                  wire.raw_dense(wire.DTYPES["int8"][0], 0, (1, 2, 1, 2), b"abcd")]  # fmt: skip
    return {
        "plain.gguf": file(plain_tensors(), KEYS),
        "plain.btf": wire.canonical_file(plain_twin()),
        "plain_v2.gguf": file(plain_tensors(), KEYS[:1], version=2),
        "plain_v2.btf": wire.canonical_file(plain_twin()),
        "plain_unpadded.gguf": file(plain_tensors(), whole=False),
        "plain_unpadded.btf": wire.canonical_file(plain_twin()),
        "plain_aligned_1.gguf": file(plain_tensors(), [key("general.alignment", U32, 1)], alignment=1),
        "plain_aligned_1.btf": wire.canonical_file(plain_twin()),
        "plain_aligned_256.gguf": file(plain_tensors(), [key("general.alignment", U32, 256)], alignment=256),
        "plain_aligned_256.btf": wire.canonical_file(plain_twin()),
        "blocks.gguf": file(decoded_tensors()),
        "blocks.btf": wire.canonical_file(decoded_twin()),
        "code_books.gguf": file(code_book_tensors()),
        "big_endian.gguf": big_endian(quantised=False),
        "big_endian.btf": big_endian_twin(),
        "big_endian_blocks.gguf": big_endian(quantised=True),
        "mixed.gguf": file(mixed, [key("general.name", STRING, "mixed")]),
        "mixed.btf": wire.canonical_file(mixed_twin),
        "small.gguf": file(small),
        "small.btf": wire.canonical_file(small_twin),
        "none.gguf": file([], KEYS[:1]),
        "none.btf": wire.canonical_file([]),
        "none_unpadded.gguf": head(0, 0),
        "none_unpadded.btf": wire.canonical_file([]),
        "every.gguf": file(every),
        "split_whole.btf": split_parts()[1],
    }


# What is wrong with each: the file and the code of the finding.


def bad_files():
    made, expected = {}, []
    for stem, (content, finding) in faults().items():
        made[f"{stem}.gguf"] = content
        expected.append(f"{stem}.gguf\t{finding}\n")
    made["expected.tsv"] = "".join(sorted(expected)).encode()
    return made


# What ggml refuses, and what concerns one tensor or key only: the file, the tensor that is to be left out, and the codes of the findings.


def odd_files():
    made, expected = {}, []
    for stem, (content, left_out, findings) in oddities().items():
        made[f"{stem}.gguf"] = content
        expected.append(f"{stem}.gguf\t{left_out}\t{' '.join(findings)}\n")
    made["expected.tsv"] = "".join(sorted(expected)).encode()
    return made


def oddities():
    """Each has a sound tensor "sound" beside what is odd."""
    header, names, offsets = "gguf-header", "gguf-names", "gguf-offsets"
    sound = ("sound", (4,), 24, b"abcd")
    nested = struct.pack("<iQ", ARRAY, 2) + array(U8, [1, 2]) + struct.pack("<iQ", ARRAY, 1) + array(STRING, ["a", "b"])

    def unknown(code, behind=True):
        other = ("odd", (40,), code, bytes(range(96)))
        return file([other, sound] if behind else [sound, other]), "odd", ["unknown-dtype"]

    return {
        "type-removed": unknown(4),
        "type-removed-31": unknown(31),
        "type-new": unknown(43),
        "type-negative": unknown(-1),
        "type-new-last": unknown(43, behind=False),
        "ndim-5": (file([("odd", (1, 1, 1, 1, 4), 24, b"efgh"), sound]), "", [header]),
        "ndim-9": (file([sound, ("odd", (1,) * 9, 24, b"e")]), "", [header]),
        "name-64": (file([("n" * 64, (4,), 24, b"efgh"), sound]), "", [names]),
        "name-1000": (file([("n" * 1000, (4,), 24, b"efgh"), sound]), "", [names]),
        "array-of-arrays": (file([sound], [key("k", ARRAY, nested), key("l", U8, 7)]), "", [header]),
        "array-of-none": (file([sound], [key("k", ARRAY, struct.pack("<iQ", ARRAY, 0))]), "", [header]),
        "gap-first": (file([sound], gap=64), "", [offsets]),
        "gap-unaligned": (file([sound], gap=36)[:-4], "", [offsets]),
        "gap-between": (two({"name": "sound", "offset": 64}) + padded(b"abcd"), "", [offsets]),
        "all": (file([("odd", (1, 1, 1, 1, 40), 43, bytes(96)), ("m" * 64, (1, 1, 1, 2, 2), 24, b"efgh"), sound], [key("k", ARRAY, nested)], gap=32), "odd",
                [header, header, "unknown-dtype", offsets, names, header]),
    }  # fmt: skip


def one(keys=b"", count=None, **told):
    """A tensor and its data, sound but for what is told of it."""
    told = {"name": "x", "dims": (4,), "code": 24, "offset": 0, **told}
    front = head(1, (1 if keys else 0) if count is None else count) + keys + info(**told)
    return padded(front) + padded(b"abcd")


def two(second, first=None):
    first = {"name": "a", "dims": (4,), "code": 24, "offset": 0} if first is None else first
    second = {"name": "b", "dims": (4,), "code": 24, "offset": 32, **second}
    return padded(head(2, 0) + info(**first) + info(**second)) + padded(b"abcd") * 2


def faults():
    sound = one()
    header, names, offsets, cut, overflow = "gguf-header", "gguf-names", "gguf-offsets", "data-past-end", "size-overflow"

    def of_key(name, kind, held):
        return one(string(name) + struct.pack("<i", kind) + held)

    def alignment(number, kind=U32):
        return one(key("general.alignment", kind, number))

    return {
        "magic-only": (b"GGUF", cut),
        "version-cut": (b"GGUF\3\0", cut),
        "counts-cut": (sound[:20], cut),
        "version-0": (b"GGUF" + struct.pack("<IQQ", 0, 0, 0), header),
        "version-1": (b"GGUF" + struct.pack("<III", 1, 0, 0) + bytes(8), header),
        "version-4": (head(0, 0, 4), header),
        "tensors-2-60": (head(2**60, 0) + sound[24:], header),
        "tensors-2-64": (head(2**64 - 1, 0) + sound[24:], header),
        "tensors-more": (head(2, 0) + sound[24:], header),
        "keys-2-60": (head(1, 2**60) + sound[24:], header),
        "keys-2-64": (head(1, 2**64 - 1) + sound[24:], header),
        "keys-more": (one(key("k", U8, 1), count=60000), header),
        "key-1-gib": (head(0, 1) + struct.pack("<Q", 2**30) + bytes(128), header),
        "key-length-wraps": (head(0, 1) + struct.pack("<Q", 2**64 - 8) + bytes(128), header),
        "key-long": (head(0, 1) + key("k" * 65536, U8, 1), header),
        "key-past-end": (head(0, 1) + struct.pack("<Q", 60000) + bytes(64), cut),
        "key-twice": (head(0, 3) + key("a", U8, 1) + key("b", U8, 1) + key("a", STRING, "x"), names),
        "key-empty-twice": (head(0, 2) + key("", U8, 1) * 2, names),
        "value-type": (of_key("k", 13, bytes(8)), header),
        "value-type-negative": (of_key("k", -1, bytes(8)), header),
        "value-cut": (head(0, 1) + key("k", U64, 1)[:-1], cut),
        "text-1-gib": (head(0, 1) + string("k") + struct.pack("<iQ", STRING, 2**30) + bytes(100), header),
        "text-wraps": (head(0, 1) + string("k") + struct.pack("<iQ", STRING, 2**64 - 1) + bytes(100), header),
        "text-past-end": (head(0, 1) + string("k") + struct.pack("<iQ", STRING, 101) + bytes(100), cut),
        "arrays-too-deep": (of_key("k", ARRAY, struct.pack("<iQ", ARRAY, 1) * 17 + array(U8, [1])), header),
        "arrays-2-60": (of_key("k", ARRAY, struct.pack("<iQ", ARRAY, 2**60) + bytes(8)), header),
        "arrays-cut": (of_key("k", ARRAY, struct.pack("<iQ", ARRAY, 1000) + bytes(8)), cut),
        "array-type": (of_key("k", ARRAY, struct.pack("<iQ", 99, 1) + bytes(8)), header),
        "array-2-60": (of_key("k", ARRAY, struct.pack("<iQ", U8, 2**60) + bytes(8)), header),
        "array-wraps": (of_key("k", ARRAY, struct.pack("<iQ", U64, 2**61 + 1) + bytes(8)), header),
        "array-past-end": (of_key("k", ARRAY, struct.pack("<iQ", U32, 1000) + bytes(8)), cut),
        "array-texts-2-61": (of_key("k", ARRAY, struct.pack("<iQ", STRING, 2**61) + bytes(8)), header),
        "array-texts-past-end": (of_key("k", ARRAY, struct.pack("<iQ", STRING, 1000) + bytes(800)), cut),
        "array-text-long": (of_key("k", ARRAY, struct.pack("<iQQ", STRING, 1, 2**40) + bytes(8)), header),
        "alignment-0": (alignment(0), header),
        "alignment-3": (alignment(3), header),
        "alignment-33": (alignment(33), header),
        "alignment-2-31": (alignment(2**31), cut),
        "alignment-i32": (alignment(32, I32), header),
        "alignment-u64": (alignment(32, U64), header),
        "alignment-text": (alignment("32", STRING), header),
        "name-nul": (two({"name": "a\0b"}), names),
        "name-twice": (two({"name": "a"}), names),
        "name-past-end": (head(1, 0) + struct.pack("<Q", 500) + b"x", cut),
        "name-wraps": (head(1, 0) + struct.pack("<Q", 2**64 - 1) + bytes(64), header),
        "ndim-256": (one(dims=(1,) * 256), header),
        "ndim-2-32": (one(ndim=2**32 - 1), header),
        "dim-negative": (one(dims=(2**64 - 4,)), header),
        "dim-least": (one(dims=(2**63,)), header),
        "product-wraps": (one(dims=(2**33, 2**33)), overflow),
        "product-wraps-to-size": (one(dims=(2**32, 2**32 + 1)), overflow),
        "product-2-62-twice": (one(dims=(2, 2**62)), overflow),
        "largest-dim-twice": (one(dims=(2, 2**63 - 1)), overflow),
        "bytes-wrap": (one(dims=(2**62,), code=0), overflow),
        "bytes-2-42": (one(dims=(2**42 + 1, 2**21), code=0), overflow),
        "zero-hides-overflow": (one(dims=(2**40, 0, 2**40)), overflow),
        "padding-wraps": (one(dims=(2**63 - 1,)), overflow),
        "data-past-end": (one(dims=(2**40,)), cut),
        "half-a-block": (one(dims=(48,), code=8), header),
        "block-in-other-dim": (one(dims=(32, 1), code=8), header),
        "scalar-of-blocks": (one(dims=(), code=12), header),
        "offset-first": (one(offset=64), cut),
        "offset-2-63": (one(offset=2**63), overflow),
        "offset-wraps": (one(offset=2**64 - 32), overflow),
        "offset-unaligned": (two({"offset": 4}), offsets),
        "offset-overlap": (two({"offset": 0}), offsets),
        "offset-descending": (two({"offset": 0}, {"name": "a", "dims": (4,), "code": 24, "offset": 32}), offsets),
        "cut": (file([("x", (4,), 24, b"abcd")], whole=False)[:-1], cut),
        "cut-in-infos": (sound[:40], cut),
        "cut-before-data": (two({})[:-62], cut),
        "tail": (sound + b"\0", "bytes-after-data"),
        "tail-of-none": (padded(head(0, 0)) + bytes(5), "bytes-after-data"),
    }  # fmt: skip
