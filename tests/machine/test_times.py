"""Cycle counts of small programs, each worked out by hand from the chip's constants."""

from __future__ import annotations

import math

import pytest

from ascend_sim.machine import Machine
from ascend_sim.program import ScalarCall
from ascend_sim.soc import load
from ascend_sim.timeline import Cause

from .build import BlockBuilder, program

SOC = load("Ascend910B4")
T = SOC.require_timing()
BEGIN = T.scalar.prologue_cycles
VECTOR = T.scalar.vector_issue_cycles
COPY = T.scalar.copy_issue_cycles
LEAD = T.vector.mask_cycles


def run(*blocks: BlockBuilder, auto_sync: bool = True, soc=SOC, l2="warm"):
    return Machine(soc).run(program(*blocks, auto_sync=auto_sync), l2=l2)


def test_independent_vector_instructions_overlap_their_tails():
    block = BlockBuilder(0)
    for number in range(3):
        block.vector("Add", 0x20000 + number * 8192, 0x0, 0x4100, nbytes=8192, count=False)
    line = run(block).cores[0]
    assert list(line.dispatch) == [BEGIN + VECTOR, BEGIN + 2 * VECTOR, BEGIN + 3 * VECTOR]
    assert list(line.start) == [BEGIN + VECTOR, BEGIN + VECTOR + 32, BEGIN + VECTOR + 64]
    assert line.end[2] == line.start[2] + 32 + 22
    assert list(line.cause) == [Cause.DISPATCH, Cause.NONE, Cause.NONE]


def test_dependent_vector_instructions_wait_for_the_tail_with_auto_sync_only():
    def chain():
        block = BlockBuilder(0).vector("Add", 0x20000, 0x0, 0x4100, nbytes=8192, count=False)
        return block.vector("Mul", 0x24000, 0x20000, 0x0100, nbytes=8192, count=False)

    line = run(chain()).cores[0]
    assert line.start[1] == line.end[0]
    assert (line.cause[1], line.peer[1], line.wait[1]) == (Cause.AUTO_SYNC, 0, 22)
    free = run(chain(), auto_sync=False).cores[0]
    assert free.start[1] == free.start[0] + 32


def test_count_form_sets_the_mask_first_and_pays_for_a_partial_repeat():
    block = BlockBuilder(0).vector("Add", 0x20000, 0x0, 0x4100, nbytes=8192)
    block.vector("Add", 0x22000, 0x0, 0x4100, nbytes=8224)
    line = run(block).cores[0]
    assert line.start[1] == line.start[0] + 32 + LEAD
    assert line.end[1] == line.start[1] + 33 + 22 + T.vector.partial_count_cycles


def test_bank_conflict_doubles_the_repeats():
    line = run(BlockBuilder(0).vector("Add", 0x10000, 0x0, 0x4000, nbytes=8192, count=False)).cores[0]
    assert line.end[0] - line.start[0] == 64 + 22


def test_scalar_calls_delay_the_dispatch():
    block = BlockBuilder(0).call(ScalarCall.ALLOC_TENSOR, ScalarCall.SET_GLOBAL_BUFFER).load(0, 0, 1024)
    line = run(block).cores[0]
    assert line.dispatch[0] == BEGIN + 14 + 14 + COPY
    assert line.scalar_cycles == BEGIN + 28 + COPY + T.scalar.epilogue_cycles


def test_a_load_held_by_l2_and_one_from_hbm():
    memory = T.memory
    warm = run(BlockBuilder(0).load(0, 0, 16384)).cores[0]
    assert warm.end[0] - warm.start[0] == 16384 // 128 + memory.load_latency_cycles
    cold = run(BlockBuilder(0).load(0, 0, 16384), l2="cold").cores[0]
    alone, latency = memory.hbm_gbps_per_core / 1.65, round(memory.load_miss_latency_ns * 1.65)
    assert cold.end[0] - cold.start[0] == math.ceil((16384 + memory.hbm_run_bytes) / alone) + latency


def test_loads_follow_each_other_by_gap_and_bytes():
    line = run(BlockBuilder(0).load(0, 0, 16384).load(1 << 20, 16384, 16384)).cores[0]
    assert line.start[1] == line.start[0] + 128 + T.memory.issue_gap_cycles
    assert line.cause[1] == Cause.NONE


