"""A document against a schema as a test has it: a member that the schema does not name is wrong, and so is a schema that
takes the document with a required member left out, or with a value of another type."""

import re

from jsonschema import Draft202012Validator

NUMBER_IN_TEXT = re.compile(r"nan|-?inf|-?[0-9]{16,20}")


# Of what a command prints as many values of one kind are changed; in the others only names are looked at.
CHANGED = 2
EITHER = ["string", "integer"]  # any text and any number


class Schema:
    def __init__(self, root):
        Draft202012Validator.check_schema(root)
        self.root = root
        self.validators = {}
        self.seen = set()  # members that documents had: the schema that names one, by its address, and its name

    def validator(self, schema):
        """The definitions are at hand in any part of the schema. The part is kept, so that its address is its own."""
        if id(schema) not in self.validators:
            whole = schema if isinstance(schema, dict) else {"not": {}} if schema is False else {}
            whole = {**whole, "$defs": self.root.get("$defs", {})}
            self.validators[id(schema)] = (Draft202012Validator(whole), schema)
        return self.validators[id(schema)][0]

    def takes(self, schemas, value):
        return all(self.validator(schema).is_valid(value) for schema in schemas)

    def errors(self, value):
        return [f"{place(error.absolute_path)}: {error.message[:300]}" for error in self.validator(self.root).iter_errors(value)]

    def parts(self, schema, value):
        """All schemas that a value is held to: this one, what it refers to, and those alternatives that take the value."""
        if not isinstance(schema, dict):
            return []
        found = [schema]
        if "$ref" in schema:
            found += self.parts(self.root["$defs"][schema["$ref"].rsplit("/", 1)[1]], value)
        alternatives = [other for other in schema.get("anyOf", []) if value is None or other != {"type": "null"}]
        for alternative in alternatives:
            if len(alternatives) == 1 or self.takes([alternative], value):
                found += self.parts(alternative, value)
        return found

    def named(self, parts, value):
        """By member of an object: the schemas of its value. Nobody names those that have none."""
        members = {}
        for name in value:
            schemas = []
            for part in parts:
                if name in part.get("properties", {}):
                    schemas.append(part["properties"][name])
                    self.seen.add((id(part), name))
                elif isinstance(part.get("additionalProperties"), dict):
                    schemas.append(part["additionalProperties"])
            members[name] = schemas
        return members

    def walk(self, value, changed):
        """What is wrong, of a document that the schema takes; `changed` counts what was changed in those before it."""
        self.changed = changed
        return self.walk_value(value, [self.root], ())

    def walk_value(self, value, schemas, path):
        kind = tuple(map(id, schemas))
        self.changed[kind] += 1
        if self.changed[kind] <= CHANGED:
            yield from self.change(value, schemas, path)
        parts = [part for schema in schemas for part in self.parts(schema, value)]
        if isinstance(value, dict):
            for name, members in self.named(parts, value).items():
                if members:
                    yield from self.walk_value(value[name], members, (*path, name))
                else:
                    yield f"{place((*path, name))}: the schema does not name this member"
        elif isinstance(value, list):
            items = [part["items"] for part in parts if "items" in part]
            if value and not items:
                yield f"{place(path)}: the schema does not say what the items are"
            for number, item in enumerate(value):
                yield from self.walk_value(item, items, (*path, number))

    def change(self, value, schemas, path):
        """Each required member is left out, and the value gets other types."""
        if isinstance(value, dict):
            parts = [part for schema in schemas for part in self.parts(schema, value)]
            for name in sorted({name for part in parts for name in part.get("required", [])}):
                if self.takes(schemas, {other: item for other, item in value.items() if other != name}):
                    yield f"{place((*path, name))}: taken without this member"
        if any(schema is not True for schema in schemas):
            for wrong in of_other_types(value):
                if isinstance(wrong, str) and any(schema.get("type") == EITHER for schema in schemas):
                    continue
                if self.takes(schemas, wrong):
                    yield f"{place(path)}: {wrong!r} is taken in place of {str(value)[:100]!r}"

    def unseen(self):
        """Members that no document had."""

        def look(schema, path):
            if isinstance(schema, dict):
                for name in schema.get("properties", {}) if "if" not in path[-1:] else ():
                    if (id(schema), name) not in self.seen:
                        yield place((*path, name))
                for key, item in schema.items():
                    yield from look(item, (*path, key) if key not in ("properties", "items", "$defs") else path)
            elif isinstance(schema, list):
                for number, item in enumerate(schema):
                    yield from look(item, (*path, number))

        return list(look(self.root, ()))


def of_other_types(value):
    yield [] if isinstance(value, dict) else {}
    if isinstance(value, (int, float)):
        yield "\x01"
    elif isinstance(value, str) and not NUMBER_IN_TEXT.fullmatch(value) and value != "...":
        yield 0.5
    elif isinstance(value, list):
        yield "\x01"


def place(path):
    return ".".join(map(str, path)) or "the document"
