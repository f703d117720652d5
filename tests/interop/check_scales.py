"""check_scales.py BTFTOOL [SEED]: codes and scales by the names that programs give them, against NumPy.

Needs NumPy and ml_dtypes; says "skipped" where they are missing. Files are put together here, and so are the numbers that the codes stand for.
"""

import json
import os
import random
import struct
import sys
import tempfile

from harness import Exchange
from tool import Tool

try:
    import ml_dtypes
    import numpy as np
except ImportError:
    print("skipped: no ml_dtypes (pip install ml_dtypes)")
    sys.exit(0)

E4M3, E5M2, E8M0, E2M1 = (np.dtype(getattr(ml_dtypes, name)) for name in ("float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float4_e2m1fn"))
BF16 = np.dtype(ml_dtypes.bfloat16)
F16, F32, I8, U8, I32, U32 = (np.dtype(name) for name in ("float16", "float32", "int8", "uint8", "int32", "uint32"))
CALLED = {E4M3: "F8_E4M3", E5M2: "F8_E5M2", E8M0: "F8_E8M0", E2M1: "F4", BF16: "BF16", F16: "F16", F32: "F32", I8: "I8", U8: "U8", I32: "I32", U32: "U32",
          np.dtype("float64"): "F64"}


def packed(array):
    codes = array.reshape(-1).view(np.uint8)
    if array.dtype != E2M1:
        return array.tobytes()
    codes = np.append(codes & 15, np.zeros(codes.size % 2, np.uint8))
    return (codes[::2] | codes[1::2] << 4).tobytes()


