"""What reports have in common."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn


def number(member: Any) -> float:
    """A number of a JSON report, where NaN and infinities are strings."""
    return float(member)


class Report:
    """What was found, in the words of the command. It has no truth value."""

    __slots__ = ("_found",)
    _ask = ".same"

    def __init__(self, found: Any):
        self._found = found

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
        """A page by itself."""
        text: str = self._found.html()
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
