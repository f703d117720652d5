"""count.py ROOT: how large the house is, as figures to compare before and after a change of its structure."""

import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^#\s*include "([^"]+)"', re.M)
TYPE = re.compile(r"^\s*(?:class|struct|enum class|enum)\s+(\w+)[^;{]*\{", re.M)


def main(root):
    files = [path for top in ("lib", "tools") for path in Path(root, top).rglob("*") if path.suffix in (".h", ".cc")]
    texts = {path: path.read_text() for path in files}
    lines = [line for text in texts.values() for line in text.splitlines()]
    users = {}
    for path, text in texts.items():
        for header in INCLUDE.findall(text):
            users.setdefault(header, set()).add(path)

    def users_of(path):
        return {user for name, found in users.items() if path.as_posix().endswith("/" + name) for user in found
                if user.with_suffix("") != path.with_suffix("")}

    private = [path for path in files if path.suffix == ".h" and "lib/include" not in path.as_posix()]
    rooms = re.findall(r"^\| `(?:lib|tools)/[\w/]+/` \|", Path(root, "docs/architecture.md").read_text(), re.M)
    public = [path for path in files if path.suffix == ".h" and "lib/include" in path.as_posix()]
    rows = {
        "files": len(files),
        "lines": len(lines),
        "lines in a file, mean": len(lines) // len(files),
        "files above 700 lines": sum(text.count("\n") > 700 for text in texts.values()),
        "files of at most 40 lines": sum(text.count("\n") <= 40 for text in texts.values()),
        "folders": len({path.parent for path in files}),
        "rows of the table of rooms": len(rooms),
        "private headers": len(private),
        "private headers with one user": sum(len(users_of(path)) == 1 for path in private),
        "public headers": len(public),
        "lines of public headers": sum(texts[path].count("\n") for path in public),
        "type names": len({name for text in texts.values() for name in TYPE.findall(text)}),
        "comment lines, %": round(100 * sum(line.lstrip().startswith("//") for line in lines) / len(lines), 1),
        "constants kMost... and kLeast...": len(set(re.findall(r"\bk(?:Most|Least)\w*", "\n".join(texts.values())))),
    }
    for name, value in rows.items():
        print(f"{name:34} {value}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
