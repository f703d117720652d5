"""No error of reading becomes a value: what a function that may fail returns is not replaced by a default.

  check_results.py SOURCE_DIR

Collects the functions of lib and tools that return a Result or a Status, and looks for calls of them whose error is dropped:
`f(...).value_or(x)`, `f(...).has_value()`, a call that is cast to void, and a call that is a whole statement. Each of the few that
may is in ALLOWED with its reason.
Also looks for questions about files whose error is an answer: `std::filesystem::exists(path, ec)` says "no" of a disk that
fails. status_of_path(), is_regular_file(), is_directory() and FileState::of() tell these apart; the few other ones are in ASKING.
Exit codes: 0 none, 1 some, named by file and line; also if a row of ALLOWED or ASKING applies no more.
"""

import pathlib
import re
import sys

# File and function: why the error may be dropped there.
ALLOWED = {
    ("lib/diff/sets/set_diff.cc", "name"): "the name of a pair in a report; opening the file again reports the error",
    ("lib/formats/safetensors.cc", "safetensors_data_offset"): "nothing is read: is this the beginning of a header?",
    ("lib/repair/salvage.cc", "most"): "a bound of what is salvaged; what cannot be read is lost, and said",
    ("lib/specs/likely_specs.cc", "parse_dtype"): "nothing is read: is this word a dtype?",
    ("lib/sets/tensor_set.cc", "is_directory"): "what cannot be asked is opened as a file, which reports the error",
}
# The same for functions that only share the name of one that may fail.
ALLOWED |= {
    ("lib/diff/sets/set_diff.cc", "begin"): "of the report, which returns nothing",
    ("lib/diff/sets/set_diff.cc", "take"): "of the report, which returns nothing",
    ("lib/elements/slabs.cc", "pick"): "a kernel",
    ("lib/formats/npy.cc", "take"): "of the parser of the header: whether the character is there",
    ("lib/inspect/validate.cc", "report"): "a sink of findings",
}

# File: how many questions it asks, and why an error may be an answer there.
ASKING = {
    "lib/convert/convert_set.cc": (1, "equivalent() only words what check_apart() refuses"),
    "lib/diff/layers/statistics.cc": (1, "a directory is listed; its error is returned"),
    "lib/formats/io/byte_source.cc": (2, "the functions that tell errors from answers"),
    "lib/formats/io/output.cc": (14, "of outputs: what cannot be looked at cannot be created, which reports it; identities are Results"),
    "lib/formats/onnx_values.cc": (4, "errors of the real path are returned"),
    "lib/sets/directory.cc": (2, "the error is in the listing"),
    "lib/sets/index.cc": (2, "a directory is listed, a file that an index names is looked for: errors are noted"),
    "lib/sets/manifest.cc": (1, "opening the layer list reports the error"),
    "lib/shards/part_lines.cc": (1, "is the part that was locked still there? If not, it is opened again"),
    "tools/btftool/cli/convert.cc": (1, "of the output's directory, which is made next"),
    "tools/btftool/commands/convert.cc": (2, "after FileState::of(); equivalent() of an operand that is opened next"),
    "tools/btftool/commands/diff.cc": (1, "after FileState::of()"),
    "tools/btftool/commands/help.cc": (3, "completion of tensor names, which says nothing where it cannot read"),
    "tools/btftool/commands/validate.cc": (3, "sizes for the display of progress; after FileState::of()"),
}

QUESTION = re.compile(
    r"\b(?:std::filesystem|fs)::(?:exists|is_\w+|file_size|status|symlink_status|last_write_time|equivalent|canonical|"
    r"weakly_canonical|directory_iterator|recursive_directory_iterator|read_symlink)\b|::l?stat\(|::statx\(")
DECLARED = re.compile(r"\b(?:Result<[^;{}=]*?>|Status)\s+(?:\w+::)*(\w+)\(")
OTHERWISE = re.compile(r"\b(?:std::optional<[^;{}=]*?>|bool|auto|std::string|std::uint64_t)&?\s+(?:\w+::)*(\w+)\(")
DROPPED = re.compile(r"\)\s*\.(?:value_or|has_value)\(|\(void\)\s*[\w.>:-]+\(")

