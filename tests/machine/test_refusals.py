"""What the machine refuses, word for word."""

from __future__ import annotations

import gc
import re

import pytest

from ascend_sim.errors import DeadlockError, InputError, KernelError, UnsupportedError
from ascend_sim.machine import Machine
from ascend_sim.program import FlagWork, HardEvent, Instr, PipeID, Place, ScalarCall, VectorWork, scalar_call_unit
from ascend_sim.soc import load

from .build import BlockBuilder, Row, program

SOC = load("ascend910b")


def refused(error: type[Exception], text: str):
    return pytest.raises(error, match=f"^{re.escape(text)}$")


def test_a_flag_that_nobody_sets():
    block = BlockBuilder(3).load(0, 0, 256).wait("MTE2_V", 1).vector("Muls", 0, 0, nbytes=256)
    with refused(
        DeadlockError,
        "kernel 'test' cannot go on; waiting: block 3 PIPE_V: WaitFlag waits for flag MTE2_V id 1, which PIPE_MTE2 "
        "does not set",
    ):
        Machine(SOC).run(program(block))


def test_pipes_that_wait_for_each_other():
    block = BlockBuilder(0).wait("V_MTE2").set("MTE2_V").wait("MTE2_V").set("V_MTE2").barrier("ALL")
    with refused(
        DeadlockError,
        "kernel 'test' cannot go on; waiting: block 0 PIPE_V: WaitFlag waits for flag MTE2_V id 0, which PIPE_MTE2 "
        "sets too late; block 0 PIPE_MTE2: WaitFlag waits for flag V_MTE2 id 0, which PIPE_V sets too late; block 0 "
        "PIPE_S: PipeBarrier waits for the pipes above",
    ):
        Machine(SOC).run(program(block))


def test_a_wait_names_its_source_lines():
    block = BlockBuilder(0)
    frame = test_a_wait_names_its_source_lines.__code__
    place = Place(frame, 0)
    work = FlagWork(HardEvent.V_S, 0, True)
    block.program.instrs.append(Instr(Row("WaitFlag", "WaitFlag"), PipeID.PIPE_S, work, place=place))
    with refused(
        DeadlockError,
        f"kernel 'test' cannot go on; waiting: block 0 PIPE_S: WaitFlag at {frame.co_filename}:{place.line} waits for "
        "flag V_S id 0, which PIPE_V does not set",
    ):
        Machine(SOC).run(program(block))


def test_a_block_that_does_not_come_to_sync_all():
    with refused(
        DeadlockError,
        "kernel 'test' cannot go on; waiting: block 0 PIPE_S: SyncAll waits for blocks that never come to SyncAll",
    ):
        Machine(SOC).run(program(BlockBuilder(0).sync_all(), BlockBuilder(1)))


def test_a_full_queue_whose_pipe_waits_for_ever():
    soc = load("ascend910b", {"timing.queues.vector_entries": 1})
    block = BlockBuilder(0).wait("MTE2_V").vector("Muls", 0, 0, nbytes=256).set("MTE2_V")
    with refused(
        DeadlockError,
        "kernel 'test' cannot go on; waiting: block 0 PIPE_V: WaitFlag waits for flag MTE2_V id 0, which PIPE_MTE2 "
        "sets too late; block 0 PIPE_S: Muls waits for room in the full queue of PIPE_V",
    ):
        Machine(soc).run(program(block))


def test_many_waiters_are_cut_short():
    blocks = [BlockBuilder(number).wait("MTE2_V") for number in range(12)]
    with pytest.raises(DeadlockError, match=r"block 7 PIPE_V: [^;]*; and 4 more$"):
        Machine(SOC).run(program(*blocks))


def test_a_flag_set_twice():
    block = BlockBuilder(2).set("V_MTE3", 5).set("V_MTE3", 5)
    with refused(
        KernelError,
        "block 2: SetFlag V_MTE3 id 5 sets a flag that is still set (SetFlag): between two sets of one event and id a "
        "WaitFlag must stand, or the hardware may hang",
    ):
        Machine(SOC).run(program(block))


def test_a_flag_left_set_is_named_with_its_blocks():
    place = Place(test_a_flag_left_set_is_named_with_its_blocks.__code__, 0)
    set_flag = Instr(Row("SetFlag", "SetFlag"), PipeID.PIPE_MTE2, FlagWork(HardEvent.MTE2_V, 3, False), place=place)
    blocks = [BlockBuilder(number).set("V_MTE3", 1).wait("V_MTE3", 1) for number in (0, 1, 2, 4)]
    for block in blocks:
        block.program.instrs.append(set_flag)
    blocks.append(BlockBuilder(5).set("V_MTE3", 1).wait("V_MTE3", 1).set("V_MTE3", 1))
    advice = "so the flag stays set when the kernel ends, and the next one that sets it may hang: add a WaitFlag"
    assert Machine(SOC).run(program(*blocks)).warnings == [
        f"SetFlag MTE2_V id 3 at {place}: PIPE_V never waits for what PIPE_MTE2 sets (block 0..2, 4), {advice}",
        f"SetFlag V_MTE3 id 1: PIPE_MTE3 never waits for what PIPE_V sets (block 5), {advice}",
    ]


def test_sync_all_with_more_blocks_than_cores():
    blocks = [BlockBuilder(number).sync_all() for number in range(41)]
    with refused(
        KernelError,
        "kernel 'test': SyncAll with 41 blocks on the 40 vector cores of Ascend910B3: all blocks must run at once; at "
        "most 40 can",
    ):
        Machine(SOC).run(program(*blocks))


@pytest.mark.parametrize("pipe", ["PIPE_M", "PIPE_MTE1", "PIPE_FIX"])
def test_pipes_of_the_cube_core(pipe):
    block = BlockBuilder(0).add("Mmad", PipeID[pipe], VectorWork("float16", 128, 1, 128, False, ()))
    with refused(
        UnsupportedError,
        f"Mmad runs on {pipe}: the simulator has the vector core's pipes PIPE_S, PIPE_V, PIPE_MTE2 and PIPE_MTE3; cube "
        "kernels cannot run yet",
    ):
        Machine(SOC).run(program(block))


def test_an_unknown_l2_state():
    with refused(InputError, "l2='hot': allowed are 'warm', 'cold', 'keep' and 'endless'"):
        Machine(SOC).run(program(BlockBuilder(0)), l2="hot")


def test_an_unknown_launch_kind():
    with refused(InputError, "launch_kind='warm': allowed are 'back_to_back', 'few_launches' and 'in_situ'"):
        Machine(SOC).run(program(BlockBuilder(0)), launch_kind="warm")


def test_garbage_collection_comes_back_after_an_error():
    assert gc.isenabled()
    with pytest.raises(DeadlockError):
        Machine(SOC).run(program(BlockBuilder(0).wait("MTE2_V")))
    assert gc.isenabled()


def test_every_scalar_call_has_a_price():
    block = BlockBuilder(0)
    for kind in ScalarCall:
        block.program.trailing_calls += scalar_call_unit(kind)
    line = Machine(SOC).run(program(block)).cores[0]
    assert line.finish > SOC.require_timing().scalar.prologue_cycles + len(ScalarCall)
