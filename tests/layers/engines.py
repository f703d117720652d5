"""What `btftool layers` says of runs of real engines, healthy and with faults.

  engines.py BTFTOOL [--models A,B] [--engines E,..] [--order] [--sites N] [--kinds N] [--cache DIR]
             [--show] [--healthy]
  engines.py BTFTOOL --fast

Golden is ONNX Runtime in float32 without optimisation. Models come out of wheels (real-models.txt), engines too
(engines.txt). A fault is put into what an engine has computed up to a layer, and the engine computes the rest from
there on, out of the network that is left when it is cut.
"""

import argparse
import collections
import hashlib
import logging
import os
import sys
import tempfile
import warnings

try:
    import numpy as np
    import onnx

    import engine_runs
    import real
    import real_faults
    import real_models
    import real_runs
except ImportError as missing:
    print(f"skipped: {missing}; tests/interop/venv.sh installs what is needed")
    sys.exit(0)

# Runs that never end.
HANGS = (("captcha-read", "openvino-f16"),)
FAST = {"models": ("ocr-angle", "text-kind"), "engines": ("ort-all", "openvino-f32", "openvino-bf16", "mnn",
                                                           "torch-bfloat16")}


def fixed(model, inputs):
    """With the dims of the inputs that are shown, as engines want them."""
    for given in model.graph.input:
        if given.name in inputs:
            dims = given.type.tensor_type.shape.dim
            for k, size in enumerate(inputs[given.name].shape):
                if k < len(dims):
                    dims[k].dim_value = size
    return model


def clean(model):
    """As a model that is cut is one again: what nothing needs is gone."""
    wanted = {o.name for o in model.graph.output}
    kept = []
    for node in reversed(model.graph.node):
        if any(o in wanted for o in node.output):
            kept.append(node)
            wanted |= set(node.input)
    del model.graph.node[:]
    model.graph.node.extend(reversed(kept))
    left = [i for i in model.graph.input if i.name in wanted]
    del model.graph.input[:]
    model.graph.input.extend(left)
    return model


class Network:
    """A model, its input, and what engines make of it, kept in a cache."""

    def __init__(self, source, path, cache):
        self.source, self.path, self.cache = source, path, cache
        self.inputs = real_models.show(source, 0)
        self.model = fixed(onnx.load(path), self.inputs)
        self.golden = self.kept("golden", lambda: real_runs.run(self.model, self.inputs))
        self.golden_path = self.cached("golden")
        made = {o for n in self.model.graph.node if n.op_type not in real_faults.VIEWS for o in n.output}
        self.floats = {k for k, v in self.golden.items() if v.dtype == np.float32 and k in made}
        self.outputs = [o.name for o in self.model.graph.output]

    def in_order(self, tensors):
        """As they are computed: a file of arrays says that by the order in it."""
        names = [*self.inputs, *(o for node in self.model.graph.node for o in node.output)]
        return {name: tensors[name] for name in dict.fromkeys(names) if name in tensors}

    def cached(self, what):
        return os.path.join(self.cache, f"{self.source.name}.{what}.npz")

    def kept(self, what, compute):
        path = self.cached(what)
        if not os.path.exists(path):
            tensors = self.in_order(compute())
            np.savez(path + ".part.npz", **tensors)
            os.rename(path + ".part.npz", path)
        with np.load(path) as file:
            return {k: file[k] for k in file.files}

    def run(self, engine):
        return self.kept(engine, lambda: engine_runs.ENGINES[engine][0](self.model, self.inputs))

    def run_with(self, engine, tensors, name, changed, what):
        """The engine's own tensors up to this one, which is changed; the rest computed from there."""
        def compute():
            given = changed.astype(np.float32)
            cut = clean(real_runs.with_input(self.model, name, given))
            inputs = {i.name: given if i.name == name else self.inputs[i.name] for i in cut.graph.input}
            rest = engine_runs.ENGINES[engine][0](cut, inputs)
            behind = self.behind(name)
            run = {k: rest[k].astype(v.dtype) if k in behind and k in rest else v for k, v in tensors.items()
                   if k not in behind or k in rest}
            run[name] = changed.astype(tensors[name].dtype)
            return run
        path = self.cached(f"{engine}.{what}")
        if not os.path.exists(path):
            self.kept(f"{engine}.{what}", compute)
        return path

    def behind(self, name):
        found = {name}
        for node in self.model.graph.node:
            if found & set(node.input):
                found |= set(node.output)
        return found - {name}


