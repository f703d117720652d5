"""check_torch.py BTFTOOL [COUNT [SEED]]: btftool reads what torch.save writes, every tensor to the bit.

Needs torch (2.13.0 was current when this was written) and numpy; says "skipped" where there is none.
"""

import os
import random
import sys
import tempfile

from tool import Tool

try:
    import numpy as np
    import torch
except ImportError:
    print("skipped: no torch (pip install torch==2.13.0 numpy)")
    sys.exit(0)

DTYPES = "float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool uint16 uint32 uint64 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu"
DTYPES = [getattr(torch, name) for name in DTYPES.split()]


def random_tensor(some, known):
    if known and some.random() < 0.4:
        return random_view(some, some.choice(known))
    dims = [some.randrange(1, 5) for _ in range(some.randrange(4))]
    if some.random() < 0.1:
        dims.append(0)
    dtype = some.choice(DTYPES)
    count = int(np.prod(dims, dtype=np.int64))
    data = bytearray(some.randrange(2) if dtype == torch.bool else some.randrange(256) for _ in range(count * dtype.itemsize))
    tensor = torch.frombuffer(data, dtype=torch.uint8).view(dtype) if count else torch.empty(0, dtype=dtype)
    return tensor.reshape(dims)


def random_view(some, tensor):
    if tensor.dim() == 0:
        return tensor
    dim = some.randrange(tensor.dim())
    kind = some.randrange(4)
    if kind == 0:
        return tensor.transpose(dim, some.randrange(tensor.dim()))
    if kind == 1:
        return tensor.narrow(dim, tensor.shape[dim] // 2, tensor.shape[dim] - tensor.shape[dim] // 2)
    if kind == 2 and tensor.shape[dim] > 0:
        return tensor.select(dim, some.randrange(tensor.shape[dim]))
    return tensor.unsqueeze(dim)


def nest(some, tensors):
    """A structure with the tensors, and their names in it."""
    if len(tensors) <= 1 or some.random() < 0.5:
        named = {f"t{i}": t for i, t in enumerate(tensors)}
        return named, dict(named)
    half = len(tensors) // 2
    left, left_names = nest(some, tensors[:half])
    right, right_names = nest(some, tensors[half:])
    if some.random() < 0.5:
        structure, keys = {"a": left, "note": "text", 7: right}, ("a", "7")
    else:
        structure, keys = [left, (right, 3, None)], ("0", "1.0")
    names = {f"{keys[0]}.{k}": v for k, v in left_names.items()}
    names.update({f"{keys[1]}.{k}": v for k, v in right_names.items()})
    return structure, names


def bits(tensor):
    return tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


def main():
    tool = Tool(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    some = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        for number in range(count):
            tensors = []
            for _ in range(some.randrange(1, 8)):
                tensors.append(random_tensor(some, tensors))
            structure, names = nest(some, tensors)
            torch.save(structure, path("theirs.pt"))
            done = tool.run("convert", "--format", "npz", "--as-uint", path("theirs.pt"), path("ours.npz"))
            if done.returncode != 0:
                sys.exit(f"seed {seed}, number {number}: {done.stderr.decode()}")
            ours = np.load(path("ours.npz"))
            if sorted(ours.files) != sorted(names):
                sys.exit(f"seed {seed}, number {number}: the names {sorted(ours.files)} and {sorted(names)}")
            for name, tensor in names.items():
                if ours[name].shape != tuple(tensor.shape) or ours[name].tobytes() != bits(tensor):
                    sys.exit(f"seed {seed}, number {number}: {name} is not the same")
    print(f"{count} files, 0 disagreements")


main()
