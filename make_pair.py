"""make_pair.py DIR: DIR/actual and DIR/golden, sixty small arrays, with something wrong in some."""

import sys
from pathlib import Path

import numpy


def main(root):
    actual, golden = Path(root, "actual"), Path(root, "golden")
    random = numpy.random.default_rng(1)
    for number in range(60):
        size = int(random.integers(1, 400)) * (60 if number % 17 == 0 else 1)
        array = random.standard_normal(size).astype(numpy.float32)
        name = f"net/layer{number}.npy"
        for side in (actual, golden):
            Path(side, name).parent.mkdir(parents=True, exist_ok=True)
            numpy.save(Path(side, name), array)
        if number % 7 == 0:
            array[0] += 1
            numpy.save(Path(actual, name), array)
    Path(actual, "net/layer20.npy").unlink()
    for side in (actual, golden):
        Path(side, "net/broken.npy").write_bytes(b"\x93NUMPY and no more")


main(*sys.argv[1:])
