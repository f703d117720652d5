"""check_links.py ROOT: links and references to sections in documents and comments lead somewhere.

A link to a file: it exists. "[x.md](x.md), section 3.1", "docs/x.md, section 3.1" in a comment, and "`docs/x.md` 3 and 4"
in a table: the document has headings with these numbers. A section without a document is one of the same document, or
with "there" behind it one of the document that was named last.
"""

import re
import subprocess
import sys
from pathlib import Path

NUMBERS = r"\d+(?:\.\d+)?(?:(?:,| and|, and| to)\s+(?:// |# |\| )?\d+(?:\.\d+)?)*"
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
LINKED = re.compile(rf"\[[^\]\n]*\]\(([^)\s]+\.md)\),\s+sections?\s+({NUMBERS})")
OWN = re.compile(rf"\b[Ss]ections?\s+({NUMBERS})(\s+there\b)?")
IN_COMMENT = re.compile(rf"docs/(\w+\.md)(?:,\s+(?:// |# )?sections?\s+({NUMBERS}))?")
IN_TABLE = re.compile(rf"`docs/(\w+\.md)`(?:\s+({NUMBERS}))?")
SOURCES = (".h", ".cc", ".py", ".sh", ".txt", ".cmake", ".c")


def without_blocks(text):
    """Lines of fenced blocks are emptied, so that places stay."""
    fenced = False
    lines = []
    for line in text.split("\n"):
        fence = line.startswith("```")
        lines.append("" if fenced or fence else line)
        fenced ^= fence
    return "\n".join(lines)


class Links:
    def __init__(self, root):
        self.root = root
        self.wrong = []
        self.checked = 0
        self.sections = {path.name: set(re.findall(r"^#+ (\d+(?:\.\d+)?)", without_blocks(path.read_text()), re.M))
                         for path in Path(root, "docs").glob("*.md")}

    def section(self, where, document, numbers):
        if document not in self.sections:
            self.wrong.append(f"{where}: no document docs/{document}")
            return
        for number in re.findall(r"\d+(?:\.\d+)?", numbers or ""):
            self.checked += 1
            if number not in self.sections[document]:
                self.wrong.append(f"{where}: docs/{document} has no section {number}")

    def document(self, path):
        text = without_blocks(path.read_text())
        name = path.relative_to(self.root)
        place = lambda match: f"{name}:{text.count(chr(10), 0, match.start()) + 1}"
        for match in LINK.finditer(text):
            target = match[1].split("#")[0]
            self.checked += 1
            if target and "://" not in target and not (path.parent / target).exists():
                self.wrong.append(f"{place(match)}: no file {target}")
        if path.parent.name != "docs":
            return
        taken = []
        for match in LINKED.finditer(text):
            taken.append(match.span())
            self.section(place(match), match[1], match[2])
        for match in IN_TABLE.finditer(text):
            self.section(place(match), match[1], match[2])
        for match in OWN.finditer(text):
            if any(begin <= match.start() < end for begin, end in taken):
                continue
            document = path.name
            if match[2]:
                document = LINK.findall(text[:match.start()])[-1]
            self.section(place(match), document, match[1])

    def comments(self, path):
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            return
        for match in IN_COMMENT.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            self.section(f"{path.relative_to(self.root)}:{line}", match[1], match[2])


def main(root):
    links = Links(root)
    for path in [root / "README.md", *sorted(root.glob("docs/*.md"))]:
        links.document(path)
    for top in ("lib", "tools", "tests"):
        for path in sorted(Path(root, top).rglob("*")):
            if path.suffix in SOURCES and path.is_file() and path.name != Path(__file__).name:
                links.comments(path)
    print("\n".join(links.wrong) or f"{links.checked} links and references")
    return 1 if links.wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
