#!/usr/bin/env python3
"""Compares the pictures of `inspect --image` and `diff --image` with what NumPy makes of the same numbers, pixel by pixel.

    check_pictures.py BTFTOOL

Needs NumPy; says "skipped" without. PNG is decoded here with zlib alone, and so are half blocks, kitty's protocol and
sixels. Colours and places are those that docs/inspect.md, section 5, says.
"""

import base64
import math
import os
import re
import subprocess
import sys
import tempfile
import zlib

try:
    import numpy as np
except ImportError:
    print("skipped: no NumPy")
    sys.exit()

VIRIDIS = [(68, 1, 84), (71, 44, 122), (59, 81, 139), (44, 113, 142), (33, 144, 141), (39, 173, 129), (92, 200, 99),
           (170, 220, 50), (253, 231, 37)]
BLUE_TO_RED = [(5, 48, 97), (67, 147, 195), (247, 247, 247), (214, 96, 77), (103, 0, 31)]
NAN, INF, MINUS_INF, GROUND = (255, 0, 255), (255, 0, 0), (0, 255, 255), (40, 40, 40)


def decode_png(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, body, head = 8, b"", None
    while at < len(data):
        size, kind = int.from_bytes(data[at:at + 4], "big"), data[at + 4:at + 8]
        content = data[at + 8:at + 8 + size]
        assert zlib.crc32(kind + content) == int.from_bytes(data[at + 8 + size:at + 12 + size], "big")
        at += 12 + size
        if kind == b"IHDR":
            head = content
        elif kind == b"IDAT":
            body += content
    width, height = int.from_bytes(head[:4], "big"), int.from_bytes(head[4:8], "big")
    assert tuple(head[8:]) == (8, 2, 0, 0, 0)  # 8 bits, RGB, no interlace
    rows = np.frombuffer(zlib.decompress(body), np.uint8).reshape(height, 1 + 3 * width)
    image = np.zeros((height, width, 3), np.uint8)
    before = np.zeros((width, 3), int)
    for y, row in enumerate(rows):
        line, line_filter = row[1:].reshape(width, 3).astype(int), row[0]
        if line_filter == 1:
            line = np.cumsum(line, axis=0) % 256
        elif line_filter == 2:
            line = (line + before) % 256
        elif line_filter in (3, 4):
            left, corner = np.zeros(3, int), np.zeros(3, int)
            for x in range(width):
                up = before[x]
                if line_filter == 3:
                    guess = (left + up) // 2
                else:
                    p = left + up - corner
                    a, b, c = abs(p - left), abs(p - up), abs(p - corner)
                    guess = np.where((a <= b) & (a <= c), left, np.where(b <= c, up, corner))
                line[x] = (line[x] + guess) % 256
                left, corner = line[x], up
        image[y], before = line, line
    return image


def colour_map(anchors):
    places = np.arange(256) * (len(anchors) - 1) / 255
    low = np.minimum(places.astype(int), len(anchors) - 2)
    part = (places - low)[:, None]
    anchors = np.array(anchors, float)
    return np.floor(anchors[low] + (anchors[low + 1] - anchors[low]) * part + 0.5).astype(np.uint8)


def colours(values, least, greatest, anchors=VIRIDIS):
    with np.errstate(all="ignore"):
        share = (values - least) / (greatest - least) if greatest > least else np.full(values.shape, 128 / 255)
        levels = np.floor(np.clip(np.nan_to_num(share), 0, 1) * 255 + 0.5).astype(int)
    image = colour_map(anchors)[levels]
    image[np.isnan(values)] = NAN
    image[np.isposinf(values)] = INF
    image[np.isneginf(values)] = MINUS_INF
    return image


def grid(tiles, zoom, across, scale, anchors=VIRIDIS):
    """[tiles, rows, columns] as docs say; scale(tile) gives both ends."""
    count, rows, columns = tiles.shape
    down = -(-count // across)
    image = np.full((down * (rows * zoom + 1) - 1, across * (columns * zoom + 1) - 1, 3), GROUND, np.uint8)
    for i, tile in enumerate(tiles):
        y, x = i // across * (rows * zoom + 1), i % across * (columns * zoom + 1)
        pixels = colours(tile, *scale(tile), anchors).repeat(zoom, axis=0).repeat(zoom, axis=1)
        image[y:y + rows * zoom, x:x + columns * zoom] = pixels
    return image


def across_of(tiles):
    count, rows, columns = tiles.shape
    return min(count, max(1, math.ceil(math.sqrt(count * rows / columns))))


def ends(values):
    finite = values[np.isfinite(values)]
    return (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)


def run(tool, *arguments, ok=(0,)):
    done = subprocess.run([tool, *map(str, arguments)], capture_output=True)
    assert done.returncode in ok, (arguments, done)
    return done


def check_scale(image, below, width, anchors=VIRIDIS, left=0):
    """The bar under the tiles runs through all colours."""
    bar = image[below + 4:below + 12, left:left + width]
    wanted = colour_map(anchors)[np.arange(width) * 255 // (width - 1)]
    assert (bar == wanted[None]).all()
    assert (image[below + 14:, left:left + width] == (230, 230, 230)).all(axis=2).any()  # there are digits


def check_picture(tool, folder, values, path, options, tiles, zoom, own=False, limits=None):
    out = os.path.join(folder, "picture.png")
    run(tool, "inspect", "--image", out, "--image-zoom", zoom, *options, path)
    with open(out, "rb") as file:
        image = decode_png(file.read())
    shared = limits or ends(tiles)
    wanted = grid(tiles, zoom, across_of(tiles), ends if own else lambda tile: shared)
    height, width, _ = wanted.shape
    assert (image[:height, :width] == wanted).all(), (path, options)
    if own:
        assert image.shape == wanted.shape
    else:
        check_scale(image, height, image.shape[1])
    return values


def check_inspect(tool, folder):
    random = np.random.default_rng(11)
    values = random.standard_normal((2, 6, 9, 7)).astype(np.float32)
    values[0, 1, 2, 3], values[0, 1, 3, 3], values[0, 2, 0, 0] = np.nan, np.inf, -np.inf
    values[0, 4] = 2.5
    path = os.path.join(folder, "x.npy")
    np.save(path, values)
    double = values.astype(np.float64)
    check_picture(tool, folder, values, path, [], double[0], 3)
    check_picture(tool, folder, values, path, ["--image-scale", "own"], double[0], 1, own=True)
    check_picture(tool, folder, values, path, ["--image-range=-0.5,1"], double[0], 2, limits=(-0.5, 1))
    check_picture(tool, folder, values, path, ["--at", "1,2"], double[1, 2][None], 20)
    check_picture(tool, folder, values, path, ["--at", "0,::-2,1:8:3,::-1"], double[0, ::-2, 1:8:3, ::-1], 5)
    check_picture(tool, folder, values, path, ["--at", ":,1,:,5"], double[:, 1, :, 5][None], 13)
    check_picture(tool, folder, values, path, ["--at", "0,0,3"], double[0, 0, 3][None, None], 31)
    for name, options, made in (("h.btf", ["--layout", "kHWC8", "--dtype", "fp16"], values.astype(np.float16)),
                                ("c.btf", ["--layout", "coo"], values), ("z.btf.zst", ["--compress", "1"], values)):
        other = os.path.join(folder, name)
        run(tool, "-q", "convert", *options, path, other)
        check_picture(tool, folder, values, other, [], made[0].astype(np.float64), 2)
    codes = random.integers(-128, 128, (5, 4), np.int8)
    path = os.path.join(folder, "codes.npy")
    np.save(path, codes)
    check_picture(tool, folder, codes, path, [], codes[None].astype(np.float64), 16)


def blocks(text):
    """The pixels of half blocks."""
    rows = []
    for line in text.decode().splitlines():
        if "▀" not in line:
            continue
        upper, lower, fore, back = [], [], None, None
        for escape, block in re.findall("\x1b\\[([0-9;]*)m|(▀)", line):
            if block:
                upper.append(fore)
                lower.append(back)
                continue
            parts = [int(part) for part in escape.split(";")]
            if parts[0] == 38:
                fore = tuple(parts[2:])
            elif parts[0] == 48:
                back = tuple(parts[2:])
            elif parts == [49]:
                back = None
        rows += [upper, lower]
    return rows


def sixels(text):
    body = re.fullmatch('\x1bPq"1;1;([0-9]+);([0-9]+)(.*)\x1b\\\\\n', text[:text.index("\x1b\\") + 3], re.S)
    width, height = int(body[1]), int(body[2])
    palette, image, x, y, colour = {}, np.zeros((height + 6, width, 3)), 0, 0, None
    for token in re.findall(r"#[0-9]+;2;[0-9;]+|#[0-9]+|![0-9]+.|[$-]|.", body[3]):
        if token[0] == "#" and ";" in token:
            number, _, *parts = token[1:].split(";")
            palette[int(number)] = [int(part) * 2.55 for part in parts]
        elif token[0] == "#":
            colour = palette[int(token[1:])]
        elif token == "$":
            x = 0
        elif token == "-":
            x, y = 0, y + 6
        else:
            count = int(token[1:-1]) if token[0] == "!" else 1
            for bit in range(6):
                if ord(token[-1]) - 63 >> bit & 1:
                    image[y + bit, x:x + count] = colour
            x += count
    return image[:height]


def check_terminal(tool, folder):
    random = np.random.default_rng(12)
    path, out = os.path.join(folder, "t.npy"), os.path.join(folder, "t.png")
    np.save(path, random.standard_normal((3, 11, 33)))
    run(tool, "inspect", "--image", out, "--image-zoom", 1, path)
    with open(out, "rb") as file:
        data = file.read()
    image = decode_png(data)
    assert run(tool, "inspect", "--image", "-", "--image-zoom", 1, path).stdout == data
    environment = dict(os.environ, COLUMNS="120")

    def shown(form):
        return subprocess.run([tool, "inspect", "--image", "-", "--image-as", form, "--image-zoom", "1", path],
                              capture_output=True, env=environment, check=True).stdout

    rows = blocks(shown("blocks"))
    if len(rows) > image.shape[0]:
        assert all(pixel is None for pixel in rows.pop())
    assert np.array_equal(np.array(rows), image)
    pieces = re.findall(rb"\x1b_G([^;]*);([^\x1b]*)\x1b\\", shown("kitty"))
    assert pieces[0][0].startswith(b"a=T,f=100") and pieces[-1][0].endswith(b"m=0") and max(map(len, pieces)) <= 4096
    assert base64.b64decode(b"".join(piece for _, piece in pieces)) == data
    # Colours in percent, and of at most 256 kinds.
    assert np.abs(sixels(shown("sixel").decode()) - image).max() <= 18


def check_panels(tool, folder, files, options, panels, told=None, zoom=1):
    """The panels are [tiles, rows, columns] of actual and golden, as they are compared."""
    out = os.path.join(folder, "d.png")
    done = run(tool, "diff", "--show", 0, "--no-hints", "--image", out, "--image-zoom", zoom, *options, *files, ok=(0, 1))
    if told:
        assert told in done.stdout.decode().splitlines()[-1], done.stdout
    with open(out, "rb") as file:
        image = decode_png(file.read())
    with np.errstate(all="ignore"):
        same = (panels[0] == panels[1]) | (np.isnan(panels[0]) & np.isnan(panels[1]))
        error = np.where(same, 0, panels[0] - panels[1]).astype(np.float64)
    panels = [panel.astype(np.float64) for panel in panels]
    both = ends(np.concatenate(panels))
    most = np.abs(error[np.isfinite(error)]).max()
    width = (image.shape[1] - 24) // 3
    head = 15
    for i, (tiles, scale, anchors) in enumerate(((panels[0], both, VIRIDIS), (panels[1], both, VIRIDIS),
                                                 (error, (-most, most), BLUE_TO_RED))):
        wanted = grid(tiles, zoom, across_of(tiles), lambda tile: scale, anchors)
        x = i * (width + 12)
        part = image[head:head + wanted.shape[0], x:x + wanted.shape[1]]
        assert (part == wanted).all(), (options, i)
        check_scale(image, head + wanted.shape[0], width, anchors, x)


def check_diff(tool, folder):
    random = np.random.default_rng(13)
    golden = random.standard_normal((1, 4, 10, 12)).astype(np.float32)
    actual = golden.copy()
    actual[0, 2, 3:6] += 0.5
    golden[0, 0, 0, 0] = actual[0, 0, 0, 0] = np.nan  # on both sides: no error
    actual[0, 1, 1, 1] = np.inf
    left, right = (os.path.join(folder, name) for name in ("a.npy", "g.npy"))
    np.save(left, actual)
    np.save(right, golden)
    check_panels(tool, folder, (left, right), (), (actual[0].astype(np.float64), golden[0].astype(np.float64)), zoom=4)


def check_edited(tool, folder):
    """Layouts, dtypes and edits of dims: what is drawn has the dims and the numbers that are compared."""
    random = np.random.default_rng(14)
    golden = random.standard_normal((2, 21, 9, 14)).astype(np.float16).astype(np.float32)
    actual = np.where(random.random(golden.shape) < 0.1, golden + np.float32(0.25), golden)
    actual[:, 5] = 0

    def path(name):
        return os.path.join(folder, name)

    # Without a part that with the largest error is drawn.
    worst = int(np.unravel_index(np.abs(actual - golden).argmax(), golden.shape)[0])
    parts = {"": np.s_[worst], "0": np.s_[0], "1": np.s_[1], ":,7,:,3": np.s_[None, :, 7, :, 3], "1,2:21:5,::-2,13:2:-3": np.s_[1, 2:21:5, ::-2, 13:2:-3],
             "0,::-1,8": np.s_[None, 0, ::-1, 8]}
    np.save(path("g.npy"), golden)
    np.save(path("a.npy"), actual)
    np.save(path("nhwc.npy"), actual.transpose(0, 2, 3, 1))
    np.save(path("ones.npy"), actual[:, None, :, :, :, None])
    np.save(path("flat.npy"), actual.reshape(2, -1))
    for name, options in (("h.btf", ["--layout", "kHWC8", "--dtype", "fp16"]), ("c.btf", ["--layout", "kCHW32"]),
                          ("coo.btf", ["--layout", "coo"]), ("z.npz.zst", ["--compress", "1"])):
        run(tool, "-q", "convert", *options, path("a.npy"), path(name))
        run(tool, "-q", "convert", *options, path("g.npy"), path("g" + name))
    half = actual.astype(np.float16).astype(np.float64)
    wide = [array.astype(np.float64) for array in (actual, golden)]
    for at, part in parts.items():
        place = ["--image-at", at] if at else []
        panels = [array[part] for array in wide]
        for files, options in ((("a.npy", "g.npy"), []), (("c.btf", "g.npy"), []), (("c.btf", "gh.btf"), []),
                               (("coo.btf", "g.npy"), []), (("coo.btf", "gcoo.btf"), []), (("z.npz.zst", "gc.btf"), []),
                               (("nhwc.npy", "gc.btf"), ["--permute", "0,3,1,2"]),
                               (("ones.npy", "gh.btf"), ["--squeeze"]), (("flat.npy", "g.npy"), ["--reshape", "actual"])):
            check_panels(tool, folder, [path(name) for name in files], [*place, *options], panels)
        check_panels(tool, folder, (path("h.btf"), path("g.npy")), place, (half[part], panels[1]))


def check_scaled(tool, folder):
    """Codes are drawn as the numbers that they stand for; integers to the last digit."""
    random = np.random.default_rng(15)
    golden = random.standard_normal((3, 8, 10)).astype(np.float32)
    left, right, channels = (os.path.join(folder, name) for name in ("q.npy", "s.npy", "q.btf"))
    np.save(right, golden)
    codes = np.clip(np.round(golden / 0.03125) + 3, -128, 127).astype(np.int8)
    np.save(left, codes)
    numbers = (codes.astype(np.float64) - 3) * 0.03125
    check_panels(tool, folder, (left, right), ["--actual-scale", "0.03125,3"], (numbers, golden.astype(np.float64)))
    scales = np.array([0.5, 0.0625, 0.125])
    steps = (codes - 3) * scales[:, None, None]
    part = np.s_[::-1, 1::3]
    check_panels(tool, folder, (left, right), ["--actual-scale", "0:0.5,3/0.0625,3/0.125,3", "--image-at", "::-1,1::3"],
                 (steps[part], golden[part].astype(np.float64)))
    run(tool, "-q", "convert", "--scale", "auto", "--scale-axis", "2", "--dtype", "int8", right, channels)
    back = os.path.join(folder, "back.npy")
    run(tool, "-q", "convert", "--dequantize", "--dtype", "fp64", "--tensor", "0", channels, back)
    check_panels(tool, folder, (channels, right), ["--dequantize", "--image-at", "::-1,1::3"],
                 (np.load(back)[part], golden[part].astype(np.float64)))
    long = np.arange(12, dtype=np.int64).reshape(3, 4) + 2**53
    other = long + np.array([0, 1, -1, 1], np.int64)
    np.save(left, other)
    np.save(right, long)
    check_panels(tool, folder, (left, right), [], (other[None].astype(np.longdouble), long[None].astype(np.longdouble)))


def check_choice(tool, folder):
    """Of several tensors that with the largest error, or that which is asked for."""
    golden = np.random.default_rng(16).standard_normal((3, 5, 6))
    left, right = (os.path.join(folder, name) for name in ("several.npz", "golden.npz"))
    np.savez(right, a=golden, b=golden, c=golden, d=golden)
    np.savez(left, a=golden, b=golden + 0.5, c=golden * 3, d=golden + 0.25)
    for options, factor, term, told in (([], 3, 0, "tensor 2 'c', the worst of 3 that differ: "),
                                        (["--tensor", "b,d"], 1, 0.5, "tensor 1 'b', the worst of 2 that differ: "),
                                        (["--tensor", "d"], 1, 0.25, "tensor 3 'd': "),
                                        (["--pair", "a:a"], 1, 0, "tensor 0 'a': "),
                                        (["--close", "--atol", "0.6"], 3, 0, "tensor 2 'c': ")):
        check_panels(tool, folder, (left, right), options, (golden * factor + term, golden), told)


def main():
    tool = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        check_inspect(tool, folder)
        check_terminal(tool, folder)
        check_diff(tool, folder)
        check_edited(tool, folder)
        check_scaled(tool, folder)
        check_choice(tool, folder)
    print("pictures: every pixel as NumPy has it; PNG, blocks, kitty, sixel")


if __name__ == "__main__":
    main()
