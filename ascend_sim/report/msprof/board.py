"""The tables that `msprof op` writes on a board: a row per block, those columns filled that the simulator knows.

Everything about the cube core stays empty, and so does what the simulator does not model or what nobody outside has
defined: instruction cache, stalls of the scalar unit by kind, main memory requests, which bank or bank group conflicts,
the two read channels of L2. Rates count GB as 2^30 bytes, as msprof does.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ascend_sim.explain import BlockAccount, Reason
from ascend_sim.machine.l2 import LINE_BYTES, Footprint
from ascend_sim.program import (
    CopyWork,
    Instr,
    Memory,
    PipeID,
    Region,
    ScalarWork,
    VectorWork,
    VfInstr,
    VfLoop,
    VfUnit,
    VfWork,
)
from ascend_sim.report.metrics import PIPES
from ascend_sim.report.msprof.headers import BY_ARCH

if TYPE_CHECKING:
    from ascend_sim.report.result import Result

GB, KB = 2**30, 2**10
_WIDTHS = {
    "float32": "aiv_vec_fp32_ratio",
    "float16": "aiv_vec_fp16_ratio",
    "int32": "aiv_vec_int32_ratio",
    "uint32": "aiv_vec_int32_ratio",
    "int16": "aiv_vec_int16_ratio",
    "uint16": "aiv_vec_int16_ratio",
}
_CEILINGS = {  # GB/s of one core that usage rates are relative to: GM to UB, UB to GM
    "Ascend910B1": (220.06, 186.8),
    "Ascend910B2": (214.11, 181.75),
    "Ascend910B2C": (214.11, 181.75),
    "Ascend910B3": (214.11, 181.75),
    "Ascend910B4": (195.27, 176.75),
}

Row = dict[str, Any]


def write_board_tables(folder: Path, result: Result) -> None:
    """One file per table of the chip's architecture."""
    headers = BY_ARCH[result.chip.arch]
    rows = [_row(result, block) for block in result.account.blocks]
    for name, head in headers.items():
        _write(folder / f"{name}.csv", head, [_basic(result)] if name == "OpBasicInfo" else rows)


