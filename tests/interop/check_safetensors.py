"""check_safetensors.py BTFTOOL TESTDATA [COUNT [SEED]]: btftool and the reference library for safetensors read each other's files.

Needs the safetensors package (0.8.0 was current when this was written); says "skipped" where there is none. What the reference refuses btftool must
refuse; what btftool refuses beyond that must be for a reason that docs/formats.md tells.
"""

import ctypes
import glob
import json
import os
import random
import struct
import sys
import tempfile

import btf_writer
from elements import DTYPES, pack
from harness import Exchange
from random_files import random_code, random_dims
from tool import Tool

try:
    import safetensors
except ImportError:
    print("skipped: no safetensors (pip install safetensors==0.8.0)")
    sys.exit(0)

# As the reference is told of them, and as its files call them.
TYPES = {
    "bool": ("bool", "BOOL"), "float4_e2m1fn": ("float4_e2m1fn_x2", "F4"), "uint8": ("uint8", "U8"), "int8": ("int8", "I8"),
    "float8_e5m2": ("float8_e5m2", "F8_E5M2"), "float8_e4m3fn": ("float8_e4m3fn", "F8_E4M3"), "float8_e8m0fnu": ("float8_e8m0fnu", "F8_E8M0"),
    "float8_e4m3fnuz": ("float8_e4m3fnuz", "F8_E4M3FNUZ"), "float8_e5m2fnuz": ("float8_e5m2fnuz", "F8_E5M2FNUZ"), "int16": ("int16", "I16"),
    "uint16": ("uint16", "U16"), "float16": ("float16", "F16"), "bfloat16": ("bfloat16", "BF16"), "int32": ("int32", "I32"), "uint32": ("uint32", "U32"),
    "float32": ("float32", "F32"), "float64": ("float64", "F64"), "int64": ("int64", "I64"), "uint64": ("uint64", "U64"),
}
SHARED = [dtype for dtype in DTYPES if dtype.name in TYPES]
NAMES = ["", "a", "b.c", "0", "layer 1/x:0", "é", "\n", "\"", "\\", "\U0001f600", "\x7f", "a\x00b", "\u2028", "w" * 300]

# What btftool refuses and the reference takes, as docs/formats.md tells.
STRICTER = ["twice", "is an array and not an object", "more than 255 dims", "the product of the dims", "objects and arrays stand in one another"]


