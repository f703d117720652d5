"""The tests that are asked, and how one is run with limits."""

import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple


# The machine may be busy: so many times the seconds of CPU that a test is given.
WAIT = 8


class Outcome(NamedTuple):
    passed: bool
    timed_out: bool
    cpu_seconds: float


def run(command, folder, cpu_seconds, environment=None):
    """A changed library may compute, wait, write or want without end, and leave its children behind."""
    scratch = Path(tempfile.mkdtemp(prefix="mutate-", dir=folder))

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_seconds) + 1, int(cpu_seconds) + 2))
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        # Tests make huge files with holes; what fills the disk is stopped by the time.
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 44, 1 << 44))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    started = subprocess.Popen([str(part) for part in command], cwd=folder, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                               env=os.environ | {"TMPDIR": str(scratch)} | (environment or {}), preexec_fn=limit)
    before = children_seconds()
    timed_out = False
    try:
        started.wait(30 + WAIT * cpu_seconds)
    except subprocess.TimeoutExpired:
        timed_out = True
    finally:
        try:
            os.killpg(started.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        code = started.wait()
        shutil.rmtree(scratch, ignore_errors=True)
    timed_out = timed_out or code in (-signal.SIGXCPU, -signal.SIGKILL)
    # 77 says that the machine lacks what a case needs.
    return Outcome(code in (0, 77), timed_out, children_seconds() - before)


def children_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Programs:
    """What a build has, and the commands that ask it."""

    def __init__(self, tree, build):
        self.tree = tree
        self.build = build
        self.unit = build / "tests/btf_unit_tests"
        self.tool = build / "bin/btftool"
        self.library = build / "lib/libbtf.so"

    def tests(self):
        """[(kind, name)] of all there are."""
        # Its exit code is the number of tests.
        names = subprocess.run([self.unit, "--list-test-names-only"], capture_output=True, text=True,
                               env=os.environ | {"LLVM_PROFILE_FILE": "/dev/null"}).stdout
        units = [("unit", name) for name in names.splitlines() if name]
        cases = [("cli", path.stem) for path in sorted((self.tree / "tests/cli/cases").glob("*.sh"))]
        assert units and cases
        return units + cases

    def command(self, tests):
        """Runs these; the first that fails ends it. Only unit tests go together."""
        kind, name = tests[0]
        if kind == "cli":
            assert len(tests) == 1
            return ["bash", self.tree / "tests/cli/run_case.sh", self.tool, self.tree / "testdata",
                    self.tree / f"tests/cli/cases/{name}.sh"]
        names = self.build / "unit-tests"
        # A comma would end the name.
        names.write_text("".join(name.replace(",", "\\,") + "\n" for _, name in tests))
        return [self.unit, "--abort", "--input-file", names]
