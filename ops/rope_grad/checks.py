"""The checks of ATB's RopeGradOperation, in its order; every refusal carries the status that the library answers.

`check_q_seq_len` belongs to creating and updating the operation, `dim_check` and `param_check` to InferShape and Setup.
Nobody checks that the samples add up to the rows, nor that there is a core for every head: see `tiling.warnings`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ascend_sim.host.atb import Status, refuse
from ascend_sim.host.tensors import Shape, shape_text
from ascend_sim.plurals import counted

OP = "RopeGrad"
INPUTS = ("q_embedded_grad", "k_embedded_grad", "cos", "sin")
HEAD_SIZE = 128
MAX_BATCH = 32  # exactly 32 are allowed, though the library's log says "less than 32"


def check_q_seq_len(q_seq_len: Sequence[int]) -> None:
    """1 to 32 samples of at least one row each; how long one may be depends on cos and is checked later."""
    if not 1 <= len(q_seq_len) <= MAX_BATCH:
        refuse(
            OP,
            Status.ERROR_INVALID_PARAM,
            f"qSeqLen has {counted(len(q_seq_len), 'entry')}; allowed are 1 to {MAX_BATCH} samples",
        )
    for i, length in enumerate(q_seq_len):
        if length <= 0:
            refuse(OP, Status.ERROR_INVALID_PARAM, f"qSeqLen[{i}] is {length}; a sample has at least 1 row")


def dim_check(shapes: Mapping[str, Shape]) -> None:
    """All tensors 2-D, the two gradients alike, the two tables alike, whole heads of 128 columns."""
    for name in INPUTS:
        if len(shapes[name]) != 2:
            refuse(
                OP,
                Status.ERROR_INVALID_TENSOR_DIM,
                f"{name} {shape_text(shapes[name])} has {counted(len(shapes[name]), 'dim')}; allowed are 2",
            )
    for first, second in (INPUTS[:2], INPUTS[2:]):
        if shapes[first] != shapes[second]:
            refuse(
                OP,
                Status.ERROR_INVALID_TENSOR_SIZE,
                f"{second} {shape_text(shapes[second])} must have the shape of {first}, {shape_text(shapes[first])}",
            )
    hidden = shapes[INPUTS[0]][1]
    if hidden % HEAD_SIZE:
        refuse(
            OP,
            Status.ERROR_INVALID_TENSOR_DIM,
            f"{INPUTS[0]} has {hidden} columns; allowed are multiples of {HEAD_SIZE}, whole heads",
        )


def param_check(q_seq_len: Sequence[int], cos: Shape) -> None:
    """The tables have one column per element of a head, and a row for every position of every sample."""
    if not q_seq_len:
        refuse(OP, Status.ERROR_INVALID_PARAM, "qSeqLen is empty; there must be at least one sample")
    max_seq_len, head_size = cos
    if head_size != HEAD_SIZE:
        refuse(OP, Status.ERROR_INVALID_TENSOR_DIM, f"cos has {head_size} columns; the only head size is {HEAD_SIZE}")
    for i, length in enumerate(q_seq_len):
        if not 0 < length <= max_seq_len:
            refuse(
                OP,
                Status.ERROR_INVALID_PARAM,
                f"qSeqLen[{i}] is {length}; allowed are 1 to {max_seq_len}, the rows of cos",
            )
