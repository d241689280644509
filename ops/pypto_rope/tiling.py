"""The host side of a call: its kernel is lowered, and the outcome told in the words of a tiling."""

from __future__ import annotations

from ascend_sim.asc.memory import DeviceArray
from ascend_sim.frontends.pypto.errors import FeError, LoweringError, PyptoError
from ascend_sim.frontends.pypto.lowering import Lowered, Target
from ascend_sim.host.tiling import CoreShare, Loop, Tiling, TilingContext, UbBuffer

from .kernels import NAMES, planned

DTYPES = ("float16", "bfloat16", "float32")


def tiling(context: TilingContext) -> Tiling:
    """Checks, then the lowering."""
    _check_dtypes(context)
    tensors = {name: DeviceArray(info.shape, info.dtype) for name, info in context.inputs.items()}
    tensors["y"] = DeviceArray(tensors["x"].shape, tensors["x"].dtype)
    if "k" in tensors:
        tensors["k_out"] = DeviceArray(tensors["k"].shape, tensors["k"].dtype)
    target = Target(context.variant, context.ub_bytes, context.cores)
    work = planned(tensors, context.attrs, context.refuse)
    try:
        lowered = work.kernel.lowered_for(target, *work.arguments)
    except (FeError, PyptoError, LoweringError) as error:
        context.refuse(str(error))
    return _answer(context, lowered)


def _check_dtypes(context: TilingContext) -> None:
    x = context.dtype("x")
    context.require(x in DTYPES, f"x is {x}; allowed are {', '.join(DTYPES)}")
    for name in context.inputs:
        given = context.dtype(name)
        context.require(given == x, f"{name} is {given} and x {x}; all inputs have one dtype")


def _answer(context: TilingContext, lowered: Lowered) -> Tiling:
    (work,) = lowered.stages
    name = next(text for text, number in NAMES.items() if number == context.attrs["kernel"])
    tile = ",".join(map(str, work.components[0].cut))
    data: dict[str, int | str] = {
        "path": name,
        "tile": tile,
        "tasks": len(work.tasks),
        "buffering": str(work.memory.mode),
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
