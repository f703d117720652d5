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
    code, said = python("mypy", "--strict", "--cache-dir", tmp_path, HERE / "typed.py")
    assert code == 0, said


def test_mypy_takes_the_package(tmp_path):
    needs("mypy")
    code, said = python("mypy", "--strict", "--cache-dir", tmp_path, "-p", "btf")
    assert code == 0, said


def test_stubs_say_what_the_module_has(tmp_path):
    needs("mypy")
    code, said = python("mypy.stubtest", "btf._btf", "--concise", "--ignore-missing-stub",
                        "--mypy-config-file", _config(tmp_path))
    assert code == 0, said


def test_pyright_takes_a_typed_program():
    needs("basedpyright")
    code, said = python("basedpyright", "--pythonpath", sys.executable, "--level", "error", HERE / "typed.py")
    # It has names of its own for what mypy is told to ignore in mistakes(), and reports none there.
    assert code == 0, said
    assert re.search(r"\b0 errors", said), said


def _config(folder):
    path = folder / "mypy.ini"
    path.write_text(f"[mypy]\ncache_dir = {folder}\n")
    return path
