"""Layers and validation, as the command says."""

import os
import subprocess

import numpy as np
import pytest

import btf

DATA = os.path.join(os.path.dirname(__file__), "..", "..", "testdata")
LAYERS = [os.path.join(DATA, "layers", name) for name in ("dead_channel.npz", "golden.npz")]
MODEL = os.path.join(DATA, "layers", "weights.onnx")


@pytest.mark.parametrize("options, words", [
    ({}, []), ({"graph": MODEL}, ["--graph", MODEL]),
    ({"graph": [MODEL], "weights": False}, ["--graph", MODEL, "--weights", "no"]),
    ({"compute": np.float16, "computes": {"*Softmax*": "fp32"}}, ["--compute", "fp16,*Softmax*=fp32"]),
    ({"hints": False, "max_error": 0.01}, ["--no-hints", "--max-error", "0.01"])])
def test_as_the_command_says(options, words):
    report = btf.layers(*LAYERS, **options)
    tool = os.environ.get("BTFTOOL", "btftool")
    done = subprocess.run([tool, "layers", "--json", *words, *LAYERS], capture_output=True, text=True, check=False)
    # Options have the names that they have in Python.
    assert done.stdout.strip().replace("--compute", "compute") == report.json().strip(), done.stderr
    assert report.well == (done.returncode == 0)
    assert report.verdict == report.as_dict()["verdict"]
    assert "BROKE AT" in report.text() and "<html" in report.html() and "<testsuite" in report.junit()


def test_the_same_layers_are_well():
    report = btf.layers(LAYERS[1], LAYERS[1], graph=MODEL)
    assert report.well and report.verdict["kind"] == "clean"
    with pytest.raises(TypeError, match="ask .well"):
        bool(report)


def test_mistakes():
    with pytest.raises(FileNotFoundError, match="none.onnx"):
        btf.layers(*LAYERS, graph="none.onnx")
    with pytest.raises(TypeError, match="'grahp'"):
        btf.layers(*LAYERS, grahp=MODEL)
    with pytest.raises(ValueError, match="two of a kind"):
        btf.layers(*LAYERS, graph=[MODEL, MODEL])


def test_findings(tmp_path):
    assert btf.validate(os.path.join(DATA, "good", "mixed.btf")) == []
    found = btf.validate(os.path.join(DATA, "bad", "data-past-end.btf"))
    assert [(one.error, one.code, one.tensor, one.offset) for one in found] == [(True, "data-past-end", 1, 88)]
    assert "data-past-end" in repr(found[0]) and "4000 bytes" in found[0].message
    btf.save(tmp_path / "x.npy", np.float32([1, np.nan]))
    assert btf.validate(tmp_path / "x.npy") == []
    assert [one.count for one in btf.validate(tmp_path / "x.npy", finite=True) if one.error] == [1]
    with pytest.raises(FileNotFoundError):
        btf.validate(tmp_path / "none")
