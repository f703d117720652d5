"""btf.batch.diff by executors against btf.diff."""

import concurrent.futures
import os
import signal
import subprocess

import btf
import btf.batch
import numpy as np
import pytest


@pytest.fixture
def folders(tmp_path):
    rng = np.random.default_rng(5)
    for side in ("out", "golden"):
        (tmp_path / side / "sub").mkdir(parents=True)
    for i in range(24):
        place = f"{'sub/' if i % 2 else ''}t{i}.npy"
        values = rng.standard_normal(rng.integers(2, 300)).astype(np.float32)
        np.save(tmp_path / "out" / place, values)
        if i % 5 == 2:
            values[0] += 1
        if i != 7:
            np.save(tmp_path / "golden" / place, values)
    np.save(tmp_path / "golden" / "bad.npy", values)
    (tmp_path / "out" / "bad.npy").write_bytes(b"\x93NUMPY\x01\x00no header")
    (tmp_path / "out" / "notes.txt").write_text("no tensors")
    return str(tmp_path / "out"), str(tmp_path / "golden")


class Serial(concurrent.futures.Executor):
    """In this thread; counts what is with it."""

    def __init__(self, lose=()):
        self.calls = []
        self.lose = list(lose)

    def submit(self, function, *args, **kwargs):
        future = concurrent.futures.Future()
        self.calls.append(args[-1])
        if self.lose and self.lose.pop(0):
            future.set_exception(concurrent.futures.BrokenExecutor("lost"))
        else:
            future.set_result(function(*args, **kwargs))
        return future


def alike(found, expected):
    assert found.json() == expected.json()
    assert found.text() == expected.text()
    assert (found.same, found.trouble) == (expected.same, expected.trouble)


@pytest.mark.parametrize("options", [{}, {"close": True, "max_mismatch_percent": 10.0, "figures": True},
                                     {"rtol": 1e-3, "heatmap": True, "hints": False, "equal_nan": False}])
def test_report_is_that_of_one_run(folders, options):
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        alike(btf.batch.diff(*folders, executor=executor, **options), btf.diff(*folders, **options))


def test_processes(folders):
    with concurrent.futures.ProcessPoolExecutor(2) as executor:
        alike(btf.batch.diff(*folders, executor=executor), btf.diff(*folders))


def test_two_files(folders):
    for name in ("t0.npy", "t2.npy"):
        paths = [f"{side}/{name}" for side in folders]
        alike(btf.batch.diff(*paths, executor=Serial()), btf.diff(*paths))


def test_lost_workers_work_is_submitted_again(folders, monkeypatch):
    monkeypatch.setattr(btf.batch, "_TASK_BYTES", 1)
    executor = Serial(lose=[False, True, True, False, True])
    alike(btf.batch.diff(*folders, executor=executor), btf.diff(*folders))
    assert len(executor.calls) == len(set(executor.calls)) + 3


def test_largest_first(folders, monkeypatch):
    monkeypatch.setattr(btf.batch, "_TASK_BYTES", 1)
    executor = Serial()
    btf.batch.diff(*folders, executor=executor)
    names = [member["name"] for member in btf.diff(*folders).as_dict()["members"]]
    bytes_of = [sum(os.path.getsize(f"{side}/{name}") for side in folders if os.path.exists(f"{side}/{name}"))
                for name in names]
    order = [bytes_of[number] for (number,) in executor.calls]
    assert order == sorted(order, reverse=True)
    assert sorted(number for (number,) in executor.calls) == list(range(len(names)))


