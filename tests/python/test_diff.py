"""Verdicts: NumPy and PyTorch say whether two arrays are close."""

import html
import json
import os
import pickle
import re
import subprocess

import numpy as np
import pytest

import btf

torch = pytest.importorskip("torch")


def test_verdicts_are_those_of_numpy():
    random = np.random.default_rng(11)
    counts = [0, 0]
    for _ in range(400):
        dtype = random.choice(["f4", "f8", "f2"])
        golden = random.standard_normal((4, 5)).astype(dtype)
        actual = (golden + random.standard_normal((4, 5)) * 10.0 ** random.integers(-6, 0)).astype(dtype)
        if random.random() < 0.2:
            actual[1, 2] = golden[1, 2] = np.nan
        rtol, atol = 10.0 ** random.integers(-6, 0, 2)
        same = btf.diff(actual, golden, rtol=rtol, atol=atol, hints=False).same
        # In double precision, as the library computes.
        expected = np.allclose(actual.astype("f8"), golden.astype("f8"), rtol, atol, equal_nan=True)
        assert same == expected
        counts[same] += 1
    assert min(counts) > 50


def test_verdicts_are_those_of_torch():
    random = torch.Generator().manual_seed(2)
    for name in ("float32", "float16", "bfloat16"):
        for power in range(-7, 0):
            golden = torch.randn(50, generator=random).to(getattr(torch, name))
            actual = (golden.double() + torch.randn(50, generator=random).double() * 10.0 ** power).to(golden.dtype)
            try:
                torch.testing.assert_close(actual.double(), golden.double(), rtol=1e-3, atol=1e-5, equal_nan=True)
                expected = True
            except AssertionError:
                expected = False
            assert btf.diff(actual, golden, rtol=1e-3, atol=1e-5, hints=False).same == expected


def test_a_report_has_no_truth_value():
    report = btf.diff([1.0, 2.0], [1.0, 2.5])
    with pytest.raises(TypeError, match="ask .same"):
        bool(report)
    assert not report.same
    assert "1 of 2 elements" in report.text() and "atol=" in report.text() and "`" not in report.text()
    assert json.loads(report.json())["result"] == "different"
    assert report.html().lower().startswith("<!doctype html")
    assert "<testsuite" in report.junit()
    assert report.as_dict() == json.loads(report.json())


def test_pages_say_where_they_come_from(tmp_path, monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    actual, golden = tmp_path / "a<b.npy", tmp_path / "g.npy"
    for path, second in ((actual, 1_000_000_000), (golden, 1_234_567_890)):
        np.save(path, np.arange(4.0))
        os.utime(path, (second, second))
    report = btf.diff(actual, golden, rtol=np.float64(1e-3))
    for one in report, pickle.loads(pickle.dumps(report)):
        line = re.search("<p class=tool>(.*?)</p>", one.html())[1]
        assert re.match("btf \\d+\\.\\d+\\.\\d+ for Python · ", line) and line.endswith(" · inputs of 2009-02-13 23:31 UTC")
        assert html.unescape(line).split("<code>")[1].split("</code>")[0] == f"btf.diff({str(actual)!r}, {str(golden)!r}, rtol=0.001)"
    assert "btf.rejudge(report, rtol=0.1)</code> · inputs of 2009" in btf.rejudge(report, rtol=0.1).html()
    arrays = btf.diff([1.0], [2.0])
    assert "<code>btf.diff(actual, golden)</code></p>" in arrays.html()
    layers = btf.layers(actual, golden)
    assert "btf.layers(" in layers.html() and "inputs of 2009-02-13" in pickle.loads(pickle.dumps(layers)).html()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert all("inputs of 1970-01-01 00:00 UTC" in one.html() for one in (report, arrays, layers))


def test_criteria():
    golden = np.linspace(1, 2, 1000, dtype=np.float32)
    actual = golden.copy()
    actual[17] += 0.5
    assert not btf.diff(actual, golden).same
    assert btf.diff(actual, golden, max_mismatch=1).same
    assert btf.diff(actual, golden, max_mismatch_percent=0.2).same
    assert btf.diff(actual, golden, cosine=0.99).same
    assert not btf.diff(actual, golden, cosine=0.999999).same
    assert btf.diff(actual, golden, rmse=0.1, mae=0.01, bias=0.01, max_abs=0.51).same
    assert not btf.diff(actual, golden, max_abs=0.49).same
    assert btf.diff(golden.astype(np.float16), golden, close=True).same
    assert btf.diff(golden, golden.astype(np.float64)).same
    assert not btf.diff(golden, golden.astype(np.float64), strict=True).same
    assert not btf.diff(np.array([np.nan]), np.array([np.nan]), equal_nan=False).same
    with pytest.raises(TypeError, match="'rtoll'"):
        btf.diff(actual, golden, rtoll=1)
    for criterion in ({"rtol": -1}, {"atol": np.nan}, {"cosine": 2}, {"max_mismatch_percent": 101}):
        with pytest.raises(ValueError, match=f"{next(iter(criterion))} is from .* to .*, not"):
            btf.diff(actual, golden, **criterion)
    with pytest.raises(TypeError, match="two paths or two arrays"):
        btf.diff(actual, "golden.npy")
    shape = btf.diff(np.zeros(3), np.zeros(4))
    assert not shape.same


def test_a_cause_is_named():
    golden = np.random.default_rng(1).standard_normal((6, 7, 8)).astype(np.float32)
    report = btf.diff(np.ascontiguousarray(golden.transpose(0, 2, 1)).reshape(golden.shape), golden)
    assert "permutation" in report.text()


def test_files_as_the_command_says(tmp_path):
    random = np.random.default_rng(4)
    golden = {f"layer{i}": random.standard_normal((3, 4)).astype(np.float32) for i in range(5)}
    actual = {name: array + (np.float32(0.1) if name == "layer3" else 0) for name, array in golden.items()}
    np.savez(tmp_path / "actual.npz", **actual)
    np.savez(tmp_path / "golden.npz", **golden)
    for side, arrays in (("a", actual), ("g", golden)):
        (tmp_path / side).mkdir()
        for name, array in arrays.items():
            np.save(tmp_path / side / f"{name}.npy", array)
    np.save(tmp_path / "g" / "more.npy", np.zeros(2))
    tool = os.environ.get("BTFTOOL")
    for one, other in (("actual.npz", "golden.npz"), ("a", "g"), ("golden.npz", "golden.npz")):
        report = btf.diff(tmp_path / one, tmp_path / other, rtol=1e-3, figures=True)
        assert report.same == (one == other)
        if tool is None:
            continue
        command = [tool, "diff", "--json", "--rtol", "1e-3", tmp_path / one, tmp_path / other]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == (0 if report.same else 1)
        assert done.stdout.strip() == report.json().strip()
    with pytest.raises(FileNotFoundError):
        btf.diff(tmp_path / "a", tmp_path / "none")
    (tmp_path / "a" / "layer1.npy").write_bytes(b"\x93NUMPY")
    report = btf.diff(tmp_path / "a", tmp_path / "g")
    assert report.trouble and not report.same and "layer1" in report.text()
