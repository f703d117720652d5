"""check_schemas.py BTFTOOL ROOT: what btftool prints as JSON is as docs/schemas say, member by member.

Every document of many commands, and of what the cases of tests/cli expect, is taken by its schema and has no member that the
schema does not name; without a required member, or with a value of another type, it is refused. Every member that a schema
names is there in some document. Definitions that schemas share are the same in all of them (share_defs.py).
"""

import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

try:
    import jsonschema  # noqa: F401
except ImportError:
    print("skipped: no Python with jsonschema (Debian package python3-jsonschema)")
    sys.exit(77)

import documents
from share_defs import shared
from strict import Schema

PART = "btftool/part/1"
# Members that none of these commands prints.
NEVER = {
    "btftool/inspect/1": ("finding.count", "finding.index", "finding.name"),  # of validate --nan
    "btftool/repair/1": ("finding.count", "finding.index", "finding.name"),
    "btftool/diff/1": ("tolerance_used.given",),  # of a part
    "btftool/diff/2": ("tolerance_used.given",),
    # Of an index of parts that is odd, of a tensor whose file broke while it was read, of a directory whose files end oddly.
    PART: ("part_head.warnings", "trouble_cause.tensor", "convert_item.tensors.ending"),
    "btftool/manifest/1": ("comment", "tensors.comment", "tensors.dependentSchemas.offset.tensor"),  # of people
}
DEEPEST = 30_000  # calls: values of a tensor are nested as deeply as it has dims


class Check:
    def __init__(self, root):
        folder = Path(root, "docs/schemas")
        self.wrong = []
        self.seen = 0
        self.schemas = {}
        bodies = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
        for name, body in bodies.items():
            known = "btftool/" + "/".join(name.rsplit("-", 1))
            # With the slash it stays the same where it is resolved against itself, as jsonschema 4.10 does.
            if body["$id"] != f"/{known}":
                self.wrong.append(f"{name}.json: its $id is {body['$id']}")
            self.schemas[known] = Schema(body)
        for name, text in shared(bodies).items():
            if (folder / f"{name}.json").read_text() != text:
                self.wrong.append(f"{name}.json: not as tests/schemas/share_defs.py writes it")

    def take(self, where, printed):
        changed = Counter()
        for document in printed:
            known = document.get("schema", PART) if isinstance(document, dict) else None
            if known not in self.schemas:
                self.wrong.append(f"{where}: no document of a schema: {str(document)[:200]!r}")
                continue
            self.seen += 1
            wrong = self.schemas[known].errors(document) or list(self.schemas[known].walk(document, changed))
            self.wrong += [f"{where}: {known}: {line}" for line in wrong[:5]]

    def unseen(self):
        for known, schema in self.schemas.items():
            names = [name for name in schema.unseen() if name not in NEVER.get(known, ())]
            self.wrong += [f"{known}: no document has {name}" for name in names]


def main(tool, root):
    tool, root = os.path.realpath(tool), os.path.realpath(root)
    sys.setrecursionlimit(DEEPEST)
    check = Check(root)
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        for command, printed in documents.of_commands(tool, root):
            check.take(f"btftool {command}", printed)
        os.chdir(root)
    for name, printed in documents.of_cases(root):
        check.take(name, printed)
    check.unseen()
    print("\n".join(check.wrong) or f"{check.seen} documents of {len(check.schemas)} schemas")
    return 1 if check.wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
