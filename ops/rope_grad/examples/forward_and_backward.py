"""The pair: rotate q with atb_rope, go back with rope_grad, and with atb_rope again, sin negated."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import ascend_sim

Array = npt.NDArray[Any]
TOKENS, HEADS = 200, 4


def rotate(x: Array, cos: Array, sin: Array) -> tuple[Array, float]:
    """The forward operator on q alone, as it takes both: (rotated, us)."""
    lengths = np.array([len(x)], np.int32)
    done = ascend_sim.run("atb_rope", x, x, cos, sin, lengths, rotaryCoeff=2)
    return done.outputs["q_embedded"], done.duration_us


rng = np.random.default_rng(0)
angles = np.arange(TOKENS)[:, None] * 10000.0 ** (-np.arange(64) / 64)
cos, sin = (np.tile(turn(angles), (1, 2)).astype(np.float16) for turn in (np.cos, np.sin))
q, loss_gradient = (rng.standard_normal((TOKENS, 128 * HEADS)).astype(np.float16) for _ in range(2))

_, forward_us = rotate(q, cos, sin)
backward = ascend_sim.run("rope_grad", loss_gradient, loss_gradient, cos, sin, qSeqLen=[TOKENS])
again, again_us = rotate(loss_gradient, cos, -sin)

g, c, s = (a.astype(np.float64).reshape(TOKENS, -1, 2, 64) for a in (loss_gradient, cos, sin))
turned = np.stack([(g * s)[:, :, 1], -(g * s)[:, :, 0]], axis=2)
gradient = (g * c + turned).reshape(TOKENS, -1)
for name, found, us in (
    ("rope_grad", backward.outputs["q_grad"], backward.duration_us),
    ("atb_rope with -sin", again, again_us),
):
    error = np.sqrt(np.mean((found - gradient) ** 2) / np.mean(gradient**2))
    print(f"{name:20} {us:6.2f} us, off the gradient by {100 * error:6.2f} %")
print(f"{'(atb_rope forward':20} {forward_us:6.2f} us)")
