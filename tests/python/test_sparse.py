"""Sparse tensors as entries: NumPy puts them in place."""

import pickle

import ml_dtypes
import numpy as np
import pytest

import btf


def dense(coo):
    array = np.zeros(coo.shape, coo.values.dtype)
    array[tuple(coo.indices.T.astype(np.int64))] = coo.values
    return array


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, ml_dtypes.int4])
@pytest.mark.parametrize("ending", ["btf", "btf.zst"])
def test_entries_are_those_of_the_array(tmp_path, dtype, ending):
    random = np.random.default_rng(2)
    array = (random.integers(0, 7, (3, 5, 4)) * (random.random((3, 5, 4)) < 0.3)).astype(dtype)
    np_nonzero = np.argwhere(array.astype(np.float64) != 0)
    btf.save(tmp_path / "dense.btf", array)
    btf.convert(tmp_path / "dense.btf", tmp_path / f"x.{ending}", layout="coo")
    tensor = btf.open(tmp_path / f"x.{ending}")[0]
    indices, values = coo = tensor.coo()
    assert indices.dtype == np.uint64 and values.dtype == array.dtype and tensor.nnz == len(values)
    np.testing.assert_array_equal(indices, np_nonzero)
    np.testing.assert_array_equal(dense(coo).astype(np.float64), array.astype(np.float64))
    np.testing.assert_array_equal(tensor.numpy().astype(np.float64), array.astype(np.float64))
    # In another order, and back.
    order = random.permutation(len(values))
    mixed = btf.Coo(indices[order].astype(np.int32), values[order], array.shape)
    btf.save(tmp_path / "y.btf", {"s": mixed, "d": array})
    again = btf.open(tmp_path / "y.btf")
    assert again["s"].layout.lower().endswith("coo") and again["d"].layout == "kLINEAR"
    np.testing.assert_array_equal(again["s"].coo().indices, indices)  # sorted
    np.testing.assert_array_equal(again["s"].numpy().astype(np.float64), array.astype(np.float64))
    np.testing.assert_array_equal(again["d"].numpy().astype(np.float64), array.astype(np.float64))
    copy = pickle.loads(pickle.dumps(mixed))
    np.testing.assert_array_equal(copy.indices, mixed.indices)
    assert copy.shape == array.shape and copy.values.dtype == array.dtype


def test_other_formats_hold_all_elements(tmp_path):
    coo = btf.Coo([[0, 1], [2, 0]], np.float32([5, 7]), (3, 2))
    btf.save(tmp_path / "x.npy", coo)
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), [[0, 5], [0, 0], [7, 0]])
    btf.save(tmp_path / "x.btf", [coo], dtype="fp16")
    assert btf.open(tmp_path / "x.btf")[0].coo().values.dtype == np.float16
    scalars = btf.Coo(np.zeros((1, 0)), np.float32([4]), ())
    btf.save(tmp_path / "s.btf", scalars)
    assert btf.open(tmp_path / "s.btf")[0].numpy() == 4
    none = btf.Coo(np.zeros((0, 2)), np.float32([]), (3, 2))
    btf.save(tmp_path / "n.btf", none)
    assert btf.open(tmp_path / "n.btf")[0].coo().indices.shape == (0, 2)


def test_as_the_file_has_them(tmp_path):
    """A file of another program: entries unsorted, one index twice."""
    words = [1, 16, 2, 4 | 2 << 8, 3, 4, 3, 2, 2, 1, 0, 3, 2, 1, 3]
    path = tmp_path / "x.btf"
    path.write_bytes(np.array(words, "<u8").tobytes() + np.float32([1, 2, 3]).tobytes() + bytes(4))
    indices, values = btf.open(path)[0].coo()
    np.testing.assert_array_equal(indices, [[2, 1], [0, 3], [2, 1]])
    np.testing.assert_array_equal(values, [1, 2, 3])
    words[8] = 3  # of a dim of 3
    path.write_bytes(np.array(words, "<u8").tobytes() + np.float32([1, 2, 3]).tobytes() + bytes(4))
    with pytest.raises(btf.Malformed, match="COO entry 0 has index 3 in dim 0 of size 3") as caught:
        btf.open(path)[0].coo()
    assert caught.value.offset == 64 and caught.value.finding == "coo-index-out-of-range"


def test_mistakes(tmp_path):
    btf.save(tmp_path / "x.btf", np.zeros(3))
    with pytest.raises(btf.Unsupported, match="not COO"):
        btf.open(tmp_path / "x.btf")[0].coo()
    for indices, values, words in [([[0, 0]], [1.0], "have the shape"), ([[0]], [[1.0]], "have the shape"), ([[0.5]], [1.0], "integers"), ([[-1]], [1.0], "negative")]:
        with pytest.raises(btf.InvalidArgument, match=words):
            btf.Coo(indices, values, (4,))
    with pytest.raises(btf.Malformed, match="index 9"):
        btf.save(tmp_path / "y.btf", btf.Coo([[9]], [1.0], (4,)))
    with pytest.raises(ValueError, match="same index"):
        btf.save(tmp_path / "y.btf", btf.Coo([[2], [2]], [1.0, 2.0], (4,)))
    btf.save(tmp_path / "y.btf", btf.Coo([[2], [2]], [1.0, 2.0], (4,)), duplicates="sum")
    np.testing.assert_array_equal(btf.open(tmp_path / "y.btf")[0].numpy(), [0, 0, 3, 0])
