# What people save with torch.save besides dicts of tensors, made by Python's own pickle, without torch.
cat >make.py <<'END'
import collections, enum, io, pickle, struct, sys, types, zipfile

def module(name, **what):
    made = sys.modules[name] = types.ModuleType(name)
    for key, value in what.items():
        value.__module__, value.__qualname__ = name, key
        setattr(made, key, value)

class Kind: pass
class Storage: pass
def rebuild(*arguments): pass
def parameter(*arguments): pass
def with_state(*arguments): pass
def of_type(*arguments): pass
def sparse(*arguments): pass

module("torch", FloatStorage=Kind)
module("torch._utils", _rebuild_tensor_v2=rebuild, _rebuild_parameter=parameter, _rebuild_parameter_with_state=with_state, _rebuild_sparse_tensor=sparse)
module("torch._tensor", _rebuild_from_type_v2=of_type)

class Made:
    """Whatever is made by a call."""
    def __init__(self, function, *arguments):
        self.how = (function, arguments)
    def __reduce__(self):
        return self.how

count = 0
def storage(elements):
    global count
    made = Storage()
    made.key, made.elements, count = str(count), elements, count + 1
    return made

def tensor(value):
    return Made(rebuild, storage([value, value + 0.5]), 0, (2,), (1,), False, collections.OrderedDict())

class Pickler(pickle.Pickler):
    def persistent_id(self, what):
        if not isinstance(what, Storage):
            return None
        self.storages[what.key] = what.elements
        return ("storage", Kind, what.key, "cpu", len(what.elements))

def save(path, what, protocol=2, more=()):
    buffer = io.BytesIO()
    pickler = Pickler(buffer, protocol)
    pickler.storages = {}
    pickler.dump(what)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a/data.pkl", buffer.getvalue())
        for key, elements in [*pickler.storages.items(), *more]:
            archive.writestr("a/data/" + key, struct.pack(f"<{len(elements)}f", *elements))

class Layer:
    def __init__(self, **what):
        self.__dict__.update({"training": True, "_parameters": {}, "_buffers": {}, "_modules": {}})
        self.__dict__.update(what)
class Average: pass
class Slots:
    __slots__ = ("kept",)
class Keyed(dict): pass
class Listed(list): pass
class Color(enum.Enum):
    red = 1
Pair = collections.namedtuple("Pair", "left right")
module("shop", Layer=Layer, Average=Average, Slots=Slots, Keyed=Keyed, Listed=Listed, Color=Color, Pair=Pair)

def model():
    inner = Layer(_parameters=collections.OrderedDict(weight=Made(parameter, tensor(1), True, collections.OrderedDict()), bias=None),
                  _buffers={"mean": tensor(2)}, _non_persistent_buffers_set={"mean"}, stride=tensor(3))
    return Layer(_modules=collections.OrderedDict(conv=inner), scale=[tensor(4)])

average = Average()
average.ema, average.updates = model(), 9
save("module.pt", model())
save("detector.pt", {"epoch": 1, "model": model(), "ema": average}, 4)
by_default = collections.defaultdict(list, w=[tensor(5)])
slots, keyed = Slots(), Keyed(k=tensor(6))
slots.kept, keyed.note = tensor(7), tensor(8)
for protocol in (2, 3, 4, 5):
    save(f"containers{protocol}.pt", {"default": by_default, "slots": slots, "keyed": keyed, "listed": Listed([tensor(9)]), "pair": Pair(tensor(10), 3),
         "set": {tensor(11)}, "state": Made(with_state, tensor(12), True, collections.OrderedDict(), {"extra": tensor(13)}),
         "type": Made(of_type, rebuild, Slots, (storage([14]), 0, (1,), (1,), False, collections.OrderedDict()), ({"free": tensor(15)}, {"slot": tensor(16)})),
         "pairs": Made(collections.OrderedDict, [["p", tensor(17)]]), "storage": storage([18, 19, 20])}, protocol)
save("keys.pt", {("a", 1): tensor(1), 7: tensor(2), "7": tensor(3), True: tensor(4), None: tensor(5), 0.5: tensor(6), 2**70: tensor(7), -1: tensor(8), Color.red: tensor(9)}, 4)
save("long.pt", {"seed": 2**4000, "least": -2**63, "text": "\u00e9" * 70000, "bytes": b"\xff" * 70000, "w": tensor(1)}, 4)
save("sparse.pt", {"s": Made(sparse, "coo", (tensor(1), tensor(2))), "w": tensor(3)})
save("all.pt", {"w": tensor(1)})
save("more.pt", {"w": tensor(1)}, more=[("lost", [1.0, 2.0])])
loop = {"w": tensor(2)}
loop["me"] = Keyed(loop=loop, v=tensor(3))
save("loop.pt", loop)
deep = [tensor(1)]
for _ in range(700):
    deep = [deep]
sys.setrecursionlimit(10000)
save("deep.pt", deep)

# a model in two files, and the same in one
one, two = {"fc.weight": tensor(1)}, {"fc.bias": tensor(2)}
save("pytorch_model-00001-of-00002.bin", one)
save("pytorch_model-00002-of-00002.bin", two)
save("whole.pt", {**one, **two})
END
python3 make.py
names() { btftool inspect "$@" | awk 'NR > 2 {sub(/^.*\] +[0-9]+ +[0-9]+ */, ""); print}'; }
for file in module.pt detector.pt containers2.pt keys.pt long.pt loop.pt; do echo "== $file"; names $file; done
for protocol in 3 4 5; do btftool -q diff containers2.pt containers$protocol.pt; echo "protocol $protocol: exit $?"; done
btftool inspect sparse.pt; btftool inspect --values --tensor w sparse.pt | tail -n 1
btftool inspect deep.pt; echo "exit $?"

echo "== a storage that no listed tensor has"
btftool inspect more.pt; echo "exit $?"
btftool inspect --json more.pt 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["files"][0]["findings"])'
btftool inspect --tensor w more.pt >/dev/null; echo "exit $?"
btftool validate more.pt; echo "exit $?"
btftool diff all.pt more.pt; echo "exit $?"
btftool -q diff more.pt all.pt; echo "exit $?"
btftool diff --tensor w all.pt more.pt; echo "exit $?"
mkdir a b; cp all.pt a/x.pt; cp more.pt b/x.pt
btftool -q diff a b; echo "exit $?"
btftool layers all.pt more.pt >/dev/null; echo "exit $?"
btftool convert more.pt out.btf; echo "exit $?"; [ -e out.btf ] || echo "nothing was written"
btftool convert --tensor '*' more.pt out.btf; echo "exit $?"

echo "== an index of .bin files"
cat >pytorch_model.bin.index.json <<'END'
{"metadata": {"total_size": 16}, "weight_map": {"fc.weight": "pytorch_model-00001-of-00002.bin", "fc.bias": "pytorch_model-00002-of-00002.bin"}}
END
btftool inspect pytorch_model.bin.index.json | grep -o 'fc\..*'
btftool validate pytorch_model.bin.index.json; echo "exit $?"
btftool -q diff pytorch_model.bin.index.json whole.pt; echo "exit $?"

echo "== torch.distributed"
cp all.pt __0_0.distcp; printf '\x80\x04\x95\0\0\0\0\0\0\0\0\x8c%%torch.distributed.checkpoint.metadata' >.metadata
btftool inspect __0_0.distcp; echo "exit $?"
btftool inspect .metadata; echo "exit $?"
