"""Loop mode of copies on the 950: two loop registers per direction repeat a whole data_copy_pad.

One instruction so moves up to four dimensions."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from ascend_sim.asc.operands import ARCH_NAMES, refuse, whole
from ascend_sim.asc.params import LoopModeParams
from ascend_sim.asc.recorder import RECORDER, outside_kernel
from ascend_sim.asc.state import CoreState
from ascend_sim.program import BLOCK_BYTES, ScalarCall

__all__ = ["DataCopyMVType", "reset_loop_mode_para", "set_loop_mode_para"]

SET, RESET = "SetLoopModePara", "ResetLoopModePara"
MAX_LOOPS = (1 << 21) - 1  # soc_specs 2.4
MAX_UB_STRIDE = (1 << 21) - 1
MAX_GM_STRIDE = (1 << 40) - 1
_REGISTERS = 3  # the size of both loops, the strides of each

Loops = tuple[tuple[int, int, int], ...]


class DataCopyMVType(IntEnum):
    """The direction whose loop registers a call sets."""

    UB_TO_OUT = 0
    OUT_TO_UB = 1


def set_loop_mode_para(loop_params: LoopModeParams, mv_type: DataCopyMVType) -> None:
    """Repeat every data_copy_pad of one direction as `loop_params` says, until `reset_loop_mode_para`.

    Strides are bytes from start to start; on the UB side multiples of 32.
    """
    kind = _direction(SET, mv_type)
    if not isinstance(loop_params, LoopModeParams):
        refuse(SET, f"loop_params must be LoopModeParams, not {type(loop_params).__name__}")
    to_ub = kind is DataCopyMVType.OUT_TO_UB
    loops: list[tuple[int, int, int]] = []
    for number in (2, 1):
        count = whole(SET, f"loop{number}_size", getattr(loop_params, f"loop{number}_size"), 1, MAX_LOOPS)
        strides = []
        for side, in_ub in (("src", not to_ub), ("dst", to_ub)):
            name = f"loop{number}_{side}_stride"
            stride = whole(SET, name, getattr(loop_params, name), 0, MAX_UB_STRIDE if in_ub else MAX_GM_STRIDE, "bytes")
            if in_ub and stride % BLOCK_BYTES:
                refuse(SET, f"{name} is {stride} B, allowed are multiples of 32 B: rows in UB start on a 32 B block")
            strides.append(stride)
        gm, ub = strides if to_ub else strides[::-1]
        if count > 1:
            loops.append((count, gm, ub))
    _keep(kind, tuple(loops))


def reset_loop_mode_para(mv_type: DataCopyMVType) -> None:
    """Let copies of one direction move their rows once again."""
    _keep(_direction(RESET, mv_type), ())


def _direction(op: str, mv_type: Any) -> DataCopyMVType:
    if not RECORDER.arch:
        outside_kernel()
    if RECORDER.arch != "3510":
        refuse(op, f"{ARCH_NAMES.get(RECORDER.arch, RECORDER.arch)} has no loop mode: repeat the copy, or use its rows")
    if not isinstance(mv_type, DataCopyMVType):
        refuse(op, f"mv_type must be DataCopyMVType.OUT_TO_UB or DataCopyMVType.UB_TO_OUT, not {mv_type!r}")
    return mv_type


def _keep(kind: DataCopyMVType, loops: Loops) -> None:
    asked = RECORDER.state, kind, loops
    after = _AFTER.get(asked)
    if after is None:
        registers = {**dict(RECORDER.state.loops), kind.name: loops}
        after = _AFTER[asked] = RECORDER.state.replace(
            loops=tuple(sorted((name, item) for name, item in registers.items() if item))
        )
    RECORDER.state = after
    for _ in range(_REGISTERS if loops else 1):
        RECORDER.charge(ScalarCall.MASK)


_AFTER: dict[tuple[CoreState, DataCopyMVType, Loops], CoreState] = {}
"""The state after a call, by the one before it: kernels set the same loops for every tile."""


def loops_of(to_ub: bool) -> Loops:
    """The loops in force for a data_copy_pad."""
    kind = DataCopyMVType.OUT_TO_UB if to_ub else DataCopyMVType.UB_TO_OUT
    return dict(RECORDER.state.loops).get(kind.name, ())


def refuse_loops(to_ub: bool) -> None:
    """Refuse a data_copy while loop mode is on in its direction: the documents define it for data_copy_pad."""
    if loops_of(to_ub):
        kind = DataCopyMVType.OUT_TO_UB if to_ub else DataCopyMVType.UB_TO_OUT
        refuse(
            "DataCopy",
            f"loop mode is set for {kind.name}: it repeats data_copy_pad only; call reset_loop_mode_para first",
        )
