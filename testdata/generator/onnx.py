"""ONNX models and tensors put together by hand (own varints, no onnx), sound ones with the same tensors as BTF beside them, and broken ones."""

import struct

import numpy as np

from . import wire
from .good import dtype_codes

# The data_type, and the field of a TensorProto that holds the values one by one.
TYPES = {
    "float32": (1, 4), "uint8": (2, 5), "int8": (3, 5), "uint16": (4, 5), "int16": (5, 5), "int32": (6, 5), "int64": (7, 7), "bool": (9, 5),
    "float16": (10, 5), "float64": (11, 10), "uint32": (12, 11), "uint64": (13, 11), "bfloat16": (16, 5), "float8_e4m3fn": (17, 5),
    "float8_e4m3fnuz": (18, 5), "float8_e5m2": (19, 5), "float8_e5m2fnuz": (20, 5), "uint4": (21, 5), "int4": (22, 5), "float4_e2m1fn": (23, 5),
    "float8_e8m0fnu": (24, 5),
}  # fmt: skip
RAW, NAME = 9, 8


def varint(number):
    number &= 2**64 - 1
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def tag(field, kind):
    return varint(field << 3 | kind)


def number(field, value):
    return tag(field, 0) + varint(value)


def chunk(field, content):
    """Bytes, a text, or a message."""
    content = content.encode() if isinstance(content, str) else content
    return tag(field, 2) + varint(len(content)) + content


def dims_of(dims):
    return b"".join(number(1, dim) for dim in dims)


def tensor(dims, data_type, values=b"", name="x", rest=b""):
    """In the order of Google's serializer: dims, data_type, [4..7,] name, [9..]; `values` are whole fields."""
    named = chunk(NAME, name) if name else b""
    before = values and values[0] >> 3 < NAME
    return dims_of(dims) + number(2, data_type) + (values + named if before else named + values) + rest


def raw(dtype, codes, name="x"):
    return tensor(codes.shape, TYPES[dtype][0], chunk(RAW, wire.pack(dtype, codes)), name)


def numbers_of(dtype, codes):
    """What stands one by one: 4-bit codes two at a time, signed integers with all their bits."""
    bits = wire.DTYPES[dtype][1]
    if bits == 4:
        return list(wire.pack(dtype, codes))
    flat = [int(code) for code in codes.reshape(-1)]
    if dtype in ("int8", "int16", "int32", "int64"):
        flat = [code - 2**bits if code >> (bits - 1) else code for code in flat]
    return flat


def packed(dtype, codes):
    field = TYPES[dtype][1]
    return wire.pack(dtype, codes) if field in (4, 10) else b"".join(varint(n) for n in numbers_of(dtype, codes))


def one_by_one(dtype, codes):
    field = TYPES[dtype][1]
    if field in (4, 10):
        size = 4 if field == 4 else 8
        data = wire.pack(dtype, codes)
        return b"".join(tag(field, 5 if field == 4 else 1) + data[k : k + size] for k in range(0, len(data), size))
    return b"".join(number(field, n) for n in numbers_of(dtype, codes))


def in_runs(dtype, codes):
    """Some packed, one by itself, the others packed."""
    field = TYPES[dtype][1]
    flat, some = codes.reshape(-1), 4
    return chunk(field, packed(dtype, flat[:some])) + one_by_one(dtype, flat[some : some + 2]) + chunk(field, packed(dtype, flat[some + 2 :]))


def typed(dtype, codes, name, how):
    values = chunk(TYPES[dtype][1], packed(dtype, codes)) if how == "packed" else {"single": one_by_one, "runs": in_runs}[how](dtype, codes)
    return tensor(codes.shape, TYPES[dtype][0], values, name)


def node(op, inputs, outputs, name="", attributes=b""):
    texts = b"".join(chunk(1, i) for i in inputs) + b"".join(chunk(2, o) for o in outputs)
    return texts + (chunk(3, name) if name else b"") + chunk(4, op) + attributes


def attribute(name, field, content):
    return chunk(5, chunk(1, name) + chunk(field, content))


def value(name):
    """float32 of one dim."""
    return chunk(1, name) + chunk(2, chunk(1, number(1, 1) + chunk(2, chunk(1, number(1, 4)))))


