"""The least time in which the chip could do a call's work: what its memory and its vector units allow."""

from __future__ import annotations

from ascend_sim.machine.memory import hbm_bytes_per_cycle
from ascend_sim.sampling.calls import TimedCall
from ascend_sim.sampling.estimate import Estimate


def roofline(call: TimedCall, found: Estimate) -> tuple[float, str]:
    """Time in us, and what sets it: "L2", "HBM" or "vector".

    L2: every byte that must move moves once, loads and stores side by side at the rates that L2 grants all cores. What
    must move is what the kernel moves, but no more than the tensors hold: loading something twice is the kernel's
    fault. HBM: those of them that HBM moved, because L2 did not hold them. Vector: the kernel's own vector
    instructions, shared out evenly over all vector cores of the chip.
    """
    chip, metrics = call.chip, found.whole.metrics
    memory = metrics.memory
    read, written = min(memory.read_bytes, call.input_bytes), min(memory.written_bytes, call.output_bytes)
    hbm = min(memory.hbm_read_bytes + memory.hbm_written_bytes, read + written)
    cycles = {
        "L2": max(
            read / (chip.l2.read_bytes_per_cycle_per_aic * chip.cores.aic),
            written / (chip.l2.write_bytes_per_cycle_per_aic * chip.cores.aic),
        ),
        "HBM": hbm / hbm_bytes_per_cycle(chip),
        "vector": float(metrics.busy_cycles["vec"].sum()) / chip.cores.aiv,
    }
    limit = max(cycles, key=lambda name: cycles[name])
    return cycles[limit] / chip.clock_mhz, limit
