"""`ascend-sim`, the command line. Nothing heavy is imported before a command needs it."""

from __future__ import annotations

from ascend_sim.cli.guard import main

__all__ = ["main"]
