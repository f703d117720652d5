"""Which layers must stay wide: what `fit` says, held against what a device in a narrow type makes of it.

  evaluate.py BTFTOOL [--fast] [--models A,B] [--dtypes float16,bfloat16] [--sites N] [--cache DIR] [--show] [--seed N]

Real networks (tests/layers/real_models.py), and variants of them (variants.py) whose function is the same in float32.
Counted are hard variants that do fail: whose outputs, all nodes narrow, are off by more than twice what those of the
original are. `enough`: with the named nodes wide they are not. `needed`: how many nodes are left of those once all are
taken out that can be. Beside it the limits of AutoCast (Model Optimizer): outputs above 512, initializers above 65504.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../layers"))
try:
    import numpy as np
    import onnx

    import device
    import made_models
    import real_models
    import variants
except ImportError as missing:
    print(f"skipped: {missing}; tests/interop/venv.sh installs what is needed")
    sys.exit(0)

# Of --fast: those that fail by far, whatever the site.
FAST = ("product_first", "zero_times_a_mask", "reciprocal_of_much", "one_less", "product_of_matrices",
        "masked_softmax", "saturated", "scaled", "wide_clip", "sigmoid_by_hand", "cubic_in_a_tanh",
        "divided_by_much")
FAILS = 2.0  # times the error of the original
DATA_MAX, INIT_MAX = 512, 65504  # AutoCast's


class Network:
    """With several inputs: what rounding does to one of them is more luck than rule."""

    def __init__(self, model, inputs):
        self.model, self.inputs = model, inputs
        self.dumps = [device.all_tensors(model, one) for one in inputs]
        self.tensors = self.dumps[0]
        self.right = [{o.name: dump[o.name] for o in model.graph.output} for dump in self.dumps]

    def outputs(self):
        return [{o.name: dump[o.name] for o in self.model.graph.output} for dump in self.dumps]

    def error(self, kind, wide=()):
        made = device.Device(self.model, kind, self.tensors)
        return apart(made.run(self.inputs, wide), self.right)


def apart(found, right):
    errors = [device.error(one, wanted) for one, wanted in zip(found, right)]
    return float(np.sqrt(np.mean(np.square(errors))))


def named_by(tool, network, kinds):
    """Numbers of the nodes that fit says must stay wide, by type."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        onnx.save(network.model, path)
        dumps = [os.path.join(folder, f"golden{i}.npz") for i in range(len(network.dumps))]
        for dump, tensors in zip(dumps, network.dumps):
            np.savez(dump, **tensors)
        done = subprocess.run([tool, "fit", "--json", "--dtype", ",".join(kinds), "--graph", path, *dumps],
                              capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr)
    number = {}
    for i, node in enumerate(network.model.graph.node):
        for name in (node.name, *node.output):
            number.setdefault(name, i)
    found = {}
    for judged in json.loads(done.stdout)["types"]:
        found[judged["dtype"]] = {number[layer["outputs"][0]]: layer["findings"] for layer in judged["layers"]
                                  if layer["state"] == "wide"}
    return found


def by_limits(network):
    fixed = {t.name: onnx.numpy_helper.to_array(t) for t in network.model.graph.initializer}
    found = set()
    for i, node in enumerate(network.model.graph.node):
        if node.op_type == "Constant":
            continue
        for name in (*node.input, *node.output):
            values = [dump[name] for dump in network.dumps if name in dump]
            if any(v.dtype == np.float32 and v.size and not np.abs(v).max() <= DATA_MAX for v in values):
                found.add(i)
        for name in node.input:
            value = fixed.get(name)
            if value is not None and value.dtype == np.float32 and value.size and np.abs(value).max() > INIT_MAX:
                found.add(i)
    return found


def needed(network, kind, wide, limit):
    """What is left of `wide` once no node can be taken out."""
    left = sorted(wide)
    for node in sorted(wide):
        fewer = [n for n in left if n != node]
        if network.error(kind, fewer) <= limit:
            left = fewer
    return left


def sites(network, count, seed):
    """Tensors on the way to an output, from begin to end."""
    rng = np.random.default_rng(seed)
    can = []
    for node in network.model.graph.node:
        if node.op_type in device.LEFT or len(node.output) != 1:
            continue
        value = network.tensors.get(node.output[0])
        if value is None or value.dtype != np.float32 or value.ndim < 2 or value.size < 64 or value.size > 400000:
            continue
        if not np.isfinite(value).all() or value.std() < 1e-4 or np.abs(value).max() > 1e3:
            continue
        if node.output[0] not in network.right:
            can.append(node.output[0])
    if not can:
        return []
    return [can[i] for i in sorted(rng.choice(len(can), size=min(count, len(can)), replace=False))]


class Count:
    def __init__(self):
        self.hard = self.enough = self.limits = self.named = self.needed = 0
        self.harmless = self.alarmed = self.limits_alarmed = 0
        self.originals = self.originals_alarmed = self.factors = 0
        self.misses = []


