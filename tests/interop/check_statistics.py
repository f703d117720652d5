#!/usr/bin/env python3
"""Compares `inspect --percentiles --histogram --by-axis` with numpy.percentile, numpy.histogram and plain loops.

    check_statistics.py BTFTOOL

Needs NumPy; says "skipped" without. Every dtype, in layouts, as COO and compressed, with random bits, small ranges,
constants, dead and saturated channels; larger tensors with one thread and with several, in little memory, whose
documents must be equal to the byte.
"""

import html.parser
import json
import math
import os
import random
import subprocess
import sys
import tempfile

import btf_writer
from elements import BY_NAME, DTYPES, decode

try:
    import numpy as np
except ImportError:
    print("skipped: no NumPy")
    sys.exit()

PERCENTILES = [0, 0.1, 12.5, 50, 66.6, 99.9, 100]
BINS = 7
DIMS = [2, 5, 4, 3]
CHANNELS = 1  # the dim that C means
LAYOUTS = {"kLINEAR": 0, "kHWC8": 130, "kCHW4": 131, "kHWC": 136, "kDLA_LINEAR": 137}


def value_of(dtype, code):
    number = decode(dtype, code)
    if number.value is not None:
        return np.longdouble(number.value.numerator) / np.longdouble(number.value.denominator)
    return np.longdouble({"nan": np.nan, "inf": -np.inf if number.negative else np.inf}[number.special])


def values_of(dtype, codes):
    known = {code: value_of(dtype, code) for code in set(codes)}
    return np.array([known[code] for code in codes], np.longdouble)


def cases(dtype, rng):
    """Lists of codes."""
    n = int(np.prod(DIMS))
    top = (1 << dtype.bits) - 1
    if dtype.kind == "bool":
        top = 1
    bits = [rng.randint(0, top) for _ in range(n)]
    few = [rng.choice(bits[:4]) for _ in range(n)]
    near = [min(top, 3 + rng.randint(0, 9)) for _ in range(n)]
    one = [bits[0]] * n
    planted = list(near)
    inner = DIMS[2] * DIMS[3]
    largest = max(range(min(top, 1 << 16) + 1) if dtype.bits <= 16 else near,
                  key=lambda code: decode(dtype, code).value if decode(dtype, code).value is not None else -1e30)
    for i in range(n):
        channel = i // inner % DIMS[1]
        if channel == 0:
            planted[i] = 0
        elif channel == 1:
            planted[i] = near[0]
        elif channel == 2 and i % 3 == 0:
            planted[i] = largest
    return [bits, few, near, one, planted]


def close(got, wanted, scale, digits):
    return abs(got - wanted) <= digits * max(abs(scale), abs(wanted)) or got == wanted


def number(value):
    return float(value)  # "inf", "nan" and large integers come as text


def check_distribution(stats, values, exact):
    finite = np.sort(values[np.isfinite(values)])
    assert stats["zeros"] == np.count_nonzero(values == 0)
    assert stats["zero_share"] == stats["zeros"] / len(values)
    if len(finite) == 0:
        assert stats["percentiles"] == [] and stats["histogram"] is None, stats
        return
    doubles = finite.astype(np.float64)
    wanted = np.percentile(doubles, PERCENTILES)
    got = [number(entry["value"]) for entry in stats["percentiles"]]
    assert [entry["p"] for entry in stats["percentiles"]] == PERCENTILES
    for a, b in zip(got, wanted):
        # NumPy subtracts before it interpolates, in double: what overflows there does not here.
        assert a == b or (not np.isfinite(b)) or close(a, b, 0, 1e-15), (a, b)
    counts = [int(count) for count in stats["histogram"]["counts"]]
    edges = [number(edge) for edge in stats["histogram"]["edges"]]
    with np.errstate(all="ignore"):
        if np.isfinite(doubles[-1] - doubles[0]):
            try:
                hist, wanted_edges = np.histogram(doubles, BINS)
            except ValueError:  # NumPy has no edges where neighbours are one double
                pass
            else:
                assert edges == wanted_edges.tolist(), (edges, wanted_edges)
                # NumPy rounds integers of 64 bits before it counts them, and is one bin off in the subnormals.
                if exact and doubles[-1] - doubles[0] > 1e-300:
                    assert counts == hist.tolist(), (counts, hist)
    places = np.searchsorted(np.array(edges[1:-1], np.longdouble), finite, "right")
    assert counts == np.bincount(places, minlength=BINS).tolist(), (counts, edges)


