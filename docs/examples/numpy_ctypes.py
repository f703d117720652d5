#!/usr/bin/env python3
"""BTF files and NumPy by way of libbtf's C interface, without a module to compile.

    numpy_ctypes.py LIBBTF FILE OUT

Prints the tensors of FILE as float32 and writes them to OUT as float16; then reads the first one
once more by DLPack, without a copy.
"""
import ctypes as c
import sys

import numpy as np


class Info(c.Structure):
    _fields_ = [("size", c.c_size_t), ("name", c.c_char_p), ("dtype", c.c_char_p), ("layout", c.c_char_p),
                ("rank", c.c_uint64), ("dims", c.POINTER(c.c_uint64)), ("bytes", c.c_uint64), ("nnz", c.c_uint64)]


class ReadOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("dtype", c.c_char_p), ("layout", c.c_char_p), ("overflow", c.c_char_p),
                ("rounding", c.c_char_p), ("duplicates", c.c_char_p), ("lossless", c.c_int32), ("jobs", c.c_uint32),
                ("region_rank", c.c_size_t), ("begin", c.POINTER(c.c_uint64)), ("end", c.POINTER(c.c_uint64)),
                ("step", c.POINTER(c.c_uint64))]


class Error(c.Structure):
    _fields_ = [("size", c.c_size_t), ("status", c.c_int32), ("system", c.c_int32), ("message", c.c_char_p),
                ("file", c.c_char_p), ("finding", c.c_char_p), ("tensor", c.c_uint64), ("offset", c.c_uint64)]


class Array(c.Structure):
    _fields_ = [("size", c.c_size_t), ("data", c.c_void_p), ("bytes", c.c_uint64), ("dtype", c.c_char_p),
                ("rank", c.c_uint64), ("dims", c.POINTER(c.c_uint64)), ("strides", c.POINTER(c.c_int64)),
                ("layout", c.c_char_p)]


class WriteOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("dtype", c.c_char_p), ("layout", c.c_char_p)]


def sized(kind, **members):
    return kind(size=c.sizeof(kind), **members)


class Library:
    def __init__(self, path):
        self.lib = c.CDLL(path)
        for name, result, arguments in [
                ("btf_last_error_info", c.c_int32, [c.POINTER(Error)]),
                ("btf_open", c.c_void_p, [c.c_char_p]),
                ("btf_close", None, [c.c_void_p]),
                ("btf_count", c.c_uint64, [c.c_void_p]),
                ("btf_info", c.c_int32, [c.c_void_p, c.c_uint64, c.POINTER(Info)]),
                ("btf_read", c.c_int32,
                 [c.c_void_p, c.c_uint64, c.POINTER(ReadOptions), c.c_void_p, c.c_uint64, c.c_void_p]),
                ("btf_read_dlpack", c.c_int32,
                 [c.c_void_p, c.c_uint64, c.POINTER(ReadOptions), c.POINTER(c.c_void_p)]),
                ("btf_writer_new", c.c_void_p, []),
                ("btf_writer_free", None, [c.c_void_p]),
                ("btf_writer_add", c.c_int32, [c.c_void_p, c.POINTER(Array), c.POINTER(WriteOptions)]),
                ("btf_writer_save", c.c_int32, [c.c_void_p, c.c_char_p, c.c_void_p, c.c_void_p])]:
            function = getattr(self.lib, name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name[4:], function)

    def check(self, good):
        if not good:
            error = sized(Error)
            self.last_error_info(error)
            text = error.message.decode()
            # With a number of the system it is FileNotFoundError, PermissionError, ...
            raise OSError(error.system, text) if error.system else RuntimeError(text)
        return good


class DLPackCapsule:
    """A DLManagedTensor for np.from_dlpack() and torch.utils.dlpack.from_dlpack()."""

    def __init__(self, managed):
        self.managed = managed

    def __dlpack__(self, stream=None):
        new = c.pythonapi.PyCapsule_New
        new.restype, new.argtypes = c.py_object, [c.c_void_p, c.c_char_p, c.c_void_p]
        managed, self.managed = self.managed, None  # a capsule is for one user, who calls the deleter
        return new(managed, b"dltensor", None)

    def __dlpack_device__(self):
        return (1, 0)  # kDLCPU


def read(btf, file, index, dtype, box=None):
    """The tensor; of a box, a slice for each dim, only what it needs is read."""
    info = sized(Info)
    btf.check(btf.info(file, index, info) == 0)
    dims = info.dims[:info.rank]
    options = sized(ReadOptions, dtype=np.dtype(dtype).name.encode(), layout=b"kLINEAR")
    if box is not None:
        ranges = [range(*part.indices(dim)) for part, dim in zip(box, dims, strict=True)]
        dims = [len(part) for part in ranges]
        options.region_rank = len(ranges)
        for member in "start", "stop", "step":
            numbers = (c.c_uint64 * len(ranges))(*(getattr(part, member) for part in ranges))
            setattr(options, {"start": "begin", "stop": "end"}.get(member, member), numbers)
    array = np.empty(tuple(dims), dtype)
    btf.check(btf.read(file, index, options, array.ctypes.data, array.nbytes, None) == 0)
    return array


def add(btf, writer, array, dtype):
    # NumPy's strides are bytes. Negative ones become a copy.
    if any(stride < 0 or stride % array.itemsize for stride in array.strides):
        array = np.ascontiguousarray(array)
    low, high = np.lib.array_utils.byte_bounds(array) if hasattr(np.lib, "array_utils") else np.byte_bounds(array)
    described = sized(Array, data=low, bytes=high - low, dtype=array.dtype.name.encode(), rank=array.ndim,
                      dims=(c.c_uint64 * array.ndim)(*array.shape),
                      strides=(c.c_int64 * array.ndim)(*(stride // array.itemsize for stride in array.strides)))
    btf.check(btf.writer_add(writer, described, sized(WriteOptions, dtype=dtype)) == 0)
    return array  # to be kept until the file is saved


def main(library, path, output):
    btf = Library(library)
    file = btf.check(btf.open(path.encode()))
    writer = btf.check(btf.writer_new())
    kept = []
    for index in range(btf.count(file)):
        array = read(btf, file, index, np.float32)
        print(index, array.shape, array.dtype, float(array.max()))
        kept.append(add(btf, writer, array.T, b"float16"))
    btf.check(btf.writer_save(writer, output.encode(), None, None) == 0)

    managed = c.c_void_p()
    btf.check(btf.read_dlpack(file, 0, None, managed) == 0)
    shared = np.from_dlpack(DLPackCapsule(managed.value))
    box = (slice(0, 1), slice(1, 3), slice(2, 5), slice(1, 8, 3))
    print("a box:", np.array_equal(read(btf, file, 0, np.float32, box), read(btf, file, 0, np.float32)[box]))
    try:
        btf.check(btf.open(b"/nonexistent/x.btf"))
    except FileNotFoundError as error:
        print(error)
    print("by DLPack:", shared.shape, shared.dtype, np.array_equal(shared, read(btf, file, 0, np.float32)))
    btf.writer_free(writer)
    btf.close(file)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
