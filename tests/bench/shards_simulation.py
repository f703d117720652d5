#!/usr/bin/env python3
"""How even shards are, and what merge costs: shards_simulation.py BTFTOOL [--tensors N] [--shards N]

Sizes are drawn from five distributions and handed out as btftool does it. For merge a part is made by a
real comparison, and its items, under other names, become the parts of all shards (1.4 GB for 10^6). Needs
xxhash of the package index, with which parts are signed.
"""

import argparse
import heapq
import json
import os
import pathlib
import random
import resource
import struct
import subprocess
import sys
import tempfile
import time

import xxhash

PAIR_COST = 64 << 10


def largest_over_mean(sizes, shards):
    """What it is, and what no plan is below: the largest pair, or the least two that must be together."""
    loads = [(0, shard) for shard in range(shards)]
    sorted_costs = sorted((size + PAIR_COST for size in sizes), reverse=True)
    for cost in sorted_costs:
        load, shard = heapq.heappop(loads)
        heapq.heappush(loads, (load + cost, shard))
    costs = [load for load, _ in loads]
    mean = sum(costs) / shards
    return max(costs) / mean, max(sorted_costs[0], sum(sorted_costs[shards - 1 : shards + 1]), mean) / mean


def balance(shards):
    rng = random.Random(1)
    distributions = {
        "all of 1 KiB": lambda: 1 << 10,
        "uniform to 1 MiB": lambda: rng.randrange(1 << 20),
        "exponential, 1 MiB in the mean": lambda: int(rng.expovariate(1) * (1 << 20)),
        "log-normal, sigma 2": lambda: int(rng.lognormvariate(13, 2)),
        "activations: 1 KiB to 256 MiB by powers of 4": lambda: 1 << rng.randrange(10, 29, 2),
    }
    print(f"largest shard over the mean | 10^4 pairs, {shards} shards | 10^6 pairs, {shards} shards")
    for name, draw in distributions.items():
        figures = [largest_over_mean([draw() for _ in range(pairs)], shards) for pairs in (10**4, 10**6)]
        print(name, *(f"{found:.3f} (at least {least:.3f})" for found, least in figures), sep=" | ", flush=True)


def npy(path, values):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)},), }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    path.parent.mkdir(exist_ok=True)
    data = struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}f", *values)
    path.write_bytes(b"\x93NUMPY\x01\x00" + data)


def template(btftool, folder):
    """The head, and the lines of a pair that is the same and of one that is not."""
    values = [i / 7 for i in range(500)]
    for name, last in (("same", 0.0), ("unlike", 1.0)):
        npy(folder / f"a/{name}.npy", [*values, 0.0])
        npy(folder / f"g/{name}.npy", [*values, last])
    subprocess.run([btftool, "diff", "-q", "--part", "t", "a", "g"], cwd=folder, check=True)
    lines = (folder / "t").read_text().splitlines()
    return json.loads(lines[0]), *lines[1:3]


def write_parts(folder, head, same, unlike, tensors, shards):
    numbers = list(range(tensors))
    random.Random(1).shuffle(numbers)
    head.update(of=shards, pairs=tensors)
    (folder / "part").mkdir()
    for shard in range(1, shards + 1):
        lines = [json.dumps(head | {"shard": shard}, separators=(",", ":"))]
        own = sorted(numbers[shard - 1 :: shards])
        results = 0
        for number in own:
            name, line = ("unlike", unlike) if number % 100 == 0 else ("same", same)
            line = line.replace(line[: line.index(",")], f'{{"number":{number}', 1)
            line = line.replace(f"{name}.npy", f"layer{number // 1000}/t{number}.npy")
            line = line.replace(f'"{name}"', f'"layer{number // 1000}/t{number}"', 3) if name == "unlike" else line
            results += xxhash.xxh3_64_intdigest(line[: line.rindex(',"sizes":[')].encode() + b"}")
            lines.append(line)
        text = ("\n".join(lines) + "\n").encode()
        counts = {"items": len(own), "same": 0, "different": 0, "trouble": 0}
        tail = {"end": True, "counts": counts, "digest": xxhash.xxh3_128_hexdigest(text)}
        tail["results"] = f"{results % 2**64:016x}"
        text += json.dumps(tail, separators=(",", ":")).encode() + b"\n"
        (folder / f"part/{shard}.jsonl").write_bytes(text)


def merge(btftool, folder, words):
    """Seconds, and the peak of this process's memory as the kernel counts it."""
    began = time.monotonic()
    parts = sorted(str(path) for path in (folder / "part").glob("*.jsonl"))
    child = subprocess.Popen([btftool, "merge", *words, *parts], cwd=folder, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 1, "merge failed"
    return time.monotonic() - began, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("btftool", type=os.path.abspath)
    parser.add_argument("--tensors", type=int, default=10**6)
    parser.add_argument("--balance", action="store_true", help="only that")
    parser.add_argument("--shards", type=int, default=1000)
    options = parser.parse_args()
    balance(options.shards)
    if options.balance:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_parts(folder, *template(options.btftool, folder), options.tensors, options.shards)
        size = sum(path.stat().st_size for path in (folder / "part").iterdir())
        print(f"\n{options.tensors} tensors in {options.shards} parts of {size / 1e9:.2f} GB | seconds | MiB")
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 1024), hard))
        for words in ([], ["--summary"], ["--json"], ["-j1"]):
            seconds, memory = merge(options.btftool, folder, words)
            print(f"merge {' '.join(words)} | {seconds:.1f} | {memory:.0f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
