"""What `diff` must find (docs/diff.md, sections 3 and 4), by one loop over exact numbers."""

import math
from fractions import Fraction
from typing import NamedTuple, Optional

from casts import exponent_of, integer_limits, largest
from elements import decode, power_of_two

CLOSE = {"float64": (1e-7, 1e-7), "float32": (1.3e-6, 1e-5), "float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5),
         "float8_e4m3fn": (2.0 ** -4, 2.0 ** -10), "float8_e5m2": (2.0 ** -3, 2.0 ** -17),
         "float8_e8m0fnu": (2.0 ** -1, 2.0 ** -128), "float4_e2m1fn": (2.0 ** -2, 2.0 ** -2),
         "float8_e4m3fnuz": (2.0 ** -4, 2.0 ** -11), "float8_e5m2fnuz": (2.0 ** -3, 2.0 ** -18),
         "float8_e3m4": (2.0 ** -5, 2.0 ** -7), "float8_e4m3": (2.0 ** -4, 2.0 ** -10),
         "float8_e4m3b11fnuz": (2.0 ** -4, 2.0 ** -14)}


class Unclear(Exception):
    """So near a limit that the roundings of a correct program decide."""


class Criteria(NamedTuple):
    rtol: Optional[float] = None
    atol: Optional[float] = None
    ulp: Optional[int] = None
    close: bool = False
    equal_nan: bool = True
    max_mismatch: Optional[int] = None
    gates: tuple = ()      # (name, limit) of cosine, psnr, snr, rmse, mae, bias, max-abs
    quantiles: tuple = ()  # (q, most)
    top_k: Optional[int] = None

    def arguments(self):
        values = [("rtol", self.rtol), ("atol", self.atol), ("ulp", self.ulp), ("max-mismatch", self.max_mismatch),
                  *self.gates, ("top-k", self.top_k)]
        listed = [a for name, value in values if value is not None for a in (f"--{name}", repr(value))]
        for q, most in self.quantiles:
            listed += ["--quantile", f"{q!r}={most!r}"]
        return listed + ["--close"] * self.close + ["--no-equal-nan"] * (not self.equal_nan)

    def for_types(self, *dtypes):
        if not self.close:
            return self
        # An integer is close to nothing but itself.
        rtol, atol = (max(CLOSE[t.name][k] for t in dtypes) if all(t.is_float for t in dtypes) else 0.0 for k in (0, 1))
        return self._replace(rtol=rtol if self.rtol is None else self.rtol, atol=atol if self.atol is None else self.atol)


def significant_bits(dtype):
    return {"signed": dtype.bits - 1, "unsigned": dtype.bits, "bool": 1, "float": dtype.mantissa + 1}[dtype.kind]


def holds(wide, narrow):
    """Every number of `narrow` is one of `wide`."""
    if wide == narrow:
        return True
    if narrow.kind == "bool":
        return not wide.is_scale
    if wide.kind == "bool" or wide.is_scale or (narrow.is_float and not wide.is_float):
        return False
    if not narrow.is_float:
        low, high = integer_limits(narrow)
        if not wide.is_float:
            return integer_limits(wide)[0] <= low and high <= integer_limits(wide)[1]
        return significant_bits(narrow) <= significant_bits(wide) and max(-low, high) <= largest(wide)
    least = -narrow.bias - (0 if narrow.is_scale else narrow.mantissa - 1)
    return (narrow.mantissa <= wide.mantissa and largest(narrow) <= largest(wide) and
            least >= 1 - wide.bias - wide.mantissa)


def position(dtype, value):
    """Where a number stands on the line of the dtype's numbers."""
    if not dtype.is_float:
        return round(value)
    if value == 0:
        return 0
    least = -dtype.bias if dtype.is_scale else 1 - dtype.bias
    exponent = max(exponent_of(abs(value)), least)
    steps = ((exponent - least) << dtype.mantissa) + abs(value) / power_of_two(exponent - dtype.mantissa)
    steps = round(steps)  # of two the even one
    return -steps if value < 0 else steps


