"""Host side of rope: ATB's checks, then the tiling of the MKI kernel behind it, ids 20 to 24.

Tokens are dealt out to the cores. With fp16 tables and many short rows the host lets a kernel take several tokens for
one wide row (`multiple`), so that its instructions are longer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ascend_sim.host.atb import check_inputs
from ascend_sim.host.tiling import CoreShare, Loop, Tiling, TilingContext, UbBuffer, align_up, ceil_div

from .checks import RopeShape, dim_check, mki_infer_shape, param_check, rope_shape

# (q, k, cos, sin, seqlen), as atb_ops_info.ini pairs them
DTYPES = tuple(
    (qk, qk, table, table, lengths)
    for qk, table in (("float16", "float16"), ("float16", "float32"), ("bfloat16", "bfloat16"))
    for lengths in ("int32", "uint32")
)
TILING_FIELDS = (  # RopeTilingData, all uint32
    *("hiddenSizeQ", "hiddenSizeK", "headDim", "headNumQ", "headNumK", "rotaryCoeff"),
    *("ntokens", "realCore", "cosFormat", "batch", "maxUbSize", "multiple"),
)
BLOCK_BYTES = 32
BLOCK_FP16 = 16
LARGE_NTOKENS = 64
SPARE_BYTES = 16 << 20
UINT32_MAX = (1 << 32) - 1
TILING_BYTES = 64  # the struct's 48, in whole blocks
COMMON_ELEMENTS = 3 * 8192  # 16-bit part of the unified buffer in the kernels that compute in fp32
INT32_BYTES = 4


@dataclass(frozen=True, slots=True)
class Kind:
    """One kernel: its tiling id, `lanes` of a repeat, `slice_elements` of a row that it handles at once."""

    key: int
    path: str
    meaning: str
    lanes: int
    slice_elements: int


FP16 = Kind(20, "fp16", "fp16 throughout, token after token", 128, 12288)
FP32_TABLES = Kind(21, "fp32_tables", "fp32 tables: widened, computed in fp32", 64, 4096)
BF16 = Kind(22, "bf16", "bfloat16: widened, computed in fp32", 64, 4096)
FP16_LARGE = Kind(
    23, "fp16_large_ntokens", "fp16 throughout, 64 tokens or more: two sets of buffers in turn", 128, 4096
)
BF16_ALIGN = Kind(24, "bf16_align", "bfloat16, 64 tokens or more, whole blocks: two sets of buffers in turn", 64, 2048)
KINDS = {kind.path: kind for kind in (FP16, FP32_TABLES, BF16, FP16_LARGE, BF16_ALIGN)}


def tiling(context: TilingContext) -> Tiling:
    """Every check that a call of the ATB operation passes, then its tiling."""
    shapes = {name: info.shape for name, info in context.inputs.items()}
    check_inputs(context, DTYPES)
    dim_check(shapes)
    param_check(context.attrs["rotaryCoeff"], context.attrs["cosFormat"], shapes["cos"][1])
    mki_infer_shape(shapes)
    return rope_tiling(context)


def rope_tiling(context: TilingContext) -> Tiling:
    """The tiling function of the MKI kernel."""
    shape = shape_of(context)
    stride = shape.head_dim // context.attrs["rotaryCoeff"]
    multiple = _multiple(context, shape, stride)
    per_core = ceil_div(shape.tokens // multiple, context.cores)
    cores = ceil_div(shape.tokens // multiple, per_core)
    kind = _kind(context, shape, stride)
    return answer(context, kind, fields_for(context, multiple, cores), cores, kind.slice_elements)


def shape_of(context: TilingContext) -> RopeShape:
    return rope_shape({name: info.shape for name, info in context.inputs.items()})


def fields_for(context: TilingContext, multiple: int, cores: int) -> dict[str, int]:
    """The struct of this call, with `multiple` tokens a row and the rows dealt out to `cores` cores."""
    shape = shape_of(context)
    head_dim = shape.head_dim * multiple
    hidden_q, hidden_k = shape.hidden_q * multiple, shape.hidden_k * multiple
    return {
        "hiddenSizeQ": hidden_q,
        "hiddenSizeK": hidden_k,
        "headDim": head_dim,
        "headNumQ": hidden_q // head_dim,
        "headNumK": hidden_k // head_dim,
        "rotaryCoeff": context.attrs["rotaryCoeff"],
        "ntokens": shape.tokens // multiple,
        "realCore": cores,
        "cosFormat": context.attrs["cosFormat"],
        "batch": shape.batch // multiple,
        "maxUbSize": context.ub_bytes,
        "multiple": multiple,
    }


def answer(context: TilingContext, kind: Kind, fields: Mapping[str, int], blocks: int, room: int) -> Tiling:
    """A tiling from its fields, which may be anybody's; `room`: elements of a row that the kernel handles at once."""
    shape, head_dim = shape_of(context), fields["headDim"]
    data: dict[str, int | str] = {**fields, "path": kind.path}
    notes: tuple[str, ...] = ()
    if room != kind.slice_elements:
        data["sliceSize"] = room
        notes = (
            f"the slice of kernel {kind.key} has to be {room} elements in its source, not {kind.slice_elements}: it is "
            "not in the tiling data",
        )
    return Tiling(
        op=context.op,
        soc=context.soc,
        variant=context.variant,
        key=kind.key,
        meaning=kind.meaning,
        block_dim=blocks,
        workspace_bytes=sum(scratch_bytes(fields["ntokens"], head_dim, fields["headNumQ"], fields["realCore"])),
        data=data,
        words=tuple(fields[name] for name in TILING_FIELDS),
        ub_bytes=context.ub_bytes,
        shares=_shares(fields["ntokens"], blocks, fields["hiddenSizeQ"], slice_elements(room, head_dim)),
        buffers=_buffers(kind, fields["cosFormat"], shape.batch, fields["maxUbSize"]),
        warnings=tuple(_warnings(context, shape)),
        notes=notes,
        not_runnable=_trouble(kind, room, head_dim),
    )


