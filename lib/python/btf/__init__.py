"""Tensors in files: read, convert, compare, in any dtype and layout.

    >>> import btf
    >>> tensors = btf.open("dump.btf")
    >>> tensors[0].numpy()
    >>> btf.diff("out.bin", "golden.npz", close=True).same
"""

from ._array import Array, as_array, relayout
from ._btf import DType, Finding, Loss, Resolved, dtypes, layouts
from ._errors import (ClosedPipe, Error, InvalidArgument, IsADirectory, Malformed, NoSuchTensor, NotFound,
                      NotPermitted, Refused, SystemRefused, Unsupported)
from ._files import Tensor, TensorSet, open, save

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._convert import ConvertedTensor, ConvertReport, convert
    from ._diff import DiffReport, TensorDiff, diff, rejudge
    from ._fit import FitReport, fit
    from ._layers import LayersReport, layers, validate
    from ._layout import resolve
    from ._sparse import Coo

__all__ = [
    "Array", "ClosedPipe", "ConvertReport", "ConvertedTensor", "Coo", "DType", "DiffReport", "Error", "Finding",
    "FitReport", "InvalidArgument", "IsADirectory", "LayersReport", "Loss", "Malformed", "NoSuchTensor", "NotFound",
    "NotPermitted", "Refused", "Resolved", "SystemRefused", "Tensor", "TensorDiff", "TensorSet", "Unsupported",
    "as_array", "convert", "diff", "dtypes", "fit", "layers", "layouts", "open", "rejudge", "relayout", "resolve", "save",
    "validate",
]

# What not every program uses is imported by those that do: each module takes a part of the time of an import.
_LATER = {
    "Coo": "_sparse", "ConvertReport": "_convert", "ConvertedTensor": "_convert", "DiffReport": "_diff",
    "FitReport": "_fit", "LayersReport": "_layers", "TensorDiff": "_diff", "convert": "_convert", "diff": "_diff",
    "fit": "_fit", "layers": "_layers", "rejudge": "_diff", "resolve": "_layout", "validate": "_layers",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = __import__(f"{__name__}.{_LATER[name]}", fromlist=[name])
    value = globals()[name] = getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
