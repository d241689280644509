"""The folder that msprof writes: `OPPROF_<time>_<random>` with the simulator's files and the board's tables."""

from __future__ import annotations

import os
import secrets
import string
import time
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from ascend_sim.errors import InputError
from ascend_sim.report.codes import Codes
from ascend_sim.report.msprof.board import write_board_tables
from ascend_sim.report.msprof.drawing import draw
from ascend_sim.report.msprof.listing import write_code_exe, write_instr_exe
from ascend_sim.report.msprof.names import core_name
from ascend_sim.report.msprof.traces import HEAD, TAIL, Place, arrows, events, metadata, throughput
from ascend_sim.report.selection import EVERYTHING, Selection
from ascend_sim.timeline import CoreTimeline, Timeline

if TYPE_CHECKING:
    from ascend_sim.report.result import Result


def write_msprof(result: Result, directory: str | os.PathLike[str], chosen: Selection = EVERYTHING) -> Path:
    """Write a new folder into `directory` (made if it is not there) and answer its path.

    The cores of `chosen` get traces and lists of instructions and lines, its window limits the traces; the tables cover
    the whole launch. Raises `InputError` where nothing can be written.
    """
    cores: dict[int, list[CoreTimeline]] = {}
    for line in chosen.blocks(result.timeline):
        cores.setdefault(line.core, []).append(line)
    letters = "".join(secrets.choice(string.ascii_uppercase) for _ in range(16))
    target = Path(directory) / f"OPPROF_{time.strftime('%Y%m%d%H%M%S')}_{letters}"
    try:
        simulator = target / "simulator"
        simulator.mkdir(parents=True)
        write_board_tables(target, result)
        _write_trace(simulator / "trace.json", _all_cores(result.timeline, cores, chosen))
        for core, blocks in sorted(cores.items()):
            _write_core(simulator, core, blocks, result.timeline, chosen)
    except OSError as error:
        raise InputError(f"cannot write msprof's files to {str(target)!r}: {error.strerror or error}") from error
    return target


def _write_core(simulator: Path, core: int, blocks: list[CoreTimeline], timeline: Timeline, chosen: Selection) -> None:
    name = core_name(core)
    folder = simulator / name
    folder.mkdir()
    write_instr_exe(folder / f"{name}_instr_exe.csv", blocks, timeline.clock_mhz)
    write_code_exe(folder / f"{name}_code_exe.csv", blocks, timeline.clock_mhz)
    _write_trace(folder / "trace.json", _core(Place(core, own=True), blocks, timeline, chosen))


def _write_trace(path: Path, parts: Iterator[str]) -> None:
    with path.open("w", encoding="utf-8") as out:
        out.write(HEAD)
        separator = ""
        for part in parts:
            out.write(separator)
            out.write(part)
            separator = ",\n"
        out.write(TAIL)


def _all_cores(timeline: Timeline, cores: dict[int, list[CoreTimeline]], chosen: Selection) -> Iterator[str]:
    for core, blocks in sorted(cores.items()):
        yield from _core(Place(core, own=False), blocks, timeline, chosen)
    yield from throughput(chain(*cores.values()), timeline, chosen.cycles(timeline))


def _core(place: Place, blocks: Sequence[CoreTimeline], timeline: Timeline, chosen: Selection) -> Iterator[str]:
    """One core's events; metadata first."""
    yield from metadata(place, {instr.pipe for block in blocks for instr in set(block.program.instrs)})
    first = 0
    for block in blocks:
        codes = Codes()
        drawing = draw(block, timeline, codes, chosen, first)
        first += len(block.program.instrs)
        yield from events(place, drawing, codes)
        yield from arrows(place, drawing, codes)
