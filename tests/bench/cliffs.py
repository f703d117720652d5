"""No cliffs: what every operation costs an element, against the unit: `convert --dtype float16` of float32.

    cliffs.py BTFTOOL [OPTION...]

Unit and job run in turn, and a ratio is the median of the turns: of CPU time (user and system, of all threads), which
a busy machine does not change, and of elapsed time. Each has a goal; the ten that are worst against theirs stand at
the end. Needs NumPy (says "skipped" where there is none) and a directory with room for 40 bytes an element: $TMPDIR, or
/dev/shm or /tmp.

Peers are in memory, on one thread: arrays are there already and nothing is read or written, which flatters them."""
import argparse
import math
import os
import re
import shutil
import statistics
import sys
import tempfile
from typing import NamedTuple, Optional

try:
    import cliffs_inputs
    import cliffs_peers
except ImportError:
    print("skipped: no NumPy")
    sys.exit(0)
from cliffs_run import Runner

DTYPES = ("int8 int16 int32 int64 uint8 uint16 uint32 uint64 int4 uint4 bool float64 float32 float16 bfloat16 "
          "float8_e4m3fn float8_e5m2 float8_e8m0fnu float4_e2m1fn float8_e4m3fnuz float8_e5m2fnuz float8_e3m4 "
          "float8_e4m3 float8_e4m3b11fnuz").split()
UNIT = "convert --dtype float16 {base.npy} {out.btf}"
OF_CASTS = 4 << 20  # elements of a pair of dtypes
WORST = 10


class Row(NamedTuple):
    """An operation. {NAME} in a command is a file, which cliffs_inputs makes; {out...} is written."""
    name: str
    goal: Optional[float]
    command: str
    unit: str = UNIT  # begins with "!": another program
    peers: tuple = ()  # names in cliffs_peers.PEERS


ROWS = [
    Row("equal files, diff", .6, "diff {base.npy} {same.npy}"),
    Row("all a little different, --rtol accepts", 1.5, "diff --rtol 1e-2 {near.npy} {base.npy}", peers=("allclose",)),
    Row("all refused, --no-hints", 4, "diff --no-hints {off.npy} {base.npy}"),
    Row("all refused, cause scale confirmed", 8, "diff {scaled.npy} {base.npy}"),
    Row("cause layout, NHWC under NCHW dims", 10, "diff {nhwc.npy} {planes.npy}"),
    Row("int64, half mismatching, --no-hints", 9, "diff --no-hints {int64_half.npy} {int64.npy}"),
    Row("--top-k 5, kHWC with kLINEAR", 10, "diff --top-k 5 {planes_hwc.btf} {planes.npy}"),
    Row("COO with kHWC, equal", 10, "diff {sparse_coo.btf} {sparse_hwc.btf}"),
    Row("inspect --stats", 2, "inspect --stats {base.npy}", peers=("stats",)),
    Row("--dtype int8", None, "convert --dtype int8 {base.npy} {out.btf}", peers=("astype int8",)),
    Row("--dtype int8 --scale auto", 3, "convert --dtype int8 --scale auto {base.npy} {out.btf}",
        peers=("quantise int8, auto",)),
    Row("--dtype int8 --scale 0.02", 2, "convert --dtype int8 --scale 0.02 {base.npy} {out.btf}",
        peers=("quantise int8", "quantise int8, NumPy")),
    Row("--dtype uint8 --scale auto --zero-point auto", 3,
        "convert --dtype uint8 --scale auto --zero-point auto {base.npy} {out.btf}"),
    Row("--dtype int8 --scale auto, last dim", 5,
        "convert --dtype int8 --scale auto --scale-axis 3 {base.npy} {out.btf}"),
    Row("--dtype fp8 --scale auto", 4, "convert --dtype fp8 --scale auto {base.npy} {out.btf}",
        peers=("quantise fp8, auto",)),
    Row("--dtype fp8 --scale auto, last dim", 5,
        "convert --dtype fp8 --scale auto --scale-axis 3 {base.npy} {out.btf}"),
    Row("--block-scale mxfp8", 5, "convert --block-scale mxfp8 {base.npy} {out.btf}"),
    Row("--block-scale mxfp4", 5, "convert --block-scale mxfp4 {base.npy} {out.btf}"),
    Row("--block-scale nvfp4", 5, "convert --block-scale nvfp4 {base.npy} {out.btf}"),
    Row("--dequantize int8", 2.5, "convert --dequantize {int8.btf} {out.btf}", peers=("dequantise int8",)),
    Row("--dequantize int8, last dim", 2.5, "convert --dequantize {int8_channels.btf} {out.btf}"),
    Row("--dequantize fp8", 2.5, "convert --dequantize {fp8.btf} {out.btf}"),
    Row("--dequantize mxfp8", 2.5, "convert --dequantize {mxfp8.btf} {out.btf}"),
    Row("--dequantize nvfp4", 2.5, "convert --dequantize {nvfp4.btf} {out.btf}"),
    Row("--round up, int8", 3, "convert --dtype int8 --round up {base.npy} {out.btf}"),
    Row("--overflow wrap, int8", 3, "convert --dtype int8 --overflow wrap {base.npy} {out.btf}"),
    Row("--dtype int64", 3, "convert --dtype int64 {base.npy} {out.btf}", peers=("astype int64",)),
    Row("--dtype uint64", 3, "convert --dtype uint64 {base.npy} {out.btf}"),
    Row("int64 to float32", 3, "convert --dtype float32 {int64.npy} {out.btf}"),
    Row("dense, 5 % filled, to COO", 6, "convert --layout coo {sparse.npy} {out.btf}"),
    Row("COO to dense", 3, "convert --layout linear {sparse_coo.btf} {out.btf}"),
    Row("diff of COO, equal", 4, "diff {sparse_coo.btf} {sparse_coo_same.btf}"),
    Row("diff of COO, a little different, --no-hints", 4, "diff --no-hints {sparse_coo_near.btf} {sparse_coo.btf}"),
    Row("shuffled with --permute, over linear", 2, "convert --permute 0,2,3,1 {shuffled.btf} {out.btf}",
        unit="convert --permute 0,2,3,1 {base.npy} {out.btf}"),
    Row("layers on large pairs, over cat", 1.3, "layers {layers_near} {layers}", unit="!cat {layers/*} {layers_near/*}"),
    Row("diff -q of directories, over diff -rq", 1.5, "diff -q {small} {small_same}", unit="!diff -rq {small} {small_same}"),
    Row("layers on small files, over diff -rq", 1.5, "layers {small} {small_same}", unit="!diff -rq {small} {small_same}"),
]


