"""explain.py ROOT BTFTOOL: `btftool explain` knows the words of the library's tables, each once and no others.

The document that it points at has the word, and what it says to type are options of the tool.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

# Where a row has its word, and how many there are at least.
TABLES = {
    "finding": [("lib/core/finding_table.h", r'^ *\{"([\w-]+)", +Severity::', 50)],
    "cause": [("lib/diff/hints/hints.cc", r'\{Cause::\w+, "([\w-]+)"\}', 25)],
    "verdict": [("lib/diff/layers/layers.cc", r'\{VerdictKind::\w+, "([\w-]+)"\}', 5)],
    "figure": [("lib/diff/verdict.cc", r'^    \{"([\w-]+)", "[^"]+", "[^"]+", ', 6)],
    "layer-state": [("lib/diff/layers/layers.cc", r'\{LayerState::\w+, "([\w-]+)"\}', 5)],
    "reason": [("lib/fit/fit.cc", r'\{FitReason::\w+, "([\w-]+)"\}', 8)],
    "state": [("lib/fit/fit.cc", r'\{FitState::\w+, "([\w-]+)"\}', 3),
              ("lib/fit/scaled_tensor.cc", r'\{FitScaling::\w+, "([\w-]+)"\}', 4)],
}
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
# Options of other programs.
OTHERS = {"--exportLayerInfo"}


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def options_of(tool):
    """By command, of which "" has those of all."""
    commands = re.findall(r"^  (\w+) ", run(tool, "--help").partition("Subcommands:")[2], re.M)
    options = {command: set(OPTION.findall(run(tool, command, "--help-all"))) for command in commands}
    return options | {"": set().union(*options.values())}


def check_text(row, options):
    """Options are those of the command that is named in the same quotes, else of any."""
    for quoted in re.findall(r"'([^']*)'", row["remedy"]) or [row["remedy"]]:
        command = re.match(r"btftool (\w+)", quoted)
        of = command[1] if command else ""
        if of not in options:
            yield f"{row['word']}: btftool {of} is no command"
            continue
        for option in OPTION.findall(quoted):
            if option not in options[of] | OTHERS:
                yield f"{row['word']}: {option} is no option of {of or 'any command'}"


def main(root, tool):
    rows = json.loads(run(tool, "explain", "--json"))["words"]
    options = options_of(tool)
    wrong = []
    for kind, tables in TABLES.items():
        table = []
        for path, pattern, least in tables:
            found = re.findall(pattern, Path(root, path).read_text(), re.M)
            if len(found) < least:
                wrong.append(f"{path}: no table of {kind}s")
            table += found
        explained = [row["word"] for row in rows if row["kind"] == kind]
        wrong += [f"{word}: a {kind} that is not explained" for word in table if word not in explained]
        wrong += [f"{word}: no {kind} of the library" for word in explained if word not in table]
    words = [(row["kind"], row["word"]) for row in rows]
    wrong += [f"{word}: a {kind} that is explained twice"
              for kind, word in sorted(set(words)) if words.count((kind, word)) > 1]
    for row in rows:
        documents = "".join(Path(root, name).read_text() for name in row["document"].split(" and "))
        if not re.search(rf"(?<![\w-]){row['word']}(?![\w-])", documents):
            wrong.append(f"{row['word']}: {row['document']} does not have it")
        wrong += [f"{row['word']}: no {member}" for member in ("means", "example", "remedy") if not row[member]]
        wrong += check_text(row, options)
        if f"{row['word']}: a {row['kind']} of " not in run(tool, "explain", row["word"]):
            wrong.append(f"{row['word']}: is not told as a {row['kind']}")
    print("\n".join(wrong) or f"{len(rows)} words")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
