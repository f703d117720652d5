"""What `btftool layers` says of dumps of real networks, healthy and with faults, against what it must say.

  evaluate.py BTFTOOL [--split tune|report] [--kinds K,..] [--precisions P,..] [--seeds N] [--markdown] [--show]
  evaluate.py BTFTOOL --models FILE.onnx,BERT_FOLDER [--precisions P,..]
  evaluate.py BTFTOOL --fast

Constants are chosen on the nets of `tune` and the table is of those of `report`. `--fast` is the test: a few nets, and
bounds that must hold. Every case is judged twice, with the graph and by order alone.
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np

    import nets
    import scenarios
    import trained
    from kinds import KINDS, ORDINARY
    from precisions import GOLDEN, PRECISIONS
except ImportError as missing:
    print(f"skipped: {missing}; tests/interop/venv.sh installs what is needed")
    sys.exit(0)

SPLITS = {"tune": range(0, 4), "report": range(4, 8)}


def file_name(name):
    """As trtexec makes one of a tensor's name."""
    return re.sub(r"[^A-Za-z0-9._,-]", "_", name)


def write(tensors, path, form):
    if form == "npz":
        np.savez(path + ".npz", **tensors)
        return path + ".npz"
    os.mkdir(path)
    for k, (name, array) in enumerate(tensors.items()):
        number = f"{k:04}_" if form == "numbered" else ""
        np.save(os.path.join(path, number + file_name(name) + ".npy"), array)
    return path


