"""ascend-sim: a cycle-level simulator of Ascend AI Cores."""

__version__ = "0.1.0"