def graph(initializers=(), nodes=(), inputs=(), outputs=(), rest=b"", name="g"):
    return (
        b"".join(chunk(1, n) for n in nodes) + chunk(2, name) + b"".join(chunk(5, t) for t in initializers)
        + b"".join(chunk(11, value(i)) for i in inputs) + b"".join(chunk(12, value(o)) for o in outputs) + rest
    )  # fmt: skip


def model(graph_bytes, rest=b"", producer="generator"):
    return number(1, 10) + chunk(2, producer) + chunk(3, "1.0") + chunk(7, graph_bytes) + chunk(8, number(2, 21)) + rest


def of(*initializers, **others):
    return model(graph(initializers, **others))


def twin(tensors):
    return wire.canonical_file([wire.dense(dtype, codes) for dtype, codes in tensors])


def entry(key, text):
    return chunk(1, key) + chunk(2, text)


def external(dims, data_type, name="x", rest=b"", **entries):
    return tensor(dims, data_type, b"", name) + b"".join(chunk(13, entry(k, str(v))) for k, v in entries.items()) + number(14, 1) + rest


def sparse(dims, values, indices):
    return chunk(1, values) + chunk(2, indices) + b"".join(number(3, dim) for dim in dims)


def int64s(dims, numbers, name=""):
    return tensor(dims, 7, chunk(RAW, struct.pack(f"<{len(numbers)}q", *numbers)), name)


def files():
    every = [(dtype, dtype_codes(dtype)) for dtype in TYPES]
    made = {"types.btf": twin(every), "types.raw.onnx": of(*(raw(d, c, f"x.{d}") for d, c in every))}
    for how in ("packed", "single", "runs"):
        made[f"types.{how}.onnx"] = of(*(typed(d, c, f"x.{d}", how) for d, c in every))
    for dtype, codes in every:
        made[f"tensor_{dtype}.pb"] = raw(dtype, codes, f"x.{dtype}")
    return {**made, **odd_files(), **graph_files(), **quantized_files(), **constant_files(), **sparse_files(), **external_twin_files(), **value_files()}


def odd_files():
    """Legal, and not as onnx writes them."""
    held = dtype_codes("float32")
    scalar, empty = held.reshape(-1)[2:3].reshape(()), held[:0]
    data = wire.pack("float32", held)
    unknown = chunk(100, b"what is newer") + tag(101, 5) + b"\1\2\3\4" + tag(2000, 1) + bytes(8) + number(102, 2**64 - 1)
    dims = chunk(1, b"".join(varint(dim) for dim in held.shape))
    minus_two = tensor((3,), 6, chunk(5, varint(2**32 - 2) + varint(-2) + varint(7)), "x")
    return {
        "odd.reversed.pb": chunk(RAW, data) + chunk(NAME, "x") + number(2, 1) + dims,
        "odd.unknown.pb": unknown + dims + number(2, 1) + chunk(12, "text") + chunk(RAW, data) + unknown,
        "odd.no-name.pb": tensor(held.shape, 1, chunk(RAW, data), ""),
        "odd.long-varints.pb": b"\x88\x00\x82\x80\x00" + dims_of(held.shape[1:]) + number(2, 1) + chunk(RAW, data),
        "odd.not-external.pb": tensor(held.shape, 1, chunk(RAW, data), "x", chunk(13, entry("location", "../x")) + number(14, 0)),
        "odd.btf": twin([("float32", held)]),
        "scalar.pb": raw("float32", scalar),
        "scalar.btf": twin([("float32", scalar)]),
        "empty.raw.pb": raw("float32", empty),
        "empty.none.pb": tensor(empty.shape, 1),
        "empty.btf": twin([("float32", empty)]),
        "negative.pb": minus_two,
        "negative.btf": wire.canonical_file([wire.raw_dense(2, 0, (3,), struct.pack("<3i", -2, -2, 7))]),
    }


