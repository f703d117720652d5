"""Which test reaches which line of lib/: seen once, by clang's coverage, in PLACE/coverage and kept in PLACE/reach.json.

A change on a line that no test reaches is noticed by none; any other is shown to few tests.
"""

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

from steps import Programs, run

LLVM = "19"


def digest(path):
    return hashlib.sha1(path.read_bytes()).hexdigest()


class Reach:
    def __init__(self, place):
        self.path = place / "reach.json"
        self.tree = place / "tree"
        self.build = place / "coverage"
        kept = json.loads(self.path.read_text()) if self.path.exists() else {}
        self.digests = kept.get("digests", {})  # of the files that were measured
        self.code = {file: set(lines) for file, lines in kept.get("code", {}).items()}  # lines that can be reached
        self.tests = {(test["kind"], test["name"]): test for test in kept.get("tests", [])}

    def measure(self):
        """Runs each test that was not run yet."""
        programs = Programs(self.tree, self.build)
        todo = [test for test in programs.tests() if test not in self.tests]
        for number, (kind, name) in enumerate(todo, 1):
            profiles = self.build / "profiles"
            shutil.rmtree(profiles, ignore_errors=True)
            profiles.mkdir()
            outcome = run(programs.command([(kind, name)]), self.build, 300,
                          {"LLVM_PROFILE_FILE": f"{profiles}/%p.profraw"})
            reached = self.reached(profiles, programs.unit if kind == "unit" else programs.library)
            self.tests[kind, name] = {"kind": kind, "name": name, "seconds": round(outcome.cpu_seconds, 3),
                                      "lines": reached}
            if number % 20 == 0 or number == len(todo):
                print(f"coverage: {number} of {len(todo)} tests", flush=True)
                self.save()

    def save(self):
        if not self.digests:
            self.digests = {file: digest(self.tree / file) for file in self.code}
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps({"digests": self.digests, "code": {file: sorted(of) for file, of in self.code.items()},
                                   "tests": list(self.tests.values())}))
        os.replace(new, self.path)

    def reached(self, profiles, program):
        """{file: [line...]}; nothing of a test that was killed."""
        raw = [path for path in profiles.glob("*.profraw") if path.stat().st_size]
        data = profiles / "all.profdata"
        merge = [f"llvm-profdata-{LLVM}", "merge", "--sparse", "--failure-mode=all", "-o", data, *raw]
        if not raw or subprocess.run(merge, stderr=subprocess.DEVNULL).returncode:
            return {}
        out = subprocess.run([f"llvm-cov-{LLVM}", "export", "--format=lcov", "--skip-functions", "--num-threads=1",
                              f"--instr-profile={data}", program], check=True, capture_output=True, text=True).stdout
        lines, file = {}, None
        for line in out.splitlines():
            if line.startswith("SF:"):
                path = Path(line[3:])
                file = path.relative_to(self.tree).as_posix() if path.is_relative_to(self.tree / "lib") else None
            elif file and line.startswith("DA:"):
                number, count = map(int, line[3:].split(",")[:2])
                self.code.setdefault(file, set()).add(number)
                if count:
                    lines.setdefault(file, []).append(number)
        return lines

    def of(self, file, line):
        """The tests that reach the line. A line without code of its own (a constant) and a file that has changed since
        have the tests of the file."""
        if line in self.code.get(file, ()) and self.digests.get(file) == digest(self.tree / file):
            return [key for key, test in self.tests.items() if line in test["lines"].get(file, ())]
        of_file = [key for key, test in self.tests.items() if file in test["lines"]]
        return of_file or list(self.tests)

    def unknown(self, tests):
        """Those of which nothing is known: they are new, or were killed before they could say it."""
        return [test for test in tests if test not in self.tests or not self.tests[test]["lines"]]
