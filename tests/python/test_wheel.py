"""What was installed: the command, its licences, its versions."""

import importlib.metadata
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import btf
from btf.__main__ import command as find_command

ROOT = Path(__file__).parents[2]
BTFTOOL = os.environ["BTFTOOL"]
SAMPLE = ROOT / "testdata"


def installed() -> importlib.metadata.Distribution:
    try:
        found = importlib.metadata.distribution("btftool")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the package of a build tree")
    return found


def command() -> Path:
    try:
        return find_command()
    except FileNotFoundError:
        pytest.skip("the command was not built for the package: btftool_python in a build tree")


def output(*words) -> tuple[int, str, str]:
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_versions_agree():
    cmake = re.search(r"VERSION (\d+\.\d+\.\d+)", (ROOT / "CMakeLists.txt").read_text())[1]
    project = re.search(r'^version = "(.*?)"', (ROOT / "lib/python/pyproject.toml").read_text(), re.M)[1]
    assert project == cmake
    assert output(BTFTOOL, "--version")[1].split()[1] == cmake


def test_version_of_what_is_installed():
    assert installed().version == output(command(), "--version")[1].split()[1]


@pytest.mark.parametrize("words", [
    ["--version"],
    ["types"],
    ["inspect", SAMPLE / "nothing.btf"],
    ["inspec"],
    [],
])
def test_both_commands_are_the_one_that_was_built(words):
    expected = output(BTFTOOL, *words)
    assert output(command(), *words) == expected
    assert output(sys.executable, "-m", "btf", *words) == expected


def test_every_file_of_testdata_reads_the_same():
    """By the static program too, whose crc is another library's."""
    files = sorted(path for path in SAMPLE.rglob("*") if path.is_file())
    assert len(files) > 50
    for path in files:
        assert output(command(), "inspect", "--stats", path) == output(BTFTOOL, "inspect", "--stats", path)


def test_command_needs_no_library(tmp_path):
    installed()
    program = tmp_path / "btftool"
    program.write_bytes(command().read_bytes())
    program.chmod(0o755)
    if os.geteuid() == 0:  # where nothing else is
        assert output("chroot", tmp_path, "/btftool", "--version")[:2] == (0, output(BTFTOOL, "--version")[1])
    headers = output("readelf", "-lW", program)[1]
    assert "INTERP" not in headers
    assert "GNU_STACK" in headers


def test_command_is_found_wherever_the_package_lies(tmp_path, monkeypatch):
    """As pip's --target leaves it, in a folder of the root too, which has no folders above."""
    from btf import __main__ as main

    monkeypatch.setattr(main.sysconfig, "get_path", lambda *_: str(tmp_path / "none"))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "btftool").touch()
    monkeypatch.setattr(main, "__file__", str(tmp_path / "btf" / "__main__.py"))
    assert main.command() == tmp_path.resolve() / "bin" / "btftool"
    monkeypatch.setattr(main, "__file__", "/btf/__main__.py")
    with pytest.raises(FileNotFoundError, match="no btftool in .*: install the package btftool again"):
        main.command()


def test_licences_and_types_come_with_it():
    files = {str(path) for path in installed().files}
    assert "btf/py.typed" in files
    assert "btf/_btf.pyi" in files
    licences = {Path(path).stem for path in files if ".dist-info/licenses/" in path}
    assert {"libzstd-dev", "zlib1g-dev", "libdeflate-dev", "libfmt-dev", "libspdlog-dev", "libpng-dev", "libpugixml-dev", "libcli11-dev",
            "libhwy-dev", "libxxhash-dev", "nlohmann-json3-dev", "nanobind", "libstdc++6", "libc6"} <= licences


def test_import_brings_neither_numpy_nor_torch():
    code = "import sys, btf; btf.open; print(sorted({'numpy', 'torch', 'ml_dtypes'} & set(sys.modules)))"
    assert output(sys.executable, "-c", code) == (0, "[]\n", "")


def test_plugin_is_announced():
    entry, = installed().entry_points.select(group="pytest11")
    assert entry.load().__name__ == "btf.pytest_plugin"
    assert btf.__file__.startswith(str(Path(sys.prefix))) or "site-packages" in btf.__file__
