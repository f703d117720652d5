"""Tensors in files: read, convert, compare, in any dtype and layout.

    >>> import btf
    >>> tensors = btf.open("dump.btf")
    >>> tensors[0].numpy()
    >>> btf.diff("out.bin", "golden.npz", close=True).same
"""

from ._array import Array, as_array
from ._btf import DType, Finding, Loss, dtypes, layouts
from ._diff import DiffReport, diff
from ._errors import (ClosedPipe, Error, InvalidArgument, IsADirectory, Malformed, NoSuchTensor, NotFound,
                      NotPermitted, Refused, SystemRefused, Unsupported)
from ._files import Tensor, TensorSet, convert, open, save
from ._layers import LayersReport, layers, validate

__all__ = [
    "Array", "ClosedPipe", "DType", "DiffReport", "Error", "Finding", "InvalidArgument", "IsADirectory", "LayersReport",
    "Loss", "Malformed", "NoSuchTensor", "NotFound", "NotPermitted", "Refused", "SystemRefused", "Tensor", "TensorSet",
    "Unsupported", "as_array", "convert", "diff", "dtypes", "layers", "layouts", "open", "save", "validate",
]
