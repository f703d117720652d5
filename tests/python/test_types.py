"""The package's types, by two type checkers, and the module's stubs against the module itself."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PACKAGE = Path(importlib.util.find_spec("btf").origin).parent


def needs(module):
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A copy of the package, which mypy reads as a program's own: of installed ones it reports nothing."""
    folder = tmp_path_factory.mktemp("types")
    shutil.copytree(PACKAGE, folder / "btf", ignore=shutil.ignore_patterns("__pycache__"))
    if not (folder / "btf" / "_btf.pyi").exists():
        pytest.skip("the stubs were not built")
    # PyTorch takes long to read; the stubs are nanobind's, whose lists have no types of elements.
    (folder / "mypy.ini").write_text(
        f"[mypy]\ncache_dir = {folder}/cache\nstrict = True\n"
        "[mypy-torch.*]\nfollow_imports = skip\n[mypy-btf._btf]\ndisallow_any_generics = False\n")
    return folder


def run(folder, *words):
    variables = os.environ | {"MYPYPATH": str(folder), "PYTHONPATH": str(folder)}
    found = subprocess.run([sys.executable, "-m", *map(str, words)], capture_output=True, text=True, env=variables,
                           cwd=folder)
    return found.returncode, found.stdout + found.stderr


@pytest.mark.parametrize("what", [[HERE / "typed.py"], ["-p", "btf"]])
def test_mypy_takes_a_typed_program_and_the_package(folder, what):
    needs("mypy")
    code, said = run(folder, "mypy", "--config-file", "mypy.ini", *what)
    assert code == 0, said


def test_stubs_say_what_the_module_has(folder):
    needs("mypy")
    _, said = run(folder, "mypy.stubtest", "btf._btf", "--concise", "--mypy-config-file", "mypy.ini")
    found = [line for line in said.splitlines() if line.startswith("btf._btf")]
    assert found, said
    # How nanobind makes functions and classes is no matter of their types.
    own = ("is not a function", "is a disjoint base at runtime", "metaclass differs", "stub does not have *args parameter")
    assert [line for line in found if not any(words in line for words in own)] == []


def test_pyright_takes_a_typed_program(folder):
    needs("basedpyright")
    _, said = run(folder, "basedpyright", "--pythonpath", sys.executable, "--level", "error", HERE / "typed.py")
    lines = (HERE / "typed.py").read_text().splitlines()
    mistakes = [number for number, line in enumerate(lines, 1) if "type: ignore" in line]
    # What mypy is told to ignore it has other names for: it sees these mistakes and no others.
    assert [int(found) for found in re.findall(r"typed\.py:(\d+):\d+ - error", said)] == mistakes, said
