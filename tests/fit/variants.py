"""Networks with nodes planted into them, by kind."""

import planted_failures
import planted_harmless
from planting import HARD, HARMLESS, planted

__all__ = ["HARD", "HARMLESS", "planted", "planted_failures", "planted_harmless"]
