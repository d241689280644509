from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import ascend_sim
from ascend_sim import asc
from ascend_sim.errors import InputError, TilingError, UnsupportedError
from ascend_sim.soc import load

ROPE = "inplace_partial_rotary_mul"
SHAPES = {"x": (2, 8, 2, 32), "cos": (2, 8, 1, 16), "sin": (2, 8, 1, 16)}
TIMED = {name: (shape, "float32") for name, shape in SHAPES.items()} | {"partial_slice": [8, 24], "values": False}


def arrays(dtype=np.float32, seed=0):
    random = np.random.default_rng(seed)
    return {name: random.standard_normal(shape).astype(dtype) for name, shape in SHAPES.items()}


def rotated(x, cos, sin, start, end):
    """The formula in float64: pairs of neighbours in the slice turn by their angle."""
    part = x[..., start:end].astype(np.float64)
    turned = np.empty_like(part)
    turned[..., 0::2], turned[..., 1::2] = -part[..., 1::2], part[..., 0::2]
    out = x.astype(np.float64)
    out[..., start:end] = part * cos + turned * sin
    return out


def test_importing_the_package_imports_nothing_else():
    code = "import sys, ascend_sim\nprint([n for n in ('numpy', 'pydantic', 'yaml', 'typer') if n in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[1], check=True
    )
    assert done.stdout == "[]\n"


def test_the_package_offers_its_entry_points_and_errors():
    for name in ascend_sim.__all__:
        assert getattr(ascend_sim, name) is not None
    assert set(ascend_sim.__all__) <= set(dir(ascend_sim))
    with pytest.raises(AttributeError, match="module 'ascend_sim' has no attribute 'runn'"):
        _ = ascend_sim.runn


def test_run_by_position_changes_x_in_place():
    given = arrays()
    x = given["x"].copy()
    result = ascend_sim.run(ROPE, x, given["cos"], given["sin"], partial_slice=[8, 24])
    assert np.allclose(x, rotated(**given, start=8, end=24), atol=1e-6)
    assert result.outputs["x"] is x
    assert np.array_equal(result.inputs["x"], given["x"])
    assert (result.values.checked, result.values.ok) == (True, True)
    for figures in (result.values, result.aiv_time_us, result.pipes["vec"], result.tiling):
        assert all(figures[name] == getattr(figures, name) for name in figures)
    with pytest.raises(KeyError, match="Spread has no 'median', only mean, min, max"):
        result.aiv_time_us["median"]
    assert (result.op, result.soc, result.variant) == (ROPE, "ascend910b", "Ascend910B3")
    assert result.tiling.block_dim == result.program.block_dim
    assert result.duration_us > result.launch_us > 0
    assert result.instructions == result.program.instructions > 0


def test_names_and_aliases_mean_the_same():
    given = arrays(ml_dtypes.bfloat16)
    runs = [
        ascend_sim.run(ROPE, x=given["x"].copy(), cos=given["cos"], sin=given["sin"], partial_slice=[0, 16]),
        ascend_sim.run(ROPE, given["x"].copy(), r1=given["cos"], r2=given["sin"], partial_slice="0,16"),
        ascend_sim.run(
            "InplacePartialRotaryMul",
            given["x"].copy(),
            given["cos"],
            r2=given["sin"],
            rotary_mode="interleave",
            partial_slice=(0, 16),
        ),
    ]
    first = runs[0].outputs["x"].view(np.uint16)
    for run in runs[1:]:
        assert np.array_equal(run.outputs["x"].view(np.uint16), first)
        assert run.duration_us == runs[0].duration_us


def test_the_default_slice_changes_nothing():
    given = arrays()
    x = given["x"].copy()
    result = ascend_sim.run(ROPE, x, given["cos"], given["sin"])
    assert result.tiling.data["path"] == "noop"
    assert np.array_equal(x, given["x"])
    assert result.values.exact


def test_without_values_shapes_are_enough_and_times_stay_the_same():
    pairs = {name: (shape, "float32") for name, shape in SHAPES.items()}
    timed = ascend_sim.run(ROPE, **pairs, partial_slice=[8, 24], values=False)
    computed = ascend_sim.run(ROPE, **arrays(), partial_slice=[8, 24])
    assert timed.duration_us == computed.duration_us
    assert (timed.values.checked, timed.values.ok, timed.outputs) == (False, None, {})
    assert timed.to_json()["values"]["ok"] is None


