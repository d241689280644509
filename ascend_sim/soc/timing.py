"""What instructions, transfers and launches cost: the `timing` section of `configs/arch<arch>.yaml`.

Units stand in the names; where a figure comes from and how far to trust it stands beside it in the file. What the
figures mean is said here, how they act in `ascend_sim.machine`.
"""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from ascend_sim.soc.base import Count, Rate, Section

Cycles = Annotated[int, Field(ge=0)]
"""A whole number of cycles."""

SomeCycles = Annotated[int, Field(ge=1)]
"""A whole number of cycles that cannot be 0: an effect is never visible in the cycle that causes it."""

Share = Annotated[float, Field(gt=0, le=1)]


class CallTiming(Section):
    """Scalar cycles of one framework call or register access, by kind (`program.ScalarCall`); `framework_cycles` is for
    the calls of every tile: AllocTensor, FreeTensor, EnQue, DeQue, SetGlobalBuffer."""

    framework_cycles: Cycles
    init_buffer_cycles: Cycles
    tpipe_cycles: Cycles
    event_id_cycles: Cycles
    mask_cycles: Cycles
    atomic_cycles: Cycles
    alu_cycles: Cycles
    division_cycles: Cycles
    tiling_read_cycles: Cycles


class ScalarTiming(Section):
    """The scalar unit: what it spends before an instruction is in its pipe's queue, and its own instructions.

    `prologue_cycles`: from the block's begin to its first own call (arguments, stack, cold instruction cache).
    `epilogue_cycles`: from the last instruction's end to the block's end. `ub_*` and `gm_*` are GetValue and SetValue;
    a GM access that misses the data cache pays the `l2` figure where L2 is warm, else the `miss` figure.
    """

    prologue_cycles: SomeCycles
    epilogue_cycles: Cycles
    vector_issue_cycles: Cycles
    copy_issue_cycles: Cycles
    flag_issue_cycles: Cycles
    barrier_issue_cycles: Cycles
    sync_all_issue_cycles: Cycles
    ub_load_cycles: SomeCycles
    ub_store_cycles: SomeCycles
    gm_load_cycles: SomeCycles
    gm_store_cycles: SomeCycles
    gm_load_l2_cycles: SomeCycles
    gm_store_l2_cycles: SomeCycles
    gm_load_miss_cycles: SomeCycles
    gm_store_miss_cycles: SomeCycles
    calls: CallTiming


class VectorTiming(Section):
    """The vector pipe.

    An instruction holds the pipe for `max(min_occupancy_cycles, repeats x lanes / elements per cycle)`, longer with
    bank conflicts; its result is visible `tail_cycles` later. Tables go by Ascend C name; `default` serves the rest.
    `mask_cycles` is what a count form adds in front (four mask registers). `partial_count_cycles` is added to the tail
    of a two-source count form whose bytes are no multiple of a repeat. A write reaches its bank `write_delay_cycles`
    after the repeat's last read.
    """

    min_occupancy_cycles: SomeCycles
    mask_cycles: Cycles
    partial_count_cycles: Cycles
    write_delay_cycles: SomeCycles
    tail_cycles: dict[str, SomeCycles]
    b16_elements_per_cycle: dict[str, Rate]
    b32_elements_per_cycle: dict[str, Rate]

    @model_validator(mode="after")
    def _check(self) -> Self:
        for name in ("tail_cycles", "b16_elements_per_cycle", "b32_elements_per_cycle"):
            if "default" not in getattr(self, name):
                raise ValueError(f"{name} needs an entry 'default'")
        return self


class VfTiming(Section):
    """Vector functions (950): what one costs between its start and its last store.

    `start_cycles` and `drain_cycles` stand around the body. Instructions are dispatched in order,
    `dispatch_instructions_per_cycle`, into a window of `window_entries`, and start out of order: `execute_units` of
    them, `load_ports` loads and a store in a cycle. UB takes `accesses_per_cycle`; stores wait for a place in it in a
    buffer of `store_buffer_entries`. A result can be used `latency - forward_cycles` after its instruction started (by
    a store `latency - store_forward_cycles`, after a load `latency - load_forward_cycles`). A unit takes its next
    instruction after the interval. `single_issue` lists what only the first unit does, or a load that needs both
    ports. Tables go by "Name_dtype", then "Name", then `default`.
    The end of a loop's round is dispatched like an instruction, and a loop that is not the function's first item is
    entered `loop_cycles` after what stands before it; `barrier_cycles` is added by a memory barrier when
    everything before it is done.
    """

    start_cycles: Cycles
    drain_cycles: Cycles
    dispatch_instructions_per_cycle: Count
    window_entries: Count
    execute_units: Count
    load_ports: Count
    accesses_per_cycle: Count
    store_buffer_entries: Count
    forward_cycles: Cycles
    store_forward_cycles: Cycles
    load_forward_cycles: Cycles
    loop_cycles: Cycles
    barrier_cycles: Cycles
    latency_cycles: dict[str, SomeCycles]
    interval_cycles: dict[str, SomeCycles]
    single_issue: dict[str, bool]

    @model_validator(mode="after")
    def _check(self) -> Self:
        for name in ("latency_cycles", "interval_cycles"):
            if "default" not in getattr(self, name):
                raise ValueError(f"{name} needs an entry 'default'")
        return self

    def figure(self, table: dict[str, int], name: str, dtype: str) -> int:
        """The entry of an instruction for operands of `dtype`."""
        for key in (f"{name}_{dtype}", name):
            if key in table:
                return table[key]
        return table["default"]


