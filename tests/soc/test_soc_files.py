"""The shipped chip files against the published tables, and what every parameter must carry."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from ascend_sim.soc import load
from ascend_sim.soc.files import FAMILIES, chip_file, source_keys, sources
from ascend_sim.soc.parameters import FILE_GRADES

with (Path(__file__).parent / "variants.csv").open(encoding="utf-8") as _file:
    PUBLISHED = {row["variant"]: row for row in csv.DictReader(_file)}  # the makers' platform files, in short


def test_every_published_variant_is_there_and_no_other() -> None:
    shipped = [variant for family in FAMILIES for variant in chip_file(family).variants]
    assert shipped == list(PUBLISHED)


@pytest.mark.parametrize("variant", PUBLISHED)
def test_variant_agrees_with_its_platform_file(variant: str) -> None:
    soc, row = load(variant), PUBLISHED[variant]
    assert soc.variant == variant
    assert (soc.cores.aic, soc.cores.aiv) == (int(row["aic"]), int(row["aiv"]))
    assert soc.platform_clock_mhz == float(row["platform_clock_mhz"])
    assert soc.hbm.bytes == (int(row["hbm_bytes"]) if row["hbm_bytes"] else None)
    assert soc.l2.bytes == int(row["l2_bytes"])
    assert soc.hbm.read_bytes_per_cycle_per_aic == float(row["hbm_read_bytes_per_cycle"])


@pytest.mark.parametrize("variant", PUBLISHED)
def test_machine_clock_is_the_platform_clock_save_where_boards_say_otherwise(variant: str) -> None:
    soc = load(variant)
    measured = {"Ascend910B4": 1650.0, "Ascend910B4-1": 1650.0, "Ascend950PR_9599": 1650.0}
    assert soc.clock_mhz == measured.get(variant, soc.platform_clock_mhz)


@pytest.mark.parametrize(
    ("family", "variant", "arch", "bytes_", "platform_bytes", "usable_bytes"),
    [
        ("ascend910b", "Ascend910B3", "2201", 196_608, 196_608, 196_352),
        ("ascend910_93", "Ascend910_9392", "2201", 196_608, 196_608, 196_352),
        ("ascend950", "Ascend950PR_9589", "3510", 262_144, 253_952, 253_952),
    ],
)
def test_family_defaults(
    family: str, variant: str, arch: str, bytes_: int, platform_bytes: int, usable_bytes: int
) -> None:
    soc = load(family)
    assert (soc.name, soc.variant, soc.arch) == (family, variant, arch)
    assert (soc.ub.bytes, soc.ub.platform_bytes, soc.ub.usable_bytes) == (bytes_, platform_bytes, usable_bytes)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_value_has_unit_source_and_grade(family: str) -> None:
    known = set(sources())
    for variant in chip_file(family).variants:
        for parameter in load(variant).parameters():
            where = f"{variant}: {parameter.path}"
            assert parameter.source, where
            if not isinstance(parameter.value, str | bool):
                assert parameter.unit, f"{where} has no unit"
            if parameter.grade != "derived":
                assert parameter.grade in FILE_GRADES, where
                assert source_keys(parameter.source)[0] in known, f"{where}: unknown source {parameter.source!r}"


def test_clock_of_910b4_keeps_both_values_with_their_grades() -> None:
    found = {parameter.path: parameter for parameter in load("Ascend910B4").parameters()}
    assert (found["clock_mhz"].value, found["clock_mhz"].grade) == (1650.0, "measured")
    assert (found["platform_clock_mhz"].value, found["platform_clock_mhz"].grade) == (1500.0, "official")
    assert found["clock_mhz"].note == "cycles over time; the platform file has 1500"