# Of a call that is a whole statement, which may also be of a function of the same name that returns nothing, here or in the
# standard library, or of a variable.
NOTHING = re.compile(r"\b(?:void\s+(?:\w+::)*|(?:Sink|Progress)&?\s+|std::function<[^;{}=]*?>&?\s+|auto&?&?\s+)(\w+)(?=\(| = \[|[,)])")
STANDARD = {"begin", "copy", "end", "merge", "parse", "pop", "push", "reserve", "value"}
CLASS = re.compile(r"\b(?:class|struct)\s+(?:BTF_API\s+)?(\w+)[^;{}()]*\{")
MEMBER = re.compile(r"(\w+)(?:\.|->)$")


def closing(text, opening):
    """Where the bracket at `opening` is closed."""
    pairs = {"(": ")", "{": "}"}
    depth = 0
    for at in range(opening, len(text)):
        if text[at] == text[opening]:
            depth += 1
        elif text[at] == pairs[text[opening]]:
            depth -= 1
            if depth == 0:
                return at
    return len(text)


def members(texts):
    """(class, function) of the members that may fail."""
    found = set()
    for text in texts.values():
        for match in CLASS.finditer(text):
            body = text[match.end() - 1:closing(text, match.end() - 1)]
            found |= {(match.group(1), name) for name in DECLARED.findall(body)}
        found |= set(re.findall(r"\b(?:Result<[^;{}=]*?>|Status)\s+(\w+)::(\w+)\(", text))
    return found


def statements(text, names):
    """The calls of functions of these names that are whole statements: where, name, and the object whose member is called."""
    for match in re.finditer(r"\b(\w+)(?:<[\w:, ]*>)?\(", text):
        if match.group(1) not in names or re.search(r"\b(?:std|ranges|hn)::$", text[:match.start()][-12:]):
            continue
        if not re.match(r"\s*;", text[closing(text, match.end() - 1) + 1:][:80]):
            continue
        begin = match.start()
        while begin > 0 and (text[begin - 1].isalnum() or text[begin - 1] in "_.:>*-[]"):
            begin -= 1
        # `(*file)->f()`, and the functions whose result has the member.
        while begin < match.start() and begin > 0 and text[begin - 1] == ")" and text[begin] in ".-":
            depth = 0
            while begin > 0:
                begin -= 1
                depth += {")": 1, "(": -1}.get(text[begin], 0)
                if depth == 0:
                    break
            while begin > 0 and (text[begin - 1].isalnum() or text[begin - 1] in "_.:>*-[]"):
                begin -= 1
        before = text[:begin].rstrip()
        if before.endswith((";", "{", "}", ")", "else")) and not before.endswith("(void)"):
            object_ = MEMBER.search(text[:match.start()])
            yield match.start(), match.group(1), object_.group(1) if object_ else None


def may_fail(path, name, object_, texts, failing_members):
    """Whether this call is of a function that may fail, of several of its name: by the type of the object, or by what the file declares."""
    if object_:
        types = re.findall(rf"\b([A-Z]\w+)[>&*\s]+{object_}\b", texts[path])
        header = texts.get(re.sub(r"\.cc$", ".h", path), "")
        types += re.findall(rf"\b([A-Z]\w+)[>&*\s]+{object_}\b", header)
        return any((type_, name) in failing_members for type_ in types)
    own = texts[path] + texts.get(re.sub(r"\.cc$", ".h", path), "")
    return name in DECLARED.findall(own) and name not in NOTHING.findall(own)


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
    nothing = {name for text in texts.values() for name in NOTHING.findall(text)} | both | STANDARD
    failing_members = members(texts)
    used, wrong = set(), []
    for path, text in texts.items():
        for at, name, object_ in statements(text, failing):
            if name in nothing and not may_fail(path, name, object_, texts, failing_members):
                continue
            if (path, name) in ALLOWED:
                used.add((path, name))
            else:
                wrong.append(f"{path}:{text.count(chr(10), 0, at) + 1}: the error of {name}() is dropped")
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
    for path in sorted(texts.keys() | ASKING.keys()):
        text = texts.get(path, "")
        asked = [match.start() for match in QUESTION.finditer(text)]
        allowed = ASKING.get(path, (0, ""))[0]
        lines = ", ".join(str(text.count(chr(10), 0, at) + 1) for at in asked)
        if len(asked) != allowed:
            wrong.append(f"{path}: {len(asked)} questions about files whose error may be an answer (lines {lines}), {allowed} in ASKING")
    wrong += [f"{path}: ALLOWED has {name}(), whose error is not dropped there" for path, name in ALLOWED.keys() - used]
    print("\n".join(wrong) or f"{len(failing)} functions that may fail; {len(used)} places that may drop an error")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} SOURCE_DIR")
    sys.exit(main(pathlib.Path(sys.argv[1])))
