"""Limits of the instructions and flags that kernels use, as their fields have them."""

from __future__ import annotations

MOST_BUFFERS = 8
"""Of all queues between one pair of pipes: so many flags a core has for it."""
MOST_REPEATS = 255
MOST_COPIED_BLOCKS = 4095
"""Of one DataCopy or DataCopyPad."""
MOST_STRIDE = 0xFFFF
"""Between two blocks of a DataCopy, in UB blocks."""
MOST_GAP_BYTES = 0xFFFF_FFFF
"""Between two blocks of a DataCopyPad in GM."""
