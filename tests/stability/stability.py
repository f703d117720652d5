"""stability.py [--update] BTFTOOL ROOT: what is promised is so (docs/stability.md).

promise.txt is what the last release had: a line for each thing that a user may rely on. More may be there now; a line that is
no longer true breaks somebody's script, program or file. --update writes the list anew, which is part of making a release.
"""

import hashlib
import subprocess
import sys
from pathlib import Path

import c_interface
import command_line
import json_members

LIST = Path(__file__).with_name("promise.txt")
FIRST = "# What {} promises (docs/stability.md). tests/stability/stability.py --update writes this, when a release is made.\n"
# A thing, and the words of a line that name it; the rest says how it is.
NAMED = {"symbol": 2, "function": 0, "constant": 2, "member": 2, "json": 2, "always": 2, "word": 3, "command": 2, "option": 3, "choice": 4,
         "dtype": 2, "layout": 2, "finding": 2, "cause": 2, "verdict": 2, "file": 2}


def files(root):
    """Files that were written once: they stay as they are, and well-formed."""
    for folder in ("good", "names"):
        for path in sorted(Path(root, "testdata", folder).glob("*.btf*")):
            if path.name.startswith("bad"):
                continue
            yield f"file {path.relative_to(root)} {hashlib.sha256(path.read_bytes()).hexdigest()[:16]}"


def promises(tool, root):
    return {*c_interface.promises(root), *command_line.promises(tool), *json_members.promises(root), *files(root)}


def name_of(line):
    kind, *rest = line.split(" ")
    if kind == "function":
        return line.split("(")[0].rsplit(" ", 1)[-1]
    return " ".join(rest[:NAMED.get(kind, 2) - 1])  # others: new since, and not promised yet


def broken(promised, now):
    """A sentence for each line that is no longer true."""
    by_name = {}
    for line in now:
        by_name.setdefault((line.split(" ")[0], name_of(line)), []).append(line)
    for line in sorted(promised - now):
        kind = line.split(" ")[0]
        others = [other for other in by_name.get((kind, name_of(line)), ()) if other not in promised]
        is_now = f"; it is now: {', '.join(sorted(others))}" if others else "; it is gone"
        yield f"promised and no longer so: {line}{is_now}"


def unreadable(tool, root, promised):
    paths = [Path(root, name_of(line)) for line in sorted(promised) if line.startswith("file ")]
    ended = subprocess.run([tool, "validate", *(path for path in paths if path.exists())], capture_output=True, text=True)
    if ended.returncode != 0:
        yield from (f"promised to be well-formed: {line}" for line in ended.stdout.splitlines() if not line.endswith(": well-formed"))


def misses(promised):
    """The check itself: of each kind one line that is not there now has to be found."""
    kinds = {line.split(" ")[0]: line for line in promised}
    for kind in NAMED:
        if kind not in kinds:
            yield f"the list has no {kind}"
        elif not list(broken(promised, promised - {kinds[kind]})):
            yield f"a {kind} that goes is not seen: {kinds[kind]}"


def main(arguments):
    update = arguments[:1] == ["--update"]
    tool, root = arguments[update:]
    now = promises(tool, root)
    if update:
        LIST.write_text(FIRST.format(command_line.output(tool, "--version").strip()) + "".join(f"{line}\n" for line in sorted(now)))
        print(f"{len(now)} lines")
        return 0
    promised = set(LIST.read_text().splitlines()[1:])
    wrong = [*misses(promised), *broken(promised, now), *unreadable(tool, root, promised)]
    if wrong:
        print("\n".join(wrong))
        print("docs/stability.md says what may change and when; what is new may be added at any time.")
        return 1
    print(f"{len(promised)} promises hold, {len(now) - len(promised)} more things are there")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
