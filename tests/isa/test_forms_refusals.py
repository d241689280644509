"""What the forms refuse, text by text, and what they leave in the mask registers."""

from __future__ import annotations

from typing import Any

import pytest
from isa_bench import Bench, refused

from ascend_sim import asc
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.state import DEFAULT_STATE
from ascend_sim.asc.tensors import TPosition
from ascend_sim.errors import KernelError

BINARY, UNARY = asc.BinaryRepeatParams(), asc.UnaryRepeatParams()


def call(name: str, *args: Any, **kwargs: Any) -> Any:
    return lambda: getattr(asc, name)(*args, **kwargs)


def test_operands() -> None:
    with Bench() as bench:
        x, y = bench.local(asc.float32, 0, 128), bench.local(asc.float32, 1024, 128)
        half = bench.local(asc.float16, 2048, 128)
        refused(
            call("add", x, y, half, 64),
            "Add: dst float32, src0 float32, src1 float16 is not supported on Ascend 910B / 910_93 (arch 2201), "
            "allowed are int16, float16, int32, float32",
        )
        refused(
            call("exp", bench.local(asc.bfloat16, 0, 64), bench.local(asc.bfloat16, 256, 64), 64),
            "Exp: dst bfloat16, src bfloat16 is not supported on Ascend 910B / 910_93 (arch 2201), allowed are "
            "float16, float32; bfloat16 has no vector arithmetic there: cast it to float32 first",
        )
        refused(
            call("mul_add_dst", half, y, half, 64),
            "MulAddDst: dst float16, src0 float32, src1 float16 is not supported on Ascend 910B / 910_93 (arch 2201), "
            "allowed are float16 <- float16, float16, float32 <- float32, float32, float32 <- float16, float16",
        )
        refused(call("add", x, 3, y, 64), "Add: src0 must be a LocalTensor, not int")
        refused(
            call("add", x[1], y, y, 64),
            "Add: dst starts at UB byte 4, which is not a multiple of 32: UB operands start on a 32 B block",
        )
        refused(
            call("abs", bench.local(asc.float32, 0, 64, TPosition.A1), y, 64),
            "Abs: dst is in A1, allowed are VECIN, VECOUT and VECCALC (unified buffer)",
        )
        refused(
            call("add", x, y, y, 129),
            "Add: dst needs 516 B from UB byte 0 on, but the tensor holds 128 elements of float32 (512 B)",
        )
        assert bench.core.instrs == []


def test_counts_masks_repeats_strides() -> None:
    with Bench() as bench:
        x, y = bench.local(asc.float32, 0, 4096), bench.local(asc.float32, 32_768, 4096)
        half = bench.local(asc.float16, 65_536, 4096)
        refused(call("add", x, y, y, -1), "Add: count is -1, allowed are 0..1048576")
        refused(call("add", x, y, y, 6.5), "Add: count must be an integer, not float (write // to divide)")
        refused(call("add", x, y, y), "Add: count must be an integer, not NoneType")
        refused(call("add", x, y, y, 65, 1, BINARY), "Add: mask is 65, allowed are 1..64 (64 lanes a repeat)")
        refused(call("abs", x, y, 0, 1, UNARY), "Abs: mask is 0, allowed are 1..64 (64 lanes a repeat)")
        refused(
            call("add", half, half, half, 129, 1, BINARY), "Add: mask is 129, allowed are 1..128 (128 lanes a repeat)"
        )
        refused(
            call("add", half, half, half, [1], 1, BINARY),
            "Add: mask has 1 word of 64 bits, 2 are needed for 128 lanes a repeat",
        )
        refused(call("add", x, y, y, [0, 7], 1, BINARY), "Add: mask [0, 7] selects none of the 64 lanes of a repeat")
        refused(
            call("add", x, y, y, [1 << 64], 1, BINARY),
            "Add: mask[0] is 18446744073709551616, allowed are 0..18446744073709551615",
        )
        refused(
            call("add", x, y, y, 64, 256, BINARY),
            "Add: repeat_times is 256, allowed are 0..255 (an 8-bit field of the instruction)",
        )
        refused(
            call("add", x, y, y, 64, 1, asc.BinaryRepeatParams(1, 1, 1, 8, 256, 8)),
            "Add: src0_rep_stride is 256, allowed are 0..255 (in blocks of 32 B)",
        )
        refused(
            call("adds", x, y, 1.0, 64, 1, BINARY),
            "Adds: repeat_params must be UnaryRepeatParams, not BinaryRepeatParams",
        )
        refused(
            call("add", x, y, y, 64, 1, asc.BinaryRepeatParams(0, 1, 1, 8, 8, 8)),
            "Add: dst_blk_stride is 0, which is undefined when a repeat writes more than one block",
        )
        refused(call("add", x, y, y, 64, 1, BINARY, 1), "Add: is_set_mask must be True or False, not 1")
        refused(
            call("add", x, y, y, 64, mask=64, repeat_times=1, repeat_params=BINARY),
            "Add: count and mask exclude each other",
        )
        refused(call("add", x, y, y, mask=64), "Add: mask needs repeat_times and repeat_params")
        refused(call("shift_left", x, y, 1, 64),
            "ShiftLeft: dst float32, src float32 is not supported on Ascend 910B / 910_93 (arch 2201), allowed are "
            "int16, uint16, int32, uint32")  # fmt: skip
        whole = bench.local(asc.int16, 98_304, 64)
        refused(call("shift_left", whole, whole, 17, 64), "ShiftLeft: scalar is 17, allowed are 0..16 (bits of int16)")
        refused(call("adds", x, y, "1", 64), "Adds: scalar must be a number that float32 can hold, not '1'")
        assert bench.core.instrs == []