def graph_files():
    """Subgraphs, an order of execution, metadata, what belongs to what; types that no dtype stands for."""
    held = dtype_codes("uint8").reshape(-1)

    def one(name, k):
        return raw("uint8", held[k : k + 1], name)

    innermost = graph([one("w", 4)], [node("Identity", ["w"], ["y"])])
    inner = graph([one("w", 2), one("v", 3)], [node("If", ["c"], ["z"], "", attribute("then_branch", 6, innermost))])
    loops = chunk(5, chunk(1, "all") + chunk(11, graph([one("a", 5)])) + chunk(11, graph([one("a", 6)])))
    nodes = [
        node("Conv", ["in", "weight", ""], ["c1"], "conv_1"),
        node("If", ["c1"], ["i1"], "choose", attribute("then_branch", 6, inner) + attribute("alpha", 4, "text")),
        node("Many", ["i1", "bias"], ["m1", "", "m2"], "", loops),
        node("Add", ["bias", "m1"], ["out"], "add"),
    ]
    annotation = chunk(14, chunk(1, "weight") + chunk(2, entry("SCALE_TENSOR", "scale")) + chunk(2, entry("ZERO_POINT_TENSOR", "zero")))
    unclear = chunk(14, chunk(1, "in") + chunk(2, entry("SCALE_TENSOR", "scale")))
    square = raw("int8", dtype_codes("int8").reshape(-1)[:6].reshape(2, 3), "weight")
    scale = raw("float32", dtype_codes("float32").reshape(-1)[:3], "scale")
    zero = raw("int8", dtype_codes("int8").reshape(-1)[:3], "zero")
    whole = graph([one("bias", 0), square, scale, zero, one("1017", 1)], nodes, ["in", "bias"], ["out"], annotation + unclear)
    metadata = chunk(14, entry("author", "caf\u00e9")) + chunk(14, entry("empty", ""))
    texts = chunk(6, "a") + chunk(6, "bc")
    complex_numbers = tensor((2,), 14, chunk(4, bytes(16)), "complex")
    return {
        "graph.onnx": model(whole, metadata),
        "foreign.onnx": of(one("a", 0), tensor((2,), 8, texts, "strings"), complex_numbers, tensor((5,), 25, chunk(RAW, b"ab"), "two bits"),
                           tensor((4,), 27, chunk(RAW, b"abc"), "six bits"), tensor((1,), 77, chunk(RAW, b"z"), "new"), one("b", 1)),
    }  # fmt: skip


def quantized_files():
    """Codes with the nodes that say what they stand for, and the numbers that those give."""
    rng = np.random.default_rng(16)
    square = rng.integers(-128, 128, (3, 3, 4)).astype(np.uint8)
    scales = (rng.integers(1, 64, 3) / 64).astype(np.float32)
    zeros = rng.integers(0, 256, 3).astype(np.uint8)

    def dequantize(name, codes, scale, zero, *, shape=None, axis=None):
        """Its initializers, its node, and its numbers."""
        signed = codes.view(np.int8).astype(np.float64)
        dtype = "int8"
        own = [raw(dtype, codes, name), raw("float32", scale.view(np.uint32), f"s_{name}")]
        inputs = [name, f"s_{name}"]
        z = np.zeros(scale.shape)
        if zero is not None:
            own.insert(0, raw(dtype, zero, f"z_{name}"))
            inputs.append(f"z_{name}")
            z = zero.view(np.int8).astype(np.float64)
        attributes = b"" if axis is None else chunk(5, chunk(1, "axis") + number(3, axis) + number(20, 2))
        where = shape or scale.shape
        numbers = (signed - z.reshape(where)) * scale.astype(np.float64).reshape(where)
        bits = numbers.astype(np.float32).view(np.uint32)
        return own, node("DequantizeLinear", inputs, [f"{name}.out"], "", attributes), raw("float32", bits, name)

    one = np.array(0.25, np.float32)
    all_of = [
        dequantize("whole", square, one, np.array(3, np.uint8)),
        dequantize("bare", square, one, None),
        dequantize("usual", square, scales, zeros, shape=(1, 3, 1)),
        dequantize("first", square, scales, zeros, shape=(3, 1, 1), axis=0),
        dequantize("last", square[:, :, :3], scales, None, shape=(1, 1, 3), axis=-1),
    ]
    tensors = [tensor for own, _, _ in all_of for tensor in own]
    return {
        "quantized.onnx": model(graph(tensors, [n for _, n, _ in all_of], [], ["whole.out"])),
        "quantized.numbers.onnx": of(*(numbers for _, _, numbers in all_of)),
    }


