"""Assertions, and the fixture of pytest as its users run it."""

import os
import subprocess
import sys
from importlib.metadata import entry_points

import numpy as np
import pytest

import btf
import btf.testing


def test_the_message_says_what_users_ask_for():
    golden = np.linspace(-1, 1, 100, dtype=np.float32)
    actual = golden.copy()
    actual[42] += 0.5
    btf.testing.assert_same(golden, golden.copy())
    btf.testing.assert_same(actual, golden, max_mismatch=1)
    with pytest.raises(AssertionError) as caught:
        btf.testing.assert_same(actual, golden, name="block3", rtol=1e-3)
    message = str(caught.value)
    for part in ("block3: ", "1 of 100 elements", "[42]", "error 0.5", "would pass with", "atol="):
        assert part in message


TEST = """
import numpy as np

def test_block(golden):
    golden.check("block3", np.arange(600, dtype=np.float32) {change}, close=True)
    golden.check("net/out", [1.0, 2.0])
"""


def run(folder, *options, change="", **environment):
    (folder / "test_net.py").write_text(TEST.format(change=change))
    variables = {name: text for name, text in os.environ.items() if name != "CI"} | environment
    # An installed package announces its plugin.
    announced = entry_points(group="pytest11", name="btf")
    plugin = [] if announced else ["-p", "btf.pytest_plugin"]
    return subprocess.run([sys.executable, "-m", "pytest", "-q", *plugin, "-p", "no:cacheprovider", *options],
                          cwd=folder, env=variables, capture_output=True, text=True, check=False)


def test_the_fixture(tmp_path):
    done = run(tmp_path)
    assert done.returncode == 1 and "--btf-update saves it" in done.stdout
    refused = run(tmp_path, "--btf-update", CI="true")
    assert refused.returncode != 0 and "refused where CI is set" in refused.stderr + refused.stdout
    assert not (tmp_path / "golden").exists()
    assert run(tmp_path, "--btf-update").returncode == 0
    files = sorted(path.relative_to(tmp_path).as_posix() for path in (tmp_path / "golden").rglob("*.btf"))
    assert files == ["golden/test_net/block3.btf", "golden/test_net/net_out.btf"]
    assert run(tmp_path).returncode == 0
    failed = run(tmp_path, "--btf-report", "pages", change="* 1.5")
    assert failed.returncode == 1
    for part in ("block3: ", "599 of 600 elements", "scale", "golden: "):
        assert part in failed.stdout
    pages = list((tmp_path / "pages").rglob("*.html"))
    assert len(pages) == 1 and "<html" in pages[0].read_text()
    np.testing.assert_array_equal(btf.open(pages[0].with_suffix(".btf"))[0].numpy(), np.arange(600) * 1.5)