class SyncTiming(Section):
    """Flags, barriers, SyncAll.

    A flag can be seen `flag_cycles` after the work before it is done; `to_scalar_cycles` when the scalar unit waits
    for it, `from_scalar_cycles` when the scalar unit set it. A flag or barrier holds its pipe for the
    `*_hold_cycles`. The board's counter of the vector unit's busy time counts `queue_flag_counter_cycles` for each
    flag that a queue sets or waits for there; nothing takes longer for it.
    """

    flag_cycles: SomeCycles
    to_scalar_cycles: SomeCycles
    from_scalar_cycles: SomeCycles
    vector_hold_cycles: Cycles
    transfer_hold_cycles: Cycles
    queue_flag_counter_cycles: Cycles
    sync_all_cycles: SomeCycles


class QueueTiming(Section):
    """Entries of the queues between the scalar unit and the pipes."""

    vector_entries: Count
    mte2_entries: Count
    mte3_entries: Count


class MemoryTiming(Section):
    """GM transfers.

    The transfer engine takes one instruction after the other: `issue_gap_cycles` plus the time that its bytes take,
    which is decided by the tightest of the core's port (`port_*`; `port_total` when loads and stores run at once), the
    rates of the L2 that all cores share (`l2` of the chip), and for what L2 does not hold the HBM rate, of which one
    core alone gets at most `hbm_gbps_per_core`. Rows apart from each other take at least `row_cycles` each. The last
    byte then takes the latency; a store into lines that L2 does not hold takes `store_miss_ns` more.

    L2 fills pieces of `piece_bytes`; a store that covers a piece in part fetches it. Each row that HBM serves takes
    as long as `hbm_run_bytes` more bytes (opening a row of the memory). `hbm_efficiency_ratio` is the share of the
    memory's own rate that long loads reach; what is written back takes `hbm_write_cost_ratio` as long as what is
    loaded. A load past L2 of lines that another core is loading past L2 takes as long as `hbm_same_piece_bytes`
    more for each piece. `hbm_idle_write_share` of HBM's spare time goes into writing back lines that have not yet
    been displaced.
    """

    issue_gap_cycles: SomeCycles
    load_latency_cycles: SomeCycles
    load_miss_latency_ns: Rate
    store_latency_cycles: SomeCycles
    store_miss_ns: Annotated[float, Field(ge=0)]
    row_cycles: Cycles
    piece_bytes: Annotated[int, Field(ge=128, le=4096, multiple_of=128)]
    port_load_bytes_per_cycle: Rate
    port_store_bytes_per_cycle: Rate
    port_total_bytes_per_cycle: Rate
    hbm_gbps_per_core: Rate
    hbm_run_bytes: Annotated[int, Field(ge=0)]
    hbm_same_piece_bytes: Annotated[int, Field(ge=0)]
    hbm_efficiency_ratio: Share
    hbm_write_cost_ratio: Annotated[float, Field(ge=1)]
    hbm_idle_write_share: Annotated[float, Field(ge=0, le=1)]


class ColdStart(Section):
    """What a launch pays that does not follow others of its kernel back to back: instruction cache, TLB, arguments.

    The first block begins its own code later, by kind of launch (`few_launches_us`: the same kernel was launched
    before, `in_situ_us`: other kernels ran in between), each further block `us_per_block` more, for all cores fetch
    the same instructions and are served in turn. Then addresses are translated for the first time: a core's first
    load takes `first_load_us` and `us_per_block` for each block that runs more (all translate at once), its first
    store `first_store_us`.
    """

    few_launches_us: Annotated[float, Field(ge=0)]
    in_situ_us: Annotated[float, Field(ge=0)]
    us_per_block: Annotated[float, Field(ge=0)]
    first_load_us: Annotated[float, Field(ge=0)]
    first_store_us: Annotated[float, Field(ge=0)]

    def late_us(self, kind: str, block: int) -> float:
        """How much later block number `block` begins its code in a launch of `kind`."""
        if kind == "back_to_back":
            return 0.0
        first = self.few_launches_us if kind == "few_launches" else self.in_situ_us
        return first + self.us_per_block * block

    def transfers_us(self, kind: str, blocks: int) -> tuple[float, float]:
        """How much longer the first load and the first store of each core take when `blocks` run at once."""
        if kind == "back_to_back":
            return 0.0, 0.0
        return self.first_load_us + self.us_per_block * blocks, self.first_store_us


class LaunchTiming(Section):
    """Starting blocks: `overhead_us` by number of blocks (between the points it grows evenly), as Task Duration minus
    the slowest block; blocks begin `stagger_cycles` apart; a core begins its next block `next_block_cycles` after the
    one before.

    From one launch of a captured graph to the next, with nobody profiling, `graph_us` and `graph_us_per_block` pass
    beside what the blocks do after their prologue.
    """

    overhead_us: dict[int, Rate]
    stagger_cycles: Cycles
    next_block_cycles: SomeCycles
    cold_start: ColdStart
    graph_us: Rate
    graph_us_per_block: Annotated[float, Field(ge=0)]

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.overhead_us or min(self.overhead_us) < 1:
            raise ValueError("overhead_us needs at least one entry, for 1 block or more")
        return self

    def overhead(self, blocks: int) -> float:
        """Launch overhead in us for `blocks` running at once."""
        points = sorted(self.overhead_us.items())
        below = max((p for p in points if p[0] <= blocks), default=points[0])
        above = min((p for p in points if p[0] >= blocks), default=points[-1])
        if above[0] == below[0]:
            return below[1]
        return below[1] + (above[1] - below[1]) * (blocks - below[0]) / (above[0] - below[0])


class Timing(Section):
    """Timing constants of one architecture."""

    scalar: ScalarTiming
    vector: VectorTiming
    vf: VfTiming | None = None
    sync: SyncTiming
    queues: QueueTiming
    memory: MemoryTiming
    launch: LaunchTiming