def constant_files():
    """Codes whose scales and zero points are what Constant nodes hold; scales for each block of codes."""
    rng = np.random.default_rng(17)
    codes = rng.integers(-128, 128, (3, 4)).astype(np.int8)
    one, zero = np.array(0.5, np.float32), np.array(-7, np.int8)
    scales = (rng.integers(1, 64, 3) / 64).astype(np.float32)

    def constant(name, dtype, values, *, inner="", held="value"):
        bits = values.view(np.uint32 if dtype == "float32" else np.uint8)
        return node("Constant", [], [name], "", attribute(held, 5, raw(dtype, bits, inner)))

    def numbers(name, values):
        return raw("float32", values.astype(np.float32).view(np.uint32), name)

    def dequantize(name, *inputs, attributes=b""):
        return node("DequantizeLinear", [name, *inputs], [f"{name}.out"], "", attributes)

    def integer(name, value):
        return chunk(5, chunk(1, name) + number(3, value) + number(20, 2))

    nodes = [
        constant("shape", "float32", scales),
        constant("s", "float32", one, inner="not its name"),
        constant("z", "int8", zero),
        constant("each", "float32", scales),
        node("Constant", [], ["f"], "", chunk(5, chunk(1, "value_float") + varint((2 << 3) | 5) + struct.pack("<f", 2.0))),
        constant("other", "float32", one, held="sparse_value"),
        dequantize("whole", "s", "z"),
        dequantize("rows", "each", attributes=integer("axis", 0)),
        dequantize("again", "s"),
    ]
    held = [raw("int8", codes.view(np.uint8), name) for name in ("whole", "rows", "again")]
    wide = codes.astype(np.float64)
    blocked = rng.integers(-8, 8, (4, 8)).astype(np.int8)
    of_blocks = (rng.integers(1, 64, (4, 4)) / 64).astype(np.float32)
    block = dequantize("blocked", "s_blocked", attributes=integer("axis", 1) + integer("block_size", 2))
    return {
        "constants.onnx": model(graph(held, nodes, [], ["whole.out"])),
        "constants.numbers.onnx": of(
            numbers("whole", (wide + 7) * 0.5), numbers("rows", wide * scales.astype(np.float64)[:, None]), numbers("again", wide * 0.5)
        ),
        "blocks.onnx": model(graph([raw("int8", blocked.view(np.uint8), "blocked"), raw("float32", of_blocks.view(np.uint32), "s_blocked")],
                                   [block], [], ["blocked.out"])),
    }  # fmt: skip


