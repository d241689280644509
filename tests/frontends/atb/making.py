"""Operations, contexts and packs for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ascend_sim.frontends import atb
from ascend_sim.host.device import Device

LENGTHS = [2, 1, 4, 4]
SHAPES = [(11, 128), (11, 128), (64, 128), (64, 128)]


def created(param: Any) -> atb.Operation:
    status, operation = atb.CreateOperation(param)
    assert status == 0
    assert operation is not None
    return operation


def descs(shapes: Sequence[Sequence[int]] = SHAPES, dtype: str = "float16") -> list[atb.TensorDesc]:
    return [atb.TensorDesc(dtype, "nd", shape) for shape in shapes]


def pack(shapes: Sequence[Sequence[int]] = SHAPES, outputs: int = 2) -> atb.VariantPack:
    rng = np.random.default_rng(0)
    inputs = [rng.uniform(-1, 1, shape).astype(np.float16) for shape in shapes]
    return atb.VariantPack(inputs, [np.full(shapes[0], 7, np.float16) for _ in range(outputs)])


class Ready:
    """Everything that Execute needs; `set_up` calls Setup."""

    def __init__(self, device: Device, lengths: Sequence[int] = LENGTHS) -> None:
        self.device = device
        self.operation = created(atb.RopeGradParam(lengths))
        self.pack = pack()
        _, context = atb.CreateContext()
        assert context is not None
        self.context = context
        self.stream = object()
        self.context.SetExecuteStream(self.stream)

    def set_up(self) -> Ready:
        assert self.operation.Setup(self.pack, self.context) == (0, 0)
        return self

    def execute(self, workspace: Any = None) -> atb.Status:
        return self.operation.Execute(self.pack, workspace, self.context)
