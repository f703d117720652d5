"""What a conversion may lose at most (docs/convert.md, section 5): --max-zero, --max-overflow, --min-snr."""

from typing import NamedTuple, Optional

from harness import Refused


class Limit(NamedTuple):
    most: float
    percent: bool

    def text(self):
        return f"{self.most:g}" + ("%" if self.percent else "")

    def check(self, count, elements):
        if count and (100.0 * count / elements if self.percent else count) > float(self.text().rstrip("%")):
            raise Refused


class Gates(NamedTuple):
    zero: Optional[Limit] = None
    overflow: Optional[Limit] = None
    snr: Optional[float] = None

    def arguments(self):
        words = []
        if self.zero is not None:
            words.append("--max-zero=" + self.zero.text())
        if self.overflow is not None:
            words.append("--max-overflow=" + self.overflow.text())
        if self.snr is not None:
            words.append(f"--min-snr={self.snr!r}dB")
        return words

    def check(self, account):
        if self.zero is not None:
            self.zero.check(account.counts["to_zero"], account.elements)
        if self.overflow is not None:
            self.overflow.check(account.counts["overflowed"], account.elements)
        if self.snr is not None and account.decibels() < self.snr:
            raise Refused


def random_limit(rng):
    if rng.random() < 0.5:
        return Limit(rng.choice([0, 1, 3, 10, 50]), False)
    return Limit(rng.choice([0, 0.5, 1, 10, 12.5, 50, 100]), True)


def random_gates(rng):
    """Mostly none. No ratio of decibels is one by accident, so rounding decides nothing."""
    if rng.random() < 0.6:
        return Gates()
    return Gates(random_limit(rng) if rng.random() < 0.4 else None,
                 random_limit(rng) if rng.random() < 0.4 else None,
                 round(rng.uniform(-10, 70), 6) + 1e-7 if rng.random() < 0.6 else None)

