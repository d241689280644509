"""The examples of the doors that need no PyTorch run as they stand and print what they promise."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

OPS = Path(__file__).parents[2] / "ops"


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        (
            "inplace_partial_rotary_mul/examples/aclnn_two_phase.py",
            [
                r"workspace 16777216 B",
                r"first rotated element (-?\d\.\d{5}), by hand \1; \d\.\d\d us simulated",
                r"4 allocated, 3 freed, 1 live \(16777216 B\), peak \d+ B",
                r"  workspace: 16777216 B at 0x[0-9a-f]+",
                r"4 allocated, 4 freed, 0 live \(0 B\), peak \d+ B",
            ],
        ),
        (
            "rotary_position_embedding/examples/aclnn_two_phase.py",
            [
                r"queued: <stream on Ascend910B3: 0 done, 2 waiting>",
                r"largest of x .*",
                r"aclnnRotaryPositionEmbedding at  0\.00 us, (\d\.\d\d) us",
                r"aclnnRotaryPositionEmbedding at  \d\.\d\d us, \d\.\d\d us",
            ],
        ),
        (
            "inplace_partial_rotary_mul/examples/graph_ir.py",
            [
                r"inferred: \(-1, 32, 8, 128\) float16",
                r"output \(2, 32, 8, 128\), largest .*",
                r"Graph rope_layer on Ascend910B3 ─+",
                r"Node +Operator +Key +Blocks +Start us +Time us +Share",
                r"rope_low +InplacePartialRotaryMul +2000 +40 +0\.0000 +\d\.\d\d +\d\d\.\d %",
                r"rope_high +InplacePartialRotaryMul +2000 +40 +\d\.\d\d +\d\.\d\d +\d\d\.\d %",
                r"2 nodes, \d\.\d\d us simulated",
            ],
        ),
        pytest.param(
            "inplace_partial_rotary_mul_grad/examples/aclnn_two_phase.py",
            [r"first element (-?\d\.\d{5}), by hand \1; \d\.\d\d us simulated"],
        ),
        pytest.param(
            "inplace_partial_rotary_mul_grad/examples/graph_ir.py",
            [
                r"largest deviation from x: [0-9.]+e-07",
                r"Graph there_and_back on Ascend950PR_9589 ─+",
                r"Node .*",
                r"there +InplacePartialRotaryMul .*",
                r"back +InplacePartialRotaryMulGrad .*",
                r"2 nodes, \d\.\d\d us simulated",
            ],
        ),
        (
            "apply_rotary_pos_emb_grad/examples/aclnn_two_phase.py",
            [
                r"largest deviation of grad_cos (0\.0e\+00|\d\.\de-0[78]); \d+\.\d\d us simulated",
                r"11 allocated, 11 freed, 0 live \(0 B\), peak \d+ B",
            ],
        ),
    ],
)
def test_output(path: str, lines: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(OPS / path), run_name="__main__")
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == len(lines), printed
    for line, pattern in zip(printed, lines, strict=True):
        assert re.fullmatch(pattern, line), line
