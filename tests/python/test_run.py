"""How calls run: without the GIL, beside each other, after a fork, until Ctrl-C; what an import takes."""

import concurrent.futures
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import btf


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "x.npy"
    np.save(path, np.arange(48 << 20, dtype=np.float32))
    return path


def test_an_import_brings_neither_numpy_nor_torch():
    code = ("import sys, btf; btf.open, btf.diff, btf.convert, btf.Error; "
            "print([m for m in ('numpy', 'torch', 'ml_dtypes', 'json') if m in sys.modules])")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]" and done.stderr == ""


def test_every_name_is_there_when_it_is_used_and_not_before():
    code = ("import sys, btf; early = [m for m in sys.modules if m.startswith('btf.')]; "
            "print(early, [n for n in btf.__all__ if n not in dir(btf) or getattr(btf, n) is None]); from btf import *; open")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] []" and done.stderr == ""
    code = "import btf; btf.opne"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "module 'btf' has no attribute 'opne'" in done.stderr


def test_the_gil_is_free_while_a_file_is_read(large):
    counted = 0
    over = threading.Event()

    def count():
        nonlocal counted
        while not over.is_set():
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    tensor = btf.open(large)[0]
    before = counted
    tensor.read(dtype="fp16")
    during = counted - before
    over.set()
    thread.join()
    assert during > 1000


def test_one_file_for_several_threads(tmp_path):
    arrays = {f"t{i}": np.full((50, 60), i, np.float32) for i in range(20)}
    btf.save(tmp_path / "x.btf", arrays)
    tensors = btf.open(tmp_path / "x.btf")

    def read(i):
        return float(tensors[f"t{i % 20}"].numpy().sum())

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(read, range(400))) == [float(i % 20 * 3000) for i in range(400)]


def _sum(tensor):
    return float(tensor.numpy().sum())


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_tensors_go_to_processes(tmp_path, method):
    btf.save(tmp_path / "x.btf", {f"t{i}": np.full(1000, i, np.float32) for i in range(6)})
    tensors = btf.open(tmp_path / "x.btf")
    tensors[0].numpy()
    context = multiprocessing.get_context(method)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(_sum, tensors)) == [i * 1000.0 for i in range(6)]


def test_ctrl_c_ends_a_long_call(large, tmp_path):
    code = f"""
import signal, sys, btf
signal.signal(signal.SIGINT, signal.default_int_handler)
tensor = btf.open({os.fspath(large)!r})[0]
print("ready", flush=True)
try:
    while True:
        btf.convert({os.fspath(large)!r}, {os.fspath(tmp_path / "out.btf.zst")!r}, compression=19, jobs=1)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert out == "interrupted\n" and process.returncode == 0
    assert list(tmp_path.iterdir()) == []  # neither the file nor a part of it
