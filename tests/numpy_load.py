"""Converts tensors of the test data to .npy with btftool and compares what numpy.load makes of them with the bytes in
the BTF file, which this script finds by itself. Exit code 0: all agree."""

import ast
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

tool, testdata = sys.argv[1:]
# dtype code: (NumPy's dtype, the one that --as-uint gives); 4-bit codes take a byte each.
NAMED = {0: "|i1", 1: "<i2", 2: "<i4", 3: "<i8", 4: "<f4", 5: "<f8", 6: "|u1", 7: "<u2", 8: "<u4", 9: "<u8", 128: "<f2", 136: "|b1"}
# Those of ml_dtypes, by their names; and the integers of --as-uint.
ADDED = {129: ("bfloat16", "<u2"), 130: ("float8_e4m3fn", "|u1"), 131: ("float8_e5m2", "|u1"), 132: ("float8_e8m0fnu", "|u1")}
ADDED |= {133: ("float4_e2m1fn", "|u1"), 134: ("int4", "|u1"), 135: ("uint4", "|u1"), 137: ("float8_e4m3fnuz", "|u1")}
ADDED |= {138: ("float8_e5m2fnuz", "|u1"), 139: ("float8_e3m4", "|u1"), 140: ("float8_e4m3", "|u1"), 141: ("float8_e4m3b11fnuz", "|u1")}
FOUR_BITS = (133, 134, 135)


def dense_records(path):
    """index, dtype code, dims, data of every kLINEAR record"""
    with open(path, "rb") as file:
        image = file.read()
    (count,) = struct.unpack_from("<Q", image)
    for index, offset in enumerate(struct.unpack_from(f"<{count}Q", image, 8)):
        rank, dtype, layout = struct.unpack_from("<QBB", image, offset)
        if layout == 0:
            dims = struct.unpack_from(f"<{rank}Q", image, offset + 16)
            yield index, dtype, dims, image[offset + 16 + 8 * rank :]


def elements(dtype, dims, data):
    count = int(np.prod(dims))
    if dtype in FOUR_BITS:
        packed = np.frombuffer(data, "u1", (count + 1) // 2)
        return np.stack((packed & 15, packed >> 4), -1).reshape(-1)[:count].tobytes()
    width = int((NAMED.get(dtype) or ADDED[dtype][1])[-1])
    return data[: count * width]


def loaded(path, index, out, *options):
    subprocess.run([tool, "-q", "convert", "--tensor", str(index), *options, path, out], check=True)
    return out


def what_numpy_reads(path):
    array = np.load(path, allow_pickle=False)
    return array.dtype.str, array.shape, array.tobytes()


def what_stands_there(path):
    """for a descr that NumPy takes from ml_dtypes, which may be missing here"""
    with open(path, "rb") as file:
        np.lib.format.read_magic(file)
        length = int.from_bytes(file.read(2), "little")
        header = ast.literal_eval(file.read(length).decode())
        data = file.read()
    if ml_dtypes is not None:
        array = np.load(path, allow_pickle=False)
        if array.dtype != np.dtype(getattr(ml_dtypes, header["descr"])) or array.tobytes() != data:
            sys.exit(f"{path}: numpy.load makes {array.dtype} of {header}")
    return header["descr"], header["shape"], data


compared = 0
with tempfile.TemporaryDirectory() as scratch:
    out = os.path.join(scratch, "out.npy")
    for name in ("dtypes", "small_codes", "scalars", "zero_dims", "mixed", "layouts_f32.linear"):
        path = os.path.join(testdata, "good", name + ".btf")
        for index, dtype, dims, data in dense_records(path):
            if len(dims) > 32:
                continue
            wanted = elements(dtype, dims, data)
            kinds = [((), NAMED[dtype])] if dtype in NAMED else [((), ADDED[dtype][0]), (("--as-uint",), ADDED[dtype][1])]
            for options, kind in kinds:
                added = dtype in ADDED and not options
                found = (what_stands_there if added else what_numpy_reads)(loaded(path, index, out, *options))
                if found != (kind, tuple(dims), wanted):
                    sys.exit(f"{name} tensor {index} {options}: {found[:2]} is not {kind} {dims}, or the data differ")
                compared += 1
    # A layout and COO become the same row-major array as their kLINEAR twins.
    for name, twin in (("layouts_f16", "layouts_f16.linear"), ("coo_code2", "coo_code2.dense")):
        for index, dtype, dims, data in dense_records(os.path.join(testdata, "good", twin + ".btf")):
            path = loaded(os.path.join(testdata, "good", name + ".btf"), index, out)
            _, shape, found = (what_stands_there if dtype in ADDED else what_numpy_reads)(path)
            if shape != tuple(dims) or found != elements(dtype, dims, data):
                sys.exit(f"{name} tensor {index} differs from {twin}")
            compared += 1
print(f"{compared} arrays agree")
