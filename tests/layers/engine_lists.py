"""Layer lists of engines that nobody means well with, or that say little: `btftool` says what is wrong, or judges by
what is there.

  engine_lists.py BTFTOOL
"""

import json
import os
import resource
import struct
import subprocess
import sys
import tempfile

TYPE = "Row major linear FP32"


def tensor(name, dims=(4, 4), words=TYPE):
    return {"Name": name, "Dimensions": list(dims), "Format/Datatype": words}


def layer(name, inputs, outputs, **more):
    return {"Name": name, "LayerType": "PointWise", "Inputs": [tensor(n) for n in inputs],
            "Outputs": [tensor(n) for n in outputs]} | more


def listed(*layers, **more):
    return {"Layers": list(layers)} | more


PLAIN = listed(layer("one", ["x"], ["a"]), layer("two", ["a"], ["y"]), Bindings=["x", "y"])


class Lists:
    def __init__(self, tool, scratch):
        self.tool, self.scratch, self.asked, self.wrong = tool, scratch, 0, 0
        for side, change in (("actual", 1.5), ("golden", 1.0)):
            os.makedirs(os.path.join(scratch, side))
            for name in "xay":
                numbers = [(1.0 if name == "x" else change) * (k + 1) for k in range(16)]
                with open(os.path.join(scratch, side, name + ".raw"), "wb") as file:
                    file.write(struct.pack("<16f", *numbers))

    def path(self, text):
        path = os.path.join(self.scratch, "engine.json")
        with open(path, "w") as file:
            file.write(text if isinstance(text, str) else json.dumps(text))
        return path

    def run(self, *arguments):
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
        return subprocess.run([self.tool, *arguments], capture_output=True, text=True, timeout=120, preexec_fn=limit)

    def layers(self, text, *more):
        path = self.path(text)
        spec = ["--actual-spec", "fp32:4x4", "--golden-spec", "fp32:4x4"]
        return self.run("layers", "--json", "--no-hints", "--graph", path, *(more or spec),
                        os.path.join(self.scratch, "actual"), os.path.join(self.scratch, "golden"))

    def expect(self, name, done, code, words):
        self.asked += 1
        said = done.stdout + done.stderr
        if done.returncode not in code or words not in said:
            self.wrong += 1
            print(f"{name}: exit code {done.returncode}, not {code}, or without {words!r}: {said[:400]}")

    def all(self):
        self.expect("plain", self.layers(PLAIN), [1], "broke at 'a', in the engine's layer 'one'")
        self.expect("one layer", self.layers(PLAIN["Layers"][1]), [1], "inputs of the network differ: 'a'")
        self.expect("cycle", self.layers(listed(layer("p", ["b"], ["a"]), layer("q", ["a"], ["b", "y"]))), [0, 1], "")
        self.expect("itself", self.layers(listed(layer("p", ["a"], ["a"]), layer("q", ["a"], ["y"]))), [0, 1], "")
        circle = [layer("r", ["Reformatted Input Tensor 0 to p"], ["Reformatted Output Tensor 0 to p"], LayerType="Reformat"),
                  layer("s", ["Reformatted Output Tensor 0 to p"], ["Reformatted Input Tensor 0 to p"], LayerType="Reformat")]
        self.expect("reformats in a circle", self.layers(listed(*circle, *PLAIN["Layers"])), [1], "'a'")
        self.expect("two producers", self.layers(listed(layer("p", ["x"], ["a"]), layer("q", ["x"], ["a"]))), [2],
                    "'a' is made by two layers, 'p' and 'q'")
        self.expect("no tensor of these", self.layers(listed(layer("p", ["k"], ["l"]))), [2], "'l' in the graph")
        self.expect("no layers", self.layers({"Layers": []}), [2], "it has no layers")
        self.expect("a number", self.layers({"Layers": [7]}), [2], "neither a name nor an object")
        self.expect("cut off", self.layers(json.dumps(PLAIN)[:300]), [2], "engine.json")
        self.expect("deep", self.layers('{"Layers": ' + '[{"Inputs":' * 2000), [2], "engine.json")
        self.expect("names only", self.layers(listed("one", "two")), [2], "names of layers only")
        self.expect("names of tensors", self.layers(listed("x", "a + b", "y")), [1], "'a'")
        self.expect("separators", self.layers(listed(layer("one", ["x"], ["a"], Metadata="\x1e\x1e[ONNX Layer: ]\x1f[ONNX Layer: n1]\x1e["),
                                                     *PLAIN["Layers"][1:])), [1], "'one' (ONNX node n1)")
        self.expect("open dims", self.run("inspect", "--input-spec", "@" + self.path(
            listed(layer("p", ["x"], ["a"]) | {"Outputs": [tensor("a", (-1, 4))]})), os.path.join(self.scratch, "actual", "a.raw")),
            [0], "[4, 4]")
        everywhere = listed(layer("p", ["x"], ["a"]) | {"Outputs": [tensor("a", (-1, -1))]})
        self.expect("-1 everywhere", self.run("inspect", "--input-spec", "@" + self.path(everywhere),
                                              os.path.join(self.scratch, "actual", "a.raw")), [2], "give them with --shape a:DIMS")
        self.expect("shape", self.run("inspect", "--input-spec", "@" + self.path(everywhere), "--shape", "a:2x8",
                                      os.path.join(self.scratch, "actual", "a.raw")), [0], "[2, 8]")
        self.expect("other shape", self.run("inspect", "--input-spec", "@" + self.path(listed(layer("p", ["x"], ["a"]))),
                                            "--shape", "a:2x8", os.path.join(self.scratch, "actual", "a.raw")), [2],
                    "has the dims 4x4, not 2x8")
        self.expect("no format", self.run("inspect", "--input-spec", "@" + self.path(
            listed(layer("p", ["x"], ["a"]) | {"Outputs": [tensor("a", (-1, 4), "N/A due to dynamic shapes")]})),
            os.path.join(self.scratch, "actual", "a.raw")), [2], "which does not give a layout")
        self.expect("nobody's files", self.run("inspect", "--input-spec", "@" + self.path(listed(layer("p", ["k"], ["l"]))),
                                               os.path.join(self.scratch, "actual")), [2], "no raw file and no trtexec output")
        self.expect("not there", self.run("inspect", "--input-spec", "@nothing.json", self.scratch), [2], "nothing.json")
        self.expect("by the list", self.layers(PLAIN, "--actual-spec", "@" + os.path.join(self.scratch, "engine.json"),
                                               "--golden-spec", "@" + os.path.join(self.scratch, "engine.json")), [1], "'a'")
        many = '{"Layers": [' + ",".join('"n%d"' % k for k in range(1000001)) + "]}"
        self.expect("many", self.layers(many), [2], "more than 1000000 layers")
        chain = json.dumps(listed(*(layer(f"l{k}", ["x" if k == 0 else f"t{k - 1}"], ["a" if k == 99999 else f"t{k}"])
                                    for k in range(100000)), layer("two", ["a"], ["y"])))
        self.expect("a long chain", self.layers(chain), [1], "'a' or before it, in what was not dumped (99999 tensors")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        lists = Lists(os.path.abspath(sys.argv[1]), scratch)
        lists.all()
    print(f"{lists.asked} lists, {lists.wrong} wrong")
    return 1 if lists.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
