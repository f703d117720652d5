"""Reports judged again, and reports that go to other processes: the command says what they are."""

import concurrent.futures
import json
import multiprocessing
import os
import pickle
import subprocess

import numpy as np
import pytest

import btf

DATA = os.path.join(os.path.dirname(__file__), "..", "..", "testdata")
LAYERS = [os.path.join(DATA, "layers", name) for name in ("dead_channel.npz", "golden.npz")]
TOOL = os.environ.get("BTFTOOL", "btftool")


def run(*words):
    return subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "report.json"
    done = run("diff", "--json", *LAYERS)
    assert done.returncode == 1
    path.write_text(done.stdout)
    return path


@pytest.mark.parametrize("criteria, words", [
    ({}, []), ({"atol": 1e-3}, ["--atol", "1e-3"]), ({"rtol": 0.5, "atol": 10}, ["--rtol", "0.5", "--atol", "10"]),
    ({"cosine": 0.999}, ["--cosine", "0.999"]), ({"close": True, "max_mismatch_percent": 50}, ["--close", "--max-mismatch", "50%"]),
    ({"rmse": 1e-3, "equal_nan": False}, ["--rmse", "1e-3", "--no-equal-nan"]), ({"ulp": 10**6}, ["--ulp", "1000000"])])
def test_as_the_command_says(saved, criteria, words):
    done = run("diff", "--json", "--from-json", saved, *words)
    for source in (saved, str(saved), saved.read_text(), btf.diff(*LAYERS, figures=True)):
        report = btf.rejudge(source, **criteria)
        assert {0: (True, False), 1: (False, False), 2: (False, True)}[done.returncode] == (report.same, report.trouble)
        if done.returncode == 2:  # one pair of files in trouble: the command prints no report
            assert report.as_dict()["members"][0]["error"].split(", which")[0] in done.stderr
            continue
        mine, theirs = json.loads(report.json()), json.loads(done.stdout)
        assert mine == theirs and report.json() == done.stdout


def test_verdicts_are_those_of_a_new_comparison():
    random = np.random.default_rng(8)
    decided = 0
    for _ in range(200):
        golden = random.standard_normal(60).astype("f4")
        actual = (golden + random.standard_normal(60) * 10.0 ** random.integers(-6, 0)).astype("f4")
        report = btf.diff(actual, golden, rtol=10.0 ** random.integers(-6, 0))
        atol = 10.0 ** random.integers(-6, 1)
        again = btf.rejudge(report, atol=atol)
        expected = np.allclose(actual.astype("f8"), golden.astype("f8"), 0, atol)
        if again.trouble:
            continue
        decided += 1
        assert again.same == expected
    assert decided > 150


def test_mistakes(saved, tmp_path):
    for criteria in ({"strict": True}, {"hints": False}, {"rtoll": 1}):
        with pytest.raises(TypeError, match=f"rejudge\\(\\) has no criterion '{next(iter(criteria))}'"):
            btf.rejudge(saved, **criteria)
    with pytest.raises(FileNotFoundError):
        btf.rejudge(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text('{"schema": "btftool/diff/2"}')
    with pytest.raises(btf.Malformed, match="bad.json"):
        btf.rejudge(tmp_path / "bad.json")
    with pytest.raises(btf.Malformed):
        btf.rejudge("{}")
    with pytest.raises(TypeError, match="a DiffReport, a path"):
        btf.rejudge(5)
    report = btf.diff([1.0, 2.0], [1.0, 2.5], max_mismatch=0)
    assert btf.rejudge(btf.diff([1.0, np.inf], [1.0, np.nan]), top_k=1).trouble
    assert btf.rejudge(report, max_mismatch=1).same and not report.same


def equal(one, other):
    assert type(one) is type(other)
    assert one.json() == other.json()
    for columns in (60, 120):
        for full in (False, True):
            assert one.text(columns, full) == other.text(columns, full)
    assert one.html() == other.html() and one.junit() == other.junit()


@pytest.mark.parametrize("criteria", [
    {}, {"rtol": 1e-2}, {"close": True, "hints": False}, {"cosine": 0.9, "top_k": 3, "figures": True},
    {"max_mismatch_percent": 1, "heatmap": True, "show": 10}, {"strict": True, "equal_nan": False}])
def test_diff_reports_pickle(tmp_path, criteria):
    random = np.random.default_rng(1)
    golden = random.standard_normal((3, 4, 5)).astype("f4")
    special = golden.copy()
    special[0, 0, :3] = np.nan, np.inf, -np.inf
    (tmp_path / "a").mkdir()
    (tmp_path / "g").mkdir()
    for name in ("one", "two"):
        np.save(tmp_path / "a" / f"{name}.npy", special)
        np.save(tmp_path / "g" / f"{name}.npy", golden)
    np.save(tmp_path / "a" / "more.npy", golden)
    (tmp_path / "a" / "two.npy").write_bytes(b"\x93NUMPY")
    for actual, other in ((special, golden), (golden, golden), (golden, golden[:2]), (golden.transpose(0, 2, 1).copy(), golden),
                          (golden.astype("f2"), golden), (tmp_path / "a", tmp_path / "g"), tuple(LAYERS)):
        report = btf.diff(actual, other, **criteria)
        copy = pickle.loads(pickle.dumps(report))
        equal(report, copy)
        assert (report.same, report.trouble) == (copy.same, copy.trouble)
        equal(copy, pickle.loads(pickle.dumps(copy)))
        assert [one.as_dict() for one in pickle.loads(pickle.dumps(report.tensors))] == report.as_dict()["tensors"]


@pytest.mark.parametrize("options", [{}, {"graph": os.path.join(DATA, "layers", "weights.onnx")}, {"max_error": 0.5, "hints": False},
                                     {"compute": "fp16", "computes": {"*Softmax*": np.float32}}])
def test_layers_reports_pickle(options):
    for actual in LAYERS:
        report = btf.layers(actual, LAYERS[1], **options)
        copy = pickle.loads(pickle.dumps(report))
        equal(report, copy)
        assert report.well == copy.well and report.verdict == copy.verdict


def _compare(shift):
    golden = np.arange(10, dtype=np.float32)
    return btf.diff(golden + np.float32(shift), golden, atol=1.5)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_reports_come_from_processes(method):
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        reports = list(pool.map(_compare, [1, 2]))
    assert [report.same for report in reports] == [True, False]
    equal(reports[1], _compare(2))


def test_the_report_of_a_tensor():
    golden = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    actual = golden.copy()
    actual[1, 2, 3] += 0.25
    (tensor,) = btf.diff(actual, golden).tensors
    assert (tensor.result, tensor.same, tensor.compared, tensor.mismatched) == ("different", False, 24, 1)
    assert tensor.max_abs == 0.25 and tensor.max_rel == np.float64(0.25) / 23 and tensor.reason is None
    assert tensor.worst["index"] == [1, 2, 3] and tensor.worst["actual"] == 23.25
    assert tensor.required["atol"] == 0.25
    assert not tensor.criteria[0]["passed"]
    (tensor,) = btf.diff(golden.transpose(0, 2, 1).copy().reshape(2, 3, 4), golden).tensors
    assert tensor.causes[0][0] == "permutation"
    (tensor,) = btf.diff(golden, golden).tensors
    assert tensor.same and tensor.worst is None and tensor.causes == []
    (tensor,) = btf.diff(golden, golden[:1]).tensors
    assert tensor.result == "shape" and tensor.reason
    (tensor,) = btf.diff([1.0], [0.0]).tensors
    assert tensor.max_rel == np.inf
