"""What holds of every tiling that an operator declares in its `SPACE`, whatever the operator.

A test draws calls and hands them to `check_legal` and `check_right`; what the chosen fields are called, and which of
them have to vary, it looks at itself in the tilings that these answer.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from ascend_sim.errors import InputError
from ascend_sim.host.arrays import random_inputs
from ascend_sim.host.device import Device
from ascend_sim.host.execute import run_operator
from ascend_sim.host.operator import Operator
from ascend_sim.host.planning import tiling_context
from ascend_sim.host.space import same_as
from ascend_sim.host.tensors import TensorInfo, tensor_info
from ascend_sim.host.tiling import Tiling, TilingContext
from ascend_sim.report.values import compare
from ascend_sim.soc import Soc

HARMLESS = "reads what the same call stores"


def context_of(
    operator: Operator, inputs: Mapping[str, Any], attrs: Mapping[str, Any], chip: Soc, cores: int | None = None
) -> TilingContext:
    """What the host code sees; `cores`: of a chip with so few."""
    infos = {name: tensor_info(name, value) for name, value in inputs.items()}
    found = tiling_context(operator, infos, attrs, chip)
    return found if cores is None else replace(found, cores=cores, cube_cores=max(1, min(cores, found.cube_cores)))


def check_legal(operator: Operator, context: TilingContext, limit: int) -> list[Tiling]:
    """The candidates: the host's choice first, each other one different, legal, covering everything exactly once, and
    the same again when it is made from its own fields or words."""
    space = operator.space_on(context.soc)
    host = operator.support_on(context.soc).tiling
    assert host is not None
    own = host(context)
    found = list(space.candidates(context, limit))
    assert same_as(found[0]) == same_as(own)
    assert len({same_as(tiling) for tiling in found}) == len(found)
    sizes = tuple(space.axes(context).values())
    for tiling in found:
        assert space.faults(tiling, context) == [], tiling.data
        assert 1 <= tiling.block_dim <= max(own.block_dim, context.cores)
        assert tiling.ub_used_bytes <= context.ub_bytes
        if not tiling.is_noop:
            assert (visits(operator, tiling, context, sizes) == 1).all(), tiling.data
        fields = {**tiling.data, "block_dim": tiling.block_dim}
        again = space.rebuild(context, fields)
        assert (again.words, again.block_dim, again.key, again.buffers) == (
            tiling.words,
            tiling.block_dim,
            tiling.key,
            tiling.buffers,
        )
        words = [word for word in tiling.words if word is not None]
        if len(words) == len(tiling.words) > 0:
            read = space.fields(words, context)
            assert {name: tiling.data[name] for name in read} == dict(read)
    return found


def visits(operator: Operator, tiling: Tiling, context: TilingContext, sizes: tuple[int, ...]) -> np.ndarray:
    """How often each place of the axes is worked on, step by step."""
    counts = np.zeros(sizes, np.int64)
    for piece in operator.space_on(context.soc).coverage(tiling, context):
        assert 0 <= piece.block < tiling.block_dim
        for steps in product(*(axis.each() for axis in piece.axes)):
            counts[tuple(slice(step.start, step.stop) for step in steps)] += 1
    return counts


def check_right(
    operator: Operator,
    inputs: Mapping[str, TensorInfo],
    attrs: Mapping[str, Any],
    chip: Soc,
    tilings: list[Tiling],
    harmless: str = HARMLESS,
) -> None:
    """Each of the tilings computes what the operator is to compute, within its tolerance.

    `harmless`: of a warning that the own tilings get, too. Registers are loaded whole, those of the last line from
    behind the buffer, and what their masks leave out is used by nothing.
    """
    values = random_inputs(dict(inputs), 1, operator.draws)
    allowed = operator.tolerance
    for tiling in tilings:
        arrays = {name: np.array(value) for name, value in values.items()}
        run = run_operator(operator, arrays, attrs, Device(chip, timing=False, echo=False), tiling=tiling)
        found = compare(run.outputs, run.golden, allowed.absolute, allowed.relative)
        assert found.ok, (tiling.data, found)
        assert all(harmless in text for text in run.warnings), run.warnings


def check_garbage(
    operator: Operator,
    inputs: Mapping[str, TensorInfo],
    attrs: Mapping[str, Any],
    chip: Soc,
    tilings: list[Tiling],
    count: int,
) -> int:
    """`count` times one to three fields of one of `tilings` get values from anywhere. What comes of it is refused with
    a clear line, faulty, or right; answers how many are right."""
    context = context_of(operator, inputs, attrs, chip)
    space, draw, legal = operator.space_on(chip.name), random.Random(count), []
    for _ in range(count):
        tiling = draw.choice(tilings)
        fields = {**tiling.data, "block_dim": tiling.block_dim}
        numbers = [name for name, value in fields.items() if isinstance(value, int)]
        for name in draw.sample(numbers, draw.choice((1, 1, 2, 3))):
            fields[name] = _anything(draw, fields[name])
        try:
            changed = space.rebuild(context, fields)
        except InputError:
            continue
        if not space.faults(changed, context):
            legal.append(changed)
    check_right(operator, inputs, attrs, chip, legal)
    return len(legal)


def _anything(draw: random.Random, value: Any) -> int:
    near = (value + 1, value - 1, value * 2, value // 2, value + 32, -value)
    return draw.choice((*near, 0, 1, draw.randrange(20), draw.randrange(-5, 300), 2**31, 10**12))


def faults_with(operator: Operator, chip: Soc, given_call: tuple[Any, Any], kernel: str, /, **fields: int) -> list[str]:
    """The faults of another tiling than the host's own, for `kernel` on four blocks, with other `fields`."""
    space, context = operator.space_on(chip.name), context_of(operator, *given_call, chip, 4)
    found = list(space.candidates(context, 30))[1:]
    tiling = next(t for t in found if space.choices(t)["kernel"] == kernel and t.block_dim == 4)
    return space.faults(space.rebuild(context, {**tiling.data, "block_dim": 4, **fields}), context)


def own_problems_with(
    operator: Operator, chip: Soc, given_call: tuple[Any, Any], fields: Mapping[str, int]
) -> list[str]:
    """Problems of the host's own tiling on one core with other fields, for limits that no chip's UB has room for."""
    space, context = operator.space_on(chip.name), context_of(operator, *given_call, chip, 1)
    own = next(iter(space.candidates(context, 1)))
    return space.problems(space.rebuild(context, {**own.data, **fields}), context)
