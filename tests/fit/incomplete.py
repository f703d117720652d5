"""incomplete.py BTFTOOL: of dumps and models that `fit` cannot judge, or only in part, it says what is amiss, by name.

Integers, masks, NaN and Inf, constants, dims by name, missing weights and tensors, unknown operators. Seconds.
"""

import os
import sys

try:
    import numpy as np
    import onnx  # noqa: F401
    import onnxruntime  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}; tests/interop/venv.sh installs what is needed")
    sys.exit(0)

from small import Net, layers_in, narrowed, normal, run_with_tool


def masked():
    net = Net(x=normal(4, 32), mask=normal(4, 32) > 0)
    where = net.add("where", "Where", "mask", net.add("scale", "Mul", "x", 1.5), 0.0)
    return net, net.add("product", "MatMul", where, normal(32, 8))


def check_no_floats(tool):
    """Integers alone, and masks alone, with a graph and without: trouble, with the name of the file."""
    net, output = masked()
    tool.model(net.model([output]))
    for name, tensors in (("codes.npz", {"x": np.arange(128).reshape(4, 32), "scale:0": np.ones((4, 32), np.int8)}),
                          ("masks.npz", {"mask": net.inputs["mask"]})):
        for graph in (True, False):
            for dtype in ("fp16", "int8"):
                error = tool.report("--dtype", dtype, tool.dump(tensors, name), code=2, graph=graph)[0]
                tool.same(name, error["error"], f"{name} contains no tensor of floats")


def check_masks(tool):
    """A mask beside floats is left out, counted, and what reads it is judged."""
    net, output = masked()
    tool.model(net.model([output]))
    report, lines = tool.report(tool.dump(net.run()), code=0)
    tool.same("integers", report["integers"], 1)
    tool.same("lines", lines, [])
    tool.same("judged", sorted(layers_in(report["types"][0], "narrow")), ["product", "scale", "where"])
    tool.same("no mask", "mask" in [t["name"] for t in report["types"][0]["tensors"]], False)
    text = tool.run("--graph", "model.onnx", "golden.npz").stdout
    tool.has("text", text, "1 tensor left out: not of a floating-point dtype")


def check_nonfinite(tool):
    """NaN and Inf of the float32 run: the range is of the others, and how many there are is said."""
    net, output = masked()
    tool.model(net.model([output]))
    x = normal(4, 32)
    x[0, :4] = np.nan, 3e4, np.inf, -np.inf  # the last two are masked
    dump = net.run(x=x, mask=normal(4, 32) > 0)
    report, lines = tool.report(tool.dump(dump), code=1)
    counts = (("x", 1, 2), ("scale:0", 1, 2), ("where:0", 1, 0), ("product:0", 8, 0))
    tool.same("lines", lines, [f"btftool: warning: '{name}' has {nan} NaN and {inf} Inf in the dump; they are ignored"
                               for name, nan, inf in counts])
    tensor = next(t for t in report["types"][0]["tensors"] if t["name"] == "scale:0")
    tool.same("counts", [tensor["nan"], tensor["inf"], tensor["largest"], tensor["beyond"]], [1, 2, 45000, 0])
    tool.same("wide", sorted(layers_in(report["types"][0], "wide")), ["product", "scale", "where"])
    dump = {**net.run(), "scale:0": np.full((4, 32), np.nan, np.float32)}
    report, lines = tool.report(tool.dump(dump), code=0)
    tool.has("all", " ".join(lines), "'scale:0' has 128 NaN and 0 Inf in the dump and nothing else; they are ignored")
    unjudged = layers_in(report["types"][0], "unjudged")
    tool.same("all", {name: layer["why"] for name, layer in unjudged.items()},
              {name: "'scale:0' is all NaN" for name in ("scale", "where")})
    tensor = {"only": np.array([np.nan, -np.inf, 3e5], np.float32)}
    report, lines = tool.report(tool.dump(tensor), code=1, graph=False)
    tool.same("alone", lines, ["btftool: warning: 'only' has 1 NaN and 1 Inf in the dump; they are ignored"])
    tool.same("alone", [report["types"][0]["tensors"][0][m] for m in ("largest", "beyond")], [3e5, 1])


