#!/usr/bin/env bash
# Spark: a Python worker is killed, and its task is tried again.
. "$(dirname -- "$0")/common.sh"
type -P java >/dev/null || skip Java
has pyspark || skip Spark
type -P spark-submit >/dev/null || skip spark-submit
engine spark "$1"
export SPARK_LOCAL_IP=127.0.0.1 SPARK_LOCAL_DIRS=$scratch/spark PYSPARK_PYTHON
PYSPARK_PYTHON=$(type -P python3)

DYING=parent exits "$expected" spark-submit --master 'local[2,4]' --conf spark.ui.enabled=false \
  "$examples/spark_shards.py" "$actual" "$golden" "$shards"
[[ -e $DYING_MARK ]] || fail "nothing was killed"
same_as_single
