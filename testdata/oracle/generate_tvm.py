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


def array(dtype, codes):
    held = getattr(ml_dtypes, dtype, None) or np.dtype(dtype)
    return runtime.tensor(np.ascontiguousarray(codes).view(held))


def files():
    whole = {f"x.{dtype}": array(dtype, tvm.dtype_codes(dtype)) for dtype in tvm.TYPES if wire.DTYPES[dtype][1] > 4}
    # Names and values of the dump are those that TVM reads.
    dump = runtime.load_param_dict(tvm.files()["dump.params"])
    return {"types.params": runtime.save_param_dict(whole), "dump.params": runtime.save_param_dict(dump)}


def main():
    folder = os.path.join(HERE, "tvm")
    os.makedirs(folder, exist_ok=True)
    wrong = []
    for name, content in files().items():
        path = os.path.join(folder, name)
        if sys.argv[1:] == ["--check"]:
            with open(path, "rb") as file:
                wrong += [name] if file.read() != content else []
            continue
        with open(path, "wb") as file:
            file.write(content)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