def coarser(a, b):
    if holds(b, a):
        return a
    if holds(a, b):
        return b
    if significant_bits(a) != significant_bits(b):
        return min(a, b, key=significant_bits)
    return b if a.is_float and b.is_float and b.bias < a.bias else a


class Pair:
    """Two tensors of the same dims; codes in row-major order."""

    def __init__(self, dims, actual, actual_codes, golden, golden_codes):
        self.dims, self.types = dims, (actual, golden)
        self.numbers = [(decode(actual, a), decode(golden, g)) for a, g in zip(actual_codes, golden_codes)]
        self.finite = [(a.value, g.value) for a, g in self.numbers if a.value is not None and g.value is not None]
        self.errors = [abs(a - g) for a, g in self.finite]

    def accepts(self, criteria, a, g):
        if a.special or g.special:
            both = a.special == g.special and (a.special == "nan" or a.negative == g.negative)
            return both and (a.special != "nan" or criteria.equal_nan)
        if a.value == g.value:
            return True
        if criteria.ulp is not None:
            grid = coarser(*self.types)
            if abs(position(grid, a.value) - position(grid, g.value)) > criteria.ulp:
                return False
            if criteria.rtol is None and criteria.atol is None:
                return True
        error = abs(a.value - g.value)
        allowed = Fraction(criteria.atol or 0) + Fraction(criteria.rtol or 0) * abs(g.value)
        if allowed and abs(error / allowed - 1) < Fraction(1, 1 << 48):
            raise Unclear
        return error <= allowed

    def mismatched(self, criteria):
        return sum(not self.accepts(criteria, a, g) for a, g in self.numbers)

    def max_ulp(self):
        grid = coarser(*self.types)
        return max((abs(position(grid, a) - position(grid, g)) for a, g in self.finite), default=0)

    def max_abs(self):
        return max(self.errors, default=Fraction(0))

    def counts(self):
        """Of NaN and Inf, as the report has them: how many of each kind, and where the first is."""
        nan, inf = ({name: value for kind in kinds for name, value in ((kind, 0), (f"first_{kind}", None))}
                    for kinds in (("both", "actual", "golden"), ("both", "opposite", "actual", "golden")))
        for i, (a, g) in enumerate(self.numbers):
            for which, special in ((nan, "nan"), (inf, "inf")):
                if a.special == g.special == special:
                    kind = "opposite" if special == "inf" and a.negative != g.negative else "both"
                elif special in (a.special, g.special):
                    kind = "actual" if a.special == special else "golden"
                else:
                    continue
                which[kind] += 1
                if which[f"first_{kind}"] is None:
                    which[f"first_{kind}"] = self.index(i)
        return nan, inf

    def index(self, number):
        """Of a row-major number."""
        index = []
        for dim in reversed(self.dims):
            index.insert(0, number % dim)
            number //= dim
        return index

    def figures(self):
        error2 = sum(e * e for e in self.errors)
        if error2 == 0:
            return {"rmse": 0.0, "cosine": 1.0, "psnr": math.inf, "snr": math.inf, "mae": 0.0, "bias": 0.0}
        actual2, golden2 = (sum(pair[k] ** 2 for pair in self.finite) for k in (0, 1))
        mean = error2 / len(self.finite)
        peak = max(abs(g) for _, g in self.finite)
        return {"rmse": root(mean),
                "cosine": 0.0 if 0 in (actual2, golden2) else cosine(sum(a * g for a, g in self.finite), actual2 * golden2),
                "psnr": decibels(peak * peak / mean), "snr": decibels(golden2 / error2),
                "mae": as_double(sum(self.errors) / Fraction(len(self.finite))),
                "bias": as_double(sum(a - g for a, g in self.finite) / Fraction(len(self.finite)))}

    def fit(self):
        """Gain, offset and residual of the line that fits best, in exact arithmetic, and how much spread of golden
        there is for it; None: no line."""
        if not any(self.errors):
            return (1, 0, 0.0, 1.0) if self.finite else None
        n = len(self.finite)
        mean_a, mean_g = (sum(pair[k] for pair in self.finite) / Fraction(n) for k in (0, 1))
        spread = sum((g - mean_g) ** 2 for _, g in self.finite)
        if spread == 0:
            return None
        gain = sum((a - mean_a) * (g - mean_g) for a, g in self.finite) / spread
        offset = mean_a - gain * mean_g
        left = sum((a - gain * g - offset) ** 2 for a, g in self.finite)
        return gain, offset, root(left / n), float(spread / sum(g * g for _, g in self.finite))

    def quantile(self, q):
        """numpy.quantile, method linear; 0 without a finite pair."""
        errors = sorted(self.errors)
        if not errors:
            return 0.0
        at = q * (len(errors) - 1)
        low = errors[math.floor(at)]
        return float(low + (errors[min(math.floor(at) + 1, len(errors) - 1)] - low) * Fraction(at - math.floor(at)))

    def top_k(self, k, criteria):
        """How many rows of the last dim disagree: name elements at one place that are not equal in golden, as far as the
        tolerance tells."""
        row = self.dims[-1] if self.dims else 1

        def top(side, at):
            def rank(i):
                number = self.numbers[at + i][side]
                if number.special == "nan":
                    return 0, 0, i
                if number.special:
                    return (2, 0, i) if not number.negative else (4, 0, i)
                return 3, -number.value, i
            return sorted(range(row), key=rank)[:k]
        def agree(at):
            pairs = [(self.numbers[at + a][1], self.numbers[at + g][1]) for a, g in zip(top(0, at), top(1, at)) if a != g]
            return all(a.special == g.special == "nan" or self.accepts(criteria, a, g) for a, g in pairs)
        return sum(not agree(at) for at in range(0, len(self.numbers), row))

    def same(self, criteria):
        """The verdict."""
        criteria = criteria.for_types(*self.types)
        mismatched = self.mismatched(criteria)
        given = criteria.rtol is not None or criteria.atol is not None or criteria.ulp is not None
        gates = criteria.gates or criteria.quantiles or criteria.top_k is not None
        if criteria.max_mismatch is not None:
            passed = mismatched <= criteria.max_mismatch
        elif given or criteria.close or not gates:
            passed = mismatched == 0
        else:  # NaN and Inf must agree
            passed = all(self.accepts(criteria, a, g) for a, g in self.numbers if a.special or g.special)
        figures = {**self.figures(), "max-abs": float(self.max_abs())}
        nothing = not self.finite and mismatched > 0
        for name, limit in criteria.gates:
            # Errors of both signs cancel, and leave the roundings of larger ones.
            unclear = figures["mae"] if name == "bias" else 0.0
            passed &= not nothing and meets(name, abs(figures[name]) if name == "bias" else figures[name], limit, unclear)
        for q, most in criteria.quantiles:
            passed &= not nothing and meets("quantile", self.quantile(q), most)
        if criteria.top_k is not None:
            passed &= self.top_k(criteria.top_k, criteria) == 0
        return passed


def meets(name, value, limit, scale=0.0):
    if value != limit and abs(value - limit) <= 1e-12 * max(abs(value), abs(limit), scale):
        raise Unclear
    return value >= limit if name in ("cosine", "psnr", "snr") else value <= limit


def as_double(value):
    try:
        return float(value)
    except OverflowError:
        return math.inf


def root(value):
    """Of a fraction of any size, as a float."""
    shift = (value.numerator.bit_length() - value.denominator.bit_length() - 128) // 2
    return math.ldexp(math.isqrt(int(value / power_of_two(2 * shift))), shift) if value else 0.0


def cosine(product, squares):
    return root(product * product / squares) * (-1 if product < 0 else 1)


def decibels(ratio):
    if ratio == 0:
        return -math.inf
    shift = ratio.numerator.bit_length() - ratio.denominator.bit_length()
    return 10 * (math.log10(ratio / power_of_two(shift)) + shift * math.log10(2))

