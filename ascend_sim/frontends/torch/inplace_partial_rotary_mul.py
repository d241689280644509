"""inplace_partial_rotary_mul and its backward: ops that change their first argument and return nothing.

register_autograd takes no op that mutates its inputs, so the gradient comes from a torch.autograd.Function around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ascend_sim.frontends.torch import checks
from ascend_sim.frontends.torch.calls import call

NAME, BACKWARD = "inplace_partial_rotary_mul", "inplace_partial_rotary_mul_backward"
INTERLEAVE = "interleave"
MODES = {INTERLEAVE: 1}
_OPTIONS = 'Tensor r1, Tensor r2, *, str rotary_mode="interleave", int[2] partial_slice=[0, 0]) -> ()'


def _check(op: str, first: str, x: Tensor, rotary_mode: str, partial_slice: Sequence[int]) -> None:
    checks.rank(op, first, x, (4,))
    checks.one_of(op, "rotary_mode", rotary_mode, MODES)
    checks.partial_slice(op, partial_slice)


@torch.library.custom_op(
    f"cann_ops_transformer::{NAME}", mutates_args=("x",), device_types="cpu", schema=f"(Tensor(a!) x, {_OPTIONS}"
)
def _forward(
    x: Tensor, r1: Tensor, r2: Tensor, *, rotary_mode: str = INTERLEAVE, partial_slice: Sequence[int] = (0, 0)
) -> None:
    _check(NAME, "x", x, rotary_mode, partial_slice)
    call("aclnnInplacePartialRotaryMul", x, r1, r2, MODES[rotary_mode], list(partial_slice))


@_forward.register_fake
def _(
    x: Tensor, r1: Tensor, r2: Tensor, *, rotary_mode: str = INTERLEAVE, partial_slice: Sequence[int] = (0, 0)
) -> None:
    _check(NAME, "x", x, rotary_mode, partial_slice)


@torch.library.custom_op(
    f"cann_ops_transformer::{BACKWARD}",
    mutates_args=("grad_output",),
    device_types="cpu",
    schema=f"(Tensor(a!) grad_output, {_OPTIONS}",
)
def _backward(
    grad_output: Tensor,
    r1: Tensor,
    r2: Tensor,
    *,
    rotary_mode: str = INTERLEAVE,
    partial_slice: Sequence[int] = (0, 0),
) -> None:
    _check(BACKWARD, "grad_output", grad_output, rotary_mode, partial_slice)
    call("aclnnInplacePartialRotaryMulGrad", grad_output, r1, r2, MODES[rotary_mode], list(partial_slice))


@_backward.register_fake
def _(
    grad_output: Tensor,
    r1: Tensor,
    r2: Tensor,
    *,
    rotary_mode: str = INTERLEAVE,
    partial_slice: Sequence[int] = (0, 0),
) -> None:
    _check(BACKWARD, "grad_output", grad_output, rotary_mode, partial_slice)


class InplacePartialRotaryMulFn(torch.autograd.Function):
    """Forward changes x, backward turns its gradient back; r1 and r2 count as constants."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, r1: Tensor, r2: Tensor, rotary_mode: str, partial_slice: list[int]) -> Tensor:
        ctx.save_for_backward(r1, r2)
        ctx.rotary_mode, ctx.partial_slice = rotary_mode, partial_slice
        ctx.mark_dirty(x)
        torch.ops.cann_ops_transformer.inplace_partial_rotary_mul(
            x, r1, r2, rotary_mode=rotary_mode, partial_slice=partial_slice
        )
        return x

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        r1, r2 = ctx.saved_tensors
        # A copy, even where the incoming gradient is contiguous: others may hold it (retain_grad, a second consumer).
        grad = grad_outputs[0].clone(memory_format=torch.contiguous_format)
        torch.ops.cann_ops_transformer.inplace_partial_rotary_mul_backward(
            grad, r1, r2, rotary_mode=ctx.rotary_mode, partial_slice=ctx.partial_slice
        )
        return grad, None, None, None, None


def inplace_partial_rotary_mul(
    x: Tensor,
    r1: Tensor,
    r2: Tensor,
    *,
    rotary_mode: str = INTERLEAVE,
    partial_slice: Sequence[int] | None = None,
) -> None:
    """Rotate pairs of neighbours in `x[..., start:end]` in place, `partial_slice` = [start, end).

    x (B, S, N, D); r1 (cosines) and r2 (sines) of end - start elements per row, broadcast as the chip allows; float16,
    bfloat16, float32. None means [0, 0]: nothing rotates. The gradient of x is computed (the operator for it exists on
    the 950 only), those of r1 and r2 stay None. A leaf that requires a gradient is refused, as in-place operations of
    PyTorch refuse it. Raises `ValueError` for what the Python layer checks, `AclnnError` for what aclnn answers.
    """
    part = [0, 0] if partial_slice is None else list(partial_slice)
    if x.requires_grad and torch.is_grad_enabled():
        _refuse_leaf(x)
        InplacePartialRotaryMulFn.apply(x, r1, r2, rotary_mode, part)
    else:
        torch.ops.cann_ops_transformer.inplace_partial_rotary_mul(
            x, r1, r2, rotary_mode=rotary_mode, partial_slice=part
        )


def inplace_partial_rotary_mul_backward(
    grad_output: Tensor,
    r1: Tensor,
    r2: Tensor,
    *,
    rotary_mode: str = INTERLEAVE,
    partial_slice: Sequence[int] | None = None,
) -> None:
    """Turn the gradient of `inplace_partial_rotary_mul`'s result into that of its x, in place; the 950 alone has it."""
    part = [0, 0] if partial_slice is None else list(partial_slice)
    torch.ops.cann_ops_transformer.inplace_partial_rotary_mul_backward(
        grad_output, r1, r2, rotary_mode=rotary_mode, partial_slice=part
    )


def _refuse_leaf(x: Tensor) -> None:
    """PyTorch's own refusal comes only after a Function's forward, when x has been changed already."""
    if x.is_leaf:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    if torch.compiler.is_compiling():
        return  # a trace cannot ask for views
    if x._is_view() and x._base is not None and x._base.is_leaf and x._base.requires_grad:
        raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
