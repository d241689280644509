"""The measured kernels, written in asc: one module per family, `build(row)` from a row's parameters to a launch."""

from __future__ import annotations

import importlib

from ascend_sim.accuracy.kernels.case import Case
from ascend_sim.accuracy.rows import Row
from ascend_sim.errors import InputError

# family: module in this package, and the function that builds its cases
FAMILIES = {
    "queued_elementwise": ("queued_elementwise", "build"),
    "add_steps": ("add_steps", "build"),
    "read_only_copies": ("read_only_copies", "build"),
    "nd_to_nz": ("nd_to_nz", "build"),
    "reduce_256": ("reduce_256", "build"),
    "bias_add": ("bias_add", "build"),
    "v41_rope": ("v41_rope", "build"),
    "v41_cache_store": ("v41_cache_store", "build"),
    "v41_index_store": ("v41_index_store", "build"),
    "tile_probe": ("tile_probe", "build"),
    "vector_loop": ("loops", "build_vector"),
    "copy_loop": ("loops", "build_copy"),
    "scalar_loop": ("loops", "build_scalar"),
    "vector_conflicts": ("loops", "build_conflicts"),
    "operator": ("operator", "build"),
    "empty_launch": ("empty_launch", "build"),
    "tiled_add": ("tiled_add", "build"),
    "nd_to_nz_reg": ("nd_to_nz_reg", "build"),
    "softmax_reg": ("softmax_reg", "build"),
    "bank_conflicts_reg": ("bank_conflicts_reg", "build"),
}


def build(row: Row) -> Case:
    """The launch that `row` measured. Raises `InputError` for a family that nobody has written."""
    try:
        module, function = FAMILIES[row.family or ""]
    except KeyError:
        raise InputError(f"row {row.id!r}: family {row.family!r} is unknown; there are {', '.join(FAMILIES)}") from None
    case: Case = getattr(importlib.import_module(f"{__name__}.{module}"), function)(row)
    return case
