"""What is dumped of a net's run in each scenario, and what `btftool layers` must say of it."""

import dataclasses

import numpy as np
import torch

import faults
import nets
from precisions import GOLDEN, OTHER_ORDERS, PRECISIONS, Precision


@dataclasses.dataclass
class Case:
    scenario: str
    net: nets.Net
    precision: Precision
    depth: str
    actual: dict  # names to arrays, in execution order
    golden: dict
    kinds: tuple  # that the verdict may have
    layers: tuple = ()  # any of these
    exit_code: int = 1
    own_error: float = None  # of the fault alone: below twice the noise it need not be found
    options: tuple = ()
    baseline: dict = None
    form: str = "npz"  # of what is written: npz, numbered (a directory as trtexec writes it), plain (without numbers)
    roots: tuple = ()  # which must all be among the roots
    sanity: bool = False  # something must be said there
    doubtful: bool = False  # the order must be said to be doubtful, where there is no graph

    def net_names(self):
        return ["input", *(op.output for op in self.net.ops)]


def compute(precision):
    return ("--compute", precision.compute_option) if precision.compute_option else ()


def healthy(net, precision, golden):
    actual = net.run(precision)
    yield case("healthy", net, precision, golden, actual, ("clean",), exit_code=0)
    if precision.compute_option:
        # Nothing in the dumps says what was computed in: at least nothing may be blamed with certainty.
        yield case("healthy, not told", net, precision, golden, actual, ("clean", "cannot-tell"), exit_code=None,
                   options=())


def case(scenario, net, precision, golden, actual, kinds, depth="", **more):
    more.setdefault("options", compute(precision))
    return Case(scenario, net, precision, depth, actual, golden, kinds, **more)


def computed(net, precision, golden, depths=tuple(faults.DEPTHS), kinds=tuple(faults.COMPUTED)):
    """A layer computed wrong, what follows from it with it."""
    for depth in depths:
        for kind in kinds:
            at = faults.place(net, depth, kind)
            actual = net.run(precision, [faults.computed(kind, at)])
            yield case(kind, net, precision, golden, actual, ("broke",), depth, layers=(at,),
                       own_error=net.own_error[at])


DUMPS = {"dump: layout": faults.other_layout, "dump: dead channel": faults.dead_channel,
         "dump: all zero": lambda x: x * 0}


def dumped(net, precision, golden, depths=tuple(faults.DEPTHS)):
    """Only the dump of a layer is wrong."""
    for depth in depths:
        for kind, change in DUMPS.items():
            at = faults.place(net, depth, kind)
            actual = net.run(precision, [faults.dumped(change, at)])
            yield case(kind, net, precision, golden, actual, ("dump-wrong",), depth, layers=(at,),
                       own_error=net.own_error[at], sanity=kind == "dump: all zero")
        # The bytes of a later tensor, computed where this one was.
        later = [op.output for op in net.ops if op.output != at and golden[op.output].shape == golden[at].shape]
        after = [name for name in later if [*golden].index(name) > [*golden].index(at) + 1]
        views = ("Reshape", "Transpose", "Flatten")
        after = [name for name in after if not name.rsplit("/", 1)[-1].startswith(views)]
        if after:
            actual = net.run(precision)
            own = nets.relative(*(torch.from_numpy(np.nan_to_num(actual[n].astype(np.float32)))
                                  for n in (at, after[0])))
            actual[at] = actual[after[0]]
            yield case("dump: buffer reused", net, precision, golden, actual, ("dump-wrong",), depth, layers=(at,),
                       own_error=own, sanity=True)


def dumped_input(net, precision, golden):
    """The network was given the right input."""
    actual = net.run(precision)
    actual["input"] = faults.other_layout(torch.from_numpy(np.array(actual["input"]))).numpy()
    own = nets.relative(*(torch.from_numpy(run["input"].astype(np.float32)) for run in (golden, actual)))
    yield case("dump: input", net, precision, golden, actual, ("dump-wrong",), layers=("input",), own_error=own)


def dumped_nan(net, precision, golden):
    """Without a graph, or where what is computed from it may hide them, nobody knows that the layer had none."""
    at = faults.place(net, "middle", "transposed")
    actual = net.run(precision)
    actual[at] = actual[at].copy()
    actual[at].reshape(-1)[:3] = np.nan
    yield case("dump: NaN", net, precision, golden, actual, ("dump-wrong", "broke"), layers=(at,))


def two_faults(net, precision, golden):
    first, second = faults.place(net, "early", "dead channel"), faults.place(net, "late", "transposed")
    actual = net.run(precision, [faults.computed("dead channel", first), faults.computed("transposed", second)])
    yield case("two faults", net, precision, golden, actual, ("broke",), layers=(first,),
               own_error=net.own_error[first], roots=(second,))


