"""Host tiling of rotary_position_embedding on the 950: numbers by hand, refusals, what every tiling keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers import arch35
from hypothesis import given, settings
from hypothesis import strategies as st

import ascend_sim
from ascend_sim.errors import TilingError
from ascend_sim.host.tiling import CoreShare, Loop, Tiling, UbBuffer

OP = "rotary_position_embedding"
HALF, INTERLEAVE, QUARTER, INTERLEAVE_HALF = range(4)


def tile(x: tuple[int, ...], cos: tuple[int, ...], dtype: str = "float16", mode: Any = HALF, **kwargs: Any) -> Tiling:
    inputs = {"x": (x, dtype), "cos": (cos, dtype), "sin": (cos, dtype)}
    found: Tiling = ascend_sim.tiling(OP, inputs, {"mode": mode}, "ascend950", **kwargs)
    return found


def fields(tiling: Tiling) -> dict[str, int | str]:
    """The fields that are not 0."""
    return {name: value for name, value in tiling.data.items() if value != 0}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_template_ab(dtype: str) -> None:
    """4096 positions, 64 a core; 63488 // 256 = 248 rows: 16 heads and cos, 14 times."""
    found = tile((4096, 1, 16, 128), (4096, 1, 1, 128), dtype)
    assert (found.key, found.block_dim, found.path, found.ub_bytes) == (20030, 64, "AB", 253952)
    assert found.workspace_bytes == 16777216
    assert found.meaning == f"template AB, {dtype}, half: one cos row per position, for all its heads"
    assert fields(found) == {
        "B": 1,
        "CosB": 1,
        "S": 4096,
        "D": 128,
        "N": 16,
        "dAlign": 128,
        "dSplitCoef": 2,
        "blockNumBS": 64,
        "blockFactorBS": 64,
        "blockTailBS": 64,
        "blockNumN": 1,
        "blockFactorN": 16,
        "blockTailN": 16,
        "ubFactorBS": 14,
        "ubFactorN": 16,
        "path": "AB",
    }
    assert found.words == (1, 1, 4096, 128, 16, 128, 2, 64, 64, 64, 1, 16, 16, 14, 16, 0)
    assert found.shares == (
        CoreShare("front", 64, 1024, "lines", (Loop("positions", 14, 5, 8), Loop("heads", 16, 1, 16))),
    )
    assert found.buffers == (
        UbBuffer("inQueX", 57344, 2),
        UbBuffer("inQueCos", 3584, 2),
        UbBuffer("inQueSin", 3584, 2),
        UbBuffer("outQueY", 57344, 2),
    )


def test_template_ab_merges_batches_into_heads_and_cuts_them() -> None:
    """20 positions of 3 x 5 heads: 20 x 3 cores. With cos for every batch 60 positions of 5 heads: 60 cores."""
    shared = tile((20, 3, 5, 128), (20, 1, 1, 128))
    names = ("B", "CosB", "S", "N", "blockNumBS", "blockNumN", "blockFactorN")
    assert [shared.data[f] for f in names] == [3, 1, 20, 15, 20, 3, 5]
    own = tile((20, 3, 5, 128), (20, 3, 1, 128))
    assert [own.data[f] for f in names] == [3, 3, 20, 5, 60, 1, 5]
    assert (shared.block_dim, own.block_dim) == (60, 60)


