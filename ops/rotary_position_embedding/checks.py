"""Checks that all of the operator's A2/A3 tilings share."""

from __future__ import annotations

from ascend_sim.host.tensors import shape_text
from ascend_sim.host.tiling import TilingContext

from ..shared.rope_layout import tnd_layout
from ..shared.rotations import MODE_NAMES

DTYPES = ("float32", "float16", "bfloat16")
HALF_D_LIMIT = 896


def check_dtypes(context: TilingContext, names: tuple[str, ...]) -> None:
    """One dtype for all, and one that the operator has."""
    first = context.dtype(names[0])
    context.require(first in DTYPES, f"{names[0]} is {first}; allowed are {', '.join(DTYPES)}")
    for name in names[1:]:
        context.require(
            context.dtype(name) == first,
            f"{names[0]} is {first} and {name} is {context.dtype(name)}; all must have one dtype",
        )


def check_ranks(context: TilingContext, x_name: str) -> None:
    """All of rank 4, or all of rank 3 (TND); no empty dim."""
    x, cos, sin = (context.shape(name) for name in (x_name, "cos", "sin"))
    context.require(
        len(x) in (3, 4) and len(x) == len(cos) == len(sin),
        f"{x_name}, cos and sin have {len(x)}, {len(cos)} and {len(sin)} dims; all must have 4, or all 3 (TND)",
    )
    context.require(min(x) > 0, f"{x_name} is {shape_text(x)}; every dim must be positive")


def check_common_stage(context: TilingContext, x_name: str) -> None:
    """What the shared host code refuses before any A2/A3 tiling is asked (not yet in CANN 8.3)."""
    if context.cann == "8.3":
        return
    mode = context.attrs["mode"]
    context.require(
        mode in MODE_NAMES,
        f"mode is {mode}; allowed are {', '.join(f'{number} ({name})' for number, name in MODE_NAMES.items())}",
    )
    x, cos = context.shape(x_name), context.shape("cos")
    context.require(
        tnd_layout(x, cos) is not None,
        f"{x_name} is {shape_text(x)} and cos {shape_text(cos)}; each dim of cos but the last must be 1 or that of "
        f"{x_name}, in one of the layouts BSND, SBND, BNSD or TND",
    )


def check_cos(context: TilingContext, x_name: str) -> None:
    """cos and sin of one shape, their rows as long as those of x."""
    x, cos, sin = (context.shape(name) for name in (x_name, "cos", "sin"))
    context.require(cos == sin, f"cos is {shape_text(cos)} and sin {shape_text(sin)}; they must have the same shape")
    context.require(
        cos[-1] == x[-1], f"the last dim of {x_name} is {x[-1]} and that of cos {cos[-1]}; they must be equal"
    )


def check_half_dim(context: TilingContext, dim: int) -> None:
    context.require(dim <= HALF_D_LIMIT, f"the last dim is {dim}; half mode takes at most {HALF_D_LIMIT}")
    context.require(dim % 2 == 0, f"the last dim is {dim}; it must be even, its halves rotate with each other")
