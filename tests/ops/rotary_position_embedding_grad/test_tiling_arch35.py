"""Host tiling of rotary_position_embedding_grad on the 950: numbers by hand, refusals, what every tiling keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers import arch35
from hypothesis import given, settings
from hypothesis import strategies as st

import ascend_sim
from ascend_sim.errors import TilingError
from ascend_sim.host.tiling import CoreShare, Loop, Tiling

OP = "rotary_position_embedding_grad"
NOTE = (
    "words 0 to 65 are those of CANN's reduce library, which is not modelled; so are its part of the workspace and of "
    "the block dim, and its loop counts in the key are those of sums that fit UB"
)
A, ONE_RUN, TWO_RUNS = 10641, 10321, 41281
FLAG = 1 << 34
RESULTS = ("dCosFlag", "isEmptyDy", "cosShapeSize", "template", "reduceKey", "path")


def key(template: int, reduce_key: int, flag: int = 0) -> int:
    return reduce_key + (template - 201 << 26) + flag * FLAG


def tile(
    dy: tuple[int, ...], cos: tuple[int, ...], dtype: str = "float16", mode: Any = 0, x: bool = False, **kwargs: Any
) -> Tiling:
    inputs = {"dy": (dy, dtype), "cos": (cos, dtype), "sin": (cos, dtype)} | ({"x": (dy, dtype)} if x else {})
    found: Tiling = ascend_sim.tiling(OP, inputs, {"mode": mode}, "ascend950", **kwargs)
    return found


def params(tiling: Tiling, struct: str) -> dict[str, int | str]:
    """The fields of one struct that are not 0."""
    head = f"{struct}."
    return {name[len(head) :]: value for name, value in tiling.data.items() if name.startswith(head) and value != 0}


def test_template_bab() -> None:
    """The library's own example: one head and cos 96 times, 8 x 5 cores; 40 cores rotate x, 820 lines each."""
    found = tile((8, 4096, 128), (1, 4096, 128), x=True, cores=40, ub_bytes=196608)
    assert (found.key, found.block_dim, found.path) == (key(203, ONE_RUN, 1), 40, "BAB")
    assert found.meaning == (
        "template BAB, float16, half: one cos row per position, for all batches and their heads, with dcos and dsin"
    )
    assert params(found, "ropeGradParams") == {
        "b": 8,
        "s": 4096,
        "d": 128,
        "n": 1,
        "blockNumB": 8,
        "blockFactorB": 1,
        "blockNumS": 5,
        "blockFactorS": 820,
        "ubFactorS": 96,
        "ubFactorB": 1,
        "ubLoopNumN": 1,
        "ubFactorN": 1,
        "ubTailFactorN": 1,
        "usedCoreNum": 40,
    }
    assert params(found, "ropeGradABParams") == {}
    assert params(found, "rotaryXParams") == {
        "b": 8,
        "s": 4096,
        "d": 128,
        "n": 1,
        "usedCoreNum": 40,
        "blockFactorN": 820,
        "blockTailFactorN": 788,
        "ubFactorN": 128,  # 384 pairs of rows, a third
    }
    assert [found.data[f] for f in RESULTS] == [1, 0, 524288, 203, ONE_RUN, "BAB"]
    assert found.workspace_bytes == 8 * 4096 * 128 * 2
    assert len(found.words) == 108
    assert found.words[:66] == (None,) * 66
    assert found.words[66:71] == (8, 4096, 128, 1, 8)
    assert found.words[-2:] == (1, 524288)
    assert found.notes == (NOTE,)
    assert found.shares[0] == CoreShare(
        "front", 32, 820, "lines", (Loop("batches", 1, 1, 1), Loop("positions", 96, 9, 52), Loop("heads", 1, 1, 1))
    )
    assert [b.name for b in found.buffers] == ["inQueDy", "inQueCos", "inQueSin", "outQueDx"]


def test_template_ab() -> None:
    """As forward; the pass over x keeps batches and heads apart. The library is asked without x as well."""
    found = tile((20, 3, 5, 128), (20, 1, 1, 128), mode=3)
    assert (found.key, found.block_dim) == (key(204, ONE_RUN), 60)
    assert params(found, "ropeGradParams") == {}
    assert params(found, "ropeGradABParams") == {
        "b": 3,
        "s": 20,
        "d": 128,
        "n": 15,
        "dAlign": 128,
        "dSplitCoef": 2,
        "blockNumBS": 20,
        "blockFactorBS": 1,
        "blockTailBS": 1,
        "blockNumN": 3,
        "blockFactorN": 5,
        "blockTailN": 5,
        "ubFactorBS": 1,
        "ubFactorN": 5,
        "usedCoreNum": 60,
        "rotaryMode": 3,
    }
    assert params(found, "rotaryXParams") == {
        "b": 3,
        "s": 20,
        "d": 128,
        "n": 5,
        "usedCoreNum": 60,
        "blockFactorN": 5,
        "blockTailFactorN": 5,
        "ubFactorN": 5,
        "rotaryMode": 3,
    }
    assert found.words[-2:] == (0, 20 * 128)
    assert found.words[:66] == (None,) * 66
    assert found.workspace_bytes == 2 * 300 * 128 * 2  # mode 3 also keeps x as the result has it


