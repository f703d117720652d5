"""share_defs.py ROOT: definitions that several schemas have are the same in all of them.

Each schema in docs/schemas is whole, so that any validator takes it alone. A definition is edited in the first schema of
HOMES that has it; this copies it to the others, leaves out those that nothing refers to, and formats the files.
"""

import json
import sys
from pathlib import Path

HOMES = ("inspect-1", "convert-1", "diff-2", "diff-1", "validate-1", "repair-1", "layers-1", "fit-1", "types-1", "part-1")
WIDTH = 150
PREFIX = "#/$defs/"


def references(schema):
    """Names of the definitions that a schema refers to, in their order."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"].removeprefix(PREFIX)
        for key, value in schema.items():
            if key != "$defs":
                yield from references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from references(value)


def closure(schema, known):
    """The definitions that a schema needs, and those that these need, each behind the first that refers to it."""
    defs = {}

    def need(name):
        if name not in defs:
            defs[name] = known[name]
            for other in references(known[name]):
                need(other)

    for name in references(schema):
        need(name)
    return defs


def text(value, indent=0, used=0):
    """JSON with what fits on a line on one."""
    line = json.dumps(value, ensure_ascii=False)
    end = "" if indent else "\n"
    if indent + used + len(line) < WIDTH or not isinstance(value, (dict, list)):
        return line + end
    margin = " " * (indent + 2)
    if isinstance(value, dict):
        rows = [f"{margin}{json.dumps(key)}: {text(item, indent + 2, len(key) + 5)}" for key, item in value.items()]
    elif all(isinstance(item, str) for item in value):
        rows = wrapped([json.dumps(item) for item in value], margin)
    else:
        rows = [margin + text(item, indent + 2, 1) for item in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return opening + "\n" + ",\n".join(rows) + "\n" + " " * indent + closing + end


def wrapped(words, margin):
    """As many words on a line as fit; the commas between lines are the caller's."""
    rows = [margin + words[0]]
    for word in words[1:]:
        if len(rows[-1]) + len(word) + 2 >= WIDTH:
            rows.append(margin + word)
        else:
            rows[-1] += ", " + word
    return rows


def shared(schemas):
    """By name of a schema: what its file should have."""
    known = {}
    for name in (*HOMES, *schemas):
        for definition, body in schemas[name].get("$defs", {}).items():
            known.setdefault(definition, body)
    texts = {}
    for name, schema in schemas.items():
        body = {key: value for key, value in schema.items() if key != "$defs"}
        if defs := closure(body, known):
            body["$defs"] = defs
        texts[name] = text(body)
    return texts


def main(root):
    folder = Path(root, "docs/schemas")
    for name, body in shared({path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}).items():
        if (path := folder / f"{name}.json").read_text() != body:
            path.write_text(body)
            print(f"{name}: written")


if __name__ == "__main__":
    main(*sys.argv[1:])
