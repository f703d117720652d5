"""Fixture `golden` of pytest: arrays against those that an earlier run has saved.

    pytest -p btf.pytest_plugin                  compare
    pytest -p btf.pytest_plugin --btf-update     save what the tests give
    pytest -p btf.pytest_plugin --btf-report D   keep the page of each failure, and the array, in D
"""

from __future__ import annotations

import os
import pathlib
import re

import pytest

from ._array import as_array
from ._diff import diff
from ._files import open as open_set
from ._files import save

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Unpack

    from ._array import Array
    from ._types import ArrayLike, DiffOptions


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("btf", "comparison of tensors")
    group.addoption("--btf-update", action="store_true", help="save golden arrays in place of comparing with them")
    group.addoption("--btf-report", metavar="DIR", help="keep the HTML report and the array of each comparison that fails")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--btf-update") and os.environ.get("CI"):
        raise pytest.UsageError("--btf-update is refused where CI is set: golden arrays are saved by people")


class Golden:
    """Compares arrays with the files golden/TEST_MODULE/NAME.btf beside the test."""

    def __init__(self, folder: pathlib.Path, update: bool, report: str | None, test: str):
        self._folder, self._update, self._report, self._test = folder, update, report, test

    def check(self, name: str, tensor: ArrayLike, /, **criteria: Unpack[DiffOptions]) -> None:
        """Fails unless the array is that of the file, within the criteria of `btf.diff`."""
        __tracebackhide__ = True
        path = self._folder / f"{_file_name(name)}.btf"
        array = as_array(tensor)
        if self._update:
            path.parent.mkdir(parents=True, exist_ok=True)
            save(path, {name: array})
            return
        if not path.exists():
            pytest.fail(f"{name}: there is no {path}; --btf-update saves it", pytrace=False)
        report = diff(array, open_set(path)[0].read(), **criteria)
        if report.same:
            return
        message = f"{name}: {report.text(columns=100)}\ngolden: {path}"
        if self._report is not None:
            message += f"\nreport: {self._keep(pathlib.Path(self._report), name, array, path, criteria)}"
        pytest.fail(message, pytrace=False)

    def _keep(self, report: pathlib.Path, name: str, array: Array, golden: pathlib.Path, criteria: Any) -> pathlib.Path:
        folder = report / _file_name(self._test)
        folder.mkdir(parents=True, exist_ok=True)
        actual = folder / f"{_file_name(name)}.btf"
        save(actual, {name: array})
        page = actual.with_suffix(".html")
        page.write_text(diff(actual, golden, **{**criteria, "heatmap": True}).html(), encoding="utf-8")
        return page


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]", "_", name)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """See btf.pytest_plugin."""
    config = request.config
    return Golden(request.path.parent / "golden" / request.path.stem, config.getoption("--btf-update"),
                  config.getoption("--btf-report"), request.node.nodeid.rsplit("/", 1)[-1])
