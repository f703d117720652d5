"""What reports have in common."""

from __future__ import annotations


class Report:
    """What was found, in the words of the command. It has no truth value."""

    __slots__ = ("_found",)
    _ask = ".same"

    def __init__(self, found):
        self._found = found

    def __bool__(self):
        raise TypeError(f"a report is neither true nor false, and an `if` reads as its opposite: ask {self._ask}")

    def text(self, columns: int = 80, all: bool = False) -> str:
        """As the command prints it; `all`: every tensor in full."""
        return self._found.text(columns, all)

    def json(self) -> str:
        """As the command prints it with --json."""
        return self._found.json()

    def html(self) -> str:
        """A page by itself."""
        return self._found.html()

    def junit(self) -> str:
        """For CI servers."""
        return self._found.junit()

    def as_dict(self) -> dict:
        """The JSON report as Python's dicts and lists."""
        import json

        return json.loads(self.json())

    def __str__(self) -> str:
        return self.text()
