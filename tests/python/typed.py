"""What a typed program does with the package: read by type checkers, never run."""

from __future__ import annotations

from typing import assert_type

import numpy as np

import btf
import btf.testing


def same(actual: np.ndarray, golden: np.ndarray) -> bool:
    report = btf.diff(actual, golden, rtol=1e-3, close=True)
    assert_type(report, btf.DiffReport)
    assert_type(report.same, bool)
    assert_type(report.text(), str)
    return report.same


def names(path: str) -> list[str]:
    tensors = btf.open(path)
    assert_type(tensors, btf.TensorSet)
    assert_type(len(tensors), int)
    assert_type(tensors[0], btf.Tensor)
    assert_type(tensors["conv1"], btf.Tensor)
    assert_type(tensors[0].shape, tuple[int, ...])
    assert_type(tensors[0].read(dtype="fp16", layout="kHWC8"), btf.Array)
    assert_type(tensors[0].read().loss.inexact, int)
    return [tensor.name for tensor in tensors]


def kept(path: str) -> np.ndarray:
    tensor = btf.open(path)[0]
    array: np.ndarray = tensor[0, :, 2:5]
    return array


def broken(actual: str, golden: str) -> str:
    report = btf.layers(actual, golden, graph="m.onnx")
    assert_type(report.well, bool)
    return "" if report.well else str(report.verdict["layer"])


def wide(golden: str) -> list[str]:
    report = btf.fit(golden, graph="m.onnx", dtype="fp16")
    assert_type(report.fits, bool)
    return report.wide()


def wrong(path: str) -> list[str]:
    return [finding.message for finding in btf.validate(path, finite=True)]


def saved(path: str, arrays: dict[str, np.ndarray]) -> int:
    return btf.save(path, arrays, dtype="bf16")


def mistakes(path: str) -> None:
    # A checker that finds nothing here has seen no types.
    btf.open(3)  # type: ignore[arg-type]
    btf.diff(path, path, rtoll=1)  # type: ignore[call-arg]
    btf.open(path).nothing  # type: ignore[attr-defined]
    btf.testing.assert_same(1, 2).x  # type: ignore[attr-defined]
