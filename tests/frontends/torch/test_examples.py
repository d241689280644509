"""The calling samples of the documents, as they stand in the operators' examples: single-op, training, graph mode."""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'ascend-sim[torch]'")

from ascend_sim.frontends.torch import uninstall_shims  # noqa: E402

OPS = Path(__file__).parents[3] / "ops"
SUMMARY = [r"Session on Ascend950PR_9589 ─+", r"Operator .*", r"\w+ +1 .*", r"\w+ +1 .*", r"2 calls, .* us simulated"]


@pytest.fixture(autouse=True)
def shims_taken_back() -> Iterator[None]:
    yield
    uninstall_shims()


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        (
            "inplace_partial_rotary_mul/examples/torch_single_op.py",
            [r"first element: (-?\d\.\d{3}), by hand \1", r"outside the slice unchanged: True"],
        ),
        (
            "inplace_partial_rotary_mul/examples/torch_graph_mode.py",
            [r"compiled and single-op mode agree: True", r"x was changed in place: True"],
        ),
        pytest.param(
            "inplace_partial_rotary_mul/examples/torch_training.py",
            [
                r"y\.grad \(2, 32, 8, 128\), x\.grad \(2, 32, 8, 128\), r1\.grad None",
                r"largest deviation from 2x: 0\.00\d",
                *SUMMARY,
            ],
        ),
        (
            "apply_rotary_pos_emb/examples/torch_single_op.py",
            [
                r"query \(1, 64, 8, 128\), key \(1, 64, 8, 128\)",
                r"largest deviation from the formula: 0\.0\d+",
            ],
        ),
        (
            "apply_rotary_pos_emb/examples/torch_graph_mode.py",
            [r"compiled and single-op mode agree: True"],
        ),
        (
            "apply_rotary_pos_emb/examples/torch_training.py",
            [
                r"query\.grad \(1, 64, 8, 128\)",
                r"key\.grad \(1, 64, 8, 128\)",
                r"cos\.grad \(1, 64, 1, 128\)",
                r"sin\.grad \(1, 64, 1, 128\)",
                r"largest deviation of cos\.grad: 0\.00\d+",
                *SUMMARY,
            ],
        ),
        (
            "apply_rotary_pos_emb_grad/examples/torch_single_op.py",
            [
                r"grad_query shape: \(1, 64, 8, 128\)",
                r"grad_key shape: \(1, 64, 8, 128\)",
                r"grad_cos shape: \(1, 64, 1, 128\)",
                r"grad_sin shape: \(1, 64, 1, 128\)",
                r"without query and key: grad_cos None, grad_sin None",
                r"Name +Self NPU +Self NPU % +NPU total +NPU time avg +# of Calls",
                r"ApplyRotaryPosEmbGrad +[0-9.]+us +100\.00% +[0-9.]+us +[0-9.]+us +2",
            ],
        ),
        (
            "apply_rotary_pos_emb_grad/examples/torch_graph_mode.py",
            [
                r"largest deviation from query \d\.\de-07",
                r"largest deviation from key \d\.\de-07",
                *SUMMARY,
            ],
        ),
        (
            "rotary_position_embedding/examples/torch_training.py",
            [
                *(rf"step +{step}: loss 0\.\d{{6}}" for step in (0, 5, 10, 15, 19)),
                r"Session on Ascend910B3 ─+",
                r"Operator .*",
                r"RotaryPositionEmbeddingGrad +20 .*",
                r"RotaryPositionEmbedding +20 .*",
                r"40 calls, [0-9.]+ us simulated",
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