def value_files():
    """What Constant nodes hold in every form, in a graph, in subgraphs and in functions; sequences and optionals; codes that were made wider with a sign."""

    def constant(name, *attributes, op="Constant", domain=""):
        return node(op, [], [name], "", b"".join(chunk(5, a) for a in attributes) + (chunk(7, domain) if domain else b""))

    def floats(numbers):
        return struct.pack(f"<{len(numbers)}f", *numbers)

    def one(n):
        return int64s((1,), [n])

    held = [
        constant("tensor", chunk(1, "value") + chunk(5, int64s((2,), [1, -2], "not its name"))),
        constant("float", chunk(1, "value_float") + tag(2, 5) + floats([0.5])),
        constant("floats", chunk(1, "value_floats") + b"".join(tag(7, 5) + floats([x]) for x in (1, 2.5, -3))),
        constant("floats_packed", chunk(1, "value_floats") + chunk(7, floats([1, 2.5]))),
        constant("int", chunk(1, "value_int") + number(3, -7)),
        constant("ints", chunk(1, "value_ints") + number(8, 300) + chunk(8, varint(-1) + varint(2**40)) + number(8, 0)),
        constant("none", chunk(1, "value_ints")),
        constant("string", chunk(1, "value_string") + chunk(4, "abc")),
        constant("strings", chunk(1, "value_strings") + chunk(9, "a") + chunk(9, "")),
        constant("sparse", chunk(1, "sparse_value") + chunk(22, chunk(1, int64s((2,), [5, 6])) + chunk(2, int64s((2,), [0, 3])) + number(3, 4))),
        constant("argument", chunk(1, "value") + chunk(21, "of the function")),
        constant("of_others", chunk(1, "value") + chunk(5, one(9)), domain="own"),
    ]
    inner = graph([raw("uint8", np.array([3], np.uint8), "w")], [constant("c", chunk(1, "value_int") + number(3, 1))])
    inside = node("If", ["x"], ["y"], "choose", attribute("then_branch", 6, inner))
    function = chunk(1, "f") + chunk(7, constant("c", chunk(1, "value_int") + number(3, 2))) + chunk(7, inside) + chunk(10, "own")
    plain = chunk(1, "g") + chunk(7, constant("c", chunk(1, "value_int") + number(3, 3))) + chunk(13, "second")
    tensors = [int64s((2,), [1, 2]), raw("float32", np.array([0x3F800000], np.uint32), "y")]

    def sequence(name, *values, kind=1):
        return (chunk(1, name) if name else b"") + number(2, kind) + b"".join(values)

    lists = [chunk(5, sequence("", chunk(3, tensors[0]))), chunk(5, sequence("", *(chunk(3, t) for t in tensors)))]
    pairs = chunk(1, "m") + number(2, 7) + number(3, 1) + number(3, 2) + chunk(5, sequence("", *(chunk(3, t) for t in tensors)))
    half = [varint(0x3C00), varint(0xBC00 - 0x10000), varint((0xFC00 - 0x10000) % 2**32)]
    return {
        "constants.forms.onnx": model(graph([raw("uint8", np.array([1], np.uint8), "first")], [*held, inside]), chunk(25, function) + chunk(25, plain)),
        "sequence.pb": sequence("seq", *(chunk(3, t) for t in tensors)),
        "sequence.unnamed.pb": sequence("", *(chunk(3, t) for t in tensors)),
        "sequence.nested.pb": sequence("seq", *lists, kind=3),
        "sequence.maps.pb": sequence("seq", chunk(6, pairs), kind=4),
        "sequence.optionals.pb": sequence("seq", chunk(7, sequence("", chunk(3, tensors[0]))), chunk(7, number(2, 1)), kind=5),
        "optional.pb": sequence("opt", chunk(3, tensors[0])),
        "wider.float16.pb": tensor((3,), 10, chunk(5, b"".join(half)), "x"),
        "wider.int4.pb": tensor((3,), 22, number(5, -0x79) + number(5, -1), "x"),
    }  # fmt: skip


def sparse_files():
    """Of the dims [3, 4]: by dim, by the number of the element, and with values one by one; of one dim."""
    held = dtype_codes("float32").reshape(-1)[2:5]
    places = [(0, 1), (1, 3), (2, 2)]
    values = raw("float32", held, "by dim")
    linear = int64s((3,), [row * 4 + column for row, column in places])
    by_dim = int64s((3, 2), [n for place in places for n in place])
    singles = typed("float32", held, "single", "single")
    steps = tensor((3,), 7, chunk(7, varint(1) + varint(7) + varint(10)), "")
    line = sparse((12,), raw("float32", held, "line"), linear)
    nothing = sparse((2, 2), raw("float32", held[:0], "nothing"), int64s((0, 2), []))
    parts = [sparse((3, 4), values, by_dim), sparse((3, 4), raw("float32", held, "linear"), linear), sparse((3, 4), singles, steps), line, nothing]
    whole = model(graph([raw("float32", held, "dense")], rest=b"".join(chunk(15, part) for part in parts)))
    dense = [wire.dense("float32", held)]
    for shape in ((3, 4), (3, 4), (3, 4), (12,)):
        codes = dtype_codes("float32").reshape(-1)[:12] * 0
        for (row, column), code in zip(places, held):
            codes[row * 4 + column] = code
        dense.append(wire.dense("float32", codes.reshape(shape)))
    dense.append(wire.dense("float32", dtype_codes("float32").reshape(-1)[:4].reshape(2, 2) * 0))
    return {"sparse.onnx": whole, "sparse.btf": wire.canonical_file(dense)}


