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
import time

import browser
import report

HERE = os.path.dirname(os.path.abspath(__file__))
UPDATE = sys.argv[1] == "--update"
BTFTOOL, TESTDATA = map(os.path.abspath, sys.argv[-2:])
TENSORS = 2000
HUGE = 30000  # tensors of a page that is below HUGE_BYTES and opens at once
HUGE_BYTES = 6e6
WIDTHS = 420, 1300, 1920
TOLERANCE = 2  # pixels
failures = 0

# Names that would break out of the page if they were markup.
HOSTILE = ["</script><script>document.title = 'broken'</script>", "<!--", "<!--<script>", "\u2028line\u2029", "a\u202eb", "]]>", "\\u003c/script>",
           "'\"><img src=x onerror=\"document.title = 'broken'\">", "&lt;b&gt;", "\x1b[1m", "${document.title = 'broken'}", "__proto__", "constructor"]

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
    huge = {f"model.layers.{i}.{'</script><!--' if i % 7 == 0 else 'attention'}.weight": [rng.gauss(0, 1) for _ in range(12)] for i in range(HUGE)}
    safetensors("huge.safetensors", huge)
    safetensors("huge_actual.safetensors", {name: [2 * x for x in numbers] if i % 3 == 1 else numbers for i, (name, numbers) in enumerate(huge.items())})
    hostile = {name: [1.0, 2.0] for name in HOSTILE}
    safetensors("hostile.safetensors", hostile)
    safetensors("hostile_actual.safetensors", {name: [1.0, 3.0] for name in HOSTILE})
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
    check(f"{name}: its scripts", re.findall("<script[^>]*>", text), [re.search("<script type=\"application/json\" id=report[^>]*>", text)[0], "<script>"])
    script = re.search("<script>(.*?)</script>", text, re.S)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    check(f"{name}: the hash of its script", re.search("'sha256-(.*?)'", text)[1], digest)
    check(f"{name}: a comment in its report", "<!--" in report.text(text), False)
    check(f"{name}: has views", len(json.loads(report.text(text))["views"]) > 0, True)
    origin = re.search("<p class=tool>(.*?)</p>", text)[1]
    check(f"{name}: where it is from", bool(re.fullmatch(
        r"btftool \d+\.\d+\.\d+ · <code>btftool (diff|layers|inspect|fit) .*</code> · inputs of 2023-11-14 22:13 UTC", origin)), True)


def open_page(tab, name, scripts=True):
    check(f"{name}: messages", tab.open(name, 1300, scripts=scripts), [])


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


KEPT = "[...document.querySelectorAll('table.sortable')].reduce((sum, table) => sum + +table.dataset.kept, 0)"
NAMES = "[...document.querySelectorAll('table.sortable tbody tr:not(.gap) td.path')].map(cell => cell.innerText.split('\\n')[0])"


def find(tab, words):
    """Filters; the seconds that took."""
    before = tab.seconds()
    tab.run(f"""(input => {{ input.value = {json.dumps(words)}; input.dispatchEvent(new Event('input')); document.body.offsetHeight; }})(
        document.querySelector('.filter input[type=search]'))""")
    return tab.seconds() - before


def sort(tab, name, title, member):
    """A click on the title of a column sorts, down and then up; what is drawn first comes first."""
    column = f"[...document.querySelectorAll('table.sortable th')].find(th => th.textContent === {title!r})"
    numbers = sorted(row[member] for row in report.rows(report.read(name), tab.run(f"{column}.closest('table').dataset.name")) if row.get(member) is not None)
    for order in "descending", "ascending":
        before = tab.seconds()
        tab.run(f"{column}.click(), document.body.offsetHeight")
        check(f"{name}: sorting takes less than two seconds", tab.seconds() - before < 2, True)
        check(f"{name}: aria-sort", tab.run(column + ".getAttribute('aria-sort')"), order)
        found = tab.run(f"""(() => {{ const head = {column}, rows = head.closest('table').querySelectorAll('tbody tr:not(.gap)');
            return [...rows].slice(0, 20).map(row => row.cells[head.cellIndex].textContent); }})()""")
        expected = (numbers[::-1] if order == "descending" else numbers)[:20]
        check(f"{name}: sorted by {title}, {order}", [float(text) for text in found], [float(f"{number:.6g}") for number in expected])


def use_diff(tab, name):
    """Sorts, filters, scrolls the page of many tensors, and follows a link."""
    open_wide_and_narrow(tab, name)
    check("rows", tab.run(KEPT), TENSORS + len(range(7, TENSORS, 400)))
    sort(tab, name, "max abs", "max_abs")
    check("filtering takes less than a second", find(tab, "layers.17. block3") < 1, True)
    check("filtered", (tab.run(KEPT), ["layers.17.block3" in text for text in tab.run(NAMES)]), (1, [True]))
    find(tab, "")
    check("details are drawn when they are near", tab.run("document.querySelectorAll('section.far').length") > 100, True)
    tab.run("document.querySelector('td.path a').click()")
    section = "document.querySelector(document.querySelector('td.path a').hash)"
    wait(tab, f"!{section}.classList.contains('far')")
    wait(tab, f"Math.abs({section}.getBoundingClientRect().top) < 50")
    check("a link leads to the details", tab.run(f"Math.abs({section}.getBoundingClientRect().top) < 50 && {section}.innerText.includes('Largest errors')"), True)
    tab.run("window.onbeforeprint()")
    check("rows on paper", tab.run("document.querySelectorAll('details[open] tr.gap, section.far, body > * > table tr.gap').length"), 0)


