"""What-if values: what they change, and what is refused."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest
from pydantic import ValidationError

import ascend_sim
from ascend_sim.errors import ConfigError, UnsupportedError
from ascend_sim.soc import Soc, load
from ascend_sim.soc.rules import described_only


def test_override_reaches_the_model_and_what_is_derived_from_it() -> None:
    soc = load("ascend910b", {"ub.bytes": "262144"})
    assert (soc.ub.bytes, soc.ub.platform_bytes, soc.ub.usable_bytes) == (262_144, 262_144, 261_888)
    assert load("ascend910b").ub.bytes == 196_608


@pytest.mark.parametrize(
    ("path", "given", "value"),
    [
        ("ub.bytes", "0x40000", 262_144),
        ("ub.bytes", "256 KiB", 262_144),
        ("ub.bytes", "256KiB", 262_144),
        ("ub.bytes", 262_144, 262_144),
        ("clock_mhz", "1.5e3", 1500.0),
        ("clock_mhz", 1500, 1500.0),
        ("cores.aiv", "48", 48),
        ("hbm.peak_gbps", "null", None),
        ("l2.bytes", "1 GiB", 2**30),
    ],
)
def test_spellings(path: str, given: str | int, value: float | None) -> None:
    found = {parameter.path: parameter for parameter in load("Ascend910B3", {path: given}).parameters()}
    assert found[path].value == value
    assert found[path].grade == "override"


def test_overridden_parameter_says_what_it_replaces() -> None:
    found = {parameter.path: parameter for parameter in load("Ascend910B4", {"clock_mhz": "1500"}).parameters()}
    assert found["clock_mhz"].note == "in place of 1650 (measured, rows) of ascend910b.yaml"


_UB = "override: ub.bytes of Ascend910B3 cannot be {}; allowed: a whole number (B), at least 32, at most 1048576, "
_CLOCK = "override: clock_mhz of Ascend910B3 cannot be {}; allowed: a number (MHz), greater than 0"
_SIZE = "or a size such as '256 KiB'"


@pytest.mark.parametrize(
    ("path", "given", "text"),
    [
        ("ub.bytes", "many", _UB.format("'many'") + _SIZE),
        ("ub.bytes", "-32", _UB.format("-32") + _SIZE),
        ("ub.bytes", "1.5", _UB.format("1.5") + _SIZE),
        ("ub.bytes", "", _UB.format("None") + _SIZE),
        ("ub.bytes", "1 GiB", _UB.format("'1 GiB'") + _SIZE),
        (
            "ub.bytes",
            "192",
            "arch2201.yaml, override: ub of Ascend910B3: bytes (192) must exceed the reserved bytes (256)",
        ),
        (
            "ub.bytes",
            "200001",
            "arch2201.yaml, override: ub of Ascend910B3: bytes (200001) must be a multiple of alignment_bytes (32)",
        ),
        ("clock_mhz", ".inf", _CLOCK.format("inf")),
        ("clock_mhz", "0", _CLOCK.format("0")),
        (
            "cores.aiv",
            "true",
            "override: cores.aiv of Ascend910B3 cannot be True; "
            "allowed: a whole number (cores), at least 1, at most 65535",
        ),
        (
            "cores.aiv",
            "[40]",
            "override: cores.aiv of Ascend910B3 cannot be '[40]'; "
            "allowed: a whole number (cores), at least 1, at most 65535",
        ),
        (
            "hbm.peak_gbps",
            "fast",
            "override: hbm.peak_gbps of Ascend910B3 cannot be 'fast'; allowed: a number (GB/s), greater than 0 or null",
        ),
        (
            "ub.byte",
            "1",
            "Ascend910B3 has no parameter 'ub.byte'; did you mean ub.bytes, hbm.bytes? "
            "(`ascend-sim socs Ascend910B3` lists them all)",
        ),
        (
            "aiv",
            "1",
            "Ascend910B3 has no parameter 'aiv'; did you mean cores.aiv? "
            "(`ascend-sim socs Ascend910B3` lists them all)",
        ),
        ("arch", "3510", "Ascend910B3 has no parameter 'arch' (`ascend-sim socs Ascend910B3` lists them all)"),
        ("cores", "1", "cores of Ascend910B3 is a group; set one of cores.aic, cores.aiv"),
        (
            "ub.usable_bytes",
            "1",
            "ub.usable_bytes of Ascend910B3 cannot be set: it is derived "
            "(What GetCoreMemSize answers and TPipe hands out: platform_bytes - framework_reserved_bytes)",
        ),
        (
            "ub.alignment_bytes",
            "64",
            "ub.alignment_bytes of Ascend910B3 cannot be set: it belongs to the chip's description, and nothing that "
            "is simulated depends on it",
        ),
    ],
)
def test_refusals(path: str, given: str, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load("ascend910b", {path: given})
    assert str(caught.value) == text


def test_a_large_group_is_not_spelled_out() -> None:
    with pytest.raises(ConfigError) as caught:
        load("ascend910b", {"timing": 1})
    text = str(caught.value)
    assert text.startswith("timing of Ascend910B3 is a group; set one of timing.scalar.prologue_cycles, ")
    assert re.search(r" and \d+ more \(`ascend-sim socs Ascend910B3` lists them\)$", text)
    assert text.count(", ") == 7


def test_a_chip_cannot_be_changed_later() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        load("ascend910b").clock_mhz = 1.0  # type: ignore[misc]


def test_a_chip_survives_pickling_with_its_sources() -> None:
    soc = load("Ascend910B4", {"ub.bytes": "256 KiB"})
    copy: Soc = pickle.loads(pickle.dumps(soc))
    assert copy == soc
    assert copy.parameters() == soc.parameters()


def test_a_chip_without_timing_loads_and_refuses_only_what_needs_its_machine() -> None:
    soc = load("ascend950").model_copy(update={"timing": None})
    with pytest.raises(UnsupportedError) as caught:
        soc.require_timing()
    assert str(caught.value) == (
        "the vector core of Ascend950PR_9589 (architecture 3510) is not simulated yet; "
        "kernels run on architectures 2201 and 3510: ascend910b, ascend910_93 and ascend950"
    )


def test_exactly_the_parameters_that_no_code_reads_cannot_be_set() -> None:
    """Timing constants aside, which machine/costs looks up by name; system_reserved_bytes is read by way of what is
    derived from it."""
    package = Path(ascend_sim.__file__).parent
    code = "".join(path.read_text(encoding="utf-8") for path in package.rglob("*.py"))
    for parameter in load("Ascend910B3").parameters():
        group, _, name = parameter.path.rpartition(".")
        if group.startswith("timing") or parameter.grade == "derived":
            continue
        owner = group.rpartition(".")[2] or "soc|chip"
        is_read = bool(re.search(rf"\b(?:{owner})\.{name}\b", code)) or parameter.path == "ub.system_reserved_bytes"
        assert is_read is not described_only(Soc, parameter.path), parameter.path
