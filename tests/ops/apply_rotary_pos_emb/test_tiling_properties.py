"""What every tiling of apply_rotary_pos_emb keeps, on A2/A3 and on the 950: each line once, UB budget, core count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from helpers import arch35
from hypothesis import given, settings
from hypothesis import strategies as st

import ascend_sim
from ascend_sim.host.tiling import Tiling

OP = "apply_rotary_pos_emb"
DTYPES = ("float16", "bfloat16", "float32")
few = st.one_of(st.integers(1, 4), st.integers(1, 30))


def tile(inputs: dict[str, tuple[int, ...]], dtype: str, *args: Any) -> Tiling | None:
    typed = {name: (shape, dtype) for name, shape in inputs.items()}
    return arch35.if_it_fits(lambda: ascend_sim.tiling(OP, typed, *args))


# --- A2 and A3 -------------------------------------------------------------------------------------------------------


def rounds(total: int, times: int, step: int, last: int) -> Iterator[int]:
    """`times` steps and the last one, as the kernels walk."""
    assert 0 < last <= step
    assert times * step + last == total
    yield from [step] * times
    yield last


def walk(fields: Any, is_last_core: bool) -> int:
    """Positions that one core computes, walking pieces and rounds by their fields."""
    done = 0
    per_core = fields["cosCoreOffset"] // fields["lastDim"]
    if is_last_core:
        total = fields["lastCLTimes"] * fields["preCBatchB"] + fields["lastCBatchL"]
        pieces = list(rounds(total, fields["lastCLTimes"], fields["preCBatchB"], fields["lastCBatchL"]))
        ends = ("preCLLTimes", "comBatchLLL")
    else:
        pieces = list(rounds(per_core, fields["preCLTimes"], fields["preCBatchB"], fields["preCBatchL"]))
        ends = ("preCBLTimes", "comBatchBLL")
    for number, piece in enumerate(pieces):
        times, last = ends if number == len(pieces) - 1 else ("preCBBTimes", "comBatchBBL")
        done += sum(rounds(piece, fields[times], fields["comBatchBB"], fields[last]))
    return done


@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 400), few, few, st.sampled_from([(64, 64), (128, 128), (64, 128)]), st.sampled_from(DTYPES),
    st.integers(1, 48), st.one_of(st.integers(3000, 60000), st.just(196608)),
)  # fmt: skip
def test_a2_and_a3(
    positions: int, q: int, k: int, dims: tuple[int, int], dtype: str, cores: int, ub_bytes: int
) -> None:
    dim, full = dims
    rope = (positions, 1, dim)
    inputs = {"query": (positions, q, full), "key": (positions, k, full), "cos": rope, "sin": rope}
    found = tile(inputs, dtype, {"layout": 4}, "ascend910b", cores, ub_bytes)
    if found is None:
        return
    arch35.check_cut(found, positions, cores, ub_bytes)
    arch35.check_words(found)
    data = found.data
    if found.path == "small":
        assert found.block_dim == positions
        return
    assert walk(data, is_last_core=False) * (found.block_dim - 1) + walk(data, is_last_core=True) == positions
    item = 4 if dtype == "bfloat16" else np.dtype(dtype).itemsize
    assert data["q2q1Part1Ub"] == data["comBatchBB"] * (q + k) * dim * item
    assert data["qPart1Ub"] == data["preCBatchB"] * (q + k) * dim * item


# --- 950 -------------------------------------------------------------------------------------------------------------


@st.composite
def calls(draw: st.DrawFn) -> dict[str, Any]:
    layout, mode = draw(st.integers(1, 4)), draw(st.sampled_from(["half", "interleave", "quarter"]))
    b, s, q, k = (draw(few) for _ in range(4))
    dim = 4 * draw(st.integers(1, 256))
    real = draw(st.one_of(st.just(dim), st.integers(1, dim // 4).map(lambda n: 4 * n)))
    cos_b = draw(st.sampled_from([1, b]))
    order = {1: "bsnd", 2: "sbnd", 3: "bnsd", 4: "snd"}[layout]

    def shape(n: int, d: int, batches: int) -> tuple[int, ...]:
        return tuple({"b": batches, "s": s, "n": n, "d": d}[axis] for axis in order)

    rope = shape(1, real, cos_b)
    return {
        "inputs": {"query": shape(q, dim, b), "key": shape(k, dim, b), "cos": rope, "sin": rope},
        "attrs": {"layout": layout, "rotary_mode": mode},
        "dims": (1 if layout == 4 else b, s, q, k),
        "dtype": draw(st.sampled_from(DTYPES)),
        "cores": draw(st.integers(1, 72)),
        "ub_bytes": draw(st.one_of(st.integers(4000, 60000), st.just(253952))),
    }


def visits(found: Tiling) -> list[arch35.Visits]:
    """How often each line is touched: of query and of key, or of both as one list (AB)."""
    data, block_dim = found.data, found.block_dim
    if found.path == "AB":
        heads = data["QN"] + data["KN"]
        positions = sum(share.cores * share.rows for share in found.shares) // heads
        fields = {**data, "blockNumN": 1, "blockFactorN": heads, "blockTailN": heads}
        assert (data["ubLoopN"] - 1) * data["ubFactorN"] + data["ubTailN"] == heads
        assert data["ubFactorBS"] == 1 or data["ubLoopN"] == 1
        return [arch35.positions_by_heads(block_dim, fields, positions, heads)]
    found_visits = []
    for which in ("QN", "KN"):
        shape = (data["B"], data["S"], data[which])
        step = data[f"ubFactor{which}"]
        found_visits.append(
            arch35.batches_by_positions(block_dim, data, shape, data["ubFactorB"], data["ubFactorS"], step)
        )
        if found.path == "BAB":
            assert (data[f"ubLoopNum{which}"] - 1) * step + data[f"ubTailFactor{which}"] == data[which]
    return found_visits


@settings(max_examples=150, deadline=None)
@given(calls())
def test_950(call: dict[str, Any]) -> None:
    found = tile(call["inputs"], call["dtype"], call["attrs"], "ascend950", call["cores"], call["ub_bytes"])
    if found is None:
        return
    b, s, q, k = call["dims"]
    arch35.check_cut(found, b * s * (q + k), call["cores"], call["ub_bytes"])
    arch35.check_words(found)
    touched = visits(found)
    assert sum(lines.size for lines in touched) == b * s * (q + k)
    assert all((lines == 1).all() for lines in touched)
