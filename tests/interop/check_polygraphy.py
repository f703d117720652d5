"""check_polygraphy.py BTFTOOL [COUNT [SEED]]: btftool and Polygraphy read each other's outputs and inputs, every array to the bit.

Needs the polygraphy package (0.53.6 was current when this was written) and numpy; says "skipped" where there is none.
"""

import os
import random
import sys
import tempfile

from tool import Tool

try:
    import numpy as np
    from polygraphy.comparator import RunResults
    from polygraphy.comparator.struct import IterationResult
    from polygraphy.json import load_json, save_json
    from polygraphy.logger import G_LOGGER
except ImportError:
    print("skipped: no polygraphy (pip install polygraphy==0.53.6 numpy)")
    sys.exit(0)

DTYPES = ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
NAMES = ["output", "layer 1/x:0", "é", "\"", "\\", "\n", "0", "w" * 300]


def random_array(some):
    dims = [some.randrange(5) for _ in range(some.randrange(5))]
    dtype = np.dtype(some.choice(DTYPES))
    count = int(np.prod(dims, dtype=np.int64))
    if dtype.kind == "b":
        return np.array([some.random() < 0.5 for _ in range(count)], bool).reshape(dims)
    return np.frombuffer(some.randbytes(count * dtype.itemsize), dtype).reshape(dims)


def random_arrays(some):
    return {name: random_array(some) for name in some.sample(NAMES, some.randrange(1, 5))}


def same(left, right):
    return left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()


def check(condition, what):
    if not condition:
        sys.exit("not the same: " + what)


def compare(arrays, found, what):
    check(sorted(arrays) == sorted(found), f"{what}: the names {sorted(arrays)} and {sorted(found)}")
    for name, array in arrays.items():
        check(same(array, np.asarray(found[name])), f"{what}: {name!r}")


def main():
    G_LOGGER.module_severity = G_LOGGER.CRITICAL
    tool = Tool(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    some = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        for number in range(count):
            what = f"seed {seed}, number {number}"
            runners = ["trt", "onnxrt"][: some.randrange(1, 3)]
            iterations = some.randrange(1, 3)
            arrays = {}
            results = RunResults()
            for runner in runners:
                results.append((runner, []))
                for i in range(iterations):
                    outputs = random_arrays(some)
                    results[runner].append(IterationResult(outputs=dict(outputs), runtime=0.5, runner_name=runner))
                    parts = ([runner] if len(runners) > 1 else []) + ([str(i)] if iterations > 1 else [])
                    arrays.update({"/".join(parts + [name]): array for name, array in outputs.items()})
            results.save(path("theirs.json"))
            tool.run("convert", path("theirs.json"), path("theirs.npz"))
            compare(arrays, np.load(path("theirs.npz")), what + ", outputs read")
            check(tool.run("validate", path("theirs.json")).returncode == 0, what + ", validate")
            tool.run("convert", path("theirs.json"), path("x.btf"))
            tool.run("convert", "--format", "polygraphy", path("x.btf"), path("ours.json"))
            (runner, loaded), = RunResults.load(path("ours.json")).items()
            check(runner == "btftool" and len(loaded) == 1, what + ", one run")
            compare(arrays, loaded[0], what + ", outputs written")
            inputs = random_arrays(some)
            save_json([inputs], path("inputs.json"))
            tool.run("convert", path("inputs.json"), path("inputs.npz"))
            compare(inputs, np.load(path("inputs.npz")), what + ", inputs read")
            tool.run("convert", "--format", "polygraphy-inputs", path("inputs.npz"), path("again.json"))
            (loaded,) = load_json(path("again.json"))
            compare(inputs, loaded, what + ", inputs written")
    print(f"{count} runs, 0 disagreements")


main()
