from __future__ import annotations

import pytest


def test_lists_lessons_and_steps(cli):
    shown = cli("learn")
    assert shown.code == 0
    assert "add   Vector add: from the scalar unit to double buffering and free banks" in shown.out
    assert "  4   only a slice of every head is rotated, in place" in shown.out
    assert "rope" not in cli("learn", "add").out


def test_a_step_against_the_one_before(cli):
    shown = cli("learn", "add", "4")
    assert shown.code == 0
    assert "-TILE = 128  # elements of a copy: 512 B" in shown.out
    assert "+TILE = 1024  # elements of a copy: 4 KiB" in shown.out
    assert "x faster" in shown.out
    assert "step4.md" in shown.out


def test_a_step_with_another_constant(cli):
    shown = cli("learn", "add", "5", "--set", "BUFFERS=1")
    assert shown.code == 0
    assert "BUFFERS=1" in shown.out
    assert "x slower" in shown.out


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["sub"], "error: there is no lesson 'sub'; the lessons are add, rope\n"),
        (["add", "7"], "error: lesson add has no step 7; its steps are 1 to 6\n"),
        (["add", "3", "--set", "X=1"], "error: step 3 of add has no constant 'X'; it has CORES, LENGTH, TILE\n"),
        (
            ["add", "--set", "TILE=1"],
            "error: --set changes a step: name lesson and step, for example `learn add 3 --set TILE=256`\n",
        ),
    ],
)
def test_refusals(cli, arguments, error):
    shown = cli("learn", *arguments)
    assert (shown.code, shown.out, shown.err) == (2, "", error)
