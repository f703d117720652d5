"""Arrays into the library and out of it: NumPy, ml_dtypes, PyTorch and DLPack say what they hold."""

import pickle

import ml_dtypes
import numpy as np
import pytest

import btf

torch = pytest.importorskip("torch")

SMALL = ["float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e3m4",
         "float8_e4m3", "float8_e4m3b11fnuz", "bfloat16", "float4_e2m1fn", "int4", "uint4"]


def codes_of(name):
    """Every code of a type."""
    if name == "bfloat16":
        return np.arange(1 << 16, dtype=np.uint16).view(ml_dtypes.bfloat16)
    if name in ("int4", "uint4"):
        return np.arange(-8 if name == "int4" else 0, 8 if name == "int4" else 16).astype(getattr(ml_dtypes, name))
    count = 16 if name.startswith("float4") else 256
    return np.arange(count, dtype=np.uint8).view(getattr(ml_dtypes, name))


def same_bits(a, b):
    assert a.dtype == b.dtype and a.shape == b.shape
    bits = f"u{a.dtype.itemsize}"
    np.testing.assert_array_equal(np.ascontiguousarray(a).view(bits), np.ascontiguousarray(b).view(bits))


@pytest.mark.parametrize("name", SMALL)
def test_every_code_of_small_types(tmp_path, name):
    codes = codes_of(name)
    btf.save(tmp_path / "x.btf", codes)
    tensor = btf.open(tmp_path / "x.btf")[0]
    assert tensor.dtype == name
    same_bits(tensor.numpy(), codes)
    wide = tensor.numpy(dtype="fp32")
    np.testing.assert_array_equal(wide, codes.astype(np.float32))
    raw = tensor.numpy(raw=True)
    assert raw.dtype.kind == "u"


@pytest.mark.parametrize("name", [name for name in SMALL if "float" in name])
def test_casts_are_those_of_ml_dtypes(name):
    random = np.random.default_rng(5)
    wide = np.concatenate([random.standard_normal(4000).astype(np.float32) * np.float32(2.0) ** random.integers(-30, 30, 4000),
                           [0, np.inf, -np.inf, np.nan, 1, 448, 449, 464, 465, -57344, 1e-9]]).astype(np.float32)
    if name == "float8_e8m0fnu":
        pytest.skip("ml_dtypes rounds to nearest there, this library up")
    overflow = None if name == "float4_e2m1fn" else "ieee"  # it has neither NaN nor Inf
    mine = btf.as_array(wide).relayout(dtype=name, overflow=overflow).numpy()
    theirs = wide.astype(getattr(ml_dtypes, name))
    known = ~np.isnan(theirs.astype(np.float32))
    if name == "float4_e2m1fn":  # neither NaN nor Inf: what becomes of them is each library's own
        known &= np.isfinite(wide)
    same_bits(mine[known], theirs[known])
    if name != "float4_e2m1fn":
        assert np.isnan(mine[~known].astype(np.float32)).all()


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "?"])
@pytest.mark.parametrize("order", "<>")
def test_numpy_arrays_of_any_strides_and_byte_order(tmp_path, dtype, order):
    whole = (np.arange(7 * 6 * 10) % 100).reshape(7, 6, 10).astype(dtype).astype(np.dtype(dtype).newbyteorder(order))
    views = [whole, whole.T, whole[::-1], whole[1:6:2, ::-3, 2:9], whole[:, None, 3], whole[0, 0, 0], whole[:0],
             np.broadcast_to(whole[0, 0], (3, 10)), np.asfortranarray(whole)]
    frozen = whole.copy()
    frozen.flags.writeable = False
    for view in [*views, frozen]:
        btf.save(tmp_path / "x.npy", view)
        np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), view)
        np.testing.assert_array_equal(btf.as_array(view).numpy(), view)
        assert btf.diff(view, view.copy()).same


def test_what_is_no_tensor_is_refused_with_a_sentence():
    with pytest.raises(btf.Unsupported, match="structured.*a field of it"):
        btf.as_array(np.zeros(2, [("a", "f4")]))
    for array in (np.zeros(2, complex), np.array(["a"]), np.array([None]), np.zeros(1, "M8[s]")):
        with pytest.raises(btf.Unsupported, match="not supported"):
            btf.as_array(array)
    with pytest.raises(btf.InvalidArgument, match=r"\.cpu\(\)"):
        btf.as_array(torch.empty(3, device="meta"))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64", "int8", "int64", "uint8", "bool",
                                   "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu"])
