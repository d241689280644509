"""apply_rotary_pos_emb, which returns new tensors, and apply_rotary_pos_emb_grad, which its backward calls."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ascend_sim.frontends.torch import checks
from ascend_sim.frontends.torch.calls import call

NAME, GRAD = "apply_rotary_pos_emb", "apply_rotary_pos_emb_grad"
HALF = "half"
MODES = (HALF, "quarter", "interleave")
LAYOUTS = {"BSND": 1, "BSH": 1, "SBND": 2, "BNSD": 3, "TND": 4}
TND = 4
Grads = tuple[Tensor, Tensor, Tensor | None, Tensor | None]


def _check(query: Tensor, key: Tensor, cos: Tensor, sin: Tensor, layout: str, rotary_mode: str) -> None:
    checks.one_of(NAME, "layout", layout, LAYOUTS)
    checks.one_of(NAME, "rotary_mode", rotary_mode, MODES)
    checks.not_empty(NAME, {"query": query, "key": key, "cos": cos, "sin": sin})


@torch.library.custom_op(
    f"cann_ops_transformer::{NAME}",
    mutates_args=(),
    device_types="cpu",
    schema="(Tensor query, Tensor key, Tensor cos, Tensor sin, str layout, str rotary_mode) -> (Tensor, Tensor)",
)
def _forward(
    query: Tensor, key: Tensor, cos: Tensor, sin: Tensor, layout: str, rotary_mode: str
) -> tuple[Tensor, Tensor]:
    _check(query, key, cos, sin, layout, rotary_mode)
    query_out = query.clone(memory_format=torch.contiguous_format)
    key_out = key.clone(memory_format=torch.contiguous_format)
    call("aclnnApplyRotaryPosEmbV2", query_out, key_out, cos, sin, LAYOUTS[layout], rotary_mode)
    return query_out, key_out


@_forward.register_fake
def _(query: Tensor, key: Tensor, cos: Tensor, sin: Tensor, layout: str, rotary_mode: str) -> tuple[Tensor, Tensor]:
    _check(query, key, cos, sin, layout, rotary_mode)
    return _empty(query), _empty(key)


def _setup_context(ctx: Any, inputs: Any, output: Any) -> None:
    query, key, cos, sin, ctx.layout, ctx.rotary_mode = inputs
    ctx.save_for_backward(query, key, cos, sin)


def _check_gradient(rotary_mode: str) -> None:
    text = f"{NAME}: gradients are computed for rotary_mode 'half' only, not for {rotary_mode!r}"
    checks.require(rotary_mode == HALF, text)


def _backward(ctx: Any, grad_query_out: Tensor | None, grad_key_out: Tensor | None) -> Any:
    query, key, cos, sin = ctx.saved_tensors
    _check_gradient(ctx.rotary_mode)
    needs_query, needs_key, needs_cos, needs_sin = ctx.needs_input_grad[:4]
    tables = needs_cos or needs_sin
    grads: Grads = torch.ops.cann_ops_transformer.apply_rotary_pos_emb_grad(
        torch.zeros_like(query) if grad_query_out is None else grad_query_out,
        torch.zeros_like(key) if grad_key_out is None else grad_key_out,
        cos,
        sin,
        query=query if tables else None,
        key=key if tables else None,
        rotary_mode=HALF,
        layout=LAYOUTS[ctx.layout],
    )
    needed = (needs_query, needs_key, needs_cos, needs_sin)
    return (*(grad if needs else None for grad, needs in zip(grads, needed, strict=True)), None, None)


_forward.register_autograd(_backward, setup_context=_setup_context)


def _check_grad(
    grad_query_embed: Tensor,
    grad_key_embed: Tensor,
    cos: Tensor,
    sin: Tensor,
    query: Tensor | None,
    key: Tensor | None,
    rotary_mode: str | None,
    layout: int | None,
) -> tuple[str, int]:
    """Mode and layout with their defaults."""
    given = {"grad_query_embed": grad_query_embed, "grad_key_embed": grad_key_embed, "cos": cos, "sin": sin}
    checks.not_empty(GRAD, given)
    for name, tensor in given.items():
        checks.rank(GRAD, name, tensor, (3, 4))
    checks.one_of(GRAD, "dtype of grad_query_embed", grad_query_embed.dtype, checks.FLOATS)
    for name, tensor in given.items():
        checks.same_dtype(GRAD, name, tensor, "grad_query_embed", grad_query_embed)
    mode, number = HALF if rotary_mode is None else rotary_mode, 1 if layout is None else layout
    checks.one_of(GRAD, "rotary_mode", mode, (HALF,))
    checks.one_of(GRAD, "layout", number, sorted(set(LAYOUTS.values())))
    checks.rank(GRAD, "grad_query_embed", grad_query_embed, (3,) if number == TND else (4,))
    checks.require((query is None) == (key is None), f"{GRAD}: query and key must both be given, or both be None")
    for name, tensor, grad_name, grad in (
        ("query", query, "grad_query_embed", grad_query_embed),
        ("key", key, "grad_key_embed", grad_key_embed),
    ):
        if tensor is not None:
            checks.rank(GRAD, name, tensor, (3, 4))
            checks.same_dtype(GRAD, name, tensor, "grad_query_embed", grad_query_embed)
            checks.same_shape(GRAD, name, tensor, grad_name, grad)
    return mode, number


# custom_op takes no tensors that are given by name only, a library's own define does
_LIBRARY = torch.library.Library("cann_ops_transformer", "FRAGMENT")
_LIBRARY.define(
    f"{GRAD}(Tensor grad_query_embed, Tensor grad_key_embed, Tensor cos, Tensor sin, *, Tensor? query=None, "
    'Tensor? key=None, str? rotary_mode="half", int? layout=1) -> (Tensor, Tensor, Tensor?, Tensor?)',
    tags=(torch.Tag.pt2_compliant_tag,),
)


@torch.library.impl(_LIBRARY, GRAD, "CPU")
def _grad(
    grad_query_embed: Tensor,
    grad_key_embed: Tensor,
    cos: Tensor,
    sin: Tensor,
    *,
    query: Tensor | None = None,
    key: Tensor | None = None,
    rotary_mode: str | None = HALF,
    layout: int | None = 1,
) -> Grads:
    mode, number = _check_grad(grad_query_embed, grad_key_embed, cos, sin, query, key, rotary_mode, layout)
    outs = _grad_outs(grad_query_embed, grad_key_embed, cos, sin, query)
    inputs = (grad_query_embed, grad_key_embed, cos, sin, query, key)
    call("aclnnApplyRotaryPosEmbGrad", *inputs, mode, number, *outs)
    return outs


@torch.library.register_fake(f"cann_ops_transformer::{GRAD}", lib=_LIBRARY)
def _(
    grad_query_embed: Tensor,
    grad_key_embed: Tensor,
    cos: Tensor,
    sin: Tensor,
    *,
    query: Tensor | None = None,
    key: Tensor | None = None,
    rotary_mode: str | None = HALF,
    layout: int | None = 1,
) -> Grads:
    _check_grad(grad_query_embed, grad_key_embed, cos, sin, query, key, rotary_mode, layout)
    return _grad_outs(grad_query_embed, grad_key_embed, cos, sin, query)


def _grad_outs(gq: Tensor, gk: Tensor, cos: Tensor, sin: Tensor, query: Tensor | None) -> Grads:
    """Gradients of cos and sin exist only where query and key are given."""
    if query is None:
        return _empty(gq), _empty(gk), None, None
    return _empty(gq), _empty(gk), _empty(cos), _empty(sin)


def _empty(like: Tensor) -> Tensor:
    return torch.empty_like(like, memory_format=torch.contiguous_format)


def apply_rotary_pos_emb(
    query: Tensor, key: Tensor, cos: Tensor, sin: Tensor, layout: str = "BSND", rotary_mode: str = HALF
) -> tuple[Tensor, Tensor]:
    """Rotated query and key as new tensors; `layout` BSND (also written BSH), SBND, BNSD or TND.

    cos and sin have one head. Modes half, quarter, interleave (A2 and A3: half). With mode half all four tensors have
    gradients, by `apply_rotary_pos_emb_grad`, which exists on the 950 only.
    """
    _check(query, key, cos, sin, layout, rotary_mode)
    if torch.is_grad_enabled() and any(t.requires_grad for t in (query, key, cos, sin)):
        _check_gradient(rotary_mode)
    found: tuple[Tensor, Tensor] = torch.ops.cann_ops_transformer.apply_rotary_pos_emb(
        query, key, cos, sin, layout, rotary_mode
    )
    return found


def apply_rotary_pos_emb_grad(
    grad_query_embed: Tensor,
    grad_key_embed: Tensor,
    cos: Tensor,
    sin: Tensor,
    *,
    query: Tensor | None = None,
    key: Tensor | None = None,
    rotary_mode: str | None = HALF,
    layout: int | None = 1,
) -> Grads:
    """Gradients of query, key, cos and sin; the last two are None unless the forward's query and key are given.

    `layout` 1 BSND, 2 SBND, 4 TND; mode half only.
    """
    found: Grads = torch.ops.cann_ops_transformer.apply_rotary_pos_emb_grad(
        grad_query_embed, grad_key_embed, cos, sin, query=query, key=key, rotary_mode=rotary_mode, layout=layout
    )
    return found
