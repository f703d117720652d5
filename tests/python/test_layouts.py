"""What layouts mean: arrays that NumPy pads and transposes say where each element stands."""

import json
import os
import subprocess

import ml_dtypes
import numpy as np
import pytest

import btf

torch = pytest.importorskip("torch")
TOOL = os.environ.get("BTFTOOL", "btftool")


def padded(array, axis, multiple):
    widths = [(0, 0)] * array.ndim
    widths[axis] = (0, -array.shape[axis] % multiple)
    return np.pad(array, widths)


def major(array, axis, lanes):
    """[.., C, ..] -> [.., C / lanes, .., lanes]"""
    whole = padded(array, axis, lanes)
    at = array.ndim + axis
    shape = whole.shape[:at] + (whole.shape[at] // lanes, lanes) + whole.shape[at + 1:]
    return np.moveaxis(whole.reshape(shape), at + 1, -1)


def minor(array, axis, lanes):
    """[.., C, H, W] -> [.., H, W, C]"""
    return padded(np.moveaxis(array, axis, -1), -1, lanes)


def rows_of(array, axis, bytes_of_row, group):
    return padded(array, axis, bytes_of_row // (group * array.itemsize))


def image(array, bytes_of_row):
    channels = {1: 1, 3: 4, 4: 4}[array.shape[-3]]
    return rows_of(minor(array, -3, channels), -2, bytes_of_row, channels)


# As TensorRT's header words them, in NumPy.
STORED = {
    "kLINEAR": lambda a: a, "kCHW2": lambda a: major(a, -3, 2), "kCHW4": lambda a: major(a, -3, 4),
    "kCHW16": lambda a: major(a, -3, 16), "kCHW32": lambda a: major(a, -3, 32), "kCDHW32": lambda a: major(a, -4, 32),
    "kHWC": lambda a: minor(a, -3, 1), "kHWC8": lambda a: minor(a, -3, 8), "kHWC16": lambda a: minor(a, -3, 16),
    "kDHWC": lambda a: minor(a, -4, 1), "kDHWC8": lambda a: minor(a, -4, 8),
    "kDLA_LINEAR": lambda a: rows_of(a, -1, 64, 1), "kDLA_HWC4": lambda a: image(a, 64),
    "kDLA_HWC4:xavier": lambda a: image(a, 32),
}
SHAPES = [(3, 4, 5), (2, 3, 4, 5), (1, 4, 2, 3), (2, 1, 3, 2, 7), (2, 3, 9, 2, 1), (1, 33, 2, 2)]


def test_all_layouts_are_here():
    assert {name.lower() for name in set(btf.layouts()) - set(STORED)} <= {"coo", "kcoo", "shuffled"}


@pytest.mark.parametrize("layout", STORED)
@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.int64, ml_dtypes.bfloat16])
def test_elements_stand_where_numpy_has_them(layout, dtype):
    seen = 0
    for shape in SHAPES:
        numbers = np.arange(1, 1 + np.prod(shape)).reshape(shape)
        array = numbers.astype(np.uint64).astype(f"u{np.dtype(dtype).itemsize}").view(dtype)
        try:
            found = btf.resolve(layout, shape, dtype)
        except btf.Unsupported:
            continue
        seen += 1
        stored = np.ascontiguousarray(STORED[layout](array))
        assert found.stored_shape == stored.shape and found.nbytes == stored.nbytes
        assert found.elements == array.size and found.stored_elements == stored.size and found.padded == (stored.size != array.size)
        assert (found.shape, found.dtype) == (shape, np.dtype(dtype).name)
        assert found.byte_strides == tuple(one * array.itemsize for one in found.strides)
        places = np.ascontiguousarray(STORED[layout](numbers.astype(f"u{array.itemsize}"))).ravel()
        for index in np.ndindex(*shape):
            at = found.offset(index)
            assert places[at] == int(numbers[index]) % (1 << 8 * array.itemsize)
            by_strides = sum(i * stride if d != found.split_dim else i // found.lanes * stride + i % found.lanes * found.lane_stride
                             for d, (i, stride) in enumerate(zip(index, found.strides)))
            assert at == by_strides
        again = btf.relayout(array, layout, None)
        assert again.stored(raw=True).tobytes() == stored.tobytes()
        assert again.stored_shape == found.stored_shape
    assert seen or layout.startswith("kDLA")


