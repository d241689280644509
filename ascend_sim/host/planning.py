"""The host side of a call without running it: checks and tiling, shape inference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ascend_sim.errors import InputError, UnsupportedError
from ascend_sim.host.operator import Operator
from ascend_sim.host.registry import operator_named
from ascend_sim.host.tensors import Shape, tensor_info
from ascend_sim.host.tiling import Tiling, TilingContext
from ascend_sim.soc import Soc, load
from ascend_sim.soc.models import MAX_BLOCKS

MAX_UB_BYTES = (1 << 63) - 1  # host code keeps sizes in int64


def tiling(
    op: str | Operator,
    inputs: Mapping[str, Any],
    attrs: Mapping[str, Any] | None = None,
    soc: str | Soc | None = None,
    cores: int | None = None,
    ub_bytes: int | None = None,
    cann: str = "",
) -> Tiling:
    """Checks and tiling of one call, as the operator's host code does them.

    `inputs` maps names to arrays or `(shape, dtype)` pairs, optional inputs that are absent left out. Without `soc` the
    call is for ascend910b, or for the first SoC that has the operator. `cores` and `ub_bytes` stand in for what the
    chip has, as a compile info does: `cores` for the core count that the operator asks for, `ub_bytes` for the
    configured unified buffer (operators that read it through GetCoreMemSize see it 256 B smaller on arch 2201).
    `cann` chooses among host code of different releases; "" is the newest.
    Raises `TilingError` when the operator's own checks refuse the call, `UnsupportedError` for an unknown operator or
    a SoC that the operator or the simulator does not have, `InputError` for names or values that make no sense.
    """
    operator = operator_named(op)
    chip = load(operator.default_soc if soc is None else soc)
    return plan(operator, inputs, attrs or {}, chip, cores, ub_bytes, cann)


def plan(
    operator: Operator,
    inputs: Mapping[str, Any],
    attrs: Mapping[str, Any],
    chip: Soc,
    cores: int | None = None,
    ub_bytes: int | None = None,
    cann: str = "",
) -> Tiling:
    """`tiling` for an operator and a chip that are already loaded."""
    support = operator.support_on(chip.name)
    if support.tiling is None:
        ready = ", ".join(name for name, other in operator.supports.items() if other.tiling is not None)
        raise UnsupportedError(
            f"{operator.name} exists on {chip.name}, but the simulator has no host code of it for that chip "
            f"(arch {chip.arch}) yet; there is one for {ready}"
        )
    found = support.tiling(tiling_context(operator, inputs, attrs, chip, cores, ub_bytes, cann))
    if support.kernel is None and not found.not_runnable:
        return replace(found, not_runnable=operator.no_kernel_on(chip.name))
    return found


def tiling_context(
    operator: Operator,
    inputs: Mapping[str, Any],
    attrs: Mapping[str, Any],
    chip: Soc,
    cores: int | None = None,
    ub_bytes: int | None = None,
    cann: str = "",
) -> TilingContext:
    """What the operator's host code sees of one call on `chip`."""
    bound = operator.bind_inputs(inputs)
    return TilingContext(
        op=operator.type_name,
        soc=chip.name,
        variant=chip.variant,
        arch=chip.arch,
        cores=chip.cores.aiv if cores is None else _count("cores", cores, MAX_BLOCKS),
        cube_cores=chip.cores.aic if cores is None else int(cores),
        ub_bytes=_ub_bytes(operator, chip, ub_bytes),
        library_workspace_bytes=chip.host.library_workspace_bytes,
        inputs={name: tensor_info(name, value) for name, value in bound.items()},
        attrs=operator.bind_attrs(attrs),
        cann=_cann(operator, cann),
    )


def plan_run(
    operator: Operator, inputs: Mapping[str, Any], attrs: Mapping[str, Any], chip: Soc, cann: str = ""
) -> Tiling:
    """`plan` for a call that is to run: one whose kernels cannot run raises `UnsupportedError`."""
    found = plan(operator, inputs, attrs, chip, cann=cann)
    require_runnable(operator, found)
    return found


def require_runnable(operator: Operator, found: Tiling) -> None:
    """Raise `UnsupportedError` for a tiling whose kernels cannot run."""
    if found.not_runnable:
        raise UnsupportedError(f"{operator.name}: {found.not_runnable}")


def infer_shapes(op: str | Operator, inputs: Mapping[str, Any], attrs: Mapping[str, Any] | None = None) -> list[Shape]:
    """Shapes of the outputs that the call has, in the operator's order.

    Unknown dims (-1) and the unknown rank (-2,) pass through.
    """
    operator = operator_named(op)
    bound = operator.bind_inputs(inputs)
    shapes = {name: tensor_info(name, value, unknown_dims=True).shape for name, value in bound.items()}
    inferred = operator.infer_shapes(shapes, operator.bind_attrs(attrs or {}))
    return [
        shape
        for output, shape in zip(operator.outputs, inferred, strict=True)
        if output.needs is None or output.needs in shapes
    ]


def _ub_bytes(operator: Operator, chip: Soc, configured: int | None) -> int:
    """The UB size that this operator's tiling reads, in bytes."""
    if configured is None:
        return chip.ub.usable_bytes  # on a board every operator ends up with what GetCoreMemSize answers
    count = _count("ub_bytes", configured, MAX_UB_BYTES)
    return count if operator.ub_reads == "configured" else count - chip.ub.framework_reserved_bytes


def _count(name: str, value: Any, most: int) -> int:
    """What stands in for a number of the chip's; the operator's own checks refuse what is too small."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputError(f"{name} is {value!r}; it must be an integer")
    if value > most:
        raise InputError(f"{name} is {value}; at most {most} can be")
    return int(value)


def _cann(operator: Operator, wanted: str) -> str:
    if not wanted:
        return operator.cann[-1]
    if wanted not in operator.cann:
        raise InputError(f"{operator.name} has no host code of CANN {wanted!r}; there is {', '.join(operator.cann)}")
    return wanted