FORMS = {  # dy, cos: template, reduce part
    "no broadcast": ((4, 5, 24, 128), (4, 5, 24, 128), 205, A),
    "one cos": ((4, 5, 24, 128), (1, 1, 1, 128), 206, ONE_RUN),
    "1S1D": ((4, 64, 24, 128), (1, 64, 1, 128), 203, TWO_RUNS),
    "1S1D, one batch": ((1, 64, 24, 128), (1, 64, 1, 128), 203, ONE_RUN),
    "1S1D, one head": ((4, 64, 1, 128), (1, 64, 1, 128), 203, ONE_RUN),
    "BS1D": ((4, 64, 24, 128), (4, 64, 1, 128), 204, ONE_RUN),
    "S11D": ((64, 4, 24, 128), (64, 1, 1, 128), 204, ONE_RUN),
    "S11D, one head": ((64, 4, 1, 128), (64, 1, 1, 128), 204, ONE_RUN),
    "11SD": ((4, 24, 64, 128), (1, 1, 64, 128), 202, ONE_RUN),
    "B1SD": ((4, 24, 64, 128), (4, 1, 64, 128), 201, ONE_RUN),
    "1SND": ((4, 24, 64, 128), (1, 24, 64, 128), 202, ONE_RUN),
    "axes of one index between": ((4, 1, 24, 128), (1, 1, 1, 128), 206, ONE_RUN),
    "tokens": ((64, 24, 128), (64, 1, 128), 203, ONE_RUN),
    "tokens share heads": ((64, 24, 128), (1, 24, 128), 203, ONE_RUN),
}


@pytest.mark.parametrize("what", FORMS)
@pytest.mark.parametrize("with_x", [False, True])
def test_keys(what: str, with_x: bool) -> None:
    dy, cos, template, reduce_key = FORMS[what]
    found = tile(dy, cos, x=with_x)
    assert (found.key, found.data["template"]) == (key(template, reduce_key, int(with_x)), template)
    assert found.words[-2] == int(with_x)


EMPTY = {  # dy, cos: template, b, s, n, d as they are cut
    "no batches": ((0, 8, 4, 64), (1, 8, 1, 64), 203, (1, 8, 4, 64)),
    "no heads": ((2, 8, 0, 64), (1, 8, 1, 64), 203, (2, 8, 1, 64)),
    "no positions": ((2, 0, 4, 64), (1, 0, 1, 64), 203, (2, 1, 4, 64)),
    "no elements": ((2, 8, 4, 0), (1, 8, 1, 0), 203, (2, 8, 4, 4)),
    "nothing": ((0, 0, 0, 0), (0, 0, 0, 0), 205, (1, 1, 1, 4)),
}


@pytest.mark.parametrize("what", EMPTY)
def test_empty(what: str) -> None:
    dy, cos, template, (b, s, n, d) = EMPTY[what]
    found = tile(dy, cos, mode=2, x=True)
    data = found.data
    assert [data[f] for f in ("template", "isEmptyDy", "cosShapeSize")] == [template, 1, np.prod(cos)]
    assert [data[f"ropeGradParams.{f}"] for f in "bsnd"] == [b, s, n, d]
    assert found.words[-2] == 1 | 1 << 32
    assert (found.shares, found.buffers) == ((), ())
    assert found.meaning.endswith(", with dcos and dsin, dy is empty")


def test_reduce_part_of_an_empty_dy_leaves_out_what_is_empty() -> None:
    assert tile((0, 8, 4, 64), (1, 8, 1, 64)).data["reduceKey"] == ONE_RUN
    assert tile((0, 8, 1, 64), (1, 8, 1, 64)).data["reduceKey"] == A


