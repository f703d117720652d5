"""mutate.py PLACE N [SEED] and mutate.py PLACE again: what tests/mutate.sh runs."""

import csv
import sys
from collections import Counter
from pathlib import Path

from mutants import Mutant, moved, sample
from reach import Reach
from steps import Programs, run

BUILD_SECONDS = 1200
# Unit tests of so many seconds go together; before the last of these the cases are asked, and slower tests are alone.
BATCH_SECONDS = (0.1, 0.5, 2, 10)
# What "again" asks of a change that nothing else noticed.
OTHERS = r"^(capi|exports|fuzz|interop|docs_examples|numpy_load|numpy_npz|faults)"
OTHERS_SECONDS = 600


class Trial:
    def __init__(self, place):
        self.tree = place / "tree"
        self.build = place / "build"
        self.reach = Reach(place)
        self.programs = Programs(self.tree, self.build)
        self.tests = self.programs.tests()

    def compiles(self, *targets):
        return run(["ninja", "-j1", *targets], self.build, BUILD_SECONDS, {"CCACHE_DISABLE": "1"}).passed

    def seconds(self, test):
        known = self.reach.tests.get(test)
        return known["seconds"] if known else 0

    def batches(self, tests):
        """[(name, tests)], the quickest first. A process of its own costs a unit test more than it needs."""
        batch, total, limits = [], 0, list(BATCH_SECONDS)
        for test in sorted((test for test in tests if test[0] == "unit"), key=self.seconds):
            if batch and (not limits or total + self.seconds(test) > limits[0]):
                yield f"unit ({batch[0][1]})" if len(batch) == 1 else "unit", batch
                batch, total, limits = [], 0, limits[1:]
                if len(limits) == 1:
                    yield from self.cases(tests)
            batch.append(test)
            total += self.seconds(test)
        if batch:
            yield "unit", batch
        if len(limits) > 1:
            yield from self.cases(tests)

    def cases(self, tests):
        for test in sorted((test for test in tests if test[0] == "cli"), key=self.seconds):
            yield f"cli {test[1]}", [test]

    def check_unchanged(self):
        for name, tests in self.batches(self.tests):
            if not self.passes(tests).passed:
                raise SystemExit(f"without a change these fail: {name}: {tests}")

    def passes(self, tests):
        return run(self.programs.command(tests), self.build, 10 + 5 * sum(map(self.seconds, tests)))

    def noticed(self, tests, others):
        """By which step; nothing if none notices."""
        for name, tests in self.batches(tests):
            outcome = self.passes(tests)
            if not outcome.passed:
                return name + (" (time)" if outcome.timed_out else "")
        if not others:
            return None
        if not self.compiles():
            return "build"
        outcome = run(["ctest", "--stop-on-failure", "-R", OTHERS], self.build, OTHERS_SECONDS)
        if not outcome.passed:
            failed = (self.build / "Testing/Temporary/LastTestsFailed.log")
            return failed.read_text().strip() if failed.exists() else "others"
        return None

    def outcome(self, mutant, others):
        path = self.tree / mutant.file
        content = path.read_text()
        lines = content.split("\n")
        assert lines[mutant.line - 1] == mutant.old
        reached = [test for test in self.reach.of(mutant.file, mutant.line) if test in self.tests]
        asked = [*reached, *self.reach.unknown(self.tests)]
        lines[mutant.line - 1] = mutant.new
        path.write_text("\n".join(lines))
        try:
            if not self.compiles("btf", "btf_unit_tests"):
                return "does not compile"
            by = self.noticed(list(dict.fromkeys(asked)), others)
            return f"killed by {by}" if by else "SURVIVED" if reached else "SURVIVED, not reached"
        finally:
            path.write_text(content)


class Log:
    """mutants.tsv: outcome, file, line, old, new."""

    def __init__(self, path):
        self.path = path
        self.rows = []
        if path.exists():
            with path.open(newline="") as lines:
                self.rows = [(row[0], Mutant(row[1], int(row[2]), row[3], row[4]))
                             for row in csv.reader(lines, "excel-tab")]

    def add(self, what, mutant):
        self.rows.append((what, mutant))
        with self.path.open("a", newline="") as lines:
            csv.writer(lines, "excel-tab").writerow([what, *mutant])

    def survivors(self):
        """Those whose last outcome this is."""
        last = {(mutant.file, mutant.old, mutant.new): (what, mutant) for what, mutant in self.rows}
        return [mutant for what, mutant in last.values() if what.startswith("SURVIVED")]


def main(place, wanted, seed):
    trial = Trial(place)
    trial.reach.measure()
    log = Log(place / "mutants.tsv")
    if wanted == "again":
        candidates = [now for mutant in log.survivors() if (now := moved(mutant, trial.tree))]
    else:
        seen = {(mutant.file, mutant.old, mutant.new) for _, mutant in log.rows}
        candidates = [mutant for mutant in sample(trial.tree, seed)
                      if (mutant.file, mutant.old, mutant.new) not in seen]
    print(f"{len(candidates)} changes to choose from", flush=True)
    trial.check_unchanged()
    counts = Counter()
    for mutant in candidates:
        if wanted != "again" and counts["compiled"] == int(wanted):
            break
        what = trial.outcome(mutant, others=wanted == "again")
        counts["compiled"] += what != "does not compile"
        counts[what.split(" by ")[0]] += 1
        print(f"{counts['compiled']}\t{what}\t{mutant.text()}", flush=True)
        log.add(what, mutant)
    trial.compiles()
    print(dict(counts))
    for mutant in log.survivors():
        print(mutant.text())


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "1")
