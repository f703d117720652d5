"""Dtypes of the library in NumPy and PyTorch, which are imported only here and only when needed."""

from __future__ import annotations

import sys

from . import _btf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np

    from ._types import DType, NumPyArray

ROWS = {row.name: row for row in _btf.dtypes()}
_PACKED = {row.name for row in _btf.dtypes() if row.bits == 4}  # two elements in a byte


def name_of(dtype: DType) -> str | None:
    """The library's name of a dtype: its own names, NumPy's, PyTorch's and ml_dtypes' objects."""
    if dtype is None:
        return None
    if isinstance(dtype, str):
        return dtype[len("torch."):] if dtype.startswith("torch.") else dtype
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(dtype, torch.dtype):
        return name_of(str(dtype))
    import numpy as np

    name: str = np.dtype(dtype).name
    return name


def is_packed(name: str) -> bool:
    return name in _PACKED


_numpy_dtypes: dict[str, np.dtype[Any]] = {}


def numpy_dtype(name: str) -> np.dtype[Any]:
    """NumPy's dtype; of types that NumPy lacks that of ml_dtypes, never an integer in its place."""
    known: np.dtype[Any] | None = _numpy_dtypes.get(name)
    if known is None:
        known = _numpy_dtypes[name] = _find_numpy_dtype(name)
    return known


def _find_numpy_dtype(name: str) -> np.dtype[Any]:
    import numpy as np

    row = ROWS[name]
    found: np.dtype[Any]
    if row.numpy is not None:
        found = np.dtype("<" + row.numpy)
        return found
    try:
        import ml_dtypes
    except ImportError:
        raise ImportError(
            f"NumPy has no {name}: the package ml_dtypes has it (pip install ml_dtypes); "
            "raw=True gives the codes as unsigned integers") from None
    found = np.dtype(getattr(ml_dtypes, name))
    return found


def code_dtype(name: str) -> np.dtype[Any]:
    import numpy as np

    found: np.dtype[Any] = np.dtype(f"<u{max(ROWS[name].bits, 8) // 8}")
    return found


def unpacked(codes: NumPyArray) -> NumPyArray:
    """Elements of 4 bits out of bytes that hold two each, the first in the low half."""
    import numpy as np

    nibbles = np.empty(codes.size * 2, np.uint8)
    nibbles[0::2] = codes & 15
    nibbles[1::2] = codes >> 4
    return nibbles


def from_nibbles(nibbles: NumPyArray, name: str) -> NumPyArray:
    import numpy as np

    dtype = numpy_dtype(name)
    if name == "int4":
        return ((nibbles ^ 8).astype(np.int8) - 8).astype(dtype)
    if name == "uint4":
        return nibbles.astype(dtype)
    return nibbles.view(dtype)