def wait(tab, condition):
    """Drawing follows scrolling."""
    return tab.run(f"new Promise(done => {{ const end = Date.now() + 10000, look = () => {condition} || Date.now() > end ? done({condition}) : setTimeout(look, 20); look(); }})")


def use_fit(tab, name):
    """All layers are there, and are filtered."""
    open_wide_and_narrow(tab, name)
    tables = {table: len(report.rows(report.read(name), f"float16 {table}")) for table in ("wide", "narrow", "unjudged", "tensors")}
    check("fit: rows", (tab.run(KEPT), tables["tensors"]), (sum(tables.values()), TENSORS + 1))
    why = "[...document.querySelectorAll('h3 + table tbody tr td.why b')].map(text => text.innerText.length)"
    check("fit: wide ones have a reason", [length for length in tab.run(why) if length <= 20], [])
    check("fit: wide ones", tab.run("+document.querySelector('h3 + table').dataset.kept"), 2 * len(range(11, TENSORS, 50)))  # what makes large numbers, and what reads them
    find(tab, "layers.1999/ activation")
    check("fit: found", ["layers.1999/activation" in text for text in tab.run(NAMES)], [True])


def use_inspect(tab, name):
    """Searches, sorts and narrows the page of many tensors."""
    open_wide_and_narrow(tab, name)
    check("inspect: rows", tab.run(KEPT), TENSORS)
    check("inspect: searching takes less than a second", find(tab, "layers.17. block3") < 1, True)
    check("inspect: found", ["layers.17.block3" in text for text in tab.run(NAMES)], [True])
    find(tab, "")
    sort(tab, name, "max", "max")
    tab.run("document.querySelector('.filter input[value=odd]').click()")
    check("inspect: with NaN or Inf", ["odd" in text for text in tab.run(NAMES)], [True])


def use_huge(tab, name, size):
    """A page of very many tensors is small, opens at once, and draws what is seen, to the last row."""
    check(f"{name}: below {HUGE_BYTES:.0f} bytes", size < HUGE_BYTES, True)
    before, begin = tab.seconds(), time.monotonic()
    open_page(tab, name)
    took, waited = tab.seconds() - before, time.monotonic() - begin
    print(f"{name}: {HUGE} tensors, {size / 1e6:.1f} MB, opens in {took:.1f} s of the CPU, {waited:.1f} s by the clock")
    check(f"{name}: opens in five seconds of the CPU", took < 5, True)
    check(f"{name}: rows", tab.run(KEPT), HUGE)
    check(f"{name}: drawn rows", tab.run("document.querySelectorAll('tr').length") < 1000, True)
    for fold in "true", "false":
        tab.run(f"document.querySelectorAll('details').forEach(fold => {{ fold.open = {fold}; }})")
    last = report.rows(report.read(name), tab.run("document.querySelector('table.sortable').dataset.name"))[-1]["tensor"][0]
    tab.run("document.querySelector('table.sortable').scrollIntoView({block: 'end'})")
    check(f"{name}: the last row is drawn", wait(tab, f"document.querySelector('table.sortable').innerText.includes({json.dumps(last)})"), True)
    check(f"{name}: rows that are far are not", tab.run("document.querySelectorAll('tr').length") < 2000, True)


def use_hostile(tab, name):
    """Names are text, whatever is in them."""
    for scripts in True, False:
        open_page(tab, name, scripts)
        check(f"{name}: title", tab.run("document.title").startswith("different: "), True)
        check(f"{name}: what is not the page's own", tab.run("document.querySelectorAll('img, script:not(#report, :last-of-type), main b:not(.why b, .hint b, .criteria b)').length"), 0)
        check(f"{name}: rows", tab.run("document.querySelectorAll('table.rows tbody tr').length"), len(HOSTILE))
        shown = tab.run("[...document.querySelectorAll('table.rows td.path bdi')].map(cell => cell.textContent)")
        visible = [re.sub("[\u2028\u2029\u202e]", lambda found: f"\\u{{{ord(found[0]):x}}}", text).replace("\x1b", "\\x1b") for text in HOSTILE]
        check(f"{name}: names", sorted(shown), sorted(visible))


def use_without_scripts(tab, name, words):
    """Where scripts are blocked, the head and the first hundred rows are there, and what is missing is said."""
    open_page(tab, name, scripts=False)
    check(f"{name} without scripts: rows", tab.run("[...document.querySelectorAll('tbody tr')].filter(row => row.getClientRects().length || row.closest('details:not([open])')).length"), 100)
    text = tab.run("document.body.innerText")
    for word in (*words, "need scripts"):
        check(f"{name} without scripts: {word}", word in text, True)


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
        page("hostile.html", "diff", "hostile_actual.safetensors", "hostile.safetensors"),
        page("huge.html", "diff", "--no-hints", "huge_actual.safetensors", "huge.safetensors"),
        page("inspect_huge.html", "inspect", "huge.safetensors", code=0),
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
        check("headings", re.findall("<h2>(Missing|Trouble)", pages["sets.html"]), ["Missing", "Trouble"])
        tab = browser.Browser()
        try:
            for name in pages:
                found[name] = look(tab, name)
            check_rules(tab, "one.html")
            use_diff(tab, "many.html")
            use_fit(tab, "fit_many.html")
            use_inspect(tab, "inspect_many.html")
            use_hostile(tab, "hostile.html")
            use_without_scripts(tab, "many.html", ["tensors differ", "likely cause"])
            use_without_scripts(tab, "fit_many.html", ["must stay float32", "its result"])
            use_without_scripts(tab, "inspect_many.html", [f"{TENSORS} tensors in 1 file"])
            for name in "huge.html", "inspect_huge.html":
                use_huge(tab, name, len(many[name].encode()))
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
