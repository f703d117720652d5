#!/usr/bin/env python3
"""The scripts of docs/examples/scaling, each on its engine, with a worker or a task that is killed.

    engines.py BTFTOOL [ENGINE...]

What the parts give is compared with one run, byte for byte. An engine that is not there is skipped by
name; those in Python are those of the Python that runs this.
Exit codes: 0 all that ran are right, 1 one is not.
"""

import contextlib
import importlib.util
import os
import pathlib
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "docs/examples/scaling"
SHARDS = 8
OPTIONS = ["--rtol", "1e-3"]

# In place of btftool: the first time that shard 3 is run, KILL is killed before it has written all.
WRAPPER = """#!/usr/bin/env bash
if [[ " $* " == *" 3/{shards} "* ]] && mkdir {folder}/killed 2>/dev/null; then
  case $KILL in
    worker) kill -KILL $PPID; exit 1 ;;
    task) kill -KILL $$ ;;
  esac
fi
exec {btftool} "$@"
"""


class Skipped(Exception):
    pass


def npy(path, values):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)},), }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    data = struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}f", *values)
    path.write_bytes(b"\x93NUMPY\x01\x00" + data)


def make(folder):
    rng = random.Random(3)
    for i in range(60):
        values = [rng.gauss(0, 1) for _ in range(rng.randrange(2, 4000))]
        npy(folder / f"out/layer{i % 4}/t{i}.npy", values)
        if i % 7 == 1:
            values[0] += 1
        if i != 5:
            npy(folder / f"golden/layer{i % 4}/t{i}.npy", values)
    npy(folder / "golden/bad.npy", [1.0])
    (folder / "out/bad.npy").write_bytes(b"\x93NUMPY\x01\x00no header")


def tree(folder):
    files = (path for path in pathlib.Path(folder).rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in files}


def run(command, **more):
    return subprocess.run(command, capture_output=True, timeout=240, **more)


def script(name, *before):
    return [*before, str(EXAMPLES / name), "out", "golden", str(SHARDS), *OPTIONS]


def need_command(*names):
    for name in names:
        if not shutil.which(name):
            raise Skipped(f"there is no {name}")


def need_module(name):
    if importlib.util.find_spec(name) is None:
        raise Skipped(f"Python has no {name}")


def python_script(name, runs=1, before=(), replaced=None):
    """Runs it `runs` times: what a killed worker leaves is for the next one."""
    path = EXAMPLES / name
    if replaced:
        path = pathlib.Path(name)
        path.write_text((EXAMPLES / name).read_text().replace(*replaced))
    for _ in range(runs):
        command = [*(before or [sys.executable]), str(path), "out", "golden", str(SHARDS), *OPTIONS]
        done = run(command)
    return done


def parallel():
    need_command("parallel")
    os.environ["KILL"] = "task"
    os.environ["RETRIES"] = "1"
    os.environ["JOBS"] = "2"
    first = run(script("parallel.sh", "bash"))
    assert first.returncode == 2 and b"shard 3 of 8 is missing" in first.stderr, first
    return run(script("parallel.sh", "bash"))


def parallel_retries():
    need_command("parallel")
    os.environ["KILL"] = "task"
    os.environ["RETRIES"] = "3"
    return run(script("parallel.sh", "bash"))


def parallel_commands():
    """Every command that has shards, each with a task that is killed."""
    need_command("parallel")
    os.environ.update(KILL="task", RETRIES="3")
    graph = pathlib.Path(__file__).resolve().parents[2] / "testdata/layers/weights.onnx"
    nets = graph.parent
    for net in ("healthy", "dead_channel"):
        run(["btftool", "convert", "-q", "--format", "npy", str(nets / f"{net}.npz"), f"{net}/"])
    for command, actual, golden, options in [
        ("layers", "dead_channel", "healthy", ["--graph", str(graph)]),
        ("validate", "out", "golden", ["--strict"]),
        ("convert", "golden", "converted/", ["--dtype", "fp16"]),
    ]:
        shutil.rmtree("killed", ignore_errors=True)
        os.environ["COMMAND"] = command
        done = run(["bash", str(EXAMPLES / "parallel.sh"), actual, golden, str(SHARDS), *options])
        assert os.path.isdir("killed"), f"{command}: nothing was killed"
        shards = tree("converted")
        shutil.rmtree("converted", ignore_errors=True)
        single = run(["btftool", command, *options, actual, golden])
        assert done.returncode == single.returncode, (done, single)
        said = [line for line in done.stdout.splitlines() if not line.startswith(b"shard ")]
        assert said == single.stdout.splitlines(), (done, single)
        assert shards == tree("converted"), f"{command}: other files"
        assert command != "convert" or len(shards) > 50, done
        shutil.rmtree("part")
    os.environ["COMMAND"] = "diff"
    return run(script("parallel.sh", "bash"))


def processes():
    os.environ["KILL"] = "worker"
    return python_script("process_pool.py")


def loky():
    need_module("loky")
    os.environ["KILL"] = "worker"
    return python_script(
        "process_pool.py",
        replaced=("from concurrent.futures import ProcessPoolExecutor", "from loky import ProcessPoolExecutor"),
    )


def dask():
    need_module("distributed")
    os.environ["KILL"] = "worker"
    return python_script("dask_shards.py")


def mpi():
    need_command("mpiexec")
    need_module("mpi4py")
    os.environ["KILL"] = "worker"
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    mpiexec = ["mpiexec", "--oversubscribe", "-n", "3", sys.executable, "-m", "mpi4py.futures"]
    return python_script("mpi_shards.py", runs=2, before=mpiexec)