def test_template_bab() -> None:
    """The library's own example: 768 rows of 256 B, a quarter 192: one head and cos 96 times; 8 x 5 cores."""
    found = tile((8, 4096, 128), (1, 4096, 128), cores=40, ub_bytes=196608)
    assert (found.key, found.block_dim, found.path) == (20020, 40, "BAB")
    assert fields(found) == {
        "B": 8,
        "S": 4096,
        "D": 128,
        "N": 1,
        "blockNumB": 8,
        "blockFactorB": 1,
        "blockNumS": 5,
        "blockFactorS": 820,
        "ubFactorS": 96,
        "ubFactorB": 1,
        "ubLoopNumN": 1,
        "ubFactorN": 1,
        "ubTailFactorN": 1,
        "path": "BAB",
    }
    assert found.words == (8, 0, 4096, 128, 1, 8, 1, 5, 820, 0, 96, 0, 0, 1, 0, 1, 1, 1, 0)
    assert found.shares == (
        CoreShare(
            "front", 32, 820, "lines", (Loop("batches", 1, 1, 1), Loop("positions", 96, 9, 52), Loop("heads", 1, 1, 1))
        ),
        CoreShare(
            "S tail", 8, 816, "lines", (Loop("batches", 1, 1, 1), Loop("positions", 96, 9, 48), Loop("heads", 1, 1, 1))
        ),
    )


def test_template_bab_cuts_heads_evenly() -> None:
    """62 rows of 4096 B, a quarter 15, one of them cos: 33 heads in 3 steps of 11."""
    found = tile((2, 8, 33, 1024), (1, 8, 1, 1024), "float32")
    names = ("ubLoopNumN", "ubFactorN", "ubTailFactorN", "ubFactorS")
    assert [found.data[f] for f in names] == [3, 11, 11, 1]


def test_template_aba() -> None:
    """248 rows: 24 positions at 10 rows each, 8 heads, 10 // 9 = 1 batch."""
    found = tile((128, 8, 24, 128), (128, 1, 24, 128))
    assert (found.key, found.block_dim, found.path) == (20010, 64, "ABA")
    assert fields(found) == {
        "B": 128,
        "CosB": 128,
        "S": 24,
        "D": 128,
        "N": 8,
        "blockNumB": 64,
        "blockFactorB": 2,
        "blockNumS": 1,
        "blockFactorS": 24,
        "ubFactorS": 24,
        "ubFactorB": 1,
        "ubFactorN": 8,
        "path": "ABA",
    }


def test_template_ba() -> None:
    """4 positions at 62 rows each, less cos: 3 heads, 61 // 3 = 20 batches. (1, N, S, D) of cos is N * S positions."""
    found = tile((160, 3, 4, 128), (1, 1, 4, 128), cores=4)
    assert (found.key, found.path) == (20011, "BA")
    assert [found.data[f] for f in ("ubFactorS", "ubFactorN", "ubFactorB")] == [4, 3, 20]
    flat = tile((160, 3, 4, 128), (1, 3, 4, 128))
    assert (flat.key, [flat.data[f] for f in ("B", "CosB", "S", "N")]) == (20011, [160, 1, 12, 1])


def test_template_a() -> None:
    """496 pairs of rows, 4 of them a line: 124. 480 lines, 8 a core."""
    found = tile((4, 5, 24, 128), (4, 5, 24, 128))
    assert (found.key, found.block_dim, found.path) == (20040, 60, "A")
    assert fields(found) == {
        "B": 480,
        "CosB": 480,
        "S": 1,
        "D": 128,
        "N": 1,
        "blockNumB": 60,
        "blockFactorB": 8,
        "ubFactorB": 8,
        "path": "A",
    }
    many = tile((9000, 5, 1, 128), (9000, 5, 1, 128))
    assert (many.data["blockFactorB"], many.data["ubFactorB"]) == (704, 124)


def test_template_b() -> None:
    """One cos row for all, in a single buffer: (496 - 1) // 2 = 247 lines a step."""
    found = tile((9000, 5, 1, 128), (1, 1, 1, 128))
    assert (found.key, found.path) == (20041, "B")
    assert [found.data[f] for f in ("B", "CosB", "blockFactorB", "ubFactorB")] == [45000, 1, 704, 247]
    assert [(b.name, b.nbytes, b.count) for b in found.buffers] == [
        ("inQueX", 63232, 2),
        ("inQueCos", 256, 1),
        ("inQueSin", 256, 1),
        ("outQueY", 63232, 2),
    ]


