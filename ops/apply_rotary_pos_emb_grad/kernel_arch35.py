"""The kernels of apply_rotary_pos_emb_grad: gradients of query and key alone, or with those of cos and sin.

The second kind has phases. Templates BAB and AB: gradients, with float32 sums of query's and key's products in the
workspace; all cores meet; the sums over heads and batches. Template A: gradients; rotated query and key to the
workspace; all cores meet; products.
"""

from types import SimpleNamespace
from typing import Any

from ascend_sim import asc
from ascend_sim.host.operator import Call
from ascend_sim.isa.dtypes import DataType

from ..shared.sums_arch35 import Sums, SumShape, sum_lines
from ..shared.workspace import user_workspace
from .one_axis_arch35 import multiply_lines, rotate_to_workspace, turn_all_lines
from .walks_arch35 import Job, Path, walk_batches_and_positions, walk_positions_and_heads

Fields = asc.ConstExpr[SimpleNamespace]
Address = asc.GlobalAddress


def job_of(pipe: asc.TPipe, paths: tuple[Path, Path], tables: Any, sums: Any, tiling: SimpleNamespace) -> Job:
    rows = tiling.ubFactorBS if tiling.path == "AB" else tiling.ubFactorS
    return Job(pipe, paths, tables, sums, tiling.d, rows, tiling.ubFactorN)


@asc.jit
def walk(job: Job, tiling: SimpleNamespace) -> None:
    if tiling.path == "AB":
        walk_positions_and_heads(job, tiling)
    else:
        walk_batches_and_positions(job, tiling)


@asc.jit
def apply_rotary_grad(
    g_query: Address, g_key: Address, cos: Address, sin: Address, d_query: Address, d_key: Address, tiling: Fields
) -> None:
    """grad_query and grad_key."""
    pipe = asc.TPipe()
    if tiling.path == "A":
        turn_all_lines(pipe, (g_query, g_key), (cos, sin), (d_query, d_key), tiling)
    else:
        paths = Path(g_query, d_query, None, tiling.nQ), Path(g_key, d_key, None, tiling.nK)
        walk(job_of(pipe, paths, (cos, sin), None, tiling), tiling)


@asc.jit
def apply_rotary_grad_with_sums(
    g_query: Address,
    g_key: Address,
    cos: Address,
    sin: Address,
    query: Address,
    key: Address,
    d_query: Address,
    d_key: Address,
    d_cos: Address,
    d_sin: Address,
    workspace: Address,
    tiling: Fields,
    sums: asc.ConstExpr[Sums],
) -> None:
    """Templates BAB and AB; `workspace` takes the float32 lines that `sums` adds to grad_cos, then to grad_sin."""
    pipe = asc.TPipe()
    for_cos, for_sin = workspace, workspace + elements(sums.shape)
    paths = Path(g_query, d_query, query, tiling.nQ), Path(g_key, d_key, key, tiling.nK)
    walk(job_of(pipe, paths, (cos, sin), (for_cos, for_sin), tiling), tiling)
    pipe.reset()
    asc.sync_all()
    sum_lines(pipe, (for_cos,), d_cos, sums)
    pipe.reset()
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)
    sum_lines(pipe, (for_sin,), d_sin, sums)
    pipe.reset()


@asc.jit
def apply_rotary_grad_with_products(
    g_query: Address,
    g_key: Address,
    cos: Address,
    sin: Address,
    query: Address,
    key: Address,
    d_query: Address,
    d_key: Address,
    d_cos: Address,
    d_sin: Address,
    workspace: Address,
    tiling: Fields,
) -> None:
    """Template A; `workspace` takes rot(query), then rot(key)."""
    pipe = asc.TPipe()
    g, x, rotated = (g_query, g_key), (query, key), (workspace, workspace + tiling.b * tiling.d)
    turn_all_lines(pipe, g, (cos, sin), (d_query, d_key), tiling)
    pipe.reset()
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)
    rotate_to_workspace(pipe, x, rotated, tiling)
    pipe.reset()
    asc.sync_all()
    multiply_lines(pipe, g, x, rotated, (d_cos, d_sin), tiling)
    pipe.reset()


def fields_of(call: Call) -> SimpleNamespace:
    """The fields of the template's own struct."""
    struct = "ropeGradABParams." if call.tiling.path == "AB" else "ropeGradParams."
    data = call.tiling.data.items()
    return SimpleNamespace(
        path=call.tiling.path, **{name.removeprefix(struct): value for name, value in data if name.startswith(struct)}
    )


def shape_of_sums(fields: SimpleNamespace) -> SumShape:
    """What the first phase leaves in the workspace for each of grad_cos and grad_sin."""
    heads = max(fields.nQ, fields.nK)
    if fields.path == "BAB":
        return SumShape(fields.b, fields.s, heads, 1, fields.d)
    positions = (fields.blockNumBS - 1) * fields.blockFactorBS + fields.blockTailBS
    return SumShape(1, positions, heads, 1, fields.d)


def elements(shape: SumShape) -> int:
    return shape.groups * shape.rows * shape.terms * shape.inner * shape.length


def launch(call: Call) -> None:
    """Compute the outputs in `call.tensors` on the current device; the kernels see all tensors as flat memory."""
    blocks, tensors, fields = call.tiling.block_dim, call.tensors, fields_of(call)
    inputs = [tensors[name] for name in ("grad_query_embed", "grad_key_embed", "cos", "sin")]
    outputs = [tensors[name] for name in ("grad_query", "grad_key")]
    if not call.tiling.data["dCosFlag"]:
        apply_rotary_grad[blocks](*inputs, *outputs, fields)
        return
    inputs += [tensors[name] for name in ("query", "key")]
    outputs += [tensors[name] for name in ("grad_cos", "grad_sin")]
    if fields.path == "A":
        dtype = DataType(tensors["cos"].dtype.name)
        workspace = user_workspace(call, 2 * fields.b * fields.d, dtype)
        apply_rotary_grad_with_products[blocks](*inputs, *outputs, workspace, fields)
    else:
        shape = shape_of_sums(fields)
        workspace = user_workspace(call, 2 * elements(shape), asc.float32)
        sums = Sums(shape.spread(blocks, asc.float32.itemsize), blocks, call.tiling.ub_bytes)
        apply_rotary_grad_with_sums[blocks](*inputs, *outputs, workspace, fields, sums)
