"""What fits a narrow type, as the command says."""

import html
import json
import os
import subprocess

import numpy as np
import pytest

import btf

FIT = os.path.join(os.path.dirname(__file__), "..", "..", "testdata", "fit")
GOLDEN, MODEL = os.path.join(FIT, "golden.npz"), os.path.join(FIT, "model.onnx")


def command(*words):
    tool = os.environ.get("BTFTOOL", "btftool")
    return subprocess.run([tool, "fit", *words, GOLDEN], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("options, words", [
    ({}, []), ({"graph": MODEL}, ["--graph", MODEL]),
    ({"graph": MODEL, "dtype": ["fp16", "bfloat16"]}, ["--graph", MODEL, "--dtype", "fp16,bf16"]),
    ({"dtype": np.int8}, ["--dtype", "int8"])])
def test_as_the_command_says(options, words):
    report = btf.fit(GOLDEN, **options)
    done = command("--json", *words)
    assert json.loads(done.stdout) == report.as_dict()
    assert report.fits == (done.returncode == 0)
    assert command(*words).stdout == report.text(columns=80)


def test_lists(tmp_path):
    report = btf.fit(GOLDEN, graph=MODEL, dtype=["fp16", "bf16", "int8"])
    assert report.wide("fp16") == ["pow", "mean"]
    assert [one["dtype"] for one in report.types] == ["float16", "bfloat16"]
    assert "float16: 2 of 10 wide" in repr(report)
    for form in ("autocast", "onnxconverter", "trtexec", "polygraphy", "names"):
        command("--graph", MODEL, "--emit", form, str(tmp_path / form))
        assert (tmp_path / form).read_text() == report.list(form, "fp16")
    command("--graph", MODEL, "--dtype", "int8", "--emit", "scales", str(tmp_path / "scales"))
    assert json.loads((tmp_path / "scales").read_text()) == report.scales()
    # Of one type no name is needed.
    assert btf.fit(GOLDEN, graph=MODEL).wide() == ["pow", "mean"]


def test_several_dumps(tmp_path):
    half = {name: value / 8 for name, value in np.load(GOLDEN).items()}
    np.savez(tmp_path / "smaller.npz", **half)
    report = btf.fit(GOLDEN, tmp_path / "smaller.npz", graph=MODEL)
    wide = [layer for layer in report.types[0]["layers"] if layer["state"] == "wide"]
    assert [layer["name"] for layer in wide] == ["pow", "mean"]
    assert {finding["dumps"] for layer in wide for finding in layer["findings"]} == {1}


def test_mistakes():
    with pytest.raises(FileNotFoundError, match="none.npz"):
        btf.fit("none.npz")
    with pytest.raises(TypeError, match="needs a dump"):
        btf.fit()
    with pytest.raises(TypeError, match="ask .fits"):
        bool(btf.fit(GOLDEN))
    report = btf.fit(GOLDEN, graph=MODEL, dtype=["fp16", "bf16"])
    with pytest.raises(ValueError, match="several were judged"):
        report.wide()
    with pytest.raises(ValueError, match="not 'nmaes'"):
        report.list("nmaes", "fp16")
    with pytest.raises(ValueError, match="no dtype that such a list"):
        report.scales("int8")
    with pytest.raises(ValueError):
        btf.fit(GOLDEN, dtype="int32")


def test_a_page_says_the_call(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    page = html.unescape(btf.fit(GOLDEN, dtype="int8", graph=MODEL).html())
    assert f"btf.fit({GOLDEN!r}, dtype='int8', graph={MODEL!r})</code> · inputs of 1970-01-01" in page


def test_a_page_says_the_date_of_its_dumps(monkeypatch, tmp_path):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    dumps = [tmp_path / name for name in ("older.npz", "newer.npz")]
    with np.load(GOLDEN) as golden:
        arrays = dict(golden)
    for dump, seconds in zip(dumps, (10**9, 10**9 + 86400)):
        np.savez(dump, **arrays)
        os.utime(dump, (seconds, seconds))
    assert "inputs of 2001-09-10" in btf.fit(*dumps, dtype="bf16").html()