class Trial:
    def __init__(self, options, network, asked):
        self.options, self.network, self.asked = options, network, asked
        self.tallies = collections.defaultdict(collections.Counter)

    def graph(self):
        return [] if self.options.order else ["--graph", self.network.path]

    def ask(self, path):
        return self.asked.judged(path, self.network.golden_path, *self.graph())

    def show(self, what, verdict):
        if self.options.show:
            print(f"  {self.network.source.name} {what}: {verdict['kind']}: {verdict['words'][:400]} [{verdict['path']}]",
                  flush=True)

    def run(self, engine):
        if (self.network.source.name, engine) in HANGS:
            return
        tally = self.tallies[engine]
        try:
            tensors = self.network.run(engine)
        except Exception as error:
            print(f"  {self.network.source.name} {engine}: cannot be run: {(str(error).splitlines() or [''])[0][:120]}")
            return
        outputs = [o for o in self.network.outputs if o in tensors]
        apart = max((real.relative(tensors[o], self.network.golden[o]) for o in outputs), default=np.inf)
        limit = engine_runs.ENGINES[engine][1]
        verdict = self.ask(self.network.cached(engine))
        if apart >= limit:
            tally["far"] += 1
            self.show(f"{engine} FAR ({apart:.2g})", verdict)
            return
        tally["healthy"] += 1
        kind = verdict["kind"]
        tally["healthy " + kind] += 1
        if kind != "clean":
            self.show(f"{engine} healthy ({apart:.2g})", verdict)
        if not self.options.healthy:
            self.faulty(engine, tensors)

    def faulty(self, engine, tensors):
        seed = int(hashlib.sha256(f"{self.network.source.name} {engine}".encode()).hexdigest()[:8], 16)
        rng = np.random.default_rng(seed)
        usable = {k: v for k, v in tensors.items() if k not in self.network.inputs}
        for name in real_faults.sites(self.network, usable, self.options.sites, rng):
            usual = real.relative(tensors[name], self.network.golden[name])
            for kinds, dumped in ((real_faults.COMPUTED, False), (real_faults.DUMPED, True)):
                names = list(kinds)
                for k in rng.permutation(len(names))[:self.options.kinds]:
                    self.fault(engine, tensors, name, names[k], kinds[names[k]], usual, dumped)

    def fault(self, engine, tensors, name, kind, change, usual, dumped):
        tally = self.tallies[engine]
        changed = change(tensors[name].astype(np.float32))
        finite = np.isfinite(changed.astype(np.float64)).all()
        if finite and real.relative(changed, tensors[name]) < max(16 * usual, 1e-3):
            tally["below"] += 1
            return
        what = f"{'dump' if dumped else 'fault'}.{hashlib.sha256((kind + name).encode()).hexdigest()[:12]}"
        if dumped:
            path = self.network.cached(f"{engine}.{what}")
            if not os.path.exists(path):
                self.network.kept(f"{engine}.{what}",
                                  lambda: {**tensors, name: changed.astype(tensors[name].dtype)})
        else:
            try:
                path = self.network.run_with(engine, tensors, name, changed, what)
            except Exception as error:
                tally["not run"] += 1
                self.show(f"{engine} '{kind}' at {name} cannot be run", {"kind": "", "path": "", "words": str(error)})
                return
        verdict = self.ask(path)
        result = real.judge(verdict, name, "dump-wrong" if dumped else "broke")
        group = "dumps" if dumped else "computed"
        tally[group] += 1
        tally[group + " named"] += verdict["layer"] == name and verdict["kind"] in ("broke", "dump-wrong", "amplified")
        tally[group + " right"] += result == "right"
        if result != "right":
            self.show(f"{engine} {group} '{kind}' at {name}: {result}", verdict)


def line(name, t):
    blamed = sum(t["healthy " + k] for k in ("broke", "dump-wrong", "inputs", "amplified"))
    return (f"| {name} | {t['healthy']} | {blamed} | {t['healthy cannot-tell']} | "
            f"{real.part(t['computed named'], t['computed'])} | {t['computed right']} | "
            f"{real.part(t['dumps named'], t['dumps'])} | {t['dumps right']} |")


class Asked(real.Asked):
    def judged(self, path, golden, *options):
        import json
        import subprocess
        command = [self.tool, "layers", "--json", "--no-hints", *self.options, *options, path, golden]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        report = json.loads(done.stdout) if done.stdout else {"error": done.stderr}
        if "error" in report:
            return {"kind": "trouble", "layer": None, "words": done.stderr.strip(), "path": path, "all": {}}
        return {**report["verdict"], "path": path, "all": report}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--models")
    parser.add_argument("--engines")
    parser.add_argument("--order", action="store_true", help="no graph")
    parser.add_argument("--healthy", action="store_true", help="no faults")
    parser.add_argument("--sites", type=int, default=6)
    parser.add_argument("--kinds", type=int, default=1)
    parser.add_argument("--cache", default=os.path.join(tempfile.gettempdir(), "btftool-engines"))
    parser.add_argument("--packages", help="where the engines are put; below the cache, if not given")
    parser.add_argument("--options", default="")
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    os.makedirs(options.cache, exist_ok=True)
    if options.fast:
        options.sites, options.kinds, options.show = 2, 1, True
    trouble = engine_runs.install(options.packages or os.path.join(options.cache, "packages"))
    if trouble:
        print(f"skipped: {trouble}")
        return 0
    models = options.models.split(",") if options.models else FAST["models"] if options.fast else None
    engines = options.engines.split(",") if options.engines else FAST["engines"] if options.fast else engine_runs.ENGINES
    totals = collections.defaultdict(collections.Counter)
    for source in real_models.MODELS + real_models.HELD_OUT:
        if models and source.name not in models:
            continue
        path = real_models.fetch(source, options.cache)
        if path is None:
            print("skipped: the package index cannot be reached for real models")
            return 0
        trial = Trial(options, Network(source, path, options.cache), Asked(options.tool, "", options.options.split()))
        for engine in engines:
            trial.run(engine)
        for engine, tally in trial.tallies.items():
            totals[engine] += tally
    print("| engine | healthy runs | blamed | cannot tell | faults named first | of the right kind | "
          "wrong dumps named first | of the right kind |\n| --- | --- | --- | --- | --- | --- | --- | --- |")
    everything = collections.Counter()
    for engine, tally in totals.items():
        print(line(engine, tally))
        everything += tally
    print(line("all", everything))
    if options.show:
        print("  ", dict(everything))
    if not options.fast:
        return 0
    t = everything
    fine = (t["healthy"] > 0 and t["healthy clean"] == t["healthy"] and t["computed right"] >= 0.9 * t["computed"]
            and t["dumps right"] >= 0.9 * t["dumps"])
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
