"""Declarations: names and aliases, attributes, the registry."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ascend_sim.errors import InputError, TilingError, UnsupportedError
from ascend_sim.host.attributes import Attribute
from ascend_sim.host.registry import operator_named, operator_names

OP = operator_named("inplace_partial_rotary_mul")


class TestAttribute:
    MODE = Attribute("mode", "int", 0, "", strings={"half": 0, "interleave": 1})
    SLICE = Attribute("slice", "ints", (), "")
    LAYOUT = Attribute("layout", "str", "BSND", "")

    @pytest.mark.parametrize(("given", "value"), [("interleave", 1), (" half ", 0), ("3", 3), (np.int64(2), 2), (0, 0)])
    def test_integer(self, given: Any, value: int) -> None:
        assert self.MODE.convert("Op", given) == value

    @pytest.mark.parametrize(
        ("given", "value"),
        [("0,64", (0, 64)), ("[0, 64]", (0, 64)), ("7", (7,)), ("", ()), ("[]", ()), ([1, "2"], (1, 2)), ((), ())],
    )
    def test_integers(self, given: Any, value: tuple[int, ...]) -> None:
        assert self.SLICE.convert("Op", given) == value

    def test_text(self) -> None:
        assert self.LAYOUT.convert("Op", "TND") == "TND"

    @pytest.mark.parametrize(
        ("attribute", "given", "text"),
        [
            (MODE, "quarter", "attribute mode is 'quarter'; allowed is an integer or half (0), interleave (1)"),
            (MODE, 1.5, "attribute mode is 1.5; allowed is an integer or half (0), interleave (1)"),
            (MODE, True, "attribute mode is True; allowed is an integer or half (0), interleave (1)"),
            (SLICE, 3, "attribute slice is 3; allowed is a list of integers"),
            (SLICE, "1,,2", "attribute slice is '1,,2'; allowed is a list of integers"),
            (SLICE, [0.5], "attribute slice is [0.5]; allowed is a list of integers"),
            (LAYOUT, 3, "attribute layout is 3; allowed is a text"),
        ],
    )
    def test_refused(self, attribute: Attribute, given: Any, text: str) -> None:
        with pytest.raises(TilingError) as refused:
            attribute.convert("Op", given)
        assert str(refused.value) == f"Op: {text}"


class TestNames:
    def test_aliases_come_back_in_the_definition_s_order(self) -> None:
        assert list(OP.bind_inputs({"r2": 3, "x": 1, "r1": 2}).items()) == [("x", 1), ("cos", 2), ("sin", 3)]

    def test_unknown_input(self) -> None:
        with pytest.raises(InputError) as refused:
            OP.bind_inputs({"x": 1, "cosine": 2})
        assert str(refused.value) == (
            "inplace_partial_rotary_mul has no input 'cosine'; its inputs are x, cos (also r1), sin (also r2)"
        )
        assert not isinstance(refused.value, TilingError)

    def test_input_given_twice(self) -> None:
        with pytest.raises(InputError) as refused:
            OP.bind_inputs({"x": 1, "cos": 2, "r1": 2, "sin": 3})
        assert str(refused.value) == "inplace_partial_rotary_mul: input cos is given twice (once as r1)"

    def test_attribute_defaults(self) -> None:
        assert OP.bind_attrs({}) == {"rotary_mode": 1, "partial_slice": (0, 0)}

    def test_unknown_attribute(self) -> None:
        with pytest.raises(InputError) as refused:
            OP.bind_attrs({"mode": 1})
        assert str(refused.value) == (
            "inplace_partial_rotary_mul has no attribute 'mode'; its attributes are rotary_mode, partial_slice"
        )
        assert not isinstance(refused.value, TilingError)


def test_default_soc() -> None:
    assert OP.default_soc == "ascend910b"
    others = {name: support for name, support in OP.supports.items() if name != "ascend910b"}
    assert replace(OP, supports=others).default_soc == "ascend910_93"
    only_950 = {"ascend950": OP.supports["ascend950"]}
    assert replace(OP, supports=only_950).default_soc == "ascend950"


class TestPythonCall:
    def test_positions_names_and_attributes(self) -> None:
        assert OP.bind_call((1, 2), {"r2": 3, "partial_slice": [0, 2], "rotary_mode": None}) == (
            {"x": 1, "cos": 2, "sin": 3},
            {"partial_slice": [0, 2]},
        )

    @pytest.mark.parametrize(
        ("args", "named", "text"),
        [
            ((1, 2, 3, 4), {}, "inplace_partial_rotary_mul takes 3 inputs (x, cos, sin), 4 were given"),
            ((1, 2), {"cos": 3}, "inplace_partial_rotary_mul: input cos is given twice"),
            ((1, 2), {"r1": 3}, "inplace_partial_rotary_mul: input cos is given twice (once as r1)"),
            (
                (1, 2, 3),
                {"slice": (0, 4)},
                "inplace_partial_rotary_mul has no input or attribute 'slice'; its inputs are x, cos (also r1), "
                "sin (also r2), its attributes rotary_mode, partial_slice",
            ),
        ],
    )
    def test_refused(self, args: tuple[Any, ...], named: dict[str, Any], text: str) -> None:
        with pytest.raises(InputError) as refused:
            OP.bind_call(args, named)
        assert str(refused.value) == text


class TestRegistry:
    def test_every_folder_declares_itself(self) -> None:
        assert "inplace_partial_rotary_mul" in operator_names()
        for name in operator_names():
            assert operator_named(name).name == name

    def test_definition_s_spelling(self) -> None:
        assert operator_named("InplacePartialRotaryMul") is OP

    def test_near_match(self) -> None:
        with pytest.raises(UnsupportedError) as refused:
            operator_named("inplace_partial_rotary_mull")
        assert str(refused.value) == (
            "unknown operator 'inplace_partial_rotary_mull': did you mean inplace_partial_rotary_mul or "
            "inplace_partial_rotary_mul_grad?"
        )

    def test_nothing_near(self) -> None:
        for name in ("flash_attention", "nope"):
            with pytest.raises(LookupError) as refused:
                operator_named(name)
            assert str(refused.value) == f"unknown operator {name!r}: there are {', '.join(operator_names())}"