def check_constants(tool):
    """All zero, all 5, one number, none at all."""
    net = Net(x=normal(4, 32))
    five = net.add("five", "Add", net.add("zero", "Mul", "x", 0.0), 5.0)
    output = net.add("times", "Mul", "x", five)
    tool.model(net.model([output]))
    report, lines = tool.report("--dtype=fp16,bf16", tool.dump(net.run()), code=0)
    tool.same("lines", lines, [])
    for of_type in report["types"]:
        tensors = {t["name"]: t for t in of_type["tensors"]}
        tool.same("zeros", [tensors["zero:0"][m] for m in ("largest", "smallest", "margin", "error")], [0, 0, "inf", 0])
        tool.same("fives", [tensors["five:0"][m] for m in ("largest", "smallest", "rms", "error")], [5, 5, 5, 0])
        tool.same("fives", tensors["five:0"]["margin"], of_type["largest"] / 5)
    odd = {"one": np.float32(2), "none": np.zeros((0, 3), np.float32), "zeros": np.zeros(9, np.float32)}
    report = tool.report(tool.dump(odd), code=0, graph=False)[0]
    largest = {t["name"]: t["largest"] for t in report["types"][0]["tensors"]}
    tool.same("odd", largest, {"one": 2, "none": 0, "zeros": 0})


def check_dims_by_name(tool):
    """A model for any batch, with dumps of batches of 4 and of 7: the second says what the first does not."""
    net = Net(x=normal(4, 32))
    x = net.add("up", "Mul", net.add("product", "MatMul", "x", normal(32, 8)), 500.0)
    output = net.add("root", "Sqrt", net.add("square", "Mul", x, x))
    tool.model(net.model([output], dims=["batch", 32]))
    few, many = tool.dump(net.run(x=1e-3 * normal(4, 32)), "few.npz"), tool.dump(net.run(x=normal(7, 32)), "many.npz")
    tool.same("few", len(tool.report(few, code=0)[0]["types"][0]["layers"]), 4)
    of_type = tool.report(few, many, code=1)[0]["types"][0]
    wide = layers_in(of_type, "wide")
    tool.same("wide", sorted(wide), ["root", "square"])
    tool.same("dumps", {wide["square"]["findings"][0]["dumps"], wide["root"]["findings"][0]["dumps"]}, {1})
    tool.same("elements", {t["name"]: t["elements"] for t in of_type["tensors"]}["square:0"], (4 + 7) * 8)
    tool.has("text", tool.run("--graph", "model.onnx", few, many).stdout, "(in 1 of 2 dumps)")


def check_other_dims(tool):
    """A dump with the dims of another run, or another layout, contradicts the graph: no layer whose dims do is judged."""
    net = Net(x=normal(4, 8))
    net.add("relu", "Relu", "x")
    net.add("turned", "Transpose", "relu:0", perm=[1, 0])
    net.add("product", "MatMul", "turned:0", normal(4, 3))
    net.add("joined", "Concat", "product:0", "product:0", axis=1)
    output = net.add("softmax", "Softmax", "joined:0", axis=1)
    tool.model(net.model([output]))
    run = net.run()
    tool.same("as it is", layers_in(tool.report(tool.dump(run), code=0)[0]["types"][0], "unjudged"), {})
    for name, made, of in (("relu:0", "[4, 8]", "relu"), ("turned:0", "[8, 4]", "turned"), ("product:0", "[8, 3]", "product"),
                           ("joined:0", "[8, 6]", "joined"), ("softmax:0", "[8, 6]", "softmax")):
        turned = np.ascontiguousarray(run[name].T)
        report = tool.report(tool.dump({**run, name: turned}), code=0)[0]
        why = layers_in(report["types"][0], "unjudged")[of]["why"]
        tool.same(name, why, f"'{name}' was dumped as {list(turned.shape)}, but its dumped inputs give {made}")
    for other in (run["softmax:0"].ravel(), run["softmax:0"][None]):
        report = tool.report(tool.dump({**run, "softmax:0": other}), code=0)[0]
        tool.same("one dim, and one more", layers_in(report["types"][0], "unjudged"), {})


def check_twice(tool):
    """Two tensors of one name: neither is the graph's for sure."""
    net, output = masked()
    tool.model(net.model([output]))
    run = net.run()
    os.mkdir(tool.file("twice"))
    tool.dump(run, "twice/all.npz")
    np.save(tool.file("twice/x.npy"), run["x"] + 1)
    report, lines = tool.report("twice", code=2)
    tool.same("lines", lines, ["btftool: twice/x.npy: 'x' occurs twice, here and in twice/all.npz; neither tensor is used"])
    tool.same("not judged", sorted(layers_in(report["types"][0], "unjudged")), ["scale"])
    tool.same("unused", report["unused"], [])


