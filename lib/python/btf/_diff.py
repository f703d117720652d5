"""Comparisons."""

from __future__ import annotations

import os

from . import _btf, _dtypes
from ._array import as_array
from ._files import existing
from ._report import Report


class DiffReport(Report):
    """What a comparison found. It has no truth value: ask `.same`."""

    __slots__ = ()

    @property
    def same(self) -> bool:
        return self._found.same

    @property
    def trouble(self) -> bool:
        """Is there a file or a tensor that could not be compared? Then it is not the same."""
        return self._found.trouble

    def __repr__(self) -> str:
        return f"<btf.DiffReport {'same' if self.same else 'different'}>"


def diff(actual, golden, **criteria) -> DiffReport:
    """Compares files, directories, archives and indexes by their paths, or arrays in memory.

    Criteria: rtol, atol, ulp, close, close_as, equal_nan, strict; gates of the whole tensor: cosine,
    psnr, snr, rmse, mae, bias, max_abs, max_mismatch, max_mismatch_percent, top_k. Of paths too:
    tensor, pair, actual_spec, golden_spec, dequantize. `hints=False` looks for no causes,
    `figures=True` counts the figures of tensors that are the same too, as the command does for JSON,
    `show` is how many mismatches are kept, `heatmap=True` adds a map of them, `jobs` is the number of threads. Without any, numbers must be equal.
    """
    if "close_as" in criteria:
        criteria["close_as"] = _dtypes.name_of(criteria["close_as"])
    if _is_path(actual) and _is_path(golden):
        return DiffReport(_btf.diff_paths(existing(actual), existing(golden), criteria))
    if _is_path(actual) or _is_path(golden):
        raise TypeError("diff() compares two paths or two arrays; btf.open() gives the tensors of a file")
    return DiffReport(_btf.diff_arrays(as_array(actual)._memory, as_array(golden)._memory, "", criteria))


def _is_path(operand) -> bool:
    return isinstance(operand, (str, bytes, os.PathLike))
