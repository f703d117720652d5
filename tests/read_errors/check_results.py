"""No error of reading becomes a value: what a function that may fail returns is not replaced by a default.

  check_results.py SOURCE_DIR

Collects the functions of lib and tools that return a Result or a Status, and looks for calls of them whose error is dropped:
`f(...).value_or(x)`, `f(...).has_value()` and a call that is cast to void. Each of the few that may is in ALLOWED with its reason.
Exit codes: 0 none, 1 some, named by file and line; also if a row of ALLOWED applies no more.
"""

import pathlib
import re
import sys

# File and function: why the error may be dropped there.
ALLOWED = {
    ("lib/diff/pairs/tensor_pairs.cc", "name"): "of a plan for shards: the pair itself reports the error",
    ("lib/diff/sets/set_diff.cc", "name"): "the name of a pair in a report; opening the file again reports the error",
    ("lib/formats/safetensors.cc", "safetensors_data_offset"): "nothing is read: is this the beginning of a header?",
    ("lib/repair/salvage.cc", "most"): "a bound of what is salvaged; what cannot be read is lost, and said",
    ("lib/specs/likely_specs.cc", "parse_dtype"): "nothing is read: is this word a dtype?",
    ("lib/sets/tensor_set.cc", "is_directory"): "what cannot be asked is opened as a file, which reports the error",
}

DECLARED = re.compile(r"\b(?:Result<[^;{}=]*?>|Status)\s+(?:\w+::)*(\w+)\(")
OTHERWISE = re.compile(r"\b(?:std::optional<[^;{}=]*?>|bool|auto|std::string|std::uint64_t)&?\s+(?:\w+::)*(\w+)\(")
DROPPED = re.compile(r"\)\s*\.(?:value_or|has_value)\(|\(void\)\s*[\w.>:-]+\(")


def called(text, close):
    """The name of the function whose call ends with the bracket at `close`."""
    depth = 0
    for at in range(close, -1, -1):
        depth += {")": 1, "(": -1}.get(text[at], 0)
        if depth == 0:
            name = re.search(r"(\w+)$", text[:at])
            return name.group(1) if name else None
    return None


def main(source):
    files = sorted(path for room in ("lib", "tools") for path in (source / room).rglob("*") if path.suffix in (".h", ".cc"))
    texts = {str(path.relative_to(source)): re.sub(r"//.*", "", path.read_text()) for path in files}
    failing = {name for text in texts.values() for name in DECLARED.findall(text)}
    if len(failing) < 300:
        print(f"only {len(failing)} functions that may fail were found: the pattern does not fit the code any more")
        return 1
    # A name that a function that cannot fail has too says nothing, unless the error of a file is meant.
    both = {name for text in texts.values() for name in OTHERWISE.findall(text)} & failing
    used, wrong = set(), []
    for path, text in texts.items():
        for match in DROPPED.finditer(text):
            if match.group().startswith("(void)"):
                name = re.search(r"(\w+)\($", match.group()).group(1)
            else:
                name = called(text, match.start())
            if name not in failing or (name in both and (path, name) not in ALLOWED):
                continue
            if (path, name) in ALLOWED:
                used.add((path, name))
            else:
                wrong.append(f"{path}:{text.count(chr(10), 0, match.start()) + 1}: the error of {name}() is dropped")
    wrong += [f"{path}: ALLOWED has {name}(), whose error is not dropped there" for path, name in ALLOWED.keys() - used]
    print("\n".join(wrong) or f"{len(failing)} functions that may fail; {len(used)} places that may drop an error")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} SOURCE_DIR")
    sys.exit(main(pathlib.Path(sys.argv[1])))
