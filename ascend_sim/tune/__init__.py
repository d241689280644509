"""Choosing a tiling before the board does: all legal tilings timed, one tiling checked, shapes and chips swept."""
