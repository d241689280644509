"""The kernels of rope, chosen by the tiling id as the real kernel function does."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from ascend_sim.asc.memory import DeviceArray, HostData
from ascend_sim.host.operator import Call
from ascend_sim.host.tensors import tensor_info

from .kernel_bf16 import rope_bf16
from .kernel_bf16_align import rope_bf16_align
from .kernel_fp16 import rope_fp16
from .kernel_fp16_large import rope_fp16_large_ntokens
from .kernel_fp32 import rope_fp32_tables
from .op import even_lengths
from .tiling import BLOCK_BYTES, TILING_BYTES, scratch_bytes

KERNELS = {
    "fp16": rope_fp16,
    "fp32_tables": rope_fp32_tables,
    "bf16": rope_bf16,
    "fp16_large_ntokens": rope_fp16_large_ntokens,
    "bf16_align": rope_bf16_align,
}


def launch(call: Call) -> None:
    """Rotate q and k on the current device."""
    tensors, fields = call.tensors, SimpleNamespace(**call.tiling.data)
    words = np.zeros(TILING_BYTES // 4, np.uint32).view(HostData)
    words[: len(call.tiling.words)] = call.tiling.words
    cos, sin = (in_whole_blocks(tensors[name]) for name in ("cos", "sin"))
    seqlen = as_int32(tensors["seqlen"])
    expanded, shifted, sync = scratch(call, fields)
    KERNELS[call.tiling.path][call.tiling.block_dim](
        tensors["q"],
        tensors["k"],
        cos,
        sin,
        in_whole_blocks(seqlen),
        tensors["q_embedded"],
        tensors["k_embedded"],
        expanded,
        shifted,
        sync,
        words,
        fields,
        sample_lengths(call, seqlen),
    )


def in_whole_blocks(tensor: Any) -> Any:
    """The tensor as long as its device allocation, which is up to 32 B longer: kernels read whole 32 B blocks of it."""
    row_bytes = tensor.nbytes // tensor.shape[0] if len(tensor.shape) > 1 else tensor.nbytes
    if row_bytes % BLOCK_BYTES == 0:
        return tensor
    if isinstance(tensor, DeviceArray):
        return DeviceArray((tensor.size + BLOCK_BYTES // tensor.dtype.itemsize,), tensor.dtype)
    return np.concatenate([tensor.reshape(-1), np.zeros(BLOCK_BYTES // tensor.itemsize, tensor.dtype)])


def as_int32(seqlen: Any) -> Any:
    """The lengths as the kernel reads them, whatever the sign of their dtype."""
    return DeviceArray(seqlen.shape, "int32") if isinstance(seqlen, DeviceArray) else seqlen.view(np.int32)


def sample_lengths(call: Call, seqlen: Any) -> tuple[int, ...]:
    """What the kernel will find in seqlen; even lengths in a run without values."""
    if isinstance(seqlen, DeviceArray):
        seqlen = even_lengths({name: tensor_info(name, call.tensors[name]) for name in ("q", "seqlen")})
    return tuple(int(length) for length in seqlen)


def scratch(call: Call, fields: SimpleNamespace) -> tuple[Any, Any, Any]:
    """The kernel's scratch memory in the dtype of the tables, in that of q, and the flags of the synchronisation."""
    rows, flags = scratch_bytes(fields.ntokens, fields.headDim, fields.headNumQ, fields.realCore)
    memory = call.workspace
    if memory is None:
        memory = np.full(rows + flags, 0xFF, np.uint8)
    memory[rows : rows + flags] = 0  # the host clears them before the launch
    table, qk = (dtype_of(call.tensors[name]) for name in ("cos", "q"))
    return memory[:rows].view(table), memory[:rows].view(qk), memory[rows : rows + flags].view(np.int32)


def dtype_of(tensor: Any) -> Any:
    return tensor.dtype.numpy if isinstance(tensor, DeviceArray) else tensor.dtype
