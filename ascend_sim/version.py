"""The simulator's version, where every room can ask for it."""

from __future__ import annotations

VERSION = "0.1.0"
