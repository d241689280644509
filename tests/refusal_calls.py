"""The calls that the table of refusals changes: good ones, and how a row changes them.

A row changes a good call in one place. `code` is aclnn's answer to its first phase. `torch` says where the PyTorch
layer refuses the same call: "compile" (its own check, which a fake run meets already), "run" (what aclnn answers), or
"" (it cannot be asked from there: null pointers, formats, memory that torch would not hand over).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

NULL, INVALID, TILING, NO_KERNEL = 161001, 161002, 561002, 561003
Phase = Literal["compile", "run", ""]


@dataclass(frozen=True)
class Good:
    """A call that passes the checks: shapes by the parameters' names in Python, attributes, the function in torch."""

    interface: str
    soc: str
    shapes: Mapping[str, tuple[int, ...] | None]
    attrs: Mapping[str, Any]
    function: str
    torch_attrs: Mapping[str, Any]
    torch_names: Mapping[str, str] = field(default_factory=dict)  # parameters whose name in torch is another


@dataclass(frozen=True)
class Row:
    """`shapes` and `dtypes` change tensors (None: no tensor at all), `attrs` attributes, `torch_attrs` those in torch
    where they are written otherwise. `special` asks for what shapes cannot say.
    """

    good: str
    what: str
    code: int
    torch: Phase
    text: str
    shapes: Mapping[str, tuple[int, ...] | None] = field(default_factory=dict)
    dtypes: Mapping[str, str] = field(default_factory=dict)
    attrs: Mapping[str, Any] = field(default_factory=dict)
    torch_attrs: Mapping[str, Any] | None = None
    special: Literal["", "format", "strides"] = ""

    def __str__(self) -> str:
        return f"{self.good}: {self.what}"


X, COS = (2, 8, 2, 32), (2, 8, 1, 16)
INPLACE = ({"x_ref": X, "cos": COS, "sin": COS}, {"rotary_mode": 1, "partial_slice": [8, 24]})
INPLACE_TORCH = ({"rotary_mode": "interleave", "partial_slice": [8, 24]}, {"x_ref": "x", "cos": "r1", "sin": "r2"})
QK = {"query_ref": (2, 8, 3, 64), "key_ref": (2, 8, 1, 64), "cos": (2, 8, 1, 64), "sin": (2, 8, 1, 64)}
QK_TORCH = {"query_ref": "query", "key_ref": "key"}
GRAD = {
    "grad_query_embed": (2, 8, 3, 64),
    "grad_key_embed": (2, 8, 1, 64),
    "cos": (2, 8, 1, 64),
    "sin": (2, 8, 1, 64),
    "query_optional": (2, 8, 3, 64),
    "key_optional": (2, 8, 1, 64),
    "grad_query_out": (2, 8, 3, 64),
    "grad_key_out": (2, 8, 1, 64),
    "grad_cos_out": (2, 8, 1, 64),
    "grad_sin_out": (2, 8, 1, 64),
}
ROTARY = {"x": (2, 8, 3, 64), "cos": (1, 8, 1, 64), "sin": (1, 8, 1, 64), "out": (2, 8, 3, 64)}
ROTARY_GRAD = {
    "dy": (2, 8, 3, 64),
    "cos": (1, 8, 1, 64),
    "sin": (1, 8, 1, 64),
    "x_optional": (2, 8, 3, 64),
    "dx_out": (2, 8, 3, 64),
    "dcos_out": (1, 8, 1, 64),
    "dsin_out": (1, 8, 1, 64),
}

_INPLACE = Good("aclnnInplacePartialRotaryMul", "ascend910b", *INPLACE, "inplace_partial_rotary_mul", *INPLACE_TORCH)
_INPLACE_GRAD = Good(
    "aclnnInplacePartialRotaryMulGrad",
    "ascend950",
    {"dy_ref": X, "cos": COS, "sin": COS},
    INPLACE[1],
    "inplace_partial_rotary_mul_backward",
    INPLACE_TORCH[0],
    {"dy_ref": "grad_output", "cos": "r1", "sin": "r2"},
)
_APPLY = Good(
    "aclnnApplyRotaryPosEmbV2",
    "ascend910b",
    QK,
    {"layout": 1, "rotary_mode": "half"},
    "apply_rotary_pos_emb",
    {"layout": "BSND", "rotary_mode": "half"},
    QK_TORCH,
)
_APPLY_GRAD = Good(
    "aclnnApplyRotaryPosEmbGrad",
    "ascend950",
    GRAD,
    {"rotary_mode_optional": "half", "layout": 1},
    "apply_rotary_pos_emb_grad",
    {"rotary_mode": "half", "layout": 1},
    {"query_optional": "query", "key_optional": "key"},
)
_ROTARY = Good(
    "aclnnRotaryPositionEmbedding",
    "ascend910b",
    ROTARY,
    {"mode": 0},
    "npu_rotary_mul",
    {"rotary_mode": "half"},
    {"x": "input", "cos": "r1", "sin": "r2"},
)
_ROTARY_GRAD = Good(
    "aclnnRotaryPositionEmbeddingGrad",
    "ascend910b",
    ROTARY_GRAD,
    {"mode": 0},
    "npu_rotary_mul_backward",
    {"rotary_mode": "half"},
    {"dy": "grad", "cos": "r1", "sin": "r2", "x_optional": "input"},
)

GOOD: dict[str, Good] = {
    "inplace A2": _INPLACE,
    "inplace 950": replace(_INPLACE, soc="ascend950"),
    "inplace grad": _INPLACE_GRAD,
    "inplace grad on A2": replace(_INPLACE_GRAD, soc="ascend910b"),
    "apply A2": _APPLY,
    "apply 950": replace(_APPLY, soc="ascend950"),
    "apply grad": _APPLY_GRAD,
    "apply grad on A2": replace(_APPLY_GRAD, soc="ascend910b"),
    "rotary": _ROTARY,
    "rotary 950": replace(_ROTARY, soc="ascend950"),
    "rotary V2 950": replace(
        _ROTARY, soc="ascend950", interface="aclnnRotaryPositionEmbeddingV2", shapes={**ROTARY, "rotate": None}
    ),
    "rotary grad": _ROTARY_GRAD,
    "rotary grad 950": replace(_ROTARY_GRAD, soc="ascend950"),
}


def both(**shapes: Any) -> dict[str, Any]:
    """cos and sin alike."""
    return {"cos": shapes["cos"], "sin": shapes["cos"]} | {k: v for k, v in shapes.items() if k != "cos"}
