"""check_rooms.py ROOT: the folders of sources are as docs/architecture.md says.

Every folder with sources in lib/ and tools/btftool/ has a row in the table of rooms: what it is for and
which rooms it includes headers of. A room uses rows above its own only, the row names exactly what is
used, and no folder holds more files than one looks at.
"""

import re
import sys
from pathlib import Path

MOST_FILES = 28
ROW = re.compile(r"^\| `((?:lib|tools)/[\w/]+)/` \| (.+?) \| (.*?) \|$")
INCLUDE = re.compile(r'^#\s*include "([^"]+)"', re.M)
# Where quoted headers are looked for. The tool includes public headers of the library, and of its rooms those
# that its rows name.
ROOTS = {"lib": ["lib", "lib/include"], "tools": ["tools/btftool", "lib/include", "lib"]}


def rooms_of_document(root):
    rooms = {}
    for line in Path(root, "docs/architecture.md").read_text().splitlines():
        if match := ROW.match(line):
            room, _, uses = match.groups()
            rooms[room] = [part.strip(" `") for part in uses.split(",") if part.strip()]
    return rooms


def includes(root, folder):
    """The rooms whose headers the folder's sources include, each with one place that does."""
    found = {}
    for source in sorted(folder.iterdir()):
        if source.suffix not in (".h", ".cc"):
            continue
        for header in INCLUDE.findall(source.read_text()):
            for start in ROOTS[folder.relative_to(root).parts[0]]:
                path = Path(root, start, header)
                if path.exists():
                    found.setdefault(path.parent.relative_to(root).as_posix(), f"{source.name} includes {header}")
                    break
            else:
                found.setdefault(header, f"{source.name} includes {header}, which is nowhere")
    return found


def main(root):
    wrong = []
    rooms = rooms_of_document(root)
    order = list(rooms)
    folders = sorted({path.parent for top in ("lib", "tools/btftool") for path in Path(root, top).rglob("*")
                      if path.suffix in (".h", ".cc")})
    names = [folder.relative_to(root).as_posix() for folder in folders]
    wrong += [f"{name}: is no row of docs/architecture.md" for name in names if name not in rooms]
    wrong += [f"{name}: is a row of docs/architecture.md, but no folder of sources" for name in rooms if name not in names]
    for folder, name in zip(folders, names):
        if name not in rooms:
            continue
        uses = rooms[name]
        found = includes(root, folder)
        found.pop(name, None)
        for other, place in found.items():
            short = other.split("/", 1)[-1].removeprefix("btftool/")
            if other.startswith("lib/include/btf"):
                continue  # everybody may
            if short not in uses:
                wrong.append(f"{name}: uses {other}, its row does not say so: {place}")
            elif other not in order[:order.index(name)]:
                wrong.append(f"{name}: uses {other}, which is no row above it: {place}")
        used = {other.split("/", 1)[1].removeprefix("btftool/") for other in found}
        wrong += [f"{name}: its row names {other}, of which it includes nothing" for other in uses if other not in used]
        files = sum(path.suffix in (".h", ".cc") for path in folder.iterdir())
        if files > MOST_FILES:
            wrong.append(f"{name}: {files} files, at most {MOST_FILES} are wanted")
    print("\n".join(wrong) or f"{len(rooms)} rooms")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
