"""Files, directories and archives: NumPy says what is in them."""

import os
import pickle

import numpy as np
import pytest

import btf


@pytest.fixture
def arrays():
    random = np.random.default_rng(3)
    return {"conv1": random.standard_normal((2, 5, 6, 7)).astype(np.float32), "ids": np.arange(9),
            "net/out": random.integers(0, 255, (3, 4), np.uint8), "one": np.float64(2.5)}


@pytest.mark.parametrize("ending", ["npz", "btf", "safetensors", "btf.zst", "npz.zst"])
def test_what_was_saved_is_there(tmp_path, arrays, ending):
    path = tmp_path / f"x.{ending}"
    if ending.endswith("zst"):
        btf.save(tmp_path / f"x.{ending[:-4]}", arrays)
        btf.convert(tmp_path / f"x.{ending[:-4]}", path)
    else:
        assert btf.save(path, arrays) == os.path.getsize(path)
    with btf.open(path) as tensors:
        assert len(tensors) == 4
        assert sorted(tensors.names) == sorted(arrays)
        for name, array in arrays.items():
            assert name in tensors
            tensor = tensors[name]
            assert (tensor.name, tensor.shape, tensor.ndim) == (name, array.shape, array.ndim)
            np.testing.assert_array_equal(tensor.numpy(), array)
            np.testing.assert_array_equal(np.asarray(tensor), array)
        assert [one.name for one in tensors] == tensors.names
        assert tensors[-1].name == tensors.names[-1]
        assert [one.name for one in tensors[1:3]] == tensors.names[1:3]


def test_files_that_numpy_wrote(tmp_path, arrays):
    np.savez(tmp_path / "a.npz", **{name.replace("/", "_"): array for name, array in arrays.items()})
    np.savez_compressed(tmp_path / "b.npz", **{name.replace("/", "_"): array for name, array in arrays.items()})
    np.save(tmp_path / "c.npy", np.asfortranarray(arrays["conv1"]))
    for name in ("a.npz", "b.npz"):
        with np.load(tmp_path / name) as theirs:
            mine = btf.open(tmp_path / name)
            assert mine.names == theirs.files
            for one in theirs.files:
                np.testing.assert_array_equal(mine[one].numpy(), theirs[one])
    np.testing.assert_array_equal(btf.open(tmp_path / "c.npy")[0].numpy(), arrays["conv1"])


def test_directories(tmp_path, arrays):
    for name, array in arrays.items():
        np.save(tmp_path / (name.replace("/", ".") + ".npy"), array)
    tensors = btf.open(tmp_path)
    assert len(tensors) == 4 and tensors.format is None
    np.testing.assert_array_equal(tensors["conv1"].numpy(), arrays["conv1"])
    (tmp_path / "bad.npy").write_bytes(b"\x93NUMPY")
    with pytest.raises(btf.Malformed, match="bad.npy"):
        len(btf.open(tmp_path))


@pytest.mark.parametrize("layout", ["kLINEAR", "kHWC8", "kCHW32", "kCHW4", "kHWC", "coo", "shuffled"])
@pytest.mark.parametrize("ending", ["btf", "btf.zst"])
def test_slices(tmp_path, layout, ending):
    random = np.random.default_rng(7)
    array = random.standard_normal((2, 9, 5, 6)).astype(np.float32)
    array[array < 0.5] = 0
    btf.save(tmp_path / "x.npy", array)
    btf.convert(tmp_path / "x.npy", tmp_path / f"x.{ending}", layout=layout)
    tensor = btf.open(tmp_path / f"x.{ending}")[0]
    assert tensor.layout.lower().endswith(layout.lower())
    for index in [0, -1, np.s_[...], np.s_[1, ..., 2], np.s_[:, 3:8], np.s_[0, ::-1, 1:4:2, ::3], np.s_[1, -2, -3, 5],
                  np.s_[:, 7:2:-2, :, -1], np.s_[:0], np.s_[..., 4:2], np.s_[0:100, 8], (), np.int64(1)]:
        np.testing.assert_array_equal(tensor[index], array[index])
        assert np.shape(tensor[index]) == array[index].shape
    for _ in range(150):
        index = tuple(random.choice([random.integers(-size, size), slice(*sorted(random.integers(-size, size + 1, 2))),
                                     slice(None, None, random.choice([-3, -1, 2]))]) for size in array.shape)
        np.testing.assert_array_equal(tensor[index], array[index])
    for index in (2, np.s_[0, 0, 0, 0, 0], np.s_[0, 9]):
        with pytest.raises(IndexError):
            tensor[index]
    with pytest.raises(ValueError, match="numpy\\(\\) takes any"):
        tensor[[0, 1]]