def test_shapes_with_values_are_random_by_seed():
    pairs = {name: (shape, "float16") for name, shape in SHAPES.items()}
    one, same, other = (ascend_sim.run(ROPE, **pairs, partial_slice=[8, 24], seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.outputs["x"], same.outputs["x"])
    assert not np.array_equal(one.inputs["x"], other.inputs["x"])


def test_without_inputs_the_example_runs():
    result = ascend_sim.run(ROPE, values=False)
    assert result.call.startswith("x (2, 32, 8, 128) float16, cos (2, 32, 1, 64) float16, sin")
    assert result.call.endswith("partial_slice=0,64")


def test_overrides_change_the_chip():
    pairs = {name: (shape, "float32") for name, shape in SHAPES.items()}
    usual = ascend_sim.run(ROPE, **pairs, partial_slice=[8, 24], values=False)
    slow = ascend_sim.run(ROPE, **pairs, partial_slice=[8, 24], values=False, overrides={"clock_mhz": 900})
    assert slow.chip.clock_mhz == 900
    assert slow.aiv_time_us.max > 1.5 * usual.aiv_time_us.max


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"op": "rope"}, UnsupportedError, "unknown operator 'rope': "),
        ({"op": 5}, InputError, "op must be the name of an operator, not int"),
        ({"soc": "Ascend1"}, UnsupportedError, "unknown SoC 'Ascend1'; "),
        ({"soc": ""}, UnsupportedError, "unknown SoC ''; "),
        ({"soc": ["a"]}, InputError, "soc must be the name of a chip, not list"),
        (
            {"soc": load("Ascend910B3"), "overrides": {"clock_mhz": 900}},
            InputError,
            "overrides {'clock_mhz': 900} need the name of a chip; Ascend910B3 is already loaded",
        ),
        ({"overrides": ["a"]}, InputError, "overrides must be a dict of dotted paths to values, not ['a']"),
        ({"overrides": {5: 3}}, InputError, "overrides must be a dict of dotted paths to values, not {5: 3}"),
        ({"partial_slice": [0, 15]}, TilingError, "InplacePartialRotaryMul: partial_slice is [0, 15), "),
        ({"slice": [0, 16]}, InputError, "inplace_partial_rotary_mul has no input or attribute 'slice'; "),
        ({"overrides": {"ub.size": 1}}, InputError, "Ascend910B3 has no parameter 'ub.size'"),
        ({"x": "x.npy"}, InputError, "input x: expected an array or a (shape, dtype) pair"),
        ({"l2": "hot"}, InputError, "l2 'hot': allowed are "),
        (
            {"launch_kind": "warm"},
            InputError,
            "launch_kind 'warm': allowed are 'back_to_back', 'few_launches', 'in_situ'",
        ),
        ({"cold_start_us": -1}, InputError, "cold_start_us -1: must be a number of microseconds, 0 or more"),
        ({"cold_start_us": "1"}, InputError, "cold_start_us '1': must be a number of microseconds, 0 or more"),
        ({"repeat": 0}, InputError, "repeat 0: must be a number of launches, 1 or more"),
        ({"repeat": 1.5}, InputError, "repeat 1.5: must be a number of launches, 1 or more"),
    ],
)
def test_refusals(arguments, error, text):
    call = {"op": ROPE, **arrays(), "partial_slice": [0, 16], **arguments}
    with pytest.raises(error, match=re.escape(text)):
        ascend_sim.run(**call)


@pytest.mark.parametrize("kind", ["few_launches", "in_situ"])
def test_a_launch_that_follows_others_starts_late(kind):
    usual = ascend_sim.run(ROPE, **TIMED)
    late = ascend_sim.run(ROPE, **TIMED, launch_kind=kind)
    cold_start = late.chip.require_timing().launch.cold_start
    blocks = late.tiling.block_dim
    first, last = cold_start.late_us(kind, 0), cold_start.late_us(kind, blocks - 1)
    transfers = sum(cold_start.transfers_us(kind, blocks))
    assert (usual.cold_start_us, late.cold_start_us) == (0.0, pytest.approx(last))
    assert last > first > 0
    assert usual.duration_us + first < late.duration_us < usual.duration_us + last + transfers + 0.01