def test_interrupted_and_resumed(folders, monkeypatch, tmp_path):
    monkeypatch.setattr(btf.batch, "_TASK_BYTES", 1)
    part = tmp_path / "run.jsonl"
    with pytest.raises(btf.batch.BatchInterrupted) as caught:
        btf.batch.diff(*folders, executor=Serial(lose=[False] * 9 + [True] * 99), part=part, retries=1)
    assert 0 < caught.value.done < caught.value.pairs
    assert str(part) in str(caught.value)
    assert not part.exists()
    again = Serial()
    alike(btf.batch.diff(*folders, executor=again, part=part), btf.diff(*folders))
    assert len(again.calls) == caught.value.pairs - caught.value.done
    third = Serial()
    alike(btf.batch.diff(*folders, executor=third, part=part), btf.diff(*folders))
    assert not third.calls


def _kill(*args):
    os.kill(os.getpid(), signal.SIGKILL)


def test_killed_process(folders, monkeypatch, tmp_path):
    """A process pool loses all that is pending and takes no more: another one goes on."""
    monkeypatch.setattr(btf.batch, "_TASK_BYTES", 1)
    part = tmp_path / "run.jsonl"
    with concurrent.futures.ProcessPoolExecutor(1) as executor:
        executor.submit(_kill)
        with pytest.raises(btf.batch.BatchInterrupted):
            btf.batch.diff(*folders, executor=executor, part=part)
    with concurrent.futures.ProcessPoolExecutor(1) as executor:
        alike(btf.batch.diff(*folders, executor=executor, part=part), btf.diff(*folders))


def test_loky(folders):
    loky = pytest.importorskip("loky")
    with loky.ProcessPoolExecutor(2) as executor:
        alike(btf.batch.diff(*folders, executor=executor), btf.diff(*folders))


def test_dask(folders):
    distributed = pytest.importorskip("distributed")
    with distributed.Client(processes=False, dashboard_address=None) as client:
        executor = client.get_executor(pure=False)
        alike(btf.batch.diff(*folders, executor=executor), btf.diff(*folders))


def test_ray(folders, tmp_path, monkeypatch):
    """The adapter of docs/examples, with a worker that is killed."""
    ray = pytest.importorskip("ray")
    examples = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "examples", "scaling")
    monkeypatch.syspath_prepend(examples)
    from ray_executor import RayExecutor

    paths = os.pathsep.join([examples, os.path.dirname(__file__), os.path.dirname(os.path.dirname(btf.__file__))])
    ray.init(num_cpus=2, include_dashboard=False, runtime_env={"env_vars": {"PYTHONPATH": paths}})
    try:
        killed = tmp_path / "killed"

        class KillOnce(RayExecutor):
            def submit(self, fn, /, *given):
                return super().submit(_killed_once, str(killed), fn, *given)

        alike(btf.batch.diff(*folders, executor=KillOnce()), btf.diff(*folders))
        assert killed.exists()
        alike(btf.batch.diff(*folders, executor=RayExecutor()), btf.diff(*folders))
    finally:
        ray.shutdown()


def _killed_once(mark, work, *given):
    try:
        os.mkdir(mark)
    except FileExistsError:
        return work(*given)
    os.kill(os.getpid(), 9)


def test_part_is_one_of_the_command(folders, tmp_path):
    btftool = os.environ.get("BTFTOOL")
    if not btftool:
        pytest.skip("BTFTOOL is not set")
    part = tmp_path / "run.jsonl"
    options = {"rtol": 1e-3, "max_mismatch_percent": 1.5, "equal_nan": False}
    btf.batch.diff(*folders, executor=Serial(), part=part, figures=True, **options)
    merged = subprocess.run([btftool, "merge", "--json", part], capture_output=True, check=False)
    single = subprocess.run([btftool, "diff", "--json", "--rtol=0.001", "--max-mismatch=1.5%", "--no-equal-nan",
                             *folders], capture_output=True, check=False)
    assert (merged.stdout, merged.returncode) == (single.stdout, single.returncode)


def test_files_that_come_and_go_are_an_error(folders, monkeypatch):
    """Numbers of pairs are those of the plan, or mean nothing."""
    monkeypatch.setattr(btf.batch, "_TASK_BYTES", 1)

    class Adding(Serial):
        def submit(self, function, *args, **kwargs):
            if len(self.calls) == 3:
                np.save(f"{folders[0]}/a.npy", np.zeros(3))
            return super().submit(function, *args, **kwargs)

    with pytest.raises(btf.Refused, match="not those of the plan"):
        btf.batch.diff(*folders, executor=Adding())


