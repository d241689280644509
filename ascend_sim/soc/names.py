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
        given = foreign.name if foreign.name.casefold() == wanted.casefold() else f"{wanted} ({foreign.name})"
        raise UnsupportedError(f"{given} is not supported by ascend-sim and its operators; supported: {_families()}")
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
    return ", ".join(f"{family} ({', '.join(_short_products(family))})" for family in FAMILIES)


def _short_products(family: str) -> list[str]:
    return list(dict.fromkeys(product.short for product in chip_file(family).products))


def _nearest(wanted: str) -> str:
    known = [name for family in FAMILIES for name in (family, *chip_file(family).variants, *_short_products(family))]
    names = {form: name for name in known for form in (name.casefold(), name.casefold().removeprefix("ascend"))}
    near = dict.fromkeys(names[hit] for hit in get_close_matches(wanted.casefold(), names, n=4, cutoff=0.75))
    return f"; nearest: {', '.join(near)}" if near else ""
