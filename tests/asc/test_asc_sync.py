"""Flags, barriers and SyncAll."""

from __future__ import annotations

import numpy as np
import pytest
from asc_bench import instrs, record, refused

from ascend_sim import asc
from ascend_sim.asc import HardEvent, PipeID
from ascend_sim.errors import KernelError, UnsupportedError
from ascend_sim.program import BarrierWork, FlagWork, SyncWork


def test_flags_and_barriers() -> None:
    def body() -> None:
        asc.set_flag(HardEvent.MTE2_V)
        asc.wait_flag(HardEvent.MTE2_V, event_id=0)
        asc.set_flag(20, asc.number(7, asc.int32))  # type: ignore[arg-type]
        asc.pipe_barrier(PipeID.PIPE_V)
        asc.pipe_barrier(6)  # type: ignore[arg-type]
        asc.data_sync_barrier(asc.MemDsbT.DDR)

    found = record(body).blocks[0].instrs
    assert [i.work for i in found] == [
        FlagWork(HardEvent.MTE2_V, 0, wait=False),
        FlagWork(HardEvent.MTE2_V, 0, wait=True),
        FlagWork(HardEvent.MTE2_MTE3, 7, wait=False),
        BarrierWork(PipeID.PIPE_V),
        BarrierWork(PipeID.PIPE_ALL),
        BarrierWork(PipeID.PIPE_ALL),
    ]
    assert [i.pipe.name for i in found] == ["PIPE_MTE2", "PIPE_V", "PIPE_MTE2", "PIPE_V", "PIPE_S", "PIPE_S"]
    assert str(found[1].place) == f"{__file__}:{body.__code__.co_firstlineno + 2}"


def test_flag_refusals() -> None:
    refused(lambda: asc.set_flag(HardEvent.MTE2_V, 8), "set_flag: event_id 8, allowed are 0..7")
    refused(lambda: asc.wait_flag(HardEvent.MTE2_V, -1), "wait_flag: event_id -1, allowed are 0..7")
    refused(lambda: asc.set_flag("MTE2_V"), "set_flag takes a HardEvent such as HardEvent.MTE2_V, not 'MTE2_V'")
    refused(
        lambda: asc.set_flag(HardEvent.M_V),
        "set_flag: HardEvent.M_V needs PIPE_M, which a vector core does not have; cube kernels are not simulated yet",
    )


def test_barrier_refusals() -> None:
    refused(
        lambda: asc.pipe_barrier(PipeID.PIPE_S),
        "pipe_barrier(PIPE_S) is not allowed: the scalar unit runs in order by itself",
    )
    refused(
        lambda: asc.pipe_barrier(PipeID.PIPE_M),
        "pipe_barrier(PIPE_M): a vector core has no such pipe, allowed are PIPE_V, PIPE_MTE2, PIPE_MTE3 and PIPE_ALL; "
        "cube kernels are not simulated yet",
    )
    refused(lambda: asc.pipe_barrier("V"), "pipe_barrier takes a PipeID such as PipeID.PIPE_V, not 'V'")
    refused(lambda: asc.data_sync_barrier(1), "data_sync_barrier takes a MemDsbT such as MemDsbT.ALL, not 1")


@asc.jit
def neighbour_sum(x: asc.GlobalAddress, parts: asc.GlobalAddress, out: asc.GlobalAddress) -> None:
    """Every block doubles its element, waits, then adds its right neighbour's; the UB must survive the wait."""
    block, blocks = asc.get_block_idx(), asc.get_block_num()
    x_gm, parts_gm, out_gm = asc.GlobalTensor(), asc.GlobalTensor(), asc.GlobalTensor()
    for tensor, address in ((x_gm, x), (parts_gm, parts), (out_gm, out)):
        tensor.set_global_buffer(address)
    kept = asc.LocalTensor(asc.int32, asc.TPosition.VECCALC, 0, 8)
    kept.set_value(0, x_gm.get_value(block) * 2)
    parts_gm.set_value(block, kept.get_value(0))
    asc.sync_all()
    kept.set_value(1, parts_gm.get_value((block + 1) % blocks))
    asc.sync_all()
    out_gm.set_value(block, kept.get_value(0) + kept.get_value(1))


@pytest.mark.parametrize("order", [None, [4, 3, 2, 1, 0], [2, 0, 4, 1, 3]])
def test_blocks_meet_at_sync_all_whatever_their_order(order: list[int] | None) -> None:
    x = np.array([1, 10, 100, 1000, 10000], np.int32)
    parts, out = np.zeros(5, np.int32), np.zeros(5, np.int32)
    program = record(neighbour_sum, x, parts, out, blocks=5, block_order=order)
    assert out.tolist() == [22, 220, 2200, 22000, 20002]
    assert [core.block for core in program.blocks] == [0, 1, 2, 3, 4]
    for core in program.blocks:
        assert sum(isinstance(i.work, SyncWork) for i in core.instrs) == 2


def test_registers_and_pipes_survive_the_wait() -> None:
    def body() -> None:
        pipe = asc.TPipe()
        asc.set_mask_count()
        asc.sync_all()
        assert asc.get_tpipe_ptr() is pipe
        asc.LocalTensor(asc.int32, asc.TPosition.VECCALC, 0, 8).set_value(0, 1)
        asc.sync_all()

    record(body, blocks=3)


def test_soft_sync_all() -> None:
    def body(workspace: asc.GlobalAddress) -> None:
        gm = asc.GlobalTensor()
        gm.set_global_buffer(workspace)
        ub = asc.LocalTensor(asc.int32, asc.TPosition.VECCALC, 0, 16)
        asc.sync_all(gm, ub)

    assert instrs(body, np.zeros(16, np.int32), blocks=2) == ["SyncAll soft"]
    refused(
        body,
        "sync_all: gm_workspace has 56 B, but 2 blocks need 64 B (32 B per block)",
        np.zeros(14, np.int32),
        blocks=2,
    )
    refused(
        body,
        "sync_all takes int32 workspaces, not asc.float32 and asc.int32",
        np.zeros(16, np.float32),
        blocks=2,
    )


def test_a_block_that_never_arrives() -> None:
    def body() -> None:
        if asc.get_block_idx() % 2 == 0:
            asc.sync_all()

    with pytest.raises(KernelError) as caught:
        record(body, blocks=5)
    line = body.__code__.co_firstlineno + 2
    assert str(caught.value) == (
        f"kernel 'body': SyncAll at {__file__}:{line} never ends: blocks 0, 2, 4 wait, blocks 1, 3 ended without it"
    )


def test_more_blocks_than_cores_cannot_meet() -> None:
    refused(
        lambda: asc.sync_all(),  # noqa: PLW0108 - sync_all's own defaults would not be applied
        "SyncAll with 41 blocks: Ascend910B3 has 40 vector cores, and the blocks that have no core yet would never "
        "arrive",
        blocks=41,
    )


def test_what_is_not_simulated_says_so() -> None:
    refused(
        lambda: asc.cross_core_set_flag(0, 0, PipeID.PIPE_V),
        "asc.cross_core_set_flag: synchronisation of single cores is not simulated yet; use asc.sync_all",
        kind=UnsupportedError,
    )
    refused(
        lambda: asc.sync_all(is_aiv_only=False),
        "sync_all(is_aiv_only=False) waits for cube cores, which are not simulated yet",
    )
