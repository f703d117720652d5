"""A reader and validator of BTF, written from docs/format.md and from nothing else. Numbers in comments are sections
and steps there. It asks for no speed: every rule is written down as it is worded."""

from typing import NamedTuple, Optional

import layouts
from elements import BY_CODE, decode, stream_bytes, unpack

LIMIT = 1 << 64
TABLE_ENTRY = 8
RECORD_HEADER = 16
MOST_DIMS = 255


class Finding(NamedTuple):
    severity: str
    code: str
    tensor: Optional[int]
    offset: int


class Unusable(Exception):
    """Nothing in the file can be used; the argument is the finding."""


class Record:
    """What the header of a record says. `dtype` is None if its code is not known, `layout` likewise."""

    def __init__(self, index, offset):
        self.index = index
        self.offset = offset
        self.dtype = self.layout = None
        self.dims = []
        self.data_offset = 0
        self.data_bytes = 0
        self.nnz = None  # COO
        self.indices_offset = self.values_offset = 0

    @property
    def known(self):
        return self.dtype is not None and self.layout is not None

    @property
    def sparse(self):
        return self.layout in layouts.COO

    @property
    def end(self):
        """Of the payload; of an unknown record, of the dims."""
        return self.data_offset + self.data_bytes


class Reader:
    def __init__(self, data):
        self.data = data
        self.findings = []
        self.records = {}  # by index; those that could be read, unknown ones among them
        self.overlapping = set()
        if len(data) < 8:
            raise Unusable(Finding("error", "file-too-short", None, 0))
        self.count = self.word(0)
        if self.count > (len(data) - 8) // TABLE_ENTRY:
            raise Unusable(Finding("error", "offset-table-too-long", None, 0))
        self.table_end = 8 + TABLE_ENTRY * self.count
        for index in range(self.count):
            record = self.read_record(index)
            if record is not None:
                self.records[index] = record
        self.check_overlaps()

    # Bytes of the file.

    def word(self, at):
        return int.from_bytes(self.data[at:at + 8], "little")

    def there(self, at, length):
        return at <= len(self.data) and length <= len(self.data) - at

    def zero(self, begin, end):
        return not any(self.data[begin:end])

    # Headers (5.2).

    def error(self, code, tensor, offset):
        self.findings.append(Finding("error", code, tensor, offset))

    def warn(self, code, tensor, offset):
        self.findings.append(Finding("warning", code, tensor, offset))

    def read_record(self, index):
        at = self.word(8 + TABLE_ENTRY * index)
        if not self.there(at, RECORD_HEADER):  # 3
            return self.error("record-offset-past-end", index, at)
        if at < self.table_end:  # 4
            return self.error("record-overlaps-header", index, at)
        record = Record(index, at)
        rank = self.word(at)
        if rank > MOST_DIMS:  # 5
            return self.error("rank-too-large", index, at)
        if not self.there(at + RECORD_HEADER, 8 * rank):  # 6
            return self.error("dims-past-end", index, at + RECORD_HEADER)
        record.dims = [self.word(at + RECORD_HEADER + 8 * d) for d in range(rank)]
        record.data_offset = at + RECORD_HEADER + 8 * rank
        record.dtype = BY_CODE.get(self.data[at + 8])  # 7
        record.layout = self.data[at + 9] if self.data[at + 9] in layouts.NAMES else None  # 8
        if record.known:
            problem = self.read_coo(record) if record.sparse else self.read_dense(record)
            if problem:
                return self.error(problem[0], index, problem[1])
        return record

    def read_dense(self, record):
        try:
            layouts.check_pair(record.layout, record.dims, record.dtype)  # 9
        except layouts.Misfit as misfit:
            return misfit.args[0], record.offset
        if not layouts.sized(record.layout, record.dims, record.dtype):  # 10
            return "size-overflow", record.offset
        record.data_bytes = stream_bytes(
            record.dtype, layouts.count(layouts.stored_shape(record.layout, record.dims, record.dtype)))
        if not self.there(record.data_offset, record.data_bytes):  # 11
            return "data-past-end", record.data_offset
        return None

    def read_coo(self, record):
        rank = len(record.dims)
        if layouts.count([dim or 1 for dim in record.dims]) >= LIMIT:  # 10
            return "size-overflow", record.offset
        at = record.data_offset
        for word in (at, at + 8):  # 12
            if not self.there(word, 8):
                return "coo-indices-past-end", word
        if self.word(at + 8) != rank:  # 13
            return "coo-rank-mismatch", at + 8
        record.nnz = self.word(at)
        record.indices_offset = at + 16
        if not self.there(at + 16, 8 * rank * record.nnz):  # 14
            return "coo-indices-past-end", at
        count_at = at + 16 + 8 * rank * record.nnz
        if not self.there(count_at, 8):  # 15
            return "coo-values-past-end", count_at
        if self.word(count_at) != record.nnz:  # 16
            return "coo-count-mismatch", count_at
        record.values_offset = count_at + 8
        value_bytes = stream_bytes(record.dtype, record.nnz)
        if not self.there(record.values_offset, value_bytes):  # 17
            return "coo-values-past-end", record.values_offset
        record.data_bytes = record.values_offset + value_bytes - at
        return None

    def check_overlaps(self):
        """18: both records of an overlap."""
        records = list(self.records.values())
        for a in records:
            for b in records:
                if a is not b and a.offset < b.end and b.offset < a.end:
                    self.overlapping.add(a.index)
        for index in sorted(self.overlapping):
            self.error("records-overlap", index, self.records[index].offset)

    # Everything that is worth a word (5.3).

    def validate(self):
        for record in self.records.values():
            self.check_record(record)
        offsets = [record.offset for record in self.records.values()]
        if offsets != sorted(offsets):
            self.warn("offsets-not-ascending", None, 8)
        if len(self.records) == self.count and all(r.known for r in self.records.values()):
            self.check_gaps()
        for record in self.records.values():
            if record.known and record.index not in self.overlapping:
                self.check_payload(record)
        return self.findings

    def check_record(self, record):
        if record.offset % 8:
            self.warn("offset-not-aligned", record.index, record.offset)
        if not self.zero(record.offset + 10, record.offset + 16):
            self.warn("reserved-not-zero", record.index, record.offset + 10)
        if record.known and self.beyond_tensorrt(record):
            self.warn("tensorrt-limits", record.index, record.offset + RECORD_HEADER)
        if record.dtype is None:
            self.error("unknown-dtype", record.index, record.offset + 8)
        if record.layout is None:
            self.error("unknown-layout", record.index, record.offset + 9)

    @staticmethod
    def beyond_tensorrt(record):
        if record.layout in layouts.DLA and 0 not in record.dims and max(record.dims[-3:]) > 8192:
            return True
        return 128 <= record.layout < 192 and len(record.dims) > 8

    def check_gaps(self):
        """Bytes that no record owns: padding, gaps, what is behind the last record."""
        covered = self.table_end  # all before it belongs to somebody
        padding_end = covered  # up to here it is padding, of `owner`
        owner = None
        for record in sorted(self.records.values(), key=lambda r: (r.offset, r.end)):
            if record.offset > covered and not self.zero(covered, min(padding_end, record.offset)):
                self.warn("padding-not-zero", owner, covered)
            if record.offset > padding_end:
                self.warn("gap-between-records", record.index, padding_end)
            if record.end >= covered:
                covered, owner = record.end, record.index
                padding_end = self.padded_end(record)
        if not self.zero(covered, padding_end):
            self.warn("padding-not-zero", owner, covered)
        if len(self.data) > padding_end:
            self.warn("trailing-bytes", None, padding_end)

    @staticmethod
    def padded_end(record):
        """2.1: padding fills up the size of the record or the offset in the file, whichever is more."""
        return max(layouts.up(record.end, 8), record.offset + layouts.up(record.end - record.offset, 8))

    def check_payload(self, record):
        if record.sparse:
            self.check_entries(record)
            self.check_stream(record, record.values_offset, record.nnz)
        elif record.layout in layouts.PADDED:
            self.check_lanes(record)
        else:
            self.check_stream(record, record.data_offset, layouts.count(record.dims))

    def check_stream(self, record, at, elements):
        if record.dtype.kind == "bool":
            self.check_bools(record, range(at, at + elements))
        if record.dtype.bits == 4 and elements % 2:
            last = at + elements // 2
            if self.data[last] >> 4:
                self.warn("spare-nibble-not-zero", record.index, last)

    def check_bools(self, record, offsets):
        odd = [at for at in offsets if self.data[at] > 1]
        if odd:
            self.warn("bool-byte", record.index, min(odd))

    def check_lanes(self, record):
        b = record.dtype.bytes
        elements = set(layouts.places(record.layout, record.dims, record.dtype))
        for at in range(record.data_offset, record.end):
            if self.data[at] and (at - record.data_offset) // b not in elements:
                self.warn("lane-padding-not-zero", record.index, at)
                break
        if record.dtype.kind == "bool":
            self.check_bools(record, [record.data_offset + place for place in elements])

    def entries(self, record):
        """Of COO: the indices and the codes, in the order of the file."""
        rank = len(record.dims)
        at = record.indices_offset
        rows = [tuple(self.word(at + 8 * (k * rank + d)) for d in range(rank)) for k in range(record.nnz)]
        size = stream_bytes(record.dtype, record.nnz)
        return rows, unpack(record.dtype, self.data[record.values_offset:record.values_offset + size], record.nnz)

    def bad_index(self, record):
        """19: the byte of the first index that is not below its dim, or None."""
        rank = len(record.dims)
        for k, row in enumerate(self.entries(record)[0]):
            for d, i in enumerate(row):
                if i >= record.dims[d]:
                    return record.indices_offset + 8 * (k * rank + d)
        return None

    def duplicate(self, record):
        """The byte of the second entry of the first position, in row-major order, that has several."""
        first, again = {}, {}
        for k, row in enumerate(self.entries(record)[0]):
            if row in first:
                again.setdefault(row, k)
            first.setdefault(row, k)
        return record.indices_offset + 8 * len(record.dims) * again[min(again)] if again else None

    def check_entries(self, record):
        bad = self.bad_index(record)
        if bad is not None:
            return self.error("coo-index-out-of-range", record.index, bad)
        twice = self.duplicate(record)
        if twice is not None:
            self.warn("coo-duplicate-index", record.index, twice)
        return None

    def check_finite(self):
        """What --nan adds: the first NaN and the first Inf of each tensor, in row-major order."""
        for record in self.records.values():
            if not record.known or record.index in self.overlapping or not record.dtype.is_float:
                continue
            for special, code in (("nan", "element-nan"), ("inf", "element-inf")):
                at = self.first_special(record, special)
                if at is not None:
                    self.error(code, record.index, at)

    def first_special(self, record, special):
        dtype = record.dtype
        if record.sparse:
            rows, codes = self.entries(record)
            if self.bad_index(record) is not None:
                return None
            found = [(row, k) for k, row in enumerate(rows) if decode(dtype, codes[k]).special == special]
            return record.values_offset + min(found)[1] * dtype.bits // 8 if found else None
        for index, code in zip(layouts.indices(record.dims), self.codes(record)):
            if decode(dtype, code).special == special:
                return self.place(record, index)[0]
        return None

    # Elements.

    def usable(self, record):
        """Can its elements be read, each with one value?"""
        if not record.known or record.index in self.overlapping:
            return False
        return not record.sparse or self.bad_index(record) is None and self.duplicate(record) is None

    def codes(self, record):
        """The bits of every element, in row-major order."""
        if layouts.count(record.dims) == 0:
            return []
        if record.sparse:
            rows, values = self.entries(record)
            codes = [0] * layouts.count(record.dims)  # 2.3: what is not stored has zero bits
            for row, code in zip(rows, values):
                codes[layouts.row_major(record.dims, row)] = code
            return codes
        data = self.data[record.data_offset:record.end]
        if record.layout == layouts.SHUFFLED:
            data = layouts.unshuffle(record.dtype, data)
        stored = unpack(record.dtype, data, len(data) * 8 // record.dtype.bits)
        return [stored[place] for place in layouts.places(record.layout, record.dims, record.dtype)]

    def place(self, record, index):
        """Where an element stands: the byte of the file (of shuffled elements, the lowest one), and of 4-bit types
        which half of it. None if it is not stored."""
        bits = record.dtype.bits
        if record.sparse:
            rows = self.entries(record)[0]
            if index not in rows:
                return None, None
            at, k = record.values_offset, rows.index(index)
        else:
            at = record.data_offset
            k = layouts.row_major(layouts.stored_shape(record.layout, record.dims, record.dtype),
                                  layouts.stored_index(record.layout, index))
        if record.layout == layouts.SHUFFLED:  # 4.3
            block, j = divmod(k, layouts.BLOCK)
            return at + block * layouts.BLOCK * bits // 8 + j, None
        return at + k * bits // 8, ("low", "high")[k % 2] if bits == 4 else None


def validate(data):
    """The findings in a file, in no particular order."""
    try:
        return Reader(data).validate()
    except Unusable as unusable:
        return [unusable.args[0]]
