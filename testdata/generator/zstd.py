"""mixed.btf as zstd frames, made by hand of blocks that are not compressed: sound ones, and one file for every way in
which a frame or a seek table can be wrong."""

import struct

from . import good

MASK = 2**64 - 1
PRIMES = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


def rotl(value, by):
    return (value << by | value >> 64 - by) & MASK


def xxh64(data):
    """With seed 0, as the specification words it."""
    p1, p2, p3, p4, p5 = PRIMES

    def mixed(lane, word):
        return rotl((lane + word * p2) & MASK, 31) * p1 & MASK

    at = 0
    if len(data) >= 32:
        lanes = [(p1 + p2) & MASK, p2, 0, -p1 & MASK]
        while len(data) - at >= 32:
            lanes = [mixed(lane, word) for lane, word in zip(lanes, struct.unpack_from("<4Q", data, at))]
            at += 32
        result = sum(rotl(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            result = ((result ^ mixed(0, lane)) * p1 + p4) & MASK
    else:
        result = p5
    result = (result + len(data)) & MASK
    while len(data) - at >= 8:
        result = (rotl(result ^ mixed(0, struct.unpack_from("<Q", data, at)[0]), 27) * p1 + p4) & MASK
        at += 8
    if len(data) - at >= 4:
        result = (rotl(result ^ struct.unpack_from("<I", data, at)[0] * p1 & MASK, 23) * p2 + p3) & MASK
        at += 4
    for byte in data[at:]:
        result = rotl(result ^ byte * p5 & MASK, 11) * p1 & MASK
    result = (result ^ result >> 33) * p2 & MASK
    result = (result ^ result >> 29) * p3 & MASK
    return result ^ result >> 32


def low32(data):
    return xxh64(data) & 0xFFFFFFFF


def raw_block(content, last=True):
    return struct.pack("<I", last | len(content) << 3)[:3] + content


def frame(content, checksum=True, size=True, says=None, sum_says=None, reserved=False, dictionary=None, blocks=None,
          window=4 << 3):
    """`says` and `sum_says` lie about the content; `size` False leaves the content size out."""
    descriptor = (2 << 6 | 1 << 5 if size else 0) | checksum << 2 | reserved << 3 | (3 if dictionary else 0)
    head = struct.pack("<IB", 0xFD2FB528, descriptor)
    if not size:
        head += bytes([window])
    if dictionary:
        head += struct.pack("<I", dictionary)
    if size:
        head += struct.pack("<I", len(content) if says is None else says)
    body = raw_block(content) if blocks is None else blocks
    tail = struct.pack("<I", low32(content) if sum_says is None else sum_says) if checksum else b""
    return head + body + tail


def skippable(payload, low=0):
    return struct.pack("<II", 0x184D2A50 + low, len(payload)) + payload


def table(entries, checksums=True, descriptor=None, frames=None, size=None, magic=0x184D2A5E):
    """`entries`: compressed size, content size, checksum. The rest lies where it is given."""
    body = b"".join(struct.pack("<III", *entry) if checksums else struct.pack("<II", *entry[:2]) for entry in entries)
    count = len(entries) if frames is None else frames
    flags = checksums << 7 if descriptor is None else descriptor
    body += struct.pack("<IBI", count, flags, 0x8F92EAB1)
    return struct.pack("<II", magic, len(body) if size is None else size) + body


def entry(compressed, content):
    return [len(compressed), len(content), low32(content)]


def parts():
    """mixed.btf cut where records begin, as the first files of btftool are."""
    content = good.files()["mixed.btf"]
    cuts = [0, *struct.unpack_from("<4Q", content, 8), len(content)]
    return [content[a:b] for a, b in zip(cuts, cuts[1:])]


def pieces_of_records():
    """mixed.btf as btftool cuts it: payloads, and the parts of sparse ones, from more than 256 bytes on have frames of
    their own; what stands between them shares one."""
    content = good.files()["mixed.btf"]
    dense_0, dense_1, _, coo = struct.unpack_from("<4Q", content, 8)
    # Headers of rank 4 have 48 bytes, that of the COO tensor 32; then come 16 bytes and 20 indices of rank 2.
    cuts = [0, dense_0 + 48, dense_1, dense_1 + 48, dense_1 + 48 + 1728, coo + 48, coo + 48 + 320, len(content)]
    return [content[a:b] for a, b in zip(cuts, cuts[1:])]


def good_files():
    pieces = parts()
    new_pieces = pieces_of_records()
    new_frames = [frame(piece) for piece in new_pieces]
    new_entries = [entry(f, piece) for f, piece in zip(new_frames, new_pieces)]
    frames = [frame(piece) for piece in pieces]
    bare = [frame(piece, checksum=False, size=False) for piece in pieces]
    entries = [entry(f, piece) for f, piece in zip(frames, pieces)]
    bare_entries = [entry(f, piece) for f, piece in zip(bare, pieces)]
    note = skippable(b"a note")
    empty = frame(b"")
    whole = b"".join(pieces)
    return {
        "seekable.btf.zst": b"".join(frames) + table(entries),
        "seekable_pieces.btf.zst": b"".join(new_frames) + table(new_entries),
        # Neither the frames nor the table have checksums; the descriptor's unused bits are set.
        "seekable_bare.btf.zst": b"".join(bare) + table(bare_entries, checksums=False, descriptor=3),
        # The table alone has checksums.
        "seekable_sums.btf.zst": b"".join(bare) + table(bare_entries),
        # Frames without content stand between others.
        "seekable_gaps.btf.zst": note + frames[0] + empty + b"".join(frames[1:]) + note
        + table([[len(note), 0, 0], entries[0], entry(empty, b""), *entries[1:], [len(note), 0, 0]]),
        "one_frame.btf.zst": frame(whole),
        "frames.btf.zst": skippable(b"", 15) + b"".join(bare[:2]) + skippable(b"note") + b"".join(frames[2:]),
        "no_name": frame(whole, checksum=False),
    }


def frame_faults():
    """A plain file: the first frame is sound, the second one is not."""
    pieces = parts()
    first, rest = frame(pieces[0]), b"".join(pieces[1:])
    second = frame(rest)
    broken = bytes([second[0] ^ 1]) + second[1:]
    return {
        "frame-checksum": first + frame(rest, sum_says=1),
        "frame-dictionary": first + frame(rest, dictionary=77),
        "frame-reserved-bit": first + frame(rest, reserved=True),
        "frame-block-type": first + frame(rest, blocks=struct.pack("<I", 1 | 3 << 1 | 9 << 3)[:3] + rest[:9]),
        "frame-too-short": first + frame(rest, says=len(rest) + 1),
        "frame-too-long": first + frame(rest, says=len(rest) - 1),
        "frame-window": first + frame(rest, size=False, window=18 << 3),
        "frame-cut": (first + second)[:-10],
        "frame-header-cut": first + second[:5],
        "frame-magic-cut": first + second[:2],
        "frame-none": first + broken,
        "frame-missing": first + frame(pieces[1]),  # cut at a frame's border: tensors are missing
        "bomb": frame(bytes(8)) + frame(b"", size=False, window=9 << 3, checksum=False, blocks=zeros(17)),
        "bomb-npy": frame(npy(4)) + frame(b"", size=False, window=9 << 3, checksum=False, blocks=zeros(17)),
    }


def zeros(blocks):
    """Blocks of 128 KiB of zeros each, in 4 bytes."""
    return b"".join(struct.pack("<I", (i == blocks - 1) | 1 << 1 | (128 << 10) << 3)[:3] + b"\0" for i in range(blocks))


def npy(count):
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({count},)}}\n".encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text


