"""The checks of ATB's RopeOperation at InferShape and Setup, in its order, with the status that each answers.

Nobody checks that cos has a row for every token, nor what seqlen holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ascend_sim.host.atb import Status, refuse
from ascend_sim.host.tensors import Shape, shape_text
from ascend_sim.plurals import counted

OP = "AtbRope"
RANKS = {"q": (2, 4), "k": (2, 4), "cos": (2,), "sin": (2,), "seqlen": (1,)}
MIN_HEAD_DIM, MAX_HEAD_DIM = 16, 4096
ALIGNMENT_ELEMENTS = 16  # the kernel moves whole 32 B blocks of 16-bit elements


@dataclass(frozen=True, slots=True)
class RopeShape:
    """The sizes of a call with q and k as (tokens, hidden)."""

    tokens: int
    hidden_q: int
    hidden_k: int
    head_dim: int
    batch: int


def flattened(shape: Shape) -> Shape:
    """(b, s, n, d) as (b * s, n * d), as the runner's view function has it; 2-D shapes as they are."""
    if len(shape) == 2:
        return shape
    b, s, n, d = shape
    return b * s, n * d


def rope_shape(shapes: Mapping[str, Shape]) -> RopeShape:
    """The sizes as the tiling takes them: from q, but for the columns of k."""
    (tokens, hidden_q), (_, hidden_k) = flattened(shapes["q"]), flattened(shapes["k"])
    return RopeShape(tokens, hidden_q, hidden_k, shapes["cos"][1], shapes["seqlen"][0])


def dim_check(shapes: Mapping[str, Shape]) -> None:
    """Ranks, tokens and heads."""
    for name, ranks in RANKS.items():
        rank = len(shapes[name])
        if rank not in ranks:
            allowed = " or ".join(map(str, ranks))
            _refuse(
                Status.ERROR_INVALID_TENSOR_DIM,
                f"{name} {shape_text(shapes[name])} has {counted(rank, 'dim')}; allowed: {allowed}",
            )
    (tokens, hidden_q), (tokens_k, hidden_k) = flattened(shapes["q"]), flattened(shapes["k"])
    if tokens != tokens_k:
        _refuse(Status.ERROR_INVALID_TENSOR_SIZE, f"q has {tokens} tokens, k {tokens_k}; they must have the same")
    head_dim = shapes["cos"][1]
    if not MIN_HEAD_DIM <= head_dim <= MAX_HEAD_DIM:
        _refuse(
            Status.ERROR_INVALID_TENSOR_DIM,
            f"cos has {head_dim} columns; allowed are {MIN_HEAD_DIM} to {MAX_HEAD_DIM}, the head size",
        )
    if shapes["cos"] != shapes["sin"]:
        _refuse(
            Status.ERROR_INVALID_TENSOR_SIZE,
            f"sin {shape_text(shapes['sin'])} must have the shape of cos, {shape_text(shapes['cos'])}",
        )
    if hidden_k == 0 or hidden_q % hidden_k:
        _refuse(
            Status.ERROR_INVALID_TENSOR_SIZE,
            f"q has {hidden_q} columns, k {hidden_k}; those of q must be a multiple of those of k",
        )
    if hidden_k % head_dim:
        _refuse(
            Status.ERROR_INVALID_TENSOR_DIM,
            f"k has {hidden_k} columns; allowed are multiples of {head_dim}, the columns of cos",
        )


def param_check(rotary_coeff: int, cos_format: int, head_dim: int) -> None:
    """How a head is cut for the rotation, and what a row of cos belongs to."""
    if rotary_coeff not in (2, 4, head_dim):
        _refuse(
            Status.ERROR_INVALID_PARAM,
            f"rotaryCoeff is {rotary_coeff}; allowed are 2, 4 and {head_dim}, the columns of cos (not the size of a "
            "head that is rotated only in part)",
        )
    if head_dim % rotary_coeff:
        _refuse(
            Status.ERROR_INVALID_PARAM, f"rotaryCoeff is {rotary_coeff}; it must divide {head_dim}, the columns of cos"
        )
    if cos_format not in (0, 1):
        _refuse(Status.ERROR_INVALID_PARAM, f"cosFormat is {cos_format}; allowed are 0 and 1")


def mki_infer_shape(shapes: Mapping[str, Shape]) -> None:
    """What the MKI operation asks; of shapes that ATB has passed only the last can fail: rows of whole 32 B blocks."""
    (tokens, hidden_q), (tokens_k, hidden_k) = flattened(shapes["q"]), flattened(shapes["k"])
    if tokens != tokens_k:
        _refuse(Status.ERROR_RT_FAIL, f"q has {tokens} tokens, k {tokens_k}; they must have the same")
    if shapes["cos"] != shapes["sin"]:
        _refuse(Status.ERROR_RT_FAIL, "sin must have the shape of cos")
    for name, hidden in (("q", hidden_q), ("k", hidden_k)):
        if hidden % ALIGNMENT_ELEMENTS:
            _refuse(
                Status.ERROR_RT_FAIL,
                f"{name} has {hidden} columns; the kernel takes multiples of {ALIGNMENT_ELEMENTS}, rows of whole 32 B",
            )


def _refuse(status: Status, text: str) -> None:
    refuse(OP, status, text)
