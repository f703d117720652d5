"""NumPy's .npz: zip files of .npy put together by hand, in every form that its writers have had, with the same tensors
as BTF beside them; and broken ones. Neither zipfile nor zlib's deflate is used: what they write may change."""

import struct
import zlib

import numpy as np

from . import npy, wire
from .good import dtype_codes

DATE = 1 << 5 | 1  # 1980-01-01
NARROW, WIDE = 0xFFFF, 0xFFFFFFFF


# deflate


class Bits:
    """Least significant first, but for the codes of Huffman, which go the other way round."""

    def __init__(self):
        self.value = self.count = 0

    def number(self, value, bits):
        self.value |= value << self.count
        self.count += bits
        return self

    def code(self, value, bits):
        return self.number(int(f"{value:0{bits}b}"[::-1], 2), bits)

    def bytes(self):
        return self.value.to_bytes((self.count + 7) // 8, "little")


def symbol(bits, value):
    """Of the fixed code."""
    if value < 144:
        bits.code(0x30 + value, 8)
    elif value < 256:
        bits.code(0x190 + value - 144, 9)
    elif value < 280:
        bits.code(value - 256, 7)
    else:
        bits.code(0xC0 + value - 280, 8)


def deflated(data, end=256):
    """Runs of 258 bytes as matches with the byte before, all else as literals of the fixed code. 286 is no symbol."""
    bits = Bits().number(1, 1).number(1, 2)
    at = 0
    while at < len(data):
        if at and data[at : at + 258] == data[at - 1 : at] * 258:
            symbol(bits, 285)
            bits.code(0, 5)
            at += 258
        else:
            symbol(bits, data[at])
            at += 1
    symbol(bits, end)
    return bits.bytes()


def in_blocks(data):
    """Stored blocks, of 1000 bytes each."""
    out = b""
    for at in range(0, max(len(data), 1), 1000):
        some = data[at : at + 1000]
        out += struct.pack("<BHH", at + 1000 >= len(data), len(some), len(some) ^ NARROW) + some
    return out


# zip


class Member:
    """A member as it should be; keywords make it another."""

    def __init__(self, name, content, method=0, packed=None, **other):
        self.name = name if isinstance(name, bytes) else name.encode()
        self.content = content
        self.method = method
        self.packed = packed if packed is not None else deflated(content) if method == 8 else content
        self.crc = zlib.crc32(content)
        self.size = len(content)
        self.stored = len(self.packed)
        self.flags = 0 if self.name.isascii() else 0x800
        self.need = 45
        self.local_name = None
        self.local_extra = "zip64"  # or bytes
        self.sizes_in_both = False  # also in the header itself, as CPython 3.11.2 has them
        self.behind = False  # crc and sizes stand behind the data
        self.extra = b""  # of the directory
        self.wide = False  # numbers of the directory in its zip64 field, whatever they are
        self.comment = b""
        self.disk = 0
        self.offset = None  # what the directory says
        self.magic = b"PK\3\4"
        self.__dict__.update(other)

    def local(self):
        flags = self.flags | (8 if self.behind else 0)
        size, stored, crc = (0, 0, 0) if self.behind else (self.size, self.stored, self.crc)
        if self.local_extra == "zip64":
            extra = struct.pack("<HHQQ", 1, 16, size, stored)
            both = self.sizes_in_both
            size, stored = (size, stored) if both else (WIDE, WIDE)
        else:
            extra = self.local_extra
        name = self.name if self.local_name is None else self.local_name
        header = self.magic + struct.pack("<HHHHHIIIHH", self.need, flags, self.method, 0, DATE, crc,
                                          stored & WIDE, size & WIDE, len(name), len(extra))
        behind = b"PK\7\10" + struct.pack("<IQQ", self.crc, self.stored, self.size) if self.behind else b""
        return header + name + extra + self.packed + behind

    def entry(self, offset):
        offset = offset if self.offset is None else self.offset
        size, stored, extra = self.size, self.stored, self.extra
        if self.wide:
            extra = struct.pack("<HHQQQ", 1, 24, size, stored, offset) + extra
            size = stored = offset = WIDE
        flags = self.flags | (8 if self.behind else 0)
        return (b"PK\1\2" + struct.pack("<HHHHHHIIIHHHHHII", 3 << 8 | self.need, self.need, flags, self.method, 0, DATE,
                                        self.crc, stored, size, len(self.name), len(extra), len(self.comment),
                                        self.disk, 0, 0o600 << 16, offset)
                + self.name + extra + self.comment)


def end_of(count, size, offset, comment=b"", zip64=None, disks=(0, 0), entries=None):
    """`zip64`: what of it is wrong, or an empty dict."""
    out = b""
    said = (count, count, size, offset)
    if zip64 is not None:
        numbers = {"magic": b"PK\6\6", "length": 44, "disk": 0, "count": count, "size": size, "offset": offset,
                   "at": offset + size, "locator": True, **zip64}
        out += numbers["magic"] + struct.pack("<QHHIIQQQQ", numbers["length"], 45, 45, numbers["disk"], 0, numbers["count"],
                                              numbers["count"], numbers["size"], numbers["offset"])
        if numbers["locator"]:
            out += b"PK\6\7" + struct.pack("<IQI", 0, numbers["at"], 1)
        said = zip64.get("said", (NARROW, NARROW, WIDE, WIDE))
    if entries is not None:
        said = (entries, entries) + said[2:]
    return out + b"PK\5\6" + struct.pack("<HHHHIIH", *disks, *said, len(comment)) + comment


def archive(members, before=b"", between=b"", **end):
    image, places = before, []
    for member in members:
        places.append(len(image))
        image += member.local()
    image += between
    directory = b"".join(member.entry(place) for member, place in zip(members, places))
    shift = end.pop("shift", 0)
    return image + directory + end_of(len(members), len(directory), len(image) + shift, **end)


# Good files


def arrays():
    """name -> (bytes of the .npy, dtype, codes)"""
    made = {}
    for dtype, order, fortran in (("float32", "<", False), ("float64", ">", False), ("int16", ">", True), ("uint8", "<", False),
                                  ("bool", "<", False), ("float16", "<", True), ("int64", "<", False)):
        codes = dtype_codes(dtype)
        array = npy.array_of(dtype, codes, order)
        made[f"{dtype}.{'big' if order == '>' else 'little'}"] = (
            npy.saved(np.asfortranarray(array) if fortran else array), dtype, codes)
    zeros = np.zeros((40, 50), "u4")
    made["zeros"] = (npy.saved(npy.array_of("int32", zeros)), "int32", zeros)
    scalar = np.asarray(7, "u8")
    made["scalar"] = (npy.saved(npy.array_of("float64", scalar)), "float64", scalar)
    empty = np.zeros((0, 3), "u4")
    made["empty"] = (npy.saved(npy.array_of("float32", empty)), "float32", empty)
    return made


def twin(tensors):
    return wire.canonical_file([wire.dense(dtype, codes) for _, dtype, codes in tensors])


def of_all(files, **how):
    return [Member(name + ".npy", content, **how) for name, (content, _, _) in files.items()]


def files():
    made = forms()
    made.update(names())
    made.update(foreign())
    made.update(told())
    made.update(written())
    made["spooled.npz"] = spooled()
    made["nothing.npz"] = archive([])
    made["nothing.btf"] = wire.canonical_file([])
    return made


def forms():
    """The same arrays in every form; what stands before the first dot is the twin."""
    all_arrays = arrays()
    comment = b"ends with what looks like another end: PK\5\6" + bytes(30)
    times = struct.pack("<HHBI", 0x5455, 5, 1, 315532800)
    infozip = [Member("a folder/", b"")] + of_all(all_arrays, local_extra=times, extra=times, need=20, comment=b"an array")
    infozip.insert(3, Member("read me.txt", b"not an array", method=8))
    mixed = [Member(name + ".npy", content, method=8 * (i % 2)) for i, (name, (content, _, _)) in enumerate(all_arrays.items())]
    return {
        "arrays.btf": twin(all_arrays.values()),
        "arrays.numpy.npz": archive(of_all(all_arrays)),
        "arrays.python3.11.2.npz": archive(of_all(all_arrays, need=20, sizes_in_both=True)),
        "arrays.pipe.npz": archive(of_all(all_arrays, behind=True)),
        "arrays.deflated.npz": archive(of_all(all_arrays, method=8)),
        "arrays.deflated-pipe.npz": archive(of_all(all_arrays, method=8, behind=True)),
        "arrays.mixed.npz": archive(mixed),
        "arrays.zip64.npz": archive(of_all(all_arrays, wide=True), zip64={}),
        "arrays.zip64-twice.npz": archive(of_all(all_arrays), zip64={"said": (NARROW, NARROW, WIDE, WIDE)}, entries=len(all_arrays)),
        "arrays.infozip.npz": archive(infozip, comment=comment),
        "arrays.blocks.npz": archive([Member(name + ".npy", content, 8, in_blocks(content))
                                      for name, (content, _, _) in all_arrays.items()]),
    }


def names():
    """Keys that NumPy takes."""
    keys = ["", "x", "x.npy", "/abs", "../up", "a/b", "dir/", "\u00fc", "1017", "a\nb", "\U0001f40d"]
    tensors = []
    for i, key in enumerate(keys):
        codes = np.asarray([i], "u4")
        tensors.append((npy.saved(npy.array_of("int32", codes)), "int32", codes))
    return {
        "names.npz": archive([Member(key + ".npy", content) for key, (content, _, _) in zip(keys, tensors)]),
        "names.btf": twin(tensors),
    }


def foreign():
    """As scipy.sparse saves a matrix, and other types that no dtype stands for."""
    descrs = {"format": ("|S3", "()", b"csr"), "text": ("<U2", "(2,)", bytes(16)), "complex": ("<c8", "(1,)", bytes(8)),
              "objects": ("|O", "(1,)", b"\x80\x04N."), "dates": ("<M8[ns]", "(1,)", bytes(8)), "raw": ("|V3", "(2,)", bytes(6))}
    members = [Member(name + ".npy", npy.by_hand(descr, shape, data), method=8 * (i % 2))
               for i, (name, (descr, shape, data)) in enumerate(descrs.items())]
    structured = "{'descr': [('x', '<f4'), (\"y]\", '<f4', (2,))], 'fortran_order': False, 'shape': (1,), }"
    members.append(Member("pairs.npy", npy.with_header(structured, bytes(12))))
    data = np.asarray([1, 2, 3], "u4")
    members.append(Member("data.npy", npy.saved(npy.array_of("int32", data))))
    made = {"foreign.npz": archive(members)}
    # Of two such arrays, which differ in their last byte only; in front of them what hides that from who reads the file's bytes.
    noise = npy.saved(npy.array_of("uint8", np.frombuffer(bytes((i * i * 7 + i) % 251 for i in range(600)), "u1")))
    for name, last in (("complex", 0), ("complex.other", 1)):
        data = bytes(range(1, 80)) + bytes([last])
        array = npy.by_hand("<c8", "(10,)", data)
        made[name + ".npz"] = archive([Member("a.npy", noise, method=8), Member("x.npy", array, method=8)])
        made[name + ".stored.npz"] = archive([Member("a.npy", noise), Member("x.npy", array)])
    return made


def written():
    """What is written of the twin when its tensors have the names in written.txt: as NumPy does, to a file and a pipe."""
    tensors = {dtype: (dtype, dtype_codes(dtype)) for dtype in npy.NUMPY_TYPES}
    tensors["\u00fc/\u4e16"] = ("float64", np.asarray(7, "u8"))
    tensors["empty"] = ("int32", np.zeros((0, 3), "u4"))
    members = {name: (npy.saved(npy.array_of(dtype, codes)), dtype, codes) for name, (dtype, codes) in tensors.items()}
    return {
        "written.btf": twin(members.values()),
        "written.txt": "".join(name + "\n" for name in members).encode(),
        "written.npz": archive(of_all(members)),
        "written.pipe.npz": archive(of_all(members, behind=True)),
    }


def spooled():
    """Zeros and a last 1, inflated more than is kept in memory."""
    ones = np.zeros((300, 500), "u4")
    ones[-1, -1] = 1
    return archive([Member("ones.npy", npy.saved(npy.array_of("int32", ones)), method=8)])


def told():
    """Types that need to be told: the same as in npy/, as they are and deflated."""
    made = {}
    voids = npy.void_files()
    for dtype in ("bfloat16", "int4"):
        content = voids[f"void_{dtype}.npy"]
        made[f"void_{dtype}.npz"] = archive([Member("a.npy", content), Member("b.npy", content, method=8)])
        codes = dtype_codes(dtype)
        made[f"void_{dtype}.btf"] = wire.canonical_file([wire.dense(dtype, codes)] * 2)
    return made


# Bad files


def bad_files():
    """The files and expected.tsv: file, finding code of validate, or '-' for what is sound but not supported."""
    made = {}
    for group in (bad_ends(), bad_directories(), bad_members(), bad_arrays(), other_zips()):
        made.update(group)
    expected = "".join(f"{name}.npz\t{finding}\n" for name, (_, finding) in sorted(made.items()))
    return {**{f"{name}.npz": content for name, (content, _) in made.items()}, "expected.tsv": expected.encode()}


def counting(count=6):
    return npy.saved(np.arange(count, dtype="<i4"))


def two(**of_second):
    """A sound member and another."""
    return [Member("a.npy", counting()), Member("b.npy", counting(), **of_second)]


def bad_ends():
    sound = archive(two())
    end = len(sound) - 22
    hidden = end_of(2, 0, 0)
    return {
        "cut": (sound[:-1], "zip-directory"),
        "cut-directory": (sound[: end - 10], "zip-directory"),
        "bytes-behind": (sound + b"\n", "zip-directory"),
        "many-bytes-behind": (sound + bytes(70000), "zip-directory"),
        "prefix": (archive(two(), before=b"PK\3\4\x2d\0 a program", shift=-5), "zip-directory"),
        "end-twice": (archive(two(), comment=hidden), "zip-directory"),
        "disks": (archive(two(), disks=(1, 1)), "zip-directory"),
        "entries-missing": (archive(two(), entries=3), "zip-directory"),
        "entries-more": (archive(two(), entries=1), "zip-directory"),
        "entries-65535": (archive(two(), entries=NARROW), "zip-directory"),
        "zip64-missing": (sound[:end] + end_of(NARROW, WIDE, WIDE), "zip-directory"),
        "zip64-no-magic": (archive(two(), zip64={"magic": b"PK\6\5"}), "zip-directory"),
        "zip64-nowhere": (archive(two(), zip64={"at": 2**64 - 20}), "zip-directory"),
        "zip64-length": (archive(two(), zip64={"length": 2**64 - 12}), "zip-directory"),
        "zip64-count": (archive(two(), zip64={"count": 2**63}), "zip-directory"),
        "zip64-offset-wraps": (archive(two(), zip64={"offset": 2**64 - 8}), "zip-directory"),
        "zip64-says-other": (archive(two(), zip64={"said": (2, 2, 103, WIDE)}), "zip-directory"),
        "zip64-disk": (archive(two(), zip64={"disk": 1}), "zip-directory"),
    }


def bad_directories():
    sound = archive(two())
    place = sound.rindex(b"PK\1\2")
    extra = struct.pack("<HHQ", 1, 8, 2**40)
    same_bytes = [Member("a.npy", counting())] + [Member(f"{i}.npy", counting(), offset=0) for i in range(3)]
    inside = Member("b.npy", counting(), offset=40)
    return {
        "entry-magic": (sound[:place] + b"PK\1\3" + sound[place + 4 :], "zip-directory"),
        "entry-name-past-end": (sound[: place + 28] + b"\xff\xff" + sound[place + 30 :], "zip-directory"),
        "extra-cut": (archive(two(extra=b"\1\0\x20\0abc")), "zip-directory"),
        "extra-missing": (archive(two(size=WIDE)), "zip-directory"),
        "extra-too-short": (archive(two(size=WIDE, stored=WIDE, extra=extra)), "zip-directory"),
        "extra-twice": (archive(two(wide=True, extra=extra)), "zip-directory"),
        "member-on-disk": (archive(two(disk=3)), "zip-directory"),
        "name-twice": (archive([Member("x.npy", counting()), Member("y.npy", counting()), Member("x.npy", counting(7))]), "zip-name"),
        "name-nul": (archive([Member("a.npy\0.txt.npy", counting())]), "zip-name"),
        "overlap-same": (archive(same_bytes), "zip-overlap"),
        "overlap-inside": (archive([Member("a.npy", counting()), inside]), "zip-overlap"),
        "overlap-directory": (archive(two(stored=2**31, size=2**31)), "zip-overlap"),
        "offset-past-end": (archive(two(offset=2**31)), "zip-overlap"),
        "offset-wraps": (archive(two(wide=True, offset=2**64 - 8)), "zip-overlap"),
        "packed-wraps": (archive([Member("a.npy", counting()), Member("c.npy", counting(), wide=True, stored=2**64 - 100)]), "zip-overlap"),
    }


def bad_members():
    content = counting()
    stream = deflated(content)
    zeros = deflated(bytes(300))
    wrong_crc = zlib.crc32(content[:-1] + bytes([content[-1] ^ 1]))
    huge = npy.by_hand("<f4", (2**28,), b"")
    return {
        "encrypted": (archive(two(flags=1)), "-"),
        "method-bzip2": (archive(two(method=12, packed=content)), "-"),
        "method-lzma": (archive(two(method=14, packed=content)), "-"),
        "method-unknown": (archive(two(method=77, packed=content)), "-"),
        "stored-sizes-differ": (archive(two(size=len(content) + 4)), "zip-member"),
        "bomb-declared": (archive([Member("a.npy", content), Member("b.npy", huge, 8, size=2**32 - 2)]), "zip-member"),
        "local-magic": (archive(two(magic=b"PK\3\5")), "zip-member"),
        "local-name": (archive(two(local_name=b"c.npy")), "zip-name"),
        "local-name-long": (archive(two(local_name=b"b.npy" + b" " * 65000)), "zip-name"),
        "local-extra-long": (archive([Member("a.npy", content, local_extra=b"\x99\x99\x10\0" + bytes(16), offset=0),
                                      Member("b.npy", content, offset=166)]), "zip-overlap"),
        "crc-stored": (archive(two(crc=wrong_crc)), "zip-crc"),
        "crc-deflated": (archive(two(method=8, crc=wrong_crc)), "zip-crc"),
        "deflate-wrong": (archive(two(method=8, packed=deflated(content[:140], 286))), "zip-member"),
        "deflate-block-type": (archive(two(method=8, packed=b"\x07" + stream[1:])), "zip-member"),
        "deflate-cut": (archive(two(method=8, packed=stream[:-20])), "zip-member"),
        "deflate-cut-header": (archive(two(method=8, packed=stream[:10])), "zip-member"),
        "deflate-nothing": (archive(two(method=8, packed=b"")), "zip-member"),
        "deflate-more": (archive(two(method=8, packed=deflated(content + zeros))), "zip-member"),
        "deflate-less": (archive(two(method=8, packed=deflated(content[:-1]))), "zip-member"),
        "deflate-tail": (archive(two(method=8, packed=stream + b"behind")), "zip-member"),
    }


def bad_arrays():
    data = bytes(24)
    arrays = {
        "no-npy": (b"no array, whatever its name says", "npy-header"),
        "npy-cut": (counting()[:9], "npy-header"),
        "npy-empty": (b"", "npy-header"),
        "version": (npy.with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", data, (4, 0)), "npy-version"),
        "header": (npy.with_header("('<f4', False, (2, 3))", data), "npy-header"),
        "header-past-end": (npy.with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", b"", length=60000), "npy-header"),
        "list-no-end": (npy.with_header("{'descr': [('x', '<f4', 'shape': (2, 3), }", data), "npy-header"),
        "shape-petabytes": (npy.by_hand("<f4", (2**40, 2**20), data), "data-past-end"),
        "shape-overflow": (npy.by_hand("<f8", (2**33, 2**33), data), "npy-shape"),
        "data-cut": (npy.by_hand("<f4", (2, 3), data[:-1]), "data-past-end"),
        "data-one-more": (npy.by_hand("<f4", (2, 3), data + b"\0"), "bytes-after-data"),
    }
    made = {}
    for name, (content, finding) in arrays.items():
        made[f"array-{name}"] = (archive([Member("a.npy", counting()), Member("b.npy", content)]), finding)
        made[f"array-{name}-deflated"] = (archive([Member("a.npy", counting()), Member("b.npy", content, method=8)]), finding)
    return made


def other_zips():
    return {
        "no-arrays": (archive([Member("readme.txt", b"nothing to see"), Member("folder/", b"")]), "-"),
    }
