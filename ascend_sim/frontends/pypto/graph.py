"""The tensor graph of a kernel: nodes for tensors, statements for what happens to global memory and how often.

A kernel is traced once. Its operations become `Node`s without order; only writes to global memory are statements, and
what they need is pulled in from the nodes, so a result that nobody writes costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ascend_sim.frontends.pypto.dtypes import DataType
from ascend_sim.frontends.pypto.places import Site
from ascend_sim.frontends.pypto.symbols import Scalar, Symbol, symbols_of

# Operations that give another look at a tensor: no instruction, no buffer.
ALIASES = frozenset({"view", "reshape", "permute", "expand"})


@dataclass(eq=False, slots=True)
class Node:
    """A tensor: `op` of `inputs`.

    `shape` is whole numbers, except for op "input" (a tensor in global memory), whose dims may be symbolic. `valid` is
    how much of each dim holds data. `tile` is the vector tile shape that was set when the operation was called.
    `order` is (position in its loop body, unrolled copy of the body). `hidden`: no tensor of the user's, but float32
    that an operation on bfloat16 computes in.
    """

    uid: int
    op: str
    inputs: tuple[Node, ...]
    shape: tuple[Any, ...]
    dtype: DataType
    valid: tuple[Scalar, ...]
    tile: tuple[int, ...] | None
    attrs: Mapping[str, Any]
    name: str
    site: Site
    order: tuple[int, int] = (0, 0)
    hidden: bool = False

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def is_global(self) -> bool:
        return self.op == "input"

    @property
    def computes(self) -> bool:
        """Whether the node is work for the vector unit."""
        return self.op != "input" and self.op not in ALIASES

    def symbols(self) -> frozenset[Symbol]:
        """Symbols in the node's own offsets and valid shape."""
        own = [*self.valid, *self.attrs.get("offsets", ())]
        return frozenset().union(*(symbols_of(scalar) for scalar in own))

    def __repr__(self) -> str:
        return f"<{self.name}: {self.op} {list(self.shape)} {self.dtype.name}>"


@dataclass(eq=False, slots=True)
class Store:
    """`assemble`: the valid part of `source` goes to `offsets` of the global tensor `target`."""

    source: Node
    target: Node
    offsets: tuple[Scalar, ...]
    site: Site
    parallel: bool = False


@dataclass(eq=False, slots=True)
class Loop:
    """`block` for symbol = start, start + step, ... below stop. An unrolled loop's block holds `factor` bodies."""

    symbol: Symbol
    start: Scalar
    stop: Scalar
    step: int
    block: Block
    name: str
    site: Site
    factor: int = 1
    parallel: bool = False


@dataclass(eq=False, slots=True)
class Guard:
    """`block` where every condition has the value beside it: one way through the `if`s of a loop body."""

    conditions: tuple[tuple[Scalar, bool], ...]
    block: Block


@dataclass(eq=False, slots=True)
class Block:
    """Statements in order."""

    items: list[Store | Loop | Guard] = field(default_factory=list)
