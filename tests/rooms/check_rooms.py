"""check_rooms.py ROOT: the folders of sources are as docs/architecture.md says.

Every folder with sources in lib/ and tools/btftool/ belongs to a row of the table of rooms: its own, or that of the
folder around it. A room includes headers of its own, of rows above it that its row names, and of the public API.
No headers include one another in a circle, and what only one source needs is part of that source, as long as the two
together are no longer than a file should be.
"""

import re
import sys
from pathlib import Path

ROW = re.compile(r"^\| `((?:lib|tools)/[\w/]+)/` \| (.+?) \| (.*?) \|$")
INCLUDE = re.compile(r'^#\s*include "([^"]+)"', re.M)
# Where quoted headers are looked for. The tool includes public headers of the library, and of its rooms those
# that its rows name.
ROOTS = {"lib": ["lib", "lib/include", "lib/python/src"], "tools": ["tools/btftool", "lib/include", "lib"],
         "tests": ["tests", "lib", "lib/include", "tools/btftool", "tests/fuzz"]}
PUBLIC = "lib/include/btf"
LONGEST = 700  # lines of a file
# Kernels are compiled once for each instruction set, in sources of their own; a format, of files or of
# reports, is a row of a table, which is the only one that knows it.
APART = ("lib/kernels/", "lib/python/")
TABLES = ("lib/formats/format_table.cc", "lib/report/report.cc")


def rooms_of_document(root):
    rooms = {}
    for line in Path(root, "docs/architecture.md").read_text().splitlines():
        if match := ROW.match(line):
            room, _, uses = match.groups()
            rooms[room] = [part.strip(" `") for part in uses.split(",") if part.strip()]
    return rooms


def headers_of(root, source):
    """The files that a source includes, and what it names that is nowhere."""
    found, nowhere = [], []
    top = source.relative_to(root).parts[0]
    for header in INCLUDE.findall(source.read_text()):
        places = [Path(root, start, header) for start in ROOTS[top]] + [source.parent / header]
        # The build makes some headers from a template beside which they belong.
        path = next((place.resolve() for place in places if place.exists() or Path(f"{place}.in").exists()), None)
        if path is not None:
            found.append(path)
        elif top != "tests":
            nowhere.append(header)
    return found, nowhere


def circles(included):
    found, state, path = [], {}, []

    def visit(header):
        state[header] = "open"
        path.append(header)
        for other in included.get(header, ()):
            if state.get(other) == "open":
                found.append(" -> ".join(p.name for p in path[path.index(other):] + [other]))
            elif other not in state:
                visit(other)
        path.pop()
        state[header] = "done"

    for header in sorted(included):
        if header not in state:
            visit(header)
    return found


def main(root):
    root = root.resolve()
    wrong = []
    rooms = rooms_of_document(root)
    order = list(rooms)
    sources = sorted(path for top in ("lib", "tools/btftool") for path in Path(root, top).rglob("*")
                     if path.suffix in (".h", ".cc"))

    def room_of(path):
        folder = path.parent
        while folder != root:
            if (name := folder.relative_to(root).as_posix()) in rooms:
                return name
            folder = folder.parent
        return None

    used = {name: set() for name in rooms}
    included, users = {}, {}
    for source in sources:
        name = room_of(source)
        if name is None:
            wrong.append(f"{source.relative_to(root)}: no row of docs/architecture.md has its folder")
            continue
        found, nowhere = headers_of(root, source)
        wrong += [f"{source.relative_to(root)} includes {header}, which is nowhere" for header in nowhere]
        if source.suffix == ".h":
            included[source] = found
        for header in found:
            users.setdefault(header, set()).add(source)
            other = room_of(header) if header.is_relative_to(root) else None
            if other in (None, name) or other == PUBLIC:
                continue
            used[name].add(other)
            if other.removeprefix("lib/").removeprefix("tools/btftool/") not in rooms[name]:
                wrong.append(f"{name}: its row does not say that it uses {other}: "
                             f"{source.name} includes {header.relative_to(root)}")
            elif other not in order[:order.index(name)]:
                wrong.append(f"{name}: uses {other}, which is no row above it: "
                             f"{source.name} includes {header.relative_to(root)}")
    short = {name: {o.removeprefix("lib/").removeprefix("tools/btftool/") for o in others} for name, others in used.items()}
    wrong += [f"{name}: its row names {other}, of which it includes nothing"
              for name in rooms for other in rooms[name] if other not in short[name]]
    wrong += [f"headers include one another: {circle}" for circle in circles(included)]

    tested = set()
    for test in Path(root, "tests").rglob("*"):
        if test.suffix in (".h", ".cc"):
            tested |= set(headers_of(root, test)[0])
    for header in sorted(included):
        if header.relative_to(root).as_posix().startswith((PUBLIC, *APART)) or header in tested:
            continue
        own = header.with_suffix(".cc")
        others = users.get(header, set()) - {own}
        if not others:
            wrong.append(f"{header.relative_to(root)}: nobody includes it")
        elif len(others) == 1 and not others <= {root / table for table in TABLES}:
            together = [path for path in (header, own, *others) if path.exists()]
            if sum(len(path.read_text().splitlines()) for path in together) <= LONGEST:
                wrong.append(f"{header.relative_to(root)}: only {others.pop().relative_to(root)} includes it, and could "
                             "hold it")
    print("\n".join(wrong) or f"{len(rooms)} rooms, {len(sources)} files")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
