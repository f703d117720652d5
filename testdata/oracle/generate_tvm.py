#!/usr/bin/env python3
"""Has TVM itself write files of parameters, as an oracle for what is put together by hand.

    generate_tvm.py           write oracle/tvm/
    generate_tvm.py --check   compare with what is there; exit 1 on any difference

Needs NumPy, ml_dtypes and apache-tvm; 0.27.0.post1 wrote what is there.
"""

import os
import sys

import ml_dtypes
import numpy as np
from tvm import runtime

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

from generator import tvm, wire  # noqa: E402 (after its folder is in the path)
from oracle.checked_in import write_or_check  # noqa: E402


def array(dtype, codes):
    held = getattr(ml_dtypes, dtype, None) or np.dtype(dtype)
    return runtime.tensor(np.ascontiguousarray(codes).view(held))


def files():
    whole = {f"x.{dtype}": array(dtype, tvm.dtype_codes(dtype)) for dtype in tvm.TYPES if wire.DTYPES[dtype][1] > 4}
    # Names and values of the dump are those that TVM reads.
    dump = runtime.load_param_dict(tvm.files()["dump.params"])
    return {"types.params": runtime.save_param_dict(whole), "dump.params": runtime.save_param_dict(dump)}


if __name__ == "__main__":
    write_or_check(os.path.join(HERE, "tvm"), files())
