"""Tensors in memory."""

from __future__ import annotations

import sys

from . import _btf, _dtypes
from ._errors import InvalidArgument, Unsupported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    import torch as _torch
    from typing_extensions import Unpack

    from ._types import ArrayLike, CastOptions, DType, NumPyArray


class Array:
    """A dense tensor in memory, in any dtype and layout.

    `shape` is the logical shape; `strides` are in elements, None for layouts in blocks (kCHW32),
    whose stored array has the shape `stored_shape`. `loss` says what a cast lost.
    """

    __slots__ = ("_memory",)

    def __init__(self, memory: _btf.Memory):
        self._memory = memory

    @property
    def dtype(self) -> str:
        return self._memory.dtype

    @property
    def layout(self) -> str:
        return self._memory.layout

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._memory.dims)

    @property
    def strides(self) -> tuple[int, ...] | None:
        strides = self._memory.strides
        return None if strides is None else tuple(strides)

    @property
    def stored_shape(self) -> tuple[int, ...]:
        return tuple(self._memory.stored_dims)

    @property
    def nbytes(self) -> int:
        return self._memory.nbytes

    @property
    def loss(self) -> _btf.Loss:
        return self._memory.loss

    def __repr__(self) -> str:
        return f"<btf.Array {self.dtype} {self.layout} {list(self.shape)} {self.nbytes} bytes>"

    def _repr_html_(self) -> str:
        from ._notebook import of_array

        return of_array(self)

    def numpy(self, *, raw: bool = False) -> NumPyArray:
        """A NumPy array of the same memory, with the logical shape.

        Dtypes that NumPy lacks are those of ml_dtypes, 4-bit ones a copy of a byte each. `raw`: the
        codes as unsigned integers. A layout in blocks has no strides and is Unsupported:
        `relayout()` brings it into another, `stored()` gives it as it lies.
        """
        import numpy as np

        name = self.dtype
        strides = self._memory.strides
        if strides is None:
            raise Unsupported(f"{self.layout} is a layout in blocks, which no strides of NumPy can say; "
                              "relayout('kLINEAR') or stored() can be had", "unsupported")
        memory: Any = self._memory.memory()
        shape = self.shape
        if _dtypes.is_packed(name):
            memory = np.asarray(memory)
            count = 1
            for size in shape:
                count *= size
            nibbles = _dtypes.unpacked(memory)[:count].reshape(shape)
            return nibbles if raw else _dtypes.from_nibbles(nibbles, name)
        dtype = _dtypes.code_dtype(name) if raw else _dtypes.numpy_dtype(name)
        return np.ndarray(shape, dtype, memory, 0, tuple(s * dtype.itemsize for s in strides))

    def stored(self, *, raw: bool = False) -> NumPyArray:
        """A NumPy array of the same memory in the shape in which it is stored, padding included."""
        import numpy as np

        name = self.dtype
        memory = np.asarray(self._memory.memory())
        if _dtypes.is_packed(name):
            return memory
        return memory.view(_dtypes.code_dtype(name) if raw else _dtypes.numpy_dtype(name)).reshape(self.stored_shape)

    def torch(self) -> _torch.Tensor:
        """A PyTorch tensor of the same memory."""
        import torch

        name = _dtypes.ROWS[self.dtype].torch
        if name is None or not hasattr(torch, name):
            raise Unsupported(f"PyTorch has no {self.dtype}", "unsupported")
        strides = self._memory.strides
        if strides is None or _dtypes.is_packed(self.dtype):
            raise Unsupported(f"PyTorch has no tensors of {self.dtype} in {self.layout}; "
                              "relayout('kLINEAR') can be had", "unsupported")
        if self.nbytes == 0:
            return torch.empty(self.shape, dtype=getattr(torch, name))
        memory = torch.frombuffer(self._memory.memory(), dtype=getattr(torch, name))
        return memory.as_strided(self.shape, tuple(strides))

    def relayout(self, layout: str | None = None, dtype: DType = None, **options: Unpack[CastOptions]) -> Array:
        """A copy in another layout or dtype. Options: overflow, rounding, lossless, jobs."""
        return Array(self._memory.relayout({"layout": layout, "dtype": _dtypes.name_of(dtype), **options}))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NumPyArray:
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(f"an array of {array.dtype} as {dtype} needs a copy")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, *, stream: Any = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:
        """DLPack; layouts in blocks with their lanes as a last dim."""
        if stream is not None:
            raise BufferError("memory of the CPU has no stream")
        if dl_device is not None and tuple(dl_device) != (1, 0):
            raise BufferError("the array is in memory of the CPU")
        if copy:
            return self.relayout().__dlpack__(max_version=max_version)
        versioned = max_version is not None and tuple(max_version) >= (1, 0)
        try:
            return self._memory.dlpack(versioned)
        except ValueError as error:
            raise BufferError(str(error)) from error

    def __reduce__(self) -> tuple[Any, ...]:
        memory: Any = self._memory.memory()
        return _unpickled, (self.dtype, self._memory.layout_code, self.shape, bytes(memory), self.loss)


