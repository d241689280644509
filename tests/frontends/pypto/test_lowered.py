"""What a kernel becomes: the listing, unified buffer under every map, tiles that do and do not fit."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from ascend_sim.frontends import pypto
from ascend_sim.frontends.pypto.errors import FeError, LoweringError
from ascend_sim.frontends.pypto.lowering import Target
from ascend_sim.host.device import Device
from ascend_sim.program import Memory

from .ordering import disorder, runs

FP16, FP32, BF16 = pypto.DT_FP16, pypto.DT_FP32, pypto.DT_BF16
CHIP, CORES, UB_BYTES = "Ascend910B3", 40, 196_352


@pypto.frontend.jit
def turn(
    x: pypto.Tensor([pypto.DYNAMIC, 128], FP16),
    cos: pypto.Tensor([1, 128], FP16),
    y: pypto.Tensor([pypto.DYNAMIC, 128], FP16),
):
    pypto.set_vec_tile_shapes(8, 128)
    for i in pypto.loop((x.shape[0] + 7) // 8, name="ROWS", idx_name="i"):
        rows = (x.shape[0] - 8 * i).min(8)
        block = pypto.view(x, [8, 128], [8 * i, 0], valid_shape=[rows, 128])
        turned = pypto.concat([-block[:, 64:], block[:, :64]], -1)
        pypto.assemble(turned * cos, [8 * i, 0], y)


LISTING = """\
kernel turn on Ascend910B3: 3 of 40 vector cores
peak unified buffer 10,496 of 196,352 B
3 tasks, 1 a core
  i in ROWS(0, ((x.shape[0] + 7) // 8), 1): mul -> y [8, 128] in tiles of [8, 128]
unified buffer, loads double-buffered, results double-buffered:
                 0  kept     cos [1, 128] DT_FP16, 256 B
      256 and 2304  loads    block [8, 128] DT_FP16, 2,048 B
     4352 and 6400  results  mul [8, 128] DT_FP16, 2,048 B
              8448  rest     neg [8, 64] DT_FP16, 1,024 B in turned
              8448  rest     turned [8, 128] DT_FP16, 2,048 B
instructions of tile [0, 0], i = 0:
  MTE2 DataCopy        cos, cos, 128                                                          :7
  MTE2 SetFlag         MTE2_V, 2                                                              :7
  MTE2 DataCopy        block, x, 1024                                                         :5
  MTE2 SetFlag         MTE2_V, 0                                                              :5
  V    WaitFlag        MTE2_V, 2                                                              :6
  V    WaitFlag        MTE2_V, 0                                                              :6
  V    Muls            neg, block+128 B, -1.0, 64, 8, UnaryRepeatParams(1, 1, 8, 8)           :6
  V    DataCopy        turned+128 B, block, DataCopyParams(8, 4, 4, 4)                        :6
  V    SetFlag         V_MTE2, 0                                                              :6
  V    Mul             mul, turned, cos, 128, 8, BinaryRepeatParams(1, 1, 1, 8, 8, 0)         :7
  V    SetFlag         V_MTE3, 0                                                              :7
  MTE3 WaitFlag        V_MTE3, 0                                                              :7
  MTE3 DataCopy        y, mul, 1024                                                           :7
  MTE3 SetFlag         MTE3_V, 0                                                              :7
  MTE2 WaitFlag        V_MTE2, 0                                                              :6
  V    WaitFlag        MTE3_V, 0                                                              :7"""


def with_lines_of(function: Any, text: str) -> str:
    """The text with `file:line` as the line counted from `def`."""
    first = function.__code__.co_firstlineno + 4  # after the decorator and the parameters
    return re.sub(r"test_lowered\.py:(\d+)", lambda found: f":{int(found[1]) - first}", text)


def test_the_listing_names_tiles_buffers_and_instructions() -> None:
    lowered = turn.lowered(((20, 128), "float16"), ((1, 128), "float16"), ((20, 128), "float16"))
    assert with_lines_of(turn.function, str(lowered)) == LISTING


def test_the_listing_is_what_runs() -> None:
    """The instructions of the one task of each core, in the same order."""
    x, cos = np.ones((20, 128), np.float16), np.ones((1, 128), np.float16)
    with Device(timing=False) as device:
        turn(x, cos, x.copy())
    (launch,) = device.launches
    listed = [line.split()[1] for line in str(turn.lowered()).splitlines() if line.startswith(("  MTE", "  V "))]
    assert [i.name for i in launch.program.blocks[0].instrs] == [*listed, "PipeBarrier"]


def test_stages_and_tables_in_the_listing() -> None:
    @pypto.frontend.jit
    def kernel(x: pypto.Tensor([16, 64], BF16), t: pypto.Tensor([16, 64], BF16), y: pypto.Tensor([64, 16], BF16)):
        pypto.set_vec_tile_shapes(16, 64)
        for _ in pypto.loop(1, name="FIRST", idx_name="i"):
            wide = pypto.cast(x, FP32)
            t[:] = pypto.cast(wide, BF16)
        for _ in pypto.loop(1, name="SECOND", idx_name="j"):
            y[:] = pypto.transpose(t, 0, 1)

    text = str(kernel.lowered(((16, 64), "bfloat16"), ((16, 64), "bfloat16"), ((64, 16), "bfloat16")))
    for part in (
        "\nstage 0\n1 tasks, 1 a core\n  i in FIRST(0, 1, 1): cast -> t [16, 64] in tiles of [16, 64]\n",
        "\nstage 1: after all cores have met (SyncAll)\n1 tasks, 1 a core\n"
        "  j in SECOND(0, 1, 1): transpose -> y [64, 16] in tiles of [64, 16]\n",
        "                 0  kept     offsets of 1,024 elements, 4,096 B\n",
        "  S    SetValue        offsets, 1, 128 ",
        "       ... and 5 more like it\n",
        "  V    Adds            offsets+32 B, offsets, 1024, 8 ",
        "  V    Gather          transpose, t, offsets, 0, 1024 ",
    ):
        assert part in text


def test_an_axis_that_stays_whole_is_said() -> None:
    @pypto.frontend.jit
    def kernel(x: pypto.Tensor([100, 48], FP16), y: pypto.Tensor([100, 48], FP16)):
        pypto.set_vec_tile_shapes(32, 48)
        y[:] = x - pypto.amax(x, 0, keepdim=True)

    text = str(kernel.lowered(((100, 48), "float16"), ((100, 48), "float16")))
    assert (
        "sub -> y [100, 48] in tiles of [100, 48]\n    dim 0 stays whole: parts of it would do most of their work "
        in text
    )


def test_lowered_before_the_first_run() -> None:
    kernel = pypto.frontend.jit(turn.function)
    text = (
        "kernel 'turn' has not run yet: give lowered() the arguments of a call, or (shape, dtype) pairs in place of "
        "arrays"
    )
    with pytest.raises(FeError, match=f"^{re.escape(text)}$"):
        kernel.lowered()


# -- unified buffer ----------------------------------------------------------------------------------------------------


@pypto.frontend.jit
def norm_and_turn(
    x: pypto.Tensor([pypto.DYNAMIC, 4, 64], BF16),
    weight: pypto.Tensor([64], BF16),
    cos: pypto.Tensor([pypto.DYNAMIC, 64], BF16),
    y: pypto.Tensor([pypto.DYNAMIC, 4, 64], BF16),
):
    """Kept weights, two kinds of loads, casts, sums, scratch, a concat in place."""
    for i in pypto.loop((x.shape[0] + 7) // 8, unroll_list=[2]):
        rows = (x.shape[0] - 8 * i).min(8)
        block = pypto.view(x, [8, 4, 64], [8 * i, 0, 0], valid_shape=[rows, 4, 64])
        pypto.set_vec_tile_shapes(8, 64)
        table = pypto.cast(pypto.view(cos, [8, 64], [8 * i, 0], valid_shape=[rows, 64]), FP32).unsqueeze(1)
        pypto.set_vec_tile_shapes(1, 1, 64)
        scale = pypto.cast(pypto.reshape(weight, [1, 1, 64]), FP32)
        pypto.set_vec_tile_shapes(8, 4, 64)
        wide = pypto.cast(block, FP32)
        normed = wide * pypto.rsqrt(pypto.sum(wide * wide, -1, keepdim=True) * (1 / 64) + 1e-6) * scale
        turned = pypto.concat([-normed[..., 32:], normed[..., :32]], -1)
        pypto.assemble(pypto.cast(normed + turned * table, BF16), [8 * i, 0, 0], y)


def highest_byte(program: Any) -> int:
    """The end of what the program touches of unified buffer."""
    regions = {r for block in program.blocks for i in block.instrs for r in (*i.reads, *i.writes)}
    return max(end for region in regions if region.memory is Memory.UB for _, end in runs(region))


def test_every_map_gives_the_same_values_and_keeps_its_promise() -> None:
    """Less and less room: fewer frames, nothing kept, pipes that take turns; then no tile of this shape at all."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((43, 4, 64)).astype(BF16.asc.numpy)
    cos, weight = (rng.standard_normal(s).astype(BF16.asc.numpy) for s in ((43, 64), (64,)))
    seen: dict[str, bytes] = {}
    for ub_bytes in range(66_000, 6_000, -2_500):
        y = np.zeros_like(x)
        try:
            lowered = norm_and_turn.lowered_for(Target(CHIP, ub_bytes, 2), x, weight, cos, y)
        except LoweringError:
            break
        assert lowered.peak_ub_bytes <= ub_bytes
        mode = str(lowered.stages[0].memory.mode) + (", kept" if lowered.stages[0].memory.known[0].kept else "")
        if mode in seen:
            continue
        with Device(timing=False) as device:
            lowered.launch({"x": x, "weight": weight, "cos": cos, "y": y})
        (launch,) = device.launches
        assert not disorder(launch.program)
        assert highest_byte(launch.program) <= lowered.peak_ub_bytes
        seen[mode] = y.tobytes()
    assert set(seen) >= {
        "loads double-buffered, results double-buffered, kept",
        "loads double-buffered, results single-buffered, kept",
        "loads single-buffered, results single-buffered, kept",
        "loads single-buffered, results single-buffered",
        "all buffers shared by lifetime, pipes take turns",
    }
    assert len(set(seen.values())) == 1


@pytest.mark.parametrize(("rows", "width"), [(512, 64), (1000, 384), (4096, 64)])
def test_the_tile_that_is_named_fits(rows: int, width: int) -> None:
    def lowered(tile: list[int]) -> Any:
        @pypto.frontend.jit
        def kernel(a: pypto.Tensor([rows, width], FP32), b: pypto.Tensor([rows, width], FP32)):
            pypto.set_vec_tile_shapes(*tile)
            b[:] = pypto.exp(a) * a + pypto.sqrt(a)

        return kernel.lowered(((rows, width), "float32"), ((rows, width), "float32"))

    with pytest.raises(LoweringError, match=r"the tile \[[\d, ]+\] would fit") as refused:
        lowered([rows, width])
    (named,) = re.findall(r"the tile \[([\d, ]+)\] would fit", str(refused.value))
    tile = [int(size) for size in named.split(",")]
    assert lowered(tile).peak_ub_bytes <= UB_BYTES
    assert tile[1] == width  # rows are cut before they are torn
    with pytest.raises(LoweringError):
        lowered([2 * tile[0], width])


def test_no_tile_fits_where_an_axis_cannot_be_cut() -> None:
    @pypto.frontend.jit
    def kernel(a: pypto.Tensor([1, 80_000], FP32), b: pypto.Tensor([1, 80_000], FP32)):
        pypto.set_vec_tile_shapes(1, 16_000)
        b[:] = a - pypto.amax(a, -1, keepdim=True)

    text = (
        "kernel 'kernel': the vector tile [1, 16000] of sub (stored at HERE) needs 480032 B of unified buffer, "
        "Ascend910B3 has 196352 B; dim 1 is not cut, because most of a tile's work would be done again for every part; "
        "no tile of this kernel fits: view smaller blocks, or compute in fewer steps. Buffers, those alive at one time "
        "sharing nothing:\n"
        "  a [1, 80000] DT_FP32: 320000 B (input at HERE)\n"
        "  sub [1, 80000] DT_FP32: 320000 B (sub at HERE)\n"
        "  amax [1, 1] DT_FP32: 32 B (amax at HERE)"
    )
    with pytest.raises(LoweringError) as refused:
        kernel.lowered(((1, 80_000), "float32"), ((1, 80_000), "float32"))
    assert re.fullmatch(re.escape(text).replace("HERE", r"test_lowered\.py:\d+"), str(refused.value)), refused.value


def test_float32_of_bfloat16_arithmetic_is_no_reason_to_refuse_a_tile() -> None:
    """[256, 128] bfloat16 fits four times over; in float32 it does not, so the tile is worked on in parts."""

    def lowered(dtype: pypto.DataType, cast: bool) -> Any:
        @pypto.frontend.jit
        def kernel(a: pypto.Tensor([512, 128], dtype), b: pypto.Tensor([512, 128], dtype)):
            pypto.set_vec_tile_shapes(256, 128)
            x = pypto.cast(a, FP32) if cast else a
            found = x * pypto.exp(x) + x
            b[:] = pypto.cast(found, dtype) if cast else found

        return kernel.lowered(*(((512, 128), dtype.asc.name),) * 2)

    text = str(lowered(BF16, False))
    assert (
        "in tiles of [64, 128]\n    parts of tiles of [256, 128]: float32 for bfloat16 arithmetic has no room else\n"
        in text
    )
    assert "tiles of [256, 128]\n" in str(lowered(FP16, False))
    with pytest.raises(
        LoweringError, match=r"the vector tile \[256, 128\] of cast_2 .* the tile \[128, 128\] would fit"
    ):
        lowered(BF16, True)  # float32 that the kernel itself asks for is the kernel's to fit