def test_load_and_store_share_the_port():
    block = BlockBuilder(0).load(0, 0, 131072).store(1 << 20, 0, 16384)
    line = run(block).cores[0]
    half = T.memory.port_total_bytes_per_cycle / 2
    stored = -(-16384 // half)
    assert line.end[1] - line.start[1] == stored + T.memory.store_latency_cycles
    ahead = (line.start[1] - line.start[0]) * 128
    rest = 131072 - ahead - stored * half
    assert line.end[0] - line.start[1] == stored + -(-rest // 128) + T.memory.load_latency_cycles


def test_a_flag_is_seen_when_the_work_before_it_is_done():
    block = BlockBuilder(0).load(0, 0, 1024).set("MTE2_V").wait("MTE2_V")
    block.vector("Muls", 0x4000, 0, nbytes=1024)
    line = run(block).cores[0]
    assert line.end[1] == line.end[0] + T.sync.flag_cycles
    assert line.start[2] == line.end[1]
    assert (line.cause[2], line.peer[2]) == (Cause.FLAG, 1)
    assert line.start[3] == line.start[2] + T.sync.vector_hold_cycles + LEAD


def test_flags_hold_a_transfer_pipe():
    block = BlockBuilder(0).load(0, 0, 1024).set("MTE2_V").load(4096, 0, 1024)
    line = run(block).cores[0]
    gap = 8 + T.memory.issue_gap_cycles
    assert line.start[1] == line.start[0] + gap
    assert line.start[2] == line.start[0] + gap + T.sync.transfer_hold_cycles


def test_a_full_queue_stops_the_scalar_unit():
    soc = load("Ascend910B4", {"timing.queues.vector_entries": 2})
    block = BlockBuilder(0)
    for number in range(4):
        block.vector("Exp", 0x20000 + number * 8192, 0x0, nbytes=8192, count=False)
    line = run(block, soc=soc).cores[0]
    assert line.dispatch[3] == line.start[1]
    assert (line.cause[3], line.wait[3]) == (Cause.QUEUE, line.start[1] - line.dispatch[2] - VECTOR)


def test_get_value_waits_for_the_pipe_that_writes_and_set_value_is_handed_over():
    block = BlockBuilder(0).vector("Add", 0x0, 0x4000, 0x8000, nbytes=256, count=False)
    block.get_value(0x20).set_value(0x40).vector("Muls", 0x1000, 0x0, nbytes=256, count=False)
    line = run(block).cores[0]
    assert line.start[1] == line.end[0] + T.sync.to_scalar_cycles
    assert (line.cause[1], line.peer[1]) == (Cause.AUTO_SYNC, 0)
    assert line.end[1] == line.start[1] + T.scalar.ub_load_cycles
    assert line.dispatch[3] == line.end[2] + VECTOR + T.sync.from_scalar_cycles


def test_set_value_elsewhere_waits_for_nobody():
    block = BlockBuilder(0).vector("Add", 0x0, 0x4000, 0x8000, nbytes=256, count=False).set_value(0x2000)
    line = run(block).cores[0]
    assert line.start[1] == line.dispatch[0]
    assert line.cause[1] == Cause.NONE


def test_gm_scalar_access_misses_the_data_cache_once_per_line():
    for l2, missed in (("cold", T.scalar.gm_load_miss_cycles), ("warm", T.scalar.gm_load_l2_cycles)):
        line = run(BlockBuilder(0).gm_value(0).gm_value(60).gm_value(64), l2=l2).cores[0]
        lengths = [end - start for start, end in zip(line.start, line.end, strict=True)]
        assert lengths == [missed, T.scalar.gm_load_cycles, missed]
        assert list(line.cause) == [Cause.MEMORY, Cause.NONE, Cause.MEMORY]


def test_a_cold_start_makes_each_block_wait_longer():
    launched = program(BlockBuilder(0), BlockBuilder(1))
    lines = Machine(SOC).run(launched, launch_kind="few_launches").cores
    usual = Machine(SOC).run(launched).cores
    late = [one.finish - other.finish for one, other in zip(lines, usual, strict=True)]
    cold = T.launch.cold_start
    assert late == [round(cold.late_us("few_launches", number) * 1650) for number in (0, 1)]


def test_the_first_load_and_the_first_store_of_a_cold_start_take_longer():
    soc = load("Ascend910B4", {"timing.launch.cold_start.first_store_us": 0.5})
    block = BlockBuilder(0).load(0, 0, 512).load(4096, 512, 512).barrier("ALL").store(0, 0, 512).store(4096, 512, 512)
    cold, usual = (
        Machine(soc).run(program(block), launch_kind=kind).cores[0] for kind in ("few_launches", "back_to_back")
    )
    longer = [(cold.end[i] - cold.start[i]) - (usual.end[i] - usual.start[i]) for i in (0, 1, 3, 4)]
    starts = soc.require_timing().launch.cold_start
    first_load = round((starts.first_load_us + starts.us_per_block) * 1650)
    assert longer == [first_load, 0, round(0.5 * 1650), 0]


def test_pipe_all_waits_for_every_pipe():
    block = BlockBuilder(0).load(0, 0, 16384).vector("Exp", 0x8000, 0xA000, nbytes=256).barrier("ALL")
    line = run(block).cores[0]
    assert line.start[2] == line.end[0]
    assert (line.cause[2], line.peer[2]) == (Cause.BARRIER, 0)


def test_pipe_barrier_waits_for_its_own_pipe():
    block = BlockBuilder(0).load(0, 0, 16384).vector("Exp", 0x8000, 0xA000, nbytes=256).barrier("V")
    line = run(block).cores[0]
    assert line.start[2] == line.end[1] < line.end[0]


def test_sync_all_waits_for_the_slowest_core():
    def block(number: int, repeats: int) -> BlockBuilder:
        built = BlockBuilder(number)
        for _ in range(repeats):
            built.vector("Exp", 0x0, 0x4000, nbytes=16384)
        return built.sync_all().vector("Exp", 0x0, 0x4000, nbytes=256)

    timeline = run(block(0, 1), block(1, 1), block(2, 50))
    slow = timeline.cores[2]
    leaves = {line.start[-2] for line in timeline.cores}
    assert leaves == {slow.end[49] + T.sync.sync_all_cycles}
    assert timeline.cores[0].cause[1] == Cause.CORES


def test_blocks_start_staggered_and_run_in_waves():
    soc = load("Ascend910B4", {"cores.aiv": 2})
    blocks = [BlockBuilder(number).vector("Exp", 0, 0x4000, nbytes=4096 * (number + 1)) for number in range(3)]
    lines = run(*blocks, soc=soc).cores
    assert [line.core for line in lines] == [0, 1, 0]
    assert [line.begin for line in lines] == [
        0,
        T.launch.stagger_cycles,
        lines[0].finish + T.launch.next_block_cycles,
    ]


def test_launch_overhead_grows_with_blocks_and_leaves_out_the_stagger():
    one = run(BlockBuilder(0))
    assert one.launch_us == 0.6
    twenty = run(*(BlockBuilder(number) for number in range(20)))
    assert twenty.launch_us == pytest.approx(1.3 - 19 * T.launch.stagger_cycles / 1650)


def test_an_empty_block_takes_prologue_and_epilogue():
    timeline = run(BlockBuilder(0))
    assert timeline.duration_cycles == T.scalar.prologue_cycles + T.scalar.epilogue_cycles


@pytest.mark.parametrize(("lines", "held"), [(1, 1.0), (2, 0.0)])
def test_a_warm_l2_holds_no_more_than_fits(lines, held):
    """Loads alone displace clean lines: a launch that reads more than L2 has finds nothing of it the next time."""
    small = load("Ascend910B4", {"l2.bytes": 1 << 20})
    block = BlockBuilder(0)
    for number in range(lines * 32):
        block.load(number * 32768, 0, 32768)
    memory = run(block, soc=small).memory
    assert memory.l2_read_hit_bytes / memory.read_bytes == held


def test_a_barrier_waits_until_the_last_byte_is_there():
    line = run(BlockBuilder(0).load(0, 0, 8192).barrier("MTE2").load(8192, 8192, 8192)).cores[0]
    assert line.start[1] == line.end[0]
    assert line.start[2] >= line.end[0]


def test_a_store_that_covers_a_piece_in_part_fetches_it_once():
    """Rows of 256 B: the first of two in a piece of 512 B brings the piece in, whole pieces need nothing."""
    memory = T.memory
    whole = run(BlockBuilder(0).store(0, 0, 512), l2="cold")
    half = run(BlockBuilder(0).store(0, 0, 256), l2="cold")
    both = run(BlockBuilder(0).store(0, 0, 256).store(256, 0, 256), l2="cold")
    assert [found.memory.hbm_read_bytes for found in (whole, half, both)] == [0, 512, 512]
    core = whole.cores[0]
    late = round(memory.store_miss_ns * 1.65)
    held = math.ceil(512 / memory.port_store_bytes_per_cycle) + memory.store_latency_cycles
    assert core.end[0] - core.start[0] == held + late
    assert run(BlockBuilder(0).store(0, 0, 256)).memory.hbm_read_bytes == 0, "warm"


def test_a_load_past_l2_moves_grains_of_128_bytes_and_pays_for_each_row():
    memory = T.memory
    alone = memory.hbm_gbps_per_core / 1.65
    for bypass, piece in ((True, 128), (False, 512)):
        found = run(BlockBuilder(0).load(0, 0, 128, rows=16, pitch=1024, bypass=bypass), l2="cold")
        assert found.memory.hbm_read_bytes == 16 * piece
        core, moved = found.cores[0], 16 * (piece + memory.hbm_run_bytes)
        assert core.end[0] - core.start[0] == pytest.approx(
            moved / alone + memory.load_miss_latency_ns * 1.65, abs=1 if moved / alone > 16 * memory.row_cycles else 99
        )


def test_later_launches_find_what_earlier_ones_left():
    machine, launched = Machine(SOC), program(BlockBuilder(0).load(0, 0, 8192))
    found = [machine.run(launched, "keep").memory.l2_read_hit_bytes for _ in range(3)]
    assert found == [0, 8192, 8192]
    assert machine.run(launched, "cold").memory.l2_read_hit_bytes == 0


def test_cold_starts_go_by_kind_of_launch_and_by_what_is_asked_for():
    launched = program(BlockBuilder(0), BlockBuilder(1))
    cold = T.launch.cold_start
    kinds = {"back_to_back": 0.0, "few_launches": cold.few_launches_us, "in_situ": cold.in_situ_us}
    usual = Machine(SOC).run(launched).duration_cycles
    for kind, first in kinds.items():
        found = Machine(SOC).run(launched, launch_kind=kind, cold_start_us=3.0)
        late = 3.0 + first + (cold.us_per_block if first else 0.0)
        assert found.cold_start_us == pytest.approx(late)
        assert found.duration_cycles - usual == pytest.approx(late * 1650, abs=1)
