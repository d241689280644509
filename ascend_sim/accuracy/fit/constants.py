"""The constants that are fitted, what is known of them without the measured rows, and which rows they bear on."""

from __future__ import annotations

from ascend_sim.accuracy.table import Entry
from ascend_sim.soc import load
from ascend_sim.soc.parameters import Parameter

Values = dict[str, float]

MOST_CONSTANTS = 20
"""Of an architecture."""
REFERENCES = {"2201": "Ascend910B3", "3510": "Ascend950PR_9589"}
"""A variant of each architecture."""

PRIORS = {
    "2201": {
        "timing.scalar.prologue_cycles": 800.0,  # 1000 to 1100 of a kernel with a TPipe and 3 to 5 queues
        "timing.scalar.copy_issue_cycles": 16.0,  # 15 to 18 a call
        "timing.scalar.calls.framework_cycles": 16.0,
        "timing.vector.write_delay_cycles": 22.0,  # when the result can be used
        "timing.sync.transfer_hold_cycles": 1.0,  # what issuing a flag takes
        "timing.memory.load_latency_cycles": 200.0,  # 150 to 260
        "timing.memory.load_miss_latency_ns": 180.0,  # a first touch by the scalar unit: 300 to 360 cycles
        "timing.memory.store_latency_cycles": 200.0,
        "timing.memory.store_miss_ns": 20.0,  # nobody knows
        "timing.memory.port_total_bytes_per_cycle": 214.0,  # 128 in and 86 out at once
        "timing.memory.hbm_gbps_per_core": 87.0,  # 46 to 48 B/cycle
        "timing.memory.hbm_run_bytes": 32.0,  # nobody knows
        "timing.memory.hbm_write_cost_ratio": 1.0,  # a byte is a byte
        "timing.memory.hbm_idle_write_share": 0.5,  # nobody knows
        "timing.launch.cold_start.few_launches_us": 2.0,  # several microseconds with the blocks' share
        "timing.launch.cold_start.in_situ_us": 2.0,
        "timing.launch.cold_start.us_per_block": 0.2,  # 20 us for an empty kernel on all cores, twice
        "timing.launch.graph_us": 1.1,  # as a profiled launch on one block, prologue included
        "timing.launch.graph_us_per_block": 0.022,  # what a profiled launch takes more per block
    },
    "3510": {
        "timing.scalar.ub_load_cycles": 13.0,  # as on 2201, here and below where nothing else is said
        "timing.scalar.ub_store_cycles": 5.0,
        "timing.vf.store_buffer_entries": 16.0,  # nobody knows
        "timing.vf.loop_cycles": 2.0,  # nobody knows
        "timing.vf.latency_cycles.Gather": 10.0,  # as a load
        "timing.vf.latency_cycles.Scatter": 10.0,  # as a store
        "timing.vf.latency_cycles.Neg": 6.0,  # the table's default
        "timing.memory.load_latency_cycles": 160.0,
        "timing.memory.load_miss_latency_ns": 215.0,
        "timing.memory.store_latency_cycles": 137.0,
        "timing.memory.hbm_write_cost_ratio": 1.75,
        "timing.launch.cold_start.few_launches_us": 0.9,
        "timing.launch.cold_start.us_per_block": 0.13,
    },
}
"""What a constant would be had nobody measured the rows: read in documents, or taken from its nearest kin."""


def fitted_constants(variant: str = REFERENCES["2201"]) -> tuple[Parameter, ...]:
    """The timing constants of a chip that are fitted to measured rows."""
    return tuple(p for p in load(variant).parameters() if p.grade == "fitted" and p.path.startswith("timing."))


def rounded(path: str, value: float) -> float | int:
    """Cycles, bytes and entries are whole numbers of at least 1, shares at most 1, other figures have four digits."""
    if is_whole(path):
        return max(1, round(value))
    if path.endswith("_ratio"):
        value = max(1.0, value)
    if path.endswith("_share"):
        value = min(1.0, value)
    return float(f"{value:.4g}")


def is_whole(path: str) -> bool:
    return not path.endswith("_per_cycle") and ("_cycles" in path or path.endswith(("_bytes", "_entries")))


def without_effect(path: str, value: float) -> float:
    """A value with which the constant says nothing: rates a hundredfold, others their least value."""
    if path.endswith(("_per_cycle", "_per_aic", "_per_core")):
        return value * 100
    return 1.0 if is_whole(path) or path.endswith("_ratio") else value / 100


def may_touch(path: str, entry: Entry) -> bool:
    """Whether the constant can change what is simulated of the row. `entry`: the row simulated with any values."""
    row, sample = entry.row, entry.sample
    if sample is None:
        return False
    section, _, name = path.removeprefix("timing.").partition(".")
    if section == "launch":
        if name.startswith("graph_"):
            return row.protocol == "P3"
        if name == "cold_start.us_per_block":
            return row.launch_kind != "back_to_back" and sample.blocks > 1
        return name == f"cold_start.{row.launch_kind}_us"
    if section == "memory" and ("miss" in name or name.startswith("hbm_")):
        return sample.hbm
    return True
