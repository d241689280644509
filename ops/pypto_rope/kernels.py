"""Which PyPTO kernel a call runs, and with which arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ascend_sim.asc.memory import DeviceArray
from ascend_sim.frontends.pypto.dtypes import dtype_named
from ascend_sim.frontends.pypto.jit import JitKernel
from ascend_sim.host.tensors import Shape, shape_text

from .interleave import interleave_rope_kernel, tile_of
from .mrope import TILE, kernel_with, merged
from .rms_norm_rope import BS_TILE, qk_rope_kernel
from .rms_norm_rope import D as NORM_DIM
from .skeleton import rope_kernel
from .vision import vision_kernel

SKELETON, VISION, MROPE, RMS_NORM, INTERLEAVE = range(5)
NAMES = {"skeleton": SKELETON, "vision": VISION, "mrope": MROPE, "rms_norm": RMS_NORM, "interleave": INTERLEAVE}
Refuse = Callable[[str], Any]  # raises with the given text
Tile = tuple[int, ...]
Tensors = Mapping[str, Any]  # arrays, or DeviceArrays where only shapes and types are known


@dataclass(frozen=True, slots=True)
class Planned:
    """A kernel and the arguments of its one launch, the tile that it was made with, and the unroll factors of its loop
    (none where it has no loop).
    """

    kernel: JitKernel
    arguments: tuple[Any, ...]
    tile: Tile
    unroll: Tile = ()


def planned(tensors: Tensors, attrs: Mapping[str, Any], refuse: Refuse) -> Planned:
    """The kernel for a call; `tensors` holds its inputs and outputs. Shapes that do not fit are refused."""
    which = attrs["kernel"]
    if which not in NAMES.values():
        refuse(f"kernel is {which}; allowed are {', '.join(f'{number} ({name})' for name, number in NAMES.items())}")
    _check_extra(tensors, which, refuse)
    return _PLANS[which](tensors, attrs, refuse)


def _check_extra(tensors: Tensors, which: int, refuse: Refuse) -> None:
    """k belongs to the vision kernel, weight to the normalizing one."""
    for name, of in (("k", VISION), ("weight", RMS_NORM)):
        if (name in tensors) != (which == of):
            kernel = next(text for text, number in NAMES.items() if number == which)
            refuse(f"kernel {kernel} {'needs' if which == of else 'takes no'} input {name}")


def _require(refuse: Refuse, tensors: Tensors, name: str, wanted: Shape, why: str) -> None:
    given = tuple(tensors[name].shape)
    if given != wanted:
        refuse(f"{name} is {shape_text(given)}, it must be {shape_text(wanted)}: {why}")


def _rank(refuse: Refuse, tensors: Tensors, ranks: tuple[int, ...], text: str) -> Shape:
    """The shape of x, which has one of `ranks`."""
    shape: Shape = tuple(tensors["x"].shape)
    if len(shape) not in ranks:
        refuse(f"x is {shape_text(shape)}, it must be {text}")
    if 0 in shape:
        refuse(f"x is {shape_text(shape)}; every dim must be positive")
    if shape[-1] % 2:
        refuse(f"the last dim of x is {shape[-1]}; it must be even")
    return shape


def _skeleton(tensors: Tensors, attrs: Mapping[str, Any], refuse: Refuse) -> Planned:
    shape = _rank(refuse, tensors, (2, 3, 4), "(rows, ..., D) of 2 to 4 dims")
    for name in ("cos", "sin"):
        _require(refuse, tensors, name, shape, "the shape of x")
    kind = dtype_named(_dtype(tensors["x"]), "x")
    tile, unroll = attrs["tile"] or (1, *shape[1:]), attrs["unroll"]
    kernel = rope_kernel(shape, kind, tile, unroll)
    return Planned(kernel, tuple(tensors[name] for name in ("x", "cos", "sin", "y")), tile, unroll)


def _vision(tensors: Tensors, attrs: Mapping[str, Any], refuse: Refuse) -> Planned:
    shape = _rank(refuse, tensors, (3,), "(S, N, D)")
    rows = (shape[0], shape[2])
    for name in ("cos", "sin"):
        _require(refuse, tensors, name, rows, "(S, D), a row for every position")
    _require(refuse, tensors, "k", (shape[0], tensors["k"].shape[1], shape[2]), "(S, Nk, D), as x but for the heads")
    tile = _tile(attrs, (TILE,) * 3, "vision", "(positions, heads, elements)", refuse)
    names = ("x", "k", "cos", "sin", "y", "k_out")
    return Planned(vision_kernel(tile), tuple(tensors[name] for name in names), tile)


def _mrope(tensors: Tensors, attrs: Mapping[str, Any], refuse: Refuse) -> Planned:
    shape = _rank(refuse, tensors, (4,), "(B, N, S, D)")
    batch, _, positions, head_dim = shape
    sections = attrs["sections"]
    if not sections or 2 * sum(sections) != head_dim or min(sections) <= 0:
        refuse(f"sections are {list(sections)}; they must be positive and add up to half a head, {head_dim // 2}")
    for name in ("cos", "sin"):
        wanted = (len(sections), batch, positions, head_dim)
        _require(refuse, tensors, name, wanted, "a table (B, S, D) for each section")
    tables = [_merged(tensors[name], sections) for name in ("cos", "sin")]
    tile = _tile(attrs, (TILE,) * 4, "mrope", "(batches, heads, positions, elements)", refuse)
    return Planned(kernel_with(tile), (tensors["x"], *tables, tensors["y"]), tile)


def _merged(table: Any, sections: tuple[int, ...]) -> Any:
    """The host's part: one table [B, 1, S, D] of the three."""
    if isinstance(table, np.ndarray):
        return merged(table, sections)
    _, batch, positions, head_dim = table.shape
    return DeviceArray((batch, 1, positions, head_dim), table.dtype)