def test_torch_both_ways(tmp_path, dtype):
    tensor = torch.arange(60).reshape(3, 4, 5).to(torch.float32).to(getattr(torch, dtype))
    for one in (tensor, tensor.transpose(0, 2), tensor[1:, ::2], tensor[0, 0, 0]):
        btf.save(tmp_path / "x.btf", one)
        read = btf.open(tmp_path / "x.btf")[0].torch()
        assert read.dtype == one.dtype and read.shape == one.shape
        assert torch.equal(read.reshape(-1).view(torch.uint8), one.reshape(-1).view(torch.uint8))


def test_torch_casts():
    random = torch.randn(5000, generator=torch.Generator().manual_seed(1)) * 100
    for name in ("bfloat16", "float16"):
        mine = btf.as_array(random).relayout(dtype=name, overflow="ieee").torch()
        assert torch.equal(mine, random.to(getattr(torch, name)))
        assert mine.dtype == getattr(torch, name)


def test_dlpack(tmp_path):
    array = np.arange(2 * 3 * 4, dtype=np.float32).reshape(2, 3, 4)
    btf.save(tmp_path / "x.btf", array, layout="kHWC8", dtype="float16")
    tensor = btf.open(tmp_path / "x.btf")[0]
    np.testing.assert_array_equal(np.from_dlpack(tensor), array)
    np.testing.assert_array_equal(torch.from_dlpack(tensor).numpy(), array)
    held = np.from_dlpack(tensor.read())  # nothing else keeps the memory
    np.testing.assert_array_equal(held, array)
    lanes = torch.from_dlpack(btf.as_array(array).relayout("kCHW4"))
    assert lanes.shape == (1, 3, 4, 4)  # a layout in blocks: its lanes are the last dim
    with pytest.raises(BufferError):
        tensor.__dlpack__(stream=1)
    bf16 = torch.from_dlpack(tensor.read(dtype="bf16"))
    assert bf16.dtype == torch.bfloat16


def test_layouts_are_where_the_formula_says(tmp_path):
    """kHWC8 and kCHW4 by hand."""
    array = np.arange(1, 1 + 5 * 2 * 3, dtype=np.float16).reshape(5, 2, 3)
    stored = btf.as_array(array).relayout("kHWC8").stored()
    expected = np.zeros((2, 3, 8), np.float16)
    expected[:, :, :5] = array.transpose(1, 2, 0)
    np.testing.assert_array_equal(stored, expected)
    blocks = btf.as_array(array).relayout("kCHW4").stored()
    padded = np.zeros((8, 2, 3), np.float16)
    padded[:5] = array
    np.testing.assert_array_equal(blocks, padded.reshape(2, 4, 2, 3).transpose(0, 2, 3, 1))
    with pytest.raises(btf.Unsupported, match="in blocks"):
        btf.as_array(array).relayout("kCHW4").numpy()
    np.testing.assert_array_equal(btf.as_array(array).relayout("kCHW4").relayout("kLINEAR").numpy(), array)


def test_the_loss_is_counted():
    array = btf.as_array(np.array([1, 1.0001, 1e6, 1e-9, np.nan], np.float32)).relayout(dtype="fp16")
    loss = array.loss
    assert (loss.elements, loss.inexact, loss.overflowed, loss.to_zero, loss.nan_lost) == (5, 1, 1, 1, 0)
    with pytest.raises(btf.Refused):
        btf.as_array(np.float32([1.0001])).relayout(dtype="fp16", lossless=True)


def test_what_must_not_be_written_stays_so():
    array = np.arange(4, dtype=np.float32)
    assert np.shares_memory(btf.as_array(array).numpy(), array)
    array.flags.writeable = False
    assert not btf.as_array(array).numpy().flags.writeable
    assert btf.as_array(array).relayout().numpy().flags.writeable


def test_layouts_of_one_name_pickle(tmp_path):
    """kDLA_HWC4 has longer rows on Orin than on Xavier: 64 and 32 bytes."""
    strides = []
    for rows, bytes_of_row in (("kDLA_HWC4", 64), ("kDLA_HWC4:xavier", 32)):
        path = tmp_path / f"{bytes_of_row}.raw"
        path.write_bytes(bytes(range(2 * bytes_of_row)))
        array = btf.open(path, spec=f"int8:{rows}:1x3x2x5")[0].read()
        copy = pickle.loads(pickle.dumps(array))
        assert copy.strides == array.strides and copy.stored().tobytes() == array.stored().tobytes()
        strides.append(array.strides)
    assert strides == [(128, 1, 64, 4), (64, 1, 32, 4)]


def test_arrays_pickle():
    array = btf.as_array(np.arange(24, dtype=np.float32).reshape(2, 3, 4)).relayout("kCHW4", "fp16")
    copy = pickle.loads(pickle.dumps(array))
    assert (copy.layout, copy.dtype, copy.shape) == ("kCHW4", "float16", (2, 3, 4))
    np.testing.assert_array_equal(copy.stored(), array.stored())