def relayout(tensor: ArrayLike, layout: str | None = None, dtype: DType = None,
             **options: Unpack[CastOptions]) -> Array:
    """A copy of anything that holds a tensor in another layout or dtype: NumPy, PyTorch, DLPack, a
    btf.Tensor (of which only then the elements are read), lists of numbers.

    `layout`: a name of `btf.layouts()`; None: as it is, row by row for what has none. The logical
    shape stays; padding is 0. Options: overflow ("saturate", "ieee", "wrap", "error"), rounding,
    lossless, jobs; `.loss` of the result counts what the cast lost. Unsupported where dtype, layout
    and shape do not go together (docs/layouts.md), Refused where `lossless` or `overflow="error"`
    forbids the result.
    """
    if isinstance(tensor, Array) or not hasattr(tensor, "read"):
        return as_array(tensor).relayout(layout, dtype, **options)
    array: Array = tensor.read(dtype=dtype, layout=layout, **options)
    return array


def _unpickled(dtype: str, layout: int, shape: tuple[int, ...], memory: bytes, loss: _btf.Loss) -> Array:
    return Array(_btf.memory_of(dtype, layout, list(shape), memory, loss))


def as_array(tensor: ArrayLike) -> Array:
    """The array of anything that holds one: NumPy and PyTorch, DLPack, buffers, lists of numbers.

    The memory is the same where it lies row by row in this machine's byte order, else a copy.
    """
    if isinstance(tensor, Array):
        return tensor
    read = getattr(tensor, "read", None)
    if read is not None and hasattr(tensor, "layout"):  # btf.Tensor
        array: Array = read()
        return array
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(tensor, torch.Tensor):
        return _of_torch(tensor, torch)
    return _of_numpy(tensor)


def _of_torch(tensor: Any, torch: Any) -> Array:
    if tensor.device.type != "cpu":
        raise InvalidArgument(f"the tensor is on {tensor.device}: tensor.cpu() brings it here")
    name = str(tensor.dtype)[len("torch."):]
    if name not in _dtypes.ROWS:
        raise Unsupported(f"tensors of {tensor.dtype} are not supported", "unsupported")
    tensor = tensor.detach().resolve_conj().resolve_neg().contiguous()
    return Array(_btf.memory_at(tensor.data_ptr(), name, list(tensor.shape), False, tensor))


def _of_numpy(tensor: Any) -> Array:
    import numpy as np

    array = tensor if isinstance(tensor, np.ndarray) else _imported(tensor, np)
    dtype = array.dtype
    if dtype.names is not None:
        raise Unsupported(f"a structured dtype ({dtype}) is no tensor: array['{dtype.names[0]}'] is a field of it",
                          "unsupported")
    if dtype.kind in "OUSMmc" or dtype.name not in _dtypes.ROWS:
        raise Unsupported(f"arrays of NumPy's {dtype} are not supported", "unsupported")
    name = dtype.name
    if _dtypes.is_packed(name):
        return _packed(array, name, np)
    array = np.ascontiguousarray(array, dtype.newbyteorder("=")).reshape(array.shape)
    return Array(_btf.memory_at(array.__array_interface__["data"][0], name, list(array.shape),
                                not array.flags.writeable, array))


# Types of devices of DLPack whose memory is this one's.
_CPU, _CUDA_HOST = 1, 3


def _imported(tensor: Any, np: Any) -> Any:
    if hasattr(tensor, "__array_interface__"):
        return np.asarray(tensor)
    device = tensor.__dlpack_device__()[0] if hasattr(tensor, "__dlpack_device__") else _CPU
    if device not in (_CPU, _CUDA_HOST):
        raise InvalidArgument(f"the tensor is on a device (DLPack type {int(device)}): tensor.cpu(), or what its library "
                              "calls that, brings it here")
    if hasattr(tensor, "__array__"):
        return np.asarray(tensor)
    if hasattr(tensor, "__dlpack__"):
        return np.from_dlpack(tensor)
    return np.asarray(tensor)


def _packed(array: NumPyArray, name: str, np: Any) -> Array:
    codes = (array.astype(np.int8).view(np.uint8) if name != "float4_e2m1fn" else array.view(np.uint8)).ravel() & 15
    if codes.size % 2:
        codes = np.append(codes, np.uint8(0))
    packed = codes[0::2] | codes[1::2] << 4
    return Array(_btf.memory_at(packed.__array_interface__["data"][0], name, list(array.shape), False, packed))
