"""Runs of the 950's rotary operators: small calls that reach every template, tail and kind of tile.

The tiling is asked for a few cores and little unified buffer, so that small tensors are cut as large ones are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from ascend_sim import asc
from ascend_sim.asc import reg
from ascend_sim.asc.memory import GM_ALIGNMENT_BYTES, DeviceArray
from ascend_sim.host.device import Device
from ascend_sim.host.operator import Call, Operator
from ascend_sim.host.planning import plan
from ascend_sim.host.tiling import Tiling
from ascend_sim.program import CopyWork, Instr, Program, SyncWork, VfInstr, VfLoop, VfWork
from ascend_sim.soc import load

Array = npt.NDArray[Any]
Tensors = dict[str, Array]

FLOATS: Mapping[str, Any] = {"fp16": np.float16, "bf16": ml_dtypes.bfloat16, "fp32": np.float32}

# leading dims of x and of cos, by layout; the templates that they reach
SHAPES: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "A": ((3, 5, 2), (3, 5, 2)),
    "B": ((3, 5, 2), (1, 1, 1)),
    "AB": ((3, 5, 2), (3, 5, 1)),
    "AB-B11D": ((3, 5, 2), (3, 1, 1)),
    "BAB": ((3, 5, 2), (1, 5, 1)),
    "ABA": ((3, 2, 5), (3, 1, 5)),
    "BA": ((3, 2, 5), (1, 1, 5)),
    "BA-1SND": ((3, 5, 2), (1, 5, 2)),
}


@dataclass(frozen=True)
class Cut:
    """A call whose tiles are cut along the axes that `uneven` names, with a shorter last tile along each."""

    layout: str
    x: tuple[int, ...]
    cores: int
    ub_bytes: int
    uneven: tuple[str, ...]
    length: int = 70


WHOLE_LENGTHS = {  # of whole lines: parts of a full register, of less and of more; tails of one register and of two
    "half": (2, 36, 128, 140),
    "interleave": (2, 70, 128, 190),
    "quarter": (4, 72, 256, 280),
    "interleave-half": (2, 64, 70, 128, 190),
}


def whole_lengths(mode: str, dtype: str) -> tuple[int, ...]:
    """Lengths to try: all of them, and for bfloat16, which takes float16's way, the last one."""
    return WHOLE_LENGTHS[mode][-1:] if dtype == "bf16" else WHOLE_LENGTHS[mode]


WHOLE_CUTS = (
    Cut("A", (3, 5, 2), 4, 8000, ("lines",)),
    Cut("B", (3, 5, 2), 2, 8000, ("lines",)),
    Cut("AB", (3, 3, 2), 1, 6000, ("positions",)),
    Cut("AB", (2, 2, 9), 2, 6000, ("heads",)),
    Cut("BAB", (2, 5, 2), 1, 8000, ("positions",)),
    Cut("BAB", (2, 3, 5), 3, 3500, ("heads",)),
    Cut("ABA", (2, 2, 9), 1, 8000, ("positions",)),
    Cut("ABA", (3, 3, 2), 1, 13_000, ("batches",)),
    Cut("ABA", (3, 3, 3), 4, 8000, ("heads",)),
    Cut("BA", (2, 2, 9), 1, 8000, ("positions",)),
    Cut("BA", (3, 3, 2), 1, 12_000, ("batches",)),
    Cut("BA", (2, 4, 2), 2, 7000, ("heads",)),
)


def dims_of(layout: str, x: tuple[int, ...] = ()) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Leading dims of x and of cos; with dims of x's own, cos is 1 where it is in the layout."""
    shape, cos = SHAPES[layout]
    if not x:
        return shape, cos
    return x, tuple(1 if c == 1 else dim for c, dim in zip(cos, x, strict=True))


def launch(
    operator: Operator,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    attrs: Mapping[str, Any],
    cores: int = 4,
    ub_bytes: int = 24_000,
    values: bool = True,
    timed: bool = False,
    backwards: bool = False,
) -> tuple[Tiling, Program]:
    """Run the operator's kernels on these tensors; `backwards`: the last block runs first."""
    soc = load("ascend950")
    infos = {name: (array.shape, array.dtype.name) for name, array in inputs.items()}
    tiling = plan(operator, infos, attrs, soc, cores, ub_bytes)
    order = range(tiling.block_dim - 1, -1, -1) if backwards else None
    tensors = {**inputs, **outputs}
    if not values:
        tensors = {name: DeviceArray(array.shape, array.dtype.name) for name, array in tensors.items()}
    with Device(soc, values=values, block_order=order) as device:
        device.timing = timed
        operator.launch(Call(tensors=tensors, attrs=attrs, tiling=tiling, arch=soc.arch))
    return tiling, device.launches[-1].program