def check_channels(stats, values, dtype):
    found = stats["channels"]
    assert found["axis"] == CHANNELS
    by_channel = np.moveaxis(values.reshape(DIMS), CHANNELS, 0).reshape(DIMS[CHANNELS], -1)
    finite_all = values[np.isfinite(values)]
    dead, saturated = [], []
    for c, (item, channel) in enumerate(zip(found["items"], by_channel)):
        finite = channel[np.isfinite(channel)]
        assert item["index"] == c and item["count"] == len(channel) and item["finite"] == len(finite)
        assert item["nan"] == np.count_nonzero(np.isnan(channel))
        assert item["pos_inf"] == np.count_nonzero(channel == np.inf)
        assert item["neg_inf"] == np.count_nonzero(channel == -np.inf)
        assert item["zeros"] == np.count_nonzero(channel == 0)
        if len(finite) == 0:
            assert item["min"] is None and item["mean"] is None
            continue
        low, high = finite.min(), finite.max()
        assert number(item["min"]) == float(low) and number(item["max"]) == float(high), (item, low, high)
        assert item["at_min"] == np.count_nonzero(channel == finite_all.min())
        assert item["at_max"] == np.count_nonzero(channel == finite_all.max())
        mean = finite.mean()
        half = float(high) / 2 - float(low) / 2
        assert close(item["mean"], float(mean), half, 1e-12), (item, mean)
        with np.errstate(all="ignore"):
            std = float(np.sqrt(np.mean((finite - mean) ** 2)))
        assert close(item["std"], std, half, 1e-9), (item, std)
        if np.all(channel == channel[0]):
            dead.append(c)
            assert item["state"] == ("zero" if channel[0] == 0 else "constant")
            continue
        counts = dtype.is_float or dtype.bits <= 16
        for limit, at in ((finite_all.min(), item["at_min"]), (finite_all.max(), item["at_max"])):
            if dtype.kind != "bool" and counts and limit != 0 and at >= 2 and at >= 0.1 * len(channel):
                saturated.append(c)
                break
    assert found["dead"] == dead and found["saturated"] == saturated, (found["dead"], dead, found["saturated"], saturated)


def statistics(tool, path, *options):
    done = subprocess.run([tool, "inspect", "--json", "--percentiles", ",".join(map(str, PERCENTILES)),
                           "--histogram", str(BINS), "--by-axis", "C", *options, path], capture_output=True, check=True)
    return [tensor["stats"] for tensor in json.loads(done.stdout)["files"][0]["tensors"]]


def check_dtype(tool, folder, dtype, rng):
    lists = cases(dtype, rng)
    path = os.path.join(folder, dtype.name + ".btf")
    layouts = LAYOUTS.values() if dtype.bits >= 8 else [0]
    with open(path, "wb") as file:
        file.write(btf_writer.file([btf_writer.dense(dtype, layout, DIMS, codes)
                                    for layout in layouts for codes in lists]))
    found = statistics(tool, path)
    exact = dtype.bits < 64 or dtype.is_float
    for i, stats in enumerate(found):
        codes = lists[i % len(lists)]
        values = values_of(dtype, codes)
        check_distribution(stats, values, exact)
        check_channels(stats, values, dtype)
    linear = found[:len(lists)]
    assert all(linear == found[i:i + len(lists)] for i in range(0, len(found), len(lists)))
    for option, name in ((("--layout", "coo"), "coo.btf"), (("--compress", "3", "--tensor", f"0-{len(lists) - 1}"), "c.btf.zst")):
        if option[0] == "--layout" and dtype.is_scale:
            continue  # no number is left out: what is not stored is 2^-127
        other = os.path.join(folder, name)
        subprocess.run([tool, "-q", "convert", *option, path, other], check=True, capture_output=True)
        again = statistics(tool, other)[:len(lists)]
        for a, b in zip(again, linear):
            # The mean is added up in another order.
            a = {key: value for key, value in a.items() if key not in ("mean", "std")}
            b = {key: value for key, value in b.items() if key not in ("mean", "std")}
            # -0 and 0 are one number; which of them is shown depends on the order.
            assert json.dumps(a).replace("-0.0", "0.0") == json.dumps(b).replace("-0.0", "0.0"), (name, a, b)


