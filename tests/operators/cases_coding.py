"""Numbers to other types and back, and products of codes."""

import numpy as np
from onnx import TensorProto

from cases import Case, case
from cases_products import windows

CODES = (np.uint8, np.int8, np.uint16, np.int16)


def codes(r, shape, dtype):
    limits = np.iinfo(dtype)
    return r.integers(shape, max(limits.min, -120), min(limits.max, 120), dtype)


@case("Cast")
def cast(r):
    to = r.pick(TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.INT32, TensorProto.INT64,
                TensorProto.INT8, TensorProto.UINT8, TensorProto.BOOL)
    x = r.pick(r.uniform(r.shape(), 0, 100), r.integers(r.shape(), -128, 127, np.int32), r.floats(r.shape(), 3)
               if to not in (TensorProto.UINT8,) else r.uniform(r.shape(), 0, 9))
    return Case("Cast", [x], {"to": to})


@case("CastLike")
def cast_like(r):
    return Case("CastLike", [r.uniform(r.shape(), 0, 100), np.zeros([1], r.pick(np.int32, np.float32, np.float16))],
                fixed=(1,))


def scale_for(r, shape, axis):
    return r.pick([], [shape[axis]])


@case("QuantizeLinear", types=("float32",))
def quantize(r):
    shape = r.shape(1, 4)
    axis = r.below(len(shape))
    scale = r.uniform(scale_for(r, shape, axis), 0.01, 0.1)
    dtype = r.pick(*CODES)
    zero = codes(r, scale.shape, dtype) if r.chance(0.8) else None
    return Case("QuantizeLinear", [r.floats(shape, 3), scale, zero], {"axis": axis}, 21, (1, 2), code_slack=1)


@case("DequantizeLinear", types=("float32",))
def dequantize(r):
    shape = r.shape(1, 4)
    axis = r.below(len(shape))
    dtype = r.pick(*CODES)
    attributes = {"axis": axis}
    if r.chance(0.3):
        block = attributes["block_size"] = r.between(1, 3)
        blocks = [-(-size // block) if d == axis else size for d, size in enumerate(shape)]
        scale = r.uniform(blocks, 0.01, 0.1)
    else:
        scale = r.uniform(scale_for(r, shape, axis), 0.01, 0.1)
    x, zero = codes(r, shape, dtype), codes(r, scale.shape, dtype) if r.chance(0.8) else None
    if "block_size" not in attributes:
        return Case("DequantizeLinear", [x, scale, zero], attributes, 21, (1, 2))
    wide = [None if a is None else np.repeat(a.astype(np.float64), block, axis).take(range(shape[axis]), axis)
            for a in (scale, zero)]
    wanted = (x - (0 if zero is None else wide[1])) * wide[0]
    return Case("DequantizeLinear", [x, scale, zero], attributes, 21, (1, 2), expected=[wanted])


@case("DynamicQuantizeLinear", types=("float32",))
def dynamic_quantize(r):
    return Case("DynamicQuantizeLinear", [r.floats(r.shape(), 2, r.pick(0, 3, -3))], {}, 11, outputs=3, code_slack=1)


@case("MatMulInteger", types=("float32",))
def integer_matmul(r):
    n, k, m = r.between(1, 4), r.between(1, 6), r.between(1, 4)
    a, b = codes(r, [n, k], r.pick(np.uint8, np.int8)), codes(r, [k, m], r.pick(np.uint8, np.int8))
    az = codes(r, [], a.dtype.type) if r.chance() else None
    bz = codes(r, r.pick([], [m]), b.dtype.type) if r.chance() else None
    wanted = (a.astype(np.int64) - (0 if az is None else az.astype(np.int64))) @ (
        b.astype(np.int64) - (0 if bz is None else bz.astype(np.int64)))
    return Case("MatMulInteger", [a, b, az, bz], {}, 10, (1, 2, 3), expected=[wanted])


@case("ConvInteger", types=("float32",))
def integer_conv(r):
    kernel = [r.between(1, 3), r.between(1, 3)]
    image = [r.between(5, 7), r.between(5, 7)]
    x, w = codes(r, [1, 2, *image], np.uint8), codes(r, [3, 2, *kernel], r.pick(np.uint8, np.int8))
    attributes = windows(r, image, kernel)
    attributes.pop("auto_pad", None)
    xz = codes(r, [], np.uint8) if r.chance() else None
    return Case("ConvInteger", [x, w, xz], attributes, 10, (1, 2))


@case("QLinearMatMul", types=("float32",))
def coded_matmul(r):
    n, k, m = r.between(1, 4), r.between(1, 6), r.between(1, 4)
    a, b, y = (r.pick(np.uint8, np.int8) for _ in range(3))
    scales = [np.asarray(s, np.float32) for s in (0.021, 0.013, 0.05)]
    inputs = [codes(r, [n, k], a), scales[0], codes(r, [], a), codes(r, [k, m], b), scales[1], codes(r, [], b),
              scales[2], codes(r, [], y)]
    sums = (inputs[0].astype(np.int64) - inputs[2]) @ (inputs[3].astype(np.int64) - inputs[5])
    limits = np.iinfo(y)
    wanted = np.clip(np.rint(sums * (float(scales[0]) * float(scales[1]) / float(scales[2]))) + inputs[7].astype(int),
                     limits.min, limits.max)
    return Case("QLinearMatMul", inputs, {}, 21, (1, 2, 3, 4, 5, 6, 7), expected=[wanted], code_slack=1)


@case("QLinearConv", types=("float32",))
def coded_conv(r):
    kernel = [r.between(1, 3), r.between(1, 3)]
    image = [r.between(5, 7), r.between(5, 7)]
    scales = r.uniform(r.pick([], [3]), 0.01, 0.05)
    attributes = windows(r, image, kernel)
    attributes.pop("auto_pad", None)
    inputs = [codes(r, [1, 2, *image], np.uint8), np.asarray(0.03, np.float32), np.asarray(7, np.uint8),
              codes(r, [3, 2, *kernel], np.int8), scales, np.zeros(scales.shape, np.int8), np.asarray(0.2, np.float32),
              np.asarray(11, np.uint8)]
    if r.chance():
        inputs.append(r.integers([3], -500, 500, np.int32))
    return Case("QLinearConv", inputs, attributes, 10, tuple(range(1, 9)), code_slack=1)
