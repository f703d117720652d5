"""What layouts mean."""

from __future__ import annotations

from . import _btf, _dtypes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._types import DType


def resolve(layout: str, shape: Sequence[int], dtype: DType) -> _btf.Resolved:
    """Where the elements of a tensor of this logical shape stand in this layout.

    All strides are in elements unless they say bytes, outermost first. Of an index i the element is
    at the sum of i[d] * strides[d], but of the dim `split_dim` of a layout in blocks at
    i[d] // lanes * strides[d] + i[d] % lanes * lane_stride: `offset(i)` says it. As
    `btftool inspect --strides` (docs/layouts.md).

    InvalidArgument for a name that there is not; Unsupported, with the reason, where the layout
    does not go with the shape or the dtype.
    """
    return _btf.resolve(layout, [int(size) for size in shape], _dtypes.name_of(dtype) or "None")
