"""NumPy's .npy files, written by NumPy, with the same tensor as BTF beside them; and broken ones, put together by hand."""

import io
import struct

import numpy as np

from . import wire
from .good import dtype_codes

NUMPY_TYPES = {
    "int8": "i1",
    "int16": "i2",
    "int32": "i4",
    "int64": "i8",
    "float32": "f4",
    "float64": "f8",
    "uint8": "u1",
    "uint16": "u2",
    "uint32": "u4",
    "uint64": "u8",
    "float16": "f2",
    "bool": "b1",
}
MAGIC = b"\x93NUMPY"


def saved(array, version=(1, 0)):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=version)
    return out.getvalue()


def array_of(dtype, codes, byte_order="<"):
    """The array with these bit patterns; no number is converted, so NaNs keep their bits."""
    kind = NUMPY_TYPES[dtype]
    return np.asarray(codes).astype(f"{byte_order}u{kind[1]}").view(f"{byte_order}{kind}")


def twin(dtype, codes):
    return wire.canonical_file([wire.dense(dtype, codes)])


def files():
    made = {}
    made.update(type_files())
    made.update(shape_files())
    made.update(void_files())
    made.update(header_files())
    return made


def type_files():
    """Every dtype, in both orders and byte orders; float32 in every version too."""
    made = {}
    for dtype, kind in NUMPY_TYPES.items():
        codes = dtype_codes(dtype)
        made[f"{dtype}.btf"] = twin(dtype, codes)
        for byte_order in "<>" if kind[1] != "1" else "<":
            array = array_of(dtype, codes, byte_order)
            for version in (1, 2, 3) if dtype == "float32" else (1,):
                for order, arranged in (("c", array), ("f", np.asfortranarray(array))):
                    end = "little" if byte_order == "<" else "big"
                    made[f"{dtype}.{order}.{end}.v{version}.npy"] = saved(arranged, (version, 0))
    return made


def shape_files():
    shapes = {"scalar": (), "one": (5,), "empty": (0, 3), "ones": (1,) * 16 + (2,) + (1,) * 15}
    made = {}
    for name, shape in shapes.items():
        codes = np.arange(1, 1 + int(np.prod(shape)), dtype="u4").reshape(shape)
        made[f"shape_{name}.npy"] = saved(array_of("int32", codes))
        made[f"shape_{name}.btf"] = twin("int32", codes)
    return made


def void_files():
    """As ml_dtypes saves its types: void of the same width, 4-bit codes in a byte each; every other negative int4 has
    its sign in the high nibble too."""
    made = {}
    for dtype in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float4_e2m1fn", "int4", "uint4",
                  "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz"):
        codes = dtype_codes(dtype)
        width = codes.itemsize
        signed = (codes >= 8) & (np.arange(codes.size).reshape(codes.shape) % 2 == 0) if dtype == "int4" else False
        stored = np.where(signed, codes | 0xF0, codes)
        made[f"void_{dtype}.npy"] = by_hand(f"{'<' if width > 1 else '|'}V{width}", codes.shape, stored.astype(f"<u{width}").tobytes())
        made[f"void_{dtype}.btf"] = twin(dtype, codes)
    return made


def header_files():
    """Headers that NumPy does not write any more, and reads."""
    codes = np.arange(1, 4, dtype="u4")
    data = codes.tobytes()
    return {
        "header_python2.npy": with_header("{'descr': '<i4', 'fortran_order': False, 'shape': (3L,), }", data),
        "header_python2.btf": twin("int32", codes),
        "header_compact.npy": with_header('{"shape":(3,),"fortran_order":True,"descr":"i4"}', data),
        "header_compact.btf": twin("int32", codes),
    }


# Put together by hand


def with_header(text, data, version=(1, 0), length=None):
    header = text.encode()
    size = len(header) if length is None else length
    return MAGIC + bytes(version) + struct.pack("<H" if version[0] == 1 else "<I", size) + header + data


def by_hand(descr, shape, data, order="False"):
    shape = shape if isinstance(shape, str) else repr(tuple(shape))
    return with_header(f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}", data)


