"""Runs of the 950's in-place rotary operators on a slice of the last axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ascend_sim.host.operator import Operator
from ascend_sim.host.tiling import Tiling
from ascend_sim.program import Program

from .runs_arch35 import MUTANTS, Array, dims_of, launch

LENGTHS = (2, 64, 70, 128, 190)  # of the slice: tails of one register and of two, full, partial and empty ones

# instructions to change: the vector functions subtract nothing and hold no constants, and no core waits for others
ABSENT = {"add for sub", "plus one for minus one", "no synchronisation"}
IN_PLACE_MUTANTS = [name for name in MUTANTS if name not in ABSENT]


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
        shape, cos = dims_of(layout, x)
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

    def run(self, inputs: Mapping[str, Any], **options: Any) -> tuple[Tiling, Program]:
        """Change the first input in place; `options` as for `launch`."""
        return launch(self.operator, inputs, {}, self.attrs(inputs), **options)

    def agrees(self, inputs: Mapping[str, Array], **options: Any) -> Tiling:
        """Run and compare every bit, those outside the slice and of cos and sin included."""
        before = {name: array.copy() for name, array in inputs.items()}
        expected = self.golden(before)
        tiling, _ = self.run(inputs, **options)
        for name, array in before.items():
            wanted = expected if name == self.changed else array
            assert inputs[name].tobytes() == wanted.tobytes(), f"{name} of template {tiling.path}"
        return tiling
