"""What rope computes, from its formula alone: numpy, no look at tilings or kernels.

A head of `head_dim` elements falls into groups of two times `stride = head_dim / rotaryCoeff` elements, in which the
first `stride` are rotated with the others:

    out[j]          = x[j]          * cos[j]          - x[j + stride] * sin[j]
    out[j + stride] = x[j + stride] * cos[j + stride] + x[j]          * sin[j + stride]

rotaryCoeff 2 is the half rotation of LLaMA, 4 rotates both halves of a head on their own, head_dim rotates neighbours.
With cosFormat 0 a token's row of the tables is its number, with 1 its position in its sample. fp16 with fp16 tables
rounds after every operation; all else computes in fp32 and rounds once at the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

PAIRS = (("q_embedded", "q"), ("k_embedded", "k"))


def golden(inputs: Mapping[str, Array], attrs: Mapping[str, Any]) -> dict[str, Array]:
    """q_embedded and k_embedded, in the shapes and the dtype of q and k."""
    work = np.float16 if inputs["cos"].dtype == inputs["q"].dtype == np.float16 else np.float32
    return {out: _rotated(inputs[name], inputs, attrs, work).astype(inputs[name].dtype) for out, name in PAIRS}


def exact(inputs: Mapping[str, Array], attrs: Mapping[str, Any]) -> dict[str, Array]:
    """The formula in float64, unrounded."""
    return {out: _rotated(inputs[name], inputs, attrs, np.float64) for out, name in PAIRS}


def table_rows(table: Array, tokens: int, seqlen: Array, cos_format: int) -> Array:
    """The table's row of every token, NaN for tokens that have none."""
    by_token = table if cos_format == 0 else np.concatenate([table[: int(length)] for length in seqlen])
    rows = by_token[:tokens]
    return np.concatenate([rows, np.full((tokens - len(rows), table.shape[1]), np.nan, table.dtype)])


def _rotated(x: Array, inputs: Mapping[str, Array], attrs: Mapping[str, Any], work: Any) -> Array:
    """x rotated, in the arithmetic of `work`."""
    head_dim = inputs["cos"].shape[1]
    stride = head_dim // attrs["rotaryCoeff"]
    tokens = x.shape[0] if x.ndim == 2 else x.shape[0] * x.shape[1]
    heads = x.reshape(tokens, -1, head_dim).astype(work)
    cos, sin = (
        table_rows(inputs[name], tokens, inputs["seqlen"], attrs["cosFormat"]).astype(work)[:, None]
        for name in ("cos", "sin")
    )
    with np.errstate(all="ignore"):  # overflow and NaN are results here, not mistakes
        rotated: Array = _turned(heads, stride) * sin + heads * cos
    return rotated.reshape(x.shape)


def _turned(heads: Array, stride: int) -> Array:
    """[-x2, x1] of every group [x1, x2] of 2 * stride elements; groups may cross heads of odd size."""
    groups = heads.reshape(len(heads), -1, 2, stride)
    return np.stack([-groups[:, :, 1], groups[:, :, 0]], axis=2).reshape(heads.shape)
