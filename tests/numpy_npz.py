"""Archives between NumPy and btftool, both ways: what numpy.savez and savez_compressed write, to files and to pipes, is
what btftool makes of it; what btftool writes is to the byte what numpy.savez writes. Exit code 0: all agree."""

import io
import json
import os
import struct
import subprocess
import sys
import tempfile
import zipfile

import numpy as np

tool = sys.argv[1]
KINDS = "i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 b1".split()
BTF_CODES = {"i1": 0, "i2": 1, "i4": 2, "i8": 3, "f4": 4, "f8": 5, "u1": 6, "u2": 7, "u4": 8, "u8": 9, "f2": 128, "b1": 136}
random = np.random.default_rng(1)
compared = 0


def run(*arguments, **how):
    return subprocess.run([tool, "-q", *arguments], check=True, stdout=subprocess.PIPE, **how).stdout


def agree(what, ours, theirs):
    global compared
    compared += 1
    if ours != theirs:
        sys.exit(f"{what}: {ours[:80]!r} instead of {theirs[:80]!r}" if isinstance(ours, bytes) else f"{what}: {ours} instead of {theirs}")


def arrays():
    made = {}
    for kind in KINDS:
        for shape in ((), (1,), (0, 3), (7,), (3, 4, 5)):
            count = int(np.prod(shape))
            data = random.bytes(count * int(kind[1]))
            if kind == "b1":
                data = bytes(byte & 1 for byte in data)
            made[f"{kind}/{'x'.join(map(str, shape))}"] = np.frombuffer(data, kind).reshape(shape)
    made["\u00fc \u4e16"] = np.arange(5)
    made["zeros"] = np.zeros((300, 1000), "f4")
    return made


def canonical(array):
    """As BTF has it."""
    return array.astype(array.dtype.newbyteorder("<")).tobytes()


def btf_records(image):
    (count,) = struct.unpack_from("<Q", image)
    for offset in struct.unpack_from(f"<{count}Q", image, 8):
        rank, code, layout = struct.unpack_from("<QBB", image, offset)
        dims = struct.unpack_from(f"<{rank}Q", image, offset + 16)
        yield code, layout, dims, image[offset + 16 + 8 * rank :]


def check_read(what, path, wanted, *options, **how):
    """Every array as a record, with its name."""
    listed = json.loads(run("inspect", "--json", *options, path, **how))["files"][0]
    agree(f"{what}: format", listed["format"], "npz")
    agree(f"{what}: names", [t["name"] for t in listed["tensors"]], list(wanted))
    run("convert", path, "out.btf", **how)
    with open("out.btf", "rb") as file:
        records = list(btf_records(file.read()))
    for (name, array), (code, layout, dims, data) in zip(wanted.items(), records, strict=True):
        agree(f"{what}: {name}", (code, layout, dims), (BTF_CODES[array.dtype.str[1:]], 0, array.shape))
        agree(f"{what}: {name}", data[: array.nbytes], canonical(array))


def saved(save, wanted):
    out = io.BytesIO()
    save(out, **wanted)
    return newer(out.getvalue())


def newer(image):
    """As CPython 3.11.4 and later write it: zip64 is what a reader needs, and sizes stand in the zip64 field only."""
    image = bytearray(image)
    with zipfile.ZipFile(io.BytesIO(bytes(image))) as archive:
        entry = archive.start_dir
        for info in archive.infolist():
            struct.pack_into("<H", image, info.header_offset + 4, 45)
            struct.pack_into("<II", image, info.header_offset + 18, 2**32 - 1, 2**32 - 1)
            struct.pack_into("<BBH", image, entry + 4, 45, image[entry + 5], 45)
            entry += 46 + sum(struct.unpack_from("<HHH", image, entry + 28))
    return bytes(image)


class Pipe(io.RawIOBase):
    """NumPy writes to it as to a pipe."""

    def __init__(self):
        self.content = b""

    def writable(self):
        return True

    def write(self, some):
        self.content += bytes(some)
        return len(some)


