"""Random shapes, layouts, dtypes and slices: NumPy and ml_dtypes say what is there. And whoever takes DLPack strictly."""

import os
import tempfile

import ml_dtypes
import numpy as np
import pytest

import btf

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given, settings, strategies  # noqa: E402
from hypothesis.extra import numpy as arrays  # noqa: E402

DTYPES = [np.dtype(name) for name in ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64")]
DTYPES += [np.dtype(getattr(ml_dtypes, name)) for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "int4", "uint4", "float4_e2m1fn")]
LAYOUTS = [name for name in btf.layouts() if "coo" not in name.lower() and "shuffled" not in name.lower()]
FORMATS = ["btf", "btf.zst", "npy", "npz", "safetensors"]

settings.register_profile("btf", max_examples=int(os.environ.get("BTF_EXAMPLES", "150")), deadline=None, derandomize=True, database=None)
settings.load_profile("btf")


def codes(array):
    """The bits of elements, so that NaN equal each other."""
    if array.dtype.name in ("int4", "uint4"):
        return array.astype(np.int8)
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").reshape(array.shape)


def same(one, other):
    assert one.dtype == other.dtype and one.shape == other.shape
    np.testing.assert_array_equal(codes(one), codes(other))


@strategies.composite
def views(draw):
    """Arrays of any dtype, and views of them that lie in any way."""
    dtype = draw(strategies.sampled_from(DTYPES))
    shape = draw(arrays.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=6))
    random = np.random.default_rng(draw(strategies.integers(0, 2**32 - 1)))
    count = int(np.prod(shape))
    if dtype.name in ("int4", "uint4"):
        base = random.integers(-8 if dtype.name == "int4" else 0, 8 if dtype.name == "int4" else 16, shape).astype(dtype)
    elif dtype.name == "float4_e2m1fn":
        base = random.integers(0, 16, shape, np.uint8).view(dtype)
    elif dtype == np.bool_:
        base = random.integers(0, 2, shape, np.uint8).view(bool)
    else:
        base = np.frombuffer(random.bytes(count * dtype.itemsize), dtype).reshape(shape)
    order = draw(strategies.permutations(range(len(shape))))
    view = base.transpose(order)
    if view.ndim and draw(strategies.booleans()):
        view = view[draw(arrays.basic_indices(view.shape, allow_newaxis=True, allow_ellipsis=True))]
        view = np.asarray(view)
    if dtype.isbuiltin == 1 and draw(strategies.booleans()):
        view = view.astype(dtype.newbyteorder(">"))
    return view


def native(array):
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def laid_out(array, layout):
    """None: they do not go together."""
    try:
        return btf.relayout(array, layout)
    except btf.Unsupported:
        return None


@given(views(), strategies.sampled_from(LAYOUTS))
def test_arrays_in_any_layout_and_back(view, layout):
    array = btf.as_array(view)
    same(array.numpy(), native(view))
    there = laid_out(view, layout)
    if there is None:
        return
    assert there.nbytes == btf.resolve(layout, view.shape, array.dtype).nbytes
    same(there.relayout("kLINEAR").numpy(), native(view))
    if there.strides is not None:
        same(there.numpy(), native(view))


@given(views(), strategies.sampled_from(LAYOUTS + ["shuffled"]), strategies.sampled_from(FORMATS), strategies.data())
def test_slices_of_files(view, layout, ending, data):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"x.{ending}")
        plain = os.path.join(folder, "plain.btf")
        btf.save(plain, {"x": view})
        try:
            btf.convert(plain, path, layout=layout if ending.startswith("btf") else None)
        except (btf.Unsupported, btf.InvalidArgument):
            return
        if ending.startswith("np") and view.dtype.isbuiltin != 1:  # .npy has no name for it
            return
        tensor = btf.open(path)[0]
        expected = native(view)
        same(tensor.numpy(), expected)
        same(tensor.read().relayout("kLINEAR").numpy(), expected)
        assert tensor.shape == expected.shape and tensor.ndim == expected.ndim
        index = data.draw(arrays.basic_indices(expected.shape, allow_newaxis=False, allow_ellipsis=True))
        same(np.asarray(tensor[index]), np.asarray(expected[index]))
        try:
            mapped = tensor.memmap()
        except btf.Unsupported:
            return
        same(np.asarray(mapped), expected)


@given(views(), views())
def test_a_diff_counts_what_numpy_counts(one, other):
    other = np.resize(other, one.shape).astype(one.dtype) if one.dtype.isbuiltin == 1 and other.dtype.isbuiltin == 1 and other.size else one
    report = btf.diff(one, other, hints=False)
    if one.size == 0:
        assert report.trouble or report.same
        return
    a, b = native(one), native(other)
    wide = a.dtype.name in ("int4", "uint4", "float4_e2m1fn") or a.dtype.isbuiltin != 1
    if wide:
        a, b = a.astype(np.float64), b.astype(np.float64)
    unequal = ~((a == b) | ((a != a) & (b != b)))
    assert report.tensors[0].mismatched == np.count_nonzero(unequal) and report.same == (not unequal.any())


@given(views())
def test_strict_takers_of_dlpack(view):
    strict = pytest.importorskip("array_api_strict")
    array = btf.as_array(view)
    name = array.dtype
    if name not in ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"):
        return
    taken = strict.from_dlpack(array)
    assert taken.dtype == getattr(strict, name) and taken.shape == view.shape
    np.testing.assert_array_equal(codes(np.asarray(taken)), codes(native(view)))
    for options in ({"copy": True}, {"copy": False}, {"copy": None}):
        again = strict.from_dlpack(array, **options)
        np.testing.assert_array_equal(codes(np.asarray(again)), codes(native(view)))


class OnDevice:
    """A tensor on a GPU, as far as the protocol tells."""

    shape = (3,)

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, **options):
        raise BufferError("the memory is that of a GPU")


def test_what_is_not_here():
    torch = pytest.importorskip("torch")
    for one in (torch.empty(3, device="meta"), OnDevice()):
        for call in (btf.as_array, btf.relayout, lambda x: btf.diff(x, [1.0]), lambda x: btf.save("/dev/null", x, format="btf")):
            with pytest.raises(btf.InvalidArgument, match=r"\.cpu\(\)"):
                call(one)
    with pytest.raises(btf.Unsupported, match="structured.*a field of it"):
        btf.relayout(np.zeros((2, 2), [("a", ">f4"), ("b", "i2")]), "kLINEAR")
