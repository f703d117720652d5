"""Conversions with every option: the command writes the same bytes and counts the same losses."""

import json
import os
import pickle
import subprocess

import ml_dtypes
import numpy as np
import pytest

import btf

TOOL = os.environ.get("BTFTOOL", "btftool")


@pytest.fixture
def files(tmp_path):
    random = np.random.default_rng(6)
    arrays = {"conv": random.standard_normal((2, 5, 6, 8)).astype(np.float32) * 100, "fc": random.standard_normal((4, 32)).astype(np.float32),
              "ids": np.arange(9, dtype=np.int64), "one/dim": random.standard_normal((1, 3, 1)).astype(np.float32)}
    arrays["conv"][0, 0, 0, :3] = 1e-9, 1e30, np.nan
    arrays["fc"][arrays["fc"] < 0.5] = 0
    btf.save(tmp_path / "x.btf", arrays)
    np.save(tmp_path / "codes.npy", random.integers(-100, 100, (3, 8), np.int8))
    np.save(tmp_path / "clean.npy", arrays["fc"])
    btf.convert(tmp_path / "x.btf", tmp_path / "coo.btf", layout="coo", tensor="fc")
    with np.errstate(over="ignore"):
        arrays["conv"].astype(np.float16).tofile(tmp_path / "x.raw")
    return tmp_path


CASES = [
    ("x.btf", "y.npz", {}, []),
    ("x.btf", "y.btf", {"dtype": "fp16"}, ["--dtype", "fp16"]),
    ("x.btf", "y.btf", {"dtype": np.float16, "tensor": "conv", "layout": "kHWC8"}, ["--dtype", "fp16", "--tensor", "conv", "--layout", "kHWC8"]),
    ("x.btf", "y.btf", {"layout": "kCHW32", "where_possible": True, "dtype": "int8", "overflow": "wrap", "rounding": "nearest", "exclude": "conv"},
     ["--layout", "kCHW32", "--where-possible", "--dtype", "int8", "--overflow", "wrap", "--round", "nearest", "--exclude", "conv"]),
    ("x.btf", "y.btf", {"exclude": ["conv", "2"]}, ["--exclude", "conv", "--exclude", "2"]),
    ("x.btf", "y.btf", {"rename": {"conv": "c", "fc": "f"}}, ["--rename", "conv=c", "--rename", "fc=f"]),
    ("x.btf", "y.btf", {"names": "drop"}, ["--names", "drop"]),
    ("x.btf", "y.btf", {"tensor": "conv", "permute": (0, 2, 3, 1), "slice": np.s_[0, 1:5:2, ::-1, -2:], "unsqueeze": 0},
     ["--tensor", "conv", "--permute", "0,2,3,1", "--slice", "0,1:5:2,::-1,-2:", "--unsqueeze", "0"]),
    ("x.btf", "y.btf", {"tensor": "conv", "slice": np.s_[:, 2], "reshape": [-1, 16]}, ["--tensor", "conv", "--slice", ":,2", "--reshape", "-1,16"]),
    ("x.btf", "y.btf", {"tensor": "3", "squeeze": True}, ["--tensor", "3", "--squeeze"]),
    ("x.btf", "y.btf", {"tensor": "3", "squeeze": -1}, ["--tensor", "3", "--squeeze=-1"]),
    ("x.btf", "y.btf", {"tensor": "3", "squeeze": False}, ["--tensor", "3"]),
    ("clean.npy", "y.btf", {"dtype": "int8", "scale": "auto"}, ["--dtype", "int8", "--scale", "auto"]),
    ("clean.npy", "y.btf", {"dtype": "int8", "scale": "auto", "scale_axis": 0}, ["--dtype", "int8", "--scale", "auto", "--scale-axis", "0"]),
    ("clean.npy", "y.btf", {"dtype": "uint8", "scale": 0.02, "zero_point": 128, "min_snr": 10}, ["--dtype", "uint8", "--scale", "0.02", "--zero-point", "128", "--min-snr", "10"]),
    ("clean.npy", "y.btf", {"dtype": "uint8", "scale": "auto", "zero_point": "auto"}, ["--dtype", "uint8", "--scale", "auto", "--zero-point", "auto"]),
    ("codes.npy", "y.btf", {"dtype": "fp32", "scale": 0.5}, ["--dtype", "fp32", "--scale", "0.5"]),
    ("clean.npy", "y.btf", {"block_scale": "mxfp8"}, ["--block-scale", "mxfp8"]),
    ("clean.npy", "y.btf", {"dtype": "fp8", "max_zero": "5%", "max_overflow": 3}, ["--dtype", "fp8", "--max-zero", "5%", "--max-overflow", "3"]),
    ("x.btf", "y.btf", {"layout": "coo", "tensor": "fc", "coo_code": "tfrt"}, ["--layout", "coo", "--tensor", "fc", "--coo-code", "tfrt"]),
    ("coo.btf", "y.btf", {"prune_zeros": True, "duplicates": "sum"}, ["--prune-zeros", "--duplicates", "sum"]),
    ("x.btf", "y.btf.zst", {"shuffle": True, "compression": 5, "sync": True}, ["--shuffle", "--compress", "5", "--fsync"]),
    ("x.btf", "y.btf", {"layout": "kHWC8", "tensor": "conv", "plain": True}, ["--layout", "kHWC8", "--tensor", "conv", "--plain"]),
    ("x.btf", "y.npy", {"dtype": "bf16", "tensor": "fc", "as_uint": True}, ["--dtype", "bf16", "--tensor", "fc", "--as-uint"]),
    ("x.btf", "y.bin", {"tensor": "fc", "output_spec": "fp16:4x32"}, ["--tensor", "fc", "--output-spec", "fp16:4x32"]),
    ("x.btf", "y.any", {"tensor": "fc", "format": "raw"}, ["--tensor", "fc", "--format", "raw"]),
    ("x.raw", "y.npy", {"spec": "fp16:2x5x6x8"}, ["--input-spec", "fp16:2x5x6x8"]),
    ("x.btf", "out/", {"format": "npy"}, ["--format", "npy"]),
    ("clean.npy", "y.btf", {"layout": "kDLA_HWC4:xavier", "reshape": (1, 4, 4, 8), "recipient": None}, ["--layout", "kDLA_HWC4", "--dla", "xavier", "--reshape", "1,4,4,8"]),
]


