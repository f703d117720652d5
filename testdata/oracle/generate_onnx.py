#!/usr/bin/env python3
"""Has onnx itself write tensors and a model, and say which broken files it reads, as an oracle for what is put together by hand.

    generate_onnx.py           write oracle/onnx/
    generate_onnx.py --check   compare with what is there; exit 1 on any difference

Needs NumPy, ml_dtypes and onnx; 1.23.2 with protobuf 7.36.2 wrote what is there.
"""

import os
import sys
import tempfile

import ml_dtypes
import numpy as np
import onnx
from onnx import external_data_helper, helper, numpy_helper

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

from generator import onnx as by_hand  # noqa: E402 (after its folder is in the path)
from oracle.checked_in import write_or_check  # noqa: E402


def array(dtype):
    codes = by_hand.dtype_codes(dtype)
    return np.ascontiguousarray(codes).view(getattr(ml_dtypes, dtype, None) or np.dtype(dtype))


def typed(dtype):
    """In the field for values one by one, as onnx's own serializer packs it."""
    codes = by_hand.dtype_codes(dtype)
    tensor = onnx.TensorProto(data_type=by_hand.TYPES[dtype][0], name=f"x.{dtype}", dims=codes.shape)
    if dtype == "float32":  # Python's floats have no signalling NaN of 32 bits
        return onnx.TensorProto.FromString(by_hand.typed(dtype, codes, f"x.{dtype}", "single"))
    field = getattr(tensor, helper.tensor_dtype_to_field(tensor.data_type))
    field.extend(array(dtype).reshape(-1).tolist() if dtype == "float64" else by_hand.numbers_of(dtype, codes))
    assert numpy_helper.to_array(tensor).tobytes() == array(dtype).tobytes(), dtype
    return tensor


def verdicts():
    """Whether onnx reads each of the broken ones."""
    with tempfile.TemporaryDirectory() as scratch:
        lines = []
        files = by_hand.bad_files()
        for name in ("four.bin",):
            with open(os.path.join(scratch, name), "wb") as file:
                file.write(files[name])
        for name, content in sorted(files.items()):
            if not name.endswith((".pb", ".onnx")):
                continue
            try:
                if name.endswith(".pb"):
                    tensor = onnx.TensorProto.FromString(content)
                    numpy_helper.to_array(tensor, scratch)
                else:
                    model = onnx.ModelProto.FromString(content)
                    external_data_helper.load_external_data_for_model(model, scratch)
                    for tensor in model.graph.initializer:
                        numpy_helper.to_array(tensor)
                lines.append(f"{name}\tread\n")
            except Exception:  # of several kinds
                lines.append(f"{name}\trefused\n")
        return "".join(lines).encode()


def files():
    made = {f"tensor_{dtype}.pb": numpy_helper.from_array(array(dtype), f"x.{dtype}").SerializeToString() for dtype in by_hand.TYPES}
    graph = helper.make_graph([], "g", [], [], initializer=[typed(dtype) for dtype in by_hand.TYPES])
    made["types.typed.onnx"] = helper.make_model(graph, producer_name="onnx", ir_version=10).SerializeToString()
    made["verdicts.tsv"] = verdicts()
    return made


if __name__ == "__main__":
    write_or_check(os.path.join(HERE, "onnx"), files())
