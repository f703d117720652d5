"""Errors of the library as exceptions, which are also the ones that Python has for such cases."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Error(Exception):
    """Why something could not be done.

    `code` is the kind of error ("malformed", "io", ...), `message` the sentence without the file,
    `file` and `tensor` where, `finding` and `offset` the rule of a format that a file breaks and
    the byte where it does.
    """

    def __init__(self, text: str, code: str = "invalid_argument", message: str = "", file: str = "",
                 finding: str = "", offset: int = 0, tensor: int | None = None, system: int = 0):
        super().__init__(text)
        self._text = text
        self.code = code
        self.message = message
        self.file = file
        self.finding = finding
        self.offset = offset
        self.tensor = tensor
        self.system = system

    def __str__(self) -> str:
        return self._text

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._text, self.code, self.message, self.file, self.finding,
                            self.offset, self.tensor, self.system)


class InvalidArgument(Error, ValueError):
    """What was asked for cannot be: an unknown name, options that exclude each other."""


class NoSuchTensor(InvalidArgument, IndexError):
    """No tensor has this number."""


class Malformed(Error, ValueError):
    """The bytes of a file contradict its format."""


class Unsupported(Error, ValueError):
    """Well-formed, but not supported."""


class Refused(Error, ValueError):
    """The caller's own policy forbids the result: `lossless`, `overflow="error"`."""


class SystemRefused(Error, OSError):
    """The system refused; `errno` says why."""

    def __init__(self, text: str, code: str = "io", message: str = "", file: str = "", finding: str = "",
                 offset: int = 0, tensor: int | None = None, system: int = 0):
        super().__init__(text, code, message, file, finding, offset, tensor, system)
        self.errno = system or None
        self.strerror = os.strerror(system) if system else None
        self.filename = file or None


class NotFound(SystemRefused, FileNotFoundError):
    """There is no such file."""


class NotPermitted(SystemRefused, PermissionError):
    """The file may not be read or written."""


class IsADirectory(SystemRefused, IsADirectoryError):
    """A directory stands where a file is expected."""


class ClosedPipe(SystemRefused, BrokenPipeError):
    """Nobody reads the output any more."""


_BY_CODE = {
    "invalid_argument": InvalidArgument,
    "malformed": Malformed,
    "unsupported": Unsupported,
    "refused": Refused,
    "closed_pipe": ClosedPipe,
}


def make_error(code: str, text: str, message: str, file: str, finding: str, offset: int, tensor: int | None,
               system: int) -> Error:
    kind: type[Error] = _BY_CODE.get(code, SystemRefused)
    if kind is SystemRefused:
        # OSError's own choice: FileNotFoundError for ENOENT, ...
        standard = type(OSError(system, ""))
        kind = next((one for one in (NotFound, NotPermitted, IsADirectory) if issubclass(one, standard)
                     and standard is not OSError), SystemRefused)
    return kind(text, code, message, file, finding, offset, tensor, system)
