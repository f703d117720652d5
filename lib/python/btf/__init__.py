"""Tensors in files: read, convert, compare, in any dtype and layout.

    >>> import btf
    >>> tensors = btf.open("dump.btf")
    >>> tensors[0].numpy()
    >>> btf.diff("out.bin", "golden.npz", close=True).same
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._array import Array, as_array, relayout
    from ._btf import DType, Finding, Loss, Resolved, dtypes, layouts
    from ._convert import ConvertedTensor, ConvertReport, convert
    from ._diff import DiffReport, TensorDiff, diff, rejudge
    from ._errors import (ClosedPipe, Error, InvalidArgument, IsADirectory, Malformed, NoSuchTensor, NotFound,
                          NotPermitted, Refused, SystemRefused, Unsupported)
    from ._files import Tensor, TensorSet, open, save
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

# A module is imported by who first uses what is in it: a program that imports the package for what it
# may do later waits for nothing.
_MODULES = {
    "_array": ("Array", "as_array", "relayout"),
    "_btf": ("DType", "Finding", "Loss", "Resolved", "dtypes", "layouts"),
    "_convert": ("ConvertReport", "ConvertedTensor", "convert"),
    "_diff": ("DiffReport", "TensorDiff", "diff", "rejudge"),
    "_errors": ("ClosedPipe", "Error", "InvalidArgument", "IsADirectory", "Malformed", "NoSuchTensor", "NotFound",
                "NotPermitted", "Refused", "SystemRefused", "Unsupported"),
    "_files": ("Tensor", "TensorSet", "open", "save"),
    "_fit": ("FitReport", "fit"),
    "_layers": ("LayersReport", "layers", "validate"),
    "_layout": ("resolve",),
    "_sparse": ("Coo",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = __import__(f"{__name__}.{_MODULE_OF[name]}", fromlist=[name])
    value = globals()[name] = getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