class Result(NamedTuple):
    name: str
    goal: Optional[float]
    ratio: float
    elapsed: float
    ns: float  # of CPU time, of an element
    before: Optional[float]
    peers: tuple  # of name and ratio

    @property
    def over(self):
        return self.ratio / self.goal if self.goal else 0.0

    @property
    def behind(self):
        """The fastest peer's time over this one's."""
        return min((ratio / self.ratio for _, ratio in self.peers), default=math.inf)


def peers_of(names, files, unit_ns):
    """Their time an element over the unit's."""
    times = [(cliffs_peers.PEERS[name].who, cliffs_peers.nanoseconds(name, files)) for name in names]
    return tuple((who, ns / unit_ns) for who, ns in times if ns is not None)


def nanoseconds(turns, elements, start=0.0):
    return max(statistics.median(turn[1][0] for turn in turns) - start, 0) / elements * 1e9


def measure_row(row, run, args):
    files = run.files
    own, other = run.per_element(row.unit), run.per_element(row.command)
    jobs = [(args.btftool, row.unit), (args.btftool, row.command)]
    if args.before:
        jobs.append((args.before, row.command))
    turns = [[run.time(tool, command) for tool, command in jobs] for _ in range(args.repeat)]

    def ratio(which, clock):
        return statistics.median(turn[which][clock] / other / (turn[0][clock] / own) for turn in turns)

    unit_ns = statistics.median(turn[0][0] for turn in turns) / own * 1e9
    peers = peers_of(row.peers, files, unit_ns) if args.peers and row.unit == UNIT else ()
    return Result(row.name, row.goal, ratio(1, 0), ratio(1, 1), nanoseconds(turns, other),
                  ratio(2, 0) if args.before else None, peers)


def without(start, turn, clock):
    # Of a tiny input nothing would be left.
    return max(turn[clock] - start[clock], turn[clock] / 10)


def cast_name(source, target):
    return f"cast {source} to {target}"


def measure_pair(source, target, run, args, start):
    """A pair of dtypes, without what starting a process takes."""
    command = f"convert --dtype {target} {{cast_{source}.btf}} {{out.btf}}"
    unit = "convert --dtype float16 {cast_float32.btf} {out.btf}"
    tools = [(args.btftool, unit), (args.btftool, command)] + ([(args.before, command)] if args.before else [])
    turns = [[run.time(tool, line) for tool, line in tools] for _ in range(args.repeat)]

    def ratio(which, clock):
        return statistics.median(without(start, turn[which], clock) / without(start, turn[0], clock) for turn in turns)

    return Result(cast_name(source, target), 5, ratio(1, 0), ratio(1, 1),
                  nanoseconds(turns, args.cast_elements, start[0]), ratio(2, 0) if args.before else None,
                  pair_peer(source, target, run, args))


def pair_peer(source, target, run, args):
    ns = cliffs_peers.cast_nanoseconds(source, target) if args.peers else None
    return () if ns is None else (("ml_dtypes", ns / run.unit_ns()),)


