"""Elements that move, and what does not depend on elements."""

import numpy as np
from onnx import TensorProto, helper

from cases import Case, case


def signed(r, axis, rank):
    return axis - r.pick(0, rank)


@case("Dropout")
def dropout(r):
    return Case("Dropout", [r.floats(r.shape())], {}, r.pick(7, 13))


@case("Reshape")
def reshape(r):
    shape = r.shape(1, 4)
    new = [int(d) for d in r.rng.permutation(shape)]
    if r.chance():
        new = [int(np.prod(new[:2])), *new[2:]]
    if r.chance(0.4):
        new[r.below(len(new))] = -1
    elif len(new) == len(shape) and new[0] == shape[0] and r.chance():
        new[0] = 0
    return Case("Reshape", [r.floats(shape), np.array(new, np.int64)], {}, r.pick(5, 13, 14, 21), (1,))


@case("Flatten")
def flatten(r):
    shape = r.shape(1, 4)
    return Case("Flatten", [r.floats(shape)], {"axis": r.between(-len(shape), len(shape))})


@case("Squeeze")
def squeeze(r):
    shape = [r.pick(1, 1, 2, 3) for _ in range(r.between(1, 4))]
    axes = [signed(r, d, len(shape)) for d, size in enumerate(shape) if size == 1 and r.chance()]
    if r.chance(0.4):
        return Case("Squeeze", [r.floats(shape)], {"axes": axes} if axes else {}, 11)
    return Case("Squeeze", [r.floats(shape), np.array(axes, np.int64)] if axes else [r.floats(shape)], fixed=(1,))


@case("Unsqueeze")
def unsqueeze(r):
    shape = r.shape(0, 3)
    more = r.between(1, 2)
    axes = [int(a) for a in r.rng.permutation(len(shape) + more)[:more]]
    # The reference's older version takes one after the other, so that their order and their ends matter.
    if r.chance(0.4):
        return Case("Unsqueeze", [r.floats(shape)], {"axes": sorted(axes)}, 11)
    axes = [signed(r, a, len(shape) + more) for a in axes]
    return Case("Unsqueeze", [r.floats(shape), np.array(axes, np.int64)], fixed=(1,))


@case("Transpose")
def transpose(r):
    shape = r.shape(1, 4)
    perm = [int(d) for d in r.rng.permutation(len(shape))]
    return Case("Transpose", [r.floats(shape)], {"perm": perm} if r.chance(0.8) else {})


@case("Expand")
def expand(r):
    a, b = r.broadcast()
    return Case("Expand", [r.floats(a), np.array(b, np.int64)], fixed=(1,))


@case("Tile")
def tile(r):
    shape = r.shape(1, 3)
    return Case("Tile", [r.floats(shape), r.integers([len(shape)], 1, 3)], fixed=(1,))


@case("Concat")
def concat(r):
    shape = r.shape(1, 4)
    axis = r.below(len(shape))
    parts = [r.floats([r.between(1, 4) if d == axis else size for d, size in enumerate(shape)])
             for _ in range(r.between(1, 4))]
    return Case("Concat", parts, {"axis": signed(r, axis, len(shape))})