def external_files():
    """A model with its weights in files of their own."""
    held, small = dtype_codes("float32"), dtype_codes("int4")
    data, nibbles = wire.pack("float32", held), wire.pack("int4", small)
    tensors = [
        external(held.shape, 1, "first", location="weights.bin", offset=16, length=len(data)),
        external(held.shape, 1, "same place", location="weights.bin", offset=16, length=len(data), checksum="0" * 40),
        external(small.shape, 22, "to the end", location="./nibbles.bin", offset=3),
        external((0, 4), 1, "nothing", location="weights.bin", length=0),
        raw("float32", held, "inside"),
    ]
    return {
        "model.onnx": of(*tensors),
        "weights.bin": bytes(16) + data + b"behind",
        "nibbles.bin": b"abc" + nibbles,
        "unknown-key.onnx": of(external((4,), 2, location="weights.bin", offset=2, length=4, alignment=4096)),
    }


def external_twin_files():
    held, small = dtype_codes("float32"), dtype_codes("int4")
    every = [("float32", held), ("float32", held), ("int4", small), ("float32", held.reshape(-1)[:0].reshape(0, 4)), ("float32", held)]
    return {"external.btf": twin(every)}


def set_files():
    """As ONNX's backends and zoo have what goes in and comes out: names of their own, or none."""
    held = dtype_codes("float32").reshape(-1)
    parts = {"input_0": "data", "input_2": "", "input_10": "mask", "output_0": "softmax/out:0"}
    return {f"{stem}.pb": raw("float32", held[k * 4 : k * 4 + 4], name) for k, (stem, name) in enumerate(parts.items())}


# What is wrong with each: the file and the code of the finding; none: it is sound, and not read.


def bad_files():
    made, expected = {}, []
    for name, (content, finding) in {**wire_faults(), **tensor_faults(), **external_faults(), **model_faults()}.items():
        made[name] = content
        expected.append(f"{name}\t{finding}\n")
    made["four.bin"] = b"abcd"
    made["expected.tsv"] = "".join(sorted(expected)).encode()
    return made


def sound(name="x", rest=b"", values=None):
    return tensor((4,), 2, chunk(RAW, b"abcd") if values is None else values, name, rest)


def wire_faults():
    wrong, good = "protobuf", sound()
    return {
        "varint-cut.pb": (good + b"\x90\x80", wrong),
        "varint-11-bytes.pb": (number(2, 1) + b"\x08" + b"\x80" * 10 + b"\x01", wrong),
        "varint-65-bits.pb": (number(2, 1) + b"\x08" + b"\xff" * 9 + b"\x02", wrong),
        "field-0.pb": (good + b"\x02\x00", wrong),
        "field-2-29.pb": (good + varint(2**29 << 3) + b"\x00", wrong),
        "group.pb": (good + b"\xa3\x06\x08\x01\xa4\x06", wrong),
        "group-end.pb": (good + b"\xa4\x06", wrong),
        "wire-type-6.pb": (good + b"\xa6\x06", wrong),
        "wire-type-7.pb": (good + b"\xa7\x06", wrong),
        "length-2-64.pb": (number(1, 4) + number(2, 2) + tag(RAW, 2) + varint(-1) + b"abcd", wrong),
        "length-past-end.pb": (good[:-1], wrong),
        "fixed-cut.pb": (good + tag(100, 5) + b"abc", wrong),
        "fixed64-cut.pb": (good + tag(100, 1) + b"abcdefg", wrong),
        "trailing-byte.pb": (good + b"\x00", wrong),
        "raw-twice.pb": (sound(rest=chunk(RAW, b"abcd")), wrong),
        "name-twice.pb": (sound(rest=chunk(NAME, "y")), wrong),
        "type-twice.pb": (number(2, 2) + sound(), wrong),
        "length-beyond-parent.onnx": (of(sound()[:-1]), wrong),
        "dims-cut.pb": (chunk(1, b"\x80") + number(2, 2) + chunk(RAW, b"abcd"), wrong),
        "graph-twice.onnx": (of(sound(), ) + chunk(7, graph([sound("y")])), wrong),
        "dims-are-fixed.onnx": (of(tag(1, 5) + b"\4\0\0\0" + number(2, 2) + chunk(NAME, "x") + chunk(RAW, b"abcd")), wrong),
        "type-is-text.onnx": (of(number(1, 4) + chunk(2, "\2") + chunk(NAME, "x") + chunk(RAW, b"abcd")), wrong),
        "name-is-number.onnx": (of(number(1, 4) + number(2, 2) + number(NAME, 7) + chunk(RAW, b"abcd")), wrong),
    }  # fmt: skip


