"""Time of the skeleton: against the kernel written by hand, by tile, by unrolling; and what its page says of it."""

from __future__ import annotations

import itertools
import re
from functools import cache
from pathlib import Path

import pytest

import ascend_sim

SOC = "Ascend910B3"
PAGE = Path(__file__).parents[3] / "ops" / "pypto_rope" / "README.md"
AGED = 0.05  # how far the page may fall behind the machine's constants
LONG, SHORT = (64, 1024, 128), (64, 256, 128)  # of the page's two tables


@cache
def skeleton_us(dtype: str, rows: int, unroll: int = 1, shape: tuple[int, ...] = SHORT) -> float:
    info = (shape, dtype)
    attrs = {"kernel": "skeleton", "tile": [1, rows, shape[-1]], "unroll": [unroll]}
    return ascend_sim.run("pypto_rope", info, info, info, soc=SOC, values=False, **attrs).duration_us


@cache
def by_hand_us(dtype: str, shape: tuple[int, ...]) -> float:
    """Mode half of rotary_position_embedding, cos of the shape of x."""
    info = ((shape[0], shape[1], 1, shape[2]), dtype)
    return ascend_sim.run("rotary_position_embedding", info, info, info, mode=0, soc=SOC, values=False).duration_us


def test_ratio_to_the_kernel_written_by_hand() -> None:
    """In float32 both wait for MTE2; bfloat16 is rounded after every operation; float16 is not widened at all."""
    assert skeleton_us("float32", 32) / by_hand_us("float32", SHORT) == pytest.approx(1, abs=0.05)
    assert 1.1 < skeleton_us("bfloat16", 64) / by_hand_us("bfloat16", SHORT) < 1.6
    assert 0.45 < skeleton_us("float16", 32) / by_hand_us("float16", SHORT) < 0.75


def test_bigger_tiles_are_faster_until_a_frame_is_lost() -> None:
    times = [skeleton_us("float16", rows) for rows in (8, 16, 32)]
    assert times == sorted(times, reverse=True)
    assert times[0] > 1.4 * times[-1]  # small tiles are bound by the scalar unit
    assert skeleton_us("float16", 128) > 1.2 * skeleton_us("float16", 64)  # loads without a second frame


def test_unrolling_helps_where_instructions_wait_for_each_other() -> None:
    assert skeleton_us("float16", 16, 2) < 0.97 * skeleton_us("float16", 16)


def rows_of(title: str) -> list[list[str]]:
    """The cells of the first table after the line of the page that begins with `title`, without its head."""
    lines = PAGE.read_text().partition(f"\n{title}")[2].splitlines()
    table = itertools.takewhile(lambda line: line.startswith("|"), itertools.dropwhile(lambda x: x[:1] != "|", lines))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in list(table)[2:]]


def test_the_page_tells_the_ratio() -> None:
    rows = rows_of("64 x 1024 x 128")
    assert [row[0] for row in rows] == ["float32", "float32", "float16", "bfloat16"]
    for dtype, by_hand, skeleton, ratio in rows:
        time, tile = re.findall(r"^([\d.]+) us, \(1, (\d+), 128\)", skeleton)[0]
        hand = by_hand_us(dtype, LONG)
        found = skeleton_us(dtype, int(tile), 1, LONG)
        assert float(by_hand.removesuffix(" us")) == pytest.approx(hand, rel=AGED)
        assert float(time) == pytest.approx(found, rel=AGED)
        assert float(ratio) == pytest.approx(found / hand, rel=AGED)


def test_the_page_tells_the_time_of_tiles() -> None:
    rows = rows_of("Bigger tiles")
    assert [int(row[0]) for row in rows] == [8, 16, 32, 64, 128]
    for tile, *times in rows:
        for unroll, text in zip((1, 2), times, strict=True):
            assert float(text) == pytest.approx(skeleton_us("float16", int(tile), unroll), rel=AGED)
