"""Each dense layout as plain NumPy: pad, reshape, move an axis. Arrays hold bit patterns, so 0 is every type's zero."""

import numpy as np

from . import wire


def pad_axis(array, axis, multiple, fill):
    """Rounds the length of one axis up to a multiple."""
    widths = [(0, 0)] * array.ndim
    widths[axis] = (0, -array.shape[axis] % multiple)
    return np.pad(array, widths, constant_values=fill)


def vector_major(channel_axis, lanes):
    """[.., C, rest] -> [.., ceil(C/lanes), rest, lanes]"""

    def place(array, element_bytes, fill):
        array = pad_axis(array, channel_axis, lanes, fill)
        lead, channels, rest = array.shape[:channel_axis], array.shape[channel_axis], array.shape[channel_axis + 1 :]
        array = array.reshape(lead + (channels // lanes, lanes) + rest)
        return np.moveaxis(array, len(lead) + 1, -1)

    return place


def vector_minor(channel_axis, lanes):
    """[.., C, rest] -> [.., rest, C rounded up to lanes]"""

    def place(array, element_bytes, fill):
        return np.moveaxis(pad_axis(array, channel_axis, lanes, fill), channel_axis, -1)

    return place


def dla_linear(array, element_bytes, fill):
    """[.., C, H, W] -> [.., C, H, W rounded up to 64 bytes]"""
    return pad_axis(array, -1, 64 // element_bytes, fill)


def dla_hwc4(row_bytes):
    """[.., C, H, W] -> [.., H, W rounded up to row_bytes, C'], where C' is 1, 4, 4 for C = 1, 3, 4"""

    def place(array, element_bytes, fill):
        stored_channels = {1: 1, 3: 4, 4: 4}[array.shape[-3]]
        array = np.moveaxis(pad_axis(array, -3, stored_channels, fill), -3, -1)
        return pad_axis(array, -2, row_bytes // stored_channels // element_bytes, fill)

    return place


# name: (code, least rank, placement)
LAYOUTS = {
    "linear": (0, 0, lambda array, element_bytes, fill: array),
    "chw2": (129, 3, vector_major(-3, 2)),
    "hwc8": (130, 3, vector_minor(-3, 8)),
    "chw4": (131, 3, vector_major(-3, 4)),
    "chw16": (132, 3, vector_major(-3, 16)),
    "chw32": (133, 3, vector_major(-3, 32)),
    "dhwc8": (134, 4, vector_minor(-4, 8)),
    "cdhw32": (135, 4, vector_major(-4, 32)),
    "hwc": (136, 3, vector_minor(-3, 1)),
    "dla_linear": (137, 3, dla_linear),
    "dla_hwc4": (138, 3, dla_hwc4(64)),
    "hwc16": (139, 3, vector_minor(-3, 16)),
    "dhwc": (140, 4, vector_minor(-4, 1)),
    "dla_hwc4_xavier": (154, 3, dla_hwc4(32)),
}


def record(dtype, codes, layout, fill=0):
    """A dense record in any layout, unpadded. `fill` is the bit pattern that goes into padding lanes."""
    layout_code, _, place = LAYOUTS[layout]
    dtype_code, bits = wire.DTYPES[dtype]
    stored = place(codes, bits // 8, fill)
    return wire.raw_dense(dtype_code, layout_code, codes.shape, wire.pack(dtype, stored))


SHUFFLED = 192
SHUFFLED_BLOCK = 2**17  # elements


def shuffled_record(dtype, codes):
    """A record in kLINEAR's order with the bytes of its elements shuffled, block by block."""
    dtype_code, bits = wire.DTYPES[dtype]
    flat = np.frombuffer(wire.pack(dtype, codes), "u1").reshape(-1, bits // 8)
    blocks = [flat[at : at + SHUFFLED_BLOCK].T.tobytes() for at in range(0, len(flat), SHUFFLED_BLOCK)]
    return wire.raw_dense(dtype_code, SHUFFLED, codes.shape, b"".join(blocks))