@pytest.mark.parametrize("source, target, options, words", CASES)
def test_as_the_command_writes(files, source, target, options, words):
    for folder in ("mine", "theirs"):
        (files / folder).mkdir()
    done = subprocess.run([TOOL, "convert", "--json", *words, files / source, str(files / "theirs") + "/" + target], capture_output=True, text=True, check=True)
    report = btf.convert(files / source, str(files / "mine") + "/" + target, **options)
    written = {path.relative_to(files / "theirs"): path.read_bytes() for path in (files / "theirs").rglob("*") if path.is_file()}
    assert written == {path.relative_to(files / "mine"): path.read_bytes() for path in (files / "mine").rglob("*") if path.is_file()}
    assert report.bytes == sum(map(len, written.values()))
    told = json.loads(done.stdout)
    assert told["output_bytes"] == report.bytes and len(told["tensors"]) == len(report.tensors)
    for mine, theirs in zip(report.tensors, told["tensors"]):
        for member in ("index", "name", "source_index", "source_dtype", "dtype", "source_layout", "layout", "nnz", "kept_layout", "scales", "zero_points",
                       "scale_records"):
            assert getattr(mine, member) == theirs[member], member
        assert list(mine.shape) == theirs["shape"] and list(mine.source_shape) == theirs["source_shape"] and mine.nbytes == theirs["data_bytes"]
        for member in ("elements", "inexact", "overflowed", "nan_lost", "to_zero"):
            assert getattr(mine.loss, member) == theirs["loss"][member], member
        assert mine.loss.max_abs == float(theirs["loss"]["max_abs_error"])
        for member in ("snr", "snr_about"):
            said = theirs["loss"][member]
            assert getattr(mine, member) == (None if said is None else float(said)), member
    copy = pickle.loads(pickle.dumps(report))
    assert repr(copy) == repr(report) and [repr(one) for one in copy.tensors] == [repr(one) for one in report.tensors]
    assert copy.changed == report.changed == sum(one.loss.changed for one in copy.tensors)


def test_numpy_says_what_edits_and_casts_give(files):
    conv = btf.open(files / "x.btf")["conv"].numpy()
    btf.convert(files / "x.btf", files / "y.npy", tensor="conv", permute=(0, 2, 3, 1), slice=np.s_[0, 1:5:2, ::-1, -2:], unsqueeze=0)
    np.testing.assert_array_equal(np.load(files / "y.npy"), conv.transpose(0, 2, 3, 1)[0, 1:5:2, ::-1, -2:][None])
    # Another order of the same edits.
    btf.convert(files / "x.btf", files / "y.npy", tensor="conv", slice=np.s_[0, 1:5:2, ::-1, -2:], permute=(2, 0, 1))
    np.testing.assert_array_equal(np.load(files / "y.npy"), conv[0, 1:5:2, ::-1, -2:].transpose(2, 0, 1))
    report = btf.convert(files / "x.btf", files / "y.btf", tensor="conv", dtype="bf16", overflow="ieee")
    expected = conv.astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(btf.open(files / "y.btf")[0].numpy().astype(np.float32), expected.astype(np.float32))
    finite = np.isfinite(conv)
    assert report.tensors[0].loss.inexact == np.count_nonzero(expected.astype(np.float32)[finite] != conv[finite])


