"""What a notebook shows."""

import html.parser
import os

import numpy as np
import pytest

import btf

DATA = os.path.join(os.path.dirname(__file__), "..", "..", "testdata")
EVIL = "<script>alert('x')</script>&\"\u202e"


class Cells(html.parser.HTMLParser):
    """Well-formed, and nothing but a table."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.rows, self.caption = [], [], ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert tag in ("table", "caption", "tr", "td", "th") and {name for name, _ in attrs} <= {"colspan"}
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] == "caption":
            self.caption += data
        else:
            self.rows[-1][-1] += data


@pytest.fixture
def tensors(tmp_path):
    arrays = {EVIL: np.float32([[1, np.nan], [3, -4]]), "b": np.arange(6, dtype=np.int16)}
    btf.save(tmp_path / "x.btf", arrays)
    return btf.open(tmp_path / "x.btf")


def test_sets(tensors, tmp_path):
    found = Cells(tensors._repr_html_())
    assert "btf, 2 tensors" in found.caption
    assert found.rows[0] == ["#", "name", "dtype", "layout", "shape", "bytes", "offset"]
    assert found.rows[1][:6] == ["0", EVIL, "float32", "kLINEAR", "[2, 2]", "16"]
    assert "<script" not in tensors._repr_html_()
    btf.save(tmp_path / "many.btf", [np.zeros(1)] * 500)
    many = Cells(btf.open(tmp_path / "many.btf")._repr_html_())
    assert len(many.rows) == 22 and many.rows[-1] == ["and 480 more"]


def test_tensors(tensors, tmp_path):
    found = dict(Cells(tensors[0]._repr_html_()).rows)
    assert (found["min"], found["max"], found["mean"], found["nan"], found["shape"]) == ("-4", "3", "0", "1", "[2, 2]")
    assert EVIL in Cells(tensors[0]._repr_html_()).caption and "pos_inf" not in found
    assert dict(Cells(tensors[1]._repr_html_()).rows)["max"] == "5"
    # Nobody reads gigabytes for that, not even of a sparse tensor of few bytes.
    np.save(tmp_path / "large.npy", np.zeros((1 << 20) + 1, np.uint8))
    assert "min" not in btf.open(tmp_path / "large.npy")[0]._repr_html_()
    btf.save(tmp_path / "coo.btf", btf.Coo([[1 << 39]], [1.0], (1 << 40,)))
    sparse = btf.open(tmp_path / "coo.btf")[0]
    assert "min" not in sparse._repr_html_() and ["entries", "1"] in Cells(sparse._repr_html_()).rows
    assert dict(Cells(btf.relayout(np.zeros((3, 2, 2)), "kCHW4")._repr_html_()).rows)["stored as"] == "[1, 2, 2, 4]"


def test_reports(tmp_path, tensors):
    golden = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    np.savez(tmp_path / "a.npz", x=golden.transpose(0, 2, 1).reshape(2, 3, 4), y=golden)
    np.savez(tmp_path / "g.npz", x=golden, y=golden)
    found = Cells(btf.diff(tmp_path / "a.npz", tmp_path / "g.npz")._repr_html_())
    assert found.caption == "different: 1 of 2 tensors differ" and len(found.rows) == 2
    name, result, elements, worst_error, worst, cause = found.rows[1]
    assert (name, result) == ("x", "different") and elements.endswith("of 24") and "golden" in worst and cause.startswith("permutation: ")
    assert Cells(btf.diff(golden, golden)._repr_html_()).caption == "same: 0 of 1 tensor differ"
    layers = [os.path.join(DATA, "layers", name) for name in ("dead_channel.npz", "golden.npz")]
    found = Cells(btf.layers(*layers)._repr_html_())
    assert found.caption == "broke: /block1/fc2/MatMul_output_0" and found.rows[1][1] == "root"
    report = btf.convert(tmp_path / "x.btf", tmp_path / "y.btf", dtype="fp16", exclude="b")
    assert Cells(report._repr_html_()).rows[1][1:5] == [EVIL, "float32 kLINEAR", "float16 kLINEAR", "[2, 2]"]


def test_figures(tensors):
    array = np.float32([[1, np.nan], [3, -4]])
    stats = tensors[0].stats()
    assert stats["mean"] == np.nanmean(array.astype("f8")) and stats["std"] == pytest.approx(np.nanstd(array.astype("f8")), rel=1e-15)
    assert (stats["count"], stats["finite"], stats["nan"], stats["zeros"]) == (4, 3, 1, 0)
    assert (stats["min"], stats["min_index"], stats["max_index"], stats["first_nan_index"]) == (-4.0, (1, 1), (1, 0), (0, 1))
    assert tensors[1].stats()["max"] == 5 and isinstance(tensors[1].stats()["max"], int)
