#!/usr/bin/env python3
"""Compares what btftool reads in BTF files with what a reader reads that was written from docs/format.md.

    check_files.py BTFTOOL TESTDATA [COUNT [SEED]]

First the files of testdata, then COUNT random ones (default 300) of SEED (default 1): sound, odd and broken, and
damaged ones of testdata. Every tenth is compressed if there is a `zstd` command, and half of these are damaged then. A
file that the two do not agree on is kept in the current directory."""

import json
import math
import os
import random
import sys
import tempfile
from fractions import Fraction
from typing import NamedTuple, Optional

import compressed
import layouts
from btf_reader import Reader, Unusable, validate
from btf_writer import canonical
from elements import decode
from random_files import damaged_file, random_file
from tool import Tool

BATCH = 40
MOST_ELEMENTS = 100000  # of a tensor whose values are compared


class Disagreement(Exception):
    pass


def expect(what, ours, theirs):
    if ours != theirs:
        raise Disagreement(f"{what}: the reader has {ours!r}, btftool {theirs!r}")


def number(value):
    """A JSON number; large integers are strings."""
    return int(value) if isinstance(value, str) else value


def findings_of(entry):
    return sorted((f["severity"], f["code"], -1 if f["tensor"] is None else f["tensor"], number(f["offset"]))
                  for f in entry["findings"])


def sorted_findings(findings):
    return sorted((f.severity, f.code, -1 if f.tensor is None else f.tensor, f.offset) for f in findings)


def flat(values):
    return [v for part in values for v in flat(part)] if isinstance(values, list) else [values]


def same_value(dtype, code, shown):
    """Is a value of inspect's JSON what the bits stand for?"""
    value = decode(dtype, code)
    if value.special == "nan":
        return shown == "nan"
    if value.special == "inf":
        return shown == ("-inf" if value.negative else "inf")
    if dtype.kind == "bool":
        return shown is bool(code)
    if dtype.is_integer:
        large = abs(value.value) > 1 << 53
        return isinstance(shown, str) == large and not isinstance(shown, float) and int(shown) == value.value
    return (isinstance(shown, float) and Fraction(shown) == value.value and
            (math.copysign(1, shown) < 0) == value.negative)


class Answers(NamedTuple):
    """Of btftool, about one file."""
    validated: dict
    finite: dict  # with --nan
    inspected: Optional[dict]


