"""Files of tensors, read on demand, and written."""

from __future__ import annotations

import _operator as operator  # loaded already, as is _collections_abc; their other names take half a millisecond each
import errno
import os
from _collections_abc import Sequence

from . import _btf, _dtypes
from ._array import Array, as_array
from ._errors import InvalidArgument, NoSuchTensor, NotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Literal, overload

    import numpy as np
    import torch as _torch
    from typing_extensions import Unpack

    from ._sparse import Coo
    from ._types import ArrayLike, CastOptions, DType, NumPyArray, Path, ReadOptions

    Stamps = list[tuple[int, int]]  # bytes and time of the last change of each file


# Bytes of a tensor that are read as soon as the elements that are asked for: the library reads gaps below that too.
_WHOLE = 8192


class Tensor:
    """A tensor of a file, of which only the header has been read.

    `tensor[0, :, 4:8]` reads these elements and nothing else.
    """

    __slots__ = ("_record", "_set", "_number", "_plain")

    def __init__(self, record: _btf.Record, tensors: TensorSet, number: int):
        self._record = record
        self._set = tensors
        self._number = number
        self._plain: tuple[Any, tuple[int, ...], Any] | None = None

    @property
    def name(self) -> str:
        return self._record.name

    @property
    def index(self) -> int:
        """Its number in its file."""
        return self._record.index

    @property
    def path(self) -> str:
        return self._record.path

    @property
    def dtype(self) -> str | None:
        """None: a code that is not known."""
        return self._record.dtype

    @property
    def layout(self) -> str | None:
        return self._record.layout

    @property
    def shape(self) -> tuple[int, ...]:
        """The logical dims."""
        return tuple(self._record.dims)

    @property
    def ndim(self) -> int:
        return len(self._record.dims)

    @property
    def nbytes(self) -> int:
        """Bytes of the elements as they are stored."""
        return self._record.nbytes

    @property
    def offset(self) -> int:
        """Bytes from the start of the file's content to the elements."""
        return self._record.offset

    @property
    def nnz(self) -> int | None:
        """Entries of a sparse tensor."""
        return self._record.nnz

    def __repr__(self) -> str:
        return f"<btf.Tensor {self._number} {self.name!r} {self.dtype} {self.layout} {list(self.shape)} {self.nbytes} bytes>"

    def __len__(self) -> int:
        if not self._record.dims:
            raise TypeError("a scalar has no len()")
        return self._record.dims[0]

    def read(self, *, dtype: DType = None, layout: str | None = None, **options: Unpack[ReadOptions]) -> Array:
        """All elements, in another dtype and layout if asked.

        Options: overflow ("saturate", "ieee", "wrap", "error"), rounding, lossless, duplicates (of a
        sparse tensor), jobs.
        """
        return Array(self._record.read(None, {"dtype": _dtypes.name_of(dtype), "layout": layout, **options}))

    def numpy(self, *, dtype: DType = None, raw: bool = False, **options: Unpack[ReadOptions]) -> NumPyArray:
        """All elements as a NumPy array with the logical shape, row by row."""
        if dtype is None and not raw and not options:
            content = self._record.content()
            if content is not None:  # a short tensor that lies so
                make, shape, own = self._plain or self._find_plain()
                short: NumPyArray = make(shape, own, content)
                return short
        return self.read(dtype=dtype, layout="kLINEAR", **options).numpy(raw=raw)

    def _find_plain(self) -> tuple[Any, tuple[int, ...], Any]:
        import numpy as np

        self._plain = np.ndarray, self.shape, _dtypes.numpy_dtype(str(self._record.dtype))
        return self._plain

    def torch(self, *, dtype: DType = None, **options: Unpack[ReadOptions]) -> _torch.Tensor:
        """All elements as a PyTorch tensor."""
        return self.read(dtype=dtype, layout="kLINEAR", **options).torch()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NumPyArray:
        return self.read(layout="kLINEAR").__array__(dtype)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, **options: Any) -> Any:
        return self.read().__dlpack__(**options)

    def __getitem__(self, index: Any) -> NumPyArray:
        box, then = _box(index, self._record.dims)
        if self._record.nbytes <= _WHOLE:
            content = self._record.content()
            if content is not None:
                make, shape, own = self._plain or self._find_plain()
                short: NumPyArray = make(shape, own, content)[index]
                return short
        part: NumPyArray = Array(self._record.read(box, {"layout": "kLINEAR"})).numpy()[then]
        return part

    def coo(self) -> Coo:
        """The entries of a sparse tensor as its file has them: indices and values, in its order.

        Indices are checked against the shape; whether one occurs twice is not looked at. Unsupported
        where the file has all elements.
        """
        from . import _sparse

        return _sparse.read(self._record)

    def stats(self, *, jobs: int = 0) -> dict[str, Any]:
        """Figures of all elements, which are read for it, by the names of `btftool inspect --stats --json`:
        count, finite, min, max, mean, std (of the population), nan, pos_inf, neg_inf, zeros, subnormals,
        min_index, max_index, first_nan_index. None where there is no finite element.
        """
        figures: dict[str, Any] = self._record.stats(jobs)
        return figures

    def _repr_html_(self) -> str:
        from ._notebook import of_tensor

        return of_tensor(self)

    def memmap(self, mode: Literal["r", "r+", "c"] = "r") -> np.memmap[Any, Any]:
        """A numpy.memmap of the elements, in the file's layout where strides can say it.

        Unsupported where the file does not hold the elements as they are: compressed, sparse, as text,
        in the other byte order, of 4 bits.
        """
        import numpy as np

        strides = self._record.strides_to_map()
        dtype = _dtypes.numpy_dtype(str(self.dtype))
        memory = np.memmap(self.path, np.uint8, mode, self.offset, (self.nbytes,))
        mapped: np.memmap[Any, Any] = np.ndarray.__new__(np.memmap, self.shape, dtype, memory, 0,
                                                         tuple(s * dtype.itemsize for s in strides))
        return mapped

    def __reduce__(self) -> tuple[Any, ...]:
        return operator.getitem, (self._set, self._number)


