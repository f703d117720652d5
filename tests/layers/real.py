"""What `btftool layers` says of runs of networks that others made, healthy and with faults.

  real.py BTFTOOL [--models A,B] [--precisions P,..] [--sites N] [--cache DIR] [--keep DIR] [--order] [--options O]
                  [--markdown] [--show]
  real.py BTFTOOL --fast

Models come out of wheels of the versions in real-models.txt; ONNX Runtime runs them. A fault is right if the tensor is
named first and with the right kind of verdict; it is below the limit if it moves its tensor by less than 16 times what
the precision does, or by less than a thousandth.
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import logging
import warnings

try:
    import numpy as np
    import onnxruntime  # noqa: F401

    import real_faults
    import real_models
    import real_runs
except ImportError as missing:
    print(f"skipped: {missing}; tests/interop/venv.sh installs what is needed")
    sys.exit(0)

HEALTHY = 0.05  # relative error of outputs


def relative(a, g):
    a, g = a.astype(np.float64), g.astype(np.float64)
    if a.shape != g.shape or not np.isfinite(a).all():
        return np.inf
    size = np.linalg.norm(g)
    return np.linalg.norm(a - g) / size if size else float(np.any(a))


class Asked:
    def __init__(self, tool, scratch, options):
        self.tool, self.scratch, self.options, self.count = tool, scratch, options, 0

    def save(self, tensors):
        self.count += 1
        path = os.path.join(self.scratch, f"{self.count}.npz")
        np.savez(path, **tensors)
        return path

    def verdict(self, tensors, golden, *options):
        path = self.save(tensors)
        command = [self.tool, "layers", "--json", "--no-hints", *self.options, *options, path, golden]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        report = json.loads(done.stdout)
        if "error" in report:
            return {"kind": "trouble", "layer": None, "words": done.stderr.strip(), "path": path, "all": {}}
        return {**report["verdict"], "path": path, "all": report}


def judge(verdict, name, kind):
    """"right", or what is wrong about it."""
    if verdict["kind"] != kind:
        return "kind" if verdict["layer"] == name else "missed" if verdict["kind"] == "clean" else verdict["kind"]
    return "right" if verdict["layer"] == name else "second"


class Trial:
    def __init__(self, options, real, path, asked):
        self.options, self.real, self.asked = options, real, asked
        self.runs = real_runs.Runs(real, path, options.cache)
        self.golden = asked.save(self.runs.golden)
        self.path = path
        self.tally = collections.Counter()

    def graph(self, precision):
        if self.options.order:
            return []
        _, own = self.runs.computed(precision)
        return ["--graph", self.path, *(["--actual-graph", own] if own and not self.options.no_actual_graph else [])]

    def show(self, what, verdict):
        if self.options.show:
            print(f"  {self.real.name} {what}: {verdict['kind']}: {verdict['words'][:300]} [{verdict['path']}]")

    def run(self):
        for precision in self.options.precisions:
            try:
                tensors = self.runs.tensors(precision)
            except Exception as error:  # a precision that a model cannot be run in
                print(f"  {self.real.name} {precision}: cannot be run: {str(error).splitlines()[0][:160]}")
                continue
            if self.healthy(precision, tensors) and precision in self.options.fault_precisions:
                self.faulty(precision, tensors)
        return self.tally

    def healthy(self, precision, tensors):
        outputs = [o.name for o in self.runs.model.graph.output if o.name in tensors]
        error = max((relative(tensors[o], self.runs.golden[o]) for o in outputs), default=0)
        if error >= HEALTHY:
            self.tally["far"] += 1
            return False
        verdict = self.asked.verdict(tensors, self.golden, *self.graph(precision))
        self.tally["healthy"] += 1
        kind = verdict["kind"]
        self.tally["cannot-tell"] += kind == "cannot-tell"
        blamed = kind not in ("clean", "cannot-tell", "drift")
        self.tally["blamed"] += blamed
        if blamed or kind == "cannot-tell":
            self.show(f"{precision} healthy, error {error:.2g}", verdict)
        # Where float16 overflows, that is what is named first.
        return kind == "clean"

    def faulty(self, precision, tensors):
        rng = np.random.default_rng(7)
        for name in real_faults.sites(self.runs, tensors, self.options.sites, rng):
            usual = relative(tensors[name], self.runs.golden[name])
            for kind in self.kinds(real_faults.COMPUTED, rng):
                self.computed(precision, tensors, name, kind, usual)
            for kind in self.kinds(real_faults.DUMPED, rng):
                self.dumped(precision, tensors, name, kind, usual)

    def kinds(self, all_kinds, rng):
        names = list(all_kinds)
        return [names[k] for k in rng.permutation(len(names))[:self.options.kinds]]

    def size(self, changed, healthy):
        return np.inf if not np.isfinite(changed.astype(np.float64)).all() else relative(changed, healthy)

    def computed(self, precision, tensors, name, kind, usual):
        changed = real_faults.COMPUTED[kind](tensors[name].astype(np.float32))
        if self.size(changed, tensors[name]) < max(16 * usual, 1e-3):
            self.tally["below"] += 1
            return
        try:
            run = self.runs.tensors(precision, (name, changed))
        except Exception:
            return
        run[name] = changed.astype(tensors[name].dtype)
        verdict = self.asked.verdict(run, self.golden, *self.graph(precision))
        result = judge(verdict, name, "broke")
        self.tally["computed"] += 1
        self.tally["computed right"] += result == "right"
        if result != "right":
            self.tally[result] += 1
            self.show(f"{precision} computed '{kind}' at {name}: {result}", verdict)

    def dumped(self, precision, tensors, name, kind, usual):
        changed = real_faults.DUMPED[kind](tensors[name].astype(np.float32)).astype(tensors[name].dtype)
        if self.size(changed, tensors[name]) < max(16 * usual, 1e-3):
            return
        verdict = self.asked.verdict({**tensors, name: changed}, self.golden, *self.graph(precision))
        result = judge(verdict, name, "dump-wrong")
        self.tally["dumps"] += 1
        self.tally["dumps right"] += result == "right"
        if result != "right":
            self.tally["dump " + result] += 1
            self.show(f"{precision} dumped '{kind}' at {name}: {result}", verdict)


def part(some, whole):
    return f"{some} of {whole}" + (f" ({100 * some / whole:.0f} %)" if whole else "")


def line(name, t):
    return (f"| {name} | {t['healthy']} | {t['blamed']} | {t['cannot-tell']} | "
            f"{part(t['computed right'], t['computed'])} | {part(t['dumps right'], t['dumps'])} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--models")
    parser.add_argument("--precisions")
    parser.add_argument("--fault-precisions", default="float32,fused,float16,static-int8")
    parser.add_argument("--sites", type=int, default=8)
    parser.add_argument("--kinds", type=int, default=2)
    parser.add_argument("--cache", default=os.path.join(tempfile.gettempdir(), "btftool-real-models"))
    parser.add_argument("--keep")
    parser.add_argument("--order", action="store_true", help="no graph")
    parser.add_argument("--no-actual-graph", action="store_true")
    parser.add_argument("--options", default="")
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    options.precisions = options.precisions.split(",") if options.precisions else list(real_runs.PRECISIONS)
    options.fault_precisions = options.fault_precisions.split(",")
    if options.fast:
        options.sites, options.fault_precisions, options.show = 3, ["float32", "float16"], True
    for folder in (options.cache, options.keep):
        if folder:
            os.makedirs(folder, exist_ok=True)
    totals = collections.Counter()
    print("| network | healthy runs | blamed | cannot tell | computed faults named first | wrong dumps named first |\n"
          "| --- | --- | --- | --- | --- | --- |")
    for real in real_models.MODELS:
        if (options.models and real.name not in options.models.split(",")) or (options.fast and not real.small):
            continue
        path = real_models.fetch(real, options.cache)
        if path is None:
            print("skipped: the package index cannot be reached for real models")
            return 0
        with tempfile.TemporaryDirectory() as scratch:
            asked = Asked(options.tool, options.keep or scratch, re.split(r"\s+", options.options.strip())
                          if options.options else [])
            tally = Trial(options, real, path, asked).run()
        print(line(real.name, tally), flush=True)
        if options.show:
            print("  ", dict(tally))
        totals += tally
    print(line("all", totals))
    if not options.fast:
        return 0
    fine = (totals["blamed"] == 0 and totals["cannot-tell"] <= 1
            and totals["computed right"] >= 0.95 * totals["computed"]
            and totals["dumps right"] >= 0.9 * totals["dumps"])
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