def check_weights_gone(tool):
    """Layers whose weights are in a file that is not there, or short, are not judged; the others are, and it is trouble."""
    net = Net(x=normal(4, 32))
    output = net.add("relu", "Relu", net.add("product", "MatMul", "x", normal(32, 8)))
    tool.model(net.model([output]), save_as_external_data=True, location="weights.bin", size_threshold=0)
    dump = tool.dump(net.run())
    tool.same("there", layers_in(tool.report(dump, code=0)[0]["types"][0], "unjudged"), {})
    for why in ("has 4", "No such file"):
        if why == "has 4":
            with open(tool.file("weights.bin"), "wb") as file:
                file.write(b"1234")
        else:
            os.remove(tool.file("weights.bin"))
        report, lines = tool.report(dump, code=2)
        tool.has("said once", " ".join(lines), "btftool: model.onnx: ", "weights.bin", why)
        tool.same("said once", len(lines), 1)
        of_type = report["types"][0]
        tool.same("unjudged", sorted(layers_in(of_type, "unjudged")), ["product"])
        tool.has("why", layers_in(of_type, "unjudged")["product"]["why"], "weights.bin", why)
        text = tool.run("--graph", "model.onnx", dump).stdout
        tool.has("text", text, "1 cannot be judged", "cannot be judged: product (MatMul)")


def check_not_dumped(tool):
    """A tensor that others do not tell is named; with one that they tell nothing is amiss."""
    net, output = masked()
    tool.model(net.model([output]))
    dump = net.run()
    told = {name: x for name, x in dump.items() if name != "where:0"}
    tool.same("told", layers_in(tool.report(tool.dump(told), code=0)[0]["types"][0], "unjudged"), {})
    del dump["x"]
    beside = layers_in(tool.report(tool.dump(dump), code=0)[0]["types"][0], "unjudged")
    tool.same("why", {name: layer["why"] for name, layer in beside.items()},
              {"scale": "neither the model nor a dump has numbers of 'x'"})
    # Of no layer all is there.
    few = {"mask": net.inputs["mask"], "product:0": dump["product:0"]}
    error = tool.report(tool.dump(few), code=2)[0]
    tool.has("none", error["error"], "no layer can be judged", "'x'")
    report = tool.report(tool.dump({**dump, "other": np.ones(3, np.float32)}), code=0)[0]
    tool.same("unused", report["unused"], ["other"])
    error = tool.report(tool.dump({"other": np.ones(3, np.float32)}), code=2)[0]
    tool.has("of another network", error["error"], "no tensor of golden.npz is in the graph, for example 'other'")


def check_unknown_operator(tool):
    """Of another domain: it is named, what is before and behind it judged; numbers out of range are so for anyone."""
    net = Net(x=normal(4, 32))
    product = net.add("product", "MatMul", "x", normal(32, 8))
    output = net.add("relu", "Relu", net.add("odd", "Fancy", product, domain="com.example"))
    tool.model(net.model([output], domains=["com.example"]))
    made = narrowed(net.inputs["x"] @ net.weights["w0"])
    dump = {"x": net.inputs["x"], "product:0": made, "odd:0": 2 * made, "relu:0": 2 * np.maximum(made, 0)}
    of_type = tool.report(tool.dump(dump), code=0)[0]["types"][0]
    tool.same("unjudged", {name: layer["why"] for name, layer in layers_in(of_type, "unjudged").items()},
              {"odd": "fit does not know how errors pass through 'Fancy'"})
    tool.same("narrow", sorted(layers_in(of_type, "narrow")), ["product", "relu"])
    # What it gives is not known unless it is dumped: the operator is named.
    of_type = tool.report(tool.dump({n: x for n, x in dump.items() if n != "odd:0"}), code=0)[0]["types"][0]
    tool.has("behind", layers_in(of_type, "unjudged")["relu"]["why"], "'Fancy'")
    dump["product:0"] = 1e5 * made
    wide = layers_in(tool.report(tool.dump(dump), code=1)[0]["types"][0], "wide")
    tool.same("wide", sorted(wide), ["odd", "product"])
    tool.same("reason", wide["odd"]["findings"][0]["reason"], "overflow-input")


if __name__ == "__main__":
    checks = run_with_tool(check_no_floats, check_masks, check_nonfinite, check_constants, check_dims_by_name, check_other_dims, check_twice,
                           check_weights_gone, check_not_dumped, check_unknown_operator)
    print(f"{checks} checks")
