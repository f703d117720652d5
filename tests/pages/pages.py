#!/usr/bin/env python3
"""The HTML pages in a real browser: pages.py [--update] BTFTOOL TESTDATA

layout.json says where blocks are at each width; --update writes it. Without Chromium it is skipped (exit code 77)."""
import base64
import hashlib
import json
import math
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

import browser

HERE = os.path.dirname(os.path.abspath(__file__))
UPDATE = sys.argv[1] == "--update"
BTFTOOL, TESTDATA = map(os.path.abspath, sys.argv[-2:])
TENSORS = 2000
WIDTHS = 420, 1300, 1920
TOLERANCE = 2  # pixels
failures = 0

# Cells of the likely cause that are not shown whole.
CUT = """[...document.querySelectorAll('td.why')].filter(cell => {
  const box = cell.getBoundingClientRect();
  return getComputedStyle(cell).display !== 'none' && cell.getClientRects().length &&
    (box.right > innerWidth || box.left < 0 || cell.scrollWidth > cell.clientWidth + 1);
}).length"""


def check(what, found, expected):
    global failures
    if found != expected:
        failures += 1
        print(f"FAILED {what}: found {found!r:.400}, expected {expected!r:.200}")


def safetensors(path, tensors):
    head, pieces, end = {}, [], 0
    for name, numbers in tensors.items():
        pieces.append(struct.pack(f"<{len(numbers)}f", *numbers))
        head[name] = {"dtype": "F32", "shape": [len(numbers)], "data_offsets": [end, end + len(pieces[-1])]}
        end += len(pieces[-1])
    text = json.dumps(head).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(pieces))


def field(number, content):
    """Of a protocol buffer: a number or bytes."""
    def varint(n):
        return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)

    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    data = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(data)) + data


def chain(name, layers):
    """An ONNX model of one layer behind the other, and a dump: some numbers are too large for float16, one layer cannot be judged."""
    tensors = {f"model/layers.{i}/{'long_' * (i % 9)}value": [2e5 if i % 50 == 11 else 1.0 + i % 7, 0.25] for i in range(layers + 1)}
    names = list(tensors)
    nodes = b"".join(field(1, field(1, names[i]) + field(2, names[i + 1]) + field(3, f"model/layers.{i}/activation") +
                           field(4, "LSTM" if i == 5 else "Softmax")) for i in range(layers))
    floats = field(2, field(1, field(1, 1)))  # float32, of any shape
    ends = field(11, field(1, names[0]) + floats) + field(12, field(1, names[-1]) + floats)
    with open(name + ".onnx", "wb") as file:
        file.write(field(1, 8) + field(7, nodes + field(2, "chain") + ends) + field(8, field(2, 17)))
    safetensors(name + ".safetensors", tensors)


def make():
    rng = random.Random(3)
    golden, actual = {}, {}
    for i in range(TENSORS):
        name = f"model.encoder.layers.{i // 8}.block{i % 8}.attention.{'out_' * (i % 30)}projection.weight"
        golden[name] = [rng.gauss(0, 1) for _ in range(12)]
        actual[name + (".renamed" if i % 400 == 7 else "")] = (
            [2 * x for x in golden[name]] if i % 9 == 1 else golden[name][:-1] if i % 333 == 5 else golden[name]
        )
    few = TENSORS // 33  # as many show what a look shows
    for name, tensors in ("actual", actual), ("golden", golden):
        safetensors(f"{name}.safetensors", tensors)
        safetensors(f"{name}_few.safetensors", dict(list(tensors.items())[:few]))
    safetensors("odd.safetensors", {**dict(list(golden.items())[1:]), "odd": [1.0, math.nan]})
    safetensors("odd_few.safetensors", {**dict(list(golden.items())[:few]), "odd": [1.0, math.nan]})
    for name, layers in ("chain_few", 60), ("chain", TENSORS):
        chain(name, layers)
    for side in "g", "a":
        os.mkdir(side)
        for i in range(6):
            safetensors(f"{side}/conv{i}.safetensors", {"w": [1.0, 2.0, 3.0 + (i if side == "a" else 0)]})
        with open(f"{side}/bad.safetensors", "wb") as file:
            file.write(b"no header at all" if side == "a" else b"nor here")
    safetensors("a/only.safetensors", {"more": [1.0]})


