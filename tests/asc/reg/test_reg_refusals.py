"""What a vector function is refused for, in full words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reg_bench import VfBench, refused

from ascend_sim import asc
from ascend_sim.asc import reg
from ascend_sim.errors import KernelError

F32, F16 = asc.float32, asc.float16


def load(pointer: Any) -> Any:
    x = reg.RegTensor(F32)
    reg.load_align(x, pointer)
    return x


def five_loops(p: Any) -> None:
    for _ in asc.range(2):
        for _ in asc.range(2):
            for _ in asc.range(2):
                for _ in asc.range(2):
                    for _ in asc.range(2):
                        load(p)


def left_by_break(p: Any) -> None:
    for _ in asc.range(2):
        load(p)
        break


def branch(p: Any) -> None:
    for i in asc.range(2):
        if i > 0:
            load(p)


def late_index(p: Any) -> None:
    for i in asc.range(2):  # noqa: B007
        pass
    load(p + i * 64)


def many_registers(p: Any) -> None:
    values = [load(p) for _ in range(33)]
    for value in values:
        reg.store_align(p, value, reg.create_mask(F32))


def unwritten(p: Any) -> None:
    x = reg.RegTensor(F32)
    reg.adds(x, x, 1.0, reg.create_mask(F32))


KEPT: list[Any] = []


CASES: list[tuple[Any, str]] = [
    (five_loops, "five_loops: loops are nested 5 deep, the hardware has 4 levels"),
    (left_by_break, "left_by_break: a loop was left by break or return; hardware loops run all their rounds"),
    (
        branch,
        "a loop index of a vector function has no comparisons (no branches): the body is one hardware loop for all "
        "rounds; allowed are +, - and * with whole numbers (addresses); use masks, or asc.static_range to unroll",
    ),
    (late_index, "Reg::LoadAlign: src uses the index of a loop that has ended"),
    (
        lambda p: [None for _ in asc.range(70_000)],
        "<lambda>: a loop has 70000 rounds, allowed are 0..65535 (its counter is a uint16)",
    ),
    (
        lambda p: list(asc.range(1, 5)),
        "<lambda>: a loop of a vector function runs from 0 in steps of 1, given: start 1, step 1 (multiply the index "
        "instead; asc.static_range unrolls)",
    ),
    (
        lambda p: load(p + 4),
        "Reg::LoadAlign: src starts at UB byte 16, which is not always a multiple of 32 (a 32 B block)",
    ),
    (
        lambda p: reg.load_align(reg.RegTensor(F32), p, dist=reg.LoadDist.DIST_UNPACK_B16),
        "Reg::LoadAlign: DIST_UNPACK_B16 moves elements of 2 B, but src is float32",
    ),
    (
        lambda p: reg.load_align(reg.RegTensor(F16), p),
        "Reg::LoadAlign: src float32, register float16: all operands must have one dtype",
    ),
    (
        lambda p: reg.load_align(reg.RegTensor(F32), p, dist=reg.LoadDist.DIST_DINTLV_B32),
        "Reg::LoadAlign: DIST_DINTLV_B32 moves 2 registers, given: 1",
    ),
    (
        lambda p: reg.muls(load(p), load(p), 2.0, 64),
        "Reg::Muls: mask must be a MaskReg (create_mask, update_mask), not int",
    ),
    (
        lambda p: reg.bitwise_and(load(p), load(p), load(p), reg.create_mask(F32)),
        "Reg::And: dtype float32 is not supported, allowed are int8, uint8, int16, uint16, int32, uint32",
    ),
    (
        lambda p: reg.cast(reg.RegTensor(asc.uint8), load(p), reg.create_mask(F32)),
        "Reg::Cast: float32 -> uint8 is not supported, allowed are ",
    ),
    (
        lambda p: reg.cast(reg.RegTensor(F16), load(p), reg.create_mask(F32), reg.CastTrait(reg.RegLayout.TWO)),
        "Reg::Cast: layout TWO does not exist between float32 and float16",
    ),
    (
        lambda p: reg.store_align(p + 256, load(p), reg.create_mask(F32)),
        "writes UB bytes 1024..1279, but its tensor holds bytes 0..1023 (256 elements of float32)",
    ),
    (
        lambda p: reg.update_mask(F32, 64),
        "Reg::UpdateMask: counter must be an asc.reg.Counter, not int",
    ),
    (
        lambda p: asc.set_flag(asc.HardEvent.V_MTE3, 0),
        "inside a vector function only asc.reg computes: instructions on LocalTensors, copies and flags belong in the "
        "kernel",
    ),
    (many_registers, "33 vector registers hold values that are still needed"),
    (unwritten, "reads a register that nothing has written yet"),
    (lambda p: load(p) and 5, "<lambda>: a vector function returns nothing; store results in unified buffer"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "text"), CASES)
def test_refused(body: Any, text: str) -> None:
    with VfBench() as bench, pytest.raises(KernelError) as caught:
        asc.vf(body)(bench.local(F32, 0, np.zeros(256)))
    assert text in str(caught.value), f"got: {caught.value}"


def test_registers_do_not_outlive_their_function() -> None:
    def keep(p: Any) -> None:
        KEPT.append(load(p))

    def use(p: Any) -> None:
        reg.adds(KEPT[0], KEPT[0], 1.0, reg.create_mask(F32))

    with VfBench() as bench:
        tensor = bench.local(F32, 0, np.zeros(256))
        asc.vf(keep)(tensor)
        refused(
            lambda: asc.vf(use)(tensor),
            "Reg::Adds: dst belongs to another call of a vector function: registers do not outlive their function",
        )


def test_register_calls_stand_in_vector_functions() -> None:
    with VfBench():
        refused(
            lambda: reg.create_mask(F32),
            "asc.reg.create_mask can only be called inside a vector function: decorate the function with @asc.vf and "
            "call it from the kernel",
        )


def test_older_chips_have_no_registers() -> None:
    with VfBench(arch="2201") as bench:
        refused(
            lambda: asc.vf(lambda p: None)(bench.local(F32, 0, np.zeros(8))),
            "<lambda>: Ascend 910B / 910_93 (arch 2201) has no vector functions: registers are what Ascend 950 (arch "
            "3510) computes in; use the instructions on LocalTensors",
        )


def test_arguments_of_other_kinds() -> None:
    with VfBench():
        refused(
            lambda: asc.vf(lambda p: None)([1]),
            "<lambda>: an argument is a list; a vector function takes LocalTensors, numbers, data types, strings, "
            "enumerations and tuples of them",
        )


def test_variables_around_the_function_of_other_kinds() -> None:
    around = [1]
    with VfBench() as bench:
        refused(
            lambda: asc.vf(lambda p: around.append(2))(bench.local(F32, 0, np.zeros(8))),
            "<lambda>: 'around', a variable around the function, is a list; a vector function takes LocalTensors, "
            "numbers, data types, strings, enumerations and tuples of them",
        )


def test_a_call_is_traced_once_per_distinct_arguments() -> None:
    KEPT.clear()

    def body(p: Any, factor: float) -> None:
        KEPT.append(factor)
        reg.muls(x := load(p), x, factor, mask := reg.create_mask(F32))
        reg.store_align(p, x, mask)

    function = asc.vf(body)
    with VfBench() as bench:
        tensor = bench.local(F32, 0, np.ones(64))
        for factor in (2.0, 2.0, 0.5, -0.0, 0.0, 2.0):
            function(tensor, factor)
        assert KEPT == [2.0, 0.5, -0.0, 0.0]
        assert len({id(instr) for instr in bench.core.instrs}) == 4


def test_what_a_closure_holds_counts() -> None:
    with VfBench() as bench:
        tensor = bench.local(F32, 0, np.ones(64))
        for factor in (2.0, 3.0):

            @asc.vf
            def scale_vf(p: Any) -> None:
                reg.muls(x := load(p), x, factor, mask := reg.create_mask(F32))  # noqa: B023
                reg.store_align(p, x, mask)

            scale_vf(tensor)
        assert (bench.of(tensor) == 6).all()
