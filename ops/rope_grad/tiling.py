"""Host side of rope_grad: ATB's checks, then the tiling of the MKI kernel behind it.

The kernel gets the sizes and the length of every sample as they are; all that is decided here is the number of cores:
one per head, as far as there are cores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.host.atb import Status, check_inputs, refuse
from ascend_sim.host.tiling import CoreShare, Loop, Tiling, TilingContext, UbBuffer

from ..shared.structs import with_buffers
from .checks import OP, check_q_seq_len, dim_check, param_check

DTYPES = (("float16",) * 4,)
FP16_BYTES = 2
MAX_PROCESS_NUM = 192 * 1024 // FP16_BYTES // 8  # elements of one buffer, an eighth of the unified buffer
MAX_CORES = 128  # a platform that answers more, or none, counts as one core
TILING_FIELDS = ("maxSeqLen", "hiddenSize", "headSize", "sumSeqLen", "batch")  # RopeGradTilingData, all int64
BUFFER_NUM = 1  # per queue: loading the next tile can overlap with storing this one, and nothing else
BUFFERS = ("q_embedded_grad", "k_embedded_grad", "cos", "sin", "q_grad", "k_grad", "work")


def tiling(context: TilingContext) -> Tiling:
    """Every check that a call of the ATB operation passes, then its tiling."""
    q_seq_len = context.attrs["qSeqLen"]
    shapes = {name: info.shape for name, info in context.inputs.items()}
    check_q_seq_len(q_seq_len)
    check_inputs(context, DTYPES)
    dim_check(shapes)
    param_check(q_seq_len, shapes["cos"])
    return rope_grad_tiling(context)


def rope_grad_tiling(context: TilingContext) -> Tiling:
    """The tiling function of the MKI kernel, with its own checks (of which ATB's leave none to fail)."""
    q_seq_len: tuple[int, ...] = tuple(context.attrs["qSeqLen"])
    rows, hidden = context.shape("q_embedded_grad")
    max_seq_len, head_size = context.shape("cos")
    if not 0 < head_size < MAX_PROCESS_NUM:
        _refuse(f"headSize is {head_size}; allowed are 1 to {MAX_PROCESS_NUM - 1}")
    if hidden % head_size:
        _refuse(f"hiddenSize {hidden} is no multiple of headSize {head_size}")
    if not q_seq_len:
        _refuse("batch is 0; there must be at least one sample")
    for i, length in enumerate(q_seq_len):
        if not 0 < length <= max_seq_len:
            _refuse(f"qSeqLen[{i}] is {length}; allowed are 1 to {max_seq_len}")
    words = (max_seq_len, hidden, head_size, rows, len(q_seq_len), *q_seq_len)
    blocks = min(hidden // head_size, _cores(context))
    return answer(context, fields_of(words), blocks, MAX_PROCESS_NUM // head_size, BUFFER_NUM)


def _cores(context: TilingContext) -> int:
    return context.cores if 1 <= context.cores <= MAX_CORES else 1


def fields_of(words: Sequence[int]) -> dict[str, int]:
    """The struct's fields, then the length of every sample."""
    samples = words[len(TILING_FIELDS) :]
    return dict(zip(TILING_FIELDS, words, strict=False)) | {f"qSeqLen[{i}]": n for i, n in enumerate(samples)}


def answer(context: TilingContext, fields: Mapping[str, int], blocks: int, rows_per_loop: int, buffers: int) -> Tiling:
    """A tiling from its fields, which may be anybody's, and from what the kernel's source fixes."""
    samples = tuple(value for name, value in fields.items() if name not in TILING_FIELDS)
    head_size = fields["headSize"]
    heads = fields["hiddenSize"] // head_size if head_size else 0
    nbytes = rows_per_loop * head_size * FP16_BYTES
    notes = _notes(head_size, rows_per_loop)
    found = Tiling(
        op=context.op,
        soc=context.soc,
        variant=context.variant,
        key=0,
        meaning="one head per core, every sample in tiles of whole rows; the kernel has no tiling keys",
        block_dim=blocks,
        workspace_bytes=0,
        data={**fields, "path": "head_per_core", "rowsPerLoop": rows_per_loop},
        words=tuple(fields.values()),
        ub_bytes=context.ub_bytes,
        shares=(_share(samples, blocks, rows_per_loop),),
        buffers=(
            *(UbBuffer(name, nbytes, buffers) for name in BUFFERS[:-1]),
            UbBuffer(BUFFERS[-1], nbytes),
        ),
        warnings=tuple(_warnings(heads, head_size, blocks, sum(samples), fields["sumSeqLen"])),
        notes=notes,
        changes_source=bool(notes),
    )
    return with_buffers(found, buffers, BUFFER_NUM)


def _notes(head_size: int, rows_per_loop: int) -> tuple[str, ...]:
    """What other tiles change in the kernel's source."""
    if not head_size or rows_per_loop == MAX_PROCESS_NUM // head_size:
        return ()
    elements = rows_per_loop * head_size
    return (f"MAX_PROCESS_NUM in the kernel's source has to be {elements}: it is not in the tiling data",)


def _refuse(text: str) -> None:
    refuse(OP, Status.ERROR_INVALID_PARAM, text)


def _share(q_seq_len: tuple[int, ...], cores: int, rows_per_loop: int) -> CoreShare:
    """What each core walks; the loop over rows only where it is the same for all samples."""
    loops = [Loop("samples", 1, len(q_seq_len), 1)] if len(q_seq_len) > 1 else []
    if len(set(q_seq_len)) == 1:
        loops.append(Loop.over("rows", q_seq_len[0], rows_per_loop))
    return CoreShare("vector", cores, sum(q_seq_len), "rows", tuple(loops))


def _warnings(heads: int, head_size: int, cores: int, covered: int, rows: int) -> list[str]:
    """What the operator lets pass although the result is not what was asked for."""
    found = []
    if heads > cores:
        found.append(
            f"{heads} heads on {cores} vector cores: each core takes one head and none a second, so heads {cores} to "
            f"{heads - 1} (columns {cores * head_size} to {heads * head_size - 1}) of q_grad and k_grad are never "
            "written, as on the chip"
        )
    if covered < rows:
        found.append(
            f"qSeqLen covers {covered} of {rows} rows: rows {covered} to {rows - 1} of q_grad and k_grad are never "
            "written, as on the chip"
        )
    if covered > rows:
        found.append(
            f"qSeqLen adds up to {covered} rows, but the tensors have {rows}: the library does not refuse it, and the "
            "kernel reads and writes past their end"
        )
    return found


def tiling_buffer(words: Sequence[Any]) -> npt.NDArray[np.uint8]:
    """The bytes that the kernel reads: five int64, then one int32 per sample, 40 + 4 * batch in all."""
    head, samples = words[: len(TILING_FIELDS)], words[len(TILING_FIELDS) :]
    return np.frombuffer(np.array(head, np.int64).tobytes() + np.array(samples, np.int32).tobytes(), np.uint8).copy()