@dataclass(frozen=True)
class WholeLines:
    """An operator that rotates whole lines into a new tensor, or back, in one mode; its second inputs are cos and sin.

    `with_x`: the optional last input is given, which has the shape of the first.
    """

    operator: Operator
    mode: int
    with_x: bool = False

    @property
    def attrs(self) -> dict[str, Any]:
        return self.operator.bind_attrs({"mode": self.mode})

    def inputs(self, layout: str, dtype: Any, length: int, x: tuple[int, ...] = (), seed: int = 0) -> Tensors:
        rng = np.random.default_rng(seed)
        dims, cos = dims_of(layout, x)
        shapes = [(*dims, length), (*cos, length), (*cos, length), (*dims, length)]
        names = [item.name for item in self.operator.inputs]
        count = 4 if self.with_x else 3
        return {
            name: rng.standard_normal(shape).astype(dtype)
            for name, shape in zip(names[:count], shapes[:count], strict=True)
        }

    def golden(self, inputs: Tensors) -> Tensors:
        return self.operator.golden("ascend950", inputs, self.attrs)

    def run(self, inputs: Tensors, **options: Any) -> tuple[Tiling, Program, Tensors]:
        """Outputs hold NaN before."""
        shapes = self.operator.infer_shapes({name: array.shape for name, array in inputs.items()}, self.attrs)
        outputs = {
            output.name: np.full(shape, np.nan, inputs[output.dtype_of].dtype)
            for output, shape in zip(self.operator.outputs, shapes, strict=True)
            if output.needs is None or output.needs in inputs
        }
        return *launch(self.operator, inputs, outputs, self.attrs, **options), outputs

    def agrees(self, inputs: Tensors, **options: Any) -> Tiling:
        """Run and compare every bit, and those of the inputs, which stay what they are."""
        before = {name: array.copy() for name, array in inputs.items()}
        expected = self.golden(before)
        tiling, _, outputs = self.run(inputs, **options)
        assert list(outputs) == list(expected)
        for name, wanted in {**before, **expected}.items():
            found = {**inputs, **outputs}[name]
            assert found.tobytes() == wanted.tobytes(), f"{name} of template {tiling.path}"
        return tiling


def same_numbers(found: Array, wanted: Array) -> bool:
    """Equal bits, any NaN equal to any other."""
    nan = np.isnan(wanted.astype(np.float32))
    bits = f"u{wanted.itemsize}"
    return bool(
        (np.isnan(found.astype(np.float32)) == nan).all() and (found.view(bits)[~nan] == wanted.view(bits)[~nan]).all()
    )


def specials(inputs: Mapping[str, Array]) -> None:
    """Infinities, NaN, signed zeros, the largest numbers and subnormals in place of the values."""
    rng = np.random.default_rng(5)
    for array in inputs.values():
        limits = ml_dtypes.finfo(array.dtype)
        special = [0.0, np.inf, np.nan, limits.max, limits.smallest_subnormal, limits.smallest_normal, 1.0, 3.0]
        array[...] = rng.choice(np.array([special, [-value for value in special]]).ravel(), array.shape)


# --- what a run consists of ------------------------------------------------------------------------------------------


def work_of_block(program: Program, block: int = 0) -> Iterator[Instr]:
    """The copies and vector functions of a block, in program order."""
    return (item for item in program.blocks[block].instrs if isinstance(item.work, CopyWork | VfWork))