def tensor_faults():
    wrong, some = "onnx-tensor", chunk(RAW, b"abcd")
    return {
        "no-type.onnx": (of(number(1, 4) + chunk(NAME, "x") + some), wrong),
        "type-0.pb": (tensor((4,), 0, some), wrong),
        "dim-negative.pb": (tensor((-4,), 2, some), wrong),
        "product-wraps.pb": (tensor((2**33, 2**33), 2, some), "size-overflow"),
        "zero-hides-overflow.pb": (tensor((0, 2**62, 2**62), 2), "size-overflow"),
        "bytes-wrap.pb": (tensor((2**62,), 1, some), "size-overflow"),
        "many-dims.pb": (tensor((1,) * 256 + (4,), 2, some), "rank-too-large"),
        "raw-short.pb": (tensor((5,), 2, some), wrong),
        "raw-long.pb": (tensor((3,), 2, some), wrong),
        "raw-in-bits.pb": (tensor((9,), 22, some), wrong),
        "giant.pb": (tensor((2**40,), 1, some), wrong),
        "no-values.pb": (tensor((4,), 2), wrong),
        "values-of-none.pb": (tensor((0,), 2, some), wrong),
        "raw-and-typed.pb": (tensor((4,), 2, chunk(5, b"\1\2\3\4") + some), wrong),
        "two-typed.pb": (tensor((4,), 2, chunk(5, b"\1\2\3\4") + chunk(7, b"\1\2\3\4")), wrong),
        "other-field.pb": (tensor((4,), 1, chunk(5, b"\1\2\3\4")), wrong),
        "uint32-in-int32s.pb": (tensor((4,), 12, chunk(5, b"\1\2\3\4")), wrong),
        "floats-short.pb": (tensor((2,), 1, chunk(4, bytes(7))), wrong),
        "floats-runs.pb": (tensor((2,), 1, chunk(4, bytes(3)) + chunk(4, bytes(5))), wrong),
        "numbers-few.pb": (tensor((4,), 2, chunk(5, b"\x81\1\x82\1\3")), wrong),
        "numbers-many.pb": (tensor((4,), 2, chunk(5, b"\1\2\3\4\5")), wrong),
        "numbers-too-few-bytes.pb": (tensor((2**40,), 6, chunk(5, b"\1\2\3\4")), wrong),
        "numbers-of-none.pb": (tensor((0,), 2, chunk(5, b"\1")), wrong),
        "numbers-cut.pb": (tensor((2,), 2, chunk(5, b"\1\x80")), "protobuf"),
        "numbers-65-bits.pb": (tensor((2,), 13, chunk(11, b"\1" + b"\xff" * 9 + b"\x7f")), "protobuf"),
        "float16-65536.pb": (tensor((2,), 10, chunk(5, varint(1) + varint(65536))), wrong),
        "float16-minus-32769.pb": (tensor((2,), 10, chunk(5, varint(1) + varint(-32769))), wrong),
        "uint8-negative.pb": (tensor((2,), 2, chunk(5, varint(1) + varint(-1))), wrong),
        "nibbles-minus-129.pb": (tensor((3,), 22, chunk(5, varint(1) + varint(-129))), wrong),
        "int8-128.pb": (tensor((2,), 3, chunk(5, varint(1) + varint(128))), wrong),
        "int8-minus-129.pb": (tensor((2,), 3, chunk(5, varint(-128) + varint(-129))), wrong),
        "int32-33-bits.pb": (tensor((2,), 6, chunk(5, varint(1) + varint(2**32))), wrong),
        "uint32-33-bits.pb": (tensor((2,), 12, chunk(11, varint(1) + varint(2**32))), wrong),
        "bool-2.pb": (tensor((2,), 9, chunk(5, varint(1) + varint(2))), wrong),
        "nibbles-one-each.pb": (tensor((3,), 22, chunk(5, b"\1\2\3")), wrong),
        "nibbles-eight-each.pb": (tensor((8,), 22, chunk(5, varint(0x12345678))), wrong),
        "nibbles-256.pb": (tensor((3,), 21, chunk(5, b"\1" + varint(256))), wrong),
        "segment.pb": (sound(rest=chunk(3, number(1, 0) + number(2, 4))), wrong),
        "sequence-cut.pb": (chunk(1, "seq") + number(2, 1) + chunk(3, sound()[:-1]), "protobuf"),
        "sequence-untyped.pb": (chunk(1, "seq") + number(2, 1) + chunk(3, chunk(RAW, b"a")), wrong),
        "optional-empty.pb": (chunk(1, "opt") + number(2, 1), ""),
    }  # fmt: skip