def check_threads(tool, folder):
    """Several slabs and passes."""
    random_numbers = np.random.default_rng(5)
    n = 1_200_000
    wide = random_numbers.standard_normal(n) * np.exp(random_numbers.standard_normal(n) * 20)
    arrays = {
        "f4": random_numbers.standard_normal((30, n // 30)).astype(np.float32),
        "f8": wide.reshape(2, 3, n // 6),
        "i8": random_numbers.integers(-2**62, 2**62, (n // 8, 8), np.int64) >> random_numbers.integers(0, 60, (n // 8, 8)),
        "u4": random_numbers.integers(7, 5000, (n // 20, 20), np.uint32),
    }
    arrays["f4"][3] = 0
    arrays["f4"][:, 7] = np.nan
    for name, array in arrays.items():
        path = os.path.join(folder, name + ".npy")
        np.save(path, array)
        documents = []
        for options in (("-j", "1"), ("-j", "3"), ("-j", "2", "--max-memory", "16M")):
            done = subprocess.run([tool, "inspect", "--json", "--percentiles", ",".join(map(str, PERCENTILES)),
                                   "--histogram", str(BINS), "--by-axis", "-1" if array.ndim == 2 and array.shape[1] == 8 else "0",
                                   *options, path], capture_output=True, check=True)
            documents.append(done.stdout)
        assert documents[0] == documents[1] == documents[2], name
        stats = json.loads(documents[0])["files"][0]["tensors"][0]["stats"]
        check_distribution(stats, array.reshape(-1).astype(np.longdouble), name != "i8")
        if name == "u4":
            assert [number(item["min"]) for item in stats["channels"]["items"][:9]] == array[:9].min(axis=1).tolist()


def check_refusals(tool, folder):
    """What cannot be had is said, and the rest printed all the same."""
    path = os.path.join(folder, "long.npy")
    np.save(path, np.arange(70000, dtype=np.float32))
    for axis, words in (("0", "at most 65536"), ("1", "no dim 1: it has 1 dim"), ("H", "none of its 1 dim"),
                        ("Q", "no dim is called Q"), ("1x", "not '1x'")):
        done = subprocess.run([tool, "inspect", "--json", "--by-axis", axis, path], capture_output=True)
        assert done.returncode == 2 and words in done.stderr.decode(), done.stderr
        assert json.loads(done.stdout)["files"][0]["tensors"][0]["stats"]["count"] == 70000


class Page(html.parser.HTMLParser):
    """All start tags, the rows that are there without scripts by their titles, and the report."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.plain, self.cell, self.report, self.reading = {}, [], None, "", False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        known = dict(attributes)
        assert not any(name.startswith("on") for name in known), known
        self.reading = known.get("type") == "application/json"
        if tag == "tr":
            self.plain.append({})
        elif tag == "td":
            self.cell = known["data-l"]
            self.plain[-1][self.cell] = ""

    def handle_data(self, data):
        if self.reading:
            self.report += data
        elif self.cell is not None:
            self.plain[-1][self.cell] += data


def check_page(tool, folder):
    """Its numbers are those of the JSON, names are text whatever is in them, and every tensor has a row."""
    names = ["<script>alert(1)</script>", "\"'><img src=x onerror=alert(1)>", "a\u202eb", "plain & simple", "empty"]
    random_numbers = np.random.default_rng(7)
    arrays = {name: random_numbers.standard_normal((2, 5, 4, 1)).astype(np.float32) for name in names}
    arrays["plain & simple"][:, 2] = 0
    arrays["a\u202eb"][0, 0, 0, 0] = np.nan
    arrays["empty"] = np.zeros((0, 3), np.float32)
    header, data = {}, b""
    for name, array in arrays.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    path, page = os.path.join(folder, "set.safetensors"), os.path.join(folder, "page.html")
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + data)
    done = subprocess.run([tool, "inspect", "--json", "--stats", "--html", page, path], capture_output=True, check=True)
    tensors = json.loads(done.stdout)["files"][0]["tensors"]
    with open(page, encoding="utf-8") as file:
        found = Page(file.read())
    view = next(view for view in json.loads(found.report)["views"] if view["view"] == "table")
    rows = [dict(zip([column[1] for column in view["columns"]], row)) for row in view["rows"]]
    plain = [row for row in found.plain if row]
    assert found.tags["script"] == 2 and "img" not in found.tags and len(rows) == len(plain) == len(names), found.tags
    for row, shown, tensor in zip(rows, plain, tensors):
        stats = tensor["stats"]
        name = tensor["name"].replace("\u202e", "\\u{202e}")
        assert row["tensor"][0] == name and shown["tensor"].startswith(name), (row, shown, name)
        for column in ("min", "max", "mean", "std"):
            assert row.get(column) == stats[column], (row, stats)
            assert stats[column] is None or math.isclose(float(shown[column]), stats[column], rel_tol=1e-5, abs_tol=1e-300), (shown, stats)
        assert row["odd"] == stats["count"] - stats["finite"] == int(shown["NaN, Inf"])
        assert row["channels"]["key"] == (1 if tensor["name"] == "plain & simple" else 0)
        assert (row.get("values") is None) == (stats["min"] is None)
    assert "channels" not in tensors[0]["stats"]  # the page asked for them, not the document
    bad = subprocess.run([tool, "inspect", "--html", os.path.join(folder, "no", "page.html"), path], capture_output=True)
    assert bad.returncode == 2 and not bad.stdout, bad


def main():
    tool = os.path.abspath(sys.argv[1])
    rng = random.Random(41)
    with tempfile.TemporaryDirectory() as folder:
        for dtype in DTYPES:
            try:
                check_dtype(tool, folder, BY_NAME[dtype.name], rng)
            except AssertionError:
                print(f"{dtype.name}:", file=sys.stderr)
                raise
        check_threads(tool, folder)
        check_refusals(tool, folder)
        check_page(tool, folder)
    print(f"{len(DTYPES)} dtypes, {len(LAYOUTS)} layouts, COO, compressed: as NumPy has it")


if __name__ == "__main__":
    main()
