"""Compares two directories in shards with Dask.

    dask_shards.py ACTUAL GOLDEN SHARDS [OPTION OF DIFF...]

Paths are as every machine sees them. Parts are left in ./part; run it again for those that are missing.
"""

import os
import subprocess
import sys

from dask.distributed import Client, as_completed


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


def main(actual, golden, shards, *options):
    os.makedirs("part", exist_ok=True)
    commands = list(missing(actual, golden, int(shards), options))
    # Client() is a cluster on this machine; Client("tcp://HOST:8786") or DASK_SCHEDULER_ADDRESS another.
    with Client(dashboard_address=None) as client:
        # pure: two equal calls would be one. retries: of a command that failed; a worker that died has its own count.
        futures = client.map(run, commands, pure=False, retries=2)
        for future in as_completed(futures):
            if future.status != "finished":
                print(f"lost: {future.exception()}", file=sys.stderr)
    return merge(int(shards))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
