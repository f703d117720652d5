"""Comparisons."""

from __future__ import annotations

import os

from . import _btf, _dtypes
from ._array import as_array
from ._files import existing
from ._report import TestedReport, number

TYPE_CHECKING = False  # typing's own would cost an import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from typing_extensions import Unpack

    from ._types import ArrayLike, Criteria, DiffOptions, Path


class TensorDiff:
    """What the comparison of one pair of tensors found: members of the JSON report (docs/json.md).

    Errors are those of pairs of finite numbers, in the tensors' own unit; indices count the logical
    dims. `as_dict()` has all members.
    """

    __slots__ = ("_members",)

    def __init__(self, members: dict[str, Any]):
        self._members = members

    @property
    def name(self) -> str:
        """Golden's, or actual's where there is no golden; "" of arrays."""
        return str(self._members["name"])

    @property
    def result(self) -> str:
        """"same", "different", "shape", "missing" or "trouble"."""
        return str(self._members["result"])

    @property
    def same(self) -> bool:
        return self.result == "same"

    @property
    def reason(self) -> str | None:
        """Of a difference that is none of values: shapes, dtypes, a missing tensor, an error."""
        return self._members.get("reason") or self._members.get("error")

    @property
    def compared(self) -> int:
        """Elements."""
        return int(self._members.get("compared", 0))

    @property
    def mismatched(self) -> int | None:
        """Elements that the tolerance refuses. None: not 0, and more is not known (rejudge())."""
        many: int | None = self._members.get("mismatched", 0)
        return many

    @property
    def max_abs(self) -> float:
        """The largest |actual - golden|."""
        return number(self._members.get("max_abs", 0))

    @property
    def max_rel(self) -> float:
        """The largest |actual - golden| / |golden|."""
        return number(self._members.get("max_rel", 0))

    @property
    def max_ulp(self) -> int:
        """The largest distance in representable numbers of the coarser dtype."""
        return int(self._members.get("max_ulp", 0))

    @property
    def worst(self) -> dict[str, Any] | None:
        """The element with the largest absolute error: "index", "actual", "golden", "abs_error",
        "rel_error", "allowed", ... None: nothing mismatched, or it is not known (rejudge())."""
        return (self._members.get("worst") or {}).get("abs")

    @property
    def causes(self) -> list[tuple[str, str]]:
        """Names of causes and the evidence for each, the best first: ("permutation", "...")."""
        return [(one["cause"], one["evidence"]) for one in self._members.get("hints") or ()]

    @property
    def required(self) -> dict[str, Any]:
        """The least tolerances that would accept everything: "atol", "rtol", "pair", "pairs"."""
        return self._members.get("required") or {"atol": None, "rtol": None, "pair": None, "pairs": []}

    @property
    def criteria(self) -> list[dict[str, Any]]:
        """What was judged: "name", "passed", "limit", "value", "text"."""
        return self._members.get("criteria") or []

    def as_dict(self) -> dict[str, Any]:
        return self._members

    def __repr__(self) -> str:
        return f"<btf.TensorDiff {self.name!r} {self.result}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorDiff, (self._members,)


class DiffReport(TestedReport):
    """What a comparison found. It has no truth value: ask `.same`. It pickles."""

    __slots__ = ()

    @property
    def same(self) -> bool:
        return bool(self._found.same)

    @property
    def trouble(self) -> bool:
        """Is there a file or a tensor that could not be compared? Then it is not the same."""
        return bool(self._found.trouble)

    @property
    def tensors(self) -> list[TensorDiff]:
        """The pairs of tensors, in the order of the report."""
        return [TensorDiff(one) for one in self.as_dict()["tensors"]]

    def __repr__(self) -> str:
        return f"<btf.DiffReport {'same' if self.same else 'different'}>"

    def _repr_html_(self) -> str:
        from ._notebook import of_diff

        return of_diff(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._found.state(), self._options, self._found.newest_input, *self._call)


def _restored(state: str, options: dict[str, Any], newest_input: int | None, function: str,
              operands: tuple[str, ...]) -> DiffReport:
    return DiffReport(_btf.diff_from_state(state, options, newest_input), options, function, *operands)


def diff(actual: ArrayLike | Path, golden: ArrayLike | Path, **criteria: Unpack[DiffOptions]) -> DiffReport:
    """Compares files, directories, archives and indexes by their paths, or arrays in memory.

    Criteria: rtol, atol, ulp, close, close_as, equal_nan, strict; gates of the whole tensor: cosine,
    psnr, snr, rmse, mae, bias, max_abs, max_mismatch, max_mismatch_percent, top_k. Of paths too:
    tensor, pair, actual_spec, golden_spec, dequantize, block, codes. `hints=False` looks for no causes,
    `figures=True` counts the figures of tensors that are the same too, as the command does for JSON,
    `show` is how many mismatches are kept, `heatmap=True` adds a map of them, `jobs` is the number of
    threads. Without any, numbers must be equal. Units, formulas and sources: docs/diff.md.

    Raises TypeError for an option that there is not, InvalidArgument for a value out of its range.
    """
    options = _plain(criteria)
    if _is_path(actual) and _is_path(golden):
        return of_paths(_btf.diff_paths, existing(actual), existing(golden), options)
    if _is_path(actual) or _is_path(golden):
        raise TypeError("diff() compares two paths or two arrays; btf.open() gives the tensors of a file")
    found = _btf.diff_arrays(as_array(actual)._memory, as_array(golden)._memory, "", options)
    return DiffReport(found, options, "diff", "actual", "golden")


def rejudge(report: DiffReport | Path, **criteria: Unpack[Criteria]) -> DiffReport:
    """Judges a report by other criteria, without the tensors: those of `diff` but `strict`.

    `report`: a DiffReport, the path of one that was saved as JSON, or the JSON itself. Where the
    report lacks the figure that decides, the new one has `.trouble` and says which; it lacks single
    mismatches where the tolerance is another one. As `btftool diff --from-json`.
    """
    options = _plain(criteria)
    if isinstance(report, DiffReport):
        return DiffReport(report._found.rejudge(options), options, "rejudge", "report")
    if not _is_path(report):
        raise TypeError("rejudge() takes a DiffReport, a path or the JSON of a report")
    if isinstance(report, str) and report.lstrip().startswith("{"):
        return DiffReport(_btf.rejudge(report, "", options), options, "rejudge", "report")
    path = existing(report)
    with open(path, encoding="utf-8", errors="replace") as file:
        return DiffReport(_btf.rejudge(file.read(), path, options), options, "rejudge", "report")


def of_paths(compare: Callable[..., _btf.Comparison], actual: str, golden: str, options: dict[str, Any]) -> DiffReport:
    return DiffReport(compare(actual, golden, options), options, "diff", repr(actual), repr(golden))


def _plain(criteria: Any) -> dict[str, Any]:
    """The options as the module takes them, and pickle."""
    if "close_as" in criteria:
        criteria["close_as"] = _dtypes.name_of(criteria["close_as"])
    return {name: value for name, value in criteria.items() if value is not None}


def _is_path(operand: object) -> bool:
    return isinstance(operand, (str, bytes, os.PathLike))
