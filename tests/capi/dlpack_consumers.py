#!/usr/bin/env python3
"""NumPy and torch as producers and consumers of the library's DLPack tensors.

    dlpack_consumers.py numpy|torch LIBBTF SOURCE_DIR

Prints "skipped: ..." where the package is not there.
"""
import ctypes as c
import gc
import importlib
import os
import sys
import tempfile


def pointer_of(capsule):
    get = c.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = c.c_void_p, [c.py_object, c.c_char_p]
    return get(capsule, b"dltensor")


def round_trip(btf, example, scratch, tensor, from_dlpack):
    """The tensor as the library read it from its memory, wrote it and read it again."""
    capsule = tensor.__dlpack__()
    path = os.path.join(scratch, "t.btf").encode()
    writer = btf.check(btf.writer_new())
    btf.check(btf.writer_add_dlpack(writer, pointer_of(capsule), None) == 0)
    btf.check(btf.writer_save(writer, path, None, None) == 0)
    btf.writer_free(writer)
    file = btf.check(btf.open(path))
    managed = c.c_void_p()
    btf.check(btf.read_dlpack(file, 0, None, managed) == 0)
    btf.close(file)
    return from_dlpack(example.DLPackCapsule(managed.value))


def numpy_cases(np):
    base = np.arange(2 * 3 * 4).reshape(2, 3, 4)
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"):
        array = base.astype(name)
        yield array
        yield array.transpose(2, 0, 1)
        yield array[:, ::2, 1:]
        yield np.lib.stride_tricks.as_strided(array, (3, 4), (0, array.itemsize))
        yield array[:0]
        yield array[1, 1, 1:2].reshape(())


def torch_cases(torch):
    base = torch.arange(2 * 3 * 4).reshape(2, 3, 4)
    for dtype in (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.float16, torch.bfloat16,
                  torch.float32, torch.float64):
        tensor = base.to(dtype)
        yield tensor
        yield tensor.permute(2, 0, 1)
        yield tensor[:, ::2, 1:]
        yield tensor[0, :1].expand(3, 4)
        yield tensor.reshape(1, 2, 3, 4).to(memory_format=torch.channels_last)


def main(package, library, source):
    try:
        module = importlib.import_module(package)
    except ImportError:
        print("skipped: no", package)
        return
    sys.path.insert(0, os.path.join(source, "docs", "examples"))
    sys.dont_write_bytecode = True
    try:
        import numpy_ctypes as example
    except ImportError:
        print("skipped: no numpy")
        return
    btf = example.Library(library)
    btf.writer_add_dlpack = btf.lib.btf_writer_add_dlpack
    btf.writer_add_dlpack.argtypes = [c.c_void_p, c.c_void_p, c.c_void_p]
    if package == "numpy":
        cases, consume = numpy_cases(module), module.from_dlpack
        same = lambda a, b: a.dtype == b.dtype and a.shape == b.shape and (a == b).all()
    else:
        cases, consume = torch_cases(module), module.utils.dlpack.from_dlpack
        same = lambda a, b: a.dtype == b.dtype and module.equal(a, b)
    count = 0
    with tempfile.TemporaryDirectory() as scratch:
        for case in cases:
            result = round_trip(btf, example, scratch, case, consume)
            if not same(result, case):
                sys.exit(f"{package}: {case.dtype} {tuple(case.shape)} came back as {result}")
            count += 1
            del result
            gc.collect()
    print(f"{package}: {count} tensors went through")


if __name__ == "__main__":
    main(*sys.argv[1:])