def _rms_norm(tensors: Tensors, attrs: Mapping[str, Any], refuse: Refuse) -> Planned:
    shape = _rank(refuse, tensors, (3,), f"(S, N, {NORM_DIM})")
    _require(refuse, tensors, "x", (*shape[:2], NORM_DIM), f"heads of {NORM_DIM} elements")
    for name in ("cos", "sin"):
        _require(refuse, tensors, name, (shape[0], NORM_DIM), "a row for every position")
    _require(refuse, tensors, "weight", (NORM_DIM,), "a weight for every element of a head")
    if _dtype(tensors["x"]) != "bfloat16":
        refuse(f"x is {_dtype(tensors['x'])}; kernel rms_norm takes bfloat16")
    tile, unroll = _tile(attrs, (BS_TILE,), "rms_norm", "(positions)", refuse), attrs["unroll"]
    kernel = qk_rope_kernel(shape[1], unroll, *tile)
    return Planned(kernel, tuple(tensors[name] for name in ("x", "cos", "sin", "weight", "y")), tile, unroll)


def _interleave(tensors: Tensors, attrs: Mapping[str, Any], refuse: Refuse) -> Planned:
    shape = _rank(refuse, tensors, (4,), "(B, N, S, D)")
    batch, heads, positions, head_dim = shape
    rows = tuple(tensors["cos"].shape)[2:3]
    for name in ("cos", "sin"):
        wanted = (batch, 1, 1 if rows == (1,) else positions, head_dim)
        _require(refuse, tensors, name, wanted, "(B, 1, S, D), or (B, 1, 1, D) for all positions alike")
    kind = dtype_named(_dtype(tensors["x"]), "x")
    tile = attrs["tile"] or tile_of(heads, positions)
    if len(tile) != 2 or min(tile) < 1 or heads % tile[0]:
        refuse(f"tile is {list(tile)}; kernel interleave takes (heads, positions), the heads a divisor of {heads}")
    unroll = attrs["unroll"]
    kernel = interleave_rope_kernel(kind, heads, head_dim, tuple(tile), rows != (1,), unroll)
    return Planned(kernel, tuple(tensors[name] for name in ("x", "cos", "sin", "y")), tuple(tile), unroll)


def _tile(attrs: Mapping[str, Any], own: Tile, kernel: str, text: str, refuse: Refuse) -> Tile:
    """The tile that was asked for, or the kernel's own."""
    tile: Tile = attrs["tile"] or own
    if len(tile) != len(own) or min(tile) < 1:
        refuse(f"tile is {list(tile)}; kernel {kernel} takes {text}, each at least 1")
    return tile


def _dtype(tensor: Any) -> str:
    return str(tensor.dtype.name)


_PLANS = {
    SKELETON: _skeleton,
    VISION: _vision,
    MROPE: _mrope,
    RMS_NORM: _rms_norm,
    INTERLEAVE: _interleave,
}
