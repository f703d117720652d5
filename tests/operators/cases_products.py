"""Sums of products, and normalisations."""

import numpy as np

import cases
from cases import Case, case


def windows(r, image, kernel):
    """Attributes of a window that has an output."""
    dims = len(image)
    attributes = {}
    dilations = [r.between(1, 2) for _ in range(dims)] if r.chance(0.4) else [1] * dims
    if dilations != [1] * dims:
        attributes["dilations"] = dilations
    if r.chance(0.5):
        attributes["strides"] = [r.between(1, 3) for _ in range(dims)]
    pads = [0] * 2 * dims
    if r.chance(0.3):
        attributes["auto_pad"] = r.pick("SAME_UPPER", "SAME_LOWER", "VALID")
    elif r.chance():
        pads = [r.between(0, k - 1) for k in kernel * 2]
        attributes["pads"] = pads
    for d in range(dims):
        if image[d] + pads[d] + pads[d + dims] < (kernel[d] - 1) * dilations[d] + 1:
            return windows(r, image, kernel)
    return attributes


@case("Conv")
def conv(r):
    dims = r.pick(1, 2, 2, 2, 3)
    kernel = [r.between(1, 3) for _ in range(dims)]
    image = [r.between(5, 8) for _ in range(dims)]
    groups = r.pick(1, 1, 2, 3)
    inputs, outputs = groups * r.between(1, 3), groups * r.between(1, 3)
    arrays = [r.floats([r.between(1, 2), inputs, *image]), r.floats([outputs, inputs // groups, *kernel])]
    if r.chance():
        arrays.append(r.floats([outputs]))
    attributes = {"group": groups, **windows(r, image, kernel)}
    if r.chance():
        attributes["kernel_shape"] = kernel
    # The reference cannot combine SAME with dilations.
    if "auto_pad" in attributes:
        attributes.pop("dilations", None)
    return Case("Conv", arrays, attributes, fixed=(1, 2))


@case("ConvTranspose")
def conv_transpose(r):
    dims = r.pick(1, 2, 2)
    kernel = [r.between(1, 3) for _ in range(dims)]
    image = [r.between(2, 5) for _ in range(dims)]
    groups = r.pick(1, 1, 2)
    inputs, outputs = groups * r.between(1, 3), r.between(1, 3)
    arrays = [r.floats([r.between(1, 2), inputs, *image]), r.floats([inputs, outputs, *kernel])]
    # The reference mixes the biases of groups up.
    if groups == 1 and r.chance():
        arrays.append(r.floats([outputs * groups]))
    strides = [r.between(1, 3) for _ in range(dims)]
    attributes = {"group": groups, "strides": strides}
    if r.chance(0.3):
        attributes["dilations"] = [r.between(1, 2) for _ in range(dims)]
    if r.chance(0.4):
        attributes["pads"] = [r.between(0, (k - 1) // 2) for k in kernel] * 2
    if r.chance(0.4):
        attributes["output_padding"] = [r.below(s) for s in strides]
    return Case("ConvTranspose", arrays, attributes, fixed=(1, 2))


@case("MatMul")
def matmul(r):
    n, k, m = r.between(1, 5), r.between(1, 9), r.between(1, 5)
    batch = r.shape(0, 2, 3)
    left, right = [*batch, n, k], [*batch, k, m]
    if r.chance(0.3):
        right = right[-2:]
    if r.chance(0.2):
        left = [k]
    elif r.chance(0.2):
        right = [k]
    return Case("MatMul", [r.floats(left), r.floats(right)], fixed=(1,) if r.chance() else ())


@case("Gemm")
def gemm(r):
    n, k, m = r.between(1, 5), r.between(1, 9), r.between(1, 5)
    ta, tb = r.between(0, 1), r.between(0, 1)
    arrays = [r.floats([k, n] if ta else [n, k]), r.floats([m, k] if tb else [k, m])]
    if r.chance(0.7):
        arrays.append(r.floats(r.pick([m], [n, m], [1, m], [n, 1])))
    attributes = {"transA": ta, "transB": tb}
    if r.chance():
        attributes |= {"alpha": float(r.rng.uniform(0.2, 2)), "beta": float(r.rng.uniform(0.2, 2))}
    return Case("Gemm", arrays, attributes, fixed=(1, 2))


@case("Einsum")
def einsum(r):
    sizes = {c: r.between(1, 4) for c in "abcdij"}
    equation = r.pick("ij->ji", "ij->", "ij,jb->ib", "aij,ajb->aib", "abij,abdj->abid", "ii->i", "i,i->", "i,j->ij",
                      "ij,jb", "aij->ai", "a,b,c->abc", "...ij,...jb->...ib", "...i->...", "bij,jd->bid")
    terms = equation.split("->")[0].split(",")
    hidden = [r.between(1, 3) for _ in range(r.between(0, 2))]
    arrays = [r.floats([*(hidden if "..." in t else []), *(sizes[c] for c in t.replace("...", ""))]) for t in terms]
    return Case("Einsum", arrays, {"equation": equation})


@case("BatchNormalization")
def batch_norm(r):
    shape = [r.between(1, 3), r.between(1, 5), *r.shape(0, 2)]
    c = [shape[1]]
    arrays = [r.floats(shape), r.floats(c), r.floats(c), r.floats(c), r.uniform(c, 0.1, 3)]
    epsilon = r.pick(1e-5, 1e-3)
    # The reference takes version 9 for training.
    x, scale, bias, mean, variance = (a.astype(np.float64) for a in arrays)
    x = np.moveaxis(x, 1, -1)
    wanted = np.moveaxis((x - mean) / np.sqrt(variance + np.float32(epsilon)) * scale + bias, -1, 1)
    return Case("BatchNormalization", arrays, {"epsilon": epsilon}, r.pick(7, 9, 14, 15), (1, 2, 3, 4),
                expected=[wanted])


@case("LayerNormalization")
def layer_norm(r):
    shape = r.shape(1, 4, 6)
    axis = r.below(len(shape))
    arrays = [r.floats(shape, 1, r.pick(0, 3)), r.floats(shape[axis:])]
    if r.chance():
        arrays.append(r.floats(shape[axis:]))
    return Case("LayerNormalization", arrays, {"axis": axis - r.pick(0, len(shape)), "epsilon": r.pick(1e-5, 1e-3)},
                fixed=(1, 2))


@case("RMSNormalization")
def rms_norm(r):
    shape = r.shape(1, 4, 6)
    axis = r.below(len(shape))
    return Case("RMSNormalization", [r.floats(shape), r.floats(shape[axis:])], {"axis": axis, "epsilon": 1e-4},
                23, fixed=(1,))


@case("InstanceNormalization")
def instance_norm(r):
    shape = [r.between(1, 3), r.between(1, 4), *r.shape(1, 2, 6)]
    arrays = [r.floats(shape), r.floats([shape[1]]), r.floats([shape[1]])]
    return Case("InstanceNormalization", arrays, {"epsilon": 1e-3}, fixed=(1, 2))


@case("GroupNormalization")
def group_norm(r):
    groups = r.between(1, 3)
    shape = [r.between(1, 2), groups * r.between(1, 3), *r.shape(1, 2, 5)]
    opset = r.pick(18, 21)
    count = groups if opset == 18 else shape[1]
    x, scale, bias = r.floats(shape), r.floats([count]), r.floats([count])
    wide = x.astype(np.float64).reshape(shape[0], groups, -1)
    normal = (wide - wide.mean(-1, keepdims=True)) / np.sqrt(wide.var(-1, keepdims=True) + np.float32(1e-3))
    per = np.repeat(scale, shape[1] // groups) if opset == 18 else scale
    add = np.repeat(bias, shape[1] // groups) if opset == 18 else bias
    wanted = normal.reshape(shape[0], shape[1], -1) * per.astype(np.float64)[:, None] + add.astype(np.float64)[:, None]
    return Case("GroupNormalization", [x, scale, bias], {"epsilon": 1e-3, "num_groups": groups}, opset, (1, 2),
                expected=[wanted.reshape(shape)])


@case("MeanVarianceNormalization")
def mvn(r):
    shape = [r.between(2, 3), r.between(1, 4), r.between(2, 5), r.between(2, 5)]
    x, axes = r.floats(shape), r.pick((0, 2, 3), (2, 3))
    wide = x.astype(np.float64)
    wanted = (wide - wide.mean(axes, keepdims=True)) / np.sqrt(wide.var(axes, keepdims=True) + 1e-9)
    return Case("MeanVarianceNormalization", [x], {} if len(axes) == 3 else {"axes": axes}, 13, expected=[wanted])


@case("LpNormalization")
def lp_norm(r):
    shape = r.shape(1, 3)
    x, axis, p = r.floats(shape), r.below(len(shape)), r.pick(1, 2)
    # The reference forgets the magnitude.
    wide = x.astype(np.float64)
    wanted = wide / (np.abs(wide) ** p).sum(axis, keepdims=True) ** (1 / p)
    return Case("LpNormalization", [x], {"axis": axis, "p": p}, 22, expected=[wanted])


@case("LRN")
def lrn(r):
    shape = [r.between(1, 2), r.between(1, 6), *r.shape(2, 2)]
    x, size = r.floats(shape), r.pick(1, 2, 3, 5)
    # The reference goes through the batch where it should go through the channels.
    wide = x.astype(np.float64)
    sums = np.stack([(wide[:, max(0, c - (size - 1) // 2):c + size // 2 + 1] ** 2).sum(1) for c in range(shape[1])], 1)
    wanted = wide / (1.5 + np.float32(0.01) / size * sums) ** np.float32(0.6)
    return Case("LRN", [x], {"size": size, "alpha": 0.01, "beta": 0.6, "bias": 1.5}, 13, expected=[wanted])


@case("Softmax", "LogSoftmax", "Hardmax")
def softmax(r, op):
    shape = r.shape(1, 4)
    x = r.different(shape) if op == "Hardmax" else r.floats(shape, r.pick(1, 5))
    axis = r.below(len(shape))
    if r.chance(0.3) and r.dtype == np.float32 and op != "Hardmax":
        flat = x.astype(np.float64).reshape(int(np.prod(shape[:axis])), -1)
        power = np.exp(flat - flat.max(1, keepdims=True))
        wanted = power / power.sum(1, keepdims=True)
        wanted = (np.log(wanted) if op == "LogSoftmax" else wanted).reshape(shape)
        return Case(op, [x], {"axis": axis}, 11, expected=[wanted])
    return Case(op, [x], {"axis": axis - r.pick(0, len(shape))})


def by_onnxruntime(made):
    """The reference computes one direction only."""
    import onnxruntime
    model, given = cases.model_of(made)
    for output in model.graph.output:
        output.type.tensor_type.elem_type = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, given)


@case("LSTM", "GRU", "RNN", types=("float32",))
def recurrent(r, op):
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[op]
    steps, batch, inputs, hidden = r.between(1, 5), r.between(1, 3), r.between(1, 5), r.between(1, 4)
    direction = r.pick("forward", "reverse", "bidirectional")
    ways = 2 if direction == "bidirectional" else 1
    arrays = [r.floats([steps, batch, inputs]), r.floats([ways, gates * hidden, inputs]),
              r.floats([ways, gates * hidden, hidden]), None, None, None]
    if r.chance():
        arrays[3] = r.floats([ways, 2 * gates * hidden])
    if r.chance(0.2):
        arrays[4] = np.full(batch, steps, np.int32)
    if r.chance():
        arrays[5] = r.floats([ways, batch, hidden])
    attributes = {"hidden_size": hidden, "direction": direction}
    if op == "LSTM":
        arrays += [r.floats([ways, batch, hidden]) if r.chance() else None,
                   r.floats([ways, 3 * hidden]) if r.chance(0.3) else None]
    if op == "GRU" and r.chance():
        attributes["linear_before_reset"] = 1
    made = Case(op, arrays, attributes, opset=14, fixed=(1, 2, 3), outputs=3 if op == "LSTM" else 2)
    made.expected = by_onnxruntime(made)
    return made
