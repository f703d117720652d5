#!/usr/bin/env python3
"""Writes the BTF files of this folder, or checks that they are what it would write.

    generate.py [OUTDIR]     write all folders of files into OUTDIR (default: the folder of this script)
    generate.py --check      regenerate elsewhere and compare byte for byte; exit 1 when anything differs

Needs Python 3 and NumPy. It shares no code with the C++ library on purpose: the two are each other's oracle.
"""

import argparse
import os
import sys
import tempfile

sys.dont_write_bytecode = True

from generator import bad, gguf, good, json_texts, layers, names, npy, npz, odd, onnx, safetensors, tvm, zstd  # noqa: E402 (after the line that keeps __pycache__ out of the tree)

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDERS = {
    "good": good.files,
    "odd": odd.files,
    "bad": bad.files,
    "npy": npy.files,
    "npy-bad": npy.bad_files,
    "npz": npz.files,
    "npz-bad": npz.bad_files,
    "gguf": gguf.files,
    "gguf-bad": gguf.bad_files,
    "gguf-odd": gguf.odd_files,
    "gguf-split": gguf.split_files,
    "json": json_texts.files,
    "safetensors": safetensors.files,
    "safetensors-bad": safetensors.bad_files,
    "safetensors-sharded": safetensors.sharded_files,
    "tvm": tvm.files,
    "tvm-bad": tvm.bad_files,
    "onnx": onnx.files,
    "onnx-external": onnx.external_files,
    "onnx-set": onnx.set_files,
    "onnx-bad": onnx.bad_files,
    "zstd": zstd.files,
    "names": names.files,
    "layers": layers.files,
}


def write_all(root):
    for folder, files in FOLDERS.items():
        os.makedirs(os.path.join(root, folder), exist_ok=True)
        for name, content in files().items():
            with open(os.path.join(root, folder, name), "wb") as out:
                out.write(content)


def read_tree(root):
    """Relative name -> bytes of every file in the generated folders."""
    tree = {}
    for folder in FOLDERS:
        for where, _, names in os.walk(os.path.join(root, folder)):
            for name in names:
                path = os.path.join(where, name)
                with open(path, "rb") as file:
                    tree[os.path.relpath(path, root)] = file.read()
    return tree


def check(root):
    """Compares the files under `root` with fresh ones; returns the exit code."""
    with tempfile.TemporaryDirectory() as scratch:
        write_all(scratch)
        fresh = read_tree(scratch)
    found = read_tree(root)
    problems = [f"missing: {name}" for name in sorted(fresh.keys() - found.keys())]
    problems += [f"not made by the generator: {name}" for name in sorted(found.keys() - fresh.keys())]
    problems += [f"differs: {name}" for name in sorted(fresh.keys() & found.keys()) if fresh[name] != found[name]]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(fresh)} files checked, {len(problems)} problems")
    return 1 if problems else 0


def main():
    parser = argparse.ArgumentParser(description="Writes the BTF test files, or checks them with --check.")
    parser.add_argument("outdir", nargs="?", default=HERE, metavar="OUTDIR", help="default: this script's folder")
    parser.add_argument("--check", action="store_true", help="write nothing; compare what is in OUTDIR")
    options = parser.parse_args()
    if options.check:
        return check(options.outdir)
    write_all(options.outdir)
    return 0


if __name__ == "__main__":
    sys.exit(main())
