"""Assertions for tests."""

from __future__ import annotations

from ._diff import DiffReport, diff

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import ArrayLike, DiffOptions, Path

__all__ = ["assert_same"]


def assert_same(actual: ArrayLike | Path, golden: ArrayLike | Path, *, name: str = "",
                **criteria: Unpack[DiffOptions]) -> DiffReport:
    """Raises AssertionError with the report if two arrays, or two files, are not the same.

    Criteria are those of `btf.diff`; without any, numbers must be equal. The message says how many
    elements differ, the worst with both values, the cause, and what would pass.
    """
    __tracebackhide__ = True  # of pytest
    report = diff(actual, golden, **criteria)
    if not report.same:
        raise AssertionError((f"{name}: " if name else "") + report.text(columns=100))
    return report
