"""Runs of the 950's in-place rotary operators: small calls that reach every template, tail and kind of tile.

The tiling is asked for a few cores and little unified buffer, so that small tensors are cut as large ones are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from ascend_sim.asc.memory import DeviceArray
from ascend_sim.host.device import Device
from ascend_sim.host.operator import Call, Operator
from ascend_sim.host.planning import plan
from ascend_sim.host.tiling import Tiling
from ascend_sim.program import CopyWork, Instr, Program, VfWork
from ascend_sim.soc import load

Array = npt.NDArray[Any]

FLOATS: Mapping[str, Any] = {"fp16": np.float16, "bf16": ml_dtypes.bfloat16, "fp32": np.float32}
LENGTHS = (2, 64, 70, 128, 190)  # of the slice: tails of one register and of two, full, partial and empty ones

# leading dims of x and of cos, by layout; the templates that they reach
SHAPES: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "A": ((3, 5, 2), (3, 5, 2)),
    "B": ((3, 5, 2), (1, 1, 1)),
    "AB": ((3, 5, 2), (3, 5, 1)),
    "AB-B11D": ((3, 5, 2), (3, 1, 1)),
    "BAB": ((3, 5, 2), (1, 5, 1)),
    "ABA": ((3, 2, 5), (3, 1, 5)),
    "BA": ((3, 2, 5), (1, 1, 5)),
    "BA-1SND": ((3, 5, 2), (1, 5, 2)),
}


@dataclass(frozen=True)
class Cut:
    """A call whose tiles are cut along the axes that `uneven` names, with a shorter last tile along each."""

    layout: str
    x: tuple[int, ...]
    cores: int
    ub_bytes: int
    uneven: tuple[str, ...]
    length: int = 70


@dataclass(frozen=True)
class Bench:
    """One operator; `dtypes` are its pairs of (x, cos)."""

    operator: Operator
    dtypes: Mapping[str, tuple[Any, Any]]

    def inputs(
        self, layout: str, dtypes: tuple[Any, Any], length: int, x: tuple[int, ...] = (), seed: int = 0
    ) -> dict[str, Array]:
        """x has three elements in front of the slice and five behind it."""
        rng = np.random.default_rng(seed)
        shape, cos = SHAPES[layout]
        if x:
            cos = tuple(1 if c == 1 else dim for c, dim in zip(cos, x, strict=True))
            shape = x
        tensors = ((*shape, length + 8), dtypes[0]), ((*cos, length), dtypes[1]), ((*cos, length), dtypes[1])
        names = (item.name for item in self.operator.inputs)
        return {
            name: rng.standard_normal(dims).astype(dtype) for name, (dims, dtype) in zip(names, tensors, strict=True)
        }

    def attrs(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        return self.operator.bind_attrs({"partial_slice": (3, 3 + inputs["cos"].shape[-1])})

    def golden(self, inputs: Mapping[str, Array]) -> Array:
        """The rotated tensor, from the formula."""
        copies = {name: array.copy() for name, array in inputs.items()}
        found: Array = self.operator.golden("ascend950", copies, self.attrs(inputs))[self.changed]
        return found

    @property
    def changed(self) -> str:
        return self.operator.inputs[0].name

    def run(
        self,
        inputs: Mapping[str, Any],
        cores: int = 4,
        ub_bytes: int = 24_000,
        values: bool = True,
        timed: bool = False,
        backwards: bool = False,
    ) -> tuple[Tiling, Program]:
        """Change the first input in place."""
        soc, attrs = load("ascend950"), self.attrs(inputs)
        infos = {name: (array.shape, array.dtype.name) for name, array in inputs.items()}
        tiling = plan(self.operator, infos, attrs, soc, cores, ub_bytes)
        order = range(tiling.block_dim - 1, -1, -1) if backwards else None
        with Device(soc, values=values, block_order=order) as device:
            device.timing = timed
            tensors = inputs if values else {name: DeviceArray(*info) for name, info in infos.items()}
            self.operator.launch(Call(tensors=tensors, attrs=attrs, tiling=tiling, arch=soc.arch))
        return tiling, device.launches[-1].program

    def agrees(self, inputs: Mapping[str, Array], **options: Any) -> Tiling:
        """Run and compare every bit, those outside the slice and of cos and sin included."""
        before = {name: array.copy() for name, array in inputs.items()}
        expected = self.golden(before)
        tiling, _ = self.run(inputs, **options)
        for name, array in before.items():
            wanted = expected if name == self.changed else array
            assert inputs[name].tobytes() == wanted.tobytes(), f"{name} of template {tiling.path}"
        return tiling


def same_numbers(found: Array, wanted: Array) -> bool:
    """Equal bits, any NaN equal to any other."""
    nan = np.isnan(wanted.astype(np.float32))
    bits = f"u{wanted.itemsize}"
    return bool(
        (np.isnan(found.astype(np.float32)) == nan).all() and (found.view(bits)[~nan] == wanted.view(bits)[~nan]).all()
    )


def specials(inputs: Mapping[str, Array]) -> None:
    """Infinities, NaN, signed zeros, the largest numbers and subnormals in place of the values."""
    rng = np.random.default_rng(5)
    for array in inputs.values():
        limits = ml_dtypes.finfo(array.dtype)
        special = [0.0, np.inf, np.nan, limits.max, limits.smallest_subnormal, limits.smallest_normal, 1.0, 3.0]
        array[...] = rng.choice(np.array([special, [-value for value in special]]).ravel(), array.shape)


def work_of_block(program: Program, block: int = 0) -> Iterator[Instr]:
    """The copies and vector functions of a block, in program order."""
    return (item for item in program.blocks[block].instrs if isinstance(item.work, CopyWork | VfWork))


def has_shorter_tile(tiling: Tiling, axis: str) -> bool:
    """Whether some core walks over `axis` in more than one step, the last one shorter."""
    loops = [loop for share in tiling.shares for loop in share.loops if loop.unit == axis]
    return any(loop.loops > 1 and loop.last < loop.per_loop for loop in loops)