class Evaluation:
    def __init__(self, options):
        self.options = options
        self.kinds = options.dtypes.split(",")
        self.counts = {kind: Count() for kind in self.kinds}

    def network(self, real, model):
        original = Network(model, [real_models.show(real, self.options.seed + i) for i in range(self.options.inputs)])
        named = named_by(self.options.tool, original, self.kinds)
        usual = {}
        for kind in self.kinds:
            error = original.error(kind)
            if not error < 0.2:
                wide = original.error(kind, named[kind])
                print(f"{real.name} {kind}: fails as it is ({error:.2g}), with {len(named[kind])} nodes wide {wide:.2g}")
                continue
            usual[kind] = error
            count = self.counts[kind]
            count.originals += 1
            count.originals_alarmed += bool(named[kind])
            if named[kind]:
                count.misses.append(f"{real.name} {kind}: the original is alarmed: {named[kind]}")
        chosen = sites(original, self.options.sites, self.options.seed)
        turn = 0
        for group in (variants.HARD, variants.HARMLESS):
            for kind, (_, types) in group.items():
                turn += 1
                if self.options.fast and kind not in FAST or self.options.kinds and kind not in self.options.kinds.split(","):
                    continue
                for site in chosen[turn % len(chosen):][:self.options.each] if chosen else ():
                    self.variant(real, original, kind, site, [t for t in types if t in usual], usual,
                                 group is variants.HARD)

    def variant(self, real, original, kind, site, types, usual, hard):
        made = variants.planted(original.model, site, original.tensors[site], kind, self.options.seed)
        if made is None or not types:
            return
        try:
            network = Network(made.model, original.inputs)
        except Exception as refused:  # ONNX Runtime's, of a kind of its own
            print(f"{real.name} {kind} at {site} cannot be run: {str(refused).splitlines()[0][:150]}")
            return
        network.right = original.right
        changed = apart(network.outputs(), original.right)
        named = None
        for dtype in types:
            limit = FAILS * usual[dtype]
            if not changed < limit / 4:
                continue
            error = network.error(dtype)
            count = self.counts[dtype]
            if hard != (error > limit):
                continue
            if named is None:
                named = named_by(self.options.tool, network, self.kinds)
            limits = by_limits(network)
            label = f"{real.name} {dtype} {kind} at {site}"
            wide = named[dtype]
            if not hard:
                count.harmless += 1
                count.alarmed += bool(wide)
                count.limits_alarmed += bool(limits)
                if wide:
                    count.misses.append(f"{label}: alarmed for nothing ({error / usual[dtype]:.2g}): {wide}")
                continue
            least = needed(network, dtype, set(made.planted), limit)
            if network.error(dtype, made.planted) > limit:
                continue  # the nodes around it would have to be wide, too
            after = network.error(dtype, wide)
            count.hard += 1
            count.enough += after <= limit
            count.limits += network.error(dtype, limits) <= limit
            count.named += len(wide)
            count.needed += len(least)
            if after > limit or len(wide) > len(least) + 2 or self.options.show:
                ops = [made.model.graph.node[n].op_type for n in least]
                count.misses.append(f"{label}: {error / usual[dtype]:.3g} x, then {after / usual[dtype]:.3g} x with "
                                    f"{sorted(wide)} of planted {made.planted}, needed {least} {ops}")

    def table(self):
        print("| | variants | fit: enough | AutoCast's limits: enough | named / needed | harmless alarmed: fit, AutoCast | "
              "originals alarmed |\n|---|---|---|---|---|---|---|")
        for kind, c in self.counts.items():
            print(f"| {kind} | {c.hard} | {c.enough} | {c.limits} | {c.named} / {c.needed} | {c.alarmed} of {c.harmless}, "
                  f"{c.limits_alarmed} of {c.harmless} | {c.originals_alarmed} of {c.originals} |")

    def wrong(self):
        """What is not as good as it must be."""
        found = []
        for kind, c in self.counts.items():
            if c.enough < 0.95 * c.hard:
                found.append(f"{kind}: enough in {c.enough} of {c.hard}")
            if c.named > 1.5 * c.needed:
                found.append(f"{kind}: {c.named} nodes named, {c.needed} needed")
            if c.alarmed > 0.05 * c.harmless:
                found.append(f"{kind}: {c.alarmed} of {c.harmless} harmless variants alarmed")
            if c.originals_alarmed:
                found.append(f"{kind}: {c.originals_alarmed} originals alarmed")
            if c.hard == 0 or c.harmless == 0:
                found.append(f"{kind}: nothing was tried")
        return found


def made_or_fetched(real, cache):
    if isinstance(real, made_models.MadeModel):
        return real.make()
    path = real_models.fetch(real, cache)
    return path and onnx.load(path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--models", default="")
    parser.add_argument("--dtypes", default="float16,bfloat16")
    parser.add_argument("--sites", type=int, default=4)
    parser.add_argument("--each", type=int, default=1)
    parser.add_argument("--inputs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cache", default=os.path.join(tempfile.gettempdir(), "btftool-real-models"))
    parser.add_argument("--kinds", default="", help="of variants: all")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    evaluation = Evaluation(options)
    if options.fast:
        options.models, options.inputs, options.sites = options.models or "ocr-angle", 1, 2
    chosen = options.models.split(",") if options.models else [
        m.name for m in real_models.MODELS if m.small or not options.fast]
    models = [m for m in real_models.MODELS + real_models.HELD_OUT + made_models.MADE if m.name in chosen]
    tried = 0
    for real in models:
        model = made_or_fetched(real, options.cache)
        if model is None:
            print(f"skipped {real.name}: its package cannot be had")
            continue
        begin = time.monotonic()
        evaluation.network(real, model)
        tried += 1
        print(f"{real.name}: {time.monotonic() - begin:.0f} s", flush=True)
    if not tried:
        print("skipped: no network can be had")
        return 0
    for kind in evaluation.kinds:
        print("\n".join(evaluation.counts[kind].misses))
    evaluation.table()
    wrong = evaluation.wrong()
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
