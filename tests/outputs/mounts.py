"""mounts.py BTFTOOL TESTDATA: the tool without /proc and /dev/shm, files with a second name by a bind mount, and 2,000 files.

In a mount namespace of its own. Needs root and unshare; without one of them it is skipped.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BTFTOOL = os.path.abspath(sys.argv[1])
TESTDATA = Path(sys.argv[2]).resolve()
FILES = 2000
failures = []


def check(what, holds, found=""):
    if not holds:
        failures.append(what)
        print(f"FAILED {what}: {found}")


def run(at, words, before=""):
    """In a namespace where `before` has been done."""
    script = f'{before}\ncd "$1"\nshift\nexec "$@"'
    return subprocess.run(["unshare", "-m", "sh", "-ec", script, "sh", at, BTFTOOL, *words.split()], capture_output=True, text=True,
                          errors="replace", timeout=120)


def without_proc(at):
    hidden = "umount -l /proc\nmount -t tmpfs -o size=4k,ro none /dev/shm"
    for number, words in enumerate((
            "inspect --stats a.btf", "convert a.btf OUT.btf", "convert a.btf OUT.btf.zst", "convert --format npy d OUT/",
            "convert --tensor 0 a.btf -", "repair a.btf OUT.btf", "validate a.btf", "diff a.btf b.btf",
            "diff --html OUT.html a.btf b.btf", "diff --shard 1/1 --part OUT d d")):
        made = {}
        for before in ("", hidden):
            for old in at.glob("OUT*"):
                shutil.rmtree(old) if old.is_dir() else old.unlink()
            done = run(at, words, before)
            # A part says of which run it is.
            files = {str(path.relative_to(at)): "--part" in words or path.read_bytes() for path in at.rglob("*") if path.is_file() and "OUT" in str(path)}
            made[before] = (done.returncode, done.stdout, done.stderr, files)
        check(f"without /proc: {words}", made[hidden] == made[""] and made[""][0] in (0, 1), made[hidden][:3])
        check(f"outputs of {words}", number not in (1, 2, 3, 5, 8, 9) or made[""][3], "there are none")
    for old in at.glob("OUT*"):
        shutil.rmtree(old) if old.is_dir() else old.unlink()


def bind_mounts(at):
    (at / "other.btf").write_bytes(b"")
    (at / "e").mkdir(exist_ok=True)
    mounts = f'mount --bind "{at}/a.btf" "{at}/other.btf"\nmount --bind "{at}/d" "{at}/e"'
    before = {path: path.read_bytes() for path in at.rglob("*") if path.is_file()}
    for words, named in (
            ("diff --html other.btf a.btf b.btf", "a.btf"), ("diff --shard 1/1 --part other.btf a.btf b.btf", "a.btf"),
            ("convert --dtype fp16 b.btf other.btf", "other.btf"), ("convert a.btf other.btf", "other.btf"),
            ("diff --html e/x.btf d d", "d/x.btf"), ("validate --shard 1/1 --part e/x.btf d", "d/x.btf"),
            ("convert d e/", "e/x.btf"), ("layers --html e/x.btf d/x.btf b.btf", "d/x.btf")):
        done = run(at, words, mounts)
        check(f"a bind mount: {words}", done.returncode == 2 and named in done.stderr, (done.returncode, done.stderr))
        check(f"inputs after {words}", before == {path: path.read_bytes() for path in at.rglob("*") if path.is_file()}, "changed")
    check("the same by two mounts", run(at, "diff -q d e", mounts).returncode == 0)
    loop = run(at, "inspect -q d", f'mkdir -p "{at}/d/loop"\nmount --bind "{at}/d" "{at}/d/loop"')
    check("a directory mounted in itself", loop.returncode == 2 and "contains itself" in loop.stderr, loop.stderr)


def many_files(at):
    array = (TESTDATA / "good" / "mixed.btf").read_bytes()
    for folder in ("many", "again"):
        (at / folder).mkdir()
        (at / folder / "0.btf").write_bytes(array)
        for number in range(1, FILES):
            os.link(at / folder / "0.btf", at / folder / f"{number}.btf")
    for words in ("validate -q many", "diff -q many again", "inspect -q many"):
        done = subprocess.run([BTFTOOL, *words.split()], cwd=at, capture_output=True, text=True, timeout=60)
        check(f"{FILES} files: {words}", done.returncode == 0, (done.returncode, done.stderr[-200:]))


def main():
    if os.geteuid() != 0 or shutil.which("unshare") is None or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        print("skipped: mounts need root and unshare")
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        at = Path(scratch)
        (at / "d").mkdir()
        for name in ("a.btf", "d/x.btf"):
            shutil.copy(TESTDATA / "good" / "mixed.btf", at / name)
        shutil.copy(TESTDATA / "good" / "mixed_noisy.btf", at / "b.btf")
        for group in (without_proc, bind_mounts, many_files):
            group(at)
    print("FAILED" if failures else "ok")
    return 1 if failures else 0


sys.exit(main())
