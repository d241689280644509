"""Tilings that users bring."""

from __future__ import annotations

import json
import re
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_sim.cli.check_tiling import checked_text
from ascend_sim.errors import InputError
from ascend_sim.host.given import given_tiling
from ascend_sim.host.registry import operator_named
from ascend_sim.report.style import PLAIN
from ascend_sim.sampling.calls import TimedCall
from ascend_sim.soc import load
from ascend_sim.tune.check import check_tiling
from ascend_sim.tune.processes import Processes
from ascend_sim.tune.search import tune

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
        b"\xef\xbb\xbf" + json.dumps({**CALL.own.to_json(), "meaning": "\u00d7"}, ensure_ascii=False).encode(),
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
    assert (found.agrees, found.verdict) == (True, "own")
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


BIG = 10**30


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "{} is empty"),
        (b"abc", "{} holds text that is neither JSON nor integers"),
        (b"[1.5]", "{}: word 0 is 1.5, it must be an integer"),
        (b"[true]", "{}: word 0 is True, it must be an integer"),
        (b"[1, 2, 3]", "the tiling data has 3 words, the tiling struct has 61"),
        (b"1 2 0x3", "the tiling data has 3 words, the tiling struct has 61"),
        (bytes(8 * 61 + 3), "{} holds 491 B, which is no whole number of words: the last has 8 B"),
        (f"[{BIG}]".encode(), f"{{}}: word 0 is {BIG}, which no int64 holds"),
        (f"[{'9' * 5000}]".encode(), "{} holds text that is neither JSON nor integers"),
        (b"[" * 100_000, "{} holds text that is neither JSON nor integers"),
        (b"7", "the tiling data has 1 word, the tiling struct has 61"),
        (b'{"ubCalcNum": "three"}', "{}: ubCalcNum is 'three', it must be an integer"),
        (b'{"ubCalcNum": [3]}', "{}: ubCalcNum is [3], it must be an integer"),
        (b'{"ubCalcNum": -3}', "{}: ubCalcNum is -3, it must not be negative"),
        (b'{"op": "Other", "data": {"ubCalcNum": 3}}', "{} is for op Other, the call for InplacePartialRotaryMul"),
        (
            b'{"ubFactor": 1, "bufferNum": "two"}',
            "field bufferNum of the tiling data is 'two', it has to be a whole number",
        ),
        (b'{"key": 1.5, "data": {"ubCalcNum": 3}}', "{}: key is 1.5, it must be an integer"),
        (b"[" + b"1, " * 62 + b"5]", "the tiling data has 63 words, the tiling struct has 61, and the words behind it"),
        (b"{}", "the tiling data is for no kernel of this operator: one of ubFactor (fast), ubCalcNum (split S) and"),
    ],
)
def test_files_that_are_none(content: bytes, text: str, tmp_path: Path):
    path = tmp_path / "tiling"
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"^{re.escape(text.format(f'tiling file {path}'))}"):
        check_tiling(CALL, path)


def test_a_tiling_of_another_chip():
    with pytest.raises(InputError, match=r"^the tiling is for soc ascend950, the call for ascend910b$"):
        check_tiling(CALL, replace(CALL.own, soc="ascend950"))


def test_what_has_no_such_field_or_is_no_file(tmp_path: Path):
    with pytest.raises(InputError, match=r"^the tiling has ubCalcNumm; the tiling's fields are B, CosB, S,"):
        check_tiling(CALL, {**CALL.own.data, "ubCalcNumm": 3})
    with pytest.raises(InputError, match=r"^tiling file .*none cannot be read: No such file or directory$"):
        check_tiling(CALL, tmp_path / "none")
    with pytest.raises(InputError, match=r"^tiling file .* cannot be read: Is a directory$"):
        check_tiling(CALL, tmp_path)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"block_dim": 20}, "block_dim is 20, the fields are those of block_dim 40"),
        ({"key": 1}, "key is 1, the fields are those of key 2000"),
        ({"path": "split_bsn"}, "path is split_bsn, with the other fields it has to be split_s"),
        ({"usedCoreNum": 0}, "its block dim is 0; allowed are 1 to 65,535"),
        ({"usedCoreNum": 10**12}, "its block dim is 1,000,000,000,000; allowed are 1 to 65,535"),
    ],
)
def test_what_contradicts_itself(changes: dict[str, Any], fault: str):
    found = check_tiling(CALL, {"key": CALL.own.key, "block_dim": CALL.own.block_dim, **CALL.own.data, **changes})
    assert fault in found.faults
    assert found.to_json()["agrees_with_own"] is False
    assert "Agrees" not in checked_text(found, PLAIN)


def test_the_verdict_is_that_of_tune():
    tuning = tune(OP, CALL.planned.infos, {"partial_slice": (0, 64)}, CALL.chip, limit=8, executor=Processes(1))
    verdicts = set()
    for trial in tuning.trials:
        found = check_tiling(CALL, trial.tiling)
        assert (found.verdict, found.expected) == (tuning.verdict(trial), tuning.expected)
        verdicts.add(found.verdict)
        lines = checked_text(found, PLAIN).splitlines()
        assert any(line.startswith("Time") and line.endswith(f"us: {found.verdict}") for line in lines) == (
            found.verdict != "own"
        )
        words = " ".join(" ".join(lines).split())
        assert f"Error {found.tie_text}" in words
        told = found.to_json()
        assert (told["verdict"], told["expected_error"]) == (found.verdict, tuning.expected.to_json())
    assert verdicts > {"own"}


def test_an_own_choice_that_is_not_legal_agrees_with_itself():
    rope = operator_named("rope_grad")
    x, table = ((16, 64 * 128), "float16"), ((16, 128), "float16")
    many = {"q_embedded_grad": x, "k_embedded_grad": x, "cos": table, "sin": table}
    call = TimedCall(rope, many, {"qSeqLen": (16,)}, load("Ascend910B3", {"cores.aiv": "32"}))
    found = check_tiling(call, call.own)
    assert (found.ok, found.agrees, found.verdict) == (False, True, None)


def test_more_blocks_than_cores():
    small = TimedCall(OP, CALL.planned.infos, {"partial_slice": (0, 64)}, load("Ascend910B3", {"cores.aiv": "16"}))
    found = check_tiling(small, CALL.own)
    assert found.ok
    assert found.balance == 100 / 16 / 7  # 20 blocks of 3 rows, 20 of 2: some core gets 3 + 2 + 2
    assert found.differences["block dim"] == (40, 16)
    assert "40 on 16 cores: more than there are, they take turns" in checked_text(found, PLAIN)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_numbers_end_in_faults_or_a_clear_error(data: st.DataObject):
    name = data.draw(st.sampled_from([name for name, value in CALL.own.data.items() if isinstance(value, int)]))
    value = data.draw(st.sampled_from([0, 1, 2, 3, 63, 1000, 65536, 2**31, 2**63 - 1]) | st.integers(0, 200))
    fields = {**CALL.own.data, name: value}
    try:
        _, faults = given_tiling(OP, CALL.context, CALL.own, fields)
    except InputError:
        return
    assert all(isinstance(fault, str) for fault in faults)
