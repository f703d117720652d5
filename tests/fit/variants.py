"""Networks with nodes planted into them, by kind."""

import hard
import harmless
from parts import HARD, HARMLESS, planted

__all__ = ["HARD", "HARMLESS", "hard", "harmless", "planted"]
