"""`ascend_sim.tiling` and `ascend_sim.infer_shapes`: chips, platform numbers, shapes as they may be given."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ascend_sim
from ascend_sim.errors import InputError, TilingError, UnsupportedError
from ascend_sim.host.operator import Call, Operator, Output
from ascend_sim.host.planning import plan, plan_run
from ascend_sim.host.registry import operator_named
from ascend_sim.host.tiling import Tiling, TilingContext
from ascend_sim.soc import load

NAME = "inplace_partial_rotary_mul"
ROPE = ((2, 32, 1, 64), "float16")
CALL = {"x": ((2, 32, 8, 128), "float16"), "cos": ROPE, "sin": ROPE}
ATTRS = {"partial_slice": [0, 64]}


def watched(**changes: Any) -> tuple[Operator, list[TilingContext]]:
    """The operator with a tiling function that keeps the contexts that it is given."""
    real = operator_named(NAME)
    seen: list[TilingContext] = []

    def tiling(context: TilingContext) -> Tiling:
        seen.append(context)
        answer = real.supports["ascend910b"].tiling
        assert answer is not None
        return answer(context)

    support = replace(real.supports["ascend910b"], tiling=tiling)
    return replace(real, supports={"ascend910b": support}, **changes), seen


@pytest.mark.parametrize(
    ("soc", "variant", "cores"),
    [
        ("ascend910b", "Ascend910B3", 40),
        ("Ascend910B1", "Ascend910B1", 48),
        ("Ascend910B4", "Ascend910B4", 40),
        ("ascend910_93", "Ascend910_9392", 48),
        ("Ascend910_9362", "Ascend910_9362", 40),
    ],
)
def test_platform_numbers(soc: str, variant: str, cores: int) -> None:
    found = ascend_sim.tiling(NAME, CALL, ATTRS, soc)
    assert (found.variant, found.block_dim, found.ub_bytes) == (variant, cores, 196352)


@pytest.mark.parametrize(
    ("ub_reads", "configured", "seen_bytes"),
    [
        ("configured", None, 196352),
        ("reduced", None, 196352),
        ("configured", 262144, 262144),
        ("reduced", 262144, 261888),
    ],
)
def test_which_unified_buffer_the_tiling_reads(ub_reads: Any, configured: int | None, seen_bytes: int) -> None:
    operator, seen = watched(ub_reads=ub_reads)
    plan(operator, CALL, ATTRS, load("ascend910b"), ub_bytes=configured)
    assert seen[0].ub_bytes == seen_bytes


def test_cores_given_stand_for_whatever_the_operator_asks() -> None:
    operator, seen = watched()
    plan(operator, CALL, ATTRS, load("ascend910b"), cores=7)
    plan(operator, CALL, ATTRS, load("ascend910b"))
    assert [(context.cores, context.cube_cores) for context in seen] == [(7, 7), (40, 20)]


@pytest.mark.parametrize(("name", "value"), [("cores", 4.0), ("ub_bytes", "1"), ("cores", True)])
def test_counts_must_be_integers(name: str, value: Any) -> None:
    with pytest.raises(InputError) as refused:
        ascend_sim.tiling(NAME, CALL, ATTRS, **{name: value})
    assert str(refused.value) == f"{name} is {value!r}; it must be an integer"


def test_cann_release() -> None:
    operator, seen = watched(cann=("8.3", "master"))
    plan(operator, CALL, ATTRS, load("ascend910b"))
    plan(operator, CALL, ATTRS, load("ascend910b"), cann="8.3")
    assert [context.cann for context in seen] == ["master", "8.3"]
    with pytest.raises(InputError) as refused:
        plan(operator, CALL, ATTRS, load("ascend910b"), cann="7.0")
    assert str(refused.value) == f"{NAME} has no host code of CANN '7.0'; there is 8.3, master"


def test_arrays_say_the_same_as_shapes() -> None:
    x, rope = np.zeros((2, 32, 8, 128), ml_dtypes.bfloat16), np.zeros((2, 32, 1, 64), np.float32)
    found = ascend_sim.tiling(NAME, {"x": x, "r1": rope, "r2": rope}, ATTRS)
    assert found.key == 2030


def test_json_is_complete() -> None:
    found = ascend_sim.tiling(NAME, CALL, ATTRS, "Ascend910B4")
    told = json.loads(json.dumps(found.to_json()))
    assert {name: told[name] for name in ("op", "soc", "variant", "key", "block_dim", "workspace_bytes")} == {
        "op": "InplacePartialRotaryMul",
        "soc": "ascend910b",
        "variant": "Ascend910B4",
        "key": 2000,
        "block_dim": 40,
        "workspace_bytes": 16777216,
    }
    assert told["data"] == dict(found.data)
    assert told["words"] == list(found.words)
    assert told["ub"]["used_bytes"] == sum(b["bytes"] * b["count"] for b in told["ub"]["buffers"]) == 20480
    assert told["cores"][0] == {
        "role": "front",
        "cores": 24,
        "rows": 2,
        "unit": "rows",
        "loops": [{"unit": "rows", "per_loop": 2, "loops": 1, "last": 2}],
    }


class TestUnsupported:
    def test_without_host_code(self) -> None:
        operator, _ = watched()
        later = replace(operator.supports["ascend910b"], tiling=None)
        operator = replace(operator, supports={**operator.supports, "ascend950": later})
        with pytest.raises(UnsupportedError) as refused:
            plan(operator, CALL, ATTRS, load("Ascend950PR_9589"))
        assert str(refused.value) == (
            f"{NAME} exists on ascend950, but the simulator has no host code of it for that chip (arch 3510) yet; "
            "there is one for ascend910b"
        )

    @pytest.mark.parametrize(("others", "text"), [(True, "it runs on ascend910b"), (False, "it runs on no chip yet")])
    def test_without_kernels_there_is_a_tiling_that_says_so(self, others: bool, text: str) -> None:
        operator, _ = watched()
        runs = operator.supports["ascend910b"]
        supports = {"ascend910_93": replace(runs, kernel=None)} | ({"ascend910b": runs} if others else {})
        operator = replace(operator, supports=supports)
        found = plan(operator, CALL, ATTRS, load("ascend910_93"))
        why = f"its kernels for ascend910_93 are not simulated yet, only their tiling is; {text}"
        assert (found.key, found.not_runnable) == (2000, why)
        assert found.to_json()["not_runnable"] == why
        with pytest.raises(UnsupportedError) as refused:
            plan_run(operator, CALL, ATTRS, load("ascend910_93"))
        assert str(refused.value) == f"{NAME}: {why}"
        with pytest.raises(UnsupportedError) as refused:
            operator.launch(Call({}, ATTRS, found, "2201"))
        assert str(refused.value) == f"{NAME}: {why}"

    def test_a_chip_without_the_operator(self) -> None:
        operator, _ = watched()
        with pytest.raises(UnsupportedError) as refused:
            plan(operator, CALL, ATTRS, load("ascend950"))
        assert str(refused.value) == (
            f"{NAME} is not supported by the operator library on ascend950; it exists on ascend910b"
        )

    @pytest.mark.parametrize("soc", ["ascend311", "Atlas inference", "Ascend310P3"])
    def test_other_chips(self, soc: str) -> None:
        with pytest.raises(UnsupportedError):
            ascend_sim.tiling(NAME, CALL, ATTRS, soc)

    def test_unknown_operator(self) -> None:
        with pytest.raises(UnsupportedError):
            ascend_sim.tiling("rope", CALL)


class TestInputs:
    @pytest.mark.parametrize(
        ("x", "text"),
        [
            (
                3,
                "input x: expected an array or a (shape, dtype) pair such as ((2, 32, 8, 128), 'float16'), got int",
            ),
            (((2, -1, 8, 128), "float16"), "input x: shape (2, -1, 8, 128) has a negative dim; dims are counts"),
            (((2, 0.5), "float16"), "input x: shape (2, 0.5) must be a sequence of integers"),
            ([[0.5] * 99] * 2, "input x: shape [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, ...] must be a sequence of integers"),
            (((2,), "float17"), "input x: unknown data type 'float17': allowed are "),
        ],
    )
    def test_senseless(self, x: Any, text: str) -> None:
        with pytest.raises(InputError) as refused:
            ascend_sim.tiling(NAME, {**CALL, "x": x}, ATTRS)
        assert str(refused.value).startswith(text)
        assert not isinstance(refused.value, TilingError)

    @pytest.mark.parametrize("dtype", ["bool", "complex64", "float8_e5m2", np.dtype(np.bool_)])
    def test_dtypes_that_no_kernel_takes_are_the_operator_s_to_refuse(self, dtype: Any) -> None:
        with pytest.raises(TilingError) as refused:
            ascend_sim.tiling(NAME, {**CALL, "x": ((2, 32, 8, 128), dtype)}, ATTRS)
        assert str(refused.value) == (f"InplacePartialRotaryMul: x is {dtype}; allowed are float16, float32, bfloat16")

    def test_dicts_are_wanted(self) -> None:
        with pytest.raises(InputError) as refused:
            ascend_sim.tiling(NAME, list(CALL.values()), ATTRS)  # type: ignore[arg-type]
        assert str(refused.value) == (
            "inplace_partial_rotary_mul: inputs must be a dict of name to array or (shape, dtype), not list"
        )
        with pytest.raises(InputError) as refused:
            ascend_sim.tiling(NAME, CALL, [0, 64])  # type: ignore[arg-type]
        assert str(refused.value) == "inplace_partial_rotary_mul: attributes must be a dict of name to value, not list"


class TestInferShapes:
    @pytest.mark.parametrize("shape", [(2, 32, 8, 128), (-1, 32, -1, 128), (-2,), (0, 4, 4, 4)])
    def test_the_output_is_x(self, shape: tuple[int, ...]) -> None:
        assert ascend_sim.infer_shapes(NAME, {"x": (shape, "float16"), "r1": ROPE, "r2": ROPE}, ATTRS) == [shape]

    def test_outputs_that_need_a_missing_input_are_left_out(self) -> None:
        operator, _ = watched()
        outputs = (*operator.outputs, Output("other", dtype_of="x", needs="bias"))
        operator = replace(operator, outputs=outputs, infer_shapes=lambda shapes, attrs: ((1,), (2,)))
        assert ascend_sim.infer_shapes(operator, CALL) == [(1,)]

    def test_attributes_may_be_left_out(self) -> None:
        assert ascend_sim.infer_shapes(NAME, CALL) == [(2, 32, 8, 128)]

    def test_what_is_no_shape(self) -> None:
        with pytest.raises(InputError) as refused:
            ascend_sim.infer_shapes(NAME, {**CALL, "x": ((2, -3), "float16")})
        assert str(refused.value) == "input x: shape (2, -3) has a negative dim; dims are counts of elements"

    def test_a_missing_input(self) -> None:
        with pytest.raises(TilingError, match="required input x is missing"):
            ascend_sim.infer_shapes(NAME, {"cos": ROPE})
