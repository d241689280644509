"""Mask and atomic registers: what the setters set, what they cost, and what atomic copies do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from isa_bench import Bench, refused, some

from ascend_sim import asc
from ascend_sim.asc.params import DataCopyExtParams
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.state import DEFAULT_STATE
from ascend_sim.isa import dtypes as t
from ascend_sim.isa.dtypes import DataType
from ascend_sim.program import CopyWork, Memory, ScalarCall, unpack_scalar_calls

ATOMIC = (t.int8, t.int16, t.float16, t.bfloat16, t.int32, t.float32)
ONES = (1 << 64) - 1


def test_mask_setters() -> None:
    with Bench():
        asc.set_mask_count()
        assert RECORDER.state.mask_mode is asc.MaskMode.COUNTER
        asc.set_vector_mask(1000, dtype=t.float32, mode=asc.MaskMode.COUNTER)
        assert RECORDER.state.mask == (1000, 0)
        asc.set_mask_norm()
        asc.set_vector_mask(100, dtype=t.float16)
        assert RECORDER.state.mask == (ONES, (1 << 36) - 1)
        asc.set_vector_mask(3, 5)
        assert RECORDER.state.mask == (5, 3)
        asc.set_vector_mask(length=2, dtype=t.float32, mode=asc.MaskMode.NORMAL)
        assert RECORDER.state.mask == (3, 0)
        asc.reset_mask()
        assert RECORDER.state is DEFAULT_STATE
        assert unpack_scalar_calls(RECORDER.pending) == ((ScalarCall.MASK, 7),)


def test_mask_refusals() -> None:
    refused(
        asc.set_mask_count,
        "asc instructions can only be called inside a kernel: decorate the function with @asc.jit and launch it as "
        "kernel[blocks](...)",
    )
    with Bench():
        refused(
            lambda: asc.set_vector_mask(65, dtype=t.float32),
            "SetVectorMask: length is 65, allowed are 0..64 (64 lanes of float32 a repeat)",
        )
        refused(asc.set_vector_mask, "SetVectorMask: give length, or mask_high and mask_low")
        refused(
            lambda: asc.set_vector_mask(1, 2, length=3), "SetVectorMask: give either length or mask_high and mask_low"
        )
        refused(
            lambda: asc.set_vector_mask(0, 1 << 64),
            f"SetVectorMask: mask_low is {1 << 64}, allowed are 0..{ONES}",
        )
        refused(
            lambda: asc.set_atomic_add(t.uint32),
            "SetAtomicAdd: dtype is uint32, allowed are int8, int16, float16, bfloat16, int32, float32",
        )


@some(30)
@given(
    st.sampled_from(ATOMIC),
    st.sampled_from(["add", "max", "min"]),
    st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=1, max_size=40),
)
def test_atomic_copies_combine(dtype: DataType, op: str, pairs: list[tuple[int, int]]) -> None:
    old, new = (np.array(side).astype(dtype.numpy) for side in zip(*pairs, strict=True))
    combine: dict[str, Any] = {"add": lambda a, b: a + b, "max": max, "min": min}
    with Bench() as bench:
        gm, ub = bench.gm(old), bench.filled(dtype, 0, new)
        getattr(asc, f"set_atomic_{op}")(dtype)
        nbytes = len(pairs) * dtype.itemsize
        asc.data_copy_pad(gm, ub, DataCopyExtParams(1, nbytes))
        assert old.astype(float).tolist() == [float(combine[op](a, b)) for a, b in pairs]
        assert bench.last.work == CopyWork(False, 1, nbytes, nbytes, atomic=op)
        assert [region.memory for region in bench.last.reads] == [Memory.UB, Memory.GM]
        asc.set_atomic_none()
        asc.data_copy_pad(gm, ub, DataCopyExtParams(1, nbytes))
        assert old.tobytes() == new.tobytes()
        assert unpack_scalar_calls(bench.last.scalar_calls) == ((ScalarCall.ATOMIC, 1),)


def test_strided_atomic_add_rounds_once() -> None:
    with Bench() as bench:
        old = np.full(40, 2048, np.float16)
        gm, ub = bench.gm(old), bench.filled(t.float16, 0, np.ones(64))
        asc.set_atomic_add(t.float16)
        asc.data_copy_pad(gm, ub, DataCopyExtParams(2, 6, 0, 20))
        assert old.tolist() == [2048.0] * 40  # 2049 lies half way and rounds to even
        bench.view(ub)[:] = 3
        asc.data_copy_pad(gm, ub, DataCopyExtParams(2, 6, 0, 20))
        assert old.tolist() == [2052.0] * 3 + [2048.0] * 10 + [2052.0] * 3 + [2048.0] * 24


def test_atomic_type_keeps_the_operation() -> None:
    with Bench():
        asc.set_atomic_type(t.int32)
        assert RECORDER.state.atomic == "add:int32"
        asc.set_atomic_max(t.float32)
        asc.set_atomic_none()
        assert RECORDER.state.atomic is None
        asc.set_atomic_type(t.int16)
        assert RECORDER.state.atomic == "max:int16"


@pytest.mark.parametrize("inward", [True, False])
def test_atomic_mode_leaves_loads_alone_and_refuses_other_types(inward: bool) -> None:
    with Bench() as bench:
        gm, ub = bench.gm(np.arange(16, dtype=np.float32)), bench.local(t.float32, 0, 16)
        asc.set_atomic_add(t.float16)
        if inward:
            asc.data_copy(ub, gm, 16)
            assert bench.view(ub).tolist() == list(range(16))
        else:
            refused(
                lambda: asc.data_copy(gm, ub, 16),
                "DataCopy: src is float32 while atomic add is set for float16: a copy to GM combines in the type that "
                "was set (set_atomic_none() ends it)",
            )