class FileCheck:
    """One file, not compressed."""

    def __init__(self, run, path, data, answers):
        self.tool, self.scratch = run.tool, run.scratch
        self.path = path
        self.validated, self.finite, self.inspected = answers
        self.places = []  # records of which one element is looked at
        try:
            self.reader = Reader(data)
            self.findings = self.reader.validate()
        except Unusable as unusable:
            self.reader = None
            self.findings = [unusable.args[0]]

    def run(self):
        expect("findings", sorted_findings(self.findings), findings_of(self.validated))
        errors = sum(f.severity == "error" for f in self.findings)
        expect("result", "malformed" if errors else "well-formed", self.validated["result"])
        if self.reader is None:
            expect("tensors", [], self.inspected["tensors"] if self.inspected else [])
            return
        listed = [index for index in sorted(self.reader.records) if index not in self.reader.overlapping]
        expect("tensors", listed, [t["index"] for t in self.inspected["tensors"]])
        for tensor in self.inspected["tensors"]:
            self.check_tensor(self.reader.records[tensor["index"]], tensor)
        if self.places:
            self.check_place(random.Random(self.path).choice(self.places))
        self.check_canonical()
        self.reader.check_finite()
        expect("findings with --nan", sorted_findings(self.reader.findings), findings_of(self.finite))

    def check_tensor(self, record, tensor):
        where = f"tensor {record.index}: "
        expect(where + "dtype", record.dtype.name if record.dtype else "unknown", tensor["dtype"])
        expect(where + "layout", layouts.NAMES.get(record.layout, "unknown"), tensor["layout"])
        expect(where + "shape", record.dims, [number(d) for d in tensor["shape"]])
        expect(where + "record_offset", record.offset, tensor["record_offset"])
        expect(where + "data_offset", record.data_offset, tensor["data_offset"])
        expect(where + "data_bytes", record.data_bytes if record.known else None, tensor["data_bytes"])
        expect(where + "nnz", record.nnz, tensor["nnz"])
        if record.known and not record.sparse:
            stored = layouts.stored_shape(record.layout, record.dims, record.dtype)
            expect(where + "storage_shape", stored, [number(d) for d in tensor["storage_shape"]])
            if record.layout != layouts.SHUFFLED:
                expect(where + "strides", layouts.strides(record.layout, record.dims, record.dtype),
                       [number(s) for s in tensor["strides"]])
        elements = layouts.count(record.dims)
        # Without an element no entry is used, and none is looked at.
        readable = self.reader.usable(record) or record.known and elements == 0
        if readable and elements > MOST_ELEMENTS:
            return
        expect(where + "readable", readable, "values" in tensor)
        if readable:
            self.check_values(where, record, flat(tensor["values"]))
            if elements:
                self.places.append(record)

    def check_values(self, where, record, shown):
        codes = self.reader.codes(record)
        expect(where + "elements", len(codes), len(shown))
        for k, (code, value) in enumerate(zip(codes, shown)):
            if not same_value(record.dtype, code, value):
                raise Disagreement(f"{where}element {k}: code {code:#x} of {record.dtype.name} is "
                                   f"{decode(record.dtype, code)}, btftool says {value!r}")

    def check_place(self, record):
        """One element of one tensor."""
        rng = random.Random(self.path)
        index = tuple(rng.randrange(dim) for dim in record.dims)
        text = ",".join(map(str, index))
        done = self.tool.run("inspect", "--json", "--tensor", record.index, "--at", text, self.path)
        at = json.loads(done.stdout)["files"][0]["tensors"][0]["at"]
        offset, nibble = self.reader.place(record, index)
        code = self.reader.codes(record)[layouts.row_major(record.dims, index)]
        where = f"tensor {record.index} at [{text}]: "
        expect(where + "code", f"0x{code:0{record.dtype.bits // 4}x}", at["code"])
        expect(where + "offset", offset, at["offset"])
        expect(where + "nibble", nibble, at.get("nibble"))

    def check_canonical(self):
        """What a conversion without options makes of it, to the byte; of a file with a fault, nothing."""
        out = os.path.join(self.scratch, "canonical.btf")
        sound = all(self.reader.usable(r) for r in self.reader.records.values())
        sound = sound and len(self.reader.records) == self.reader.count
        done = self.tool.run("-q", "convert", "--format", "btf", self.path, out)
        if not sound:
            return expect("exit code of convert", 2, done.returncode)
        if done.returncode != 0:
            raise Disagreement("convert: " + done.stderr.decode())
        with open(out, "rb") as file:
            written = file.read()
        os.unlink(out)
        ours = canonical(self.reader)
        if ours != written:
            at = next((k for k, (a, b) in enumerate(zip(ours, written)) if a != b), min(len(ours), len(written)))
            raise Disagreement(f"canonical form: {len(written)} bytes instead of {len(ours)}, another one at byte {at}")
        return None


class CompressedCheck:
    """A compressed file: whether it is sound, and then what is in it."""

    def __init__(self, run, path, data, answers):
        self.outer, self.path, self.data, self.answers = run, path, data, answers

    def run(self):
        self.check_pipe()
        validated = self.answers.validated
        codes = {f["code"] for f in validated["findings"]}
        try:
            content = compressed.Content(self.data)
        except compressed.Damaged as damaged:
            return expect("findings", {damaged.args[0]}, codes)
        if content.damaged:
            expect("a damaged frame is found", True, "zstd-frame" in codes)
            return self.check_intact(content)
        return FileCheck(self.outer, self.path, content.bytes, self.answers).run()


    def check_pipe(self):
        """The same file from front to back."""
        done = self.outer.tool.run("-q", "validate", "--all", "--json", "-", data=self.data)
        entry = json.loads(done.stdout)["files"][0]
        try:
            content = compressed.Content(self.data, pipe=True).bytes
        except compressed.Damaged as damaged:
            return expect("findings through a pipe", {damaged.args[0]}, {f["code"] for f in entry["findings"]})
        return expect("findings through a pipe", sorted_findings(validate(content)), findings_of(entry))

    def check_intact(self, content):
        """A damaged frame spoils what lies in it and nothing else."""
        holes, data = content.holes()
        check = FileCheck(self.outer, self.path, data, self.answers)
        if check.reader is None or any(begin < check.reader.table_end for begin, _ in holes):
            return
        listed = {tensor["index"]: tensor for tensor in self.answers.inspected["tensors"]}
        spoilt = {f["tensor"] for f in self.answers.validated["findings"] if f["code"] == "zstd-frame"}
        for record in check.reader.records.values():
            def hit(from_byte):
                return any(begin < record.end and from_byte < end for begin, end in holes)
            if record.known and not hit(record.offset):
                expect(f"tensor {record.index} is spoilt", False, record.index in spoilt)
                expect(f"tensor {record.index} is listed", True, record.index in listed)
                check.check_tensor(record, listed[record.index])
            elif record.known and not any(b < record.data_offset and record.offset < e for b, e in holes):
                expect(f"tensor {record.index} is spoilt", True, record.index in spoilt)


