"""What every tiling of inplace_partial_rotary_mul keeps: coverage, UB budget, core count, the host's formulas."""

from __future__ import annotations

from math import ceil

from hypothesis import given, settings
from hypothesis import strategies as st

import ascend_sim
from ascend_sim.errors import TilingError
from ascend_sim.host.tiling import Tiling

DTYPES = [
    *(("float16", "float16"), ("bfloat16", "bfloat16"), ("float32", "float32")),
    *(("float16", "float32"), ("bfloat16", "float32")),
]


@st.composite
def calls(draw: st.DrawFn) -> dict[str, object]:
    small = st.one_of(st.integers(1, 4), st.integers(1, 300))
    x0, x1, x2 = draw(small), draw(st.one_of(st.just(1), st.integers(1, 70))), draw(st.integers(1, 70))
    full = 2 * draw(st.integers(1, 200))
    length = 2 * draw(st.integers(1, full // 2))
    return {
        "x": (x0, x1, x2, full),
        "start": draw(st.integers(0, full - length)),
        "length": length,
        "cos1": draw(st.sampled_from([1, x1])),
        "dtypes": draw(st.sampled_from(DTYPES)),
        "cores": draw(st.integers(1, 80)),
        "ub_bytes": draw(st.integers(1000, 262144)),
    }


def tile(call: dict[str, object]) -> Tiling:
    x, length, start = call["x"], call["length"], call["start"]
    x_dtype, cos_dtype = call["dtypes"]
    rope = ((x[0], call["cos1"], 1, length), cos_dtype)
    return ascend_sim.tiling(
        "inplace_partial_rotary_mul",
        {"x": (x, x_dtype), "cos": rope, "sin": rope},
        {"partial_slice": [start, start + length]},
        cores=call["cores"],
        ub_bytes=call["ub_bytes"],
    )


@settings(max_examples=400, deadline=None)
@given(calls())
def test_invariants(call: dict[str, object]) -> None:
    try:
        found = tile(call)
    except TilingError as refused:
        if "of unified buffer" not in str(refused):  # the only check that these calls can fail
            raise
        return
    x = call["x"]
    rows = x[0] if call["cos1"] == 1 else x[0] * x[1]
    assert sum(share.cores * share.rows for share in found.shares) == rows
    assert found.block_dim == sum(share.cores for share in found.shares)
    assert 1 <= found.block_dim <= call["cores"]
    per_core = [share.rows for share in found.shares]
    if found.key >= 2000:  # the fast path leaves its last core what is left over
        assert max(per_core) - min(per_core) <= 1
    for share in found.shares:
        assert share.loops[0].total == share.rows
        assert all(0 < loop.last <= loop.per_loop for loop in share.loops)
    if found.path == "split_bsn":
        assert {share.loops[1].total for share in found.shares} == {found.data["numHeads"]}
    assert 0 < found.ub_used_bytes <= call["ub_bytes"]
    assert found.words == tuple(value for name, value in found.data.items() if name != "path")


@settings(max_examples=400, deadline=None)
@given(calls())
def test_general_path_follows_the_published_formulas(call: dict[str, object]) -> None:
    """The host's own formulas written out, with its quirk: whether a tail core's rows fit at once is judged with the
    front core's count for the float32 temporaries. It never changes a result, which this test shows."""
    try:
        found = tile(call)
    except TilingError:
        return
    if found.key < 2000:
        return
    x_dtype, cos_dtype = call["dtypes"]
    data, cores, ub = found.data, call["cores"], call["ub_bytes"]
    seq, heads = data["seqLen"], data["numHeads"]
    esz = 4 if x_dtype == "float32" else 2
    hda = ceil(call["length"] / (32 // esz)) * (32 // esz)
    front, tail = ceil(seq / cores), seq // cores
    mixed = x_dtype != cos_dtype
    io, temporaries = (16, 0) if mixed else (3 * esz, 12 if esz == 2 else 0)
    row, table = heads * hda * (io + temporaries), heads * hda * 4
    room = ub - table
    if room < row:
        per_head = hda * (io + temporaries + 4)
        expected = {"ubCalcNNum": ub // per_head, "ubCalcNLoop": ceil(heads / (ub // per_head))}
        expected["ubCalcNTail"] = heads % expected["ubCalcNNum"]
        assert found.path == "split_bsn"
    else:
        fits = front * row <= room
        num = front if fits else room // row
        expected = {"ubCalcNum": num, "ubCalcLoop": ceil(front / num), "ubCalcTail": front % num}
        tail_need = tail * heads * hda * io + front * heads * hda * temporaries
        tail_num = tail if tail_need <= room else room // row
        expected["ubCalcTailNum"] = tail_num if tail else 0
        expected["ubCalcTailLoop"] = ceil(tail / tail_num) if tail else 0
        expected["ubCalcTailTail"] = tail % tail_num if tail else 0
        assert found.path == "split_s"
    assert {name: data[name] for name in expected} == expected
