"""The body of a vector function while it is traced: a tree of loops and instructions, each instruction once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import numpy as np

from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.reg.affine import Affine
from ascend_sim.asc.tensors import LocalTensor
from ascend_sim.errors import KernelError
from ascend_sim.program import Place, VfUnit

MAX_LOOP_DEPTH = 4  # nested hardware loops (soc_specs 2.6)
MAX_TRIPS = 0xFFFF  # the loop counter is a uint16


class Loop:
    """A hardware loop of `trips` rounds; compared by identity."""

    __slots__ = ("items", "trips")

    def __init__(self, trips: int) -> None:
        self.trips = trips
        self.items: list[Loop | Node] = []

    def __repr__(self) -> str:
        return f"loop of {self.trips}"


Path = tuple[Loop, ...]


@dataclass(eq=False, slots=True)
class UbAccess:
    """UB bytes of a load or store: `blocks` runs of `length` bytes, `block_stride` apart, from `address` on.

    `dtype` is what the bytes are taken as. `indexed`: gather and scatter, which may touch anything from `address` to
    the tensor's end.
    """

    address: Affine  # byte address of the first run
    length: int
    dtype: np.dtype[Any]
    tensor: LocalTensor
    blocks: int = 1
    block_stride: int = 0
    indexed: bool = False

    @property
    def span(self) -> int:
        """Bytes from the first to the last of one round."""
        return (self.blocks - 1) * self.block_stride + self.length


@dataclass(eq=False, slots=True)
class Node:
    """One instruction of the body.

    `writes` and `reads` are slots: numbers of register variables, masks included. `compute(*values of reads)` gives the
    values of `writes`; of a load it gets UB's elements first, of a store it gives (elements, active flags or None). Of
    an indexed access it gets (UB bytes, byte addresses) first and moves the elements itself. `mask` is the slot among
    `reads` that decides which lanes a store writes, or which lanes of its sources another instruction uses (-1: any),
    `lane_bytes` the size of those lanes. `counter` is a number per round that `compute` gets in front.
    """

    name: str
    cost: str
    unit: VfUnit
    width: str
    path: Path
    place: Place
    writes: tuple[int, ...] = ()
    reads: tuple[int, ...] = ()
    compute: Callable[..., Any] | None = None
    access: UbAccess | None = None
    mask: int = -1
    lane_bytes: int = 0
    counter: Affine | None = None


@dataclass(eq=False, slots=True)
class Body:
    """What is being traced. `kinds[slot]` is "v" for a RegTensor and "p" for a MaskReg."""

    name: str
    items: list[Loop | Node] = field(default_factory=list)
    path: Path = ()
    kinds: list[str] = field(default_factory=list)
    counters: list[Any] = field(default_factory=list)

    def slot(self, kind: str) -> int:
        self.kinds.append(kind)
        return len(self.kinds) - 1

    def add(self, node: Node) -> None:
        (self.path[-1].items if self.path else self.items).append(node)

    def loop(self, start: int, stop: int, step: int) -> Iterator[Affine]:
        """`asc.range` inside a vector function."""
        if start != 0 or step != 1:
            raise KernelError(
                f"{self.name}: a loop of a vector function runs from 0 in steps of 1, given: start {start}, step "
                f"{step} (multiply the index instead; asc.static_range unrolls)"
            )
        if stop > MAX_TRIPS:
            raise KernelError(
                f"{self.name}: a loop has {stop} rounds, allowed are 0..{MAX_TRIPS} (its counter is a uint16)"
            )
        if len(self.path) == MAX_LOOP_DEPTH:
            raise KernelError(
                f"{self.name}: loops are nested {MAX_LOOP_DEPTH + 1} deep, the hardware has {MAX_LOOP_DEPTH} levels"
            )
        if stop <= 0:
            return
        loop = Loop(stop)
        outer = self.path
        (outer[-1].items if outer else self.items).append(loop)
        self.path = (*outer, loop)
        yield Affine(0, {loop: 1})
        if self.path != (*outer, loop):
            raise KernelError(f"{self.name}: loops must end in the order in which they began")
        self.path = outer


def nodes_of(items: Sequence[Loop | Node]) -> Iterator[Node]:
    for item in items:
        if isinstance(item, Loop):
            yield from nodes_of(item.items)
        else:
            yield item


def body_of(call: str) -> Body:
    """The body under construction; refuses register calls anywhere else."""
    body: Body | None = RECORDER.vf
    if body is None:
        raise KernelError(
            f"asc.reg.{call} can only be called inside a vector function: decorate the function with @asc.vf and call "
            "it from the kernel"
        )
    return body


def place_of(frame: FrameType) -> Place:
    return RECORDER.place(frame)
