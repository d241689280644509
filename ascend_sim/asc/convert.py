"""Cast, and the scale register that it reads."""

from __future__ import annotations

from sys import _getframe
from typing import Any, Protocol, overload

from ascend_sim.asc.forms import Mask, Repeats, build, mask_argument, named
from ascend_sim.asc.issue import play
from ascend_sim.asc.operands import ARCH_NAMES, refuse
from ascend_sim.asc.params import UnaryRepeatParams
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.tensors import LocalTensor
from ascend_sim.isa.cast import CAST, MODES, caster
from ascend_sim.isa.dtypes import DataType
from ascend_sim.isa.enums import RoundMode
from ascend_sim.isa.numeric import Into

__all__ = ["cast"]


class CastCall(Protocol):
    """dst = src in dst's dtype; mask and repeat follow the wider of the two dtypes."""

    @overload
    def __call__(self, dst: LocalTensor, src: LocalTensor, round_mode: RoundMode, count: int) -> None: ...
    @overload
    def __call__(
        self,
        dst: LocalTensor,
        src: LocalTensor,
        round_mode: RoundMode,
        mask: Mask,
        repeat_times: int,
        repeat_params: UnaryRepeatParams,
        is_set_mask: bool = True,
    ) -> None: ...


def cast_call() -> CastCall:
    """The call of the Cast row."""
    name, recorder = CAST.call, RECORDER

    def call(
        dst: Any, src: Any, round_mode: Any, count: Any = None, repeat_times: Any = None, repeat_params: Any = None,
        is_set_mask: Any = True, *, mask: Any = None,
    ) -> None:  # fmt: skip
        frame = _getframe(1)
        if repeat_times is not None or mask is not None:
            count = mask_argument(CAST, count, mask, repeat_times)
        try:
            key = (
                name, dst.key, src.key, +round_mode,  # an int hashes faster than an enum member
                count, repeat_times, repeat_params and repeat_params.key, is_set_mask,
                recorder.pending, recorder.state, id(frame.f_code), frame.f_lasti,
            )  # fmt: skip
            hit = recorder.cache.get(key)
        except (AttributeError, TypeError, ValueError):
            hit = key = None
        if hit is None:
            repeats = Repeats(UnaryRepeatParams, repeat_times, repeat_params, is_set_mask)
            operands = (("dst", dst), ("src", src))
            hit = recorder.cache[key] = build(
                frame, CAST, operands, count, repeats, lambda dtypes: cast_meaning(dtypes, round_mode)
            )
        play(hit)

    cast: CastCall = named(call, CAST)
    return cast


def cast_meaning(dtypes: tuple[DataType, ...], round_mode: Any) -> Into:
    """What this cast computes; refuses a round mode that the pair does not have."""
    dst, src = dtypes
    allowed = MODES[RECORDER.arch][dst, src]
    try:
        mode = RoundMode(round_mode)
    except ValueError:
        refuse(CAST.name, f"round_mode must be a RoundMode, not {round_mode!r}")
    if mode not in allowed:
        names = ", ".join(item.name for item in allowed)
        refuse(
            CAST.name,
            f"{src.name} to {dst.name} with {mode.name} is not supported on {ARCH_NAMES[RECORDER.arch]}, "
            f"allowed round modes are {names}",
        )
    state = RECORDER.state
    return caster(dst, src, mode, state.deq_scale, state.half_saturates, state.cast_saturates)


cast = cast_call()
