"""`run` of operators that have references to compare with, and of inputs that are drawn to fit."""

from __future__ import annotations

import numpy as np
import pytest

GRAD = ["run", "rope_grad"]
INPUTS = [
    *("-i", "q_embedded_grad=11,1024:float16", "-i", "k_embedded_grad=11,1024:float16"),
    *("-i", "cos=64,128:float16", "-i", "sin=64,128:float16"),
]
LENGTHS = ["--attr", "qSeqLen=2,1,4,4"]


@pytest.mark.parametrize("name", ["qSeqLen", "q_seq_len"])
def test_rope_grad_prints_like_every_other_operator(cli, name):
    answer = cli(*GRAD, *INPUTS, "--attr", f"{name}=2,1,4,4")
    assert (answer.code, answer.err) == (0, "")
    for text in (
        "rope_grad on Ascend910B3",
        "q_embedded_grad (11, 1024) float16",
        "qSeqLen=2,1,4,4",
        "key 0: one head per core",
        "block dim 8",
        "172,032 of 196,352 B",
        "exact, every bit equals the golden",
        "Task Duration ",
        "aiv_mte3",
        "Timeline   block 0",
        "kernel.py:",
    ):
        assert text in answer.out, text
    assert "Compare" not in answer.out


def test_compare_shows_both_and_the_error(cli):
    answer = cli(*GRAD, *INPUTS, *LENGTHS, "--compare", "true")
    assert answer.code == 0
    lines = answer.out.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("Compare "))
    assert lines[at - 1] == "Values     right: exact, every bit equals the golden"
    assert lines[at].startswith("Compare    with true: the gradient of the forward rotation, ")
    assert lines[at + 2].strip().startswith("max abs error ")
    assert lines[at + 2].endswith(" % of the reference's")
    assert lines[at + 3].strip().startswith("largest where ")


def test_compare_as_json(cli):
    found = cli(*GRAD, *INPUTS, *LENGTHS, "--compare", "true", "--json").json["comparison"]
    assert found.keys() == {"name", "description", "max_abs_error", "rms_error", "rms_ratio", "largest"}
    assert 0.5 < found["rms_ratio"] < 1.5
    assert cli(*GRAD, *INPUTS, *LENGTHS, "--json").json["comparison"] is None


def test_comparing_with_something_else_is_no_failure(cli):
    assert cli(*GRAD, "--compare", "true").code == 0


def test_unwritten_heads_are_told_and_wrong(cli):
    wide = [text.replace("=11,1024", "=11,5248") for text in INPUTS]
    answer = cli(*GRAD, *wide, *LENGTHS, "--soc", "Ascend910B4")
    assert answer.code == 3
    text = " ".join(answer.out.split())
    assert "41 heads on 40 vector cores" in text
    assert "heads 40 to 40 (columns 5120 to 5247) of q_grad and k_grad are never written" in text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ("rope_grad", "--compare", "truth"),
            "rope_grad has no reference 'truth' to compare with; its references are true",
        ),
        (
            ("inplace_partial_rotary_mul", "--compare", "true"),
            "inplace_partial_rotary_mul has no reference 'true' to compare with; its references are none",
        ),
        (
            ("rope_grad", "--compare", "true", "--no-values"),
            "comparing with reference 'true' needs values: run with them",
        ),
        (
            ("rope_grad", "--attr", "qSeqLen=2,65"),
            "RopeGrad: qSeqLen[1] is 65; allowed are 1 to 64, the rows of cos (ERROR_INVALID_PARAM, 1)",
        ),
        (
            ("rope_grad", "--soc", "ascend950"),
            "rope_grad is not supported by the operator library on ascend950; it exists on ascend910b, ascend910_93",
        ),
    ],
)
def test_refusals(refused, arguments, text):
    assert refused("run", *arguments) == text


def test_ops_tells_of_references(cli):
    answer = cli("ops", "rope_grad")
    assert "References (--compare)\n  true  the gradient of the forward rotation, " in answer.out
    assert "qSeqLen" in answer.out
    assert "also called q_seq_len" in answer.out
    assert list(cli("ops", "rope_grad", "--json").json["references"]) == ["true"]
    assert "References" not in cli("ops", "inplace_partial_rotary_mul").out


@pytest.mark.parametrize("operator", ["rope_grad", "atb_rope"])
def test_the_example_s_command_works(cli, operator):
    command = cli("ops", operator, "--json").json["command"].split()
    assert command[:2] == ["ascend-sim", "run"]
    assert cli(*command[1:], "--json").json["values"]["exact"] is True


def test_lengths_are_drawn_to_fit(cli, tmp_path):
    """Random sample lengths that do not add up would be of no use."""
    x, table = "50,64:float16", "20,32:float16"
    given = ["-i", f"q={x}", "-i", f"k={x}", "-i", f"cos={table}", "-i", f"sin={table}", "-i", "seqlen=3:int32"]
    attrs = ["--attr", "rotaryCoeff=2", "--attr", "cos_format=1"]
    answer = cli("run", "atb_rope", *given, *attrs, "--save", str(tmp_path / "o.npz"))
    assert answer.code == 0
    with np.load(tmp_path / "o.npz") as found:
        assert found["in_seqlen"].tolist() == [17, 17, 16]
