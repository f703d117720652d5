"""Assertions for tests."""

from __future__ import annotations

from ._diff import DiffReport, diff

__all__ = ["assert_same"]


def assert_same(actual, golden, *, name: str = "", **criteria) -> DiffReport:
    """Raises AssertionError with the report if two arrays, or two files, are not the same.

    Criteria are those of `btf.diff`; without any, numbers must be equal. The message says how many
    elements differ, the worst with both values, the cause, and what would pass.
    """
    __tracebackhide__ = True  # of pytest
    report = diff(actual, golden, **criteria)
    if not report.same:
        raise AssertionError((f"{name}: " if name else "") + report.text(columns=100))
    return report
