"""safetensors files put together by hand, sound ones with the same tensors as BTF beside them, and broken ones."""

import json
import struct

from . import wire
from .good import dtype_codes

# In the order of the reference's enum, by which it writes them, the last first.
TYPES = {
    "BOOL": "bool", "F4": "float4_e2m1fn", "U8": "uint8", "I8": "int8", "F8_E5M2": "float8_e5m2", "F8_E4M3": "float8_e4m3fn",
    "F8_E8M0": "float8_e8m0fnu", "F8_E4M3FNUZ": "float8_e4m3fnuz", "F8_E5M2FNUZ": "float8_e5m2fnuz", "I16": "int16",
    "U16": "uint16", "F16": "float16", "BF16": "bfloat16", "I32": "int32", "U32": "uint32", "F32": "float32", "F64": "float64",
    "I64": "int64", "U64": "uint64",
}  # fmt: skip
FORMAT = {"format": "pt"}


def with_header(text, data=b"", length=None):
    header = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def entry(dtype, shape, begin, end, **others):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end], **others}


def header_of(entries, metadata=FORMAT):
    members = ({} if metadata is None else {"__metadata__": metadata}) | entries
    text = json.dumps(members, separators=(",", ":"), ensure_ascii=False)
    return text + " " * (-len(text.encode()) % 8)


def simple(entries, size, metadata=FORMAT):
    """Data of so many bytes: 1, 2, 3, .."""
    return with_header(header_of(entries, metadata), bytes(k % 255 + 1 for k in range(size)))


def laid_out(tensors):
    """Of (name, type, shape, bytes): the entries and the data, one behind the other."""
    entries, data = {}, b""
    for name, dtype, shape, content in tensors:
        entries[name] = entry(dtype, shape, len(data), len(data) + len(content))
        data += content
    return entries, data


def twin(tensors):
    """Of (type, codes)."""
    return wire.canonical_file([wire.dense(TYPES[dtype], codes) for dtype, codes in tensors])


def files():
    return {**type_files(), **order_files(), **name_files(), **small_files(), **foreign_files(), **sharded_whole()}


def codes_of(dtype):
    """4-bit codes must fill bytes."""
    codes = dtype_codes(TYPES[dtype])
    return codes.reshape(-1)[:24].reshape(2, 3, 4) if dtype == "F4" else codes


def type_files():
    tensors = [(dtype, codes_of(dtype)) for dtype in reversed(TYPES)]
    entries, data = laid_out([(f"x.{TYPES[dtype]}", dtype, codes.shape, wire.pack(TYPES[dtype], codes)) for dtype, codes in tensors])
    return {"types.safetensors": with_header(header_of(entries), data), "types.btf": twin(tensors)}


def order_files():
    """Legal, and not as the reference writes: the header in another order than the data and not padded, spaces in it, unknown members, tensors
    without elements where others begin."""
    codes = {dtype: codes_of(dtype) for dtype in ("F32", "U8", "I16")}
    empty = codes["U8"][:0]
    tensors = [("U8", codes["U8"]), ("F32", codes["F32"]), ("U8", empty), ("U8", empty), ("I16", codes["I16"])]
    names = ["last", "a", "empty 1", "empty 2", "m"]
    packed = [(name, dtype, held.shape, wire.pack(TYPES[dtype], held)) for name, (dtype, held) in zip(names, tensors)]
    entries, data = laid_out(packed)
    shuffled = {name: entries[name] for name in ("m", "empty 1", "last", "empty 2", "a")}
    shuffled["m"]["more"] = {"nested": [1, None, "]}"]}
    text = "  \n" + json.dumps({"a": entries["a"], **shuffled, "__metadata__": {"k": "v", "format": "np"}}, indent=1) + "\t"
    # The types wide to narrow, names in the order of their bytes.
    canonical = [packed[1], packed[4], packed[2], packed[3], packed[0]]
    entries, canonical_data = laid_out(canonical)
    return {
        "order.safetensors": with_header(text, data),
        "order.btf": twin(tensors),
        "order.canonical.safetensors": with_header(header_of(entries, {"format": "np", "k": "v"}), canonical_data),
    }


NAMES = ["", " ", "1017", "a/b", "a\"b\\", "bell\u0007\u001b[31m", "caf\u00e9", "layer.0.weight", "\u202e\U0001f600", "\u007f", "x\u0000y", "nn" * 500]


def name_files():
    names = sorted(NAMES, key=lambda name: name.encode())
    tensors = [("U8", codes_of("U8").reshape(-1)[i : i + 1]) for i in range(len(names))]
    entries, data = laid_out([(name, "U8", (1,), codes.tobytes()) for name, (_, codes) in zip(names, tensors)])
    escaped = json.dumps({"__metadata__": FORMAT, **entries})
    return {
        "names.safetensors": with_header(header_of(entries), data),
        "names.escaped.safetensors": with_header(escaped, data),
        "names.btf": twin(tensors),
        "names.txt": "".join(f"{name.encode().hex()}\n" for name in names).encode(),
    }