def test_overlaps() -> None:
    with Bench() as bench:
        x = bench.local(asc.float32, 0, 8192)
        later = "Add: src0 overlaps dst so that a repeat reads what an earlier repeat wrote; keep them apart"
        refused(call("add", x[64], x, x[4096], 128), later)
        refused(call("add", x, x, x[4096], 64, 2, asc.BinaryRepeatParams(1, 1, 1, 0, 0, 8)), later)
        refused(
            call("add", x[8], x[16], x[4096], 64),
            "Add: src0 overlaps dst in part; within a repeat they must coincide or not touch",
        )
        refused(
            call("div", x, x[4096], x, 64, 2, asc.BinaryRepeatParams(1, 1, 1, 0, 8, 0)),
            "Div: src1 overlaps dst so that a repeat reads what an earlier repeat wrote; keep them apart",
        )
        refused(
            call("mul_add_dst", x, x[2048], x[4096], 64, 2, asc.BinaryRepeatParams(1, 1, 1, 0, 8, 8)),
            "MulAddDst: dst is also read, and a repeat reads there what an earlier repeat wrote; keep them apart",
        )
        half = x.reinterpret_cast(asc.float16)
        refused(
            call("cast", x, half, asc.RoundMode.CAST_NONE, 128),
            "Cast: src overlaps dst so that a repeat reads what an earlier repeat wrote; keep them apart",
        )
        assert bench.core.instrs == []
        asc.add(x, x, x, 8192)  # in place
        asc.add(x, x[64], x[128], 64, 2, asc.BinaryRepeatParams(1, 1, 1, 32, 32, 32))
        asc.cast(half, x, asc.RoundMode.CAST_RINT, 8192)  # narrowing in place


def test_zero_is_no_operation() -> None:
    with Bench() as bench:
        x = bench.filled(asc.float32, 0, [1.0] * 64)
        asc.adds(x, x, 1.0, 0)
        asc.adds(x, x, 1.0, 64, 0, UNARY)
        assert bench.view(x).tolist() == [1.0] * 64
        assert [(instr.work.repeats, instr.reads, instr.writes) for instr in bench.core.instrs] == [(0, (), ())] * 2  # type: ignore[union-attr]


def test_other_architecture() -> None:
    with Bench(arch="3510") as bench:
        x, small = bench.local(asc.bfloat16, 0, 128), bench.local(asc.int8, 1024, 128)
        asc.add(x, x, x, 128)
        refused(
            call("add", small, small, small, 64, 1, BINARY),
            "Add: int8 works on Ascend 950 (arch 3510) only with the count form",
        )


def test_outside_a_kernel() -> None:
    with pytest.raises(KernelError) as error:
        asc.add(None, None, None, 64)  # type: ignore[arg-type]
    assert str(error.value) == (
        "asc instructions can only be called inside a kernel: decorate the function with @asc.jit and launch it as "
        "kernel[blocks](...)"
    )


def test_mask_registers_after_a_call() -> None:
    with Bench() as bench:
        x = bench.filled(asc.float16, 0, [1.0] * 128)
        asc.adds(x, x, 1.0, 100, 1, UNARY)
        assert RECORDER.state.mask == ((1 << 64) - 1, (1 << 36) - 1)
        asc.adds(x, x, 1.0, 1, 1, UNARY, is_set_mask=False)  # the mask of the call before
        assert bench.view(x).tolist() == [3.0] * 100 + [1.0] * 28
        asc.adds(x, x, 1.0, 1)
        assert RECORDER.state is DEFAULT_STATE


def test_forms_by_position_and_by_name_are_one_instruction() -> None:
    with Bench() as bench:
        x = bench.filled(asc.float32, 0, [1.0] * 64)
        calls = [
            lambda: asc.add(x, x, x, 64, True),
            lambda: asc.add(x, x, x, count=64),
            lambda: asc.add(dst=x, src0=x, src1=x, count=64, is_set_mask=False),
            lambda: asc.add(x, x, x, 64, 1, BINARY),
            lambda: asc.add(x, x, x, [(1 << 64) - 1], repeat_times=1, repeat_params=BINARY),
            lambda: asc.add(x, x, x, mask=[(1 << 64) - 1, 0], repeat_times=1, repeat_params=BINARY, is_set_mask=True),
        ]
        for doubling, each in enumerate(calls, 1):
            each()
            assert bench.view(x).tolist() == [2.0**doubling] * 64
        assert {instr.work.elements for instr in bench.core.instrs} == {64}  # type: ignore[union-attr]
