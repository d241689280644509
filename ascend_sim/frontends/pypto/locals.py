"""Tensors that a kernel makes for itself and fills by `assemble` or slice assignment.

One that is filled in the block that made it is put together in unified buffer. One that a loop fills for the
statements after it lives in global memory, as a workspace of the kernel.
"""

from __future__ import annotations

from collections.abc import Sequence

from ascend_sim.frontends.pypto import checks
from ascend_sim.frontends.pypto.errors import FeTypeError, LoweringError, PyptoValueError
from ascend_sim.frontends.pypto.graph import Block, Node
from ascend_sim.frontends.pypto.regions import overlap, shifted, whole
from ascend_sim.frontends.pypto.symbols import Scalar, SymbolicScalar
from ascend_sim.frontends.pypto.tensor import Tensor
from ascend_sim.frontends.pypto.trace import Trace, current


class Local:
    """What such a tensor holds so far: `node` while it is put together, `workspace` once it lives in GM."""

    def __init__(self, tensor: Tensor, trace: Trace) -> None:
        self.tensor = tensor
        self.block: Block = trace.block
        self.pieces: list[tuple[Node, tuple[int, ...]]] = []
        self.overlaps = False
        self.node: Node | None = None
        self.workspace: Node | None = None

    def read(self, op: str) -> Node:
        found = self.workspace or self.node
        if found is None:
            raise PyptoValueError(f"{op}: nothing has been assembled into {self.tensor.name or 'this tensor'} yet")
        return found

    def write(self, source: Node, offsets: Sequence[Scalar], parallel: bool) -> None:
        """Assemble `source`."""
        trace = current("assemble")
        fixed = [offset for offset in offsets if isinstance(offset, int)]
        if self.workspace is None and trace.block is self.block and len(fixed) == len(offsets):
            self._insert(trace, source, fixed)
        else:
            trace.store(source, self._as_workspace(trace), offsets, parallel)
        self.tensor.node = None  # read anew

    def _insert(self, trace: Trace, source: Node, offsets: Sequence[int]) -> None:
        """One more piece, over those before it."""
        shape, at = tuple(self.tensor.shape), tuple(offsets)
        if source.shape == shape and not any(at):
            self.pieces = [(source, at)]
            self.node = source
            return
        box = shifted(whole(source.shape), at)
        overlaps = any(overlap(box, shifted(whole(piece.shape), place)) for piece, place in self.pieces)
        self.overlaps = self.overlaps or overlaps
        self.pieces.append((source, at))
        attrs = {"places": tuple(place for _, place in self.pieces), "overlaps": self.overlaps}
        nodes = [piece for piece, _ in self.pieces]
        name = self.tensor.name or None
        self.node = trace.node("concat", nodes, shape, source.dtype, valid=self._valid(shape), attrs=attrs, name=name)

    def _valid(self, shape: tuple[int, ...]) -> tuple[Scalar, ...]:
        """How much holds data: along a dim that every piece spans, what all of them hold; else all of it."""
        found: list[Scalar] = list(shape)
        for axis, size in enumerate(shape):
            if all(piece.shape[axis] == size for piece, _ in self.pieces):
                for piece, _ in self.pieces:
                    found[axis] = checks.least(found[axis], piece.valid[axis])
        return tuple(found)

    def _as_workspace(self, trace: Trace) -> Node:
        if self.workspace is None:
            if self.node is not None:
                raise LoweringError(
                    f"{self.tensor.name or 'a tensor'} is assembled into outside a loop and inside one: this lowering "
                    "keeps it either in unified buffer or in global memory; use two tensors"
                )
            self.workspace = trace.global_tensor(self.tensor.name or "workspace", self.tensor.shape, self.tensor.dtype)
            self.workspace.attrs = {"workspace": True}
        return self.workspace


def make_local(tensor: Tensor) -> None:
    """A tensor made inside a kernel; it needs a shape of numbers and a dtype."""
    trace = current("Tensor")
    shape = tensor.annotated_shape
    if not isinstance(shape, tuple) or not shape or tensor.dtype is None:
        raise FeTypeError("pypto.tensor(shape, dtype) inside a kernel needs both, the shape with at least one dim")
    for axis, size in enumerate(shape):
        if (
            isinstance(size, bool)
            or not isinstance(size, int | SymbolicScalar)
            or (isinstance(size, int) and size <= 0)
        ):
            raise FeTypeError(f"pypto.tensor({list(shape)}): size {axis} is {size!r}; sizes are positive integers")
    tensor.local = Local(tensor, trace)
