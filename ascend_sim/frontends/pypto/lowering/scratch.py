"""Unified buffer that an operation needs beside its operands."""

from __future__ import annotations

from collections.abc import Sequence

from ascend_sim.frontends.pypto.graph import Node
from ascend_sim.frontends.pypto.lowering import moves, reduce, vector
from ascend_sim.frontends.pypto.lowering.layout import Ref
from ascend_sim.frontends.pypto.lowering.operands import Operand

_NONE = frozenset({"gathermask", "transpose", "interleave", "full"})


def needed(node: Node, sizes: Sequence[int], refs: Sequence[Ref], pieces: Sequence[tuple[Sequence[int], Ref]]) -> int:
    """Bytes, for a result of `sizes`; `refs`: the result and the operands; `pieces`: sizes and source of a move's."""
    if node.op in _NONE:
        return 0
    operands = [Operand(ref.dtype.asc, ref.offset, ref.strides, 1 << 30) for ref in refs]
    if pieces:
        sources = ((part, Operand(ref.dtype.asc, ref.offset, ref.strides, 1 << 30)) for part, ref in pieces)
        return max(moves.scratch_bytes(part, operands[0], source) for part, source in sources)
    if node.op in ("sum", "amax", "amin"):
        axis = node.attrs["axis"]
        of_source = [node.inputs[0].shape[axis] if a == axis else size for a, size in enumerate(sizes)]
        return reduce.scratch_bytes(node, of_source, operands[1])
    return vector.scratch_bytes(node, sizes, operands)
