"""Tilings that users bring."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path

import pytest

from ascend_sim.cli.check_tiling import checked_text
from ascend_sim.errors import InputError
from ascend_sim.host.registry import operator_named
from ascend_sim.report.style import PLAIN
from ascend_sim.sampling.calls import TimedCall
from ascend_sim.soc import load
from ascend_sim.tune.check import check_tiling, read_tiling

OP = operator_named("inplace_partial_rotary_mul")
CALL = TimedCall(
    OP,
    {"x": ((1, 100, 4, 64), "float16"), "cos": ((1, 100, 1, 64), "float16"), "sin": ((1, 100, 1, 64), "float16")},
    {"partial_slice": (0, 64)},
    load("Ascend910B3"),
)
WORDS = [word or 0 for word in CALL.own.words]


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(CALL.own.to_json()).encode(),
        json.dumps({"ok": True, **CALL.own.to_json()}).encode(),
        json.dumps({"best": {"tiling": CALL.own.to_json()}}).encode(),
        json.dumps(WORDS).encode(),
        " ".join(map(str, WORDS)).encode(),
        struct.pack(f"<{len(WORDS) + 3}q", *WORDS, 0, 0, 0),
    ],
)
def test_the_own_tiling_in_every_form(content: bytes, tmp_path: Path):
    path = tmp_path / "tiling"
    path.write_bytes(content)
    found = check_tiling(CALL, path)
    assert (found.ok, found.differences, found.duration_us) == (True, {}, found.own_us)
    assert "with the operator's own choice" in checked_text(found, PLAIN)


def test_an_illegal_one(tmp_path: Path):
    path = tmp_path / "tiling.json"
    path.write_text(json.dumps({**CALL.own.data, "ubCalcNum": 900}))
    found = check_tiling(CALL, path)
    assert not found.ok
    assert found.duration_us is None
    assert found.faults[0] == "its buffers take 4,148,224 B of unified buffer, 196,352 B are there"
    assert found.differences == {"ubCalcNum": (900, 3)}
    assert found.to_json()["ok"] is False
    assert "Illegal" in checked_text(found, PLAIN)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"abc", "tiling file {} holds 3 B that are neither JSON, nor numbers in text, nor whole int64 words"),
        (b"[1.5]", "tiling file {} has neither fields of a tiling nor a list of int64 words"),
    ],
)
def test_files_that_are_none(content: bytes, text: str, tmp_path: Path):
    path = tmp_path / "tiling"
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"^{re.escape(text.format(path))}$"):
        read_tiling(path)


def test_too_few_words(tmp_path: Path):
    path = tmp_path / "tiling"
    path.write_text("1 2 3")
    with pytest.raises(InputError, match=r"^the tiling data has 3 words, the tiling struct has \d+$"):
        check_tiling(CALL, path)
    with pytest.raises(InputError, match=r"cannot be read: No such file or directory$"):
        read_tiling(tmp_path / "none")