class Runs:
    """Writes what is dumped and asks the tool."""

    def __init__(self, tool, scratch):
        self.tool, self.scratch = tool, scratch
        self.golden = {}  # of the net in hand
        self.count = 0

    def path(self):
        self.count += 1
        return os.path.join(self.scratch, str(self.count))

    def start(self):
        """Of another net: what was written is not needed any more."""
        subprocess.run(["rm", "-rf", *(os.path.join(self.scratch, n) for n in os.listdir(self.scratch))], check=True)
        self.golden.clear()

    def golden_path(self, case):
        form = "plain" if case.form == "plain" else "npz"
        key = (id(case.golden), form)
        if key not in self.golden:
            # The arrays are kept, so that no others get their id.
            self.golden[key] = (write(case.golden, self.path(), form), case.golden)
        return self.golden[key][0]

    def graph_path(self, case):
        import onnx
        path = self.path() + ".onnx"
        model = nets.graph(case.net)
        if case.form == "plain":
            names = dict(zip(case.net_names(), case.golden))
            for node in model.graph.node:
                node.input[:] = [names.get(n, n) for n in node.input]
                node.output[:] = [names.get(n, n) for n in node.output]
            for value in (*model.graph.input, *model.graph.output):
                value.name = names[value.name]
        onnx.save(model, path)
        return path

    def judge_again(self, report, options):
        """The verdict out of the report alone."""
        path = self.path() + ".json"
        with open(path, "w") as file:
            json.dump(report, file)
        done = subprocess.run([self.tool, "layers", "--json", *options, "--from-json", path], capture_output=True,
                              text=True, timeout=300)
        return json.loads(done.stdout).get("verdict", {"trouble": done.stderr})

    def ask(self, case, with_graph, actual):
        options = [*case.options]
        if with_graph:
            options += ["--graph", self.graph_path(case)]
        if case.baseline is not None:
            options += ["--baseline", write(case.baseline, self.path(), "npz")]
        command = [self.tool, "layers", "--json", "--no-hints", *options, actual, self.golden_path(case)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        report = json.loads(done.stdout)
        if "error" in report:
            report = {}
        return done.returncode, report, done.stderr.strip(), " ".join(command)


def number(value):
    return float(value) if value is not None else None


def noise_at(report, layers):
    """What btftool takes for noise at the layer: errors below twice this are not told from it."""
    for pair in report.get("pairs", ()):
        if pair["golden"] in layers:
            if pair["state"] == "unjudged":
                return float("inf")
            return number(pair["noise"])
    return 0.0


def judge(case, answer, with_graph):
    """right, kind (the layer is right, what is said of it is not), exit (right, the exit code is not), second (of two
    faults only one is found), below (nothing is found, and need not be), missed, blame (of another layer), trouble."""
    code, report, errors, _ = answer
    verdict = report.get("verdict")
    if verdict is None:
        return "right" if code == case.exit_code == 2 else "trouble"
    kind, layer = verdict["kind"], verdict["layer"]
    exit_code = case.exit_code if case.exit_code is not None else (0 if kind == "clean" else code)
    if code != exit_code and not (kind == "clean" and case.layers):
        return "exit"
    if not case.layers:
        return "right" if kind in case.kinds else "blame"
    if case.doubtful and not with_graph:
        # Nothing more can be known of an order that is wrong than that it is.
        return "right" if report["order"]["doubtful"] or kind in ("drift", "cannot-tell") else \
            "missed" if kind == "clean" else "blame"
    if kind in case.kinds and (layer in case.layers or kind == "clean"):
        found = {root["layer"] for root in report["roots"]}
        if any(name not in found and 2 * noise_at(report, [name]) < 1 for name in case.roots):
            return "second"
        return "kind" if case.sanity and not report["sanity"] else "right"
    if kind in ("clean", "drift", "cannot-tell"):
        if case.own_error is not None and case.own_error < 2 * noise_at(report, case.layers):
            return "below"
        # A drift names an output, which is no blame.
        return "kind" if layer in case.layers else "blame" if layer and kind != "drift" else "missed"
    if layer in case.layers:
        return "kind"
    return "below" if layer in case.roots and case.own_error < 2 * noise_at(report, case.layers) else "blame"


def cases_of(net, precisions, wanted, **few):
    golden = net.run(GOLDEN)
    for precision in precisions:
        for scenario in wanted:
            yield from scenario(net, precision, golden, **few.get(scenario.__name__, {}))


def run(tool, all_cases, show, again=False):
    """Counts of results by whether the graph was given, scenario and precision. `again`: reports are judged again."""
    results = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as scratch:
        runs = Runs(tool, scratch)
        last = None
        for case in all_cases:
            if case.net is not last:
                runs.start()
                last = case.net
            actual = write(case.actual, runs.path(), case.form)
            for with_graph in (True, False):
                answer = runs.ask(case, with_graph, actual)
                result = judge(case, answer, with_graph)
                if again and result == "right" and case.exit_code != 2:
                    verdict = runs.judge_again(answer[1], case.options)
                    if any(verdict.get(key) != answer[1]["verdict"][key] for key in ("kind", "layer")):
                        result = "again"
                results[with_graph, case.scenario, case.precision.name][result] += 1
                if result not in ("right", "below") or show:
                    explain(case, answer, result, with_graph)
            if case.form == "npz":
                os.unlink(actual)
    return results


def explain(case, answer, result, with_graph):
    code, report, errors, command = answer
    verdict = report.get("verdict") or {}
    words = f"{verdict.get('kind')} {verdict.get('layer')} b {verdict.get('b')}" if verdict else errors
    own = f" own error {case.own_error:.3g}" if case.own_error is not None else ""
    print(f"{result}: {case.scenario}, {case.net.name} {case.precision.name} {case.depth}"
          f" {'graph' if with_graph else 'order'}: exit {code}, {words}; wanted {'/'.join(case.kinds)}"
          f" {' '.join(case.layers)}{own}", flush=True)


def table(results, markdown):
    columns = [p for p in PRECISIONS if any(key[2] == p for key in results)]
    for with_graph in (True, False):
        title = "with the graph" if with_graph else "by order alone"
        rows = list(dict.fromkeys(key[1] for key in results))
        if markdown:
            print(f"\n| {title} | " + " | ".join(columns) + " |\n|---" + "|---" * len(columns) + "|")
        else:
            print(f"\n{title:28}" + "".join(f"{c:>24}" for c in columns))
        for row in rows:
            cells = [cell(results.get((with_graph, row, column)), markdown) for column in columns]
            if markdown:
                print(f"| {row} | " + " | ".join(cells) + " |")
            else:
                print(f"{row:28}" + "".join(f"{c:>24}" for c in cells))


def cell(counts, markdown):
    """RIGHT/JUDGED, and what else there is: below the limit, kind, missed, blame, ..."""
    if not counts:
        return ""
    judged = sum(counts.values()) - counts["below"]
    if markdown:
        kind = sum(counts[name] for name in ALMOST)
        marks = [f"k{kind}"] * bool(kind) + [f"−{counts['below']}"] * bool(counts["below"])
        return " ".join([f"{counts['right'] + kind}/{judged}", *marks])
    rest = [f"{n} {name}" for name, n in counts.items() if name != "right"]
    return f"{counts['right']}/{judged}" + (f" ({', '.join(rest)})" if rest else "")


ALMOST = ("kind", "exit", "second")  # the layer is right, something else is not


def totals(results):
    """Of the faults: right layer of those above the limit; of the healthy nets: how many are blamed."""
    faults_ = collections.Counter()
    healthy = collections.Counter()
    for (with_graph, scenario, _), counts in results.items():
        (healthy if scenario.startswith(("healthy", "identical", "same")) else faults_).update(counts)
    above = sum(faults_.values()) - faults_["below"]
    right = sum(faults_[name] for name in ("right", *ALMOST))
    blamed = sum(healthy.values()) - healthy["right"]
    share = lambda n: f"{n} ({n / max(1, above):.1%})"
    print(f"\nfaults: {above} above the limit, right layer {share(right)}, right kind too {share(faults_['right'])}, "
          f"{faults_['blame']} blame another layer, {faults_['missed']} missed; {faults_['below']} below the limit\n"
          f"healthy: {sum(healthy.values())} runs, {blamed} blamed")
    return above, right, blamed


def fast():
    few = {"computed": {"depths": ("middle",)}, "dumped": {"depths": ("middle",)}}
    for k, kind in enumerate(ORDINARY):
        for seed in (4 + k % 2, 6):
            net = nets.Net(kind, seed)
            precisions = [PRECISIONS[p] for p in
                          (("float16", "bfloat16", "int8") if seed < 6 else ("float32x", "tf32"))]
            yield from cases_of(net, precisions, scenarios.SCENARIOS, **few)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--split", choices=SPLITS, default="report")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--precisions", default=",".join(PRECISIONS))
    parser.add_argument("--scenarios", default="")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--models", default="")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--keep", help="a file for the counts, which --merge takes")
    parser.add_argument("--merge", default="", help="files of --keep: nothing is run")
    parser.add_argument("--fast", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)  # float16 may overflow

    if options.fast:
        results = run(options.tool, fast(), False, again=True)
        table(results, False)
        above, right, blamed = totals(results)
        sys.exit(blamed > 0 or right < 0.95 * above or above < 300)

    if options.merge:
        results = collections.defaultdict(collections.Counter)
        for path in options.merge.split(","):
            with open(path) as file:
                for *key, counts in json.load(file):
                    results[tuple(key)].update(counts)
        table(results, options.markdown)
        totals(results)
        return

    precisions = [PRECISIONS[p] for p in options.precisions.split(",")]
    wanted = [s for s in scenarios.SCENARIOS if not options.scenarios or s.__name__ in options.scenarios.split(",")]

    def chosen():
        if options.models:
            for path in options.models.split(","):
                yield from cases_of(trained.load(path), precisions, wanted)
            return
        for kind in options.kinds.split(","):
            for seed in list(SPLITS[options.split])[:options.seeds]:
                if kind in ORDINARY:
                    yield from cases_of(nets.Net(kind, seed), precisions, wanted)
                else:
                    yield from scenarios.hard_net(nets.Net(kind, seed), precisions)

    results = run(options.tool, chosen(), options.show)
    if options.keep:
        with open(options.keep, "w") as file:
            json.dump([[*key, counts] for key, counts in results.items()], file)
    table(results, options.markdown)
    totals(results)


if __name__ == "__main__":
    main()