def test_errors_are_those_of_diff(folders):
    with pytest.raises(btf.NotFound):
        btf.batch.diff("no such", folders[1], executor=Serial())
    with pytest.raises(TypeError):
        btf.batch.diff(*folders, executor=Serial(), no_such_option=1)
    with pytest.raises(btf.InvalidArgument):
        btf.batch.diff(*folders, executor=Serial(), rtol=-1)


NETS = os.path.join(os.environ.get("TESTDATA", os.path.join(os.path.dirname(__file__), "../../testdata")), "layers")


@pytest.mark.parametrize("options", [{}, {"compute": "fp16", "computes": {"softmax*": "fp32"}, "hints": False},
                                     {"graph": "weights.onnx"}, {"graph": "weights.onnx", "weights": False},
                                     {"baseline": "healthy.npz", "max_error": 0.5}, {"order": "fc2\nfc1"}])
def test_layers(options, tmp_path):
    for name in ("graph", "baseline"):
        if name in options:
            options = {**options, name: os.path.join(NETS, options[name])}
    if "order" in options:
        options = {**options, "order": open(os.path.join(NETS, "order.txt")).read()}
    for broken in ("dead_channel", "nan", "healthy"):
        sets = [os.path.join(NETS, f"{name}.npz") for name in (broken, "golden")]
        one = btf.layers(*sets, **options)
        with concurrent.futures.ThreadPoolExecutor(2) as executor:
            found = btf.batch.layers(*sets, executor=executor, **options)
        assert found.json() == one.json()
        assert found.text() == one.text()
        if "order" in options:
            with pytest.raises(btf.InvalidArgument, match="graph="):
                btf.batch.layers(*sets, executor=Serial(), part=tmp_path / "part", **options)


def test_layers_are_resumed_and_merged(tmp_path, monkeypatch):
    monkeypatch.setattr(btf.batch, "_TASK_BYTES", 1)
    sets = [os.path.join(NETS, f"{name}.npz") for name in ("scale", "golden")]
    part = tmp_path / "run.jsonl"
    options = {"graph": os.path.join(NETS, "weights.onnx"), "compute": "fp16", "require_all": True}
    with pytest.raises(btf.batch.BatchInterrupted) as caught:
        btf.batch.layers(*sets, executor=Serial(lose=[False] * 5 + [True] * 99), part=part, retries=1, **options)
    again = Serial()
    found = btf.batch.layers(*sets, executor=again, part=part, **options)
    assert len(again.calls) == caught.value.pairs - caught.value.done
    assert found.json() == btf.layers(*sets, **options).json()
    btftool = os.environ.get("BTFTOOL")
    if not btftool:
        pytest.skip("BTFTOOL is not set")
    merged = subprocess.run([btftool, "merge", "--json", part], capture_output=True, check=False)
    single = subprocess.run([btftool, "layers", "--json", "--graph", options["graph"], "--compute", "fp16",
                             "--require-all", *sets], capture_output=True, check=False)
    assert (merged.stdout, merged.returncode) == (single.stdout, single.returncode)