def table_faults():
    pieces = parts()
    frames = [frame(piece) for piece in pieces]
    sums = [entry(f, piece) for f, piece in zip(frames, pieces)]
    bytes_of_frames = b"".join(frames)

    def changed(index, field, value):
        copy = [list(e) for e in sums]
        copy[index][field] = value
        return copy

    def moved(field, by):
        """The sum stays what it is."""
        copy = [list(e) for e in sums]
        copy[0][field] += by
        copy[1][field] -= by
        return bytes_of_frames + table(copy)

    unsized = frames[:4] + [frame(pieces[4], size=False)]
    unsized_sums = sums[:4] + [[len(unsized[4]), len(pieces[4]) - 8, sums[4][2]]]
    unsized_sums_above = sums[:4] + [[len(unsized[4]), len(pieces[4]) + 8, sums[4][2]]]
    note = skippable(bytes(len(frames[1]) - 8))
    new_pieces = pieces_of_records()
    new_frames = [frame(piece) for piece in new_pieces]
    new_sums = [entry(f, piece) for f, piece in zip(new_frames, new_pieces)]
    data_lost = b"".join([*new_frames[:3], frame(new_pieces[3], sum_says=1), *new_frames[4:]]) + table(new_sums)
    return {
        "table-data-frame": data_lost,
        "table-skippable": note[:4] + b"\1" + note[5:] + bytes_of_frames + table([[len(note), 0, 0], *sums]),
        "table-reserved-bits": bytes_of_frames + table(sums, descriptor=0x84),
        "table-too-many-frames": bytes_of_frames + table(sums, frames=2**32 - 1),
        "table-numbers-wrap": table([], checksums=False, frames=2**29),  # 8 * 2^29 wraps to 0 in 32 bits
        "table-other-count": bytes_of_frames + table(sums, frames=4),
        "table-magic": bytes_of_frames + table(sums, magic=0x184D2A5D),
        "table-size": bytes_of_frames + table(sums, size=12),
        "table-frame-missing": b"".join(frames[:1] + frames[2:]) + table(sums),
        "table-last-frame-missing": b"".join(frames[:4]) + table(sums),
        "table-bytes-between": bytes_of_frames + bytes(8) + table(sums),
        "table-compressed-zero": bytes_of_frames + table(changed(1, 0, 0)),
        "table-compressed-huge": bytes_of_frames + table(changed(1, 0, 2**32 - 1)),
        "table-frames-moved": moved(0, 16),
        "table-content-moved": moved(1, 16),
        "table-content-below": b"".join(unsized) + table(unsized_sums),
        "table-content-above": b"".join(unsized) + table(unsized_sums_above),
        "table-checksum": bytes_of_frames + table(changed(1, 2, 1)),
        "table-checksum-bare": b"".join([frames[0], frame(pieces[1], checksum=False), *frames[2:]])
        + table([sums[0], [len(frames[1]) - 4, sums[1][1], 1], *sums[2:]]),
        "table-no-frame": b"".join([frames[0], note, *frames[2:]]) + table(sums),
        "table-frame-checksum": b"".join([frames[0], frame(pieces[1], sum_says=1), *frames[2:]]) + table(sums),
        "table-dictionary": b"".join([frames[0], frame(pieces[1], dictionary=77), *frames[2:]])
        + table([sums[0], [sums[1][0] + 4, *sums[1][1:]], *sums[2:]]),
        "table-large-frame": frame(pieces[0]) + table([[sums[0][0] , 9 << 20, sums[0][2]]]),
    }


def files():
    """All of them; those with a fault are bad-NAME.btf.zst."""
    faults = {**frame_faults(), **table_faults()}
    return {**good_files(), **{f"bad-{name}.btf.zst": content for name, content in faults.items()}}