@pytest.mark.parametrize(
    ("mode", "parts", "align"), [(HALF, 2, 64), (INTERLEAVE, 1, 48), (QUARTER, 4, 64), (INTERLEAVE_HALF, 2, 64)]
)
def test_parts_of_a_row_are_padded_apart(mode: int, parts: int, align: int) -> None:
    """36 halves: 2 x 18, 36 or 4 x 9 elements, each padded to 16."""
    found = tile((64, 2, 8, 36), (64, 2, 1, 36), mode=mode)
    assert [found.data[f] for f in ("rotaryMode", "dSplitCoef", "dAlign")] == [mode, parts, align]
    name = ("half", "interleave", "quarter", "interleave-half")[mode]
    assert found.meaning == f"template AB, float16, {name}: one cos row per position, for all its heads"
    assert tile((64, 2, 8, 36), (64, 2, 1, 36), mode=name).words == found.words


@pytest.mark.parametrize(("mode", "limit"), [(HALF, 2047), (INTERLEAVE, 4095), (QUARTER, 1023)])
def test_a_copy_moves_so_many_parts(mode: int, limit: int) -> None:
    found = tile((99000, 1, 1, 16), (99000, 1, 1, 16), mode=mode, cores=2, ub_bytes=10_000_000)
    assert found.data["ubFactorB"] == limit


TND = {  # shapes of x and cos: key, B, S, N
    "cos per token": ((64, 4, 128), (64, 1, 128), 20020, [1, 64, 4]),
    "cos per head": ((64, 4, 128), (1, 4, 128), 20020, [64, 4, 1]),
    "one token, cos per head": ((1, 4, 128), (1, 4, 128), 20020, [1, 4, 1]),
    "one cos": ((64, 4, 128), (1, 1, 128), 20041, [256, 1, 1]),
    "one head": ((64, 1, 128), (64, 1, 128), 20040, [64, 1, 1]),
    "all": ((64, 4, 128), (64, 4, 128), 20040, [256, 1, 1]),
}


@pytest.mark.parametrize("what", TND)
def test_three_dims(what: str) -> None:
    x, cos, key, dims = TND[what]
    found = tile(x, cos)
    assert (found.key, [found.data[f] for f in ("B", "S", "N")]) == (key, dims)


