"""npu_rotary_mul: torch_npu's name of rotary_position_embedding, with its gradient.

r1 and r2 of another dtype are cast to that of the input, as torch_npu does; the simulator does not time these casts.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ascend_sim.frontends.torch import checks
from ascend_sim.frontends.torch.calls import call

NAME, BACKWARD = "npu_rotary_mul", "npu_rotary_mul_backward"
HALF = "half"
MODES = {HALF: 0, "interleave": 1, "quarter": 2, "interleave-half": 3}
Grads = tuple[Tensor, Tensor | None, Tensor | None]


def _check(op: str, first: str, x: Tensor, r1: Tensor, r2: Tensor, rotary_mode: str) -> None:
    checks.one_of(op, "rotary_mode", rotary_mode, MODES)
    for name, tensor in ((first, x), ("r1", r1), ("r2", r2)):
        checks.rank(op, name, tensor, (3, 4))


@torch.library.custom_op(
    f"cann_ops_transformer::{NAME}",
    mutates_args=(),
    device_types="cpu",
    schema='(Tensor input, Tensor r1, Tensor r2, str rotary_mode="half") -> Tensor',
)
def _forward(input: Tensor, r1: Tensor, r2: Tensor, rotary_mode: str = HALF) -> Tensor:  # noqa: A002 - torch_npu's name
    _check(NAME, "input", input, r1, r2, rotary_mode)
    out = _empty(input)
    call("aclnnRotaryPositionEmbedding", input, r1, r2, MODES[rotary_mode], out)
    return out


@_forward.register_fake
def _(input: Tensor, r1: Tensor, r2: Tensor, rotary_mode: str = HALF) -> Tensor:  # noqa: A002
    _check(NAME, "input", input, r1, r2, rotary_mode)
    return _empty(input)


@torch.library.custom_op(
    f"cann_ops_transformer::{BACKWARD}",
    mutates_args=(),
    device_types="cpu",
    schema='(Tensor grad, Tensor? input, Tensor r1, Tensor r2, str rotary_mode="half") -> (Tensor, Tensor?, Tensor?)',
)
def _backward(grad: Tensor, input: Tensor | None, r1: Tensor, r2: Tensor, rotary_mode: str = HALF) -> Grads:  # noqa: A002
    _check(BACKWARD, "grad", grad, r1, r2, rotary_mode)
    outs = _grad_outs(grad, r1, r2, input)
    call("aclnnRotaryPositionEmbeddingGrad", grad, r1, r2, input, MODES[rotary_mode], *outs)
    return outs


@_backward.register_fake
def _(grad: Tensor, input: Tensor | None, r1: Tensor, r2: Tensor, rotary_mode: str = HALF) -> Grads:  # noqa: A002
    _check(BACKWARD, "grad", grad, r1, r2, rotary_mode)
    return _grad_outs(grad, r1, r2, input)


def _grad_outs(grad: Tensor, r1: Tensor, r2: Tensor, x: Tensor | None) -> Grads:
    """Without the forward's input there are no gradients of r1 and r2."""
    return (_empty(grad), None, None) if x is None else (_empty(grad), _empty(r1), _empty(r2))


def _empty(like: Tensor) -> Tensor:
    return torch.empty_like(like, memory_format=torch.contiguous_format)


def _setup_context(ctx: Any, inputs: Any, output: Any) -> None:
    x, r1, r2, ctx.rotary_mode = inputs
    ctx.tables = ctx.needs_input_grad[1] or ctx.needs_input_grad[2]
    ctx.save_for_backward(r1, r2, *([x] if ctx.tables else []))


def _gradients(ctx: Any, grad: Tensor) -> Any:
    r1, r2, *x = ctx.saved_tensors
    grads: Grads = torch.ops.cann_ops_transformer.npu_rotary_mul_backward(
        grad, x[0] if ctx.tables else None, r1, r2, ctx.rotary_mode
    )
    needed = ctx.needs_input_grad[:3]
    return (*(found if needs else None for found, needs in zip(grads, needed, strict=True)), None)


_forward.register_autograd(_gradients, setup_context=_setup_context)


def npu_rotary_mul(input: Tensor, r1: Tensor, r2: Tensor, rotary_mode: str = HALF) -> Tensor:  # noqa: A002
    """input * r1 + rot(input) * r2 as a new tensor; `rotary_mode` half, interleave, on the 950 also quarter and
    interleave-half. input of rank 4 (BSND, BNSD, SBND) or 3 (TND); r1 (cosines) and r2 (sines) broadcast to it.
    """
    r1, r2 = r1.to(input.dtype), r2.to(input.dtype)
    found: Tensor = torch.ops.cann_ops_transformer.npu_rotary_mul(input, r1, r2, rotary_mode)
    return found
