"""The host side of a call: its kernel is lowered, and the outcome told in the words of a tiling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ascend_sim.asc.memory import DeviceArray
from ascend_sim.errors import InputError
from ascend_sim.frontends.pypto.errors import FeError, LoweringError, PyptoError
from ascend_sim.frontends.pypto.lowering import Lowered, Target
from ascend_sim.host.tiling import CoreShare, Loop, Tiling, TilingContext, UbBuffer

from .kernels import NAMES, Planned, planned

DTYPES = ("float16", "bfloat16", "float32")


def tiling(context: TilingContext) -> Tiling:
    """Checks, then the lowering."""
    return _answer(context, *lowered(context, context.attrs))


def lowered(context: TilingContext, attrs: Mapping[str, Any]) -> tuple[Planned, Lowered]:
    """The kernel for these attributes, and what becomes of it; equal calls share it."""
    _check_dtypes(context)
    tensors = {name: DeviceArray(info.shape, info.dtype) for name, info in context.inputs.items()}
    tensors["y"] = DeviceArray(tensors["x"].shape, tensors["x"].dtype)
    if "k" in tensors:
        tensors["k_out"] = DeviceArray(tensors["k"].shape, tensors["k"].dtype)
    target = Target(context.variant, context.ub_bytes, context.cores)
    work = planned(tensors, attrs, context.refuse)
    try:
        return work, work.kernel.lowered_for(target, *work.arguments)
    except (FeError, PyptoError, LoweringError) as error:
        context.refuse(str(error))


def with_choices(context: TilingContext, tile: Sequence[int], unroll: Sequence[int]) -> Tiling:
    """The tiling with another tile and other unroll factors than the call asks for."""
    return _answer(context, *lowered(context, {**context.attrs, "tile": tuple(tile), "unroll": tuple(unroll)}))


def refused(context: TilingContext, tile: Sequence[int], unroll: Sequence[int], why: str) -> Tiling:
    """A tiling that the lowering does not take."""
    return Tiling(
        op=context.op,
        soc=context.soc,
        variant=context.variant,
        key=context.attrs["kernel"],
        meaning="not lowered",
        block_dim=1,
        workspace_bytes=0,
        data={"path": _name(context), **_asked_for(tile, unroll)},
        words=(),
        ub_bytes=context.ub_bytes,
        not_runnable=why,
    )


def _name(context: TilingContext) -> str:
    return next(text for text, number in NAMES.items() if number == context.attrs["kernel"])


def _asked_for(tile: Sequence[int], unroll: Sequence[int]) -> dict[str, str]:
    return {"vec_tile": text_of(tile)} | ({"unroll": text_of(unroll)} if unroll else {})


def chosen(tiling: Tiling) -> dict[str, Any]:
    """The attributes that a tiling stands for."""
    pairs = (("tile", "vec_tile"), ("unroll", "unroll"))
    return {attr: numbers(tiling.data, field) for attr, field in pairs if field in tiling.data}


def numbers(data: Mapping[str, int | str], field: str) -> tuple[int, ...]:
    """The numbers of a field such as "1,64,128"."""
    text = str(data[field])
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"field {field} of the tiling data is {text!r}; a list of numbers such as 1,64,128") from None


def text_of(values: Sequence[int]) -> str:
    return ",".join(map(str, values))


def _check_dtypes(context: TilingContext) -> None:
    x = context.dtype("x")
    context.require(x in DTYPES, f"x is {x}; allowed are {', '.join(DTYPES)}")
    for name in context.inputs:
        given = context.dtype(name)
        context.require(given == x, f"{name} is {given} and x {x}; all inputs have one dtype")


def _answer(context: TilingContext, call: Planned, lowered: Lowered) -> Tiling:
    (work,) = lowered.stages
    name = _name(context)
    tile = text_of(work.components[0].cut)
    data: dict[str, int | str] = {
        "path": name,
        "tile": tile,
        "tasks": len(work.tasks),
        "buffering": str(work.memory.mode),
        **_asked_for(call.tile, call.unroll),
    }
    shares: dict[int, int] = {}
    for share in work.shares:
        shares[len(share)] = shares.get(len(share), 0) + 1
    return Tiling(
        op=context.op,
        soc=context.soc,
        variant=context.variant,
        key=context.attrs["kernel"],
        meaning=f"kernel {name}, tiles of {tile}, {work.memory.mode}",
        block_dim=lowered.block_dim,
        workspace_bytes=0,
        data=data,
        words=(),
        ub_bytes=context.ub_bytes,
        shares=tuple(
            CoreShare("vector", cores, tasks, "tiles", (Loop.over("tiles", tasks, 1),))
            for tasks, cores in shares.items()
        ),
        buffers=tuple(UbBuffer(text, nbytes, count) for text, nbytes, count in work.memory.summary()),
    )