REFUSALS: dict[str, tuple[dict[str, Any], str]] = {
    "mode": ({"mode": 4}, "mode is 4; allowed are 0 (half), 1 (interleave), 2 (quarter), 3 (interleave-half)"),
    "dtype": ({"dy": ((2, 8, 4, 64), "int8")}, "dy is int8; allowed are float32, float16, bfloat16"),
    "dtype of x": ({"x": ((2, 8, 4, 64), "float32")}, "dy is float16 and x is float32; all must have one dtype"),
    "rank": ({"x": ((64, 64), "float16")}, "x has 2 dims; it must have 4, or 3 (TND)"),
    "sin": (
        {"sin": ((2, 8, 1, 64), "float16")},
        "cos is (1, 8, 1, 64) and sin is (2, 8, 1, 64); they must have the same shape",
    ),
    "x": (
        {"x": ((2, 8, 5, 64), "float16")},
        "x is (2, 8, 5, 64) and dy is (2, 8, 4, 64); they must have the same shape",
    ),
    "last dim": ({"dy": ((2, 8, 4, 32), "float16")}, "the last dim of dy is 32 and that of cos 64; they must be equal"),
    "long": ({"dim": 1028}, "the last dim of dy is 1028; it must not exceed 1024"),
    "quarter": ({"dim": 66, "mode": 2}, "the last dim of dy is 66; in mode 2 (quarter) it must be a multiple of 4"),
    "UB": ({"ub_bytes": 0}, "UB size is 0 B, it must be positive"),
    "broadcast": (
        {"dy": ((2, 9, 4, 64), "float16")},
        "dy is (2, 9, 4, 64), cos and sin are (1, 8, 1, 64); each dim of cos and sin but the last must be 1 or that of "
        "dy",
    ),
    "room": (
        {"ub_bytes": 1023},
        "rows of 64 elements are too long: this template needs 1024 B of unified buffer, only 1023 B are there",
    ),
    "CANN": ({"cann": "8.3"}, "the 950's host code came after CANN 8.3; ask for cann='master'"),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_refused(what: str) -> None:
    changes = dict(REFUSALS[what][0])
    dim = changes.pop("dim", 64)
    inputs = {"dy": ((2, 8, 4, dim), "float16"), "cos": ((1, 8, 1, dim), "float16"), "sin": ((1, 8, 1, dim), "float16")}
    inputs |= {name: changes.pop(name) for name in ("dy", "cos", "sin", "x") if name in changes}
    with pytest.raises(TilingError) as refused:
        ascend_sim.tiling(OP, inputs, {"mode": changes.pop("mode", 0)}, "ascend950", **changes)
    assert str(refused.value) == f"RotaryPositionEmbeddingGrad: {REFUSALS[what][1]}"


few = st.one_of(st.integers(1, 4), st.integers(1, 40))


@settings(max_examples=200, deadline=None)
@given(
    dy=st.tuples(few, few, few),
    keep=st.tuples(*[st.booleans()] * 3),
    quarter=st.integers(1, 256),
    dtype=st.sampled_from(["float16", "bfloat16", "float32"]),
    mode=st.integers(0, 3),
    cores=st.integers(1, 72),
    ub_bytes=st.one_of(st.integers(2000, 60000), st.just(253952)),
    with_x=st.booleans(),
)
def test_invariants(
    dy: tuple[int, int, int],
    keep: tuple[bool, bool, bool],
    quarter: int,
    dtype: str,
    mode: int,
    cores: int,
    ub_bytes: int,
    with_x: bool,
) -> None:
    """dx is cut as y of the forward operator is, and the pass over x takes every line once."""
    dim = 4 * quarter
    cos = tuple(n if kept else 1 for n, kept in zip(dy, keep, strict=True))
    options = {"cores": cores, "ub_bytes": ub_bytes}
    inputs = {"x": ((*dy, dim), dtype), "cos": ((*cos, dim), dtype), "sin": ((*cos, dim), dtype)}
    try:
        forward = ascend_sim.tiling("rotary_position_embedding", inputs, {"mode": mode}, "ascend950", **options)
    except TilingError:
        with pytest.raises(TilingError, match="of unified buffer"):
            tile((*dy, dim), (*cos, dim), dtype, mode, with_x, **options)
        return
    found = tile((*dy, dim), (*cos, dim), dtype, mode, with_x, **options)
    assert (found.path, found.block_dim, found.shares) == (forward.path, forward.block_dim, forward.shares)
    assert [b.nbytes for b in found.buffers] == [b.nbytes for b in forward.buffers]
    struct = params(found, "ropeGradABParams" if found.path == "AB" else "ropeGradParams")
    for name, value in struct.items():
        assert name == "usedCoreNum" or value == forward.data[name.upper() if len(name) == 1 else name]
    assert struct["usedCoreNum"] == found.block_dim
    pass_x = params(found, "rotaryXParams")
    lines = int(np.prod(dy))
    assert pass_x["b"] * pass_x["s"] * pass_x["n"] == lines
    used = pass_x["usedCoreNum"]
    assert used <= found.block_dim
    assert (arch35.one_axis(used, lines, pass_x["blockFactorN"], pass_x["ubFactorN"]) == 1).all()
    assert (used - 1) * pass_x["blockFactorN"] + pass_x["blockTailFactorN"] == lines
