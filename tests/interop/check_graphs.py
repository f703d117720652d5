#!/usr/bin/env python3
"""How diff compares the graphs of models: check_graphs.py BTFTOOL [TESTDATA] [ROUNDS] [SEED]

Random edits of models, seen by onnx: what differs is worked out here from the messages of onnx, and has to be
what `diff --strict` says, difference by difference; without --strict it has to be said that it was not compared.
"""
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

try:
    import numpy
    import onnx
    import onnx.compose
    from onnx import TensorProto, helper, numpy_helper
except ImportError as missing:
    print(f"skipped: {missing}; tests/interop/venv.sh installs what is needed")
    sys.exit(0)

TOOL = sys.argv[1]
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 120
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 1
failures = 0


def fail(text):
    global failures
    failures += 1
    print("WRONG", text)


def attributes_of(node):
    constant = node.op_type == "Constant" and node.domain in ("", "ai.onnx")
    found = {}
    for attribute in node.attribute:
        if constant and (attribute.name.startswith("value") or attribute.name == "sparse_value"):
            continue
        if attribute.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS):
            found[attribute.name] = "graph"
            continue
        copy = onnx.AttributeProto()
        copy.CopyFrom(attribute)
        copy.doc_string = ""
        copy.type = 0
        found[attribute.name] = copy.SerializeToString(deterministic=True)
    return found


def nodes_of(graph, within=""):
    """Every node of a graph and its subgraphs: (name, first output) -> what it says."""
    found = {}
    for node in graph.node:
        name = within + node.name if node.name else ""
        output = within + node.output[0] if node.output and node.output[0] else ""
        says = {"operator": (node.domain if node.domain != "ai.onnx" else "", node.op_type), "inputs": list(node.input), "outputs": list(node.output)}
        found[name, output] = says | attributes_of(node)
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                found |= nodes_of(attribute.g, (name or output) + "/" + attribute.name + "/")
    return found


def values_of(graph, field, within=""):
    found = {within + value.name: value.type.SerializeToString(deterministic=True) for value in getattr(graph, field)}
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                found |= values_of(attribute.g, field, within + (node.name or node.output[0]) + "/" + attribute.name + "/")
    return found


def expected(actual, golden):
    """(part, subject, what) of everything that differs."""
    found = set()
    left, right = nodes_of(actual.graph), nodes_of(golden.graph)
    pairs = {key: key for key in right if key in left}
    for at in (0, 1):  # then by name alone, then by output alone
        for key in right:
            if key in pairs or not key[at]:
                continue
            others = [other for other in left if other[at] == key[at] and other not in pairs.values()]
            alike = [other for other in right if other[at] == key[at] and other not in pairs]
            if len(others) == 1 and len(alike) == 1:
                pairs[key] = others[0]
    for key, says in right.items():
        subject = key[0] or key[1]
        if key not in pairs:
            found.add(("node", subject, None))
            continue
        other = left[pairs[key]]
        if pairs[key][0] != key[0]:
            found.add(("node", subject, "name"))
        for what in says.keys() | other.keys():
            if says.get(what) != other.get(what):
                found.add(("node", subject, what))
    for key in left:
        if key not in pairs.values():
            found.add(("node", key[0] or key[1], None))
    for part, field in (("input", "input"), ("output", "output")):
        one, two = values_of(actual.graph, field), values_of(golden.graph, field)
        for name in one.keys() | two.keys():
            if name not in one or name not in two:
                found.add((part, name, None))
            elif one[name] != two[name]:
                found.add((part, name, "type"))
        names = [[value.name for value in getattr(side.graph, field)] for side in (actual, golden)]
        if names[0] != names[1] and sorted(names[0]) == sorted(names[1]):
            found.add(("graph", None, f"order of {field}s"))
    sets = [{opset.domain or "ai.onnx": opset.version for opset in side.opset_import} for side in (actual, golden)]
    for domain in sets[0].keys() | sets[1].keys():
        if sets[0].get(domain) != sets[1].get(domain):
            found.add(("opset", domain, "version" if domain in sets[0] and domain in sets[1] else None))
    return found


