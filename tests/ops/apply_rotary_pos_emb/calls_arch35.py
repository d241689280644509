"""Calls of the operator on the 950 that reach every template, and runs of its kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from helpers.runs_arch35 import Array, Tensors, launch

from ascend_sim.host.registry import operator_named
from ascend_sim.host.tiling import Tiling
from ascend_sim.program import Program

OP = operator_named("apply_rotary_pos_emb")
HEADS_AXIS = {1: 2, 2: 2, 3: 1, 4: 1}

# layout, leading dims of query, key heads, leading dims of cos
Layout = tuple[int, tuple[int, ...], int, tuple[int, ...]]
LAYOUTS: Mapping[str, Layout] = {
    "AB-BSND": (1, (2, 5, 3), 2, (2, 5, 1)),
    "AB-SBND": (2, (5, 2, 3), 4, (5, 2, 1)),
    "AB-S11D": (2, (5, 2, 3), 2, (5, 1, 1)),
    "AB-TND": (4, (7, 3), 1, (7, 1)),
    "BAB": (1, (3, 5, 3), 4, (1, 5, 1)),
    "ABA": (3, (3, 4, 5), 2, (3, 1, 5)),
    "BA": (3, (3, 2, 5), 3, (1, 1, 5)),
}
# of what rotates: parts of a full register, of less and of more; tails of one register and of two
LENGTHS = {"half": (2, 36, 128, 140), "interleave": (2, 70, 128, 190), "quarter": (4, 72, 256, 280)}


def inputs_of(call: Layout, dtype: Any, length: int, full: int = 0, seed: int = 0) -> Tensors:
    """The first `length` elements of heads of `full` (without it: of `length`) rotate."""
    layout, query, k_heads, cos = call
    axis, full = HEADS_AXIS[layout], full or length
    key = (*query[:axis], k_heads, *query[axis + 1 :])
    shapes = {"query": (*query, full), "key": (*key, full), "cos": (*cos, length), "sin": (*cos, length)}
    rng = np.random.default_rng(seed)
    return {name: rng.standard_normal(shape).astype(dtype) for name, shape in shapes.items()}


def attrs_of(call: Layout, mode: str) -> dict[str, Any]:
    return OP.bind_attrs({"layout": call[0], "rotary_mode": mode})


def golden(call: Layout, inputs: Tensors, mode: str) -> Tensors:
    copies = {name: array.copy() for name, array in inputs.items()}
    return OP.golden("ascend950", copies, attrs_of(call, mode))


def run(call: Layout, inputs: Mapping[str, Array], mode: str, **options: Any) -> tuple[Tiling, Program]:
    """query and key change in place; `options` as for `launch`."""
    return launch(OP, inputs, {}, attrs_of(call, mode), **options)


def agrees(call: Layout, inputs: Tensors, mode: str, **options: Any) -> Tiling:
    """Run and compare every bit, those that do not rotate and of cos and sin included."""
    before = {name: array.copy() for name, array in inputs.items()}
    expected = before | golden(call, before, mode)
    tiling, _ = run(call, inputs, mode, **options)
    for name, wanted in expected.items():
        assert inputs[name].tobytes() == wanted.tobytes(), f"{name} of template {tiling.path}"
    return tiling
