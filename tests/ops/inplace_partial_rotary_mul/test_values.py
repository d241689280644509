"""The kernels against the golden: equal bits, whatever the dtype, split, alignment and share of rows over cores."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import ml_dtypes
import numpy as np
import pytest
from ascend_sim.oplib.inplace_partial_rotary_mul.golden import exact, golden

from ascend_sim import asc
from ascend_sim.asc.memory import DeviceArray

from .cases import CASES, HUGE, WHAT_IF, WRAPPING, Array
from .running import run


def same_bits(a: Array, b: Array) -> bool:
    return a.dtype == b.dtype and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("name", CASES)
def test_kernel_equals_golden(name: str) -> None:
    case = CASES[name]
    inputs = case.inputs()
    before = {key: value.copy() for key, value in inputs.items()}
    expected = golden(before, {"partial_slice": case.part})["x"]
    tiling = run(case, inputs).tiling
    assert tiling.path == case.path
    start, end = case.part
    x, x_before = inputs["x"], before["x"]
    # UB starts filled with NaN: a lane that was never loaded would show as one
    assert np.isfinite(x.astype(np.float32)).all()
    assert same_bits(x[..., :start], x_before[..., :start])
    assert same_bits(x[..., end:], x_before[..., end:])
    assert same_bits(x[..., start:end], expected[..., start:end])
    assert same_bits(inputs["cos"], before["cos"])
    assert same_bits(inputs["sin"], before["sin"])
    if end > start:
        assert not same_bits(x, x_before)


@pytest.mark.parametrize(
    "name", ["fp16-S-padded-one_core", "bf16_cos32-BSN-aligned-one_core", "fp32-S-aligned-one_core"]
)
def test_infinities_subnormals_and_signed_zeros(name: str) -> None:
    case = CASES[name]
    inputs = case.inputs()
    rng = np.random.default_rng(5)
    for array in inputs.values():
        limits = ml_dtypes.finfo(array.dtype)
        special = [0.0, -0.0, np.inf, np.nan, limits.max, limits.smallest_subnormal, limits.smallest_normal, 1.0]
        array[...] = rng.choice(np.array([special, [-value for value in special]]).ravel(), array.shape)
    expected = golden({key: value.copy() for key, value in inputs.items()}, {"partial_slice": case.part})["x"]
    run(case, inputs)
    x, unsigned = inputs["x"], f"u{expected.itemsize}"
    nan = np.isnan(expected.astype(np.float32))
    assert np.array_equal(np.isnan(x.astype(np.float32)), nan)
    assert np.array_equal(x.view(unsigned)[~nan], expected.view(unsigned)[~nan])


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.dtypes[0] is np.float32])
def test_float32_error_bound(name: str) -> None:
    case = CASES[name]
    inputs = case.inputs(seed=3)
    out, scale = exact(inputs["x"], inputs["cos"], inputs["sin"], *case.part)
    run(case, inputs)
    assert (np.abs(inputs["x"] - out) <= 2 * 2.0**-24 * scale).all()


def test_a_larger_ub_overflows_the_repeat_of_the_sign_flip() -> None:
    """No 2201 chip has 512 KiB of UB; a what-if on it must not pass silently."""
    inputs = WHAT_IF.inputs()
    expected = golden({key: value.copy() for key, value in inputs.items()}, {"partial_slice": WHAT_IF.part})["x"]
    ran = run(WHAT_IF, inputs)
    assert ran.tiling.warnings == (
        "a UB step of 24576 elements overflows the 8-bit repeat of the sign flip, which wraps from 384 to 128: "
        "elements from 8192 on keep the wrong sign of sin",
    )
    assert same_bits(inputs["x"][:, :2], expected[:, :2])
    assert not same_bits(inputs["x"][:, 2:3], expected[:, 2:3])


@pytest.mark.parametrize("name", HUGE)
def test_offsets_past_two_to_the_31_elements(name: str) -> None:
    case = HUGE[name]
    tensors = {
        "x": DeviceArray(case.x, "float16"),
        "cos": DeviceArray(case.cos, "float16"),
        "sin": DeviceArray(case.cos, "float16"),
    }
    program = run(case, tensors, values=False, timed=False).launch.program
    x_base, x_bytes = min(program.blocks[0].gm_addresses), 2 * math.prod(case.x)
    x_offsets = [address - x_base for address in program.blocks[-1].gm_addresses if address < x_base + x_bytes]
    first_of_last_core = x_bytes // 40 * 39
    assert first_of_last_core > 2 * 2**31
    assert min(x_offsets) == first_of_last_core
    assert max(x_offsets) < x_bytes


class SpyPipe(asc.TPipe):
    """Notes the size and number of the buffers that a kernel asks for, in order."""

    asked: ClassVar[list[tuple[int, int]]] = []

    def init_buffer(self, que: Any, num: int, len: int | None = None) -> None:  # type: ignore[override] # noqa: A002
        self.asked.append((num, 1) if len is None else (len, num))
        super().init_buffer(que, num, len)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.path != "noop"])
def test_ub_holds_what_the_tiling_planned(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES[name]
    monkeypatch.setattr(asc, "TPipe", SpyPipe)
    SpyPipe.asked.clear()
    ran = run(case, case.inputs(), values=False)
    planned = [(buffer.nbytes, buffer.count) for buffer in ran.tiling.buffers]
    assert SpyPipe.asked == planned * ran.tiling.block_dim
    assert ran.tiling.ub_used_bytes <= ran.soc.ub.usable_bytes


@pytest.mark.parametrize("name", ["bf16-S-padded-front_and_tail", "fp32-BSN-aligned-many_rows", "fp16-heads-in-dim-1"])
def test_block_order_changes_nothing(name: str) -> None:
    case = CASES[name]
    forward, backward = case.inputs(), case.inputs()
    blocks = run(case, forward).tiling.block_dim
    assert blocks > 1
    run(case, backward, block_order=range(blocks - 1, -1, -1))
    assert same_bits(forward["x"], backward["x"])


def test_more_than_255_heads_wrap_as_on_the_chip() -> None:
    """The Mul's repeat is 300 & 255 = 44: the heads behind it keep what UB held, NaN here."""
    case = WRAPPING
    inputs = case.inputs()
    expected = golden({key: value.copy() for key, value in inputs.items()}, {"partial_slice": case.part})["x"]
    ran = run(case, inputs)
    assert ran.tiling.path == "fast_broadcast"
    assert same_bits(inputs["x"][:, :, :44], expected[:, :, :44])
    assert np.isnan(inputs["x"][:, :, 44:].astype(np.float32)).all()
    assert ran.tiling.warnings == (
        "300 heads overflow the 8-bit repeat of the fast path's Mul, which wraps to 44: heads 44 to 299 are left "
        "unwritten by it and their results are undefined, as on the chip",
    )


