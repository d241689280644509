"""The 950's kernels of rotary_position_embedding_grad: dx by template, and with x, rot(x) and the sums."""

from types import SimpleNamespace

from ascend_sim import asc
from ascend_sim.host.operator import Call
from ascend_sim.isa.dtypes import DataType

from ..shared.memory_arch35 import whole_lines
from ..shared.rotations import INTERLEAVE_HALF
from ..shared.sums_arch35 import Sums, SumShape, sum_lines
from ..shared.turns_back_arch35_vf import BY_MODE_BACK
from ..shared.walks_arch35 import (
    walk_batches_and_positions,
    walk_heads_before_positions,
    walk_one_row,
    walk_own_rows,
    walk_positions_and_heads,
)
from ..shared.workspace import user_workspace
from .rotated_x_arch35 import rotate_x
from .tables_arch35 import multiply_tables, zero_tables

Fields = asc.ConstExpr[SimpleNamespace]
Text = asc.ConstExpr[str]
Address = asc.GlobalAddress


@asc.jit
def rotate_back(
    pipe: asc.TPipe, dy: Address, cos: Address, sin: Address, dx: Address, tiling: SimpleNamespace, template: str
) -> None:
    """dx, as the forward operator's templates walk over x."""
    in_batches = template in ("A", "ABA", "BA")
    gm = whole_lines(pipe, dy, cos, sin, dx, tiling, in_batches, back=True)
    vf = BY_MODE_BACK[tiling.rotaryMode]
    if template == "A":
        walk_own_rows(gm, tiling, vf)
    elif template == "B":
        walk_one_row(gm, tiling, vf)
    elif template == "AB":
        walk_positions_and_heads(gm, tiling, vf)
    elif template == "BAB":
        walk_batches_and_positions(gm, tiling, vf)
    else:
        walk_heads_before_positions(gm, tiling, vf, template == "BA")


@asc.jit
def rotary_grad(dy: Address, cos: Address, sin: Address, dx: Address, tiling: Fields, template: Text) -> None:
    rotate_back(asc.TPipe(), dy, cos, sin, dx, tiling, template)


@asc.jit
def rotary_grad_with_x(
    dy: Address,
    cos: Address,
    sin: Address,
    x: Address,
    dx: Address,
    dcos: Address,
    dsin: Address,
    workspace: Address,
    tiling: Fields,
    rotary_x: Fields,
    sums: asc.ConstExpr[Sums],
    template: Text,
) -> None:
    """dx; rot(x) to the workspace; then dcos and dsin, for which template A has nothing to sum."""
    pipe = asc.TPipe()
    rotate_back(pipe, dy, cos, sin, dx, tiling, template)
    pipe.reset()
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)
    rotate_x(pipe, x, workspace, rotary_x)
    pipe.reset()
    asc.sync_all()
    placed, rotated = x, workspace
    if rotary_x.rotaryMode == INTERLEAVE_HALF:
        placed, rotated = workspace, workspace + rotary_x.b * rotary_x.s * rotary_x.n * rotary_x.d
    if template == "A":
        multiply_tables(pipe, dy, (placed, rotated), (dcos, dsin), rotary_x)
        return
    sum_lines(pipe, (dy, placed), dcos, sums)
    pipe.reset()
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)
    sum_lines(pipe, (dy, rotated), dsin, sums)


@asc.jit
def rotary_grad_empty(dcos: Address, dsin: Address, elements: asc.ConstExpr[int], cores: asc.ConstExpr[int]) -> None:
    """dy has no elements: dcos and dsin are zeros."""
    zero_tables((dcos, dsin), elements, cores)


@asc.jit
def rotary_grad_nothing(dy: Address) -> None:
    """Neither does dx, and without x there is nothing else: launched, and back at once."""
    return


def part(call: Call, name: str) -> SimpleNamespace:
    """One struct of the tiling data."""
    prefix = f"{name}."
    return SimpleNamespace(
        **{key.removeprefix(prefix): value for key, value in call.tiling.data.items() if key.startswith(prefix)}
    )


def launch(call: Call) -> None:
    """dx, and dcos and dsin where x is given, on the current device."""
    tensors, data, blocks = call.tensors, call.tiling.data, call.tiling.block_dim
    template = str(data["path"])
    tiling = part(call, "ropeGradABParams" if template == "AB" else "ropeGradParams")
    dy, cos, sin, dx = (tensors[name] for name in ("dy", "cos", "sin", "dx"))
    if data["isEmptyDy"]:
        if "x" in tensors and data["cosShapeSize"]:
            rotary_grad_empty[blocks](tensors["dcos"], tensors["dsin"], int(data["cosShapeSize"]), blocks)
        else:
            rotary_grad_nothing[blocks](dy)
    elif "x" not in tensors:
        rotary_grad[blocks](dy, cos, sin, dx, tiling, template)
    else:
        rotary_x = part(call, "rotaryXParams")
        halves = 2 if rotary_x.rotaryMode == INTERLEAVE_HALF else 1
        dtype = DataType(dy.dtype.name)
        workspace = user_workspace(call, halves * dy.size, dtype)
        results = tensors["dcos"], tensors["dsin"]
        operands = (dy, cos, sin, tensors["x"], dx, *results, workspace)
        lines, table = dy.shape[:-1], cos.shape[:-1]
        shape = SumShape.of(lines, lines if template == "A" else table, dy.shape[-1])
        sums = Sums(shape.spread(blocks, dtype.itemsize), blocks, call.tiling.ub_bytes)
        rotary_grad_with_x[blocks](*operands, tiling, rotary_x, sums, template)
