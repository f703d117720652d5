"""What the command line promises: commands, options with what they take, and the words that it knows."""

import json
import re
import subprocess

OPTION = re.compile(r"^  (-[\w-]+(?:, -[\w-]+)*)(?: (\S+))?(?:  .*)?$")
CHOICES = re.compile(r"[a-z0-9]+(?:\|[a-z0-9]+)+")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def options(command, text):
    """`takes` is what a script has to know; how the help calls a value may change."""
    for line in text.splitlines():
        if match := OPTION.match(line):
            names, value = match[1].split(", "), match[2]
            takes = "no value" if value is None else "a value if there is one" if value.startswith("[") and value.endswith("]") else "a value"
            for name in names:
                yield f"option {command} {name} takes {takes}"
                if value and CHOICES.fullmatch(value.strip("[]")):
                    for choice in value.strip("[]").split("|"):
                        yield f"choice {command} {name} {choice}"


def promises(tool):
    text = output(tool, "--help")
    yield from options("btftool", text)
    for command in re.findall(r"^  ([a-z]+) ", text.split("\nSubcommands:\n")[1], re.M):
        yield f"command {command}"
        yield from options(command, output(tool, command, "--help-all"))
    types = json.loads(output(tool, "types", "--json"))
    for kind in ("dtypes", "layouts"):
        for row in types[kind]:
            for name in (row["name"], *row["aliases"]):
                yield f"{kind[:-1]} {name} is code {row['code']}"
    for word in json.loads(output(tool, "explain", "--json"))["words"]:
        yield f"{word['kind']} {word['word']}"
