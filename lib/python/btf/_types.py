"""Types of arguments, for type checkers. Not imported when a program runs."""

from __future__ import annotations

import os
from typing import Any, Literal, TypedDict, Union

import numpy as np

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
# Of NumPy, PyTorch, ml_dtypes or this package, or its name: "fp16", "bfloat16", "int4", ...
DType = Any
NumPyArray = np.ndarray[Any, Any]
# Arrays, tensors, and numbers in lists.
ArrayLike = Any

Overflow = Literal["saturate", "ieee", "wrap", "error"]
Rounding = Literal["nearest", "zero", "up", "down"]
Duplicates = Literal["error", "sum", "first", "last"]
Share = Union[int, str]  # elements, or "1%" of them


class CastOptions(TypedDict, total=False):
    overflow: Overflow | None
    rounding: Rounding | None
    lossless: bool | None
    jobs: int | None


class ReadOptions(CastOptions, total=False):
    duplicates: Duplicates | None


class Criteria(TypedDict, total=False):
    rtol: float | None
    atol: float | None
    ulp: int | None
    close: bool | None
    close_as: DType | None
    equal_nan: bool | None
    cosine: float | None
    psnr: float | None
    snr: float | None
    rmse: float | None
    mae: float | None
    bias: float | None
    max_abs: float | None
    max_mismatch: float | None
    max_mismatch_percent: float | None
    top_k: int | None


class DiffOptions(Criteria, total=False):
    strict: bool | None
    hints: bool | None
    figures: bool | None
    heatmap: bool | None
    show: int | None
    dequantize: bool | None
    block: int | list[int] | tuple[int, ...] | None
    codes: bool | None
    tensor: str | None
    pair: list[str] | None
    actual_spec: str | None
    golden_spec: str | None
    jobs: int | None


class LayerOptions(TypedDict, total=False):
    actual_graph: Path | None
    weights: bool | None
    accumulate: DType | None
    compute: DType | None
    computes: dict[str, DType] | None
    order: str | None
    baseline: Path | None
    isolated: bool | None
    max_error: float | None
    require_all: bool | None
    hints: bool | None
    dequantize: bool | None
    block: int | list[int] | tuple[int, ...] | None
    jobs: int | None


class ConvertOptions(ReadOptions, total=False):
    tensor: str | None
    exclude: str | list[str] | None
    rename: dict[str, str] | None
    names: list[str] | Literal["drop"] | None
    permute: list[int] | tuple[int, ...] | None
    slice: Any
    squeeze: bool | int | list[int] | None
    unsqueeze: int | None
    reshape: list[int] | tuple[int, ...] | None
    max_zero: Share | None
    max_overflow: Share | None
    min_snr: float | None
    scale: float | Literal["auto"] | None
    scale_axis: int | None
    zero_point: int | Literal["auto"] | None
    block_scale: Literal["mxfp8", "mxfp4", "nvfp4"] | None
    dequantize: bool | None
    block: int | list[int] | tuple[int, ...] | None
    prune_zeros: bool | None
    where_possible: bool | None
    shuffle: bool | None
    plain: bool | None
    output_spec: str | None
    as_uint: bool | None
    coo_code: Literal["spec", "tfrt"] | None
    recipient: Literal["tfrt"] | None
    compression: int | None
    sync: bool | None
