"""The instruction sequence of a core, against the published kernels': order, bursts and gaps, repeats, addresses."""

from __future__ import annotations

from typing import Any

import pytest

import ascend_sim
from ascend_sim.program import CopyWork, Instr, PipeID, VectorWork

OP = "apply_rotary_pos_emb"


def instructions(
    positions: int, q_heads: int, k_heads: int, dtype: str, dims: tuple[int, int] = (128, 128), **overrides: Any
) -> list[Instr]:
    """Copies and vector instructions of the only core of a call with so many tokens."""
    full, dim = dims
    shapes = ((positions, q_heads, full), (positions, k_heads, full), (positions, 1, dim), (positions, 1, dim))
    chip = {"cores.aiv": 1, **{name.replace("_", "."): value for name, value in overrides.items()}}
    result = ascend_sim.run(
        OP, *((shape, dtype) for shape in shapes), layout="TND", overrides=chip, values=False, soc="ascend910b"
    )
    return [i for i in result.program.blocks[0].instrs if isinstance(i.work, CopyWork | VectorWork)]


def told(instrs: list[Instr]) -> str:
    """Names in order, with G for a load, W for a store."""
    letters = {PipeID.PIPE_MTE2: "G", PipeID.PIPE_MTE3: "W"}
    return " ".join(letters.get(i.pipe, "Move" if i.name == "DataCopy" else i.name) for i in instrs)


OWN = "G G G G Muls Move Move"
WIDENED = "G G G G Cast Move Move Cast Cast Muls"


@pytest.mark.parametrize(
    ("positions", "q_heads", "dtype", "sequence"),
    [
        (1, 3, "float16", f"{OWN} Mul Mul Add W W"),
        (1, 3, "float32", f"{OWN} Mul Mul Mul Mul Add W W"),  # 128 elements are two repeats
        (1, 3, "bfloat16", f"{WIDENED} Mul Mul Mul Mul Add Cast W W"),
        (3, 3, "float16", f"{OWN} {'Mul Mul ' * 3}Add W W"),  # position by position
        (9, 1, "float16", f"{OWN} {'Mul Mul ' * 2}Add W W"),  # head by head
        (9, 1, "bfloat16", f"{WIDENED} {'Mul Mul Mul Mul ' * 2}Add Cast W W"),
    ],
)
def test_the_sequence_of_one_piece(positions: int, q_heads: int, dtype: str, sequence: str) -> None:
    assert told(instructions(positions, q_heads, 1, dtype)) == sequence


def test_pieces_and_rounds() -> None:
    """15 KiB hold pieces of 3 positions that are computed 2 at a time: 7 positions are 2 + 1, 2 + 1 and 1."""
    found = instructions(7, 6, 2, "float16", (64, 64), ub_bytes="15 KiB")
    whole = f"{OWN} {'Mul Mul ' * 2}Add Mul Mul Add W W"
    assert told(found) == f"{whole} {whole} {OWN} Mul Mul Add W W"


def moved(instr: Instr) -> tuple[int, int, int]:
    return instr.work.blocks, instr.work.block_bytes, instr.work.gm_pitch_bytes


def test_whole_heads_come_in_two_copies() -> None:
    """A burst per position; in UB the other tensor's heads lie between."""
    found = instructions(3, 4, 2, "float16")
    cos, sin, q, k = found[:4]
    assert [moved(i)[:2] for i in (cos, sin)] == [(1, 3 * 256)] * 2
    assert [moved(i) for i in (q, k, *found[-2:])] == [(3, 4 * 256, 4 * 256), (3, 2 * 256, 2 * 256)] * 2
    assert k.writes[0].start - q.writes[0].start == 4 * 256


def test_half_heads_come_position_by_position() -> None:
    found = instructions(3, 4, 2, "float16", (128, 64))
    assert told(found) == f"G G {'G G ' * 3}Muls Move Move {'Mul Mul ' * 3}Add {'W W ' * 3}".rstrip()
    assert [moved(i) for i in found[2:8]] == [(4, 128, 256), (2, 128, 256)] * 3
    places = [i.writes[0].start for i in found[2:8]]
    assert [place - places[0] for place in places] == [0, 512, 768, 1280, 1536, 2048]


def test_a_single_half_key_head_comes_in_one_copy() -> None:
    found = instructions(3, 4, 1, "float16", (128, 64))
    assert told(found) == f"G G {'G ' * 4}Muls Move Move {'Mul Mul ' * 3}Add {'W ' * 4}".rstrip()
    assert [moved(i) for i in found[2:6]] == [(4, 128, 256)] * 3 + [(3, 128, 256)]


def test_repeats_and_strides() -> None:
    """Position by position a repeat is a head, whose line of angles stays; head by head it is a position."""
    by_position = [i for i in instructions(2, 4, 2, "float16") if i.name == "Mul"]
    assert [i.work.repeats for i in by_position] == [6] * 4
    assert {tuple(a.repeat_stride for a in i.work.accesses) for i in by_position} == {(256, 256, 0)}
    by_head = [i for i in instructions(4, 1, 1, "float16") if i.name == "Mul"]
    assert [i.work.repeats for i in by_head] == [4] * 4
    assert {tuple(a.repeat_stride for a in i.work.accesses) for i in by_head} == {(512, 512, 256)}
    (sign,) = (i for i in instructions(4, 1, 1, "float16") if i.name == "Muls")
    assert (sign.work.repeats, sign.work.elements, sign.work.count_form) == (4, 4 * 64, False)


@pytest.mark.parametrize(
    ("positions", "dtype", "buffers"),
    [
        (1, "float16", "cos by_sin sin by_cos heads out"),  # key 1
        (7, "float16", "cos by_sin sin heads by_cos out"),  # key 3
        (7, "bfloat16", "cos heads sin by_sin out x cos32"),  # key 4
    ],
)
def test_order_of_buffers(positions: int, dtype: str, buffers: str) -> None:
    """From the places that the first instructions touch."""
    found = instructions(positions, 6, 2, dtype, (64, 64), ub_bytes="15 KiB")
    by_sin, by_cos = [i.writes[0].start for i in found if i.name == "Mul"][:2]
    casts = [i.writes[0].start for i in found if i.name == "Cast"]
    places = dict(zip(("cos", "sin", "heads"), (i.writes[0].start for i in found), strict=False))
    places |= {"by_sin": by_sin, "out": next(i for i in found if i.pipe is PipeID.PIPE_MTE3).reads[0].start}
    places |= {"x": casts[0], "cos32": casts[1]} if casts else {"by_cos": by_cos}
    assert not casts or by_cos == places["heads"]  # bfloat16: the product takes the place of query and key
    assert sorted(places, key=lambda name: places[name]) == buffers.split()
