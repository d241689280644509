"""Which chip the library finds itself on, by its SoC name, as ATB's Config and MKI's PlatformInfo do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ascend_sim.asc.launch import current_device

_PRETENDED: list[str] = []
_LENGTH_OF_ASCEND910B = 10  # "Ascend910B" alone is an Ascend 910 of the first generation


def soc_name() -> str:
    """What aclrtGetSocName answers: the current device's variant."""
    return _PRETENDED[-1] if _PRETENDED else current_device().soc_name


@contextmanager
def pretend_soc(name: str) -> Iterator[None]:
    """Let the library find itself on another chip ("Ascend310P3"), of which there need not be a simulated device.

    Its checks answer as they do there; no operation can be set up.
    """
    _PRETENDED.append(name)
    try:
        yield
    finally:
        _PRETENDED.remove(name)


def is_pretended() -> bool:
    return bool(_PRETENDED)


def is_910b() -> bool:
    """Whether it is of the 910B family (A2, A3)."""
    name = soc_name()
    return ("Ascend910B" in name and len(name) > _LENGTH_OF_ASCEND910B) or "Ascend910_93" in name


def is_950() -> bool:
    return "Ascend950" in soc_name()


def has_no_bf16() -> bool:
    """Inference products and the first 910s."""
    name = soc_name()
    first_910 = "Ascend910A" in name or "Ascend910Pro" in name or "Ascend910PremiumA" in name or name == "Ascend910B"
    return first_910 or "Ascend310P" in name or "Ascend310B" in name