def external_faults():
    wrong = "onnx-external"
    cases = {
        "location-none": {"offset": 0},
        "location-empty": {"location": ""},
        "location-absolute": {"location": "/etc/passwd"},
        "location-up": {"location": "../y"},
        "location-up-inside": {"location": "a/../../y"},
        "location-backslash": {"location": "..\\y"},
        "location-nul": {"location": "a\0b"},
        "location-folder": {"location": "."},
        "location-up-behind": {"location": "missing/.."},
        "offset-past-end": {"location": "four.bin", "offset": 5},
        "offset-negative": {"location": "four.bin", "offset": "-1"},
        "offset-text": {"location": "four.bin", "offset": "0x0"},
        "offset-empty": {"location": "four.bin", "offset": ""},
        "offset-2-64": {"location": "four.bin", "offset": str(2**64)},
        "length-past-end": {"location": "four.bin", "offset": 2, "length": 4},
        "length-giant": {"location": "four.bin", "length": 2**62},
        "length-0": {"location": "four.bin", "length": 0},
        "length-short": {"location": "four.bin", "length": 3},
        "rest-short": {"location": "four.bin", "offset": 1},
    }
    made = {f"external-{name}.pb": (external((4,), 2, **entries), wrong) for name, entries in cases.items()}
    made["external-and-raw.pb"] = external((4,), 2, location="four.bin", rest=chunk(RAW, b"abcd")), wrong
    made["external-without.pb"] = tensor((4,), 2) + number(14, 1), wrong
    made["external-location-twice.pb"] = external((4,), 2, location="four.bin", rest=chunk(13, entry("location", "five.bin"))), wrong
    made["external-missing.pb"] = external((4,), 2, location="missing.bin"), ""
    return made


def model_faults():
    deep = graph([sound("deep")])
    for _ in range(17):
        deep = graph(nodes=[node("If", [], ["y"], "n", attribute("a", 6, deep))])
    indices, values = int64s((2,), [0, 1]), tensor((2,), 2, chunk(RAW, b"ab"), "s")

    def sparse_model(*parts):
        return model(graph([sound()], rest=chunk(15, sparse(*parts))))

    return {
        "names-twice.onnx": (of(sound("a"), sound("b"), sound("a")), "onnx-names"),
        "name-missing.onnx": (of(sound("a"), sound("")), "onnx-names"),
        "name-long.onnx": (of(sound("a"), sound("n" * 65536)), "onnx-names"),
        "deep.onnx": (model(deep), "onnx-graph"),
        "empty.onnx": (model(graph(nodes=[node("Relu", ["x"], ["y"])], inputs=["x"], outputs=["y"])), ""),
        "sparse-no-values.onnx": (model(graph([sound()], rest=chunk(15, chunk(2, indices)))), "onnx-tensor"),
        "sparse-no-indices.onnx": (model(graph([sound()], rest=chunk(15, chunk(1, values)))), "onnx-tensor"),
        "sparse-index-dims.onnx": (sparse_model((3, 4), values, int64s((2, 3), [0] * 6)), "onnx-tensor"),
        "sparse-index-type.onnx": (sparse_model((3,), values, tensor((2,), 6, chunk(RAW, bytes(8)), "")), "onnx-tensor"),
        "sparse-value-dims.onnx": (sparse_model((3,), tensor((2, 1), 2, chunk(RAW, b"ab"), "s"), indices), "onnx-tensor"),
        "sparse-index-negative.onnx": (sparse_model((3,), values, int64s((2,), [0, -1])), "coo-index-out-of-range"),
        "sparse-index-large.onnx": (sparse_model((3, 4), values, int64s((2,), [0, 12])), "coo-index-out-of-range"),
        "sparse-dims-wrap.onnx": (sparse_model((2**40, 2**40), values, indices), "size-overflow"),
    }
