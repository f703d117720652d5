"""kills.py BTFTOOL TESTDATA [SEED]: what `kill -9` leaves of outputs and of parts.

A conversion of a directory is killed at moments spread over the run: each output is whole, what else is there has the
name of an unfinished output, no command takes that for a tensor, and the next run removes it. Processes with one shard that start together and are
killed at any moment never leave a part that is torn.
"""

import fcntl
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BTFTOOL = os.path.abspath(sys.argv[1])
TESTDATA = Path(sys.argv[2]).resolve()
UNFINISHED = re.compile(r"\.btf-[0-9a-f]{16}")
random.seed(int(sys.argv[3]) if len(sys.argv) > 3 else 57)
failures = []


def check(what, holds):
    if not holds:
        failures.append(what)
        print(f"FAILED {what}")


def run(*words, **more):
    return subprocess.run([BTFTOOL, *words], capture_output=True, text=True, timeout=120, **more)


def killed(words, after, **more):
    """Runs it, and kills it after so many seconds."""
    process = subprocess.Popen([BTFTOOL, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)
    time.sleep(after)
    process.kill()
    return process.wait()


def listed(at):
    found = run("inspect", "--json", ".", cwd=at)
    return {file["path"] for file in json.loads(found.stdout).get("files", [])} if found.stdout else set()


def of_directories(at):
    (at / "in").mkdir()
    for number in range(40):
        shutil.copy(TESTDATA / "good" / "mixed.btf", at / "in" / f"{number}.btf")
    words = ["convert", "in/", "out/"]
    begin = time.monotonic()
    run(*words, cwd=at)
    lasts = time.monotonic() - begin
    wanted = {path.name: path.read_bytes() for path in (at / "out").iterdir()}
    check("a whole run", len(wanted) == 40)
    left = ended = 0
    for number in range(40):
        if number % 2:
            shutil.rmtree(at / "out")
        killed(words, random.uniform(0, lasts), cwd=at)
        if not (at / "out").exists():
            continue
        for path in (at / "out").iterdir():
            if UNFINISHED.fullmatch(path.name):
                left += 1
            else:
                ended += 1
                check(f"{path.name} is whole", path.read_bytes() == wanted.get(path.name))
        check("unfinished outputs are not listed", not any(UNFINISHED.search(name) for name in listed(at / "out")))
        if number % 8 == 7:
            check("the next run ends", run(*words, cwd=at).returncode == 0)
            check("and removes what was left", sorted(os.listdir(at / "out")) == sorted(wanted))
    # One that a process holds stays, whatever runs; without its lock it goes.
    for name, held in ((".btf-00112233445566aa", True), (".btf-00112233445566bb", False)):
        (at / "out" / name).write_bytes(b"x")
        if held:
            holder = open(at / "out" / name, "r+b")
            fcntl.flock(holder, fcntl.LOCK_EX)
    run(*words, cwd=at)
    check("what is held stays", (at / "out" / ".btf-00112233445566aa").exists())
    check("what is not goes", not (at / "out" / ".btf-00112233445566bb").exists())
    holder.close()
    run("diff", "--html", "out/page.html", "in/0.btf", "in/0.btf", cwd=at)
    check("a report removes it too", not (at / "out" / ".btf-00112233445566aa").exists())
    return f"{ended} outputs, {left} left"


def is_whole(part):
    lines = part.read_bytes().splitlines(keepends=True)
    return bool(lines) and lines[-1].endswith(b"\n") and json.loads(lines[-1]).get("end") is True


def of_parts(at):
    words = ["diff", "--shard", "1/1", "--part", "part.jsonl", "in", "in"]
    begin = time.monotonic()
    run(*words, cwd=at)
    lasts = time.monotonic() - begin
    merged = run("merge", "part.jsonl", cwd=at)
    check("a part", merged.returncode == 0)
    runs = 0
    for number in range(12):
        resume = ["--resume"] if number % 2 else []
        if number % 4 == 3:
            (at / "part.jsonl").unlink()
        running = [subprocess.Popen([BTFTOOL, *words, *resume], cwd=at, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                   for _ in range(4)]
        time.sleep(random.uniform(0, 3 * lasts))
        running[0].kill()
        while any(process.poll() is None for process in running):
            if (at / "part.jsonl").exists():
                check("FILE is whole whenever it is there", is_whole(at / "part.jsonl"))
        runs += len(running)
        check("the others end well", all(process.returncode == 0 for process in running[1:]))
        again = run("merge", "part.jsonl", cwd=at)
        check("what was merged is the same", (again.returncode, again.stdout) == (0, merged.stdout))
    return f"{runs} runs of a shard"


def main():
    with tempfile.TemporaryDirectory() as scratch:
        at = Path(scratch)
        print(of_directories(at), of_parts(at), f"{len(failures)} failed", sep="; ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