def _write(path: Path, head: tuple[str, ...], rows: Iterable[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, head, restval="", extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _basic(result: Result) -> Row:
    return {
        "Op Name": result.kernel,
        "Op Type": "vector",
        "Task Duration(us)": round(result.duration_us, 4),
        "Block Dim": result.block_dim,
        "Current Freq": f"{result.chip.clock_mhz:g}",
        "Rated Freq": f"{result.chip.platform_clock_mhz:g}",
    }


def _row(result: Result, block: BlockAccount) -> Row:
    """Every column of every table that is known of one block."""
    cycles = block.finish - block.begin
    us = result.timeline.to_us(cycles)
    row: Row = {"block_id": block.block, "sub_block_id": "vector0", "aiv_time(us)": _us(us), "aiv_total_cycles": cycles}
    instrs = block.columns.line.program.instrs
    for name, pipe in block.pipes.items():
        busy = pipe.busy_cycles
        row |= {f"aiv_{name}_time(us)": _us(result.timeline.to_us(busy)), f"aiv_{name}_ratio": _ratio(busy, cycles)}
        if name.startswith("mte"):
            row[f"aiv_{name}_instructions"] = sum(instr.pipe is PIPES[name] for instr in instrs)
            row[f"aiv_{name}_wait_ratio"] = _ratio(pipe.by_reason().get(Reason.FLAG, 0), cycles)
    vector = block.pipes["vec"].by_reason()
    row["aiv_vec_wait_ratio"] = _ratio(vector.get(Reason.FLAG, 0), cycles)
    row["aiv_vec_total_cflt_ratio"] = _ratio(vector.get(Reason.BANKS, 0), cycles)
    for part in (_widths(block, cycles), _moved(result, block, us), _unified_buffer(instrs, us), _l2(result, block)):
        row |= part
    return row


def _us(us: float) -> float:
    return round(us, 6)


def _ratio(part: int, cycles: int) -> float:
    return round(part / cycles, 6) if cycles else 0.0


def _rate(nbytes: int, us: float) -> float:
    """GB/s."""
    return round(nbytes / GB / (us * 1e-6), 6) if us else 0.0


def _widths(block: BlockAccount, cycles: int) -> Row:
    """The vector pipe's cycles by the dtype that decides an instruction's speed; on the 950 all of them are in vector
    functions."""
    prices = block.columns.prices
    sums = dict.fromkeys([*_WIDTHS.values(), "aiv_vec_misc_ratio"], 0)
    counts = np.bincount(prices.code, prices.occupancy, len(prices.instrs)).astype(np.int64).tolist()
    for instr, occupied in zip(prices.instrs, counts, strict=True):
        if isinstance(instr.work, VectorWork):
            sums[_WIDTHS.get(instr.work.width, "aiv_vec_misc_ratio")] += occupied
    row: Row = {name: _ratio(occupied, cycles) for name, occupied in sums.items()}
    row["aiv_vec_vf_ratio"] = _ratio(block.pipes["vec"].busy_cycles, cycles)
    return row


def _moved(result: Result, block: BlockAccount, us: float) -> Row:
    """Copies between GM and UB."""
    row: Row = {}
    ceilings = _CEILINGS.get(result.variant)
    for to_ub, name, pipe in ((True, "gm_to_ub", "mte2"), (False, "ub_to_gm", "mte3")):
        nbytes = sum(w.nbytes for w in _copies(block) if w.to_ub == to_ub)
        table = "GM_to_UB" if to_ub else "UB_to_GM"
        rate = _rate(nbytes, us)
        row[f"aiv_{name}_bw(GB/s)"] = rate
        row[f"{table}_datas(KB)"] = round(nbytes / KB, 6)
        active_us = result.timeline.to_us(block.pipes[pipe].busy_cycles)
        row[f"aiv_{pipe}_active_bw(GB/s)"] = _rate(nbytes, active_us)
        if ceilings:
            row[f"{table}_bw_usage_rate(%)"] = round(100 * rate / ceilings[0 if to_ub else 1], 6)
    if result.chip.arch == "3510":
        row["aiv_ub_write_bw_gm(GB/s)"], row["aiv_ub_read_bw_gm(GB/s)"] = (
            row["aiv_gm_to_ub_bw(GB/s)"],
            row["aiv_ub_to_gm_bw(GB/s)"],
        )
    return row


def _copies(block: BlockAccount) -> Iterator[CopyWork]:
    for instr in block.columns.line.program.instrs:
        if isinstance(instr.work, CopyWork):
            yield instr.work


def _unified_buffer(instrs: list[Instr], us: float) -> Row:
    """What vector and scalar unit read and write in UB."""
    known: dict[int, tuple[int, int, int, int]] = {}
    sums = [0, 0, 0, 0]
    for instr in instrs:
        found = known.get(id(instr))
        if found is None:
            found = known[id(instr)] = _accessed(instr)
        if any(found):
            for number, nbytes in enumerate(found):
                sums[number] += nbytes
    names = ("read_bw_vector", "write_bw_vector", "read_bw_scalar", "write_bw_scalar")
    return {f"aiv_ub_{name}(GB/s)": _rate(nbytes, us) for name, nbytes in zip(names, sums, strict=True)}


def _accessed(instr: Instr) -> tuple[int, int, int, int]:
    """UB bytes that an instruction's vector or scalar work reads and writes."""
    work = instr.work
    if isinstance(work, ScalarWork) and work.memory is Memory.UB:
        return (0, 0, 0, work.nbytes) if work.store else (0, 0, work.nbytes, 0)
    if isinstance(work, VfWork):
        return (_register_bytes(work.body, VfUnit.LOAD), _register_bytes(work.body, VfUnit.STORE), 0, 0)
    if instr.pipe is PipeID.PIPE_V and isinstance(work, VectorWork):
        return _region_bytes(instr.reads), _region_bytes(instr.writes), 0, 0
    return 0, 0, 0, 0


def _region_bytes(regions: Iterable[Region]) -> int:
    return sum(r.length * prod(count for count, _ in r.dims) for r in regions if r.memory is Memory.UB)


def _register_bytes(body: Iterable[VfInstr | VfLoop], unit: VfUnit) -> int:
    """Bytes that register loads or stores move in all rounds."""
    total = 0
    for item in body:
        if isinstance(item, VfLoop):
            total += item.trips * _register_bytes(item.body, unit)
        elif item.unit is unit and item.access is not None:
            total += item.access.length * item.access.blocks
    return total


def _l2(result: Result, block: BlockAccount) -> Row:
    """Requests of 128 B that L2 held, and did not, and the rates in bytes, as in the launch's summary."""
    line, piece_bytes = block.columns.line, result.chip.require_timing().memory.piece_bytes
    users = (position for position, instr in enumerate(line.program.instrs) if instr.uses_gm)
    hit = {True: [0, 0, 0, 0], False: [0, 0, 0, 0]}  # requests held, missed; bytes held, all
    known: dict[tuple[CopyWork, int], int] = {}
    for position, address in zip(users, line.program.gm_addresses, strict=True):
        work = line.program.instrs[position].work
        if not isinstance(work, CopyWork):
            continue
        key = (work, address % LINE_BYTES)
        grains = known.get(key)
        if grains is None:
            grains = known[key] = Footprint.of(work, address % LINE_BYTES, piece_bytes).grains
        held = grains - line.missed_bytes[position] // 128
        of = hit[work.to_ub]
        for number, amount in enumerate((held, grains - held, work.nbytes * held // grains, work.nbytes)):
            of[number] += amount
    reads, writes = hit[True], hit[False]
    return {
        "aiv_write_cache_hit": writes[0],
        "aiv_write_cache_miss_allocate": writes[1],
        "aiv_write_hit_rate(%)": _percent(writes[2], writes[3]),
        "aiv_read_hit_rate(%)": _percent(reads[2], reads[3]),
        "aiv_total_hit_rate(%)": _percent(reads[2] + writes[2], reads[3] + writes[3]),
    }


def _percent(part: int, total: int) -> Any:
    return round(100 * part / total, 6) if total else ""
