"""What people save with torch.save besides dicts of tensors, and the names that its tensors get."""

import argparse
import collections
import dataclasses
import enum
import functools
import random
import types

import numpy as np
import torch


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(2, 3, 1)
        self.norm = torch.nn.BatchNorm2d(3)
        self.scales = torch.nn.ParameterList([torch.ones(2), torch.zeros(1)])
        self.heads = torch.nn.ParameterDict({"left": torch.full((2,), 2.0)})
        self.register_buffer("grid", torch.arange(4), persistent=False)
        self.register_buffer("nothing", None)
        self.stride = torch.tensor([8.0, 16.0])  # an attribute, as trainers of detectors have it
        self.anchors = {"small": [torch.arange(6).reshape(2, 3)]}


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = torch.nn.Sequential(Block(), torch.nn.ReLU(), Block())
        self.head = torch.nn.Linear(3, 2, bias=False)
        self.tied = self.head


class Average:
    def __init__(self, net):
        self.ema = net
        self.updates = 7
        self.decay = lambda_free


def lambda_free(x):
    return 0.99


class Kind(enum.Enum):
    weight = 1


Pair = collections.namedtuple("Pair", "left right")


class Keyed(dict):
    pass


class Listed(list):
    pass


class Sub(torch.Tensor):
    pass


class Slotted:
    __slots__ = ("kept", "__dict__")


@dataclasses.dataclass
class Record:
    values: torch.Tensor
    others: list


def tensor(seed):
    return torch.arange(seed, seed + 3, dtype=torch.float32)


def of_net(net, prefix=""):
    """state_dict's names, buffers that it leaves out, and the attributes of the class above."""
    named = {prefix + name: value for name, value in net.state_dict().items()}
    for path, module in net.named_modules(remove_duplicate=False):
        at = prefix + (path + "." if path else "")
        named.update({at + name: value for name, value in module._buffers.items() if value is not None})
        if isinstance(module, Block):
            named.update({at + "stride": module.stride, at + "anchors.small.0": module.anchors["small"][0]})
    return named


