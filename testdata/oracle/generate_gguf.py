#!/usr/bin/env python3
"""Has the gguf package write a file, and decode the blocks of those that are put together by hand.

    generate_gguf.py           write oracle/gguf/
    generate_gguf.py --check   compare with what is there; exit 1 on any difference

Needs NumPy and gguf; 0.19.0 and NumPy 2.4.6 wrote what is there.
"""

import os
import sys
import tempfile

import numpy as np

from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter, quants

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

from generator import wire  # noqa: E402 (after its folder is in the path)
from oracle.checked_in import write_or_check  # noqa: E402


def decoded(path):
    """The tensors of a file as BTF, blocks as the package decodes them."""
    records = []
    for tensor in GGUFReader(path).tensors:
        dims = [int(dim) for dim in reversed(tensor.shape)]
        with np.errstate(all="ignore"):
            numbers = quants.dequantize(tensor.data, tensor.tensor_type).astype("<f4")
        records.append(wire.dense("float32", np.ascontiguousarray(numbers).view("<u4").reshape(dims)))
    return wire.canonical_file(records)


def write(path):
    """Every type that the package quantises, of numbers that are not all alike."""
    writer = GGUFWriter(path, "llama")
    writer.add_name("written by the gguf package")
    writer.add_context_length(4096)
    writer.add_array("tokenizer.ggml.tokens", [f"word {i}" for i in range(100)])
    writer.add_array("a.list", [1, 2, 3])
    writer.add_float32("a.float", 1e-5)
    numbers = (np.sin(np.arange(4 * 512)) * np.exp(np.arange(4 * 512) % 11 - 6)).astype(np.float32).reshape(4, 512)
    writer.add_tensor("plain.weight", numbers)
    for name in ("Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "MXFP4"):
        kind = GGMLQuantizationType[name]
        writer.add_tensor(f"blk.{name}.weight", quants.quantize(numbers, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def files():
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "written.gguf")
        write(path)
        with open(path, "rb") as file:
            return {
                "written.gguf": file.read(),
                "written.btf": decoded(path),
                "blocks.btf": decoded(os.path.join(os.path.dirname(HERE), "gguf", "blocks.gguf")),
                "code_books.btf": decoded(os.path.join(os.path.dirname(HERE), "gguf", "code_books.gguf")),
            }


if __name__ == "__main__":
    write_or_check(os.path.join(HERE, "gguf"), files())
