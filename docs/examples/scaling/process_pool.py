"""Compares two directories in shards in processes of this machine.

    process_pool.py ACTUAL GOLDEN SHARDS [OPTION OF DIFF...]

Paths are as every machine sees them. Parts are left in ./part; run it again for those that are missing.
"""

import os
import subprocess
import sys
from concurrent.futures import BrokenExecutor
from concurrent.futures import ProcessPoolExecutor  # or: from loky import ProcessPoolExecutor

TRIES = 3


def run(command):
    """One shard. Its exit code is 0 when the part is complete, whatever the verdict."""
    subprocess.run(command, check=True)


def missing(actual, golden, shards, options):
    """The commands of the shards that have no part yet."""
    for shard in range(1, shards + 1):
        part = os.path.abspath(f"part/{shard}.jsonl")
        if not os.path.exists(part):
            place = ["--shard", f"{shard}/{shards}", "--part", part]
            yield ["btftool", "diff", "--jobs", "1", "--resume", *place, *options, actual, golden]


def merge(shards):
    parts = [f"part/{shard}.jsonl" for shard in range(1, shards + 1)]
    there = [part for part in parts if os.path.exists(part)]
    return subprocess.run(["btftool", "merge", "--expect", str(shards), *there]).returncode


def try_all(commands):
    """Runs what it can. When a worker dies, all that waits in its pool is lost with it."""
    with ProcessPoolExecutor() as pool:
        try:
            futures = [pool.submit(run, command) for command in commands]
        except BrokenExecutor:
            return
        for future in futures:
            error = future.exception()
            if error is not None:
                print(f"lost: {error}", file=sys.stderr)


def main(actual, golden, shards, *options):
    os.makedirs("part", exist_ok=True)
    for _ in range(TRIES):
        commands = list(missing(actual, golden, int(shards), options))
        if not commands:
            break
        try_all(commands)  # a new pool for what the last one lost
    return merge(int(shards))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
