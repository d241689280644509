"""The 950's vector unit takes and gives zeros for subnormals; older chips keep them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ascend_sim import asc
from ascend_sim.asc.tensors import GlobalAddress
from ascend_sim.host.device import Device

TINY = np.array([1e-40, -1e-40, 3e-38, 0.0, -0.0, 1.0, np.inf, np.nan], np.float32)


@asc.jit
def apply(x: GlobalAddress, y: GlobalAddress, case: asc.ConstExpr[object]) -> None:
    source, target = asc.GlobalTensor(), asc.GlobalTensor()
    source.set_global_buffer(x)
    target.set_global_buffer(y)
    a = asc.LocalTensor(asc.float32, asc.TPosition.VECIN, 0, 8)
    b = asc.LocalTensor(asc.float32, asc.TPosition.VECIN, 4096, 8)
    asc.data_copy(a, source, 8)
    asc.set_flag(asc.HardEvent.MTE2_V, 0)
    asc.wait_flag(asc.HardEvent.MTE2_V, 0)
    asc.duplicate(b, 0.0, 8)
    case(b, a)  # type: ignore[operator]
    asc.set_flag(asc.HardEvent.V_MTE3, 0)
    asc.wait_flag(asc.HardEvent.V_MTE3, 0)
    asc.data_copy(target, b, 8)


CASES: dict[str, tuple[Any, Any]] = {
    "operand": (lambda y, x: asc.muls(y, x, 2.0**20, 8), lambda x: x * np.float32(2**20)),
    "result": (lambda y, x: asc.muls(y, x, 0.25, 8), lambda x: x * np.float32(0.25)),
    "sum": (lambda y, x: asc.add(y, x, x, 8), lambda x: x + x),
    "reduction": (
        lambda y, x: asc.pair_reduce_sum(y, x, 1, 8, 1, 1, 8),
        lambda x: np.concatenate([x[::2] + x[1::2], np.zeros(4, np.float32)]),
    ),
}


def zeroed(x: Any) -> Any:
    return np.where(np.abs(x) < np.finfo(np.float32).tiny, np.copysign(np.float32(0), x), x)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("soc", ["ascend950", "ascend910b"])
def test_subnormals(soc: str, case: str) -> None:
    call, meaning = CASES[case]
    y = np.zeros_like(TINY)
    with Device(soc):
        apply[1](TINY.copy(), y, call)
    with np.errstate(all="ignore"):
        wanted = zeroed(meaning(zeroed(TINY))) if soc == "ascend950" else meaning(TINY)
    assert np.array_equal(np.nan_to_num(y, nan=7).view(np.uint32), np.nan_to_num(wanted, nan=7).view(np.uint32))
