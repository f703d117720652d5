"""quota.py BTFTOOL TESTDATA: outputs where a quota is used up.

On a file system of its own, whose quota the kernel keeps: each output is the old file or the whole new one, the message
says that the quota is what is in the way, the exit code is 2, and nothing is left behind. Needs root, btrfs and its
programs; without one of them it is skipped.
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BTFTOOL = os.path.abspath(sys.argv[1])
TESTDATA = Path(sys.argv[2]).resolve()
failures = []


def check(what, holds, found=""):
    if not holds:
        failures.append(what)
        print(f"FAILED {what}: {found}")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def limit(volume, size):
    """What may be in it; "none": as much as there is room for."""
    return subprocess.run(["btrfs", "qgroup", "limit", size, volume], capture_output=True).returncode == 0


def run(at, *words):
    return subprocess.run([BTFTOOL, *words], capture_output=True, text=True, timeout=120, cwd=at)


def content(at):
    return {str(path.relative_to(at)): path.read_bytes() for path in at.rglob("*") if path.is_file()}


def refused(name, at, *words):
    before = content(at)
    found = run(at, *words)
    check(f"{name}: exit code", found.returncode == 2, (found.returncode, found.stdout, found.stderr))
    check(f"{name}: message", "quota" in found.stderr.lower(), found.stderr)
    after = content(at)
    check(f"{name}: nothing is left or changed", after == before, sorted(after.keys() ^ before.keys()))


def test(at):
    folder = at / "work"
    subprocess.run(["btrfs", "subvolume", "create", folder], check=True, capture_output=True)
    shutil.copy(TESTDATA / "good" / "mixed.btf", folder / "old.btf")
    # 4 MiB that do not compress.
    head = b"{'descr': '|u1', 'fortran_order': False, 'shape': (4194304,), }".ljust(117) + b"\n"
    array = b"\x93NUMPY\x01\x00" + bytes([118, 0]) + head + random.Random(1).randbytes(4 << 20)
    (folder / "large.npy").write_bytes(array)
    (folder / "in").mkdir()
    for number in range(4):
        (folder / "in" / f"{number}.npy").write_bytes(array)
    os.sync()
    check("limit", limit(folder, "22M"))
    refused("a new output", folder, "convert", "large.npy", "new.btf")
    refused("an output that is there", folder, "convert", "large.npy", "old.btf")
    refused("a compressed one", folder, "convert", "large.npy", "new.btf.zst")
    refused("files of a directory", folder, "convert", "--format", "btf", "in/", "out/")
    check("limit", limit(folder, "none"))
    whole = run(folder, "convert", "large.npy", "new.btf")
    check("without a limit", whole.returncode == 0, whole.stderr)


def main():
    if os.geteuid() != 0:
        skip("only root makes file systems")
    if shutil.which("mkfs.btrfs") is None or shutil.which("btrfs") is None:
        skip("there is no mkfs.btrfs")
    with tempfile.TemporaryDirectory() as scratch:
        image, at = Path(scratch) / "image", Path(scratch) / "mounted"
        image.write_bytes(b"")
        os.truncate(image, 300 << 20)
        at.mkdir()
        made = subprocess.run(["mkfs.btrfs", "-q", image], capture_output=True)
        if made.returncode != 0 or subprocess.run(["mount", "-o", "loop", image, at], capture_output=True).returncode != 0:
            skip("a btrfs cannot be mounted here")
        try:
            if subprocess.run(["btrfs", "quota", "enable", at], capture_output=True).returncode != 0:
                skip("the kernel keeps no quotas")
            test(at)
        finally:
            subprocess.run(["umount", at], check=True)
    print("FAILED" if failures else "ok")
    return 1 if failures else 0


sys.exit(main())