def optimizer_case():
    net = torch.nn.Linear(2, 2)
    optimizer = torch.optim.Adam(net.parameters())
    net(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    state = optimizer.state_dict()
    named = {f"optimizer.state.{i}.{key}": value for i, of in state["state"].items() for key, value in of.items()}
    return {"model": net.state_dict(), "optimizer": state, "epoch": 3}, dict({f"model.{k}": v for k, v in net.state_dict().items()}, **named)


def detector_case():
    net, average, optimizer = Net(), Net(), torch.optim.SGD(Net().parameters(), lr=0.1)
    saved = {"epoch": 5, "best_fitness": np.float64(0.5), "model": net, "ema": Average(average), "optimizer": optimizer.state_dict(), "train_args": argparse.Namespace(lr=0.1)}
    return saved, dict(of_net(net, "model."), **of_net(average, "ema.ema."))


def subclass_case():
    with_attributes = torch.nn.Parameter(tensor(1))
    with_attributes.scale = tensor(2)
    sub = tensor(3).as_subclass(Sub)
    sub.offset = tensor(4)
    saved = {"p": with_attributes, "s": sub, "b": torch.nn.Buffer(tensor(5)), "ps": torch.nn.Parameter(tensor(6).as_subclass(Sub))}
    return saved, {"p": tensor(1), "p.scale": tensor(2), "s": tensor(3), "s.offset": tensor(4), "b": tensor(5), "ps": tensor(6)}


def keys_case():
    keys = {("a", 1): "('a', 1)", (1,): "(1,)", 7: "7", "7": "7 (2)", True: "True", None: "None", 0.5: "0.5", 1e300: "1e+300", b"ab\0": "b'ab\\x00'", 2**64: str(2**64), -(2**70): str(-(2**70)), ("n", None, 2.0): "('n', None, 2.0)", torch.float16: "torch.float16"}
    saved = {key: tensor(i) for i, key in enumerate(keys)}
    return saved, {name: tensor(i) for i, name in enumerate(keys.values())}


def containers_case():
    by_default = collections.defaultdict(list)
    by_default["w"] = [tensor(1)]
    by_default["n"] = collections.OrderedDict(x=tensor(2))
    keyed, listed, slotted = Keyed(k=tensor(3)), Listed([tensor(5)]), Slotted()
    keyed.note = tensor(4)
    slotted.kept, slotted.free = tensor(6), tensor(7)
    saved = {
        "default": by_default,
        "keyed": keyed,
        "listed": listed,
        "slotted": slotted,
        "counter": collections.Counter({"c": tensor(8)}),
        "pair": Pair(tensor(9), [tensor(10)]),
        "deque": collections.deque([tensor(11)]),
        "set": {tensor(12)},
        "frozen": frozenset([tensor(13)]),
        "record": Record(tensor(14), [tensor(15)]),
        "namespace": argparse.Namespace(lr=tensor(16)),
        "simple": types.SimpleNamespace(s=tensor(17)),
        "size": torch.Size([1, 2]),
        "device": torch.device("cpu"),
        "kind": Kind.weight,
        "call": functools.partial(lambda_free, tensor(18), y=tensor(19)),
    }
    names = "default.w.0 default.n.x keyed.k keyed.note listed.0 slotted.kept slotted.free counter.c pair.0 pair.1.0 deque.0 set.0 frozen.0 record.values record.others.0 namespace.lr simple.s call.1.0 call.2.y".split()
    return saved, {name: tensor(i + 1) for i, name in enumerate(names)}


def random_state_case():
    """Integers of any length, long texts, and what random generators keep."""
    some = random.Random(3)
    saved = {"rng": torch.get_rng_state(), "python": some.getstate(), "id": some.getrandbits(128), "seed": 2**2000 + 1, "low": -(2**63) - 1, "text": "t\u00e9" * 70000, "blob": b"\x80" * 70000, "w": tensor(1)}
    return saved, {"rng": saved["rng"], "w": tensor(1)}


def arrays_case():
    arrays = {"whole": np.arange(3), "fortran": np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)), "big": np.arange(4, dtype=">i4"), "none": np.zeros((0, 2)), "scalar": np.array(2.5), "flags": np.array([True, False])}
    state = np.random.RandomState(1).get_state()
    named = {name: torch.from_numpy(np.ascontiguousarray(array.astype(array.dtype.newbyteorder("=")))).reshape(array.shape) for name, array in arrays.items()}
    return {**arrays, "numpy": state}, {**named, "numpy.1": torch.from_numpy(state[1])}


def storages_case():
    return {"typed": tensor(1).storage(), "w": tensor(2)}, {"typed": tensor(1), "w": tensor(2)}


def cases():
    """(what, the object, the names of its tensors)"""
    net = Net()
    yield "a module", net, of_net(net)
    yield "a module in another", torch.nn.ModuleDict({"module": net}), of_net(net, "module.")
    yield "a detector", *detector_case()
    yield "an optimizer", *optimizer_case()
    yield "subclasses", *subclass_case()
    yield "keys", *keys_case()
    yield "containers", *containers_case()
    yield "random state", *random_state_case()
    yield "storages", *storages_case()
    yield "arrays", *arrays_case()


def odd_cases():
    """(object, names of what is listed and not given); beside these each has a tensor 'sound'."""
    yield {"coo": torch.eye(2).to_sparse(), "csr": torch.eye(2).to_sparse_csr()}, ["coo", "csr"]
    yield {"q": torch.quantize_per_tensor(torch.ones(2, 3), 0.1, 0, torch.qint8), "deep": [torch.quantize_per_channel(torch.ones(2), torch.ones(2), torch.zeros(2), 0, torch.quint8)]}, ["q", "deep.0"]
    yield {"nested": torch.nested.nested_tensor([torch.ones(2), torch.ones(1)])}, ["nested"]
    yield {"meta": torch.ones(2, device="meta"), "lazy": torch.nn.LazyLinear(2)}, ["meta", "lazy.weight", "lazy.bias"]
    yield {"long": np.zeros(70000, np.uint8), "complex": np.zeros(1, np.complex64), "objects": np.array([None])}, ["long", "complex", "objects"]
    yield {"c": torch.ones(1, dtype=torch.complex64)}, ["c"]
