"""Many elements to one, pools, and sorting."""

import numpy as np

from cases import Case, case
from cases_products import windows


@case("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum",
      "ReduceLogSumExp", "ReduceSumSquare")
def reduction(r, op):
    shape = r.shape(1, 4)
    x = r.uniform(shape, 0.3, 2) if op in ("ReduceLogSum", "ReduceProd") else r.floats(shape)
    axes = [d for d in range(len(shape)) if r.chance()]
    attributes = {"keepdims": r.between(0, 1)}
    inner = 13 if op == "ReduceSum" else 18
    if r.chance(0.4):
        if axes:
            attributes["axes"] = [a - r.pick(0, len(shape)) for a in axes]
        return Case(op, [x], attributes, r.pick(11, inner - 2) if inner > 13 else 11)
    if not axes and r.chance():
        attributes["noop_with_empty_axes"] = 1 if op in ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean") else 0
    if axes:
        return Case(op, [x, np.array([a - r.pick(0, len(shape)) for a in axes], np.int64)], attributes, fixed=(1,))
    return Case(op, [x], attributes)


@case("ArgMax", "ArgMin")
def arg(r, op):
    shape = r.shape(1, 4)
    x = r.integers(shape, -2, 2, np.int32) if r.chance(0.3) else r.different(shape)
    return Case(op, [x], {"axis": r.below(len(shape)), "keepdims": r.between(0, 1),
                          "select_last_index": r.between(0, 1)}, 13)


@case("TopK")
def topk(r):
    shape = r.shape(1, 3, 7)
    axis = r.below(len(shape))
    k = r.between(1, shape[axis])
    x = r.different(shape)
    if r.chance(0.3):
        return Case("TopK", [x, np.array([k], np.int64)], {"axis": axis}, 10, (1,), 2)
    return Case("TopK", [x, np.array([k], np.int64)], {"axis": axis, "largest": r.between(0, 1)}, 11, (1,), 2)


@case("CumSum")
def cumsum(r):
    shape = r.shape(1, 3, 6)
    return Case("CumSum", [r.floats(shape), np.array(r.below(len(shape)), np.int64)],
                {"exclusive": r.between(0, 1), "reverse": r.between(0, 1)}, fixed=(1,))


def pooled(r, least=4):
    dims = r.pick(1, 2, 2, 3)
    kernel = [r.between(1, 3) for _ in range(dims)]
    image = [r.between(least, 8) for _ in range(dims)]
    attributes = {"kernel_shape": kernel, **windows(r, [i for i in image], kernel)}
    return r.floats([r.between(1, 2), r.between(1, 3), *image]), attributes, dims


def brute_pool(x, attributes, reduce):
    """Over the numbers of each window and the count with padding, by the definition in the specification."""
    kernel = attributes["kernel_shape"]
    dims = len(kernel)
    strides = attributes.get("strides", [1] * dims)
    dilations = attributes.get("dilations", [1] * dims)
    pads = list(attributes.get("pads", [0] * 2 * dims))
    image = x.shape[2:]
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    mode = attributes.get("auto_pad", "NOTSET")
    outputs = []
    for d in range(dims):
        if mode.startswith("SAME"):
            out = -(-image[d] // strides[d])
            total = max(0, (out - 1) * strides[d] + reach[d] - image[d])
            pads[d] = total // 2 if mode == "SAME_UPPER" else total - total // 2
            pads[d + dims] = total - pads[d]
        else:
            if mode == "VALID":
                pads[d] = pads[d + dims] = 0
            room = image[d] + pads[d] + pads[d + dims] - reach[d]
            out = room // strides[d] + 1
            if attributes.get("ceil_mode") and room % strides[d] and out * strides[d] < image[d] + pads[d]:
                out += 1
        outputs.append(out)
    y = np.zeros((*x.shape[:2], *outputs))
    for at in np.ndindex(*outputs):
        taps, counted = [], 0
        for tap in np.ndindex(*kernel):
            place = [o * s - p + t * l for o, s, p, t, l in zip(at, strides, pads, tap, dilations)]
            if all(place[d] < image[d] + pads[d + dims] for d in range(dims)):
                counted += 1
            if all(0 <= place[d] < image[d] for d in range(dims)):
                taps.append(x.astype(np.float64)[(slice(None), slice(None), *place)])
        y[(slice(None), slice(None), *at)] = reduce(np.array(taps), counted)
    return y


@case("MaxPool")
def max_pool(r):
    x, attributes, _ = pooled(r)
    attributes["ceil_mode"] = r.between(0, 1)
    return Case("MaxPool", [x], attributes, expected=[brute_pool(x, attributes, lambda t, n: t.max(0))])


@case("AveragePool")
def average_pool(r):
    x, attributes, _ = pooled(r)
    attributes["ceil_mode"] = r.between(0, 1)
    pads = attributes["count_include_pad"] = r.between(0, 1)
    return Case("AveragePool", [x], attributes,
                expected=[brute_pool(x, attributes, lambda t, n: t.sum(0) / (n if pads else len(t)))])


@case("LpPool")
def lp_pool(r):
    x, attributes, _ = pooled(r)
    p = attributes["p"] = r.pick(1, 2, 3)
    return Case("LpPool", [x], attributes, 18,
                expected=[brute_pool(x, attributes, lambda t, n: (np.abs(t) ** p).sum(0) ** (1 / p))])


@case("GlobalAveragePool", "GlobalMaxPool")
def global_pool(r, op):
    x = r.floats([r.between(1, 2), r.between(1, 3), *r.shape(1, 3)])
    # The reference gives GlobalMaxPool other dims.
    reduce = np.mean if op == "GlobalAveragePool" else np.max
    return Case(op, [x], expected=[reduce(x.astype(np.float64), tuple(range(2, x.ndim)), keepdims=True)])


@case("GlobalLpPool")
def global_lp_pool(r):
    x, p = r.floats([r.between(1, 2), r.between(1, 3), *r.shape(1, 2)]), r.pick(1, 2, 3)
    axes = tuple(range(2, x.ndim))
    wanted = (np.abs(x.astype(np.float64)) ** p).sum(axes, keepdims=True) ** (1 / p)
    return Case("GlobalLpPool", [x], {"p": p}, expected=[wanted])
