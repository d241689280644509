"""What the account predicts is what the machine answers: within 10 % on the operators' examples."""

from __future__ import annotations

import pytest

from ascend_sim.api import run
from ascend_sim.explain import account
from ascend_sim.explain.whatif import SCENARIOS
from tests.explain.kernels import EXAMPLES

NEGLIGIBLE = 0.005  # of the duration: gains that share a port or L2 a little differently afterwards


@pytest.mark.parametrize(("op", "soc"), EXAMPLES)
def test_predictions_hold_on_examples(op, soc):
    result = run(op, values=False, soc=soc)
    found = account(result.program, result.timeline, result.chip)
    for key in SCENARIOS:
        answer = found.what_if(key)
        assert answer.base_us == pytest.approx(result.duration_us)
        predicted = answer.base_us - found.predicted_us(key)
        assert predicted == pytest.approx(answer.gain_us, rel=0.1, abs=NEGLIGIBLE * answer.base_us), key
    assert max(answer.gain_us for answer in found.answers) > 0.05 * result.duration_us
    assert found.answers == sorted(found.answers, key=lambda answer: -answer.gain_us)