def small_files():
    scalar = codes_of("F32").reshape(-1)[2:3].reshape(())
    return {
        "none.safetensors": with_header(header_of({})),
        "none.btf": wire.canonical_file([]),
        "none_bare.safetensors": with_header("{}"),
        "none_bare.btf": wire.canonical_file([]),
        "none_padded.safetensors": with_header("{}      "),
        "none_padded.btf": wire.canonical_file([]),
        "scalar.safetensors": with_header(header_of({"s": entry("F32", (), 0, 4)}, None), wire.pack("float32", scalar)),
        "scalar.btf": twin([("F32", scalar)]),
        "null_metadata.safetensors": with_header(header_of({"s": entry("F32", (), 0, 4)}) .replace('{"format":"pt"}', "null"), wire.pack("float32", scalar)),
        "null_metadata.btf": twin([("F32", scalar)]),
    }


def foreign_files():
    """Types that no dtype stands for, with two between them that are sound."""
    held = codes_of("U8").reshape(-1)[:4]
    entries, data = laid_out(
        [
            ("a", "U8", (4,), held.tobytes()),
            ("complex", "C64", (2, 1), bytes(range(16))),
            ("six", "F6_E2M3", (4,), b"abc"),
            ("other six", "F6_E3M2", (2, 4), b"abcdef"),
            ("wide", "I128", (1,), bytes(16)),
            ("none of it", "NEW", (0,), b""),
            ("b", "U8", (4,), held.tobytes()),
        ]
    )
    return {"foreign.safetensors": with_header(header_of(entries), data)}


def sharded_tensors():
    """Of two files."""
    held = codes_of("F32")
    names = ("layers.0.q", "layers.0.k", "layers.1.q"), ("layers.10.q", "norm")
    return [[(name, "F32", held.shape, wire.pack("float32", held + number)) for number, name in enumerate(part)] for part in names]


def sharded_files():
    """A model as transformers saves one that is large: two files, and an index of what is where."""
    made, places, size = {}, {}, 0
    for number, tensors in enumerate(sharded_tensors()):
        entries, data = laid_out(sorted(tensors))
        file = f"model-{number + 1:05}-of-00002.safetensors"
        made[file] = with_header(header_of(entries), data)
        places.update({name: file for name in entries})
        size += len(data)
    index = {"metadata": {"total_size": size}, "weight_map": dict(sorted(places.items()))}
    made["model.safetensors.index.json"] = (json.dumps(index, indent=2) + "\n").encode()
    return made


def sharded_whole():
    entries, data = laid_out(sorted(sum(sharded_tensors(), [])))
    return {"sharded_whole.safetensors": with_header(header_of(entries), data)}


# What is wrong with each: the file and the code of the finding.


def bad_files():
    made, expected = {}, []
    for stem, (content, finding) in faults().items():
        made[f"{stem}.safetensors"] = content
        expected.append(f"{stem}.safetensors\t{finding}\n")
    made["expected.tsv"] = "".join(sorted(expected)).encode()
    return made


def one(shape=(4,), begin=0, end=4, dtype="U8", **others):
    return {"x": entry(dtype, shape, begin, end, **others)}


def as_text(old, new, size=4, entries=None):
    """A sound file with other text in its header."""
    text = header_of(one() if entries is None else entries)
    assert old in text, old
    return with_header(text.replace(old, new), bytes(size))