def steps_of(program: Program, arguments: Mapping[str, Any], block: int = 0) -> list[str]:
    """What a block does, in order: tensors that come in, vector functions, `> tensor` that goes out, SyncAll, Mul.

    `arguments` are the kernel's tensors in the order of its parameters, on a new device.
    """
    ends: dict[str, int] = {}
    at = GM_ALIGNMENT_BYTES
    for name, array in arguments.items():
        at += -(-array.nbytes // GM_ALIGNMENT_BYTES) * GM_ALIGNMENT_BYTES
        ends[name] = at
    addresses = iter(program.blocks[block].gm_addresses)
    found = []
    for item in program.blocks[block].instrs:
        if isinstance(item.work, CopyWork):
            address = next(addresses)
            name = next(name for name, end in ends.items() if address < end)
            found.append(name if item.work.to_ub else f"> {name}")
        elif isinstance(item.work, VfWork | SyncWork) or item.row.name == "Mul":
            found.append(item.row.name)
    return found


def vector_functions(program: Program) -> list[Instr]:
    return [item for item in work_of_block(program) if isinstance(item.work, VfWork)]


def counts(body: tuple[VfInstr | VfLoop, ...], times: int = 1) -> Counter[str]:
    """How often each register instruction runs."""
    found: Counter[str] = Counter()
    for item in body:
        if isinstance(item, VfLoop):
            found += counts(item.body, times * item.trips)
        else:
            found[item.name] += times
    return found


def has_shorter_tile(tiling: Tiling, axis: str) -> bool:
    """Whether some core walks over `axis` in more than one step, the last one shorter."""
    loops = [loop for share in tiling.shares for loop in share.loops if loop.unit == axis]
    return any(loop.loops > 1 and loop.last < loop.per_loop for loop in loops)


class SpyPipe(asc.TPipe):
    """Notes the size and number of the buffers that a kernel asks for, in order."""

    asked: ClassVar[list[tuple[int, int]]] = []

    def init_buffer(self, que: Any, num: int, len: int | None = None) -> None:  # type: ignore[override] # noqa: A002
        assert len is not None
        self.asked.append((len, num))
        super().init_buffer(que, num, len)


# --- one instruction changed -----------------------------------------------------------------------------------------


def _swap_two(call: Any, first: Any, second: Any, *rest: Any) -> None:
    call(second, first, *rest)


def _truncate(call: Any, dst: Any, src: Any, mask: Any, trait: reg.CastTrait) -> None:
    rounding = trait.round_mode is asc.RoundMode.CAST_RINT
    call(dst, src, mask, reg.CastTrait(round_mode=asc.RoundMode.CAST_TRUNC) if rounding else trait)


def _same_head(call: Any, params: asc.LoopModeParams, kind: Any) -> None:
    _, ub_stride, *outer = params.key[2:]
    reads = kind is asc.DataCopyMVType.OUT_TO_UB
    call(asc.LoopModeParams(*params.key[:2], 0, ub_stride, *outer) if reads else params, kind)


MUTANTS: dict[str, tuple[Any, str, Any]] = {
    "no negation": (reg, "muls", lambda call, dst, src, factor, mask: call(dst, src, -factor, mask)),
    "sub for add": (reg, "add", lambda _, *operands: reg.sub(*operands)),
    "add for sub": (reg, "sub", lambda _, *operands: reg.add(*operands)),
    "add for mul": (reg, "mul", lambda _, *operands: reg.add(*operands)),
    "even for odd": (reg, "de_interleave", _swap_two),
    "woven the other way": (reg, "interleave", _swap_two),
    "plus one for minus one": (reg, "duplicate", lambda call, dst, src, mask: call(dst, -src, mask)),
    "truncated": (reg, "cast", _truncate),
    "one lane less": (reg, "Counter", lambda call, count: call(max(count - 1, 0))),
    "rows too close": (asc, "DataCopyExtParams", lambda call, n, size, a, b: call(n, size, max(a - 2, 0), b)),
    "bytes missing": (asc, "DataCopyExtParams", lambda call, n, size, a, b: call(n, size - 2, a, b)),
    "every head the first": (asc, "set_loop_mode_para", _same_head),
    "no synchronisation": (asc, "sync_all", lambda call: None),
}


def mutate(monkeypatch: pytest.MonkeyPatch, mutant: str) -> list[bool]:
    """Change one instruction of all kernels; the list grows with its calls."""
    owner, name, change = MUTANTS[mutant]
    original = getattr(owner, name)
    seen: list[bool] = []

    def mutated(*args: Any, **rest: Any) -> Any:
        seen.append(True)
        return change(original, *args, **rest)

    monkeypatch.setattr(owner, name, mutated)
    return seen
