"""What the C interface promises: functions with their versions and parameters, constants, and where members of structures lie."""

import os
import re
import subprocess
import tempfile
from pathlib import Path

COMMENT = re.compile(r"/\*.*?\*/", re.S)
STRUCT = re.compile(r"typedef struct (\w+) \{(.*?)\} \1;", re.S)
FUNCTION = re.compile(r"BTF_C_API ([^;]*?)\b(btf_\w+)\(([^;]*)\);", re.S)
CONSTANT = re.compile(r"^#define (BTF_[A-Z_]+) \S+", re.M)


def words(text):
    return " ".join(text.split())


def members(body):
    """Names of the members: of `a, b;`, `array[4]` and pointers to functions too."""
    for declaration in body.split(";"):
        if pointer := re.search(r"\(\*(\w+)\)", declaration):
            yield pointer[1]
        elif declaration.strip():
            first, *more = declaration.split(",")
            for name in (first.split()[-1], *more):
                yield re.match(r"[\s*]*(\w+)", name)[1]


def types(parameters):
    """Types without the names of the parameters, which nobody sees."""
    if "(" in parameters:
        return words(parameters)
    return ", ".join(re.sub(r"(?<=[\s*])\w+$", "", words(part)).strip() if " " in words(part) else words(part)
                     for part in parameters.split(","))


def printed(header, folder, text):
    """Constants and structures as a compiler has them."""
    lines = ['#include <stddef.h>', '#include <stdio.h>', f'#include "{header.resolve()}"', "int main(void) {"]
    for name in CONSTANT.findall(text):
        if name not in ("BTF_C_API", "BTF_BTF_H_"):
            lines.append(f'printf("constant %s %llu\\n", "{name}", (unsigned long long){name});')
    for name, body in STRUCT.findall(text):
        for member in members(body):
            lines.append(f'printf("member {name}.{member} at %zu, %zu bytes\\n", offsetof({name}, {member}), '
                         f"sizeof((({name}*)0)->{member}));")
    source = Path(folder, "layout.c")
    source.write_text("\n".join([*lines, "return 0; }"]))
    subprocess.run([os.environ.get("CC", "cc"), source, "-o", Path(folder, "layout")], check=True)
    return subprocess.run([Path(folder, "layout")], check=True, capture_output=True, text=True).stdout.splitlines()


def promises(root):
    header = Path(root, "lib/include/btf/btf.h")
    text = COMMENT.sub("", header.read_text())
    for name in Path(root, "tests/exports/c_symbols.txt").read_text().split():
        yield f"symbol {name}"
    for result, name, parameters in FUNCTION.findall(text):
        yield f"function {words(result)} {name}({types(parameters)})"
    with tempfile.TemporaryDirectory() as folder:
        yield from printed(header, folder, text)