def one_layer_quantised(net, precision, golden):
    """All others exact."""
    if precision.name != "float32x":
        return
    at = faults.place(net, "middle", "transposed")
    int8 = PRECISIONS["int8"]
    actual = net.run(GOLDEN, [faults.Fault(at, lambda value, shown: (int8.round(net, at, value), shown))])
    yield case("one layer in int8", net, precision, golden, actual, ("broke",), layers=(at,),
               own_error=net.own_error[at])
    yield case("same, --compute int8", net, precision, golden, actual, ("clean",), exit_code=0,
               options=("--compute", "int8"))


def missing_layer(net, precision, golden):
    at = faults.place(net, "middle", "transposed")
    actual = net.run(precision, [faults.computed("transposed", at)])
    del actual[at]
    order = [*golden]
    layers = {order[order.index(at) + 1], *(op.output for op in net.ops if at in op.inputs)}
    right = net.run(precision)
    seen = max(nets.relative(*(torch.from_numpy(run[name].astype(np.float32)) for run in (right, actual)))
               for name in layers)
    yield case("layer missing", net, precision, golden, actual, ("broke",), own_error=seen, layers=tuple(layers))


def inputs_differ(net, precision, golden):
    other = {name: x * 4.3 - 0.5 for name, x in net.inputs.items()}
    yield case("inputs differ", net, precision, golden, net.run(precision, inputs=other), ("inputs",),
               layers=("input",))


def identical(net, precision, golden):
    if precision.name == "float32x":
        yield case("identical", net, precision, golden, dict(golden), ("clean",), exit_code=0)


def few_pairs(net, precision, golden):
    """One or two tensors, or none in common."""
    if precision.name != "float16":
        return
    actual = net.run(precision)
    for count in (1, 2):
        names = [*golden][-count:]
        yield case(f"healthy, {count} pairs", net, precision, {n: golden[n] for n in names},
                   {n: actual[n] for n in names}, ("clean", "cannot-tell"), exit_code=None)
    yield case("nothing in common", net, precision, golden, {"another": np.ones(7, np.float16)}, (), exit_code=2)


def with_baseline(net, precision, golden):
    """A correct run in the same precision that adds up in another order, which is what this one is compared with."""
    if precision.name not in ("float16", "bfloat16", "int8", "fp8"):
        return
    baseline = net.run(OTHER_ORDERS[precision.name])
    yield case("healthy, --baseline", net, precision, golden, net.run(precision), ("clean",), exit_code=0,
               baseline=baseline, options=())
    for case_ in computed(net, precision, golden, depths=("middle",), kinds=("transposed", "scale 1.05")):
        yield dataclasses.replace(case_, scenario=case_.scenario + ", --baseline", baseline=baseline, options=())


def isolated(net, precision, golden):
    """Each layer computed from the golden tensors."""
    at = faults.place(net, "late", "scale 1.05")
    actual = {"input": golden["input"]}
    for op in net.ops:
        inputs = [torch.from_numpy(golden[name]) for name in op.inputs]
        value = precision.compute(net, op, inputs)
        if op.output == at:
            value = precision.round(net, at, faults.scaled(value))
        actual[op.output] = precision.dump(value)
    yield case("scale 1.05, --isolated", net, precision, golden, actual, ("broke",), layers=(at,), own_error=0.05,
               options=(*compute(precision), "--isolated"))


def renamed(net, precision, golden):
    """The natural order of the names is not the order of execution."""
    order = np.random.default_rng(net.seed).permutation(len(golden))
    names = {name: f"t{order[k]}" for k, name in enumerate(golden)}
    at = faults.place(net, "middle", "transposed")
    actual = net.run(precision, [faults.computed("transposed", at)])
    swap = lambda tensors: {names[name]: value for name, value in tensors.items()}
    yield case("names out of order", net, precision, swap(golden), swap(actual), ("broke",), layers=(names[at],),
               own_error=net.own_error[at], form="plain", doubtful=True)


def numbered(net, precision, golden):
    """As trtexec writes them."""
    at = faults.place(net, "late", "transposed")
    actual = net.run(precision, [faults.computed("transposed", at)])
    yield case("files with numbers", net, precision, golden, actual, ("broke",), layers=(at,),
               own_error=net.own_error[at], form="numbered")


SCENARIOS = (healthy, computed, dumped, dumped_input, dumped_nan, two_faults, one_layer_quantised, missing_layer, inputs_differ, identical,
             few_pairs, with_baseline, isolated, renamed, numbered)


def hard_net(net, precisions):
    """A healthy net of a kind that amplifies errors: nothing in it broke."""
    golden = net.run(GOLDEN)
    for precision in precisions:
        yield case(f"healthy {net.kind}", net, precision, golden, net.run(precision), ("clean", "amplified", "drift"),
                   exit_code=None)
