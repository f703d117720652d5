"""The package's types, by two type checkers, and the module's stubs against the module itself."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PACKAGE = Path(importlib.util.find_spec("btf").origin).parent


def python(*words, **environment):
    """Where the checkers are, whose environment the package need not be in."""
    found = subprocess.run([sys.executable, "-m", *map(str, words)], capture_output=True, text=True,
                           env=os.environ | {"MYPYPATH": str(PACKAGE.parent), "PYTHONPATH": str(PACKAGE.parent)} | environment)
    return found.returncode, found.stdout + found.stderr


def needs(module):
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")


def test_mypy_takes_a_typed_program(tmp_path):
    needs("mypy")
    code, said = python("mypy", "--config-file", config(tmp_path), HERE / "typed.py")
    assert code == 0, said


def test_mypy_takes_the_package(tmp_path):
    needs("mypy")
    code, said = python("mypy", "--config-file", config(tmp_path), "-p", "btf")
    assert code == 0, said


def test_stubs_say_what_the_module_has(tmp_path):
    needs("mypy")
    code, said = python("mypy.stubtest", "btf._btf", "--concise", "--mypy-config-file", config(tmp_path))
    assert "btf._btf" in said or code == 0, said
    # How nanobind makes functions and classes is no matter of their types.
    own = ("is not a function", "is a disjoint base at runtime", "metaclass differs", "stub does not have *args parameter")
    assert [line for line in said.splitlines() if "btf._btf" in line and not any(words in line for words in own)] == []


def test_pyright_takes_a_typed_program():
    needs("basedpyright")
    _, said = python("basedpyright", "--pythonpath", sys.executable, "--level", "error", HERE / "typed.py")
    lines = (HERE / "typed.py").read_text().splitlines()
    mistakes = [number for number, line in enumerate(lines, 1) if "type: ignore" in line]
    # What mypy is told to ignore it has other names for: it sees these mistakes and no others.
    assert [int(found) for found in re.findall(r"typed\.py:(\d+):\d+ - error", said)] == mistakes, said


def config(folder):
    """PyTorch takes long to read; the stubs are nanobind's, whose lists have no types of elements."""
    path = folder / "mypy.ini"
    path.write_text(f"[mypy]\ncache_dir = {folder}\nstrict = True\n"
                    "[mypy-torch.*]\nfollow_imports = skip\n[mypy-btf._btf]\ndisallow_any_generics = False\n")
    return path
