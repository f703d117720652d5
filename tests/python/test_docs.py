"""The examples of docs/python.md give what stands there."""

import doctest
import pathlib
import re

import btf


def test_examples(tmp_path, monkeypatch):
    page = pathlib.Path(__file__).parents[2] / "docs" / "python.md"
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(page), module_relative=False, optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    assert failed == 0 and tried > 10


def test_the_version_is_that_of_the_project():
    root = pathlib.Path(__file__).parents[2]
    cmake = re.search(r"VERSION (\S+)", (root / "CMakeLists.txt").read_text()[40:]).group(1)
    package = re.search(r'version = "(\S+)"', (root / "lib/python/pyproject.toml").read_text()).group(1)
    assert package == cmake


def test_all_that_is_offered_is_there_and_says_what_it_does():
    for name in btf.__all__:
        assert getattr(btf, name).__doc__, name
