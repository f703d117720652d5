"""mutate.py PLACE N [SEED]: what tests/mutate.sh runs, on PLACE/tree and PLACE/build."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from mutants import sample

# Which unit tests are asked first, by the beginning of the file's name. All are asked in the end.
FIRST = [
    ("lib/capi/", "[capi]"),
    ("lib/core/cast", "[cast]"),
    ("lib/core/criteria", "[criteria]"),
    ("lib/core/layout", "[layout]"),
    ("lib/core/strided", "[strided]"),
    ("lib/formats/npy", "[npy]"),
    ("lib/formats/raw", "[raw]"),
    ("lib/formats/zstd", "[zstd]"),
    ("lib/formats/byte_sink", "[sink]"),
    ("lib/kernels/cast", "[cast]"),
    ("lib/kernels/compare", "[compare],[criteria]"),
    ("lib/kernels/transpose", "[transpose],[convert]"),
    ("lib/memory/", "[dlpack]"),
    ("lib/ops/hints/", "[hints]"),
    ("lib/ops/coo", "[coo]"),
    ("lib/ops/quant", "[quantize]"),
    ("lib/ops/stats", "[stats]"),
    ("lib/ops/", "[convert],[diff],[plan]"),
]
BUILD_SECONDS = 1200


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 30, 4 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Trial:
    def __init__(self, place):
        self.tree = place / "tree"
        self.build = place / "build"
        self.unit = self.build / "tests/btf_unit_tests"
        self.seconds = {}  # of each step, without a change

    def run(self, command, seconds, limits=True):
        """True, False or None: it passes, it fails, it takes too long."""
        # What was changed may write or want without end, and leave its children behind.
        scratch = self.build / "tmp"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        started = subprocess.Popen([str(part) for part in command], cwd=self.build, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                                   env=os.environ | {"TMPDIR": str(scratch)}, preexec_fn=limit if limits else None)
        try:
            return started.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            return None
        finally:
            if started.poll() is None:
                os.killpg(started.pid, signal.SIGKILL)
                started.wait()

    def builds(self):
        return self.run(["ninja", "-j1", "btftool", "btf_unit_tests"], BUILD_SECONDS, limits=False)

    def steps(self, file):
        tags = next((tags for start, tags in FIRST if file.startswith(start)), None)
        if tags:
            yield "unit " + tags, [self.unit, tags, "--abort"]
        yield "unit", [self.unit, "--abort"]
        yield "cli", ["ctest", "-R", "^cli\\.", "--stop-on-failure"]

    def killer(self, mutant):
        """The step that notices; nothing if none does."""
        for name, command in self.steps(mutant.file):
            if name not in self.seconds:
                raise SystemExit(f"{name} was not run before")
            passes = self.run(command, 60 + 8 * self.seconds[name])
            if passes is None:
                return name + " (time)"
            if not passes:
                return name
        return None

    def measure(self, files):
        for file in files:
            for name, command in self.steps(file):
                if name in self.seconds:
                    continue
                begin = time.monotonic()
                if not self.run(command, 3600):
                    raise SystemExit(f"without a change these tests fail: {name}")
                self.seconds[name] = time.monotonic() - begin
                print(f"{name}: {self.seconds[name]:.1f} s", flush=True)


def outcome(trial, mutant):
    path = trial.tree / mutant.file
    content = path.read_text()
    lines = content.split("\n")
    if lines[mutant.line - 1] != mutant.old:
        return "changed"
    lines[mutant.line - 1] = mutant.new
    path.write_text("\n".join(lines))
    try:
        if not trial.builds():
            return "does not compile"
        killer = trial.killer(mutant)
        return "killed by " + killer if killer else "SURVIVED"
    finally:
        path.write_text(content)


def main(place, wanted, seed):
    trial = Trial(place)
    log = place / "mutants.tsv"
    seen = set()
    if log.exists():
        seen = {line.split("\t", 1)[1] for line in log.read_text().splitlines()}
    candidates = [mutant for mutant in sample(trial.tree, seed) if mutant.text() not in seen]
    print(f"{len(candidates)} changes to choose from", flush=True)
    trial.measure([start for start, _ in FIRST] + ["lib/other"])
    counts = Counter()
    for mutant in candidates:
        if counts["compiled"] == wanted:
            break
        what = outcome(trial, mutant)
        counts["compiled"] += what != "does not compile"
        counts[what.split(" by ")[0]] += 1
        print(f"{counts['compiled']}\t{what}\t{mutant.text()}", flush=True)
        with log.open("a") as lines:
            lines.write(f"{what}\t{mutant.text()}\n")
    trial.builds()
    print(dict(counts))
    for line in log.read_text().splitlines():
        if line.startswith("SURVIVED"):
            print(line)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "1")
