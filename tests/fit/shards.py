"""shards.py BTFTOOL: `fit` by shards and `merge` say of small networks, to the byte, what one run says.

The networks are those of rule.py, and some that are about what a shard cannot know by itself. Seconds.
"""

import os
import random
import subprocess
import sys

try:
    import numpy  # noqa: F401
    import onnx  # noqa: F401
    import onnxruntime  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}; tests/interop/venv.sh installs what is needed")
    sys.exit(0)

from rule import CASES
from small import Net, normal, run_with_tool

LARGE = (256, 4096)  # so many results that only some are computed twice


def zeros_beside_vanishing_numbers():
    """Zeros that may be off by something, by how much what is before them tells; beside them numbers vanish in one place."""
    x = normal(*LARGE)
    x[3, 5] = 1e-9
    net = Net(x=x)
    zeros = net.add("relu", "Relu", net.add("bias", "Sub", net.add("less", "Abs", "x"), 100.3))
    return net, net.add("sum", "Add", zeros, "x")


def chance_before_a_group():
    """Numbers of float16 by chance before a Softmax and a mean, and beside others in an Add."""
    net = Net(x=normal(64, 32))
    halves = net.add("halves", "Floor", net.add("scale", "Mul", "x", 3.7))
    mean = net.add("mean", "ReduceMean", halves, axes=[-1])
    return net, net.add("sum", "Add", net.add("softmax", "Softmax", halves), net.add("both", "Add", mean, "x"))


def infinite_in_large():
    """Numbers that overflow, and what is behind them, where not all of it is computed twice."""
    net = Net(x=20000 * normal(*LARGE))
    square = net.add("square", "Mul", "x", 1.7)
    return net, net.add("tanh", "Tanh", net.add("root", "Sqrt", net.add("abs", "Abs", square)))


def merged(tool, count, options, dumps):
    parts = [f"part{k}" for k in range(count)]
    for k, part in enumerate(parts, 1):
        done = tool.run("--shard", f"{k}/{count}", "--part", part, *options, *dumps)
        tool.same(f"shard {k}: {done.stderr}", done.returncode, 0)
    random.Random(count).shuffle(parts)
    return subprocess.run([tool.path, "merge", "--json", *parts], capture_output=True, text=True, check=False, cwd=tool.folder)


def check_networks(tool):
    nets = [make for make, *_ in CASES] + [zeros_beside_vanishing_numbers, chance_before_a_group, infinite_in_large]
    for number, make in enumerate(nets):
        net, output = make()
        tool.model(net.model([output]))
        dumps = [tool.dump(net.run())]
        if number % 3 == 0:
            dumps.append(tool.dump(net.run(**{k: x / 2 if x.dtype.kind == "f" else x for k, x in net.inputs.items()}), "half.npz"))
        options = ["--graph", "model.onnx", "--dtype", ("fp16", "bf16,int8", "fp16,fp8")[number % 3]]
        one = tool.run("--json", *options, *dumps)
        many = merged(tool, number % 3 + 1, options, dumps)
        tool.same(make.__name__, (many.returncode, many.stdout, many.stderr), (one.returncode, one.stdout, one.stderr))
        for name in os.listdir(tool.folder):
            os.remove(tool.file(name))


if __name__ == "__main__":
    print(f"{run_with_tool(check_networks)} checks")