def test_memmap(tmp_path):
    array = np.arange(2 * 3 * 4 * 5, dtype=np.float16).reshape(2, 3, 4, 5)
    for layout in ("kLINEAR", "kHWC8", "kHWC"):
        btf.save(tmp_path / "x.btf", array, layout=layout)
        mapped = btf.open(tmp_path / "x.btf")[0].memmap()
        assert isinstance(mapped, np.memmap)
        np.testing.assert_array_equal(mapped, array)
    btf.save(tmp_path / "y.btf", array, layout="kCHW4")
    with pytest.raises(ValueError, match="no strides"):
        btf.open(tmp_path / "y.btf")[0].memmap()
    btf.convert(tmp_path / "x.btf", tmp_path / "x.btf.zst")
    with pytest.raises(ValueError, match="compressed"):
        btf.open(tmp_path / "x.btf.zst")[0].memmap()


def test_a_memmap_is_right_or_refused(tmp_path):
    array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    values = ", ".join(map(str, range(24)))
    (tmp_path / "text.json").write_text(f'[ {{ "name" : "x", "dimensions" : "2x3x4", "values" : [ {values} ] }} ]')
    np.save(tmp_path / "fortran.npy", np.asfortranarray(array))
    np.save(tmp_path / "big.npy", array.astype(">f4"))
    np.savez(tmp_path / "stored.npz", x=array)
    np.savez_compressed(tmp_path / "deflated.npz", x=array)
    array.T.tofile(tmp_path / "strides.raw")
    btf.save(tmp_path / "x.safetensors", {"x": array})
    mapped = set()
    for path in sorted(tmp_path.iterdir()):
        spec = "fp32:4x3x2:strides=1,4,12" if path.suffix == ".raw" else None
        tensor = btf.open(path, spec=spec)[0]
        try:
            np.testing.assert_array_equal(tensor.memmap(), tensor.numpy())
            mapped.add(path.name)
        except btf.Unsupported as error:
            assert "cannot be mapped" in str(error)
    assert mapped >= {"fortran.npy", "strides.raw", "x.safetensors"}
    assert not mapped & {"text.json", "big.npy", "deflated.npz"}


def test_raw_bytes_with_a_spec(tmp_path):
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    array.tofile(tmp_path / "x.raw")
    np.testing.assert_array_equal(btf.open(tmp_path / "x.raw", spec="fp32:3x4")[0].numpy(), array)
    assert btf.convert(tmp_path / "x.raw", tmp_path / "y.npy", spec="fp32:3x4", dtype=np.float16).bytes == os.path.getsize(tmp_path / "y.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), array.astype(np.float16))


def test_sets_and_tensors_pickle(tmp_path):
    array = np.arange(6.0)
    btf.save(tmp_path / "x.npz", {"a": array, "b": array + 1})
    tensors = btf.open(tmp_path / "x.npz")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(tensors))["b"].numpy(), array + 1)
    content = pickle.dumps(tensors["b"])
    np.testing.assert_array_equal(pickle.loads(content).numpy(), array + 1)
    btf.save(tmp_path / "x.npz", {"a": array})
    with pytest.raises(btf.InvalidArgument, match="changed since"):
        pickle.loads(content)


def test_errors_are_those_of_python(tmp_path, arrays):
    with pytest.raises(FileNotFoundError) as caught:
        btf.open(tmp_path / "none.btf")
    assert caught.value.errno == 2 and caught.value.filename.endswith("none.btf")
    assert isinstance(caught.value, btf.Error) and "none.btf" in str(caught.value)
    assert type(pickle.loads(pickle.dumps(caught.value))) is type(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    (tmp_path / "x.btf").write_bytes(b"no tensors in here")
    with pytest.raises(btf.Malformed) as caught:
        btf.open(tmp_path / "x.btf")
    assert caught.value.finding and isinstance(caught.value, ValueError)
    btf.save(tmp_path / "x.npz", arrays)
    tensors = btf.open(tmp_path / "x.npz")
    for number in (4, -5):
        with pytest.raises(IndexError, match="there are 4"):
            tensors[number]
    with pytest.raises(KeyError, match="'conv1'"):
        tensors["conv2"]
    with pytest.raises(ValueError, match="unknown dtype 'float17'"):
        tensors[0].numpy(dtype="float17")
    with pytest.raises(TypeError, match="'overflov'"):
        tensors[0].read(overflov="ieee")
    with pytest.raises(ValueError, match="there are 'saturate', 'ieee'"):
        tensors[0].read(overflow="no")
    with pytest.raises(IsADirectoryError):
        btf.save(tmp_path, arrays["conv1"], format="btf") if os.path.isdir(tmp_path / "") else None
    with pytest.raises(OSError):
        btf.save("/dev/full", arrays["conv1"], format="btf")
    assert [path.name for path in tmp_path.iterdir() if "tmp" in path.name] == []
