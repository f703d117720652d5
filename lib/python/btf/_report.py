"""What reports have in common."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn


def number(member: Any) -> float:
    """A number of a JSON report, where NaN and infinities are strings."""
    return float(member)


def _call(name: str, operands: tuple[str, ...], options: dict[str, Any]) -> str:
    """As it is typed; NumPy's numbers as Python's, no list of nothing."""
    plain = {name: value.tolist() if hasattr(value, "tolist") else value for name, value in options.items()}
    given = (f"{name}={value!r}" for name, value in plain.items() if value != [])
    return f"btf.{name}({', '.join([*operands, *given])})"


class Report:
    """What was found, in the words of the command. It has no truth value."""

    __slots__ = ("_call", "_found", "_options")
    _ask = ".same"

    def __init__(self, found: Any, options: dict[str, Any], function: str, *operands: str):
        self._found = found
        self._options = options
        self._call = (function, operands)  # that makes it again

    def __bool__(self) -> NoReturn:
        raise TypeError(f"a report is neither true nor false, and an `if` reads as its opposite: ask {self._ask}")

    def text(self, columns: int = 80, all: bool = False) -> str:
        """As the command prints it; `all`: every tensor in full."""
        text: str = self._found.text(columns, all)
        return text

    def json(self) -> str:
        """As the command prints it with --json."""
        text: str = self._found.json()
        return text

    def html(self) -> str:
        """A page by itself; $SOURCE_DATE_EPOCH takes the place of the date of its inputs."""
        import os

        text: str = self._found.html(_call(*self._call, self._options), os.environ.get("SOURCE_DATE_EPOCH", ""))
        return text

    def as_dict(self) -> dict[str, Any]:
        """The JSON report as Python's dicts and lists."""
        import json

        members: dict[str, Any] = json.loads(self.json())
        return members

    def __str__(self) -> str:
        return self.text()


class TestedReport(Report):
    """Of what passes or fails."""

    __slots__ = ()

    def junit(self) -> str:
        """For CI servers."""
        text: str = self._found.junit()
        return text