def base_model(rng, names=True):
    nodes, weights, value = [], [], "x"
    for i in range(rng.randint(2, 9)):
        out = f"v{i}"
        kind = rng.choice(["Conv", "Relu", "Gemm", "Concat", "Constant", "If", "Clip"])
        more = {"name": f"{kind}_{i}"} if names and rng.random() < 0.9 else {}
        if kind == "Conv":
            weights.append(numpy_helper.from_array(numpy.float32(rng.random()).reshape(1, 1, 1, 1), f"w{i}"))
            nodes.append(helper.make_node("Conv", [value, f"w{i}"], [out], dilations=[1, 1], pads=[0, 0, 0, 0], group=1, **more))
        elif kind == "Gemm":
            nodes.append(helper.make_node("Gemm", [value, value], [out], alpha=0.5, beta=1.25, transA=1, **more))
        elif kind == "Concat":
            nodes.append(helper.make_node("Concat", [value, value], [out], axis=rng.randint(-2, 2), **more))
        elif kind == "Constant":
            nodes.append(helper.make_node("Constant", [], [f"c{i}"], value=numpy_helper.from_array(numpy.float32([i, 2])), **more))
            nodes.append(helper.make_node("Add", [value, f"c{i}"], [out], name=f"Add_{i}"))
        elif kind == "If":
            branch = [helper.make_graph([helper.make_node("Elu", [value], [f"b{i}{k}"], name=f"Elu_{k}", alpha=1.0 + k)], "b", [],
                                        [helper.make_tensor_value_info(f"b{i}{k}", TensorProto.FLOAT, None)]) for k in (0, 1)]
            nodes.append(helper.make_node("If", ["x"], [out], then_branch=branch[0], else_branch=branch[1], **more))
        else:
            nodes.append(helper.make_node(kind, [value], [out], **more))
        value = out
    weights.append(numpy_helper.from_array(numpy.float32([1, 2, 3]), "last"))
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 4]), helper.make_tensor_value_info("y", TensorProto.INT64, [2])],
                              [helper.make_tensor_value_info(value, TensorProto.FLOAT, None)], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])


def all_nodes(graph):
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from all_nodes(attribute.g)


def edit(model, rng):
    nodes = list(all_nodes(model.graph))
    node = rng.choice(nodes)
    plain = [a for a in node.attribute if a.type in (onnx.AttributeProto.INT, onnx.AttributeProto.INTS, onnx.AttributeProto.FLOAT)]
    kind = rng.choice(["attribute", "drop", "add", "operator", "domain", "input", "rename", "remove", "insert", "shuffle", "type", "dim", "opset", "new opset", "doc", "inputs", "order"])
    if kind == "attribute" and plain:
        one = rng.choice(plain)
        if one.type == onnx.AttributeProto.INTS:
            one.ints[rng.randrange(len(one.ints))] += 1
        elif one.type == onnx.AttributeProto.INT:
            one.i -= 3
        else:
            one.f *= 1.0000001192092896
    elif kind == "drop" and plain:
        node.attribute.remove(rng.choice(plain))
    elif kind == "add":
        node.attribute.append(helper.make_attribute(f"extra{rng.randint(0, 1000000)}", rng.choice([1, 2.5, "text", [1, 2], [0.1], numpy_helper.from_array(numpy.float32([3]), "t")])))
    elif kind == "operator" and node.op_type not in ("Constant", "If"):
        node.op_type += "X"
    elif kind == "domain" and node.op_type not in ("Constant", "If"):
        node.domain = rng.choice(["ai.onnx", "com.microsoft"])
    elif kind == "input" and node.input:
        node.input[rng.randrange(len(node.input))] = "elsewhere"
    elif kind == "rename" and node.op_type not in ("Constant", "If"):
        node.name = f"other{rng.randint(0, 1000000)}"
    elif kind == "remove":
        own = rng.choice([one for one in model.graph.node if one.op_type != "Constant"])
        model.graph.node.remove(own)
    elif kind == "insert":
        model.graph.node.append(helper.make_node("Neg", ["x"], [f"neg{rng.randint(0, 1000000)}"], name=f"Neg_{rng.randint(0, 1000000)}"))
    elif kind == "shuffle":
        order = list(model.graph.node)
        # Tensors of Constants are in the order of the file.
        others = [one for one in order if one.op_type != "Constant"]
        rng.shuffle(others)
        del model.graph.node[:]
        model.graph.node.extend([one for one in order if one.op_type == "Constant"] + others)
    elif kind == "type":
        model.graph.input[0].type.tensor_type.elem_type = TensorProto.FLOAT16
    elif kind == "dim":
        model.graph.input[1].type.tensor_type.shape.dim[0].dim_value += 1
    elif kind == "opset":
        model.opset_import[0].version += 1
    elif kind == "new opset":
        model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    elif kind == "doc":
        node.doc_string = "for people"
        model.graph.doc_string = "likewise"
    elif kind == "inputs":
        model.graph.input[1].name = "z"
    elif kind == "order":
        both = [onnx.ValueInfoProto.FromString(one.SerializeToString()) for one in model.graph.input]
        del model.graph.input[:]
        model.graph.input.extend(reversed(both))


