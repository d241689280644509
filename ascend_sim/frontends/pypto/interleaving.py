"""Every second element: gathermask, deinterleave, interleave along the last dim."""

from __future__ import annotations

from typing import Any

from ascend_sim.frontends.pypto import checks
from ascend_sim.frontends.pypto.elementwise import through_half
from ascend_sim.frontends.pypto.errors import PyptoValueError
from ascend_sim.frontends.pypto.graph import Node
from ascend_sim.frontends.pypto.shaping import concat, view
from ascend_sim.frontends.pypto.symbols import key_of
from ascend_sim.frontends.pypto.tensor import Tensor, operation
from ascend_sim.frontends.pypto.trace import current


@operation
def gathermask(self: Tensor, pattern_mode: int) -> Tensor:
    """Every 2nd (1, 2) or 4th (3..6) element of the last dim, from the first, second, ... on; 7 keeps all."""
    node = checks.operand("gathermask", "self", self, checks.WIDTHS_16_TO_32)
    if isinstance(pattern_mode, bool) or not isinstance(pattern_mode, int) or not 1 <= pattern_mode <= 7:
        raise PyptoValueError(f"gathermask: pattern_mode is {pattern_mode!r}; allowed are 1..7")
    tile = current("gathermask").need_tile("gathermask", node.rank)
    step = 1 if pattern_mode == 7 else 2 if pattern_mode <= 2 else 4
    for what, size in (("the last dim", node.shape[-1]), ("the tile's last dim", tile[-1])):
        if size % step:
            raise PyptoValueError(f"gathermask: {what} is {size}; with pattern_mode {pattern_mode} it must be a "
                                  f"multiple of {step}")  # fmt: skip
    if pattern_mode == 7:
        return self
    return Tensor.of(_every(node, step, pattern_mode))


def _every(node: Node, step: int, pattern: int, name: str | None = None) -> Node:
    node = checks.solid(node)
    shape = (*node.shape[:-1], node.shape[-1] // step)
    full = key_of(node.valid[-1]) == node.shape[-1]
    valid = (*node.valid[:-1], shape[-1] if full else node.valid[-1] // step)
    return current("gathermask").node(
        "gathermask", (node,), shape, node.dtype, valid=valid, attrs={"pattern": pattern, "step": step}, name=name
    )


@operation
def deinterleave(input: Tensor, other: Tensor | None = None) -> tuple[Tensor, Tensor]:  # noqa: A002
    """The elements at even and at odd places of the last dim (of input and other joined, if other is given)."""
    node = checks.operand("deinterleave", "input", input, checks.WIDTHS_8_TO_32)
    tile = current("deinterleave").need_tile("deinterleave", node.rank, "its input")
    _check_even("deinterleave", node.name, node.shape[-1])
    if other is None:
        _check_even("deinterleave", "the tile", tile[-1])
        joined = node
    else:
        _check_pair("deinterleave", node, other, tile)
        joined = concat([input, other], dim=-1).read("deinterleave")
    even = through_half(joined, lambda n: _every(n, 2, 1))
    odd = through_half(joined, lambda n: _every(n, 2, 2))
    return Tensor.of(even), Tensor.of(odd)


@operation
def interleave(input: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:  # noqa: A002
    """input[0], other[0], input[1], other[1], ... along the last dim, as a first and a second half."""
    node = checks.operand("interleave", "input", input, checks.WIDTHS_8_TO_32)
    tile = current("interleave").need_tile("interleave", node.rank, "its input")
    _check_even("interleave", node.name, node.shape[-1])
    _check_pair("interleave", node, other, tile)
    joined = concat([input, other], dim=-1).read("interleave")
    size = node.shape[-1]

    def woven(n: Node) -> Node:
        return current("interleave").node("interleave", (n,), n.shape, n.dtype, valid=n.valid)

    halves = Tensor.of(through_half(joined, woven))
    last = [0] * (node.rank - 1)
    shape = list(node.shape)
    return view(halves, shape, [*last, 0]), view(halves, shape, [*last, size])


def _check_even(op: str, what: str, size: int) -> None:
    if size % 2:
        raise PyptoValueError(f"{op}: the last dim of {what} is {size}; it must be even")


def _check_pair(op: str, node: Node, other: Any, tile: tuple[int, ...]) -> None:
    second = checks.operand(op, "other", other, checks.WIDTHS_8_TO_32)
    checks.same_dtype(op, [node, second])
    if second.shape != node.shape:
        raise PyptoValueError(f"{op}: input is {list(node.shape)} and other {list(second.shape)}; they must agree")
    if tile[-1] < node.shape[-1]:
        raise PyptoValueError(
            f"{op}: the tile's last dim is {tile[-1]} and the tensors' {node.shape[-1]}; with two inputs the last dim "
            "must not be cut"
        )