def _multiple(context: TilingContext, shape: RopeShape, stride: int) -> int:
    """How many tokens are handled as one wide row."""
    if (
        context.attrs["cosFormat"] != 0
        or context.dtype("cos") != "float16"
        or shape.tokens < LARGE_NTOKENS
        or stride % BLOCK_FP16
    ):
        return 1
    hidden = max(shape.hidden_q, shape.hidden_k)
    multiple = max(1, FP16_LARGE.slice_elements // hidden)
    while shape.tokens % multiple:
        multiple -= 1
    too_few = shape.tokens // multiple < context.cores
    return 1 if too_few or UINT32_MAX // multiple < hidden else multiple


def _kind(context: TilingContext, shape: RopeShape, stride: int) -> Kind:
    large = shape.tokens >= LARGE_NTOKENS
    if context.dtype("q") == "bfloat16":
        return BF16_ALIGN if large and stride % BLOCK_FP16 == 0 else BF16
    if context.dtype("cos") == "float32":
        return FP32_TABLES
    return FP16_LARGE if large and context.attrs["cosFormat"] == 0 else FP16


def slice_elements(room: int, head_dim: int) -> int:
    """Elements of a row that are handled at once: whole heads."""
    return room // head_dim * head_dim if head_dim > 0 else 0


def scratch_bytes(tokens: int, head_dim: int, heads: int, cores: int) -> tuple[int, int]:
    """The kernel's scratch memory: expanded tables and rows to be shifted; flags of the full-core synchronisation."""
    rows = 6 * cores * heads * align_up(head_dim, BLOCK_FP16) * 2
    return SPARE_BYTES + rows + tokens * head_dim * 4, cores * BLOCK_BYTES


def length_bytes(cos_format: int, batch: int) -> int:
    """The queue of sample lengths: only needed where positions count within samples."""
    return align_up(batch, 8) * INT32_BYTES if cos_format else 0


def _buffers(kind: Kind, cos_format: int, batch: int, ub_bytes: int) -> tuple[UbBuffer, ...]:
    """The kernel takes all there is: one buffer, or a 16-bit and an fp32 one, behind tiling data and sample lengths."""
    lengths = length_bytes(cos_format, batch)
    found = [UbBuffer("tiling", TILING_BYTES)]
    if lengths:
        found.append(UbBuffer("seqlen", lengths))
    left = ub_bytes - TILING_BYTES - lengths
    if kind.lanes == 128:
        return (*found, UbBuffer("common", left))
    common = COMMON_ELEMENTS * 2
    return (*found, UbBuffer("fp32", left - common), UbBuffer("common", common))


def _shares(tokens: int, cores: int, hidden: int, step: int) -> tuple[CoreShare, ...]:
    front = ceil_div(tokens, max(1, cores))
    last = tokens - (cores - 1) * front
    loops = (Loop.over("columns of q", hidden, step),)
    if last == front:
        return (CoreShare("vector", cores, front, "rows", loops),)
    return CoreShare("front", cores - 1, front, "rows", loops), CoreShare("last", 1, last, "rows", loops)


def _warnings(context: TilingContext, shape: RopeShape) -> list[str]:
    rows = context.shape("cos")[0]
    if context.attrs["cosFormat"] == 0 and rows < shape.tokens:
        return [
            f"cos has {rows} rows for {shape.tokens} tokens: the library does not refuse it, and the kernel reads past "
            "its end"
        ]
    return []


def _trouble(kind: Kind, room: int, head_dim: int) -> str:
    if slice_elements(room, head_dim):
        return ""
    return (
        f"heads of {head_dim} elements do not fit into the {room} that kernel {kind.key} handles at "
        "once: the real kernel divides by zero"
    )