def run(*words):
    return subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True, errors="replace")


def compare(folder, actual, golden, what):
    onnx.save(actual, folder / "a.onnx")
    onnx.save(golden, folder / "g.onnx")
    wanted = expected(actual, golden)
    strict = run("diff", "--strict", "--json", folder / "a.onnx", folder / "g.onnx")
    if strict.returncode != (1 if wanted else 0):
        return fail(f"{what}: exit {strict.returncode}, wanted {sorted(map(str, wanted))}: {strict.stdout[:300]} {strict.stderr}")
    member = json.loads(strict.stdout)["members"][0]
    told = {(one["part"], one["subject"], one["what"]) for one in member.get("differences", [])}
    if told != wanted:
        fail(f"{what}: told {sorted(map(str, told - wanted))}, not told {sorted(map(str, wanted - told))}")
    text = run("diff", "--strict", "--all", folder / "a.onnx", folder / "g.onnx").stdout
    for one in member.get("differences", []):
        if one["text"] not in text:
            fail(f"{what}: no line {one['text']}")
    plain = run("diff", folder / "a.onnx", folder / "g.onnx")
    said = re.search(r"only tensors were compared; the graphs differ in (.*)", plain.stdout)
    if plain.returncode != 0 or bool(said) != bool(wanted):
        fail(f"{what}: without --strict: exit {plain.returncode}: {plain.stdout}{plain.stderr}")
    nodes = {subject for part, subject, _ in wanted if part == "node"}
    if said and nodes and not said[1].startswith(f"{len(nodes)} of "):
        fail(f"{what}: {len(nodes)} nodes differ: {said[1]}")


def hostile(folder, rng):
    """Bytes changed at random: an answer or a message, and no crash."""
    golden = base_model(rng)
    onnx.save(golden, folder / "g.onnx")
    whole = (folder / "g.onnx").read_bytes()
    for _ in range(ROUNDS):
        broken = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            broken[rng.randrange(len(broken))] = rng.randrange(256)
        if rng.random() < 0.2:
            del broken[rng.randrange(len(broken)):]
        (folder / "b.onnx").write_bytes(broken)
        for words in (["--strict"], []):
            ended = run("diff", *words, folder / "b.onnx", folder / "g.onnx")
            if ended.returncode not in (0, 1, 2) or (ended.returncode == 2 and not ended.stderr):
                (pathlib.Path.cwd() / "hostile.onnx").write_bytes(broken)
                fail(f"hostile.onnx {words}: exit {ended.returncode}: {ended.stderr}")


def main():
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        for round_ in range(ROUNDS):
            golden = base_model(rng)
            actual = onnx.ModelProto.FromString(golden.SerializeToString())
            for _ in range(rng.choice([0, 1, 1, 2, 4])):
                edit(actual, rng)
            compare(folder, actual, golden, f"round {round_} of seed {SEED}")
        # onnx.compose renames everything, the tensors of Constants too, of which there is none here.
        golden = base_model(rng)
        while any(node.op_type == "Constant" for node in golden.graph.node):
            golden = base_model(rng)
        compare(folder, onnx.compose.add_prefix(golden, "p/", rename_initializers=False), golden, "add_prefix")
        hostile(folder, rng)
    print(f"{ROUNDS} pairs of models, and as many broken ones: {failures} failures")
    return 1 if failures else 0


sys.exit(main())
