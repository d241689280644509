"""Python entry points: `run`, `tiling`, `infer_shapes`, `device`."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ascend_sim.accuracy.expected import expected_error, kind_of, operator_kind
from ascend_sim.errors import InputError
from ascend_sim.host.arrays import random_inputs
from ascend_sim.host.device import Device, L2State, Launch
from ascend_sim.host.execute import OperatorRun, run_operator
from ascend_sim.host.given import Source, legal_tiling
from ascend_sim.host.operator import DEFAULT_SOC, Operator
from ascend_sim.host.planning import infer_shapes, plan_run, tiling, tiling_context
from ascend_sim.host.registry import operator_named
from ascend_sim.host.tensors import TensorInfo, infos_text, tensor_info
from ascend_sim.machine import LaunchKind
from ascend_sim.report.comparison import compare_reference
from ascend_sim.report.result import OperatorResult, Result
from ascend_sim.report.values import UNCHECKED, compare
from ascend_sim.soc import Soc, load

__all__ = ["DeviceWithRuns", "Overrides", "device", "infer_shapes", "run", "run_call", "tiling"]

Overrides = Mapping[str, str | int | float | bool]


class DeviceWithRuns(Device):
    """A simulated device whose `runs` are the results of its launches, oldest first."""

    def __init__(self, soc: str | Soc = DEFAULT_SOC, **options: Any) -> None:
        super().__init__(soc, **options)
        self._runs: list[Result] = []

    @property
    def runs(self) -> list[Result]:
        """One result per launch; figures are worked out when something first asks for them."""
        self._runs += [launch_result(launch) for launch in self.launches[len(self._runs) :]]
        return self._runs


def device(
    soc: str | Soc = DEFAULT_SOC,
    *,
    values: bool = True,
    l2: L2State = "warm",
    launch_kind: LaunchKind = "back_to_back",
    cold_start_us: float = 0.0,
    overrides: Overrides | None = None,
    core: int | Collection[int] | None = None,
    echo: bool = True,
    block_order: Sequence[int] | None = None,
) -> DeviceWithRuns:
    """Open a device: `with ascend_sim.device("Ascend910B4") as dev: kernel[8](x, y)`, then look at `dev.runs[-1]`.

    `values=False` times without computing. `l2`: launches find L2 as if launched just before ("warm"), empty
    ("cold"), or as earlier launches on this device left it ("keep"). `launch_kind`: "back_to_back", or with a cold
    start "few_launches" or "in_situ"; `cold_start_us` adds to that, 0 unless given. `overrides` maps dotted paths of
    chip parameters to values. `core` limits what kernels print to these blocks, `echo=False` keeps it off stdout.
    `block_order` runs the blocks in another order, which changes no result.
    """
    return DeviceWithRuns(
        load(soc, overrides),
        values=values,
        l2=l2,
        launch_kind=launch_kind,
        cold_start_us=cold_start_us,
        core_filter=core,
        echo=echo,
        block_order=block_order,
    )


def run(
    op: str | Operator,
    *args: Any,
    soc: str | Soc | None = None,
    values: bool = True,
    seed: int = 0,
    overrides: Overrides | None = None,
    l2: L2State = "warm",
    launch_kind: LaunchKind = "back_to_back",
    cold_start_us: float = 0.0,
    repeat: int = 1,
    core: int | Collection[int] | None = None,
    cann: str = "",
    compare: str = "",
    tiling: Source | None = None,
    **kwargs: Any,
) -> OperatorResult:
    """Run an operator: `run("inplace_partial_rotary_mul", x, r1, r2, partial_slice=[0, 64])`.

    Inputs go by position or name (aliases too), attributes by name. An input is a numpy or ml_dtypes array, which an
    operator that works in place changes, or a `(shape, dtype)` pair: random values from `seed`, or no values at all
    with `values=False`. Without any input the operator's example runs, without `soc` on ascend910b or the first SoC
    that has the operator. Other keywords are those of `device`; `cann` chooses among host code of different releases,
    `compare` names one of the operator's references to hold the outputs against beside the golden. With `repeat` the
    result is that of the first of so many launches; `later_us` has the durations of the others, which follow back to
    back and find what is in L2. `tiling` takes the place of the one that the host code chooses, where the operator
    declares its tilings: a file as `check-tiling` reads it, fields by name, raw words, a `Tiling`; an illegal one is
    refused (`InputError`). Raises `TilingError`, `UnsupportedError`, `InputError`.
    """
    operator = operator_named(op)
    inputs, attrs = operator.bind_call(args, kwargs)
    if not inputs:
        inputs, attrs = dict(operator.example.inputs), dict(operator.example.attrs) | attrs
    chip = load(operator.default_soc if soc is None else soc, overrides)
    return run_call(
        operator,
        inputs,
        attrs,
        chip,
        values=values,
        seed=seed,
        l2=l2,
        launch_kind=launch_kind,
        cold_start_us=cold_start_us,
        repeat=repeat,
        core=core,
        cann=cann,
        compare=compare,
        tiling=tiling,
    )


def run_call(
    operator: Operator,
    inputs: Mapping[str, Any],
    attrs: Mapping[str, Any],
    chip: Soc,
    *,
    values: bool = True,
    seed: int = 0,
    l2: L2State = "warm",
    launch_kind: LaunchKind = "back_to_back",
    cold_start_us: float = 0.0,
    repeat: int = 1,
    core: int | Collection[int] | None = None,
    echo: bool = True,
    cann: str = "",
    compare: str = "",
    tiling: Source | None = None,
) -> OperatorResult:
    """`run` for an operator and a chip that are already loaded, inputs and attributes sorted."""
    begin = time.perf_counter()
    operator.support_on(chip.name)  # where the operator exists says more than what a device cannot simulate yet
    if compare:
        _check_compare(operator, compare, values)
    if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 1:
        raise InputError(f"repeat {repeat!r}: must be a number of launches, 1 or more")
    on = Device(
        chip,
        values=values,
        l2=l2,
        launch_kind=launch_kind,
        cold_start_us=cold_start_us,
        core_filter=core,
        echo=echo,
    )
    given = operator.bind_inputs(inputs)
    chosen = None
    if values or tiling is not None:
        own = plan_run(operator, given, attrs, chip, cann=cann)  # refused calls are not worth their random values
        if tiling is not None:
            chosen = legal_tiling(operator, tiling_context(operator, given, attrs, chip, cann=cann), own, tiling)
    if values:
        given = _filled(operator, given, seed)
    done = run_operator(operator, given, attrs, on, cann=cann, reference=compare, tiling=chosen)
    (launch,) = done.launches
    later = [on.machine.run(launch.program, "keep") for _ in range(repeat - 1)]
    result = _operator_result(done, compare, time.perf_counter() - begin)
    result.later_us = [line.launch_us + line.to_us(line.duration_cycles) for line in later]
    return result


def _check_compare(operator: Operator, compare: str, values: bool) -> None:
    operator.reference_named(compare)
    if not values:
        raise InputError(f"comparing with reference {compare!r} needs values: run with them")


def _filled(operator: Operator, inputs: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Random arrays in place of shapes; what a seed gives one input does not depend on the others."""
    infos = {name: tensor_info(name, value) for name, value in inputs.items()}
    shapes = {name for name, value in inputs.items() if not isinstance(value, np.ndarray)}
    random = random_inputs(infos, seed, operator.draws) if shapes else {}
    return {name: random[name] if name in shapes else value for name, value in inputs.items()}