def bad_files():
    """The files and expected.tsv: file, finding code of validate, or '-' for what is sound but not supported."""
    data = bytes(24)
    sound = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
    headers = {
        "too-short": MAGIC + b"\x01\x00\x00",
        "header-past-end": with_header(sound, b"", length=1000),
        "header-past-end-v2": with_header(sound, data, (2, 0), length=2**32 - 1),
        "header-huge": with_header(sound + " " * 70000, data, (2, 0)),
        "header-cut": MAGIC + b"\x02\x00\x10\x00",
        "no-dict": with_header("('<f4', False, (2, 3))", data),
        "no-end": with_header(sound[:-1], data),
        "no-comma": with_header(sound.replace(", 'sh", " 'sh"), data),
        "no-colon": with_header(sound.replace("'shape':", "'shape'"), data),
        "no-descr": with_header("{'fortran_order': False, 'shape': (2, 3), }", data),
        "no-order": with_header("{'descr': '<f4', 'shape': (2, 3), }", data),
        "no-shape": with_header("{'descr': '<f4', 'fortran_order': False, }", data),
        "behind-dict": with_header(sound + "; import os", data),
        "key-unknown": with_header(sound.replace("}", "'x': 1}"), data),
        "key-twice": with_header(sound.replace("}", "'shape': (6,)}"), data),
        "key-no-string": with_header(sound.replace("}", "7: 1}"), data),
        "string-no-end": with_header("{'descr': '<f4", data),
        "string-escape": with_header(sound.replace("<f4", "\\x3cf4"), data),
        "order-no-bool": by_hand("<f4", (2, 3), data, "0"),
        "shape-no-tuple": by_hand("<f4", "[2, 3]", data),
        "shape-number": by_hand("<f4", "(6)", data),
        "shape-float": by_hand("<f4", "(2.0, 3)", data),
        "shape-word": by_hand("<f4", "(a, 3)", data),
    }
    made = {name: (content, "npy-header") for name, content in headers.items()}
    for name, version in (("version-0", (0, 1)), ("version-1-1", (1, 1)), ("version-4", (4, 0))):
        made[name] = (with_header(sound, data, version), "npy-version")
    shapes = {
        "shape-negative": "(-2, 3)",
        "shape-beyond-64-bits": f"({2**64}, 1)",
        "shape-overflow": f"({2**33}, {2**33})",
        "shape-overflow-bytes": f"({2**62 + 6},)",
        "shape-overflow-empty": f"({2**33}, {2**33}, 0)",
        "shape-many-dims": "(" + "1, " * 256 + ")",
    }
    made.update({name: (by_hand("<f4", shape, data), "npy-shape") for name, shape in shapes.items()})
    made["data-cut"] = (by_hand("<f4", (2, 3), data[:-1]), "data-past-end")
    made["data-none"] = (by_hand("<f4", (2**40, 2**20), b""), "data-past-end")
    made["data-twice"] = (by_hand("<f4", (2, 3), data + data), "bytes-after-data")
    made["data-one-more"] = (by_hand("<f4", (2, 3), data + b"\0"), "bytes-after-data")
    descrs = {
        "objects": "|O",
        "complex": "<c8",
        "datetime": "<M8[ns]",
        "text": "<U4",
        "bytes": "|S4",
        "long-double": "<f16",
        "void-3": "|V3",
        "void-big": ">V2",
        "empty": "",
    }
    for name, descr in descrs.items():
        made[f"descr-{name}"] = (by_hand(descr, (2, 3), data), "-")
    structured = "{'descr': [('x', '<f4'), ('y', '<f4')], 'fortran_order': False, 'shape': (3,), }"
    made["descr-structured"] = (with_header(structured, data), "-")
    expected = "".join(f"{name}.npy\t{finding}\n" for name, (_, finding) in sorted(made.items()))
    return {**{f"{name}.npy": content for name, (content, _) in made.items()}, "expected.tsv": expected.encode()}
