"""check_text.py BTFTOOL [COUNT [SEED]]: btftool reads numbers out of text as NumPy writes and loads them, rounded to the nearest.

Needs NumPy, and ml_dtypes for types that NumPy has not. What a decimal is rounded to is worked out in fractions: the value nearest to it, of two as near the one with
an even code. np.loadtxt says which numbers there are, and np.load what becomes of them in a .npy.
"""

import io
import random
import sys
import tempfile
from fractions import Fraction

from harness import Exchange
from tool import Tool

try:
    import ml_dtypes
    import numpy as np
except ImportError:
    print("skipped: no NumPy or no ml_dtypes")
    sys.exit(0)

FLOATS = {"fp64": np.float64, "fp32": np.float32, "fp16": np.float16, "bf16": ml_dtypes.bfloat16, "fp8": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}
INTEGERS = {"int8": np.int8, "uint8": np.uint8, "int16": np.int16, "int32": np.int32, "uint32": np.uint32, "int64": np.int64, "uint64": np.uint64}
WORDS = {"fp64": "<u8", "fp32": "<u4", "fp16": "<u2", "bf16": "<u2", "fp8": "u1", "e5m2": "u1"}


def nearest(text, form):
    """The code of the finite value that is nearest; codes ascend with magnitudes."""
    kind, words = FLOATS[form], WORDS[form]
    exact = abs(Fraction(text))
    low, high = 0, int(np.array(np.finfo(kind).max if kind in (np.float64, np.float32, np.float16) else ml_dtypes.finfo(kind).max, kind).view(words))

    def value(code):
        return Fraction(float(np.array(code, words).view(kind)))

    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if value(middle) <= exact else (low, middle)
    down, up = exact - value(low), value(high) - exact
    code = low if down < up or (down == up and low % 2 == 0) else high
    return code | (1 << (8 * np.dtype(words).itemsize - 1) if text.startswith("-") else 0)


