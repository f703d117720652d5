"""check_option_names.py ROOT BTFTOOL: the library names members of its options, the tool its own options.

No string literal of lib/ has an option of btftool, but where a command to type is written; a member in
backticks there is one that a row of the tool's tables says it sets, in sets("..."), and nothing else is; and
no expectation of tests/cli has a member in backticks that the tool should have turned into an option.

An option's name stands in the row of its table, and at one more place at most: what is known of an option is in
its row. Messages and help may name it in a sentence.
"""

import re
import subprocess
import sys
from pathlib import Path

COMMANDS = ["inspect", "convert", "diff", "validate", "layers", "fit", "merge", "repair"]
# Options of other programs.
OTHERS = ["trtexec --exportOutput", "trtexec --exportProfile", "trtexec --exportTimes",
          "trtexec --exportLayerInfo", "polygraphy run --save-outputs"]
# Commands to type.
COMMANDS_OF = ("lib/report/fit/text.cc", "lib/report/layers/story.cc", "lib/shards/part_lines.cc")
# Comments and literals, so that neither is looked for within the other.
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((.*?)\)"|"((?:[^"\\\n]|\\.)*)"|\'(?:[^\'\\\n]|\\.)+\'', re.S)
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
# Custom properties of CSS: as they are declared, and as they are used.
STYLE = re.compile(r"--[\w-]+: [^;\n]+;|var\(--[\w-]+\)")
MEMBER = re.compile(r"`([A-Za-z_][\w.:]*)`")
SETS = re.compile(r'\bsets\("([^"]+)"\)')
# Names as a row has them, "-f,--force" and "!--no-hints", and as code has them, "--pair={}:{}".
NAMES = re.compile(r"!?(?:-\w,)?--[a-z][\w-]*(?:,!?--[a-z][\w-]*)*")


def literals(text):
    """Lists of a line, a literal, and where it begins and ends; what stands side by side is one, as the compiler takes it."""
    found = []
    end = 0
    for match in TOKEN.finditer(text):
        literal = match[1] if match[1] is not None else match[2]
        if literal is None:
            continue
        if found and not text[end:match.start()].strip():
            found[-1][1] += literal
            found[-1][3] = match.end()
        else:
            found.append([text.count("\n", 0, match.start()) + 1, literal, match.start(), match.end()])
        end = match.end()
    return found


def places_of_names(root):
    """Of each option the places outside of the tables where it is a literal of its own."""
    places = {}
    for source in sorted(path for top in ("tools", "lib") for path in Path(root, top).rglob("*") if path.suffix in (".h", ".cc")):
        text = source.read_text()
        if str(source.relative_to(root)).startswith(COMMANDS_OF):
            continue
        for line, literal, begin, end in literals(text):
            names = literal.split("=")[0]
            if not NAMES.fullmatch(names):
                continue
            before, after = text[:begin].rstrip(), text[end:].lstrip()
            of_row = before.endswith("{") and after.startswith(",") or re.search(r"\b(?:excludes|needs)\($", before)
            if source.parent.name == "cli" and of_row:
                continue
            for name in re.findall(r"--[\w-]+", names):
                places.setdefault(name, []).append(f"{source.relative_to(root)}:{line}")
    return places


def main(root, tool):
    wrong = []
    words = [word for source in sorted(Path(root, "tools/btftool/cli").glob("*.cc")) for text in SETS.findall(source.read_text())
             for word in text.split()]
    members = {word.split("=")[0].removeprefix("convert:") for word in words}
    named = set()
    for source in sorted(path for path in Path(root, "lib").rglob("*") if path.suffix in (".h", ".cc")):
        for line, literal, _, _ in literals(source.read_text()):
            place = f"{source.relative_to(root)}:{line}"
            named |= set(MEMBER.findall(literal))
            wrong += [f"{place}: `{member}` is set by no row" for member in MEMBER.findall(literal) if member not in members]
            for other in OTHERS:
                literal = literal.replace(other, "")
            if not place.startswith(COMMANDS_OF):
                wrong += [f"{place}: {option} in a literal" for option in OPTION.findall(STYLE.sub("", literal))]
    wrong += [f"the tables: nothing names `{member}`" for member in sorted(members - named)]
    known = set()
    for command in COMMANDS:
        text = subprocess.run([tool, command, "--help-all"], capture_output=True, text=True, check=True).stdout
        known |= set(OPTION.findall(text))
    for name, places in places_of_names(root).items():
        if name in known and len(places) > 1:
            wrong.append(f"{name} stands in {len(places)} places outside of its row: {', '.join(places)}")
    for expected in sorted(Path(root, "tests/cli/cases").glob("*.std*")):
        for member in members.intersection(MEMBER.findall(expected.read_text(errors="replace"))):
            wrong.append(f"{expected.relative_to(root)}: `{member}` is no word of the command line")
    print("\n".join(wrong) or f"{len(words)} members, {len(known)} options")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
