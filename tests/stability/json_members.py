"""What the JSON of the schemas promises: the way to every member, its types, its words, and whether it is always there."""

import json
from pathlib import Path

TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
DEEPEST = 3  # times that a definition may be within itself on the way to a member


class Document:
    def __init__(self, schema):
        self.root = schema
        self.found = {}  # by way: types, words, and is it always there?

    def resolved(self, schema, trail):
        """The schema, what it refers to and its alternatives, each with the definitions on the way to it."""
        if not isinstance(schema, dict):
            return
        yield schema, trail
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            if trail.count(name) < DEEPEST:
                yield from self.resolved(self.root["$defs"][name], (*trail, name))
        for key in ("anyOf", "oneOf"):
            for other in schema.get(key, ()):
                yield from self.resolved(other, trail)
        for other in schema.get("dependentSchemas", {}).values():
            yield from self.resolved(other, trail)
        for key in ("if", "then"):
            yield from self.resolved(schema.get(key), trail)

    def types(self, schema, trail):
        found = set()
        for part, _ in self.resolved(schema, trail):
            kinds = part.get("type", [])
            found.update([kinds] if isinstance(kinds, str) else kinds)
            found.update(TYPES[type(value)] for value in self.values(part))
        return found

    def words(self, schema, trail):
        return {value for part, _ in self.resolved(schema, trail) for value in self.values(part) if isinstance(value, str)}

    def values(self, part):
        return [*part.get("enum", ()), *([part["const"]] if "const" in part else ())]

    def walk(self, schema, way, trail=()):
        parts = list(self.resolved(schema, trail))
        required = {name for part, _ in parts for name in part.get("required", ())}
        for part, behind in parts:
            for name, value in part.get("properties", {}).items():
                self.member(value, f"{way}.{name}", name in required, behind)
            if isinstance(part.get("additionalProperties"), dict):
                self.member(part["additionalProperties"], f"{way}.*", False, behind)
            if "items" in part:
                self.walk(part["items"], f"{way}[]", behind)

    def member(self, schema, way, always, trail):
        kinds, words, there = self.found.get(way, (set(), set(), False))
        self.found[way] = kinds | self.types(schema, trail), words | self.words(schema, trail), there or always
        self.walk(schema, way, trail)


def promises(root):
    for path in sorted(Path(root, "docs/schemas").glob("*.json")):
        schema = json.loads(path.read_text())
        document = Document(schema)
        document.walk(schema, schema["$id"].removeprefix("/btftool/"))
        for way, (kinds, words, always) in document.found.items():
            yield f"json {way} is {'|'.join(sorted(kinds)) or 'anything'}"
            if always:
                yield f"always {way}"
            for word in words:
                yield f"word {way} {word}"
