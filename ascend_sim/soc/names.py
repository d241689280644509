"""Which chip a name means: family, variant or product, written in any case."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from ascend_sim.errors import UnsupportedError
from ascend_sim.soc.files import FAMILIES, ForeignProduct, chip_file, foreign_products


@dataclass(frozen=True, slots=True)
class ChipName:
    """A variant, written as its makers do, and the family whose file describes it."""

    family: str
    variant: str


def resolve(name: str) -> ChipName:
    """The chip that `name` means: "ascend910b" (its default variant), "Ascend910B4", "Atlas A2", in any case.

    Raises `UnsupportedError` for a product or chip that exists but is not simulated, and for an unknown name.
    """
    wanted = " ".join(name.split())
    found = _family_or_variant(wanted) or _product(wanted)
    if found is not None:
        return found
    foreign = foreign_product(wanted)
    if foreign is not None:
        given = "" if foreign.name.casefold() == wanted.casefold() else f"{wanted} is of the {foreign.name}, which"
        raise UnsupportedError(
            f"{given or foreign.name} is not supported by ascend-sim and its operators; supported: {_families()}"
        )
    raise UnsupportedError(f"unknown SoC {name!r}{_nearest(wanted)}; known: {_families()} and their variants")


def foreign_product(name: str) -> ForeignProduct | None:
    """The product that `name` means (by product or chip name) when it is one that the operators do not support."""
    wanted = " ".join(name.split())
    return next((product for product in foreign_products() if product.answers_to(wanted)), None)


def _family_or_variant(wanted: str) -> ChipName | None:
    folded = wanted.casefold()
    for family in FAMILIES:
        if folded == family:
            return ChipName(family, chip_file(family).default)
        if folded.startswith(family):  # a variant's name begins with its family's
            for variant in chip_file(family).variants:
                if variant.casefold() == folded:
                    return ChipName(family, variant)
    return None


def _product(wanted: str) -> ChipName | None:
    for family in FAMILIES:
        for product in chip_file(family).products:
            if product.answers_to(wanted):
                return ChipName(family, product.default)
    return None


def _families() -> str:
    return ", ".join(f"{family} ({_product_names(family)})" for family in FAMILIES)


def _product_names(family: str) -> str:
    return ", ".join(dict.fromkeys((product.aliases or [product.name])[0] for product in chip_file(family).products))


def _nearest(wanted: str) -> str:
    names = {name.casefold(): name for family in FAMILIES for name in (family, *chip_file(family).variants)}
    tries = (wanted.casefold(), f"ascend{wanted.casefold()}")
    near = [names[hit] for text in tries for hit in get_close_matches(text, names, n=3, cutoff=0.8)]
    return f", did you mean {', '.join(dict.fromkeys(near))}?" if near else ""
