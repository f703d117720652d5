"""check_names.py ROOT: what documents and comments call by name is there.

In docs/*.md and README.md, but for the changelog, which tells of the past: `path/file.cc` and `file.h` are files of the tree, and
`name()` is a function of it; in a row of docs/adding.md, of one of the files that the row names. In comments of C++: files, with a path or without.
Each header of lib/ and tools/ begins with a comment that says what it is for.
"""

import re
import sys
from pathlib import Path

FILE = re.compile(r"`([\w./-]+\.(?:h|cc|py|sh|cmake))`")
FUNCTION = re.compile(r"`((?:\w+::)*[a-z_]\w*)\(\)`")
ROW = re.compile(r"\| \d+ \| (.*) \|$")
PATH = re.compile(r"`([\w./-]+\.\w+|[\w.-]+(?:/[\w.-]+)*/)`")
ROOMS = ("", "lib/", "tools/btftool/", "tests/", "testdata/generator/")
COMMENT = re.compile(r"//.*")
NAMED = re.compile(r"(?<![\w./<-])[\w-]+(?:/[\w.-]+)*\.(?:h|cc|py|sh|md)\b(?![\w/])")
SOURCES = (".h", ".cc", ".py", ".sh", ".c", ".pyi", ".txt", ".cmake")
# Of other projects, and files that a reader makes.
FOREIGN_FILES = {"cuda_fp4.h", "-inl.h", "foreach_target.h", "src/format.cc"}
FOREIGN_FUNCTIONS = {"renameat2", "set_source_files_properties", "getTensorFormatDesc"}


def elsewhere(root, line):
    """The functions in a row that none of its files has. A file without a folder is next to the one before it."""
    row = ROW.match(line)
    texts, folder = [], ""
    for name in PATH.findall(row.group(1)) if row else []:
        for place in [Path(root, base, name) for base in (folder, *ROOMS)]:
            if place.is_file() or place.is_dir():
                folder = place.parent if place.is_file() else place
                parts = [place] if place.is_file() else [path for path in place.rglob("*") if path.is_file()]
                texts += [path.read_text(errors="replace") for path in parts]
                break
    found = "\n".join(texts)
    return [name for name in FUNCTION.findall(line) if texts and not re.search(rf"\b{name.split('::')[-1]}\b", found)]


def main(root):
    files = [path for top in ("lib", "tools", "tests", "docs", "testdata") for path in Path(root, top).rglob("*") if path.is_file()]
    ends = {}
    for path in files:
        parts = path.relative_to(root).parts
        for k in range(len(parts)):
            ends.setdefault("/".join(parts[k:]), path)
    ends |= {path.name: path for path in Path(root).iterdir() if path.is_file()}
    words = set(re.findall(r"\w+", Path(root, "CMakeLists.txt").read_text()))
    for path in files:
        if path.suffix in SOURCES and path.name != Path(__file__).name:
            words |= set(re.findall(r"\b[a-zA-Z_]\w*\b", path.read_text(errors="replace")))
    wrong = []
    for page in sorted([*Path(root, "docs").glob("*.md"), Path(root, "README.md")]):
        if page.name == "changelog.md":
            continue
        for number, line in enumerate(page.read_text().splitlines(), 1):
            where = f"{page.relative_to(root)}:{number}"
            for name in FILE.findall(line):
                if "NAME" not in name and name.removeprefix("./") not in ends and name not in FOREIGN_FILES:
                    wrong.append(f"{where}: there is no file '{name}'")
            for name in FUNCTION.findall(line):
                if "NAME" not in name and name.split("::")[-1] not in words and name not in FOREIGN_FUNCTIONS:
                    wrong.append(f"{where}: there is no function '{name}'")
    for number, line in enumerate(Path(root, "docs", "adding.md").read_text().splitlines(), 1):
        wrong += [f"docs/adding.md:{number}: no file of the row has '{name}()'" for name in elsewhere(root, line) if "NAME" not in name]
    for path in files:
        if path.suffix not in (".h", ".cc"):
            continue
        if path.suffix == ".h" and path.relative_to(root).parts[0] in ("lib", "tools"):
            first = path.read_text().partition("\n")[0]
            if not first.startswith(("// ", "/* ")) or len(first.split()) < 4 or path.name in first:
                wrong.append(f"{path.relative_to(root)}:1: it does not begin with a comment that says what the header is for")
        for number, line in enumerate(path.read_text().splitlines(), 1):
            comment = COMMENT.search(line)
            for name in NAMED.findall(comment.group()) if comment else []:
                if name.removeprefix("./") not in ends and name not in FOREIGN_FILES and "NAME" not in name:
                    wrong.append(f"{path.relative_to(root)}:{number}: there is no file '{name}'")
    print("\n".join(wrong) or "all names are those of something")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
