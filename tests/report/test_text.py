from __future__ import annotations

import io

import pytest

from ascend_sim.host.planning import tiling
from ascend_sim.report.result import Result
from ascend_sim.report.strip import first_tiles
from ascend_sim.report.style import Style, percent, size, style_for, us
from ascend_sim.report.values import UNCHECKED, Values
from ascend_sim.soc import load

from . import handmade as hm

ROPE = "inplace_partial_rotary_mul"
CHIP = load("ascend910b", {"hbm.bytes": 2**36})


def result(**changes):
    program, timeline = hm.two_blocks()
    inputs = {"x": ((2, 32, 8, 128), "float16"), "cos": ((2, 32, 1, 64), "float16"), "sin": ((2, 32, 1, 64), "float16")}
    fields = {
        "op": ROPE, "kernel": "add_kernel", "chip": CHIP, "program": program, "timeline": timeline,
        "wall_s": 0.123, "l2": "warm", "cold_start_us": 0.0, "tiling": tiling(ROPE, inputs, {"partial_slice": [0, 64]}),
        "values": Values(True, True, True, 0.0, 0.0, {"absolute": 0.0, "relative": 0.0}), "call": "x (2, 32, 8, 128)",
        "warnings": ["heads 256 to 299 are not written"],
    }  # fmt: skip
    return Result(**(fields | changes))


SUMMARY = """\
inplace_partial_rotary_mul on Ascend910B3 ------------------------------------------------------
Chip       Ascend910B3 (ascend910b), 40 vector cores at 1800 MHz
           UB 192 KiB a core, L2 192 MiB (warm)
Call       x (2, 32, 8, 128)
Kernel     add_kernel, 2 blocks, 24 instructions, simulated in 0.12 s
Tiling     key 2000: general path, float16: positions over cores, whole positions per UB step
           block dim 40, workspace 16 MiB
           24 front cores: 2 rows each, 1 loop of 2 rows
           16 tail cores: 1 row each, 1 loop of 1 row
UB         20,480 of 196,352 B (10.4 %) ##..................
           inQueX 2,048 B, inQueCos 2,048 B, outQueY 2,048 B, tmpFp32Buf1 4,096 B,
           tmpFp32Buf2 4,096 B, tmpFp32Buf3 4,096 B, gatherOffsetBuf 2,048 B
Values     right: exact, every bit equals the golden
Time       Task Duration 1.45 us = launch 0.600 + cores 0.850
           AIV time     mean 0.600, min 0.400, max 0.800 us
Pipes      aiv_scalar      0.170 us  27.5 %  #######...................         0 instr
           aiv_vec        0.0900 us  15.0 %  ####......................        12 instr
           aiv_mte2        0.300 us  50.0 %  #############.............         6 instr  <- limit
           aiv_mte3        0.150 us  25.0 %  ######....................         6 instr
Limit      aiv_mte2, only 50.0 % busy: waits decide, not one pipe's work
Waits      mean per core (x: in all), limiting pipe first
           aiv_mte3        0.370 us  61.8 %       3x  add.py:30 <- Muls add.py:22 (V_MTE3)
           aiv_vec         0.295 us  49.2 %       3x  add.py:20 <- DataCopy add.py:10 (MTE2_V)
           aiv_vec        0.0330 us   5.5 %       3x  add.py:23 <- Muls add.py:22 (PipeBarrier)
GM         read        6 KiB at     7.2 GB/s, L2 hit 100.0 %, HBM 0 B
           written     6 KiB at     7.2 GB/s, L2 hit 50.0 %, HBM 3 KiB
Timeline   block 0, whole run: 0 to 0.400 us, 0.0052 us a column
           scalar  .aabcd.......................................................................
           mte2    .aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa....................................
           vec     ........................................bbbbbbbcccccc........................
           mte3    ....................................................dddddddddddddddddddd.....
           a DataCopy add.py:10, b Add add.py:21, c Muls add.py:22, d DataCopy add.py:31
Warning    heads 256 to 299 are not written
Note       hbm.bytes is 68719476736 B, in place of 64 GiB (official, RT) of ascend910b.yaml
Note       waits for results of Muls are 5.5 % of the AIV time: their timing.vector.tail_cycles
           are assumed"""


def test_the_whole_summary():
    assert result().summary(Style(unicode=False)) == SUMMARY