def faults():
    sound = simple(one(), 4)
    two = {"a": entry("U8", (12,), 0, 12), "b": entry("U8", (16,), 16, 32)}
    header, offsets, size = "safetensors-header", "safetensors-offsets", "safetensors-size"
    many = '{"a":' + '{"dtype":"U8","shape":[16],"data_offsets":[0,16]}' + "".join(
        f',"{k}":{{"dtype":"U8","shape":[16],"data_offsets":[0,16]}}' for k in range(1000)) + "}"
    return {
        "header-2-63": (with_header("{}", length=2**63), header),
        "header-too-long": (with_header('{"', length=100_000_001), header),
        "header-cut": (sound[:40], header),
        "length-cut": (b"\x50\x00\x00", header),
        "many-on-one-place": (with_header(many, bytes(16)), offsets),
        "overlap": (simple({"a": entry("U8", (12,), 0, 12), "b": entry("U8", (16,), 8, 24)}, 24), offsets),
        "inside": (simple({"a": entry("U8", (12,), 0, 12), "b": entry("U8", (4,), 4, 8)}, 12), offsets),
        "hole": (simple(two, 32), offsets),
        "hole-first": (simple(one(begin=8, end=12), 12), offsets),
        "hole-empty": (simple({"a": entry("U8", (4,), 0, 4), "b": entry("U8", (0,), 6, 6)}, 4), offsets),
        "ends-before-it-begins": (simple(one(begin=4, end=0), 4), offsets),
        "shape-larger": (simple(one(shape=(5,)), 4), size),
        "shape-smaller": (simple(one(shape=(3,)), 4), size),
        "shape-larger-type": (simple(one(dtype="F32"), 4), size),
        "offsets-past-end": (simple(one(shape=(2**40,), end=2**40), 4), "data-past-end"),
        "offsets-wrap": (simple(one(shape=(2**64 - 1,), end=2**64 - 1), 4), "size-overflow"),
        "cut": (sound[:-1], "data-past-end"),
        "tail": (sound + b"\x00\x00\x00\x00", "bytes-after-data"),
        "tail-of-none": (with_header("{}      ", b"x"), "bytes-after-data"),
        "product-wraps": (simple(one(shape=(2, 2**64 - 2)), 4), "size-overflow"),
        "product-wraps-to-size": (simple(one(shape=(2**32, 2**32 + 1), end=2**32), 4), "size-overflow"),
        "bytes-wrap": (simple(one(shape=(2**62 + 1,), dtype="F32"), 4), "size-overflow"),
        "zero-hides-overflow": (simple(one(shape=(0, 2**40, 2**40), end=0), 0), "size-overflow"),
        "zero-behind-overflow": (simple(one(shape=(2**40, 2**40, 0), end=0), 0), "size-overflow"),
        "half-a-byte": (simple(one(shape=(2, 3, 1), dtype="F4", end=3) | {"y": entry("F4", (3,), 3, 5)}, 5), size),
        "six-bits-unfilled": (simple(one(shape=(3,), dtype="F6_E2M3", end=3), 3), size),
        "type-of-no-size": (simple(one(dtype="MXFP"), 4), "unknown-dtype"),
        "type-in-small-letters": (simple(one(dtype="u8", shape=(3,)), 4), "unknown-dtype"),
        "metadata-number": (simple(one(), 4, {"a": 1}), header),
        "metadata-list": (simple(one(), 4, ["a"]), header),
        "metadata-twice": (as_text('{"__meta', '{"__metadata__":{},"__meta'), header),
        "name-twice": (as_text("}}", '},"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}'), header),
        "name-twice-escaped": (as_text(',"x"', ',"\\u0078":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"x"'), header),
        "member-twice": (as_text('"dtype"', '"shape":[4],"dtype"'), header),
        "unknown-member-twice": (as_text('"dtype"', '"more":1,"more":2,"dtype"'), header),
        "no-dtype": (as_text('"dtype":"U8",', ""), header),
        "no-shape": (as_text('"shape":[4],', ""), header),
        "no-offsets": (as_text(',"data_offsets":[0,4]', ""), header),
        "entry-is-list": (as_text('{"dtype":"U8","shape":[4],"data_offsets":[0,4]}', '["U8",[4],[0,4]]'), header),
        "dtype-is-number": (as_text('"U8"', "8"), header),
        "shape-is-number": (as_text("[4]", "4"), header),
        "dim-is-text": (as_text("[4]", '["4"]'), header),
        "dim-has-point": (as_text("[4]", "[4.0]"), header),
        "dim-has-exponent": (as_text("[4]", "[4e0]"), header),
        "dim-is-negative": (as_text("[4]", "[-4]"), header),
        "dim-is-minus-zero": (as_text("[4]", "[-0]"), header),
        "dim-beyond-64-bits": (as_text("[4]", "[18446744073709551616]"), header),
        "one-offset": (as_text("[0,4]", "[4]"), header),
        "three-offsets": (as_text("[0,4]", "[0,4,8]"), header),
        "offset-is-minus-zero": (as_text("[0,4]", "[-0,4]"), header),
        "offset-is-null": (as_text("[0,4]", "[null,4]"), header),
        "many-dims": (simple({"y": entry("U8", (1,), 0, 1), "x": entry("U8", (4,) + (1,) * 255, 1, 5)}, 5), "rank-too-large"),
        "no-object": (with_header('["x"]       '), header),
        "not-closed": (with_header('{"x":{"dtype":"U8"'), header),
        "closed-twice": (as_text("}}", "}}}"), header),
        "two-objects": (with_header('{}{}    '), header),
        "deep": (as_text('"dtype"', '"more":' + "[" * 5000 + "]" * 5000 + ',"dtype"'), header),
        "nan": (as_text('"dtype"', '"more":NaN,"dtype"'), header),
        "nul-behind": (with_header(header_of(one()).rstrip() + "\0\0\0\0", bytes(4)), header),
        "byte-order-mark": (with_header(b"\xef\xbb\xbf" + header_of(one()).encode(), bytes(4)), header),
        "utf-16": (with_header(header_of(one()).encode("utf-16-le"), bytes(4)), header),
        "latin-1": (with_header(header_of({"\u00e9": entry("U8", (4,), 0, 4)}).encode("latin-1"), bytes(4)), header),
        "half-pair": (as_text('"x"', '"\\ud800"'), header),
        "raw-newline": (as_text('"x"', '"\n"'), header),
        "surrogate-in-utf-8": (with_header(header_of(one()).encode().replace(b'"x"', b'"surrogate \xed\xa0\x80"'), bytes(4)), header),
    }  # fmt: skip
