"""Names of chips and products, in any case."""

from __future__ import annotations

import pytest

from ascend_sim.errors import UnsupportedError
from ascend_sim.soc import foreign_product, load, resolve

SUPPORTED = "ascend910b (Atlas A2), ascend910_93 (Atlas A3), ascend950 (Ascend 950PR, Ascend 950DT)"


@pytest.mark.parametrize(
    ("name", "family", "variant"),
    [
        ("ascend910b", "ascend910b", "Ascend910B3"),
        ("Ascend910B", "ascend910b", "Ascend910B3"),
        ("ASCEND910b4", "ascend910b", "Ascend910B4"),
        ("ascend910b4-1", "ascend910b", "Ascend910B4-1"),
        ("Ascend910_93", "ascend910_93", "Ascend910_9392"),
        ("ascend910_9363", "ascend910_93", "Ascend910_9363"),
        ("Ascend950", "ascend950", "Ascend950PR_9589"),
        ("ascend950dt_95a1", "ascend950", "Ascend950DT_95A1"),
        ("Atlas A2", "ascend910b", "Ascend910B3"),
        ("atlas a2 inference  series", "ascend910b", "Ascend910B4"),
        ("Atlas A3 training series", "ascend910_93", "Ascend910_9392"),
        ("Ascend 950PR", "ascend950", "Ascend950PR_9589"),
        ("ascend950dt", "ascend950", "Ascend950DT_9581"),
    ],
)
def test_names_that_mean_a_chip(name: str, family: str, variant: str) -> None:
    chip = resolve(name)
    assert (chip.family, chip.variant) == (family, variant)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Atlas inference series", "Atlas inference series"),
        ("atlas training", "atlas training (Atlas training series)"),
        ("Atlas 200I/500 A2", "Atlas 200I/500 A2 (Atlas 200I/500 A2 inference products)"),
        ("Ascend310P3", "Ascend310P3 (Atlas inference series)"),
        ("ascend310b", "ascend310b (Atlas 200I/500 A2 inference products)"),
        ("Ascend910", "Ascend910 (Atlas training series)"),
        ("Ascend910ProB", "Ascend910ProB (Atlas training series)"),
    ],
)
def test_products_that_exist_but_are_not_supported(name: str, said: str) -> None:
    assert foreign_product(name) is not None
    with pytest.raises(UnsupportedError) as caught:
        load(name)
    assert str(caught.value) == f"{said} is not supported by ascend-sim and its operators; supported: {SUPPORTED}"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("910B4", "; nearest: Ascend910B4, ascend910b, Ascend910B4-1, Ascend910B3"),
        ("Ascend910B5", "; nearest: ascend910b, Ascend910B4, Ascend910B3, Ascend910B2"),
        ("Atlas A4", "; nearest: Atlas A3, Atlas A2"),
        ("h100", ""),
        ("", ""),
    ],
)
def test_unknown_names_are_refused_with_the_nearest(name: str, hint: str) -> None:
    assert foreign_product(name) is None
    with pytest.raises(UnsupportedError) as caught:
        load(name)
    assert str(caught.value) == f"unknown SoC {name!r}{hint}; known: {SUPPORTED} and their variants"


def test_unsupported_is_a_lookup_error() -> None:
    with pytest.raises(LookupError):
        load("Ascend310P")