def safetensors(tensors):
    header, data = {}, b""
    for name, array in tensors.items():
        raw = packed(array)
        header[name] = {"dtype": CALLED[array.dtype], "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def codes(rng, dtype, dims):
    count = int(np.prod(dims))
    found = np.array([rng.randrange(16 if dtype == E2M1 else 256) for _ in range(count)], np.uint8)
    found = found.view(dtype).reshape(dims)
    if dtype in (E4M3, E5M2):
        found = np.where(np.isfinite(found.astype(np.float64)), found, np.array(1.0, dtype))
    return found


def scales(rng, dtype, dims):
    """Positive; that of a box of zeros may be 0."""
    count = int(np.prod(dims)) if dims else 1
    if dtype in (U8, E8M0):
        return np.array([rng.randrange(100, 150) for _ in range(count)], U8).view(dtype).reshape(dims)
    found = np.array([rng.uniform(0.001, 2) for _ in range(count)]).astype(dtype).reshape(dims)
    if len([dim for dim in dims if dim > 1]) > 1 and dtype == F32:
        found.reshape(-1)[rng.randrange(count)] = 0
    return found


def spread(array, dims, block):
    """Each scale to all elements of its box."""
    for d, (dim, size) in enumerate(zip(dims, block)):
        array = np.repeat(array, size, axis=d)
        array = np.take(array, range(dim), axis=d)
    return array


def as_numbers(array):
    return (array.view(E8M0) if array.dtype == U8 else array).astype(np.float64)


# The codes' name and dtype, dims; the scales' name and dtype, dims, and how many indices of each dim share one.
KNOWN = [
    ("l.weight", E4M3, (300, 260), "l.weight_scale_inv", F32, (3, 3), (128, 128)),
    ("l.weight", E4M3, (128, 384), "l.weight_scale_inv", BF16, (1, 3), (128, 128)),
    ("l.weight", E5M2, (3, 130, 129), "l.weight_scale_inv", F32, (3, 2, 2), (1, 128, 128)),
    ("l.weight", E4M3, (256, 200), "l.scale", E8M0, (2, 2), (128, 128)),
    ("l.weight", E4M3, (256, 200), "l.scale_inv", F32, (2, 2), (128, 128)),
    ("w", E4M3, (5, 100), "w.scale", F32, (), (5, 100)),
    ("w", E4M3, (5, 100), "w_scale", F32, (1, 1), (5, 100)),
    ("l.weight", E4M3, (5, 100), "l.weight_scale", F32, (5, 1), (1, 100)),
    ("l.weight", E4M3, (5, 100), "l.weight_scale", BF16, (1, 100), (5, 1)),
    ("l.weight", E4M3, (7, 100), "l.weight_scale", U8, (7, 4), (1, 32)),
    ("l.weight", E5M2, (2, 3, 64), "l.weight_scale", E8M0, (2, 3, 2), (1, 1, 32)),
    ("l.weight", E2M1, (7, 100), "l.weight_scale", U8, (7, 4), (1, 32)),
    ("l.weight", I8, (7, 256), "l.weight_scale", F16, (7, 4), (1, 64)),
    ("l.weight", I8, (400, 3), "l.weight_scale", F32, (4, 1), (128, 3)),
    ("l.weight", U8, (96,), "l.weight_scale", F32, (6,), (16,)),
    ("l.weight", I8, (101, 3), "l.weight_scale", F32, (51, 3), (2, 1)),
]


ROUNDS = 12  # of random blocks


class Check(Exchange):
    kind = "safetensors"

    def known(self, rng, row):
        name, dtype, dims, scale_name, scale_dtype, scale_dims, block = row
        held = codes(rng, dtype, dims)
        by = scales(rng, scale_dtype, scale_dims)
        numbers = held.astype(np.float64) * spread(as_numbers(by).reshape(scale_dims or (1,) * len(dims)), dims, block)
        self.compare(f"{row}", {name: held, scale_name: by}, name, numbers)

    def nvfp4(self, rng):
        held, by, second = codes(rng, E2M1, (6, 48)), scales(rng, E4M3, (6, 3)), np.array([rng.uniform(0.01, 1)], F32)
        numbers = held.astype(np.float64) * spread(by.astype(np.float64), (6, 48), (1, 16)) * second.astype(np.float64)
        tensors = {"l.weight": held, "l.weight_scale": by, "l.weight_scale_2": second}
        self.compare("nvfp4", tensors, "l.weight", numbers)
        del tensors["l.weight_scale_2"]
        self.refused("nvfp4 without its second scale", tensors, "weight_scale_2")

    def zero_points(self, rng):
        held, by, zero = codes(rng, U8, (6, 256)), scales(rng, F16, (6, 2)), codes(rng, U8, (6, 2))
        shifted = held.astype(np.float64) - spread(zero.astype(np.float64), (6, 256), (1, 128))
        tensors = {"l.weight": held, "l.weight_scale": by, "l.weight_zero_point": zero}
        self.compare("zero points of groups", tensors, "l.weight", shifted * spread(by.astype(np.float64), (6, 256), (1, 128)))

    def blocks(self, rng):
        """Blocks of any size, the last one perhaps short: stated by --block or config.json; else the only size, the usual one, or an error."""
        dims, block = tuple(rng.randrange(20, 300) for _ in range(2)), tuple(rng.choice((16, 32, 50, 64, 100, 128)) for _ in range(2))
        shape = tuple(-(-dim // size) for dim, size in zip(dims, block))
        held, by = codes(rng, E4M3, dims), scales(rng, F32, shape)
        by[by == 0] = 1
        tensors, what = {"l.weight": held, "l.weight_scale_inv": by}, f"blocks {block} of {dims}"
        path, config = self.put("codes.safetensors", safetensors(tensors)), self.path("config.json")
        numbers = held.astype(np.float64) * spread(by.astype(np.float64), dims, block)
        stated = "x".join(map(str, block)) if block[0] != block[1] or rng.random() < 0.5 else str(block[0])
        self.made(what + " by --block", path, numbers, "--block", stated)
        self.put("config.json", json.dumps({"quantization_config": {"weight_block_size": block}}).encode())
        self.made(what + " by config.json", path, numbers)
        os.remove(config)
        found = []
        for dim, count in zip(dims, shape):
            sizes = [size for size in range(1, dim + 1) if -(-dim // size) == count]
            usual = 1 if count == dim else dim if count == 1 else 128 if 128 in sizes else None
            full = dim // count if dim % count == 0 else 0
            found.append(usual or (full if full and full & (full - 1) == 0 else sizes[0] if len(sizes) == 1 else 0))
        if all(found):
            self.made(what + ", not said", path, held.astype(np.float64) * spread(by.astype(np.float64), dims, found))
        else:
            self.refused(what + ", not said", tensors, "may be for blocks of")

    def made(self, what, path, numbers, *options):
        made = self.path("made.npz")
        done = self.tool.run("-q", "convert", "--dequantize", *options, "--dtype", "fp64", path, made)
        if done.returncode != 0 or not np.array_equal(np.load(made)["l.weight"], numbers):
            self.wrong(f"{what}: convert makes other numbers {done.stderr.decode()}", self.get("codes.safetensors"))

    def packed(self, rng):
        """Two codes in a byte: groups that fit twice the width only."""
        rows, group, dtype = rng.randrange(3, 9), rng.choice((16, 32)), rng.choice((E8M0, F16, BF16))
        groups = rng.randrange(2, 9)
        group = 32 if dtype == E8M0 else group
        held, by = codes(rng, rng.choice((I8, U8)), (rows, groups * group // 2)), scales(rng, dtype, (rows, groups))
        self.refused(f"packed {held.shape} {by.shape} {dtype}", {"l.weight": held, "l.weight_scale": by}, "packed")

    def compare(self, what, tensors, name, numbers):
        data = safetensors(tensors)
        path, golden = self.put("codes.safetensors", data), self.path("golden.npz")
        np.savez(golden, **{name: numbers})
        done = self.tool.run("diff", "--dequantize", path, golden)
        if done.returncode != 0:
            self.wrong(f"{what}: diff says {done.stdout.decode()}{done.stderr.decode()}", data)
        made = self.path("made.npz")
        done = self.tool.run("-q", "convert", "--dequantize", "--dtype", "fp64", path, made)
        if done.returncode != 0 or not np.array_equal(np.load(made)[name], numbers):
            self.wrong(f"{what}: convert makes other numbers {done.stderr.decode()}", data)
        numbers.reshape(-1)[-1] += 1
        np.savez(golden, **{name: numbers})
        if self.tool.run("diff", "--dequantize", path, golden).returncode != 1:
            self.wrong(f"{what}: a number that is off by one is not seen", data)

    def refused(self, what, tensors, word):
        data = safetensors(tensors)
        path = self.put("codes.safetensors", data)
        for command in (("diff", "--dequantize", path, path), ("convert", "--dequantize", path, self.path("no.npz"))):
            done = self.tool.run(*command)
            if done.returncode != 2 or word not in done.stderr.decode():
                self.wrong(f"{what}: {command[0]} exits {done.returncode} and says {done.stderr.decode()}", data)

    def not_decoded(self, rng):
        """Trouble that says what is missing, or what it is that nothing here decodes."""
        words = np.zeros((4, 8), I32)
        self.refused("nothing", {"l.weight": codes(rng, E4M3, (4, 8)), "l.s": scales(rng, F32, (2,))}, "l.weight_scale")
        self.refused("nothing", {"l.weight": codes(rng, E2M1, (4, 8))}, "no scales were found for its float4_e2m1fn codes")
        self.refused("GPTQ", {"l.qweight": words, "l.qzeros": words, "l.scales": scales(rng, F16, (1, 8))}, "GPTQ")
        self.refused("MLX", {"l.weight": words.view(U32), "l.scales": scales(rng, F16, (4, 1))}, "MLX")
        self.refused("packed", {"l.weight_packed": codes(rng, U8, (4, 8)), "l.weight_scale": scales(rng, E4M3, (4, 1))}, "compressed-tensors")
        self.refused("MXFP4", {"l.w_blocks": codes(rng, U8, (4, 1, 16)), "l.w_scales": codes(rng, U8, (4, 1))}, "MXFP4")
        self.refused("bytes", {"l.weight": codes(rng, U8, (4, 8)), "l.weight_scale": scales(rng, E4M3, (4, 1))}, "two float4_e2m1fn")
        self.refused("unclear", {"l.weight": codes(rng, E4M3, (100, 4)), "l.weight_scale": scales(rng, F32, (7, 1))}, "blocks of 15 to 16")
        self.refused("too many", {"l.weight": codes(rng, E4M3, (4, 4)), "l.weight_scale": scales(rng, F32, (5, 1))}, "do not fit")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    rng = random.Random(sys.argv[2] if len(sys.argv) > 2 else "1")
    with tempfile.TemporaryDirectory() as scratch:
        check = Check(Tool(sys.argv[1]), scratch)
        for row in KNOWN:
            check.known(rng, row)
        check.nvfp4(rng)
        check.zero_points(rng)
        check.not_decoded(rng)
        for _ in range(ROUNDS):
            check.blocks(rng)
            check.packed(rng)
    print(f"{len(KNOWN) + 2} kinds of scales, {ROUNDS} random blocks, {check.failed} disagreements")
    sys.exit(1 if check.failed else 0)


if __name__ == "__main__":
    main()