REFUSALS: dict[str, tuple[dict[str, Any], str]] = {
    "mode": (
        {"mode": 4},
        "mode is 4; allowed are 0 (half), 1 (interleave), 2 (quarter), 3 (interleave-half)",
    ),
    "dtype": ({"x": ((2, 8, 4, 64), "float64")}, "x is float64; allowed are float32, float16, bfloat16"),
    "dtype of cos": (
        {"cos": ((1, 8, 1, 64), "float32")},
        "x is float16 and cos is float32; all must have one dtype",
    ),
    "rank": ({"sin": ((64,), "float16")}, "sin has 1 dim; it must have 4, or 3 (TND)"),
    "ranks": (
        {"cos": ((8, 1, 64), "float16"), "sin": ((8, 1, 64), "float16")},
        "x has 4 dims and cos 3; they must have as many",
    ),
    "sin": (
        {"sin": ((2, 8, 1, 64), "float16")},
        "cos is (1, 8, 1, 64) and sin is (2, 8, 1, 64); they must have the same shape",
    ),
    "last dim": ({"x": ((2, 8, 4, 32), "float16")}, "the last dim of x is 32 and that of cos 64; they must be equal"),
    "long": ({"dim": 1026}, "the last dim of x is 1026; it must not exceed 1024"),
    "odd": ({"dim": 63}, "the last dim of x is 63; in mode 0 (half) it must be a multiple of 2"),
    "quarter": (
        {"dim": 66, "mode": 2},
        "the last dim of x is 66; in mode 2 (quarter) it must be a multiple of 4",
    ),
    "empty": ({"x": ((0, 8, 4, 64), "float16")}, "x is (0, 8, 4, 64); every dim must be positive"),
    "cores": ({"cores": 0}, "core count is 0, it must be positive"),
    "broadcast": (
        {"x": ((2, 9, 4, 64), "float16")},
        "x is (2, 9, 4, 64), cos and sin are (1, 8, 1, 64); each dim of cos and sin but the last must be 1 or that of "
        "x",
    ),
    "room": (
        {"ub_bytes": 1023},
        "rows of 64 elements are too long: this template needs 1024 B of unified buffer, only 1023 B are there",
    ),
    "rotate": (
        {"rotate": ((64, 64), "float16")},
        "input rotate needs the cube core's kernel of A2 and A3; on the 950 leave it out",
    ),
    "CANN": ({"cann": "8.3"}, "the 950's host code came after CANN 8.3; ask for cann='master'"),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_refused(what: str) -> None:
    changes, text = REFUSALS[what]
    changes = dict(changes)
    dim = changes.pop("dim", 64)
    inputs = {"x": ((2, 8, 4, dim), "float16"), "cos": ((1, 8, 1, dim), "float16"), "sin": ((1, 8, 1, dim), "float16")}
    inputs |= {name: changes.pop(name) for name in ("x", "cos", "sin", "rotate") if name in changes}
    with pytest.raises(TilingError) as refused:
        ascend_sim.tiling(OP, inputs, {"mode": changes.pop("mode", 0)}, "ascend950", **changes)
    assert str(refused.value) == f"RotaryPositionEmbedding: {text}"


# --- what every tiling keeps -----------------------------------------------------------------------------------------

few = st.one_of(st.integers(1, 4), st.integers(1, 40))


@settings(max_examples=300, deadline=None)
@given(
    x=st.tuples(few, few, few),
    keep=st.tuples(*[st.booleans()] * 3),
    quarter=st.integers(1, 256),
    dtype=st.sampled_from(["float16", "bfloat16", "float32"]),
    mode=st.integers(0, 3),
    cores=st.integers(1, 72),
    ub_bytes=st.one_of(st.integers(2000, 60000), st.just(253952)),
    three=st.booleans(),
)
def test_invariants(
    x: tuple[int, int, int],
    keep: tuple[bool, bool, bool],
    quarter: int,
    dtype: str,
    mode: int,
    cores: int,
    ub_bytes: int,
    three: bool,
) -> None:
    cos = tuple(n if kept else 1 for n, kept in zip(x, keep, strict=True))
    first = 1 if three else 0
    shapes = (*x[first:], 4 * quarter), (*cos[first:], 4 * quarter)
    found = arch35.if_it_fits(lambda: tile(*shapes, dtype, mode, cores=cores, ub_bytes=ub_bytes))
    if found is None:
        return
    lines = int(np.prod(x[first:]))
    arch35.check_cut(found, lines, cores, ub_bytes)
    arch35.check_words(found)
    arch35.check_once(visits(found, found.data), lines)


def visits(found: Tiling, data: arch35.Fields) -> arch35.Visits:
    if found.path in ("A", "B"):
        return arch35.one_axis(found.block_dim, data["B"], data["blockFactorB"], data["ubFactorB"])
    if found.path == "AB":
        positions = data["S"] if data["CosB"] == 1 else data["B"] * data["S"]
        return arch35.positions_by_heads(found.block_dim, data, positions, data["N"])
    shape = (data["B"], data["S"], data["N"])
    if found.path == "BAB":
        assert (data["ubLoopNumN"] - 1) * data["ubFactorN"] + data["ubTailFactorN"] == data["N"]
    step = (data["ubFactorB"], data["ubFactorS"], data["ubFactorN"])
    return arch35.batches_by_positions(found.block_dim, data, shape, *step)
