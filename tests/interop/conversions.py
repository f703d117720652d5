"""What `convert` must make of a tensor (docs/convert.md, docs/layouts.md, section 6): to the byte, with its account."""

from typing import NamedTuple, Optional

import edits
import layouts
from btf_writer import dense, header, sparse
from casts import Account, cast, cast_number
from elements import DType, Number, decode
from gates import Gates
from harness import Refused

COO = 2


class Options(NamedTuple):
    dtype: Optional[DType] = None
    layout: Optional[int] = None  # a code; 2 makes sparse
    edits: tuple = ()
    plain: bool = False
    shuffle: bool = False
    where_possible: bool = False
    duplicates: Optional[str] = None
    prune_zeros: bool = False
    coo_code: Optional[str] = None
    overflow: str = "saturate"
    round: Optional[str] = None
    lossless: bool = False
    threads: int = 0
    memory: Optional[str] = None
    gates: Gates = Gates()

    def arguments(self):
        """Of the command line."""
        words = []
        for name, value in (("dtype", self.dtype and self.dtype.name), ("duplicates", self.duplicates),
                            ("coo-code", self.coo_code), ("round", self.round), ("jobs", self.threads or None),
                            ("max-memory", self.memory),
                            ("overflow", None if self.overflow == "saturate" else self.overflow)):
            if value is not None:
                words += [f"--{name}", str(value)]
        if self.layout is not None:
            words += ["--layout", layouts.NAMES[self.layout]]
            words += ["--dla", "xavier"] if self.layout == 154 else []
        words += edits.arguments(self.edits)
        for name in ("plain", "shuffle", "where_possible", "prune_zeros", "lossless"):
            if getattr(self, name):
                words.append("--" + name.replace("_", "-"))
        return words + self.gates.arguments()


class Result(NamedTuple):
    record: bytes
    account: Account
    dtype: DType
    dims: list
    layout: int
    kept_layout: bool
    nnz: Optional[int]


def fits(layout, dims, dtype):
    if layout == COO:
        return True
    try:
        layouts.check_pair(layout, dims, dtype)
        return True
    except layouts.Misfit:
        return False


def target_layout(source_layout, dims, dtype, options):
    """The code, and whether --where-possible left it as it was."""
    own = COO if source_layout in layouts.COO else source_layout
    if own == layouts.SHUFFLED and (dtype.bits <= 8 or options.plain):
        own = layouts.LINEAR
    if options.shuffle:
        asked = layouts.SHUFFLED if own != COO and dtype.bits > 8 else own
    else:
        asked = own if options.layout is None else options.layout
        if asked == layouts.SHUFFLED and dtype.bits <= 8:
            asked = layouts.LINEAR
    if fits(asked, dims, dtype):
        return asked, False
    if options.where_possible and options.layout is not None and fits(own, dims, dtype):
        return own, True
    raise Refused


def single_entries(rows, codes, policy):
    """Each index once: a list of the codes that are to be added up, mostly one."""
    by_row = {}
    for row, code in zip(rows, codes):
        by_row.setdefault(row, []).append(code)
    if policy is None and any(len(same) > 1 for same in by_row.values()):
        raise Refused
    keep = {"first": slice(0, 1), "sum": slice(None)}.get(policy, slice(-1, None))
    return {row: same[keep] for row, same in by_row.items()}


def exact_sum(numbers):
    """As IEEE 754 adds, but without rounding."""
    infinities = {n.negative for n in numbers if n.special == "inf"}
    if any(n.special == "nan" for n in numbers) or len(infinities) > 1:
        return Number(False, None, "nan")
    if infinities:
        return Number(infinities.pop(), None, "inf")
    total = sum(n.value for n in numbers)
    return Number(total < 0 or total == 0 and all(n.negative for n in numbers), total)


def convert(reader, record, options):
    source, target = record.dtype, options.dtype or record.dtype
    dims, cells = edits.apply(record.dims, options.edits)
    layout, kept = target_layout(record.layout, dims, target, options)
    account = Account(options.gates.snr is not None)

    def through(codes):
        if len(codes) == 1:
            return cast(codes[0], source, target, account, options.overflow, options.round)
        number = exact_sum([decode(source, code) for code in codes])
        result, loss = cast_number(number, target, options.overflow, options.round)
        account.add(number, decode(target, result), loss, target)
        return result

    if record.sparse:
        places = dict(zip(cells, layouts.indices(dims)))
        numbered = [(layouts.row_major(record.dims, row), code) for row, code in zip(*reader.entries(record))]
        # What a slice leaves out may well be there twice.
        kept_entries = [(tuple(places[number]), code) for number, code in numbered if number in places]
        entries = single_entries([row for row, _ in kept_entries], [code for _, code in kept_entries],
                                 options.duplicates)
        if layout != COO:
            codes = [through(entries.get(index, [0])) for index in layouts.indices(dims)]
    else:
        source_codes = reader.codes(record)
        codes = [through([source_codes[cell]]) for cell in cells]

    nnz = None
    if layout == COO:
        if record.sparse:
            kept_entries = [(row, through(entries[row])) for row in sorted(entries)]
            kept_entries = [(row, code) for row, code in kept_entries if code or not options.prune_zeros]
            absent_changes(account, source, target, layouts.count(dims) - len(entries))
        else:
            kept_entries = [(index, code) for index, code in zip(layouts.indices(dims), codes) if code]
        nnz = len(kept_entries)
        written = sparse(target, dims, [row for row, _ in kept_entries], [code for _, code in kept_entries],
                         1 if options.coo_code == "tfrt" else 2)
    elif options.plain:
        data = layouts.arrange(layout, dims, target, codes)
        dims, layout = layouts.stored_shape(layout, dims, target), layouts.LINEAR
        written = header(dims, target.code, layout) + data
    else:
        written = dense(target, layout, dims, codes)
    if options.lossless and account.changed or options.overflow == "error" and account.counts["overflowed"]:
        raise Refused
    options.gates.check(account)
    return Result(written, account, target, dims, layout, kept, nnz)


def absent_changes(account, source, target, absent):
    """Of COO to COO: what is not stored has zero bits before and after, which are another number where one of the types
    has no zero."""
    before, after = decode(source, 0), decode(target, 0)
    account.add_noise(before, after, absent)
    if absent and before.value != after.value:
        account.counts["inexact" if after.value else "to_zero"] += absent
        account.elements += absent
        error = abs(after.value - before.value)
        account.max_abs = max(account.max_abs, error)
        if before.value:
            account.max_rel = max(account.max_rel, error / before.value)
