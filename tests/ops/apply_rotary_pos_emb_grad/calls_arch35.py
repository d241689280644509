"""Calls of the operator that reach every template, and runs of its kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from helpers.runs_arch35 import Tensors, launch

from ascend_sim.host.registry import operator_named
from ascend_sim.host.tiling import Tiling
from ascend_sim.program import Program

OP = operator_named("apply_rotary_pos_emb_grad")

# layout, leading dims of query, key heads, leading dims of cos
Layout = tuple[int, tuple[int, ...], int, tuple[int, ...]]
LAYOUTS: Mapping[str, Layout] = {
    "BAB-BSND": (1, (2, 5, 3), 2, (1, 5, 1)),
    "BAB-TND": (4, (7, 3), 4, (7, 1)),
    "AB-BSND": (1, (2, 5, 2), 5, (2, 5, 1)),
    "AB-SBND": (2, (5, 2, 4), 1, (5, 2, 1)),
    "AB-S11D": (2, (5, 3, 3), 2, (5, 1, 1)),
    "AB-heads": (2, (1, 3, 5), 2, (1, 1, 1)),
    "A-BSND": (1, (3, 5, 1), 1, (3, 5, 1)),
    "A-SBND": (2, (5, 3, 3), 3, (5, 3, 3)),
}
LENGTHS = (2, 70, 128, 190)  # halves of less than a register, of one, of more; rows that fill blocks and others


def inputs_of(call: Layout, dtype: Any, length: int, forward: bool = True, seed: int = 0) -> Tensors:
    """`forward`: with query and key, so that grad_cos and grad_sin are wanted."""
    _, query, k_heads, cos = call
    q_shape, k_shape = (*query, length), (*query[:-1], k_heads, length)
    shapes = {"grad_query_embed": q_shape, "grad_key_embed": k_shape, "cos": (*cos, length), "sin": (*cos, length)}
    if forward:
        shapes |= {"query": q_shape, "key": k_shape}
    rng = np.random.default_rng(seed)
    return {name: rng.standard_normal(shape).astype(dtype) for name, shape in shapes.items()}


def attrs_of(call: Layout) -> dict[str, Any]:
    return OP.bind_attrs({"layout": call[0]})


def golden(call: Layout, inputs: Tensors) -> Tensors:
    return OP.golden("ascend950", inputs, attrs_of(call))


def run(call: Layout, inputs: Tensors, **options: Any) -> tuple[Tiling, Program, Tensors]:
    """Outputs hold NaN before; `options` as for `launch`."""
    shapes = OP.infer_shapes({name: array.shape for name, array in inputs.items()}, attrs_of(call))
    outputs = {
        output.name: np.full(shape, np.nan, inputs["cos"].dtype)
        for output, shape in zip(OP.outputs, shapes, strict=True)
        if output.needs is None or output.needs in inputs
    }
    return *launch(OP, inputs, outputs, attrs_of(call), **options), outputs


def agrees(call: Layout, inputs: Tensors, **options: Any) -> Tiling:
    """Run and compare every bit, and those of the inputs, which stay what they are."""
    before = {name: array.copy() for name, array in inputs.items()}
    expected = golden(call, before)
    tiling, _, outputs = run(call, inputs, **options)
    assert list(outputs) == list(expected)
    for name, wanted in {**before, **expected}.items():
        found = {**inputs, **outputs}[name]
        assert found.tobytes() == wanted.tobytes(), f"{name} of template {tiling.path}"
    return tiling