def ray():
    need_module("ray")
    os.environ["KILL"] = "worker"
    os.environ.update(RAY_DEDUP_LOGS="0", RAY_USAGE_STATS_ENABLED="0", RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO="0")
    return python_script("ray_shards.py")


def spark():
    need_module("pyspark")
    need_command("java")
    os.environ["KILL"] = "worker"
    submit = [sys.executable, "-m", "pyspark.find_spark_home"]
    home = run(submit).stdout.decode().strip()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    return python_script("spark_shards.py", before=[f"{home}/bin/spark-submit", "--master", "local[2,4]"])


SLURM = """ClusterName=test
SlurmUser=root
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=1000
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


@contextlib.contextmanager
def slurm_of_one_node():
    folder = pathlib.Path("slurm").resolve()
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    config = folder / "slurm.conf"
    config.write_text(SLURM.format(host=socket.gethostname(), folder=folder, cpus=os.cpu_count()))
    os.environ["SLURM_CONF"] = str(config)
    os.makedirs("/run/munge", exist_ok=True)
    shutil.chown("/run/munge", "munge")
    munged = not os.path.exists("/run/munge/munge.socket.2")
    if munged:
        subprocess.run(["runuser", "-u", "munge", "--", "/usr/sbin/munged"], check=True)
    started = [
        subprocess.Popen(["slurmctld", "-D"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL),
        subprocess.Popen(["slurmd", "-D"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL),
    ]
    try:
        until = time.monotonic() + 60
        while b"idle" not in run(["sinfo", "-h", "-o", "%T"]).stdout:
            if time.monotonic() > until:
                raise Skipped("it does not start here: " + (folder / "slurmctld.log").read_text()[-300:])
            time.sleep(0.3)
        yield
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait()
        if munged:
            subprocess.run(["pkill", "munged"], check=False)


def slurm():
    need_command("slurmctld", "slurmd", "sbatch", "munged")
    if os.geteuid() != 0:
        raise Skipped("not root, as its daemons are here")
    os.environ["KILL"] = "task"
    with slurm_of_one_node():
        for expected in (b"shard 3 of 8 is missing", b"first different"):
            pathlib.Path("merge.txt").unlink(missing_ok=True)
            submitted = run(script("slurm.sh", "bash"))
            assert submitted.returncode == 0, submitted
            until = time.monotonic() + 120
            while run(["squeue", "-h"]).stdout.strip():
                assert time.monotonic() < until, run(["squeue"]).stdout
                time.sleep(0.3)
            assert expected in pathlib.Path("merge.txt").read_bytes(), pathlib.Path("merge.txt").read_bytes()[-300:]
    return None


def kubernetes():
    """No cluster: the command of the manifest for each index, and the manifest against the schema."""
    text = (EXAMPLES / "kubernetes.yaml").read_text()
    command = " ".join(text.split("exec btftool ")[1].split("env:")[0].split())
    command = command.replace("/part/", "part/").replace("/actual", "out").replace("/golden", "golden")
    os.environ.update(KILL="task", SHARDS=str(SHARDS))
    os.makedirs("part", exist_ok=True)
    for index in range(SHARDS):
        for tries in range(3):
            os.environ["JOB_COMPLETION_INDEX"] = str(index)
            if run(["sh", "-c", f"exec btftool {command} {' '.join(OPTIONS)}"]).returncode == 0:
                break
    if importlib.util.find_spec("kubernetes_validate"):
        for name in ("kubernetes.yaml", "kubernetes_merge.yaml"):
            checked = run([sys.executable, "-m", "kubernetes_validate", str(EXAMPLES / name)])
            assert checked.returncode == 0, checked
    else:
        print("kubernetes: the manifest is not checked: Python has no kubernetes_validate")
    return None


ENGINES = [parallel, parallel_retries, parallel_commands, slurm, kubernetes, processes, loky, dask, mpi, ray, spark]


def check(engine, btftool):
    """The verdict of the script, if it has one, and the parts that it left."""
    environment = dict(os.environ)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.chdir(folder)
        make(folder)
        (folder / "bin").mkdir()
        wrapper = folder / "bin/btftool"
        wrapper.write_text(WRAPPER.format(folder=folder, btftool=btftool, shards=SHARDS))
        wrapper.chmod(0o755)
        os.environ["PATH"] = f"{folder}/bin:{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
        try:
            done = engine()
            single = run([btftool, "diff", "--json", *OPTIONS, "out", "golden"])
            parts = sorted(str(path) for path in pathlib.Path("part").glob("*.jsonl"))
            merged = run([btftool, "merge", "--expect", str(SHARDS), "--json", *parts])
            assert (folder / "killed").exists(), "nothing was killed"
            assert done is None or done.returncode == single.returncode, done
            assert merged.stdout == single.stdout, merged.stderr.decode()[-300:] + str(done)[-1500:]
            assert merged.returncode == single.returncode == 2
        finally:
            os.environ.clear()
            os.environ.update(environment)
            os.chdir("/")


def main(btftool, *names):
    btftool = os.path.abspath(btftool)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    failed = 0
    for engine in ENGINES:
        if names and engine.__name__ not in names:
            continue
        began = time.monotonic()
        try:
            check(engine, btftool)
            print(f"{engine.__name__}: as one run says it ({time.monotonic() - began:.0f} s)", flush=True)
        except Skipped as why:
            print(f"skipped: {engine.__name__}: {why}", flush=True)
        except (AssertionError, subprocess.SubprocessError) as error:
            failed += 1
            print(f"FAILED {engine.__name__}: {str(error)[:2000]}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
