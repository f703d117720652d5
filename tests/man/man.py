"""man.py BTFTOOL FOLDER: the man pages against --help.

FOLDER has the pages that are installed, of each command that the help lists and no other. A page has the
options of the help and no others, in its groups, and its examples to the letter, which the tool takes; groff has
nothing to say about it, and mandoc, where it is, only that there is no date.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES", "SEE ALSO"]
NO_DATE = 'WARNING: missing date, using "": TH'


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def options_of_help(text):
    """Groups, each with a line of names for each option."""
    groups = {}
    group = None
    for line in text.splitlines():
        if match := re.fullmatch(r"(\S.*):", line):
            group = match[1]
        elif match := re.match(r"  (-[\w-]+(?:, -[\w-]+)*)", line):
            groups.setdefault(group, []).append(match[1].split(", "))
    return groups


def options_of_page(text):
    groups = {}
    group = None
    for line in text.splitlines():
        plain = re.sub(r"\\f[BIR]", "", line).replace("\\-", "-").replace("\\(aq", "'")
        if line.startswith(".SH "):
            group = "Options" if line == ".SH OPTIONS" else None
        elif line.startswith(".SS "):
            group = plain[4:]
        elif group and plain.startswith("-") and line.startswith("\\fB"):
            names = re.match(r"-[\w-]+(, -[\w-]+)*", plain)[0]
            groups.setdefault(group, []).append(names.split(", "))
    return groups


def examples_of(text):
    found = re.search(r"^Examples?:\n((?:  .*\n)+)", text, re.M)
    return [line[2:] for line in found[1].splitlines()] if found else []


def refused(tool, example):
    """Is it wrong usage? It runs where no file is."""
    if not example.startswith("btftool "):
        return False
    with tempfile.TemporaryDirectory() as scratch:
        words = [tool, *shlex.split(example.partition(" | ")[0])[1:]]
        said = subprocess.run(words, cwd=scratch, capture_output=True, text=True).stderr
    return "Try 'btftool" in said


def complaints(page):
    """What groff and mandoc say."""
    said = []
    if shutil.which("groff"):
        said += subprocess.run(["groff", "-man", "-ww", "-z", page], capture_output=True, text=True).stderr.splitlines()
    if shutil.which("mandoc"):
        linted = subprocess.run(["mandoc", "-T", "lint", "-W", "style", page], capture_output=True, text=True)
        said += [line for line in linted.stdout.splitlines() if not line.endswith(NO_DATE)]
    return said


def check(tool, page, command):
    text = page.read_text(encoding="ascii")
    wrong = []
    if text != run(tool, "help", "--man", *command):
        wrong.append("is not what 'help --man' prints")
    if (sections := re.findall(r"^\.SH (.*)$", text, re.M)) != SECTIONS:
        wrong.append(f"has the sections {sections}")
    help_text = run(tool, *command, "--help-all")
    listed, shown = options_of_help(help_text), options_of_page(text)
    if listed != shown or not listed:
        wrong.append(f"has the options\n{shown}\nand the help\n{listed}")
    wrong += [f"has the example {example}, which is refused" for example in examples_of(help_text) if refused(tool, example)]
    if shutil.which("groff"):
        formatted = run("groff", "-man", "-Tascii", "-P-cbou", "-rLL=200n", page).splitlines()
        wrong += [f"does not show the example {example}" for example in examples_of(help_text)
                  if example not in [line.strip() for line in formatted]]
    return wrong + complaints(page)


def main(tool, folder):
    tool = os.path.realpath(tool)
    if not shutil.which("groff") and not shutil.which("mandoc"):
        print("no groff and no mandoc: only the text is looked at")
    commands = re.findall(r"^  (\w+) ", run(tool, "--help").partition("Subcommands:")[2], re.M)
    pages = {"-".join(["btftool", *command]) + ".1": command for command in [[], *([name] for name in commands)]}
    there = {path.name for path in Path(folder).iterdir()}
    wrong = [f"{name}: is no page of a command" for name in there - pages.keys()]
    for name, command in pages.items():
        if name not in there:
            wrong.append(f"{name}: is not there")
        else:
            wrong += [f"{name}: {complaint}" for complaint in check(tool, Path(folder, name), command)]
    print("\n".join(wrong) or f"{len(pages)} pages")
    return 1 if wrong or not commands else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
