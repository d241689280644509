"""The A2/A3 kernel of apply_rotary_pos_emb; the three tiling keys walk and buffer differently."""

from __future__ import annotations

from types import SimpleNamespace

from ascend_sim.host.operator import Call

from .kernel_pieces import rotary_pieces


def launch(call: Call) -> None:
    """Rotate query and key in place on the current device; the kernel sees all tensors as flat memory."""
    query, key, cos, sin = (call.tensors[name] for name in ("query", "key", "cos", "sin"))
    fields = SimpleNamespace(**call.tiling.data)
    rotary_pieces[call.tiling.block_dim](query, key, cos, sin, fields, call.tiling.path)
