"""Places in C++ code where one small change makes another program."""

import random
import re
from pathlib import Path
from typing import NamedTuple


class Mutant(NamedTuple):
    file: str  # from the root of the tree
    line: int  # from 1
    old: str  # the whole line
    new: str

    def text(self):
        return f"{self.file}:{self.line}: {self.old.strip()}  ->  {self.new.strip() or '(nothing)'}"


# Operators stand between blanks, unlike the brackets of templates, references and pointers.
OPERATORS = {
    " < ": [" <= ", " >= "],
    " <= ": [" < "],
    " > ": [" >= ", " <= "],
    " >= ": [" > "],
    " == ": [" != "],
    " != ": [" == "],
    " && ": [" || "],
    " || ": [" && "],
    " + ": [" - "],
    " - ": [" + "],
    " * ": [" + "],
    " / ": [" * "],
    " % ": [" / "],
    " += ": [" -= "],
    " -= ": [" += "],
    " << ": [" >> "],
    " >> ": [" << "],
    "++": ["--"],
    "std::min(": ["std::max("],
    "std::max(": ["std::min("],
    "true": ["false"],
    "false": ["true"],
}
NUMBER = re.compile(r"(?<![\w.\"'])(\d+)(?=U?\b)(?![.'\w]*\.)")
CONDITION = re.compile(r"^(\s*(?:\} else )?if )\((.+)\)( \{| return .*;| continue;|)$")
# A statement on a line of its own that is no declaration and hands nothing back.
STATEMENT = re.compile(r"^\s+(?!return|using|case|break|const |auto |static|constexpr|BTF_ASSIGN|std::\w+(?:<.*>)? \w+|"
                       r"[A-Z]\w+(?:<.*>)? \w+[;({ ])[\w:*.\[\]>()-]+(?:\(.*\)| [-+*|&^]?= .*);$")
# Preprocessor, declarations, and tables of names.
NOT_CODE = re.compile(r"^\s*(//|#|\*|/\*|template|using|static_assert|namespace|friend|class |struct |extern)|^\s*\{\"|"
                      r"^\s*\".*\"[;,)]*$|^constexpr .*Rows|static_assert")


def outside_strings(line):
    """The line with everything in quotes, and a comment at its end, replaced by blanks of the same length."""
    line = re.sub(r'"(?:[^"\\]|\\.)*"', lambda m: "\x01" * len(m.group()), line)
    line = re.sub(r"'(?:[^'\\]|\\.)'", lambda m: "\x01" * len(m.group()), line)
    return re.sub(r"//.*$", lambda m: "\x01" * len(m.group()), line)


def beside_text(seen, at, operator):
    return "\x01" in (seen[at - 1], seen[at + len(operator):at + len(operator) + 1]) or "std::to_string" in seen


def of_line(line):
    if not line.strip() or NOT_CODE.search(line):
        return
    seen = outside_strings(line)
    for operator, others in OPERATORS.items():
        at = seen.find(operator)
        while at >= 0:
            whole = not operator[0].isalpha() or operator[0] == "s" or re.search(
                rf"\b{operator}\b", seen[max(0, at - 1):at + len(operator) + 1])
            if whole:
                for other in others:
                    # Texts are joined by + and by nothing else.
                    if other != " - " or not beside_text(seen, at, operator):
                        yield line[:at] + other + line[at + len(operator):]
            at = seen.find(operator, at + len(operator))
    for match in NUMBER.finditer(seen):
        number = int(match.group(1))
        yield line[:match.start()] + str(number + 1) + line[match.end():]
        if number > 0:
            yield line[:match.start()] + str(number - 1) + line[match.end():]
    if (match := CONDITION.match(seen)) and ";" not in match.group(2):
        head, tail = line[:match.start(2) - 1], line[match.end(2) + 1:]
        yield f"{head}(!({line[match.start(2):match.end(2)]})){tail}"
        yield f"{head}(false){tail}"
        yield f"{head}(true){tail}"
    if STATEMENT.match(seen):
        yield ";"


def all_mutants(tree):
    files = [path for pattern in ("*.cc", "*-inl.h") for path in Path(tree, "lib").rglob(pattern)]
    for path in sorted(files):
        name = path.relative_to(tree).as_posix()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for new in dict.fromkeys(of_line(line)):
                if new != line:
                    yield Mutant(name, number, line, new)


def sample(tree, seed):
    """All of them in an order that the seed decides, one a line first."""
    mutants = list(all_mutants(tree))
    random.Random(seed).shuffle(mutants)
    first, rest, lines = [], [], set()
    for mutant in mutants:
        place = (mutant.file, mutant.line)
        (rest if place in lines else first).append(mutant)
        lines.add(place)
    return first + rest


def moved(mutant, tree):
    """The same change where its line is now, or nothing."""
    path = Path(tree, mutant.file)
    lines = path.read_text().splitlines() if path.exists() else []
    places = [number for number, line in enumerate(lines, 1) if line == mutant.old]
    if not places:
        return None
    return mutant._replace(line=min(places, key=lambda number: abs(number - mutant.line)))
