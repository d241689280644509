"""One instruction of a lowered program becomes another one, or is left out: values or order show it, for every one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from ascend_sim.oplib.pypto_rope import golden, interleave, rms_norm_rope, skeleton, vision

from ascend_sim import asc
from ascend_sim.errors import AscendSimError
from ascend_sim.frontends import pypto
from ascend_sim.frontends.pypto.lowering.run import CoreRun
from ascend_sim.host.device import Device

from .ordering import disorder

FLIPS: dict[Any, Any] = {
    asc.add: asc.sub,
    asc.sub: asc.add,
    asc.mul: asc.max,
    asc.muls: asc.adds,
    asc.adds: asc.muls,
    asc.rsqrt: asc.sqrt,
    asc.set_flag: asc.wait_flag,
    asc.wait_flag: asc.set_flag,
}
RNG = np.random.default_rng


@dataclass(frozen=True, slots=True)
class Sample:
    """A kernel with its inputs, and what it must leave in its outputs."""

    kernel: Any
    inputs: tuple[Any, ...]
    expected: tuple[Any, ...]

    def fault(self) -> str:
        """What a run shows to be wrong, or ""."""
        outputs = [np.full_like(right, 77) for right in self.expected]
        try:
            with Device(timing=False) as device:
                self.kernel(*self.inputs, *outputs)
        except AscendSimError as error:
            return str(error)
        for found, right in zip(outputs, self.expected, strict=True):
            if not np.allclose(found.astype(np.float32), right.astype(np.float32), rtol=1e-2, atol=1e-2):
                return "values"
        (launch,) = device.launches
        return "; ".join(disorder(launch.program))


def normal(shape: tuple[int, ...], dtype: Any, *seeds: int) -> list[Any]:
    return [RNG(seed).standard_normal(shape).astype(np.float32).astype(dtype) for seed in seeds]


def of_skeleton() -> Sample:
    """Two tasks a core on two cores' worth of rows, so that both frames of unified buffer are used."""
    x, cos, sin = normal((3, 4, 64), np.float16, 1, 2, 3)
    kernel = skeleton.rope_kernel(x.shape, pypto.DT_FP16, (1, 2, 64))
    return Sample(kernel, (x, cos, sin), (golden.rounded(x, cos, sin),))


def of_vision() -> Sample:
    q, k = normal((3, 2, 64), np.float16, 1, 2)
    cos, sin = normal((3, 64), np.float16, 3, 4)
    right = tuple(golden.rounded(x, cos[:, None], sin[:, None]) for x in (q, k))
    return Sample(vision.vision_rope_kernel, (q, k, cos, sin), right)


def of_rms_norm() -> Sample:
    """A block of eight and a tail of two; numbers so small that the epsilon counts."""
    (x,) = normal((10, 1, 128), ml_dtypes.bfloat16, 1)
    x *= ml_dtypes.bfloat16(1e-3)
    cos, sin = normal((10, 128), ml_dtypes.bfloat16, 2, 3)
    (weight,) = normal((128,), ml_dtypes.bfloat16, 4)
    right = golden.normalized_and_rotated(x, cos, sin, weight)
    return Sample(rms_norm_rope.qk_rope_kernel(1), (x, cos, sin, weight), (right,))


def of_interleave() -> Sample:
    """cos and sin stay in unified buffer over the heads."""
    (x,) = normal((1, 2, 5, 64), np.float16, 1)
    cos, sin = normal((1, 1, 5, 64), np.float16, 2, 3)
    kernel = interleave.interleave_rope_kernel(pypto.DT_FP16, 2, 64, (1, 8))
    return Sample(kernel, (x, cos, sin), (golden.neighbours(x, cos, sin),))


class Mutant:
    """In the place of `CoreRun.issue`: call number `target` becomes another instruction where there is one in `FLIPS`,
    else it is left out. `calls` are the functions.
    """

    def __init__(self, target: int) -> None:
        self.target = target
        self.calls: list[Any] = []

    def issue(self, site: Any, function: Any, arguments: tuple[Any, ...], purpose: Any) -> None:
        number = len(self.calls)
        self.calls.append(function)
        if number != self.target:
            site.call(function, *arguments)
        elif function in FLIPS:
            site.call(FLIPS[function], *arguments)


def mutated(sample: Sample, target: int, patch: pytest.MonkeyPatch) -> tuple[Mutant, str]:
    mutant = Mutant(target)
    with patch.context() as here:
        here.setattr(CoreRun, "issue", lambda run, *args: mutant.issue(*args))
        return mutant, sample.fault()


@pytest.mark.parametrize("make", [of_skeleton, of_vision, of_rms_norm, of_interleave])
def test_every_instruction_counts(make: Callable[[], Sample], monkeypatch: pytest.MonkeyPatch) -> None:
    sample = make()
    original, fault = mutated(sample, -1, monkeypatch)
    assert not fault
    assert len(original.calls) > 50
    survivors = [
        (number, function.__name__)
        for number, function in enumerate(original.calls)
        if not mutated(sample, number, monkeypatch)[1]
    ]
    assert not survivors