class Run:
    def __init__(self, tool, scratch):
        self.tool, self.scratch = tool, scratch
        self.checked = self.tensors = self.findings = 0
        self.failed = []

    def check(self, files):
        """`files`: path and name for people."""
        paths = [path for path, _ in files]
        validated = self.tool.json_of_files("-q", "validate", "--all", "--json", *paths)
        finite = self.tool.json_of_files("-q", "validate", "--all", "--nan", "--json", *paths)
        inspected = self.tool.json_of_files("-q", "inspect", "--json", "--values", MOST_ELEMENTS, *paths)
        for path, name in files:
            with open(path, "rb") as file:
                data = file.read()
            kind = CompressedCheck if compressed.compressed(data) else FileCheck
            try:
                kind(self, path, data, Answers(validated[path], finite[path], inspected.get(path))).run()
            except Disagreement as disagreement:
                self.failed.append(name)
                kept = os.path.basename(path)
                print(f"{name}: {disagreement} (kept as {kept})", flush=True)
                with open(kept, "wb") as file:
                    file.write(data)
            self.checked += 1
            self.findings += len(validated[path]["findings"])
            self.tensors += len(inspected[path]["tensors"]) if path in inspected else 0


def files_of_testdata(testdata):
    for folder in ("good", "odd", "bad", "zstd"):
        for name in sorted(os.listdir(os.path.join(testdata, folder))):
            if not name.endswith(".tsv") and (folder != "zstd" or compressed.available()):
                yield os.path.join(testdata, folder, name), f"{folder}/{name}"


def small_files(testdata):
    """The contents of those of testdata that are worth damaging."""
    paths = [path for path, name in files_of_testdata(testdata) if not name.startswith("zstd")]
    contents = []
    for path in paths:
        if os.path.getsize(path) <= 4096:
            with open(path, "rb") as file:
                contents.append(file.read())
    return contents


def write_random(tool, scratch, small, seed, number):
    """One random file; one of five is a damaged one of testdata, and one of ten is compressed, by btftool if it can
    read it, else or at times by zstd."""
    rng = random.Random(f"{seed}:{number}")
    path = os.path.join(scratch, f"random-{seed}-{number}.btf")
    with open(path, "wb") as file:
        file.write(damaged_file(rng, rng.choice(small)) if number % 5 == 3 else random_file(rng))
    if number % 10 == 0 and compressed.available():
        plain, path = path, path + ".zst"
        if rng.random() < 0.3 or tool.run("-q", "convert", "--duplicates", "last", plain, path).returncode != 0:
            data = compressed.compress(plain, rng)
        else:
            with open(path, "rb") as file:
                data = file.read()
        os.unlink(plain)
        with open(path, "wb") as file:
            file.write(compressed.damage(data, rng) if rng.random() < 0.5 else data)
    return path, f"random file {number} of seed {seed}"


def batches(items):
    batch = []
    for item in items:
        batch.append(item)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def main():
    if len(sys.argv) not in (3, 4, 5):
        sys.exit(__doc__)
    tool = Tool(sys.argv[1])
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 300
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    with tempfile.TemporaryDirectory() as scratch:
        run = Run(tool, scratch)
        for batch in batches(files_of_testdata(sys.argv[2])):
            run.check(batch)
        small = small_files(sys.argv[2])
        for numbers in batches(range(count)):
            files = [write_random(tool, scratch, small, seed, number) for number in numbers]
            run.check(files)
            for path, _ in files:
                os.unlink(path)
    print(f"{run.checked} files ({count} random, seed {seed}), {run.tensors} tensors, {run.findings} findings, "
          f"{len(run.failed)} disagreements")
    sys.exit(1 if run.failed else 0)


if __name__ == "__main__":
    main()
