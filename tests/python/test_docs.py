"""The examples of docs/python.md give what stands there."""

import doctest
import pathlib

import pytest

import btf

ROOT = pathlib.Path(__file__).parents[2]


@pytest.mark.parametrize("page, least", [("docs/python.md", 10), ("README.md", 4)])
def test_examples(tmp_path, monkeypatch, page, least):
    (tmp_path / "testdata").symlink_to(ROOT / "testdata")
    monkeypatch.chdir(tmp_path)
    flags = doctest.IGNORE_EXCEPTION_DETAIL | doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.testfile(str(ROOT / page), module_relative=False, optionflags=flags)
    assert failed == 0 and tried >= least


def test_all_that_is_offered_is_there_and_says_what_it_does():
    for name in btf.__all__:
        assert getattr(btf, name).__doc__, name