MUTANTS = {
    "sign mask": (asc, "set_vector_mask", lambda call, high, low, **rest: call(high, low << 1, **rest)),
    "gather table": (asc.LocalTensor, "set_value", lambda call, table, i, _: call(table, i, i)),
    "cast mode": (asc, "cast", lambda call, dst, src, mode, count: call(dst, src, _truncate(mode), count)),
}


def _truncate(mode: asc.RoundMode) -> asc.RoundMode:
    return asc.RoundMode.CAST_TRUNC if mode is asc.RoundMode.CAST_RINT else mode


MUTATED = ("fp16-S-aligned-one_core", "bf16_cos32-BSN-padded-one_core", "bf16-fast_broadcast-one_core")


@pytest.mark.parametrize("mutant", MUTANTS)
@pytest.mark.parametrize("name", [*MUTATED, "fp16-fast_elementwise-one_core"])
def test_one_changed_instruction_gives_wrong_values(name: str, mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES[name]
    inputs = case.inputs()
    expected = golden({key: value.copy() for key, value in inputs.items()}, {"partial_slice": case.part})["x"]
    owner, call, change = MUTANTS[mutant]
    original = getattr(owner, call)
    seen: list[bool] = []

    def mutated(*args: Any, **rest: Any) -> None:
        seen.append(True)
        change(original, *args, **rest)

    monkeypatch.setattr(owner, call, mutated)
    run(case, inputs)
    assert seen
    assert not same_bits(inputs["x"], expected)
