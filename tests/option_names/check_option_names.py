"""check_option_names.py ROOT BTFTOOL: the library names members of its options, the tool its own options.

No string literal of lib/ has an option of btftool, but where a command to type is written; a member in
backticks there has a row in the tool's table (tools/btftool/cli/support.cc); what the table makes of
it is an option that the help lists; and no expectation of tests/cli has a member in backticks that the tool should have turned into an option.
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
ROW = re.compile(r'^\s*\{"([^"]+)", "([^"]+)"(?:, "(\w+)")?\},$', re.M)


def literals(text):
    """Pairs of a line and a literal; what stands side by side is one, as the compiler takes it."""
    found = []
    end = 0
    for match in TOKEN.finditer(text):
        literal = match[1] if match[1] is not None else match[2]
        if literal is None:
            continue
        if found and not text[end:match.start()].strip():
            found[-1][1] += literal
        else:
            found.append([text.count("\n", 0, match.start()) + 1, literal])
        end = match.end()
    return found


def main(root, tool):
    wrong = []
    rows = ROW.findall(Path(root, "tools/btftool/cli/support.cc").read_text())
    members = {member for member, _, _ in rows}
    named = set()
    for source in sorted(path for path in Path(root, "lib").rglob("*") if path.suffix in (".h", ".cc")):
        for line, literal in literals(source.read_text()):
            place = f"{source.relative_to(root)}:{line}"
            named |= set(MEMBER.findall(literal))
            wrong += [f"{place}: `{member}` is no row of the table" for member in MEMBER.findall(literal) if member not in members]
            for other in OTHERS:
                literal = literal.replace(other, "")
            if not place.startswith(COMMANDS_OF):
                wrong += [f"{place}: {option} in a literal" for option in OPTION.findall(STYLE.sub("", literal))]
    wrong += [f"the table: nothing names `{member}`" for member in sorted(members - named)]
    helps = {command: subprocess.run([tool, command, "--help-all"], capture_output=True, text=True, check=True).stdout
             for command in COMMANDS}
    for _, text, command in rows:
        listed = helps[command] if command else "\n".join(helps.values())
        wrong += [f"the table: {option} is no option of {command or 'any command'}" for option in OPTION.findall(text)
                  if not re.search(rf"(?<![\w-]){option}(?![\w-])", listed)]
    for expected in sorted(Path(root, "tests/cli/cases").glob("*.std*")):
        for member in members.intersection(MEMBER.findall(expected.read_text(errors="replace"))):
            wrong.append(f"{expected.relative_to(root)}: `{member}` is no word of the command line")
    print("\n".join(wrong) or f"{len(rows)} rows")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
