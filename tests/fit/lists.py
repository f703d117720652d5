"""lists.py BTFTOOL TESTDATA: what `fit --emit` writes, read by those that it is for, as far as they are installed.

Polygraphy's option and Python's re are in the interop environment; for the whole `pip install onnxconverter-common
nvidia-modelopt[onnx]`. trtexec is in no package: its list is read by the rule of its documentation.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

try:
    import onnx
except ImportError as missing:
    print(f"skipped: {missing}; tests/interop/venv.sh installs what is needed")
    sys.exit(0)

FORMS = ("autocast", "onnxconverter", "trtexec", "polygraphy", "names")


def renamed(testdata, folder, names):
    """The network with other names of its nodes."""
    model = onnx.load(os.path.join(testdata, "fit/model.onnx"))
    for node, name in zip(model.graph.node, names):
        node.name = name
    path = os.path.join(folder, "model.onnx")
    onnx.save(model, path)
    return model, path


def lists(tool, path, dump, folder):
    found = {}
    for form in FORMS:
        target = os.path.join(folder, form)
        done = subprocess.run([tool, "-q", "fit", "--graph", path, dump, "--emit", form, target], capture_output=True,
                              text=True, check=False)
        found[form] = open(target).read() if os.path.exists(target) else None
        if os.path.exists(target):
            os.remove(target)
        if (done.returncode == 2) != (found[form] is None):
            raise AssertionError(f"{form}: exit {done.returncode}, {done.stderr}")
    return found


def by_autocast(text, model):
    names = [node.name for node in model.graph.node]
    patterns = text.split("\n")[:-1]
    try:
        from modelopt.onnx.autocast.nodeclassifier import DisabledNodeNameRegexRule
        rule = DisabledNodeNameRegexRule(patterns)
        used.add("modelopt")
        return [node.name for node in model.graph.node if rule.check(node)]
    except ImportError:
        return [n for n in names if any(re.match(p, n) for p in patterns)]


def by_onnxconverter(text, model):
    names = json.loads(text)
    try:
        from onnxconverter_common import float16
    except ImportError:
        return names
    used.add("onnxconverter-common")
    made = float16.convert_float_to_float16(onnx.ModelProto.FromString(model.SerializeToString()), node_block_list=names)
    inner = {n.name: n for n in made.graph.node}
    types = {v.name: v.type.tensor_type.elem_type
             for v in onnx.shape_inference.infer_shapes(made).graph.value_info}
    own = [n.name for n in model.graph.node]
    return [n for n in own if types.get(inner[n].output[0], onnx.TensorProto.FLOAT16) == onnx.TensorProto.FLOAT]


def by_trtexec(text, model):
    obey, layers = shlex.split(text)
    assert obey == "--precisionConstraints=obey", obey
    pairs = [part.rpartition(":") for part in layers.removeprefix("--layerPrecisions=").split(",")]
    assert all(kind == "fp32" for _, _, kind in pairs), layers
    return [name for name, _, _ in pairs]


def by_polygraphy(text, model):
    words = shlex.split(text)
    assert words[:3] == ["--precision-constraints", "obey", "--layer-precisions"], words
    try:
        from polygraphy.tools.args.util import parse_arglist_to_dict
    except ImportError:
        return [word.rpartition(":")[0] for word in words[3:]]
    used.add("polygraphy")
    found = parse_arglist_to_dict(words[3:], allow_empty_key=False)
    assert set(found.values()) == {"float32"}, found
    return list(found)


used = set()


def main(tool, testdata):
    tool = os.path.realpath(tool)
    wrong = []
    dump = os.path.join(testdata, "fit/golden.npz")
    plain = ["up", "bias", "pow", "mean", "epsilon", "root", "divide", "scale", "down", "relu"]
    odd = ["/up", "a b", "/block.0/norm/Pow", "mean[0]+(x)$", "e", "r", "d", "pow.x", "mean", "Pow"]
    colon = ["u", "b", "n/Pow:0", "it's", "e", "r", "d", "s", "w", "n/Pow"]
    readers = {"autocast": by_autocast, "onnxconverter": by_onnxconverter, "trtexec": by_trtexec,
               "polygraphy": by_polygraphy, "names": lambda text, _: text.split("\n")[:-1]}
    with tempfile.TemporaryDirectory() as folder:
        for names in (plain, odd, colon):
            model, path = renamed(testdata, folder, names)
            wanted = names[2:4]
            for form, text in lists(tool, path, dump, folder).items():
                if text is None:
                    wrong.append(f"{form}: not written of {wanted}")
                elif readers[form](text, model) != wanted:
                    wrong.append(f"{form}: {readers[form](text, model)} in place of {wanted}")
        _, path = renamed(testdata, folder, ["u", "b", "a,b", "c", *"defghi"])
        if lists(tool, path, dump, folder)["trtexec"] is not None:
            wrong.append("trtexec: a name with a comma in it is written")
    print("\n".join(wrong) or "lists are read by " + ", ".join(sorted(used)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