def _box(index: Any, dims: Sequence[int]) -> tuple[list[tuple[int, int, int]], tuple[int | slice, ...]]:
    """The box that an index needs, and the index into that."""
    given = index if isinstance(index, tuple) else (index,)
    if any(one is None or isinstance(one, (list, bool)) or hasattr(one, "dtype") and getattr(one, "ndim", 0)
           for one in given):
        raise InvalidArgument("an index has integers, slices and one ellipsis; tensor.numpy() takes any")
    if sum(one is Ellipsis for one in given) > 1:
        raise IndexError("an index has at most one ellipsis")
    if Ellipsis in given:
        at = given.index(Ellipsis)
        given = given[:at] + (slice(None),) * (len(dims) - len(given) + 1) + given[at + 1:]
    if len(given) > len(dims):
        raise IndexError(f"too many indices: the tensor has {len(dims)} dims, the index {len(given)}")
    given = given + (slice(None),) * (len(dims) - len(given))
    box: list[tuple[int, int, int]] = []
    then: list[int | slice] = []
    for dim, (one, size) in enumerate(zip(given, dims)):
        if isinstance(one, slice):
            begin, end, step = one.indices(size)
            count = len(range(begin, end, step))
            if step < 0:
                begin, step = begin + (count - 1) * step, -step
                then.append(slice(None, None, -1))
            else:
                then.append(slice(None))
            if count == 0:
                begin, step = 0, 1
            box.append((begin, begin + (count - 1) * step + 1 if count else begin, step))
        else:
            at = operator.index(one)
            if not -size <= at < size:
                raise IndexError(f"index {at} is out of range for dim {dim} of size {size}")
            at %= size
            box.append((at, at + 1, 1))
            then.append(0)
    return box, tuple(then)


# At run time a class of its own for each type of element would be made, which takes time.
if TYPE_CHECKING:
    _Tensors = Sequence[Tensor]
else:
    _Tensors = Sequence


