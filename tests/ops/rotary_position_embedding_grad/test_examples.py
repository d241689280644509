"""The examples run as they stand, and print what they promise."""

from __future__ import annotations

from helpers.examples import run_python

OP = "rotary_position_embedding_grad"


def test_round_trip() -> None:
    lines = run_python(OP, "round_trip.py")
    assert float(lines[0].split()[-1]) < 2e-6
    assert lines[1].endswith("dcos (1, 64, 1, 128)")
    assert lines[2].startswith("forward ")


def test_phases_950() -> None:
    lines = [line.split(" us") for line in run_python(OP, "phases_950.py")]
    assert [line[0].split()[1] for line in lines] == ["A", "AB", "BAB", "ABA", "BA"]
    assert all(0 < float(alone.split()[-1]) < float(full.split()[-1]) for alone, full, _ in lines)
