"""What the programs that compare random cases share."""

import json
import os
import random
import shutil
import sys
import tempfile

import btf_writer
import compressed
from tool import Tool


class Disagreement(Exception):
    pass


class Refused(Exception):
    """Nothing may be written."""


def number(value):
    """Of JSON: what is not finite, and large integers, are strings."""
    return float(value) if isinstance(value, str) else value


def as_float(value):
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def compare_bytes(ours, written):
    if ours == written:
        return
    at = next((k for k, (a, b) in enumerate(zip(ours, written)) if a != b), min(len(ours), len(written)))
    raise Disagreement(f"{len(written)} bytes instead of {len(ours)}; the first other one is byte {at}: "
                       f"{written[at:at + 8].hex()} instead of {ours[at:at + 8].hex()}")


def compare_members(what, ours, theirs):
    for name, value in ours.items():
        if value != theirs[name]:
            raise Disagreement(f"{what}: {name} is {theirs[name]} instead of {value}")


def snr_tolerance(decibels):
    """What a long code stands for, and a sum of duplicates, is rounded to 64 bits, which tells where errors are hardly
    larger."""
    return 1e-9 + 1e-17 * 10 ** (decibels / 20) if decibels < 360 else float("inf")


def compare_loss(tensor, account):
    """The account in the report of `convert --json`."""
    what, loss = f"tensor {tensor['index']}", tensor["loss"]
    compare_members(what, {"elements": account.elements, "changed": account.changed, **account.counts}, loss)
    compare_members(what, {"sign_lost": account.sign_lost}, {"sign_lost": 0, **loss})
    ours, theirs = account.decibels() if account.noise else None, loss["snr"]
    if ours is None or theirs is None:
        compare_members(what, {"snr": ours}, loss)
    elif ours != number(theirs) and not abs(ours - number(theirs)) <= snr_tolerance(min(ours, number(theirs))):
        raise Disagreement(f"{what}: snr is {theirs} instead of {ours}")
    if not account.changed:
        return
    compare_members(what, {"nan": account.nan}, loss)
    # Errors are computed in doubles, from numbers that are rounded to doubles.
    for name, ours, size in (("max_abs_error", account.max_abs, account.largest),
                             ("max_rel_error", account.max_rel, 1)):
        ours, theirs, size = as_float(ours), number(loss[name]), as_float(size)
        if ours != theirs and not abs(ours - theirs) <= 1e-12 * ours + 2.0 ** -50 * size:
            raise Disagreement(f"{what}: {name} is {theirs} instead of {ours}")


class Conversion:
    """A random file, options, and what they must make of it. Subclasses fill in `data`, `arguments`, and say what is
    `expected()`: records of the result and a list of what the report says of each tensor, or Refused."""

    compressed = False

    def __init__(self, seed, number):
        self.rng = random.Random(f"{seed}:{number}")
        self.data = b""
        self.arguments = []

    def run(self, tool, scratch):
        """How many tensors were compared; none where nothing may be written."""
        source = os.path.join(scratch, "in.btf")
        target = os.path.join(scratch, "out.btf.zst" if self.compressed else "out.btf")
        with open(source, "wb") as file:
            file.write(self.data)
        if os.path.exists(target):
            os.unlink(target)
        try:
            records, reports = self.expected()
        except Refused:
            records = None
        done = tool.run("-q", "convert", "--json", *self.arguments, source, target)
        if records is None:
            if done.returncode != 2 or os.path.exists(target):
                raise Disagreement(f"must be refused, but the exit code is {done.returncode}")
            return 0
        if done.returncode != 0:
            raise Disagreement("is refused: " + done.stderr.decode().strip())
        with open(target, "rb") as file:
            written = file.read()
        if self.compressed:
            written = compressed.Content(written).bytes
        compare_bytes(btf_writer.file(records), written)
        tensors = json.loads(done.stdout)["tensors"]
        for (members, account), tensor in zip(reports, tensors):
            compare_members(f"tensor {tensor['index']}", members, tensor)
            compare_loss(tensor, account)
        return len(tensors)


def run_cases(kind, what, usage):
    """The main program: BTFTOOL [COUNT [SEED]]."""
    if len(sys.argv) not in (2, 3, 4):
        sys.exit(usage)
    tool = Tool(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    failed = tensors = refused = 0
    with tempfile.TemporaryDirectory() as scratch:
        for n in range(count):
            case = kind(seed, n)
            try:
                done = case.run(tool, scratch)
                tensors += done
                refused += not done
            except Disagreement as disagreement:
                failed += 1
                kept = f"{what}-{seed}-{n}.btf"
                print(f"{what} {n} of seed {seed}: {disagreement}\n  {' '.join(case.arguments)} (input kept as {kept})",
                      flush=True)
                with open(kept, "wb") as file:
                    file.write(case.data)
    print(f"{count} {what}s (seed {seed}) of {tensors} tensors, {refused} refused as they must be, "
          f"{failed} disagreements")
    sys.exit(1 if failed else 0)


def run_pairs(kind, what, count, usage, summary):
    """The main program: BTFTOOL [COUNT [SEED]], where a case leaves an actual.btf and a golden.btf. `summary`: what is said of
    the count, the seed, and the sum of what the cases return."""
    if len(sys.argv) not in (2, 3, 4):
        sys.exit(usage)
    tool = Tool(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else count
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    failed = told = 0
    with tempfile.TemporaryDirectory() as scratch:
        for n in range(count):
            case = kind(seed, n)
            try:
                told += case.run(tool, scratch)
            except Disagreement as disagreement:
                failed += 1
                print(f"{what} {n} of seed {seed}: {disagreement}\n  {case} (files kept as {what}-{seed}-{n}-*.btf)", flush=True)
                for name in ("actual", "golden"):
                    shutil.copy(os.path.join(scratch, name + ".btf"), f"{what}-{seed}-{n}-{name}.btf")
    print(summary(count, seed, told) + f", {failed} disagreements")
    sys.exit(1 if failed else 0)


class Exchange:
    """Files that btftool and another program read of each other; those of which they say different things are kept."""

    kind = ""  # of format: in the names of files that are kept

    def __init__(self, tool, scratch):
        self.tool, self.scratch, self.failed = tool, scratch, 0

    def path(self, name):
        return os.path.join(self.scratch, name)

    def put(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def get(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def wrong(self, what, data):
        self.failed += 1
        kept = f"{self.kind}-{self.failed}.kept"
        print(f"{what} (kept as {kept})", flush=True)
        with open(kept, "wb") as file:
            file.write(data)