@case("Split")
def split(r):
    shape = r.shape(1, 3, 8)
    axis = r.below(len(shape))
    if r.chance(0.3):
        count = r.between(1, min(3, shape[axis]))
        each = -(-shape[axis] // count)
        if (count - 1) * each < shape[axis]:
            return Case("Split", [r.floats(shape)], {"axis": axis, "num_outputs": count}, 18, outputs=count)
    first = r.between(0, shape[axis])
    sizes = [first, shape[axis] - first]
    if r.chance(0.4):
        return Case("Split", [r.floats(shape)], {"axis": axis, "split": sizes}, 11, outputs=2)
    return Case("Split", [r.floats(shape), np.array(sizes, np.int64)], {"axis": signed(r, axis, len(shape))},
                r.pick(13, 18), (1,), 2)


@case("Slice")
def slices(r):
    shape = r.shape(1, 4, 7)
    axes = [d for d in range(len(shape)) if r.chance(0.7)] or [0]
    starts = [r.between(-shape[d] - 2, shape[d] + 2) for d in axes]
    ends = [r.pick(r.between(-shape[d] - 2, shape[d] + 2), 2**31 - 1, -(2**31)) for d in axes]
    if r.chance(0.3):
        ends = [max(e, -100) for e in ends]
        return Case("Slice", [r.floats(shape)], {"axes": axes, "starts": starts, "ends": ends}, 9)
    steps = [r.pick(1, 1, 2, -1, -2) for _ in axes]
    # What lies before the first element is moved to it, and not left out as the reference does.
    starts = [max(s, -shape[d]) if step < 0 else s for s, d, step in zip(starts, axes, steps)]
    arrays = [np.array(v, np.int64) for v in (starts, ends, [signed(r, a, len(shape)) for a in axes], steps)]
    return Case("Slice", [r.floats(shape), *arrays], fixed=(1, 2, 3, 4))


@case("Pad")
def pad(r):
    shape = r.shape(1, 4, 5)
    shape = [max(2, d) for d in shape]
    mode = r.pick("constant", "reflect", "edge", "wrap")
    axes = [d for d in range(len(shape)) if r.chance(0.7)] or [0]
    least = -1 if mode == "constant" else 0
    pads = [r.between(least, shape[d] - 1) for d in axes * 2]
    value = np.asarray(1.5, r.dtype) if r.chance() else None
    full = [0] * 2 * len(shape)
    for k, d in enumerate(axes):
        full[d], full[d + len(shape)] = pads[k], pads[k + len(axes)]
    if mode != "wrap" and r.chance(0.3):
        return Case("Pad", [r.floats(shape)], {"mode": mode, "pads": full, "value": 0.5}, 2)
    if r.chance():
        return Case("Pad", [r.floats(shape), np.array(full, np.int64), value], {"mode": mode},
                    19 if mode == "wrap" else r.pick(11, 13), (1, 2))
    return Case("Pad", [r.floats(shape), np.array(pads, np.int64), value, np.array(axes, np.int64)], {"mode": mode},
                19, (1, 2, 3))


@case("Gather")
def gather(r):
    shape = r.shape(1, 3)
    axis = r.below(len(shape))
    indices = r.integers(r.shape(0, 2, 3), -shape[axis], shape[axis] - 1)
    return Case("Gather", [r.floats(shape), indices], {"axis": signed(r, axis, len(shape))},
                fixed=(1,) if r.chance() else ())


@case("GatherElements")
def gather_elements(r):
    shape = r.shape(1, 3)
    axis = r.below(len(shape))
    own = list(shape)
    own[axis] = r.between(1, 5)
    indices = r.integers(own, -shape[axis], shape[axis] - 1)
    return Case("GatherElements", [r.floats(shape), indices], {"axis": axis})


@case("GatherND")
def gather_nd(r):
    shape = r.shape(2, 4)
    batch = r.between(0, 1)
    depth = r.between(1, len(shape) - batch)
    lead = shape[:batch] + r.shape(1, 1, 3)
    columns = [r.integers([*lead, 1], 0, shape[batch + k] - 1) for k in range(depth)]
    return Case("GatherND", [r.floats(shape), np.concatenate(columns, -1)], {"batch_dims": batch})


@case("DepthToSpace")
def depth_to_space(r):
    block = r.between(1, 3)
    shape = [r.between(1, 2), block * block * r.between(1, 3), r.between(1, 3), r.between(1, 3)]
    return Case("DepthToSpace", [r.floats(shape)], {"blocksize": block, "mode": r.pick("DCR", "CRD")})


@case("SpaceToDepth")
def space_to_depth(r):
    block = r.between(1, 3)
    shape = [r.between(1, 2), r.between(1, 3), block * r.between(1, 3), block * r.between(1, 3)]
    return Case("SpaceToDepth", [r.floats(shape)], {"blocksize": block})


@case("ReverseSequence")
def reverse_sequence(r):
    shape = [r.between(1, 4), r.between(1, 4), *r.shape(0, 1)]
    time = r.between(0, 1)
    lengths = r.integers([shape[1 - time]], 1, shape[time])
    return Case("ReverseSequence", [r.floats(shape), lengths], {"time_axis": time, "batch_axis": 1 - time})


@case("Trilu")
def trilu(r):
    x = r.floats(r.shape(2, 3))
    return Case("Trilu", [x, np.array(r.between(-3, 3), np.int64)], {"upper": r.between(0, 1)}, fixed=(1,))


@case("Shape", "Size")
def shape_of(r, op):
    attributes = {"start": r.between(-3, 2), "end": r.between(-2, 5)} if op == "Shape" and r.chance() else {}
    return Case(op, [r.floats(r.shape(0, 4))], attributes)


@case("ConstantOfShape", types=("float32",))
def constant_of_shape(r):
    kind, value = r.pick((TensorProto.FLOAT, 1.5), (TensorProto.INT64, 7), (TensorProto.BOOL, 1))
    attributes = {"value": helper.make_tensor("v", kind, [1], [value])} if r.chance(0.8) else {}
    return Case("ConstantOfShape", [np.array(r.shape(), np.int64)], attributes, fixed=(0,))


@case("Constant", types=("float32",))
def constant(r):
    attributes = r.pick({"value_float": 2.5}, {"value_int": -3}, {"value_ints": [1, 2, 3]}, {"value_floats": [1., 2.]},
                        {"value": helper.make_tensor("v", TensorProto.FLOAT, [2, 2], [1., 2., 3., 4.])})
    return Case("Constant", [], attributes)


@case("Range", types=("float32",))
def arange(r):
    if r.chance():
        return Case("Range", [np.array(v, np.int64) for v in (r.between(-5, 5), r.between(-5, 9), r.pick(1, 2, -1))],
                    fixed=(0, 1, 2))
    return Case("Range", [np.array(v, np.float32) for v in (0.5, r.rng.uniform(1, 9), 0.75)], fixed=(0, 1, 2))


@case("EyeLike", types=("float32",))
def eye_like(r):
    return Case("EyeLike", [r.floats([r.between(1, 5), r.between(1, 5)])], {"k": r.between(-2, 2)})


@case("OneHot", types=("float32",))
def one_hot(r):
    depth = r.between(2, 5)
    indices = r.integers(r.shape(1, 2), -depth, depth - 1)
    return Case("OneHot", [indices, np.array(depth, np.int64), np.array([-1., 2.], np.float32)],
                {"axis": r.pick(-1, 0)}, fixed=(1, 2))
