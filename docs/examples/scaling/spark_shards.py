"""Compares two directories in shards with Spark.

    spark-submit --master URL spark_shards.py ACTUAL GOLDEN SHARDS [OPTION OF DIFF...]

Paths are as every machine sees them. Parts are left in ./part; run it again for those that are missing.
"""

import os
import subprocess
import sys

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession


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
    # One partition a shard, so that each is a task of its own, which Spark tries spark.task.maxFailures times (4). On one
    # machine that is the second number of the master: local[8] never tries again, local[8,4] does.
    spark = SparkSession.builder.appName("btftool diff").getOrCreate()
    try:
        if commands:
            spark.sparkContext.parallelize(commands, len(commands)).foreach(run)
    except Py4JJavaError as error:
        print(f"lost: {error.java_exception.getMessage()}", file=sys.stderr)
    spark.stop()
    return merge(int(shards))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
