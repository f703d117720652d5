#!/usr/bin/env python3
"""Writes safetensors/: files that the reference library for safetensors wrote, and what it says of the files of ../safetensors*.

    generate_safetensors.py             write them
    generate_safetensors.py --check     compare with what is there; exit 1 when anything differs

Needs the safetensors package, 0.8.0, and NumPy. The tensors are those of ../generator/safetensors.py, which writes files without it.
"""

import ctypes
import glob
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import safetensors  # noqa: E402

from generator import safetensors as by_hand, wire  # noqa: E402
from oracle.checked_in import write_or_check  # noqa: E402

OUT = os.path.join(HERE, "safetensors")
TOLD = {"F8_E4M3": "float8_e4m3fn", "F8_E8M0": "float8_e8m0fnu", "F4": "float4_e2m1fn_x2"}


def serialized(tensors):
    """Of (name, type, codes)."""
    buffers, specs = [], {}
    for name, dtype, codes in tensors:
        data = wire.pack(by_hand.TYPES[dtype], codes)
        # F4 has two codes in a byte, and is told the shape of the bytes.
        shape = list(codes.shape[:-1]) + [codes.shape[-1] // 2] if dtype == "F4" else list(codes.shape)
        buffers.append(ctypes.create_string_buffer(data, max(len(data), 1)))
        specs[name] = safetensors.TensorSpec(
            dtype=TOLD.get(dtype, by_hand.TYPES[dtype]), shape=shape, data_ptr=ctypes.addressof(buffers[-1]), data_len=len(data)
        )
    return bytes(safetensors.serialize(specs, by_hand.FORMAT))


def verdicts():
    lines = []
    for path in sorted(glob.glob(os.path.join(os.path.dirname(HERE), "safetensors*", "*.safetensors"))):
        with open(path, "rb") as file:
            try:
                said = f"{len(safetensors.deserialize(file.read()))} tensors"
            except Exception:  # what it says of it differs from run to run
                said = "refused"
        lines.append(f"{os.path.basename(path)}\t{said}\n")
    return "".join(lines).encode()


def files():
    types = [(f"x.{by_hand.TYPES[dtype]}", dtype, by_hand.codes_of(dtype)) for dtype in by_hand.TYPES]
    names = sorted(by_hand.NAMES, key=lambda name: name.encode())
    codes = by_hand.codes_of("U8").reshape(-1)
    return {
        "types.safetensors": serialized(types),
        "names.safetensors": serialized([(name, "U8", codes[i : i + 1]) for i, name in enumerate(names)]),
        "verdicts.tsv": verdicts(),
        "version.txt": f"safetensors {safetensors.__version__}\n".encode(),
    }


if __name__ == "__main__":
    write_or_check(OUT, files())
