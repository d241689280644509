"""The A2/A3 kernel against the golden: equal bits for every key, dtype, walk and shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pytest

import ascend_sim
from ascend_sim import asc

OP = "apply_rotary_pos_emb"
DTYPES = ("float16", "bfloat16", "float32")

# Leading dims, heads of query and key, last dims of query and cos, cores, UB. The walk over products is per position
# or per head, whichever is fewer; "partial" rotates half of every head.
CALLS = {
    "one position": ((2, 3), 4, 2, (128, 128), 6, "192 KiB"),
    "one position, partial": ((2, 3), 4, 2, (128, 64), 6, "192 KiB"),
    "one position, one key head, partial": ((2, 3), 4, 1, (128, 64), 6, "192 KiB"),
    "one position, short": ((1, 5), 3, 1, (64, 64), 8, "192 KiB"),
    "pieces": ((2, 10), 5, 3, (128, 128), 3, "40 KiB"),
    "pieces, partial": ((2, 10), 5, 3, (128, 64), 3, "24 KiB"),
    "pieces, one key head, partial": ((2, 9), 5, 1, (128, 64), 3, "24 KiB"),
    "few heads": ((4, 23), 1, 1, (64, 64), 4, "24 KiB"),
    "few heads, partial": ((4, 23), 1, 2, (128, 64), 4, "24 KiB"),
    "tokens": ((37,), 6, 2, (64, 64), 4, "15 KiB"),
    "a core to itself": ((1, 11), 6, 2, (64, 64), 1, "24 KiB"),
}


def run(what: str, dtype: str, **options: Any) -> Any:
    leading, q_heads, k_heads, (full, dim), cores, ub = CALLS[what]
    shapes = ((*leading, q_heads, full), (*leading, k_heads, full), (*leading, 1, dim), (*leading, 1, dim))
    overrides = {"cores.aiv": cores, "ub.bytes": ub}
    attrs = {"layout": "TND" if len(leading) == 1 else "BSND"}
    return ascend_sim.run(OP, *((shape, dtype) for shape in shapes), **attrs, overrides=overrides, **options)


def calls() -> Iterator[Any]:
    for what in CALLS:
        for dtype in DTYPES:
            yield pytest.param(what, dtype, id=f"{what}-{dtype}")


@pytest.mark.parametrize(("what", "dtype"), list(calls()))
def test_values(what: str, dtype: str) -> None:
    result = run(what, dtype)
    assert result.values.exact
    assert not result.warnings


def test_the_calls_reach_every_path_and_walk() -> None:
    found = {(what, dtype): run(what, dtype, values=False).tiling for what in CALLS for dtype in DTYPES}
    assert {tiling.key for tiling in found.values()} == {1, 3, 4}
    assert {dtype for (_, dtype), tiling in found.items() if tiling.key == 3} == {"float16", "float32"}
    pieces = [tiling.data for tiling in found.values() if tiling.key != 1]
    assert any(data["preCLTimes"] > 0 for data in pieces)  # several pieces
    assert any(data["preCBBTimes"] > 0 and data["comBatchBBL"] < data["comBatchBB"] for data in pieces)
    assert any(data["lastCBatchL"] != data["preCBatchL"] for data in pieces)  # the last core has less
    assert any(data["qkcNum"] < data["comBatchBB"] for data in pieces)  # a repeat per position
    assert any(data["qkcNum"] >= data["comBatchBB"] for data in pieces)


def test_what_does_not_rotate_keeps_its_bits() -> None:
    result = run("pieces, partial", "float16")
    for name in ("query", "key"):
        assert result.outputs[name][..., 64:].tobytes() == result.inputs[name][..., 64:].tobytes()
        assert (result.outputs[name][..., :64] != result.inputs[name][..., :64]).any()


@pytest.mark.parametrize("special", [np.inf, np.nan, 65504.0])
def test_special_values(special: float) -> None:
    """float16 overflows in a product already; infinities and NaN go through as in the formula."""
    shapes = ((3, 2, 64), (3, 1, 64), (3, 1, 64), (3, 1, 64))
    rng = np.random.default_rng(1)
    arrays = [rng.uniform(-2, 2, shape).astype(np.float16) for shape in shapes]
    arrays[0][1, 0, 7] = special
    arrays[2][2, 0, 5] = special
    result = ascend_sim.run(OP, *arrays, layout="TND", overrides={"cores.aiv": 2})
    assert result.values.exact


def test_rotary_mode_is_not_read() -> None:
    leading = (2, 3)
    shapes = (((*leading, 4, 64), "float32"), ((*leading, 2, 64), "float32"), *[((*leading, 1, 64), "float32")] * 2)
    result = ascend_sim.run(OP, *shapes, rotary_mode="interleave")
    assert result.values.exact
    assert any("rotary_mode is 'interleave'" in warning for warning in result.warnings)


class SpyPipe(asc.TPipe):
    """Notes the size and number of the buffers that a kernel asks for, in order."""

    asked: ClassVar[list[tuple[int, int]]] = []

    def init_buffer(self, que: Any, num: int, len: int | None = None) -> None:  # type: ignore[override] # noqa: A002
        self.asked.append((num, 1) if len is None else (len, num))
        super().init_buffer(que, num, len)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("what", ["one position", "pieces", "few heads"])
def test_ub_holds_what_the_tiling_planned(what: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asc, "TPipe", SpyPipe)
    SpyPipe.asked.clear()
    result = run(what, dtype, values=False)
    planned = [(buffer.nbytes, buffer.count) for buffer in result.tiling.buffers]
    assert sorted(SpyPipe.asked[: len(planned)]) == sorted(planned)
    assert result.tiling.ub_used_bytes <= result.chip.ub.usable_bytes


MUTANTS = {
    "sign": ("muls", lambda call, dst, src, scalar, *rest: call(dst, src, abs(scalar), *rest)),
    "rounding": ("cast", lambda call, dst, src, mode, count: call(dst, src, _even(mode), count)),
    "product": ("mul", lambda call, dst, one, other, *rest: call(dst, one, one, *rest)),
}


def _even(mode: asc.RoundMode) -> asc.RoundMode:
    return asc.RoundMode.CAST_TRUNC if mode is asc.RoundMode.CAST_ROUND else mode


@pytest.mark.parametrize("mutant", MUTANTS)
@pytest.mark.parametrize("what", ["one position", "pieces, partial", "few heads"])
def test_one_changed_instruction_gives_wrong_values(what: str, mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, change = MUTANTS[mutant]
    original = getattr(asc, name)
    monkeypatch.setattr(asc, name, lambda *args: change(original, *args))
    assert not run(what, "bfloat16").values.ok