def launch_result(launch: Launch) -> Result:
    """The result of one launch of any kernel."""
    kind = kind_of(launch.program)
    return Result(op=launch.kernel, warnings=list(launch.warnings), **_of_launch(launch, kind))


def _of_launch(launch: Launch, kind: str) -> dict[str, Any]:
    """What the results of launches and of operators have in common; `kind` as for `expected_error`."""
    return {
        "kernel": launch.kernel,
        "chip": launch.soc,
        "program": launch.program,
        "timeline": launch.timeline,
        "wall_s": launch.wall_s,
        "l2": launch.l2,
        "cold_start_us": launch.timeline.cold_start_us,
        "expect": lambda soc, us: expected_error(soc, kind, us).to_json(),
        "output": launch.output,
    }


def _operator_result(done: OperatorRun, compared: str, wall_s: float) -> OperatorResult:
    """The result of an operator's call, which is one launch."""
    (launch,) = done.launches
    tolerance = done.operator.tolerance
    values = UNCHECKED
    if done.golden:
        values = compare(done.outputs, done.golden, tolerance.absolute, tolerance.relative)
    comparison = None
    if compared:
        comparison = compare_reference(done.operator.reference_named(compared), done.outputs, done.reference)
    return OperatorResult(
        op=done.operator.name,
        tiling=done.tiling,
        values=values,
        comparison=comparison,
        inputs=done.inputs,
        outputs=done.outputs,
        golden=done.golden,
        call=_call_text(done.infos, done.attrs),
        warnings=list(done.warnings),
        **(_of_launch(launch, operator_kind(done.operator, launch.program)) | {"wall_s": wall_s}),
    )


def _call_text(infos: Mapping[str, TensorInfo], attrs: Mapping[str, Any]) -> str:
    """`x (2, 32, 8, 128) float16, ..., partial_slice=0,64`."""
    texts = [f"{name}={','.join(map(str, v)) if isinstance(v, tuple) else v}" for name, v in attrs.items()]
    return ", ".join([infos_text(infos), *texts])
