"""BTF files with a table of names behind the last record, sound ones and broken ones.

The table is put together here from docs/format.md alone, its XXH64 included."""

import json
import struct

from . import wire
from .elements import codes_of
from .wire import u64

BEGIN = b"\x89BTFN\r\n\x1a"
END = b"\x89BTFE\r\n\x1a"
MASK = 2**64 - 1
P1, P2, P3, P4, P5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)

NAMES = [b"conv1.weight", b"", b"/layer1/conv/Conv_output_0", "größe µ".encode(), b"1017"]


def xxh64(data):
    """XXH64 with seed 0, as its specification says."""

    def rotate(value, bits):
        return (value << bits | value >> (64 - bits)) & MASK

    def round_of(lane, word):
        return rotate((lane + word * P2) & MASK, 31) * P1 & MASK

    at, size = 0, len(data)
    if size >= 32:
        lanes = [(P1 + P2) & MASK, P2, 0, -P1 & MASK]
        while size - at >= 32:
            words = struct.unpack_from("<4Q", data, at)
            lanes = [round_of(lane, word) for lane, word in zip(lanes, words)]
            at += 32
        total = sum(rotate(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            total = ((total ^ round_of(0, lane)) * P1 + P4) & MASK
    else:
        total = P5
    total = (total + size) & MASK
    while size - at >= 8:
        total ^= round_of(0, struct.unpack_from("<Q", data, at)[0])
        total = (rotate(total, 27) * P1 + P4) & MASK
        at += 8
    if size - at >= 4:
        total ^= struct.unpack_from("<I", data, at)[0] * P1 & MASK
        total = (rotate(total, 23) * P2 + P3) & MASK
        at += 4
    for byte in data[at:]:
        total ^= byte * P5 & MASK
        total = rotate(total, 11) * P1 & MASK
    for shift, prime in ((33, P2), (29, P3), (32, 1)):
        total = (total ^ total >> shift) * prime & MASK
    return total


def table(names, attributes=b"", version=1, flags=0, count=None, ends=None, name_bytes=None, attribute_bytes=None,
          reserved=0, padding=b"\0", length=None, checksum=None, end=END):
    """The table; what is given otherwise than it should be is a lie, and all else fits it."""
    text = b"".join(names)
    if ends is None:
        ends = [sum(map(len, names[: i + 1])) for i in range(len(names))]
    body = BEGIN + struct.pack("<II", version, flags)
    body += u64(len(names) if count is None else count, len(text) if name_bytes is None else name_bytes,
                len(attributes) if attribute_bytes is None else attribute_bytes, reserved)
    body += struct.pack(f"<{len(ends)}I", *ends) + text + attributes
    body += padding * wire.padding(len(body))
    body += u64(len(body) + 24 if length is None else length)
    return body + u64(xxh64(body) if checksum is None else checksum) + end


def records(count=5):
    return [wire.padded(wire.dense("float32", codes_of("float32", [float(i), 2.0, 3.0]))) for i in range(count)]


PLAIN = wire.canonical_file(records())


def sound():
    """stem -> (content, names)"""
    attributes = json.dumps({"schema": "btf/attributes/1", "tensors": {"0": {"order": 7}}}, separators=(",", ":"))
    long = [b"n" * 65535, b"", b"", b"", b""]
    return {
        "names": (PLAIN + table(NAMES), NAMES),
        "attributes": (PLAIN + table(NAMES, attributes.encode()), NAMES),
        "only-attributes": (PLAIN + table([b""] * 5, attributes.encode()), [b""] * 5),
        "no-tensors": (wire.canonical_file([]) + table([]), []),
        "long": (PLAIN + table(long), long),
        "marks": (PLAIN + table(["\u202e".encode(), b"\x1b[31mred", b"a\nb", b"../../etc/x", b","]),
                  ["\u202e".encode(), b"\x1b[31mred", b"a\nb", b"../../etc/x", b","]),
    }


def changed_dim(dim):
    """The dim of the last record, in front of a sound table, is another."""
    image = bytearray(PLAIN + table(NAMES))
    at = struct.unpack_from("<Q", image, 5 * 8)[0] + 16
    struct.pack_into("<Q", image, at, dim)
    return bytes(image)


def holds_a_file():
    """The last record's elements are a BTF file with names: they are its own."""
    inner = PLAIN + table(NAMES)
    return wire.canonical_file([records(1)[0], wire.raw_dense(6, wire.LINEAR, (len(inner),), inner)])


def broken():
    """stem -> (content, finding or '-', tensor or '-')"""
    two = [b"same", b"other", b"", b"same", b"third"]
    made = {
        "version": (table(NAMES, version=2), "names-version"),
        "flags": (table(NAMES, flags=1), "names-version"),
        "count-less": (table(NAMES, count=4), "names-count"),
        "count-more": (table(NAMES, count=6), "names-count"),
        "name-bytes": (table(NAMES, name_bytes=1), "names-size"),
        "name-bytes-wrap": (table(NAMES, name_bytes=2**64 - 1), "names-size"),
        "attribute-bytes": (table(NAMES, attribute_bytes=8), "names-size"),
        "attribute-bytes-wrap": (table(NAMES, attribute_bytes=2**64 - 1), "names-size"),
        "sizes-wrap": (table(NAMES, name_bytes=2**63, attribute_bytes=2**63 + len(b"".join(NAMES))), "names-size"),
        "length-0": (table(NAMES, length=0), "names-size"),
        "length-71": (table(NAMES, length=71), "names-size"),
        "length-least": (table(NAMES, length=72), "names-size"),
        "length-wrap": (table(NAMES, length=2**64 - 8), "names-size"),
        "length-size": (table(NAMES, length=len(PLAIN) + len(table(NAMES))), "names-size"),
        "too-long": (table([b"n" * 65536, b"", b"", b"", b""]), "names-size"),
        "checksum": (table(NAMES, checksum=0), "names-checksum"),
        "ends-fall": (table(NAMES, ends=[12, 5, 38, 47, 51]), "names-order"),
        "ends-beyond": (table(NAMES, ends=[12, 12, 2**32 - 1, 47, 51]), "names-order"),
        "ends-short": (table(NAMES, ends=[12, 12, 38, 40, 40]), "names-order"),
        "utf8": (table([b"\xff", b"", b"", b"", b""]), "names-utf8"),
        "utf8-overlong": (table([b"\xc0\xaf", b"", b"", b"", b""]), "names-utf8"),
        "utf8-surrogate": (table([b"\xed\xa0\x80", b"", b"", b"", b""]), "names-utf8"),
        "utf8-split": (table([b"\xc3", b"\xa4", b"", b"", b""]), "names-utf8"),
        "zero-byte": (table([b"a\0b", b"", b"", b"", b""]), "names-utf8"),
        "duplicate": (table(two), "names-duplicate", 3),
        "padding": (table([b"a", b"", b"", b"", b""], padding=b"x"), "names-padding"),
        "reserved": (table(NAMES, reserved=1), "names-padding"),
        "cut-off": (table(NAMES)[:-8], "names-cut-off"),
        "cut-to-magic": (table(NAMES)[:8], "names-cut-off"),
        "end-only": (END * 10, "trailing-bytes"),
        "twice": (table(NAMES) * 2, "trailing-bytes"),
        "behind-junk": (bytes(8) + table(NAMES), "trailing-bytes"),
        "attributes-no-json": (table(NAMES, b"{"), "names-attributes"),
        "attributes-no-object": (table(NAMES, b"[]"), "names-attributes"),
        "attributes-twice": (table(NAMES, b'{"a":1,"a":2}'), "names-attributes"),
        "attributes-deep": (table(NAMES, b'{"a":' + b"[" * 10000 + b"]" * 10000 + b"}"), "names-attributes"),
        "attributes-index": (table(NAMES, b'{"tensors":{"5":{"order":1}}}'), "names-attributes"),
        "attributes-self": (table(NAMES, b'{"tensors":{"0":{"quantized":{"scale":0,"kind":"tensor"}}}}'),
                            "names-attributes"),
        "attributes-cycle": (table(NAMES, b'{"tensors":{"0":{"quantized":{"scale":1,"kind":"tensor"}},'
                                          b'"1":{"quantized":{"scale":0,"kind":"tensor"}}}}'), "names-attributes"),
    }
    made = {stem: (PLAIN + row[0], *row[1:]) for stem, row in made.items()}
    made["dim-larger"] = (changed_dim(5), "names-overlap", 4)
    made["dim-smaller"] = (changed_dim(1), "padding-not-zero,trailing-bytes", "4,-")
    made["dim-far-larger"] = (changed_dim(2**40), "data-past-end", 4)
    made["holds-a-file"] = (holds_a_file(), "-")
    return made


def files():
    """The files; names.tsv: file, the names in hexadecimal; expected.tsv: file, finding, tensor or '-'."""
    made, names, expected = {}, [], []
    for stem, (content, texts) in sound().items():
        made[f"{stem}.btf"] = content
        names.append("\t".join([f"{stem}.btf", *(text.hex() or "-" for text in texts)]) + "\n")
    for stem, (content, finding, *tensor) in broken().items():
        made[f"bad-{stem}.btf"] = content
        expected.append(f"bad-{stem}.btf\t{finding}\t{(tensor or ['-'])[0]}\n")
    made["plain.btf"] = PLAIN
    made["names.tsv"] = "".join(names).encode()
    made["expected.tsv"] = "".join(sorted(expected)).encode()
    return made
