from __future__ import annotations

import json

import pytest

from ascend_sim.accuracy.kernels import FAMILIES
from ascend_sim.accuracy.rows import PROTOCOLS, all_rows, choose, read_rows
from ascend_sim.errors import InputError
from ascend_sim.soc import load

ROWS = all_rows()
GOOD = {
    "id": "a",
    "soc": "Ascend910B3",
    "group": "g",
    "kernel": "k",
    "kind": "copy",
    "protocol": "P1",
    "launch_kind": "back_to_back",
    "l2": "warm",
    "block_dim": 1,
    "shapes": [[8]],
    "dtype": "float16",
    "metrics": {"duration_us": 2.0},
    "source": "s",
    "trust": "high",
    "family": "copy_loop",
}


def test_every_required_row_is_rebuilt():
    required = [row for row in ROWS if row.required]
    of_950 = [row for row in required if row.soc.startswith("Ascend950")]
    assert (len(required) - len(of_950), len(of_950)) == (74, 48)  # those that can be rebuilt from their sources
    assert {row.family for row in required} <= set(FAMILIES)


def test_every_row_has_a_known_chip_and_protocol():
    for name in {row.soc for row in ROWS}:
        assert load(name).variant == name
    assert {row.protocol for row in ROWS} <= set(PROTOCOLS)


def test_profiled_rows_are_cold_and_repeated_ones_warm():
    assert {row.l2 for row in ROWS if row.protocol == "P2"} == {"cold"}
    assert {row.l2 for row in ROWS if row.protocol in ("P1", "P3")} == {"warm"}


def test_rows_that_are_not_rebuilt_say_why():
    left_out = [row for row in ROWS if row.family is None]
    assert left_out
    assert all(row.reason and not row.required for row in left_out)


def test_choose_takes_underscores_for_hyphens():
    assert {row.family for row in choose(ROWS, "bank_conflict_ub")} == {"vector_conflicts"}
    assert len(choose(ROWS, "Bank Conflict UB")) == 8
    assert choose(ROWS, None) == list(ROWS)
    assert choose(ROWS, "no such row") == []


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"protocol": "P9"}, "f.jsonl:1: protocol 'P9'; allowed are P1, P2, P3, P4, P5, P6, step"),
        ({"l2": "hot"}, "f.jsonl:1: l2 'hot'; allowed are warm, cold"),
        ({"metrics": {"aiv_us": 1.0}}, "f.jsonl:1: metrics need duration_us or loop_us"),
        ({"reason": "why"}, "f.jsonl:1: a row has either a family (how it is rebuilt) or a reason why it cannot be"),
        ({"blocks": 3}, "f.jsonl:1: unknown field 'blocks'; a row has block_dim, dtype, family, group, id, kernel, "),
    ],
)
def test_bad_rows_are_refused(tmp_path, change, text):
    file = tmp_path / "f.jsonl"
    file.write_text(json.dumps({**GOOD, **change}) + "\n")
    with pytest.raises(InputError) as error:
        list(read_rows(file))
    assert str(error.value).startswith(text)


def test_lines_that_are_no_rows_are_refused(tmp_path):
    file = tmp_path / "f.jsonl"
    for line, text in (("[1]", "f.jsonl:1: a row must be a JSON object, not list"), ("{", "f.jsonl:1: not a JSON ")):
        file.write_text(line + "\n")
        with pytest.raises(InputError) as error:
            list(read_rows(file))
        assert str(error.value).startswith(text)