class Reference:
    def __init__(self):
        self.buffers = []

    def spec(self, dtype, dims, data):
        """F4 has its shape in bytes here, which the reference doubles."""
        told = dims[:-1] + [dims[-1] // 2] if dtype.bits == 4 else dims
        buffer = ctypes.create_string_buffer(data, max(len(data), 1))
        self.buffers.append(buffer)
        return safetensors.TensorSpec(dtype=TYPES[dtype.name][0], shape=told, data_ptr=ctypes.addressof(buffer), data_len=len(data))

    def serialize(self, tensors, metadata):
        return bytes(safetensors.serialize({name: self.spec(*tensor) for name, tensor in tensors.items()}, metadata))


def refused_by_reference(data):
    try:
        safetensors.deserialize(data)
    except Exception as error:  # its own class, or one of Python's for what no str can hold
        return str(error)
    return None


def random_tensors(rng):
    tensors = {}
    for name in rng.sample(NAMES, rng.randrange(0, 7)):
        dtype = rng.choice(SHARED)
        dims = random_dims(rng)
        if dtype.bits == 4:
            dims = dims + [rng.choice([2, 4, 6])]
        count = 1
        for dim in dims:
            count *= dim
        tensors[name] = dtype, dims, pack(dtype, [random_code(rng, dtype) for _ in range(count)])
    return tensors


def record(dtype, dims, data):
    return btf_writer.header(dims, dtype.code, 0) + data


def offsets_in_order(data):
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    # Of tensors without elements several may begin in one place: as they stand in the header then.
    return sorted(header, key=lambda name: (header[name]["data_offsets"], data.index(json.dumps(name, ensure_ascii=False).encode())))


class Check(Exchange):
    kind = "safetensors"

    def theirs(self, rng, tensors):
        """A file of the reference's is read: every name, type, dim and bit."""
        metadata = rng.choice([None, {"format": "pt"}, {"format": "np", "k": "v\n"}])
        data = Reference().serialize(tensors, metadata)
        source = self.put("in.safetensors", data)
        done = self.tool.run("-q", "convert", "--names", "drop", source, self.path("out.btf"))
        names = offsets_in_order(data)
        if done.returncode != 0 or self.get("out.btf") != btf_writer.file([record(*tensors[name]) for name in names]):
            return self.wrong("what the reference wrote is read otherwise: " + done.stderr.decode(), data)
        listed = self.tool.json_of_files("inspect", "--json", source)[source]["tensors"]
        if [entry["name"] for entry in listed] != names:
            self.wrong("the names are others than the reference wrote", data)

    def ours(self, rng, tensors):
        """What is written is what the reference writes of the same tensors, and it can read it."""
        names = list(tensors)
        rng.shuffle(names)
        data = btf_writer.file([record(*tensors[name]) for name in names])
        source, target = self.put("in.btf", data), self.path("out.safetensors")
        if any("\n" in name or "\x00" in name or name == "" for name in names):
            return  # a list of names has one on each line
        listed = self.put("names", "".join(name + "\n" for name in names).encode())
        done = self.tool.run("-q", "convert", "--names", listed, source, target)
        if done.returncode != 0:
            return self.wrong("is not written: " + done.stderr.decode(), data)
        written = self.get("out.safetensors")
        if tensors and written != Reference().serialize(tensors, {"format": "pt"}):
            return self.wrong("is not what the reference writes", data)
        read = {name: (entry["dtype"], list(entry["shape"]), bytes(entry["data"])) for name, entry in safetensors.deserialize(written)}
        if read != {name: (TYPES[dtype.name][1], dims, content) for name, (dtype, dims, content) in tensors.items()}:
            self.wrong("the reference reads other tensors", data)

    def verdicts(self, data, what):
        theirs = refused_by_reference(data)
        done = self.tool.run("inspect", self.put("x.safetensors", data))
        ours = done.stderr.decode().strip() if done.returncode else None
        if done.returncode not in (0, 2):
            return self.wrong(f"{what}: exit code {done.returncode}", data)
        if theirs and not ours and "unknown variant" not in theirs:
            self.wrong(f"{what}: is read, but the reference says: {theirs}", data)
        if ours and not theirs and not any(reason in ours for reason in STRICTER):
            self.wrong(f"{what}: is refused, but not by the reference: {ours}", data)

    def damaged(self, rng, tensors):
        """A byte of the header is another, or there is one more, or less."""
        data = bytearray(Reference().serialize(tensors, {"format": "pt"}))
        size = struct.unpack("<Q", data[:8])[0]
        for _ in range(rng.choice([1, 1, 2])):
            at, way = rng.randrange(8, 8 + size), rng.randrange(3)
            old = bytes(data[at : at + 1])
            new = bytes([rng.choice(b'{}[]",:\\u0123456789FU8 \x00\x80\xff')]) if way else b""
            data[at : at + (way != 2)] = new
            size += len(new) - (len(old) if way != 2 else 0)
        if rng.random() < 0.8:
            data[:8] = struct.pack("<Q", size)
        self.verdicts(bytes(data), "damaged")


def main():
    if len(sys.argv) not in (3, 4, 5):
        sys.exit(__doc__)
    tool, testdata = Tool(sys.argv[1]), sys.argv[2]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 60
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    with tempfile.TemporaryDirectory() as scratch:
        check = Check(tool, scratch)
        files = sorted(glob.glob(os.path.join(testdata, "safetensors*", "*.safetensors")))
        for path in files:
            with open(path, "rb") as file:
                check.verdicts(file.read(), os.path.basename(path))
        for number in range(count):
            rng = random.Random(f"{seed}:{number}")
            tensors = random_tensors(rng)
            check.theirs(rng, tensors)
            check.ours(rng, tensors)
            for _ in range(5):
                check.damaged(rng, tensors)
    print(f"safetensors {safetensors.__version__}: {len(files)} files, {count} random ones both ways, {5 * count} damaged (seed {seed}), "
          f"{check.failed} disagreements")
    sys.exit(1 if check.failed else 0)


if __name__ == "__main__":
    main()
