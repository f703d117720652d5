"""What can be wrong with one tensor of a run of a real network."""

import numpy as np

import faults


def channel_axis(x):
    return 1 if x.ndim >= 3 else x.ndim - 1


def one_channel(x, change):
    x = x.copy()
    axis = channel_axis(x)
    at = [slice(None)] * x.ndim
    at[axis] = x.shape[axis] // 2
    x[tuple(at)] = change(x[tuple(at)])
    return x


def dead_channel(x):
    """The strongest, so that something dies."""
    axis = channel_axis(x)
    size = np.square(x.astype(np.float64)).sum(tuple(k for k in range(x.ndim) if k != axis))
    x = x.copy()
    np.moveaxis(x, axis, 0)[int(np.argmax(size))] = 0
    return x


def other_bias(x):
    return one_channel(x, lambda c: c + np.float32(0.3 * x.std()))


def shifted(x):
    return np.roll(x, 1, -1)


def coarse(x):
    step = np.abs(x).max() / 15
    return (np.round(x / step) * step).astype(x.dtype)


def by_torch(name):
    import torch
    return lambda x: faults.COMPUTED[name](torch.from_numpy(x.copy())).numpy().copy()


COMPUTED = {"transposed": by_torch("transposed"), "dead channel": dead_channel, "scale 1.05": by_torch("scale 1.05"),
            "NaN born": by_torch("NaN born"), "saturated": by_torch("saturated"), "zero tail": by_torch("zero tail"),
            "other bias": other_bias, "shifted": shifted, "coarse": coarse}
DUMPED = {name: COMPUTED[name] for name in ("transposed", "zero tail", "scale 1.05", "dead channel", "shifted",
                                            "NaN born")}

VIEWS = ("Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Concat", "Slice", "Split", "Cast",
         "Shape", "Gather", "Expand", "Range", "ConstantOfShape", "Constant")


def sites(runs, tensors, count, rng):
    """Tensors that a fault does something to, from the whole depth of the network."""
    model = runs.model
    fit = [name for node in model.graph.node if node.op_type not in VIEWS for name in node.output[:1]
           if name in tensors and name in runs.floats and tensors[name].ndim >= 2 and tensors[name].size >= 64
           and tensors[name].shape[-1] > 1 and np.isfinite(tensors[name].astype(np.float64)).all()
           and np.ptp(tensors[name].astype(np.float64)) > 0]
    if len(fit) <= count:
        return fit
    parts = np.array_split(np.arange(len(fit)), count)
    return [fit[int(rng.choice(part))] for part in parts]