def test_as_the_command_says(tmp_path):
    for layout in ("kLINEAR", "kHWC8", "kCHW32", "kCHW4", "kDHWC8", "kDLA_LINEAR"):
        shape = (2, 5, 3, 6)
        btf.save(tmp_path / "x.btf", np.zeros(shape, np.float16), layout=layout)
        done = subprocess.run([TOOL, "inspect", "--strides", "--json", tmp_path / "x.btf"], capture_output=True, text=True, check=True)
        (tensor,) = json.loads(done.stdout)["files"][0]["tensors"]
        found = btf.resolve(layout, shape, "fp16")
        assert tensor["storage_shape"] == list(found.stored_shape)
        assert tensor["strides"] == list(found.strides)
        assert tensor["strides_vectors"] == list(found.vector_strides)
        assert tensor["vectorized_dim"] == found.vectorized_dim
        assert tensor["components_per_element"] == found.components
        assert tensor["data_bytes"] == found.nbytes


def test_what_does_not_go_together():
    with pytest.raises(btf.InvalidArgument, match="unknown layout 'kHWC9'"):
        btf.resolve("kHWC9", (1, 2, 3), "fp16")
    with pytest.raises(btf.InvalidArgument, match="unknown dtype"):
        btf.resolve("kHWC8", (1, 2, 3), "fp17")
    with pytest.raises(btf.Unsupported, match="needs rank 3"):
        btf.resolve("kHWC8", (2, 3), "fp16")
    with pytest.raises(btf.Unsupported, match="kLINEAR only"):
        btf.resolve("kHWC8", (8, 2, 3), "int4")
    with pytest.raises(btf.Unsupported, match="not a dense layout"):
        btf.resolve("coo", (8, 2, 3), "fp16")
    with pytest.raises(ValueError):
        btf.resolve("kLINEAR", (1 << 40, 1 << 40), "fp16")
    found = btf.resolve("kHWC8", (8, 2, 3), torch.float16)
    assert found.offset((-1, -1, -1)) == found.offset((7, 1, 2)) == 47
    for index in ((8, 0, 0), (0, 0), (0, 0, -4)):
        with pytest.raises(IndexError):
            found.offset(index)
    assert btf.resolve("kLINEAR", (), "fp32").nbytes == 4 and btf.resolve("kLINEAR", (5,), "int4").nbytes == 3
    assert btf.resolve("kLINEAR", (5,), "int4").byte_strides is None
    assert btf.resolve("kCHW32", (1, 3, 4), "fp64").tensorrt_objections and not btf.resolve("kLINEAR", (3,), "fp32").tensorrt_objections


def test_relayout_takes_what_holds_a_tensor(tmp_path):
    array = np.arange(60, dtype=np.float32).reshape(5, 3, 4)
    btf.save(tmp_path / "x.btf", array, layout="kCHW4")
    expected = btf.as_array(array).relayout("kHWC8", "fp16").stored()

    class OnlyDLPack:
        def __dlpack__(self, **options):
            return array.__dlpack__(**options)

        def __dlpack_device__(self):
            return array.__dlpack_device__()

    for one in (array, torch.from_numpy(array), array.tolist(), np.asfortranarray(array), array.astype(">f4"), OnlyDLPack(),
                btf.open(tmp_path / "x.btf")[0], btf.as_array(array), btf.as_array(array).relayout("kCHW32")):
        again = btf.relayout(one, "kHWC8", "fp16")
        assert isinstance(again, btf.Array) and (again.layout, again.dtype) == ("kHWC8", "float16")
        np.testing.assert_array_equal(again.stored(), expected)
    assert btf.relayout(btf.open(tmp_path / "x.btf")[0]).layout == "kCHW4"
    assert btf.relayout(array, dtype=torch.bfloat16).dtype == "bfloat16"
    assert btf.relayout(np.float32([1.5]), dtype="int8", rounding="up").numpy() == [2]
    with pytest.raises(btf.Refused):
        btf.relayout(np.float32([1.5]), dtype="int8", lossless=True)
    with pytest.raises(TypeError, match="'roundin'"):
        btf.relayout(array, roundin="up")
    copy = btf.relayout(array)
    assert not np.shares_memory(copy.numpy(), array)