def through_pipe(save, wanted):
    out = Pipe()
    save(out, **wanted)
    return newer(out.content)


def zip64_everywhere(wanted):
    """With every number of the directory in its zip64 form, as CPython writes it where files are large."""
    limits = zipfile.ZIP64_LIMIT, zipfile.ZIP_FILECOUNT_LIMIT
    zipfile.ZIP64_LIMIT = zipfile.ZIP_FILECOUNT_LIMIT = -1
    try:
        return saved(np.savez, wanted)
    finally:
        zipfile.ZIP64_LIMIT, zipfile.ZIP_FILECOUNT_LIMIT = limits


def older(image):
    """As CPython before 3.11.4 wrote local headers: sizes in their own place too, a lower version."""
    image = bytearray(image)
    with zipfile.ZipFile(io.BytesIO(bytes(image))) as archive:
        for info in archive.infolist():
            at = info.header_offset
            struct.pack_into("<H", image, at + 4, 20)
            struct.pack_into("<II", image, at + 18, info.compress_size, info.file_size)
    return bytes(image)


def main():
    wanted = arrays()
    swapped = {name: array.astype(array.dtype.newbyteorder(">")) for name, array in wanted.items()}
    fortran = {name: array.copy("F") for name, array in wanted.items()}
    forms = {
        "savez": saved(np.savez, wanted),
        "savez_compressed": saved(np.savez_compressed, wanted),
        "savez, big-endian": saved(np.savez, swapped),
        "savez_compressed, big-endian": saved(np.savez_compressed, swapped),
        "savez, fortran": saved(np.savez, fortran),
        "savez, older": older(saved(np.savez, wanted)),
        "savez, zip64": zip64_everywhere(wanted),
        "savez to a pipe": through_pipe(np.savez, wanted),
        "savez_compressed to a pipe": through_pipe(np.savez_compressed, wanted),
        "nothing": saved(np.savez, {}),
    }
    for what, image in forms.items():
        with open("in.npz", "wb") as file:
            file.write(image)
        check_read(what, "in.npz", {} if what == "nothing" else wanted)
        check_read(what + ", from stdin", "-", {} if what == "nothing" else wanted, input=image)
        run("validate", "--strict", "in.npz")
        # Whatever it was, it becomes what NumPy writes of it.
        run("convert", "in.npz", "out.npz")
        with open("out.npz", "rb") as file:
            agree(f"{what}, written", file.read(), forms["nothing" if what == "nothing" else "savez"])
        piped = run("convert", "--format", "npz", "in.npz", "-")
        agree(f"{what}, piped", piped, forms["nothing" if what == "nothing" else "savez to a pipe"])
    with np.load(io.BytesIO(piped)) as loaded:
        agree("nothing loaded", loaded.files, [])
    run("convert", "--compress", "in.npz", "out.npz.zst")

    # Many, and what is computed on the way.
    many = {f"a{i}": np.full((1,), i, "u4") for i in range(66000)}
    with open("in.npz", "wb") as file:
        file.write(saved(np.savez, many))
    run("convert", "in.npz", "out.npz")
    with open("in.npz", "rb") as ours, open("out.npz", "rb") as theirs:
        agree("66000 arrays", theirs.read(), ours.read())
    large = {"x": random.standard_normal((3, 700, 900)).astype("f4"), "y": random.standard_normal((50, 60, 70))}
    with open("in.npz", "wb") as file:
        np.savez_compressed(file, **large)
    for options, change in ((("--dtype", "fp16"), lambda a: a.astype("f2")), (("--permute", "2,0,1"), lambda a: np.ascontiguousarray(a.transpose(2, 0, 1))),
                            (("-j", "3", "--slice", ":,::2"), lambda a: np.ascontiguousarray(a[:, ::2]))):
        run("convert", *options, "in.npz", "out.npz")
        with open("out.npz", "rb") as file:
            agree(f"{options}", file.read(), saved(np.savez, {name: change(array) for name, array in large.items()}))
    print(f"{compared} answers agree")


if __name__ == "__main__":
    tool = os.path.abspath(tool)
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        main()
