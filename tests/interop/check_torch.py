"""check_torch.py BTFTOOL [COUNT [SEED]]: btftool reads what torch.save writes, every tensor to the bit, and notices a byte
that was changed in a pickle or a storage.

Needs torch (2.13.0 was current when this was written) and numpy; says "skipped" where there is none.
"""

import os
import random
import sys
import tempfile
import zipfile

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


def place_of(member, image):
    """Where the content begins: behind the local header, whose name and extra field are as long as it says."""
    lengths = image[member.header_offset + 26 : member.header_offset + 30]
    return member.header_offset + 30 + int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")


def check_damage(tool, some, sound, damaged, has_checksums):
    """What Python's zipfile calls bad no command may take for sound; where it has nothing to compare with, all is read."""
    with open(sound, "rb") as file:
        image = bytearray(file.read())
    with zipfile.ZipFile(sound) as archive:
        storages = [m for m in archive.infolist() if "/data/" in m.filename and m.file_size > 0]
        members = storages + [archive.getinfo(archive.namelist()[0])]
    # A pickle that is damaged may be none, checksum or not.
    member = some.choice(members if has_checksums else storages or members)
    at = place_of(member, image) + some.randrange(member.file_size)
    if has_checksums or member in storages:
        image[at] ^= 1 << some.randrange(8)
    with open(damaged, "wb") as file:
        file.write(image)
    with zipfile.ZipFile(damaged) as archive:
        if has_checksums and archive.testzip() != member.filename:
            sys.exit(f"{member.filename}, byte {at}: zipfile sees nothing")
    threads = some.choice("127")
    for arguments in (["convert", "--format", "btf", damaged, os.devnull], ["inspect", "--stats", damaged],
                      ["diff", damaged, sound], ["diff", sound, damaged], ["validate", damaged]):
        code = tool.run(arguments[0], *(["-j", threads] if arguments[0] != "validate" else []), *arguments[1:]).returncode
        wanted = (1,) if arguments[0] == "validate" else (2,)
        if not has_checksums:
            wanted = (0, 1) if arguments[0] == "diff" else (0,)
        if code not in wanted:
            sys.exit(f"{member.filename}, byte {at} changed: {arguments}: exit code {code}")


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
            if not any(tensor.numel() for tensor in tensors):
                continue
            check_damage(tool, some, path("theirs.pt"), path("damaged.pt"), True)
            torch.serialization.set_crc32_options(False)
            torch.save(structure, path("unchecked.pt"))
            torch.serialization.set_crc32_options(True)
            check_damage(tool, some, path("unchecked.pt"), path("damaged.pt"), False)
    print(f"{count} files, 0 disagreements")


main()