def page(name, *words, code=1, epoch="1700000000"):
    environment = {**os.environ, "SOURCE_DATE_EPOCH": epoch}
    done = subprocess.run([BTFTOOL, words[0], "-q", "--html", name, *words[1:]], env=environment,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    check(f"{name}: exit code", done.returncode, code)
    with open(name, encoding="utf-8") as file:
        return name, file.read()


def check_text(name, text):
    script = re.search("<script>(.*?)</script>", text, re.S)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    check(f"{name}: the hash of its script", re.search("'sha256-(.*?)'", text)[1], digest)
    origin = re.search("<p class=tool>(.*?)</p>", text)[1]
    check(f"{name}: where it is from", bool(re.fullmatch(
        r"btftool \d+\.\d+\.\d+ · <code>btftool (diff|layers|inspect|fit) .*</code> · inputs of 2023-11-14 22:13 UTC", origin)), True)


def open_page(tab, name):
    check(f"{name}: messages", tab.open(name, 1300), [])


def load_rules(tab):
    with open(os.path.join(HERE, "rules.js"), encoding="utf-8") as file:
        tab.run(file.read())


def check_width(tab, name, width):
    check(f"{name} at {width}: width", tab.run("document.documentElement.scrollWidth"), width)
    check(f"{name} at {width}: causes cut off", tab.run(CUT), 0)


def look(tab, name):
    """The layout at each width."""
    open_page(tab, name)
    load_rules(tab)
    layouts = {}
    for width in WIDTHS:
        for dark in False, True:
            title = f"{name} at {width}, {'dark' if dark else 'light'}"
            tab.shape(width, dark)
            texts, bad = tab.run("rules.contrast()")
            check(f"{title}: contrast", bad, {})
            check(f"{title}: texts were seen", texts > 20, True)
        check_width(tab, name, width)
        check(f"{title}: texts cut off", tab.run("rules.cut()"), {})
        check(f"{title}: overlaps", tab.run("rules.overlaps()"), {})
        layouts[str(width)] = tab.run("rules.layout()")
    return layouts


def check_layout(found, expected):
    """Blocks may be off by the tolerance; tables have these columns."""
    check("pages with a layout", sorted(found), sorted(expected))
    for name, widths in found.items():
        for width, layout in widths.items():
            wanted = expected.get(name, {}).get(width, {"blocks": {}, "tables": {}})
            check(f"{name} at {width}: tables", layout["tables"], wanted["tables"])
            check(f"{name} at {width}: blocks", sorted(layout["blocks"]), sorted(wanted["blocks"]))
            for block, box in wanted["blocks"].items():
                here = layout["blocks"].get(block, [])
                close = len(here) == len(box) and all(abs(x - y) <= TOLERANCE for x, y in zip(here, box))
                check(f"{name} at {width}: left and width of {block}", here if not close else box, box)


def layout_text(found):
    """A line for each page and width."""
    def lines(opening, items, closing):
        return opening + ",".join(f"\n{json.dumps(key)}: {value}" for key, value in items) + closing

    return lines("{", ((name, lines("{", ((width, json.dumps(layout, ensure_ascii=False)) for width, layout in widths.items()), "}"))
                       for name, widths in found.items()), "\n}\n")


def check_rules(tab, name):
    """They see what is wrong with a page."""
    open_page(tab, name)
    tab.shape(420)
    load_rules(tab)
    tab.run("""(style => { style.textContent = '.tool { color: #bbb; background: #fff; white-space: nowrap } .facts { width: 900px } h1 { margin-bottom: -60px }';
        document.head.append(style); })(document.createElement('style'))""")
    check("rules: contrast", "p.tool" in tab.run("rules.contrast()")[1], True)
    check("rules: cut", sorted(tab.run("rules.cut()")), ["code", "p.tool"])
    check("rules: overlaps", "h1 and dl.facts" in tab.run("rules.overlaps()"), True)
    check("rules: layout", tab.run("rules.layout()")["blocks"]["dl.facts"][1], 900)


def open_wide_and_narrow(tab, name):
    open_page(tab, name)
    for width in 420, 1300:
        tab.shape(width)
        check_width(tab, name, width)


def use_diff(tab, name):
    """Sorts and filters the page of many tensors."""
    open_wide_and_narrow(tab, name)
    first = "document.querySelector('table.sortable tbody tr:not([hidden]) td.path').innerText.split('\\n')[0]"
    shown = "document.querySelectorAll('table.sortable tbody tr:not([hidden])').length"
    check("rows", tab.run(shown), TENSORS + len(range(7, TENSORS, 400)))
    column = "[...document.querySelectorAll('table.sortable th')].find(th => th.textContent === 'max abs')"
    values = "[...document.querySelectorAll('table.sortable')][0].querySelectorAll('td[data-l=\"max abs\"]')"
    for order in "descending", "ascending":
        tab.run(column + ".click()")
        check("aria-sort", tab.run(column + ".getAttribute('aria-sort')"), order)
        found = tab.run(f"[...{values}].map(cell => +cell.dataset.v)")
        check(f"sorted, {order}", found, sorted(found, reverse=order == "descending"))
    took = tab.run("""(() => { const input = document.querySelector('.filter input'), begin = performance.now();
        input.value = 'layers.17. block3'; input.dispatchEvent(new Event('input')); document.body.offsetHeight;
        return performance.now() - begin; })()""")
    check("filtered", (tab.run(shown), "layers.17.block3" in tab.run(first)), (1, True))
    check("filtering takes less than a second", took < 1000, True)


def use_fit(tab, name):
    """All layers are there, and are filtered."""
    open_wide_and_narrow(tab, name)
    rows = "[...document.querySelectorAll('table.sortable tbody tr')].filter(row => !row.hidden)"
    layers = f"{rows}.filter(row => row.textContent.includes('activation'))"
    check("fit: layers", tab.run(f"{layers}.length"), TENSORS)
    wide = "[...document.querySelectorAll('h3 + table tbody tr')]"
    check("fit: wide ones have a reason", tab.run(f"{wide}.every(row => row.querySelector('td.why b').innerText.length > 20)"), True)
    check("fit: wide ones", tab.run(f"{wide}.length"), 2 * len(range(11, TENSORS, 50)))  # what makes large numbers, and what reads them
    tab.run("(input => { input.value = 'layers.1999/ activation'; input.dispatchEvent(new Event('input')); })(document.querySelector('.filter input'))")
    check("fit: found", tab.run(f"{rows}.map(row => row.textContent.includes('layers.1999/activation'))"), [True])


def use_inspect(tab, name):
    """Searches, sorts and narrows the page of many tensors."""
    open_wide_and_narrow(tab, name)
    shown = "[...document.querySelectorAll('#tensors tbody tr')].filter(row => !row.hidden)"
    check("inspect: rows", tab.run(f"{shown}.length"), TENSORS)
    took = tab.run("""(() => { const input = document.querySelector('#search'), begin = performance.now();
        input.value = 'layers.17. block3'; input.dispatchEvent(new Event('input')); document.body.offsetHeight;
        return performance.now() - begin; })()""")
    check("inspect: found", tab.run(f"{shown}.map(row => row.cells[1].innerText.includes('layers.17.block3'))"), [True])
    check("inspect: searching takes less than a second", took < 1000, True)
    tab.run("(input => { input.value = ''; input.dispatchEvent(new Event('input')); })(document.querySelector('#search'))")
    column = "[...document.querySelectorAll('#tensors th')].find(th => th.textContent === 'max')"
    for order in "descending", "ascending":
        took = tab.run(f"(() => {{ const begin = performance.now(); {column}.click(); document.body.offsetHeight; return performance.now() - begin; }})()")
        check("inspect: sorting takes less than five seconds", took < 5000, True)
        check("inspect: aria-sort", tab.run(column + ".getAttribute('aria-sort')"), order)
        found = tab.run(f"{shown}.map(row => +[...row.cells].find(cell => cell.dataset.t === 'max').dataset.v)")
        check(f"inspect: sorted, {order}", found, sorted(found, reverse=order == "descending"))
    tab.run("document.querySelector('#odd').click()")
    check("inspect: with NaN or Inf", tab.run(f"{shown}.map(row => row.cells[1].innerText.split('\\n')[0].includes('odd'))"), [True])


def make_pages():
    """Texts by names: those whose layout is looked at, and those of many tensors."""
    damaged = TESTDATA + "/bad/data-past-end.btf"
    return dict([
        page("sets.html", "diff", "a", "g", code=2),
        page("one.html", "diff", TESTDATA + "/good/mixed_noisy.btf", TESTDATA + "/good/mixed.btf"),
        page("few.html", "diff", "actual_few.safetensors", "golden_few.safetensors"),
        page("layers.html", "layers", TESTDATA + "/layers/dead_channel.npz", TESTDATA + "/layers/golden.npz"),
        page("inspect.html", "inspect", TESTDATA + "/good/mixed.btf", damaged, code=2),
        page("fit.html", "fit", "--dtype=fp16,bf16,int8", "--graph", TESTDATA + "/fit/model.onnx", TESTDATA + "/fit/golden.npz"),
        page("fit_chain.html", "fit", "--graph", "chain_few.onnx", "chain_few.safetensors"),
        page("inspect_few.html", "inspect", "odd_few.safetensors", code=0),
    ]), dict([
        page("many.html", "diff", "actual.safetensors", "golden.safetensors"),
        page("fit_many.html", "fit", "--graph", "chain.onnx", "chain.safetensors"),
        page("inspect_many.html", "inspect", "odd.safetensors", code=0),
    ])


def main():
    if not browser.find():
        print("skipped: no chromium (apt-get install chromium)")
        return 77
    os.environ.pop("NO_COLOR", None)
    with open(os.path.join(HERE, "layout.json"), encoding="utf-8") as file:
        expected = json.load(file)
    found = {}
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        make()
        pages, many = make_pages()
        for name, text in {**pages, **many}.items():
            check_text(name, text)
        check("sections", re.findall("<h2>(Missing|Trouble)", pages["sets.html"]), ["Missing", "Trouble"])
        tab = browser.Browser()
        try:
            for name in pages:
                found[name] = look(tab, name)
            check_rules(tab, "one.html")
            use_diff(tab, "many.html")
            use_fit(tab, "fit_many.html")
            use_inspect(tab, "inspect_many.html")
        finally:
            tab.close()
        os.chdir("/")
    if UPDATE:
        with open(os.path.join(HERE, "layout.json"), "w", encoding="utf-8") as file:
            file.write(layout_text(found))
    else:
        check_layout(found, expected)
    print("pages: " + (f"{failures} failures" if failures else "all well"))
    return 1 if failures else 0


sys.exit(main())
