"""check_gguf.py BTFTOOL TESTDATA [COUNT [SEED]]: btftool reads what the gguf package writes, and decodes blocks to the bits that it decodes them to.

Needs the gguf package (0.19.0 was current when this was written) and NumPy; says "skipped" where they are not there.
"""

import random
import sys
import tempfile

import btf_writer
from harness import Exchange
from tool import Tool

try:
    import gguf
    import numpy as np
except ImportError:
    print("skipped: no gguf (pip install gguf==0.19.0)")
    sys.exit(0)

PLAIN = {"F32": ("<f4", 4), "F16": ("<f2", 128), "I8": ("i1", 0), "I16": ("<i2", 1), "I32": ("<i4", 2), "I64": ("<i8", 3), "F64": ("<f8", 5)}
# All that the package decodes; what it only lists, btftool lists too.
DECODED = [kind.name for kind in gguf.GGML_QUANT_SIZES if kind in gguf.quants._type_traits and kind.name != "BF16"]


def any_bits(rng, count, form):
    return np.frombuffer(rng.randbytes(count * np.dtype(form).itemsize), form)


def numbers_of(data, kind):
    with np.errstate(all="ignore"):
        return gguf.quants.dequantize(data, kind).astype("<f4")


class Check(Exchange):
    kind = "gguf"

    @staticmethod
    def plain_tensor(rng, writer, name, kind):
        form, code = PLAIN[kind.name]
        dims = [rng.randrange(1, 4) for _ in range(rng.randrange(0, 3))] + [rng.randrange(1, 9)]
        held = any_bits(rng, int(np.prod(dims)), form).reshape(dims)
        writer.add_tensor(name, held, raw_dtype=kind)
        return btf_writer.header(dims, code, 0) + held.tobytes()

    def random_tensor(self, rng, writer, name):
        """A record of the same tensor, NaN with one code only: which one a product has is the processor's."""
        kind = gguf.GGMLQuantizationType[rng.choice(list(PLAIN) + DECODED * 2)]
        if kind.name in PLAIN:
            return self.plain_tensor(rng, writer, name, kind)
        outer = [rng.randrange(1, 4) for _ in range(rng.randrange(0, 3))]
        elements, size = gguf.GGML_QUANT_SIZES[kind]
        blocks = rng.randrange(1, 4)
        dims = outer + [blocks * elements]
        data = any_bits(rng, int(np.prod(outer + [blocks])) * size, "u1").reshape(outer + [blocks * size])
        writer.add_tensor(name, data, raw_dtype=kind)
        return btf_writer.header(dims, 4, 0) + numbers_of(data, kind).tobytes()

    def big_endian(self, rng):
        """Numbers of a file that the package writes for the other kind of machine."""
        source, target = self.path("x.gguf"), self.path("x.btf")
        writer = gguf.GGUFWriter(source, "llama", endianess=gguf.GGUFEndian.BIG)
        writer.add_uint32("a.number", 70000)
        writer.add_array("words", ["w" * rng.randrange(9) for _ in range(1 + rng.randrange(30))])
        names = [f"blk.{i}" for i in range(rng.randrange(1, 6))]
        records = [self.plain_tensor(rng, writer, name, gguf.GGMLQuantizationType[rng.choice(list(PLAIN))]) for name in names]
        self.finish(writer)
        done = self.tool.run("-q", "convert", "--names", "drop", source, target)
        if done.returncode != 0:
            return self.wrong("is not read: " + done.stderr.decode(), self.get("x.gguf"))
        if self.get("x.btf") != btf_writer.file(records):
            return self.wrong("is read otherwise than the package wrote it", self.get("x.gguf"))
        listed = self.tool.json_of_files("inspect", "--json", source)[source]["tensors"]
        if [entry["name"] for entry in listed] != names:
            self.wrong("has other names than the package wrote", self.get("x.gguf"))

    @staticmethod
    def finish(writer):
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()

    def theirs(self, rng):
        source, target = self.path("x.gguf"), self.path("x.btf")
        writer = gguf.GGUFWriter(source, "llama")
        writer.add_string("a.key", "v" * rng.randrange(9))
        writer.add_array("words", ["w" * rng.randrange(9) for _ in range(1 + rng.randrange(30))])
        if rng.random() < 0.3:
            writer.add_custom_alignment(2 ** rng.randrange(3, 9))
        names = [f"blk.{i}.{rng.randrange(1000)}" for i in range(rng.randrange(1, 6))]
        records = [self.random_tensor(rng, writer, name) for name in names]
        self.finish(writer)
        done = self.tool.run("-q", "convert", "--dequantize", "--names", "drop", source, target)
        if done.returncode != 0:
            return self.wrong("is not read: " + done.stderr.decode(), self.get("x.gguf"))
        if not same_but_nan(self.get("x.btf"), btf_writer.file(records)):
            return self.wrong("is read otherwise than the package reads it", self.get("x.gguf"))
        listed = self.tool.json_of_files("inspect", "--json", source)[source]["tensors"]
        if [entry["name"] for entry in listed] != names:
            self.wrong("has other names than the package wrote", self.get("x.gguf"))


def same_but_nan(ours, theirs):
    """Words of a file are compared, and any NaN of float32 is any other."""
    if ours == theirs:
        return True
    if len(ours) != len(theirs) or len(ours) % 4:
        return False
    a, b = np.frombuffer(ours, "<u4"), np.frombuffer(theirs, "<u4")
    nan = (a & 0x7FFFFFFF > 0x7F800000) & (b & 0x7FFFFFFF > 0x7F800000)
    return bool(((a == b) | nan).all())


def main():
    if len(sys.argv) not in (3, 4, 5):
        sys.exit(__doc__)
    tool = Tool(sys.argv[1])
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 80
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    with tempfile.TemporaryDirectory() as scratch:
        check = Check(tool, scratch)
        for number in range(count):
            check.theirs(random.Random(f"{seed}:{number}"))
            if number % 4 == 0:
                check.big_endian(random.Random(f"{seed}:{number}"))
    print(f"gguf: {count} random files (seed {seed}), {check.failed} disagreements")
    sys.exit(1 if check.failed else 0)


if __name__ == "__main__":
    main()
