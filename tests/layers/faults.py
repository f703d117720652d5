"""What can be wrong with one tensor of a run."""

import dataclasses
import math
import typing

import torch

DEPTHS = {"early": 0.12, "middle": 0.5, "late": 0.85}


@dataclasses.dataclass
class Fault:
    """`apply` takes what was computed and what is shown of it, and gives both; nothing is shown where they agree."""

    at: str  # the tensor
    apply: typing.Callable
    dump_only: bool = False


def channel_axis(x):
    return 1 if x.dim() == 4 else x.dim() - 1


def other_layout(x):
    """The channels moved to the end, or rows and columns changed, under the shape of before."""
    order = {2: (1, 0), 3: (0, 2, 1), 4: (0, 2, 3, 1)}.get(x.dim())
    return x.permute(order).reshape(x.shape) if order else x.flip(0)


def dead_channel(x):
    """Not the quietest: the one in the middle."""
    x = x.clone()
    axis = channel_axis(x)
    size = torch.where(torch.isfinite(x), x, 0).square().sum([k for k in range(x.dim()) if k != axis])
    x.select(axis, int(torch.argsort(size)[len(size) // 2]))[...] = 0
    return x


def scaled(x):
    return x * 1.05


def not_a_number(x):
    x = x.clone()
    x.view(-1)[x.numel() // 3] = math.nan
    return x


def saturated(x):
    """At +-1, or lower where that would change nothing."""
    limit = min(1.0, 0.4 * float(torch.where(torch.isfinite(x) & (x > -1e8), x, 0).abs().max()))
    return torch.where(x > -1e8, torch.clamp(x, -limit, limit), x)


def zero_tail(x):
    x = x.clone()
    x.view(-1)[-max(1, x.numel() // 8):] = 0
    return x


COMPUTED = {"transposed": other_layout, "dead channel": dead_channel, "scale 1.05": scaled, "NaN born": not_a_number,
            "saturated": saturated, "zero tail": zero_tail}


def computed(kind, at):
    return Fault(at, lambda value, shown: (COMPUTED[kind](value), shown))


def dumped(change, at):
    return Fault(at, lambda value, shown: (value, change(value)), dump_only=True)


def place(net, depth, kind):
    """A tensor near this depth that the fault does something to: not a view of another, not a single row."""
    wanted = DEPTHS[depth] * len(net.ops)
    views = ("Reshape", "Transpose", "Flatten")
    fit = [k for k, op in enumerate(net.ops) if op.kind not in views and k + 1 < len(net.ops)
           and net.values[op.output].dim() >= 3 and net.values[op.output].shape[-1] > 1
           and (kind != "dead channel" or op.kind != "Softmax")]
    # The seed moves it, so that every kind of operation has its turn.
    return net.ops[min(fit, key=lambda k: abs(k - wanted - net.seed % 4))].output