@pytest.mark.parametrize("options", [{}, {"graph": "model.onnx"}, {"dtype": ["bf16", "int8"], "graph": "model.onnx"}])
def test_fit(options, tmp_path, monkeypatch):
    monkeypatch.setattr(btf.batch, "_TASK_BYTES", 1 << 18)
    fits = os.path.join(NETS, "../fit")
    if "graph" in options:
        options = {**options, "graph": os.path.join(fits, options["graph"])}
    dumps = [os.path.join(fits, f"{name}.npz") for name in ("golden", "half")]
    one = btf.fit(*dumps, **options)
    executor = Serial()
    found = btf.batch.fit(*dumps, executor=executor, **options)
    assert len(executor.calls) > 2
    assert (found.json(), found.text(), found.fits) == (one.json(), one.text(), one.fits)
    part = tmp_path / "run.jsonl"
    with pytest.raises(btf.batch.BatchInterrupted) as caught:
        btf.batch.fit(*dumps, executor=Serial(lose=[False] + [True] * 99), part=part, retries=1, **options)
    assert 0 < caught.value.done < caught.value.pairs
    assert btf.batch.fit(*dumps, executor=Serial(), part=part, **options).json() == one.json()
    with pytest.raises(TypeError, match="needs a dump"):
        btf.batch.fit(executor=Serial())
    btftool = os.environ.get("BTFTOOL")
    if not btftool:
        pytest.skip("BTFTOOL is not set")
    merged = subprocess.run([btftool, "merge", "--json", part], capture_output=True, check=False)
    assert (merged.stdout.decode().strip(), merged.returncode) == (one.json().strip(), 0 if one.fits else 1)


def _files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("options", [{"dtype": "fp16"}, {"dtype": "int8", "scale": "auto", "format": "btf"},
                                     {"format": "npz", "compression": 3, "permute": (0,), "max_overflow": "1%"}])
def test_convert(folders, tmp_path, options, monkeypatch):
    source = folders[0]
    os.remove(os.path.join(source, "bad.npy"))
    monkeypatch.setattr(btf.batch, "_TASK_BYTES", 500)
    one = btf.convert(source, f"{tmp_path}/one/", **options)
    executor = Serial()
    found = btf.batch.convert(source, f"{tmp_path}/two/", executor=executor, **options)
    assert len(executor.calls) > 3
    assert _files(tmp_path / "two") == _files(tmp_path / "one")
    assert found.bytes == one.bytes
    state = [(t.name, t.dtype, t.layout, t.shape, t.source_shape, t.scales, t.zero_points, t.scale_records, t.warnings,
              t.nnz, t.snr, t.loss.changed, t.loss.elements, t.loss.max_abs) for t in one.tensors]
    assert state == [(t.name, t.dtype, t.layout, t.shape, t.source_shape, t.scales, t.zero_points, t.scale_records,
                      t.warnings, t.nnz, t.snr, t.loss.changed, t.loss.elements, t.loss.max_abs) for t in found.tensors]
    assert [t.output.replace("/two/", "/one/") for t in found.tensors] == [t.output for t in one.tensors]


def test_convert_is_resumed(folders, tmp_path, monkeypatch):
    source = folders[0]
    os.remove(os.path.join(source, "bad.npy"))
    monkeypatch.setattr(btf.batch, "_TASK_BYTES", 1)
    part = tmp_path / "run.jsonl"
    with pytest.raises(btf.batch.BatchInterrupted) as caught:
        btf.batch.convert(source, f"{tmp_path}/two/", executor=Serial(lose=[False] * 9 + [True] * 99), part=part,
                          retries=0, dtype="bf16")
    again = Serial()
    btf.batch.convert(source, f"{tmp_path}/two/", executor=again, part=part, dtype="bf16")
    assert len(again.calls) == caught.value.pairs - caught.value.done
    btf.convert(source, f"{tmp_path}/one/", dtype="bf16")
    assert _files(tmp_path / "two") == _files(tmp_path / "one")
    with pytest.raises(btf.InvalidArgument, match="directory"):
        btf.batch.convert(source, tmp_path / "two.npz", executor=again)


def test_convert_in_processes(folders, tmp_path):
    source = folders[1]
    with concurrent.futures.ProcessPoolExecutor(2) as executor:
        btf.batch.convert(source, f"{tmp_path}/two/", executor=executor, dtype="fp16", layout="linear")
    btf.convert(source, f"{tmp_path}/one/", dtype="fp16", layout="linear")
    assert _files(tmp_path / "two") == _files(tmp_path / "one")