def random_decimal(rng, form):
    limit = {"fp64": 300, "fp32": 37, "fp16": 4, "bf16": 37, "fp8": 2, "e5m2": 4}[form]
    if rng.random() < 0.4:  # near the midst between two values
        kind, words = FLOATS[form], WORDS[form]
        code = rng.randrange(1, 0x70 if words == "u1" else 0x7000 << (16 if words == "<u4" else 48 if words == "<u8" else 0))
        halves = [Fraction(float(np.array(code + k, words).view(kind))) for k in (0, 1)]
        exact = (halves[0] + halves[1]) / 2 + rng.choice([0, 0, 1, -1]) * Fraction(1, 10 ** rng.randrange(340, 345)) * (rng.random() < 0.5)
        power = exact.denominator.bit_length() + 345
        digits = str(exact.numerator * 10**power // exact.denominator).rjust(power + 1, "0")
        return f"{digits[:-power]}.{digits[-power:]}".rstrip("0") + "0"
    digits = "".join(rng.choice("0123456789") for _ in range(rng.randrange(1, 25)))
    at = rng.randrange(len(digits) + 1)
    text = digits[:at] + "." + digits[at:] if rng.random() < 0.8 else digits
    exponent = rng.randrange(-limit - 8, max(limit - len(digits), -limit - 7))
    word = rng.choice(["", "-"]) + text + rng.choice(["e", "E"]) + rng.choice(["", "+"] if exponent >= 0 else [""]) + str(exponent)
    return word if abs(Fraction(word)) < 10 ** limit else "1"


class Check(Exchange):
    kind = "text"

    def text(self, words, rng):
        separator = rng.choice([" ", ",", ", ", "\t", "\n", "  \r\n", " # said\n"])
        return ("# made\n" if rng.random() < 0.5 else "") + separator.join(words) + rng.choice(["", "\n", " "])

    def converted(self, text, spec):
        source, target = self.path("x.txt"), self.path("x.npy")
        with open(source, "w", newline="") as file:
            file.write(text)
        done = self.tool.run("-q", "convert", "--input-spec", spec, source, target)
        if done.returncode != 0:
            self.wrong("is not read: " + done.stderr.decode(), text.encode())
            return None
        return np.load(target)

    def decimals(self, rng):
        form = rng.choice(list(FLOATS))
        words = [random_decimal(rng, form) for _ in range(rng.randrange(1, 60))]
        found = self.converted(self.text(words, rng), f"text:{form}")
        if found is None:
            return
        for word, code in zip(words, found.view(WORDS[form])):
            if int(code) != nearest(word, form):
                return self.wrong(f"{word} as {form} is {code:#x}, not {nearest(word, form):#x}", word.encode())

    def integers(self, rng):
        form = rng.choice(list(INTEGERS))
        limits = np.iinfo(INTEGERS[form])
        values = [rng.randrange(limits.min, int(limits.max) + 1) for _ in range(rng.randrange(1, 60))]
        words = [f"{value}{rng.choice(['', '', '.', '.000', 'e0'])}" for value in values]
        found = self.converted(self.text(words, rng), f"text:{form}:{len(values)}x1")
        if found is not None and (found.dtype != INTEGERS[form] or found.reshape(-1).tolist() != values):
            self.wrong("integers are read otherwise", " ".join(words).encode())

    def savetxt(self, rng):
        """What np.savetxt writes is what np.loadtxt reads."""
        shape = (rng.randrange(1, 9), rng.randrange(1, 9))
        bits = np.frombuffer(rng.randbytes(8 * shape[0] * shape[1]), "<f8").reshape(shape)
        with np.errstate(all="ignore"):
            held = (bits if rng.random() < 0.3 else np.random.default_rng(rng.randrange(2**32)).normal(size=shape)).astype(np.float64)
        text = io.StringIO()
        np.savetxt(text, held, fmt=rng.choice(["%.18e", "%.6g", "%f", "%+.3e"]), delimiter=rng.choice([" ", ",", ", ", "\t"]), header=rng.choice(["", "a\nb"]))
        expected = np.loadtxt(io.StringIO(text.getvalue().replace(",", " ")), ndmin=2)
        found = self.converted(text.getvalue(), f"text:fp64:{shape[0]}x{shape[1]}")
        if found is not None and not (np.array_equal(found, expected, equal_nan=True) and np.array_equal(np.signbit(found), np.signbit(expected))):
            self.wrong("is read otherwise than np.loadtxt does", text.getvalue().encode())

    def close(self, rng):
        """A tensor is close to what was printed of it, and no longer so where a digit is another."""
        form = rng.choice(["%.5g", "%.6g", "%.3e", "%.4f", "%.3f"])
        values = np.random.default_rng(rng.randrange(2**32)).uniform(100, 1000, rng.randrange(30, 60)).astype(np.float32)
        words = [form % value for value in values]
        at = rng.randrange(len(words))
        # Of six digits and more the tolerance between float32 is as wide as half the last one.
        place = words[at].index("e") - 1 if "e" in words[at] else len(words[at]) - (2 if form == "%.4f" else 1)
        other = words[at][:place] + str((int(words[at][place]) + 5) % 10) + words[at][place + 1 :]
        np.save(self.path("x.npy"), values)
        for changed in (False, True):
            with open(self.path("x.txt"), "w") as file:
                file.write(" ".join(words[:at] + [other if changed else words[at]] + words[at + 1 :]))
            for sides in (("x.txt", "x.npy"), ("x.npy", "x.txt")):
                option = "--actual-spec" if sides[0] == "x.txt" else "--golden-spec"
                done = self.tool.run("-q", "diff", "--close", option, "text:fp32", *map(self.path, sides))
                if done.returncode != changed:
                    self.wrong(f"{form}: exit code {done.returncode} of --close" + (f", {words[at]} is {other}" if changed else ""), b"")


def main():
    if len(sys.argv) not in (2, 3, 4):
        sys.exit(__doc__)
    tool = Tool(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    with tempfile.TemporaryDirectory() as scratch:
        check = Check(tool, scratch)
        for number in range(count):
            rng = random.Random(f"{seed}:{number}")
            check.decimals(rng)
            check.integers(rng)
            check.savetxt(rng)
            check.close(rng)
    print(f"text: {count} rounds (seed {seed}), {check.failed} disagreements")
    sys.exit(1 if check.failed else 0)


if __name__ == "__main__":
    main()
