"""Compares two directories in shards with Ray.

    ray_shards.py ACTUAL GOLDEN SHARDS [OPTION OF DIFF...]

Paths are as every machine sees them. Parts are left in ./part; run it again for those that are missing.
"""

import os
import subprocess
import sys

import ray


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
    ray.init()  # a cluster if RAY_ADDRESS names one, else this machine
    # Of a worker that died, and of a command that failed.
    task = ray.remote(max_retries=3, retry_exceptions=True, num_cpus=1)(run)
    for done in [task.remote(command) for command in missing(actual, golden, int(shards), options)]:
        try:
            ray.get(done)
        except ray.exceptions.RayError as error:
            print(f"lost: {error}", file=sys.stderr)
    ray.shutdown()
    return merge(int(shards))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
