"""What the 950's host code of the operator and of its gradient refuses, in its order, and what it takes from a call."""

from __future__ import annotations

from dataclasses import dataclass

from ascend_sim.host.tensors import shape_text
from ascend_sim.host.tiling import PARAM_INVALID, TilingContext
from ascend_sim.plurals import counted

from ..shared.checks_arch35 import check_platform, layout_of
from ..shared.rope_layout import RopeDims
from ..shared.rotations import MODE_NAMES
from ..shared.templates_arch35 import MODE_MULTIPLE, MODE_PARTS, Rows
from .checks import DTYPES

D_LIMIT = 1024


@dataclass(frozen=True, slots=True)
class RopeCall:
    """An accepted call: lines of `dim` elements, positions and heads as `dims` has them."""

    mode: int
    dims: RopeDims
    dim: int
    dtype: str
    itemsize: int

    @property
    def mode_name(self) -> str:
        return MODE_NAMES[self.mode]

    def rows(self) -> Rows:
        """As the templates cut them."""
        return Rows(self.dims, self.dim, self.itemsize, MODE_PARTS[self.mode])


def check(context: TilingContext) -> RopeCall:
    """Every check of the operator in the order of the host code."""
    context.require(
        "rotate" not in context.inputs,
        "input rotate needs the cube core's kernel of A2 and A3; on the 950 leave it out",
        PARAM_INVALID,
    )
    names = ("x", "cos", "sin")
    check_inputs(context, names)
    for name in names:
        shape = context.shape(name)
        context.require(min(shape) > 0, f"{name} is {shape_text(shape)}; every dim must be positive")
    check_platform(context)
    return call_of(context, "x")


def check_inputs(context: TilingContext, names: tuple[str, ...]) -> None:
    """What operator and gradient share. `names`: what is rotated, cos, sin, then others of the first one's shape."""
    context.require(context.cann != "8.3", "the 950's host code came after CANN 8.3; ask for cann='master'")
    mode = context.attrs["mode"]
    allowed = ", ".join(f"{number} ({name})" for number, name in MODE_NAMES.items())
    context.require(mode in MODE_NAMES, f"mode is {mode}; allowed are {allowed}")
    first, cos, sin, *others = names
    dtype = context.dtype(first)
    context.require(dtype in DTYPES, f"{first} is {dtype}; allowed are {', '.join(DTYPES)}")
    for name in names[1:]:
        context.require(
            context.dtype(name) == dtype,
            f"{first} is {dtype} and {name} is {context.dtype(name)}; all must have one dtype",
        )
    _check_ranks(context, names)
    for one, other in ((cos, sin), *((name, first) for name in others)):
        shapes = context.shape(one), context.shape(other)
        context.require(
            shapes[0] == shapes[1],
            f"{one} is {shape_text(shapes[0])} and {other} is {shape_text(shapes[1])}; they must have the same shape",
        )
    _check_dim(context, first, mode)


def _check_ranks(context: TilingContext, names: tuple[str, ...]) -> None:
    first, cos = context.shape(names[0]), context.shape(names[1])
    for name in names:
        rank = len(context.shape(name))
        context.require(rank in (3, 4), f"{name} has {counted(rank, 'dim')}; it must have 4, or 3 (TND)")
    # the host code does not compare them and reads dims that are not there
    context.require(
        len(first) == len(cos),
        f"{names[0]} has {counted(len(first), 'dim')} and cos {len(cos)}; they must have as many",
    )


def _check_dim(context: TilingContext, name: str, mode: int) -> None:
    dim, cos_dim = context.shape(name)[-1], context.shape("cos")[-1]
    context.require(dim == cos_dim, f"the last dim of {name} is {dim} and that of cos {cos_dim}; they must be equal")
    context.require(dim <= D_LIMIT, f"the last dim of {name} is {dim}; it must not exceed {D_LIMIT}")
    multiple = MODE_MULTIPLE[mode]
    context.require(
        dim % multiple == 0,
        f"the last dim of {name} is {dim}; in mode {mode} ({MODE_NAMES[mode]}) it must be a multiple of {multiple}",
    )


def call_of(context: TilingContext, name: str) -> RopeCall:
    """What tilings need of a call that passed the checks."""
    info = context.inputs[name]
    return RopeCall(context.attrs["mode"], layout_of(context, name), info.shape[-1], info.dtype, info.itemsize)