def measure_casts(run, args):
    pairs = [(s, d) for s in DTYPES for d in DTYPES if s != d and wanted(args, cast_name(s, d))]
    if not pairs:
        return []
    start = run.start()
    return [measure_pair(source, target, run, args, start) for source, target in pairs]


def quantile(results, q, name, goal):
    """Of the casts, a row of its own."""
    ordered = sorted(results, key=lambda result: result.ratio)
    at = ordered[min(len(ordered) - 1, int(q * len(ordered)))]
    return at._replace(name=f"{name} of {len(ordered)} pairs: {at.name}", goal=goal)


def summary(casts):
    return [quantile(casts, .5, "median", 2.5), quantile(casts, .9, "90 %", 5), quantile(casts, 1, "worst", 5)]


def number(value):
    return "" if value is None else f"{value:.2f}"


def table(results, args):
    head = ["operation", "CPU", "elapsed", "ns", "goal", "over goal"]
    head[1:1] = ["before"] if args.before else []
    head += ["peers in memory"] if args.peers else []
    yield head
    for r in results:
        line = [r.name, number(r.ratio), number(r.elapsed), number(r.ns), number(r.goal), number(r.over) if r.goal else ""]
        line[1:1] = [number(r.before)] if args.before else []
        line += [", ".join(f"{who} {ratio:.2f}" for who, ratio in r.peers)] if args.peers else []
        yield line


def show(results, args):
    lines = list(table(results, args))
    if args.markdown:
        lines.insert(1, ["---"] * len(lines[0]))
    width = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        if args.markdown:
            print("| " + " | ".join(line) + " |")
        else:
            print("  ".join(cell.ljust(w) if i in (0, 7) else cell.rjust(w)
                            for i, (cell, w) in enumerate(zip(line, width))).rstrip())
    print(flush=True)


def wanted(args, name):
    return args.only is None or re.search(args.only, name) is not None


def measure_rows(rows, run, args):
    results = []
    for i, row in enumerate(rows):
        results.append(measure_row(row, run, args))
        run.keep_files_of(command for later in rows[i + 1:] for command in (later.unit, later.command))
    return results


def measure(args, scratch):
    run = Runner(args, scratch)
    print(f"{args.elements} elements, of pairs of dtypes {args.cast_elements}; --jobs {args.jobs}, {args.repeat} turns. "
          "Times are over those of `convert --dtype float16` of as many.\n")
    print(f"The unit: {run.unit_ns():.2f} ns an element.\n", flush=True)
    rows = measure_rows([row for row in ROWS if wanted(args, row.name)], run, args)
    show(rows, args)
    casts = [] if args.no_casts else measure_casts(run, args)
    if casts:
        print("Pairs of dtypes:\n")
        show(summary(casts), args)
    print(f"The {WORST} worst:\n")
    show(sorted(rows + casts, key=lambda result: -result.over)[:WORST], args)
    if args.peers:
        compared = sorted((r for r in rows + casts if r.peers), key=lambda result: result.behind)
        slower = [r for r in compared if r.behind < 1]
        print(f"Of {len(compared)} that a peer does too, the peer is faster in {len(slower)}:\n")
        show(slower[:WORST], args)


def size(text):
    units = {"K": 1 << 10, "M": 1 << 20}
    return int(float(text[:-1]) * units[text[-1]]) if text[-1] in units else int(text)


def room(path, needed):
    return os.path.isdir(path) and os.access(path, os.W_OK) and shutil.disk_usage(path).free > needed


def scratch_place(elements):
    if "TMPDIR" in os.environ:
        return os.environ["TMPDIR"]
    return "/dev/shm" if room("/dev/shm", 40 * elements) else "/tmp"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("btftool")
    parser.add_argument("--elements", type=size, default=32 << 20, help="of an input: 1M (32M)")
    parser.add_argument("--files", type=int, help="in directories of small files (10000, fewer with few elements)")
    parser.add_argument("--jobs", type=int, default=1, help="threads (1)")
    parser.add_argument("--repeat", type=int, default=3, help="turns (3)")
    parser.add_argument("--only", metavar="REGEX", help="rows, and pairs as 'cast int8 to float32', in which it is found")
    parser.add_argument("--no-casts", action="store_true", help="without the pairs of dtypes")
    parser.add_argument("--before", metavar="BTFTOOL", help="another one to compare with")
    parser.add_argument("--peers", action="store_true", help="NumPy, torch, ml_dtypes, where they are installed")
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    args.files = args.files or min(10000, max(10, args.elements // 100))
    args.cast_elements = min(args.elements, OF_CASTS)
    return args


def main():
    args = arguments()
    scratch = tempfile.mkdtemp(prefix="cliffs.", dir=scratch_place(args.elements))
    try:
        measure(args, scratch)
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