def test_no_line_is_wider_than_asked_for():
    for width in (80, 100):
        lines = result().summary(Style(width=width)).splitlines()
        assert max(len(line) for line in lines) <= width


def test_colours_only_add_escape_sequences():
    import re  # noqa: PLC0415

    coloured = result().summary(Style(color=True, unicode=False))
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == SUMMARY


@pytest.mark.parametrize(
    ("values", "lines"),
    [
        (UNCHECKED, ["Values     not computed"]),
        (
            Values(True, True, False, 1e-3, 0.25, {"absolute": 0.0, "relative": 0.5}),
            ["Values     right: max abs error 0.001, max rel error 0.25 (allowed abs 0 + rel 0.5)"],
        ),
        (
            Values(True, False, False, 2.0, 0.5, {"absolute": 0.0, "relative": 0.0}, 3, "x[0, 1] is 4, golden 2"),
            [
                "Values     WRONG: max abs error 2, max rel error 0.5 (allowed abs 0 + rel 0)",
                "           3 elements wrong, first x[0, 1] is 4, golden 2",
            ],
        ),
    ],
)
def test_values_line(values, lines):
    text = result(values=values).summary().splitlines()
    at = next(i for i, line in enumerate(text) if line.startswith("Values"))
    assert text[at : at + len(lines)] == lines


def test_a_kernel_of_the_users_own_has_no_tiling_and_no_values():
    text = result(op="add_kernel", tiling=None, values=UNCHECKED).summary()
    assert "Tiling" not in text
    assert "Values" not in text
    assert "Task Duration 1.45 us" in text


def test_cold_start_later_launches_and_expected_error_are_named():
    text = result(
        cold_start_us=5.5,
        l2="cold",
        later_us=[1.2, 1.0],
        expect=lambda soc, us: {"text": f"of {us:.2f} us on {soc}"},
    ).summary()
    assert "a cold start takes 5.50 us of it" in text
    assert "the 2 launched after it take 1.10 us each" in text
    assert "expected error of 1.45 us on ascend910b" in text
    assert "Task Duration 1.45 us" in text
    assert "L2 192 MiB (cold)" in text


def test_an_empty_kernel_still_has_a_summary():
    program, timeline = hm.launch([hm.core(0, [], [], finish=0)])
    text = result(program=program, timeline=timeline).summary()
    assert "Limit      nothing to do" in text
    assert "Waits" not in text
    assert "Timeline" not in text


def test_the_strip_ends_after_the_third_store():
    times = [row for tile in range(5) for row in hm.shifted(hm.TILE_TIMES, 400 * tile, 8 * tile)]
    strip = first_tiles(hm.core(0, hm.TILE * 5, times, finish=2000), 88)
    assert strip.cut
    assert strip.cycles == 2 * 400 + 374
    rows = dict(strip.rows)
    assert rows["mte3"].count("d") == 26  # 7.5 columns a store, those that it only touches included
    assert rows["mte3"].startswith(" " * 20 + "d")
    assert [letter for letter, _ in strip.legend] == ["a", "b", "c", "d"]


def test_numbers_as_people_read_them():
    assert [us(v) for v in (0.03128, 0.5, 4.214, 123.45, 1239689.1)] == [
        "0.0313", "0.500", "4.21", "123.5", "1,239,689.1",
    ]  # fmt: skip
    assert [size(v) for v in (12, 2048, 1536, 192 << 20, 3 << 30)] == ["12 B", "2 KiB", "1.5 KiB", "192 MiB", "3 GiB"]
    assert percent(0.1234) == "12.3 %"


def test_a_stream_that_cannot_show_blocks_gets_plain_signs():
    ascii_stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    assert style_for(ascii_stream) == Style(color=False, unicode=False, width=96)
    assert style_for(io.TextIOWrapper(io.BytesIO(), encoding="utf-8")).unicode


def test_colours_need_a_terminal_and_no_no_color(monkeypatch):
    class Terminal(io.TextIOWrapper):
        def isatty(self):
            return True

    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = Terminal(io.BytesIO(), encoding="utf-8")
    assert style_for(stream) == Style(color=True, unicode=True, width=100)
    monkeypatch.setenv("NO_COLOR", "1")
    assert not style_for(stream).color
