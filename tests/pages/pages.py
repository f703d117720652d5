#!/usr/bin/env python3
"""The HTML pages of diff and layers in a real browser: pages.py BTFTOOL TESTDATA

Without Chromium it is skipped (exit code 77)."""
import base64
import hashlib
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

import browser

BTFTOOL, TESTDATA = map(os.path.abspath, sys.argv[1:3])
TENSORS = 2000
failures = 0

# Contrast as WCAG 2 defines it, of every text that is shown, against the nearest background that is not transparent.
CONTRAST = """(() => {
  const numbers = color => color.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map(c => c / 255).map(c => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
    return .2126 * x + .7152 * y + .0722 * z;
  };
  const behind = element => {
    for (; element; element = element.parentElement) {
      const color = numbers(getComputedStyle(element).backgroundColor);
      if (color.length < 4 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const bad = {};
  let texts = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; node = walker.nextNode();) {
    const element = node.parentElement;
    if (!node.textContent.trim() || element.closest('script, title') || !element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    const color = numbers(element.closest('svg') ? style.fill : style.color);
    const [a, b] = [light(color), light(behind(element))].sort((x, y) => y - x);
    const ratio = (a + .05) / (b + .05);
    texts += 1;
    if (ratio < 4.5) bad[element.tagName + '.' + (element.getAttribute('class') || '')] = ratio;
  }
  return [texts, bad];
})()"""

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


def make():
    rng = random.Random(3)
    golden, actual = {}, {}
    for i in range(TENSORS):
        name = f"model.encoder.layers.{i // 8}.block{i % 8}.attention.{'out_' * (i % 30)}projection.weight"
        golden[name] = [rng.gauss(0, 1) for _ in range(12)]
        actual[name + (".renamed" if i % 400 == 7 else "")] = (
            [2 * x for x in golden[name]] if i % 9 == 1 else golden[name][:-1] if i % 333 == 5 else golden[name]
        )
    safetensors("actual.safetensors", actual)
    safetensors("golden.safetensors", golden)
    for side in "g", "a":
        os.mkdir(side)
        for i in range(6):
            safetensors(f"{side}/conv{i}.safetensors", {"w": [1.0, 2.0, 3.0 + (i if side == "a" else 0)]})
        with open(f"{side}/bad.safetensors", "wb") as file:
            file.write(b"no header at all" if side == "a" else b"nor here")
    safetensors("a/only.safetensors", {"more": [1.0]})


def page(name, *words, code=1, epoch="1700000000"):
    environment = {**os.environ, "SOURCE_DATE_EPOCH": epoch}
    done = subprocess.run([BTFTOOL, words[0], "-q", "--html", name, *words[1:]], env=environment, stderr=subprocess.DEVNULL)
    check(f"{name}: exit code", done.returncode, code)
    with open(name, encoding="utf-8") as file:
        return file.read()


def check_text(name, text):
    script = re.search("<script>(.*?)</script>", text, re.S)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    check(f"{name}: the hash of its script", re.search("'sha256-(.*?)'", text)[1], digest)


def look(tab, name, widths):
    check(f"{name}: messages", tab.open(name, 1300), [])
    for width in widths:
        for dark in False, True:
            title = f"{name} at {width}, {'dark' if dark else 'light'}"
            tab.shape(width, dark)
            check(f"{title}: width", tab.run("document.documentElement.scrollWidth"), width)
            check(f"{title}: causes cut off", tab.run(CUT), 0)
            texts, bad = tab.run(CONTRAST)
            check(f"{title}: contrast", bad, {})
            check(f"{title}: texts were seen", texts > 20, True)


def use(tab):
    """Sorts and filters the page of many tensors."""
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


def main():
    if not browser.find():
        print("skipped: no chromium (apt-get install chromium)")
        return 77
    os.environ.pop("NO_COLOR", None)
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        make()
        many = page("many.html", "diff", "actual.safetensors", "golden.safetensors")
        sets = page("sets.html", "diff", "a", "g", code=2)
        one = page("one.html", "diff", TESTDATA + "/good/mixed_noisy.btf", TESTDATA + "/good/mixed.btf")
        layers = page("layers.html", "layers", TESTDATA + "/layers/dead_channel.npz", TESTDATA + "/layers/golden.npz")
        for name, text in ("many", many), ("sets", sets), ("one", one), ("layers", layers):
            check_text(name, text)
        for text in many, sets, one:
            check("date", "inputs of 2023-11-14 22:13 UTC" in text and "btftool diff " in text, True)
        check("sections", re.findall("<h2>(Missing|Trouble)", sets), ["Missing", "Trouble"])
        tab = browser.Browser()
        try:
            for name in "sets.html", "one.html", "layers.html":
                look(tab, name, (420, 800, 1300, 1920))
            look(tab, "many.html", (420, 1300))
            use(tab)
        finally:
            tab.close()
        os.chdir("/")
    print("pages: " + (f"{failures} failures" if failures else "all well"))
    return 1 if failures else 0


sys.exit(main())