def test_a_cold_start_of_the_callers_own_delays_every_block():
    usual, late = (ascend_sim.run(ROPE, **TIMED, cold_start_us=us) for us in (0, 5))
    assert late.duration_us == pytest.approx(usual.duration_us + 5, abs=0.001)
    assert late.aiv_time_us.mean == pytest.approx(usual.aiv_time_us.mean + 5, abs=0.001)


def test_repeated_launches_follow_back_to_back_with_a_warm_l2():
    warm = ascend_sim.run(ROPE, **TIMED)
    cold = ascend_sim.run(ROPE, **TIMED, l2="cold")
    first = ascend_sim.run(ROPE, **TIMED, l2="cold", launch_kind="few_launches", repeat=3)
    assert warm.later_us == cold.later_us == []
    assert first.later_us == [warm.duration_us] * 2
    assert warm.duration_us < cold.duration_us < first.duration_us


def test_a_device_takes_the_kind_of_launch_and_a_cold_start():
    x = np.zeros(4096, np.float32)
    with (
        ascend_sim.device("ascend910b", values=False) as usual,
        ascend_sim.device("ascend910b", values=False, launch_kind="few_launches", cold_start_us=2.0) as late,
    ):
        double[8](x, 4096)
    with usual:
        double[8](x, 4096)
    expected = 2.0 + late.soc.require_timing().launch.cold_start.late_us("few_launches", 7)
    assert late.runs[0].cold_start_us == pytest.approx(expected)
    assert late.runs[0].duration_us > usual.runs[0].duration_us + 2


def test_a_chip_without_the_operator():
    text = f"{ROPE}_grad is not supported by the operator library on ascend910b; it exists on ascend950"
    with pytest.raises(UnsupportedError, match=re.escape(text)):
        ascend_sim.run(f"{ROPE}_grad", soc="ascend910b")


@asc.jit
def double(x: asc.GlobalAddress, n: int):
    block = n // asc.get_block_num()
    gm = asc.GlobalTensor()
    gm.set_global_buffer(x + asc.get_block_idx() * block)
    pipe = asc.TPipe()
    loaded = asc.TQue(asc.TPosition.VECIN, 1)
    stored = asc.TQue(asc.TPosition.VECOUT, 1)
    pipe.init_buffer(que=loaded, num=1, len=block * 4)
    pipe.init_buffer(que=stored, num=1, len=block * 4)
    tile = loaded.alloc_tensor(asc.float32)
    asc.data_copy(tile, gm, count=block)
    loaded.enque(tile)
    tile = loaded.deque(asc.float32)
    out = stored.alloc_tensor(asc.float32)
    asc.muls(out, tile, 2.0, count=block)
    stored.enque(out)
    loaded.free_tensor(tile)
    out = stored.deque(asc.float32)
    asc.data_copy(gm, out, count=block)
    stored.free_tensor(out)


def test_a_kernel_of_ones_own_has_the_same_kind_of_result(tmp_path):
    x = np.arange(4096, dtype=np.float32)
    with ascend_sim.device("Ascend910B4") as dev:
        double[8](x, 4096)
        double[4](x, 4096)
    assert np.array_equal(x, np.arange(4096) * 4)
    assert [run.program.block_dim for run in dev.runs] == [8, 4]
    result = dev.runs[-1]
    assert dev.runs[-1] is result
    assert (result.op, result.kernel, result.tiling) == ("double", "double", None)
    assert (result.variant, result.values.checked) == ("Ascend910B4", False)
    assert result.pipes["vec"].instructions >= 4
    assert "double on Ascend910B4" in result.summary()
    result.write_trace(tmp_path / "t.json")
    assert (tmp_path / "t.json").stat().st_size > 1000
    names = {name for wait in result.metrics.waits for name in (wait.line, wait.peer_line)}
    assert any(name.startswith(__file__) for name in names)


def test_a_device_may_be_loaded_overridden_and_timed_without_values():
    x = np.zeros(4096, np.float32)
    with ascend_sim.device("ascend910b", values=False, overrides={"clock_mhz": 1000}) as dev:
        double[8](x, 4096)
    assert dev.runs[0].chip.clock_mhz == 1000
    assert dev.runs[0].duration_us > 0
    assert ascend_sim.device("ascend950").soc.variant == "Ascend950PR_9589"