class TensorSet(_Tensors):
    """The tensors of a file, a directory, an archive or an index: in order and by name."""

    def __init__(self, path: Path | list[Any] | tuple[Any, ...], spec: str | None = None,
                 layout_in: str | None = None):
        paths = path if isinstance(path, (list, tuple)) else [path]
        self._paths = [os.fsdecode(one) for one in paths]
        self._spec = spec
        self._layout_in = layout_in
        self._set = _btf.open_set(self._paths, spec, layout_in)
        self._count: int | None = None
        self._numbers: dict[str, list[int]] | None = None

    @property
    def path(self) -> str:
        return self._paths[0]

    @property
    def format(self) -> str | None:
        """"btf", "npy", ...; None: several files."""
        return self._set.format()

    @property
    def names(self) -> list[str]:
        return self._set.names()

    def __len__(self) -> int:
        if self._count is None:
            self._count = self._set.count()
        return self._count

    if TYPE_CHECKING:
        @overload
        def __getitem__(self, key: int | str) -> Tensor: ...

        @overload
        def __getitem__(self, key: slice) -> list[Tensor]: ...

    def __getitem__(self, key: Any) -> Any:
        # The usual case, in as few steps as there are.
        if type(key) is int and 0 <= key < (self._count or len(self)):
            return Tensor(self._set.tensor(key), self, key)
        if isinstance(key, str):
            return self[self._number_of(key)]
        if isinstance(key, slice):
            return [self[i] for i in range(*key.indices(len(self)))]
        number = operator.index(key)
        if number < 0:
            number += len(self)
        if not 0 <= number < len(self):
            raise NoSuchTensor(f"{self.path}: there is no tensor {operator.index(key)}, there are {len(self)}")
        return Tensor(self._set.tensor(number), self, number)

    def _number_of(self, name: str) -> int:
        if self._numbers is None:
            numbers: dict[str, list[int]] = {}
            for number, one in enumerate(self.names):
                numbers.setdefault(one, []).append(number)
            self._numbers = numbers
        found = self._numbers.get(name, [])
        if len(found) == 1:
            return found[0]
        if found:
            raise KeyError(f"{self.path}: tensors {', '.join(map(str, found))} are called '{name}'")
        near = ", ".join(f"'{one}'" for one in list(self._numbers)[:5])
        raise KeyError(f"{self.path}: no tensor is called '{name}'; there are {near or 'none'}"
                       + (", ..." if len(self._numbers) > 5 else ""))

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str):
            return False
        try:
            self._number_of(key)
        except KeyError:
            return False
        return True

    def keys(self) -> list[str]:
        return self.names

    def __iter__(self) -> Iterator[Tensor]:
        return (self[i] for i in range(len(self)))

    def __enter__(self) -> TensorSet:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __repr__(self) -> str:
        return f"<btf.TensorSet {self.path!r} {self.format or 'files'}, {len(self)} tensors>"

    def _repr_html_(self) -> str:
        from ._notebook import of_set

        return of_set(self)

    def _stamps(self) -> Stamps:
        stamps = []
        for path in self._paths:
            status = os.stat(path)
            stamps.append((status.st_size, status.st_mtime_ns))
        return stamps

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (self._paths, self._spec, self._layout_in, self._stamps())


def _reopened(paths: list[str], spec: str | None, layout_in: str | None, stamps: Stamps) -> TensorSet:
    tensors = TensorSet(paths, spec, layout_in)
    for path, was, now in zip(paths, stamps, tensors._stamps()):
        if was != now:
            raise InvalidArgument(f"{path}: the file was changed since the tensor was pickled")
    return tensors


def existing(path: Path) -> str:
    """The path as text; NotFound if nothing is there."""
    text = os.fsdecode(path)
    if not os.path.exists(text):
        raise NotFound(f"{text}: cannot open: {os.strerror(errno.ENOENT)}", file=text, system=errno.ENOENT)
    return text


def open(path: Path | list[Any] | tuple[Any, ...], *, spec: str | None = None, layout_in: str | None = None) -> TensorSet:
    """Opens a file of any format, a directory, an archive, an index or several paths.

    `spec`: what raw bytes hold, "fp16:hwc8:1x3x224x224". Only headers are read.
    """
    return TensorSet(path, spec, layout_in)


def save(path: Path, tensors: ArrayLike, *, dtype: DType = None, layout: str | None = None, format: str | None = None,
         sync: bool = False, **options: Unpack[CastOptions]) -> int:
    """Writes one array, a list of them, or a dict of names and arrays; returns the bytes.

    The file is old or whole new whatever happens. Its format is that of the path's ending unless
    `format` says it. Options: overflow, rounding, lossless, jobs.
    """
    if isinstance(tensors, dict):
        names, arrays = list(tensors), list(tensors.values())
    elif isinstance(tensors, (list, tuple)) and all(hasattr(one, "shape") for one in tensors):
        names, arrays = [""] * len(tensors), list(tensors)
    else:
        names, arrays = [""], [tensors]
    given = {"dtype": _dtypes.name_of(dtype), "layout": layout, **options}
    if any(hasattr(one, "_entries") for one in arrays):
        entries = [one._entries() if hasattr(one, "_entries") else as_array(one)._memory for one in arrays]
        return _btf.save_sparse(os.fsdecode(path), entries, names, format, sync, given)
    memories = [as_array(one)._memory for one in arrays]
    return _btf.save(os.fsdecode(path), memories, names, format, sync, given)
