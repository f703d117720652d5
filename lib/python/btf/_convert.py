"""Files made of other files."""

from __future__ import annotations

import operator
import os

from . import _btf, _dtypes
from ._files import TensorSet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from typing_extensions import Unpack

    from ._types import ConvertOptions, DType, Path


class ConvertedTensor:
    """The conversion of one tensor, by the names of `btftool convert --json` (docs/json.md).

    `index` is its number in the output, `source_index` that in the input; `loss` counts what became
    of the elements; `snr` is in dB, where `min_snr` was given, else `snr_about` is that of a sample
    of 4096 elements; `scales` and `zero_points` are those that were found or read, and
    `scale_records` the numbers of the output's tensors that hold them.
    """

    __slots__ = ("_members",)

    index: int
    name: str
    output: str | None  # of files in a directory: the path
    source_index: int
    source_dtype: str
    dtype: str
    source_layout: str
    layout: str
    source_shape: tuple[int, ...]
    shape: tuple[int, ...]
    nbytes: int
    nnz: int | None
    kept_layout: bool
    scales: list[float]
    zero_points: list[int]
    scale_records: list[int]
    loss: _btf.Loss
    snr: float | None
    snr_about: float | None
    warnings: list[str]

    def __init__(self, members: dict[str, Any]):
        self._members = members

    def __getattr__(self, name: str) -> Any:
        # Without the guard a copy that is not filled yet would ask for ever.
        if name != "_members" and name in self._members:
            return self._members[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._members]

    def __repr__(self) -> str:
        return (f"<btf.ConvertedTensor {self.index} {self.name!r} {self.source_dtype} {self.source_layout} -> "
                f"{self.dtype} {self.layout}, {self.loss.changed} of {self.loss.elements} elements changed>")

    def __reduce__(self) -> tuple[Any, ...]:
        return ConvertedTensor, (self._members,)


class ConvertReport:
    """What a conversion wrote: `.bytes`, and `.tensors` with the loss of each. It pickles."""

    __slots__ = ("bytes", "tensors")

    def __init__(self, bytes: int, tensors: list[ConvertedTensor]):
        self.bytes = bytes
        self.tensors = tensors

    @property
    def changed(self) -> int:
        """Elements whose value is another one in the output."""
        return sum(one.loss.changed for one in self.tensors)

    def __repr__(self) -> str:
        many = f"{len(self.tensors)} tensor{'' if len(self.tensors) == 1 else 's'}"
        return f"<btf.ConvertReport {many}, {self.bytes} bytes, {self.changed} elements changed>"

    def _repr_html_(self) -> str:
        from ._notebook import of_conversion

        return of_conversion(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return ConvertReport, (self.bytes, self.tensors)


def convert(source: Path | list[Path] | TensorSet, target: Path, *, dtype: DType = None, layout: str | None = None,
            spec: str | None = None, layout_in: str | None = None, format: str | None = None,
            **options: Unpack[ConvertOptions]) -> ConvertReport:
    """Writes the tensors of files in another dtype, layout or format. As `btftool convert` (docs/convert.md).

    `source`: a file, a directory, an archive, an index, several of them, or an open set. `spec`: what
    raw bytes hold. `format` and compression are those of the target's ending unless they are said.
    The file is old or whole new whatever happens, and nothing is written where a rule forbids it.

    - Which: tensor="0,2-5,conv*", exclude, rename={"old": "new"}, names (a list, or "drop").
    - Edits of the dims, in the order in which they are written: permute=(0, 3, 1, 2),
      slice=np.s_[0, :, 1:3], squeeze (True: all dims of 1; or which), unsqueeze=0, reshape=(1, -1).
    - Casts: overflow ("saturate", "ieee", "wrap", "error"), rounding, lossless.
    - The most that may be lost: max_zero and max_overflow (elements, or "1%"), min_snr (dB).
    - Scales, x = (q - zero_point) * scale: scale (a number or "auto"), scale_axis, zero_point (or
      "auto"), block_scale ("mxfp8", "mxfp4", "nvfp4"), dequantize, block.
    - Records: duplicates (of a sparse tensor), prune_zeros, where_possible, shuffle, plain, as_uint,
      coo_code, recipient, output_spec (raw bytes), compression (1 to 22), sync (survive a power cut).
    - jobs: threads; 0: as many as there are CPUs.

    Raises InvalidArgument for options that exclude each other, Refused where a value would change
    more than allowed, TypeError for an option that there is not.
    """
    paths, spec, layout_in, given = plain_conversion(source, spec, layout_in, dtype, layout, format, options)
    written, tensors = _btf.convert_file(paths, os.fsdecode(target), spec, layout_in, given)
    return ConvertReport(written, [ConvertedTensor(one) for one in tensors])


def plain_conversion(source: Path | list[Path] | TensorSet, spec: str | None, layout_in: str | None, dtype: DType,
                     layout: str | None, format: str | None,
                     options: Any) -> tuple[list[str], str | None, str | None, dict[str, Any]]:
    """The arguments of convert() as the module takes them."""
    if isinstance(source, TensorSet):
        paths, spec, layout_in = source._paths, spec or source._spec, layout_in or source._layout_in
    else:
        several: list[Any] = list(source) if isinstance(source, (list, tuple)) else [source]
        paths = [os.fsdecode(one) for one in several]
    given = {name: _PLAIN.get(name, _same)(value) for name, value in options.items() if value is not None}
    if given.get("squeeze", ()) is None:
        del given["squeeze"]
    given.update(dtype=_dtypes.name_of(dtype), layout=layout, format=format)
    return paths, spec, layout_in, given


def _same(value: Any) -> Any:
    return value


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _integers(value: Any) -> list[int]:
    return [operator.index(one) for one in _list(value)]


def _squeezed(value: Any) -> list[int] | None:
    """None: the option is False."""
    return ([] if value else None) if isinstance(value, bool) else _integers(value)


def _slice(value: Any) -> list[Any]:
    """An index as a[...] takes it, without an ellipsis: numbers, and bounds of ranges."""
    def bound(one: Any) -> int | None:
        return None if one is None else operator.index(one)

    return [(bound(one.start), bound(one.stop), bound(one.step)) if isinstance(one, slice) else operator.index(one)
            for one in _list(value)]


def _share(value: Any) -> tuple[float, bool]:
    """A number of elements, or a share such as "1%"."""
    percent = isinstance(value, str) and value.endswith("%")
    most = float(value[:-1]) if percent else float(operator.index(value))
    if not 0 <= most or (percent and most > 100):
        raise ValueError(f"a number of elements or a share such as '1%', not {value!r}")
    return most, percent


_PLAIN: dict[str, Callable[[Any], Any]] = {
    "exclude": _list, "permute": _integers, "reshape": _integers, "slice": _slice, "squeeze": _squeezed,
    "max_zero": _share, "max_overflow": _share,
}
