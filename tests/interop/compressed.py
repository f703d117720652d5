"""Compressed files (docs/format.md 8): frames, seek table, content. The `zstd` command decompresses."""

import ast
import shutil
import subprocess
from typing import NamedTuple

import layouts
from elements import BY_CODE, stream_bytes

FRAME = 0xFD2FB528
SKIPPABLE = range(0x184D2A50, 0x184D2A60)
SEEK_TABLE = 0x184D2A5E
SEEKABLE = 0x8F92EAB1
LARGEST_FRAME = 8 << 20  # of content; with larger ones a table is not used
MOST_RECORDS = 1 << 48
SLACK = 1 << 20  # bytes behind what the records need that are no bomb yet


def available():
    return shutil.which("zstd") is not None


class Damaged(Exception):
    """The argument is the code of the finding."""


def u32(data, at):
    return int.from_bytes(data[at:at + 4], "little")


def compressed(data):
    """Is it zstd, by its first bytes?"""
    return len(data) >= 4 and (u32(data, 0) == FRAME or u32(data, 0) in SKIPPABLE)


def rotate(value, bits):
    return (value << bits | value >> (64 - bits)) & (1 << 64) - 1


def xxh64(data, seed=0):
    """As specified with zstd (doc/zstd_compression_format.md and xxhash_spec.md)."""
    mask = (1 << 64) - 1
    p1, p2, p3, p4, p5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
                          0x27D4EB2F165667C5)

    def mix(accumulator, lane):
        return rotate(accumulator + lane * p2 & mask, 31) * p1 & mask

    at = 0
    if len(data) >= 32:
        lanes = [(seed + p1 + p2) & mask, (seed + p2) & mask, seed, (seed - p1) & mask]
        while at + 32 <= len(data):
            for k in range(4):
                lanes[k] = mix(lanes[k], int.from_bytes(data[at + 8 * k:at + 8 * k + 8], "little"))
            at += 32
        total = sum(rotate(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & mask
        for lane in lanes:
            total = ((total ^ mix(0, lane)) * p1 + p4) & mask
    else:
        total = (seed + p5) & mask
    total = (total + len(data)) & mask
    while at + 8 <= len(data):
        total = (rotate(total ^ mix(0, int.from_bytes(data[at:at + 8], "little")), 27) * p1 + p4) & mask
        at += 8
    if at + 4 <= len(data):
        total = (rotate(total ^ u32(data, at) * p1 & mask, 23) * p2 + p3) & mask
        at += 4
    for byte in data[at:]:
        total = rotate(total ^ byte * p5 & mask, 11) * p1 & mask
    total = (total ^ total >> 33) * p2 & mask
    total = (total ^ total >> 29) * p3 & mask
    return total ^ total >> 32


class Frame(NamedTuple):
    begin: int
    end: int
    content: int  # bytes, as the seek table says
    checksum: object  # as it says, or None


def decompress(data):
    """The content of whole frames."""
    done = subprocess.run(["zstd", "-dcq"], input=data, capture_output=True)
    if done.returncode != 0:
        raise Damaged("zstd-frame")
    return done.stdout


def compress(path, rng):
    """Of one frame or of several, without a table."""
    with open(path, "rb") as file:
        data = file.read()
    step = len(data) if rng.random() < 0.5 else rng.choice([8, 24, 100])
    parts = [data[at:at + step] for at in range(0, len(data), step or 1)] or [data]
    check = rng.choice(["--check", "--no-check"])
    run = lambda part: subprocess.run(["zstd", "-cq", check], input=part, capture_output=True, check=True).stdout
    return b"".join(map(run, parts[:6])) + run(b"".join(parts[6:]))


def damage(data, rng):
    data = bytearray(data)
    fault = rng.randrange(3)
    if fault == 0:
        del data[rng.randrange(len(data)):]
    elif fault == 1:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    else:
        at = rng.randrange(len(data) - 3)
        data[at:at + 4] = rng.choice([0, 1, 0xFFFFFFFF, 0x80000000, rng.randrange(1 << 32)]).to_bytes(4, "little")
    return bytes(data)


def frame_length(data, at):
    """Bytes of the frame at `at`, from its header and those of its blocks (RFC 8878, section 3.1.1)."""
    def take(length):
        if at + length > len(data):
            raise Damaged("zstd-frame")
        return length

    take(4)
    if u32(data, at) in SKIPPABLE:
        take(8)
        return take(8 + u32(data, at + 4))
    if u32(data, at) != FRAME:
        raise Damaged("zstd-frame")
    take(5)
    descriptor = data[at + 4]
    single = descriptor >> 5 & 1
    size_bytes = (single, 2, 4, 8)[descriptor >> 6]
    length = 5 + (1 - single) + (0, 1, 2, 4)[descriptor & 3] + size_bytes
    last = False
    while not last:
        take(length + 3)
        block = int.from_bytes(data[at + length:at + length + 3], "little")
        last = block & 1
        length = take(length + 3 + (1 if block >> 1 & 3 == 1 else block >> 3))
    return take(length + (4 if descriptor & 4 else 0))


def seek_table(data):
    """The frames as the table says, or None without a table."""
    if len(data) < 17 or u32(data, len(data) - 4) != SEEKABLE:
        return None
    count, descriptor = u32(data, len(data) - 9), data[-5]
    width = 12 if descriptor & 0x80 else 8
    begin = len(data) - 17 - count * width
    if descriptor & 0x7C or begin < 0 or u32(data, begin) != SEEK_TABLE or u32(data, begin + 4) != count * width + 9:
        raise Damaged("seek-table")
    frames, at = [], 0
    for k in range(count):
        entry = begin + 8 + k * width
        length, content = u32(data, entry), u32(data, entry + 4)
        if length < 8 or content and length > content + content // 128 + 1024:
            raise Damaged("seek-table")
        frames.append(Frame(at, at + length, content, u32(data, entry + 8) if descriptor & 0x80 else None))
        at += length
    if at != begin:
        raise Damaged("seek-table")
    return frames


LARGEST_WINDOW = 128 << 20


def check_needs(data, at):
    """Of the header of the frame at `at`, which is whole: is it one that is read?"""
    descriptor = data[at + 4]
    if descriptor & 0x20 == 0:
        window = data[at + 5]
        base = 1 << (10 + (window >> 3))
        if base + base // 8 * (window & 7) > LARGEST_WINDOW:
            raise Damaged("zstd-frame")
    dictionary = at + (5 if descriptor & 0x20 else 6)
    if any(data[dictionary:dictionary + (0, 1, 2, 4)[descriptor & 3]]):
        raise Damaged("zstd-frame")


class Content:
    """What is in a compressed file. `parts` is None for a damaged frame of one that is read frame by frame."""

    def __init__(self, data, pipe=False):
        if not pipe:
            self.frames = seek_table(data)
        if not pipe and self.frames is not None and all(f.content <= LARGEST_FRAME for f in self.frames):
            self.parts = [self.part(data, frame) for frame in self.frames]
        else:
            self.front_to_back(data)

    @staticmethod
    def part(data, frame):
        try:
            if frame.content == 0 and u32(data, frame.begin) in SKIPPABLE:
                return b"" if 8 + u32(data, frame.begin + 4) == frame.end - frame.begin else None
            if u32(data, frame.begin) != FRAME or frame_length(data, frame.begin) != frame.end - frame.begin:
                return None
            check_needs(data, frame.begin)
            content = decompress(data[frame.begin:frame.end])
        except Damaged:
            return None
        sound = len(content) == frame.content and frame.checksum in (None, xxh64(content) & 0xFFFFFFFF)
        return content if sound else None

    def front_to_back(self, data):
        contents, at, ends, begin = [], 0, [], 0
        while at < len(data):
            begin = at
            end = at + frame_length(data, at)
            if u32(data, at) == FRAME:
                check_needs(data, at)
                contents.append(decompress(data[at:end]))
            else:
                contents.append(b"")
            ends.append((end, len(contents[-1])))
            at = end
        self.parts = [b"".join(contents)]
        if len(self.bytes) > needed(self.bytes, SLACK):
            raise Damaged("decompression-bomb")
        self.frames = seek_table(data) if u32(data, begin) == SEEK_TABLE else None
        if self.frames is not None:
            if [(frame.end, frame.content) for frame in self.frames] != ends[:-1]:
                raise Damaged("seek-table")
        elif len(ends) > 1 or len(self.bytes) == table_end(self.bytes):
            if len(self.bytes) < needed(self.bytes):
                raise Damaged("zstd-frame")

    @property
    def damaged(self):
        return any(part is None for part in self.parts)

    @property
    def bytes(self):
        return b"".join(self.parts)

    def holes(self):
        """Where content is missing, and the content with zeros there."""
        at, holes, parts = 0, [], []
        for frame, part in zip(self.frames, self.parts):
            if part is None:
                holes.append((at, at + frame.content))
            parts.append(bytes(frame.content) if part is None else part)
            at += frame.content
        return holes, b"".join(parts)


def table_end(content):
    return 8 + 8 * int.from_bytes(content[:8], "little")


def needed(content, slack=0):
    """Where the last record of a BTF file ends, by its headers as far as they are there; and so much more."""
    if content[:6] == b"\x93NUMPY":
        length = int.from_bytes(content[8:10], "little")
        header = ast.literal_eval(content[10:10 + length].decode("latin1"))
        width = int(header["descr"].lstrip("<>|=bBcfiuV"))
        return 10 + length + width * layouts.count(header["shape"]) + slack if slack else 0
    if len(content) < 8:
        return slack
    if u64(content, 0) > MOST_RECORDS:
        return 1 << 64 if slack else 0
    ends = [table_end(content)]
    for index in range(min(u64(content, 0), len(content) // 8 - 1)):
        end = record_end(content, u64(content, 8 + 8 * index))
        if end is None:
            return 1 << 64 if slack else max(ends)
        ends.append(end)
    return max(ends) + slack


def u64(data, at):
    return int.from_bytes(data[at:at + 8], "little")


def record_end(content, at):
    """As far as it is known; None if one of its codes is not."""
    end = at + 16
    if at < table_end(content) or end + 255 * 8 + 8 >= 1 << 64:
        return 0
    if end > len(content):
        return end
    rank, dtype, layout = u64(content, at), BY_CODE.get(content[at + 8]), content[at + 9]
    if rank > 255:
        return end
    if dtype is None or layout not in layouts.NAMES:
        return None
    end += 8 * rank + (8 if layout in layouts.COO else 0)
    if end > len(content):
        return end
    dims = [u64(content, at + 16 + 8 * d) for d in range(rank)]
    if layout in layouts.COO:
        nnz = u64(content, end - 8)
        payload = 24 + 8 * rank * nnz + stream_bytes(dtype, nnz)
    else:
        try:
            layouts.check_pair(layout, dims, dtype)
        except layouts.Misfit:
            return end
        if not layouts.sized(layout, dims, dtype):
            return end
        payload = stream_bytes(dtype, layouts.count(layouts.stored_shape(layout, dims, dtype)))
    whole = at + 16 + 8 * rank + payload
    return whole if whole < 1 << 64 else end