def test_scales_by_hand(files):
    numbers = np.load(files / "clean.npy")
    report = btf.convert(files / "clean.npy", files / "q.btf", dtype="int8", scale="auto")
    (tensor, *_) = report.tensors
    assert tensor.scales == [pytest.approx(np.abs(numbers).max() / 127, rel=1e-6)]
    codes = btf.open(files / "q.btf")[0].numpy()
    np.testing.assert_array_equal(codes, np.clip(np.rint(numbers / np.float32(tensor.scales[0])), -128, 127).astype(np.int8))
    btf.convert(files / "q.btf", files / "back.npy", dequantize=True, dtype="fp32")
    assert np.abs(np.load(files / "back.npy") - numbers).max() <= tensor.scales[0] / 2 * 1.0001


def test_scales_by_links(files):
    codes = np.arange(-20, 20, dtype=np.int8).reshape(8, 5)
    np.savez(files / "latency.npz", output=codes, latency_ms=np.float32(1.25))
    with pytest.raises(btf.Error, match="latency_ms"):
        btf.convert(files / "latency.npz", files / "no.npz", dequantize=True)
    np.savez(files / "short.npz", w=codes, w_scale=np.array([[2.0, 0.5]] * 2, np.float32))
    with pytest.raises(btf.Error, match="block, or weight_block_size"):
        btf.convert(files / "short.npz", files / "no.npz", dequantize=True)
    by = np.array([[2.0, 2.0, 2.0, 2.0, 0.5]] * 8)
    for block in 4, [4, 4], (5, 4):
        btf.convert(files / "short.npz", files / "back.npz", dequantize=True, block=block)
        np.testing.assert_array_equal(np.load(files / "back.npz")["w"], codes * by)
        np.savez(files / "golden.npz", w=codes * by)
        assert btf.diff(files / "short.npz", files / "golden.npz", dequantize=True, block=block).same
        assert btf.layers(files / "short.npz", files / "golden.npz", dequantize=True, block=block).well


def test_sets_and_lists_are_sources(files):
    report = btf.convert([files / "clean.npy", files / "codes.npy"], files / "both.npz")
    assert [tensor.name for tensor in report.tensors] == ["clean", "codes"]
    opened = btf.open(files / "x.raw", spec="fp16:2x5x6x8")
    btf.convert(opened, files / "y.npy")
    np.testing.assert_array_equal(np.load(files / "y.npy"), opened[0].numpy())


def test_mistakes(files):
    there = sorted(files.iterdir())
    for options, kind, words in [
            ({"scale_axis": 0}, ValueError, "scale_axis"), ({"dtype": "int8", "scale": -1.0}, ValueError, "scale is"),
            ({"block_scale": "mxfp9"}, ValueError, "there are 'mxfp8'"), ({"coo_code": "x"}, ValueError, "'spec' or 'tfrt'"),
            ({"recipient": "x"}, ValueError, "there are 'tfrt'"), ({"names": "x"}, ValueError, "'drop' or a list"),
            ({"max_zero": "101%"}, ValueError, "a share"), ({"compresion": 3}, TypeError, "'compresion'"),
            ({"compression": 99}, ValueError, "22"), ({"dtype": "int8", "lossless": True}, btf.Refused, "not exact in int8"),
            ({"dtype": "fp8", "max_overflow": 0, "tensor": "conv"}, btf.Refused, "overflow"), ({"tensor": "none*"}, ValueError, "none"),
            ({"slice": np.s_[::0]}, ValueError, "zero"), ({"permute": (0, 0), "tensor": "fc"}, ValueError, "permut")]:
        with pytest.raises(kind, match=words):
            btf.convert(files / "x.btf", files / "y.btf", **options)
    with pytest.raises(FileNotFoundError):
        btf.convert(files / "none.btf", files / "y.btf")
    assert sorted(files.iterdir()) == there


def test_the_loss_pickles():
    array = btf.relayout(np.float32([1, 1.0001, 1e6, 1e-9, np.nan]), dtype="fp16")
    copy = pickle.loads(pickle.dumps(array))
    assert copy.loss.changed == array.loss.changed == 3 and repr(copy.loss) == repr(array.loss) == "<btf.Loss 3 of 5 elements>"
    assert copy.loss.max_abs == array.loss.max_abs > 0
