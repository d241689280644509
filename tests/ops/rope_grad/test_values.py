"""The kernel against the golden: equal bits for samples, tails and heads of all kinds; what it leaves unwritten."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest
from ascend_sim.oplib.rope_grad.golden import golden

import ascend_sim
from ascend_sim import asc
from ascend_sim.errors import KernelError

from .calls import Array, inputs, run, timed

SAMPLES = {
    "one row": [1],
    "a tail": [95],
    "one full tile": [96],
    "a full tile and a tail of one": [97],
    "two full tiles": [192],
    "several samples": [2, 1, 4, 4],
    "around a tile": [95, 96, 97],
    "long and short": [192, 200, 1],
    "tail after tail": [97, 1, 96, 200],
    "as many as may be": [1 + i % 5 for i in range(32)],
}


def same_bits(a: Array, b: Array) -> bool:
    return a.dtype == b.dtype and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("lengths", SAMPLES.values(), ids=SAMPLES)
@pytest.mark.parametrize("heads", [1, 3])
def test_kernel_equals_golden(lengths: list[int], heads: int) -> None:
    given = inputs(lengths, heads)
    before = {name: array.copy() for name, array in given.items()}
    result = run(given, lengths)
    want = golden(before, {"qSeqLen": lengths})
    assert all(same_bits(result.outputs[name], want[name]) for name in ("q_grad", "k_grad"))
    assert np.isfinite(result.outputs["q_grad"]).all()
    assert all(same_bits(given[name], before[name]) for name in before)
    assert (result.values.ok, result.values.exact, result.warnings) == (True, True, [])


@pytest.mark.parametrize(("soc", "cores"), [("Ascend910B4", 40), ("Ascend910B1", 48)])
def test_up_to_a_head_for_every_core(soc: str, cores: int) -> None:
    for heads in range(1, cores + 1):
        result = run(inputs([5, 3], heads), [5, 3], soc=soc)
        assert (result.values.exact, result.program.block_dim) == (True, heads)


@pytest.mark.parametrize(("soc", "cores", "heads"), [("Ascend910B4", 40, 41), ("Ascend910B1", 48, 50)])
def test_heads_beyond_the_cores_are_not_written(soc: str, cores: int, heads: int) -> None:
    given = inputs([3, 2], heads)
    result = run(given, [3, 2], soc=soc)
    want = golden(given, {"qSeqLen": [3, 2]})
    for name in ("q_grad", "k_grad"):
        assert same_bits(result.outputs[name][:, : 128 * cores].copy(), want[name][:, : 128 * cores].copy())
        assert (result.outputs[name].view(np.uint16)[:, 128 * cores :] == 0xFFFF).all()
    assert result.warnings == [
        f"{heads} heads on {cores} vector cores: each core takes one head and none a second, so heads {cores} to "
        f"{heads - 1} (columns {128 * cores} to {128 * heads - 1}) of q_grad and k_grad are never written, as on the "
        "chip"
    ]
    assert result.values.ok is False
    assert result.values.first_wrong.startswith(f"q_grad[0, {128 * cores}] is nan, golden ")


def test_rows_behind_the_last_sample_are_not_written() -> None:
    result = run(inputs([2, 2], 1, rows=6), [2, 2])
    assert (result.outputs["k_grad"].view(np.uint16)[4:] == 0xFFFF).all()
    assert result.values.exact
    assert result.warnings == [
        "qSeqLen covers 4 of 6 rows: rows 4 to 5 of q_grad and k_grad are never written, as on the chip"
    ]


def test_samples_that_reach_beyond_the_tensors_are_caught() -> None:
    given = inputs([2, 2], 1, rows=3)
    with pytest.raises(KernelError, match=r"kernel argument 'q_embedded_grad', which holds 768 B"):
        run(given, [2, 2])
    tiling = ascend_sim.tiling("rope_grad", given, {"qSeqLen": [2, 2]})
    assert tiling.warnings == (
        "qSeqLen adds up to 4 rows, but the tensors have 3: the library does not refuse it, and the kernel reads and "
        "writes past their end",
    )


def test_infinities_subnormals_and_signed_zeros() -> None:
    given = inputs([7, 30], 2)
    rng = np.random.default_rng(5)
    limits = np.finfo(np.float16)
    special = [0.0, np.inf, np.nan, limits.max, limits.smallest_subnormal, limits.smallest_normal, 1.0]
    for array in given.values():
        array[...] = rng.choice(np.array([special, [-value for value in special]]).ravel(), array.shape)
    want = golden({name: array.copy() for name, array in given.items()}, {"qSeqLen": [7, 30]})
    outputs = run(given, [7, 30]).outputs
    for name, expected in want.items():
        nan = np.isnan(expected)
        assert np.array_equal(np.isnan(outputs[name]), nan)
        assert np.array_equal(outputs[name].view(np.uint16)[~nan], expected.view(np.uint16)[~nan])


def test_position_0_without_sine_is_the_true_gradient() -> None:
    given = inputs([4], 2)
    given["sin"][0] = 0
    result = run(given, [4], compare="true")
    true = ascend_sim.host.registry.operator_named("rope_grad").reference("true", "ascend910b", given, {"qSeqLen": [4]})
    got = result.outputs["q_grad"].astype(np.float64)
    assert np.abs(got[0] - true["q_grad"][0]).max() <= 2**-11 * np.abs(got[0]).max()
    assert np.abs(got[1:] - true["q_grad"][1:]).max() > 1000
    assert result.comparison is not None
    assert result.comparison.max_abs_error > 1000


def test_block_order_changes_nothing() -> None:
    given = inputs([97, 5], 6)
    outs = []
    for order in (None, [5, 3, 1, 0, 2, 4]):
        with ascend_sim.device("Ascend910B1", block_order=order) as device:
            operator = ascend_sim.host.registry.operator_named("rope_grad")
            done = ascend_sim.host.execute.run_operator(operator, given, {"qSeqLen": [97, 5]}, device)
        outs.append(done)
    assert same_bits(outs[0].outputs["q_grad"], outs[1].outputs["q_grad"])
    assert outs[0].launches[0].timeline.duration_cycles == outs[1].launches[0].timeline.duration_cycles


class SpyPipe(asc.TPipe):
    """Notes the buffers that a kernel asks for, in order."""

    asked: ClassVar[list[int]] = []

    def init_buffer(self, que: Any, num: int, len: int | None = None) -> None:  # type: ignore[override] # noqa: A002
        self.asked.append(num if len is None else num * len)
        super().init_buffer(que, num, len)


def test_ub_holds_what_the_tiling_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asc, "TPipe", SpyPipe)
    SpyPipe.asked.clear()
    tiling = timed([3], 1).tiling
    assert SpyPipe.asked == [buffer.total for buffer in tiling.buffers] == [24 * 1024] * 7
    assert tiling.ub_used_bytes == 168 * 1024


MUTANTS = {
    "sign of the sine": ("muls", lambda call, dst, src, _, *rest: call(dst, src, 1.0, *rest)),
    "lanes of the sine": ("muls", lambda call, dst, src, scalar, _, *rest: call(dst, src, scalar, 63, *rest)),
    "sum of cos and sin": ("add", lambda call, dst, cos, work, count: asc.sub(dst, cos, work, count)),
    "last product": ("mul", lambda call, dst, src, work, count: call(dst, src, work, count - 1)),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_one_changed_instruction_gives_wrong_values(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, change = MUTANTS[mutant]
    original = getattr(asc, name)
    seen: list[bool] = []

    def mutated(*args: Any) -> None:
        seen.append(True)
        change(original, *args)

    monkeypatch.setattr(asc, name, mutated)
    result = run(inputs([5, 97], 2), [5, 97])
    assert seen
    assert result.values.ok is False
