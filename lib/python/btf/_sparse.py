"""Sparse tensors as their entries."""

from __future__ import annotations

from . import _btf, _dtypes
from ._errors import InvalidArgument, Unsupported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    import numpy as np

    from ._types import ArrayLike


class Coo:
    """A sparse tensor: `indices[n]` is the place of `values[n]`, all others are 0. Unpacks as both.

    `indices` is an array of uint64, [entries, rank]; `values` has one dim; `shape` is the logical shape.
    Entries may stand in any order. For SciPy: `coo_array((values, tuple(indices.T)), shape)`.
    `btf.save` writes it: sorted, in a file of BTF with layout COO, in others dense.
    """

    __slots__ = ("indices", "values", "shape")

    indices: np.ndarray[Any, np.dtype[np.uint64]]
    values: np.ndarray[Any, Any]
    shape: tuple[int, ...]

    def __init__(self, indices: ArrayLike, values: ArrayLike, shape: Sequence[int]):
        import numpy as np

        self.shape = tuple(int(size) for size in shape)
        given = np.asarray(indices)
        self.values = np.asarray(values)
        if self.values.ndim != 1 or given.shape != (len(self.values), len(self.shape)):
            raise InvalidArgument(f"of {len(self.shape)} dims indices have the shape [entries, {len(self.shape)}] and values "
                                  f"[entries], not {list(given.shape)} and {list(self.values.shape)}")
        if given.dtype.kind not in "iu" and given.size:
            raise InvalidArgument(f"indices are integers, not {given.dtype}")
        if given.dtype.kind == "i" and given.size and given.min() < 0:
            raise InvalidArgument("an index is negative")
        self.indices = given.astype(np.uint64, copy=False)

    def __iter__(self) -> Iterator[np.ndarray[Any, Any]]:
        return iter((self.indices, self.values))

    def __repr__(self) -> str:
        return f"<btf.Coo {self.values.dtype} {list(self.shape)} {len(self.values)} entries>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Coo, (self.indices, self.values, self.shape)

    def _entries(self) -> _btf.Entries:
        from ._array import as_array

        values = as_array(self.values)._memory
        indices = self.indices.astype("<u8", copy=False).tobytes()
        return _btf.Entries(values.dtype, list(self.shape), len(self.values), indices, bytes(_memory_of(values)))


def read(record: _btf.Record) -> Coo:
    """The entries of a record in the order of its file."""
    import numpy as np

    if record.nnz is None or record.dtype is None:
        raise Unsupported(f"the tensor is {record.layout or 'of an unknown layout'}, not COO", "unsupported")
    name = record.dtype
    packed = _dtypes.is_packed(name)
    indices = np.empty((record.nnz, len(record.dims)), np.uint64)
    values = np.empty((record.nnz + 1) // 2, np.uint8) if packed else np.empty(record.nnz, _dtypes.numpy_dtype(name))
    record.entries(_address(indices), _address(values), values.nbytes)
    if packed:
        values = _dtypes.from_nibbles(_dtypes.unpacked(values)[:record.nnz], name)
    return Coo(indices, values, record.dims)


def _memory_of(values: _btf.Memory) -> Any:
    return values.memory()


def _address(array: np.ndarray[Any, Any]) -> int:
    address: int = array.__array_interface__["data"][0]
    return address
