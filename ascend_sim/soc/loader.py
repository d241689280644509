"""Loading a chip: architecture file, family, variant and overrides laid over each other, then checked as one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from ascend_sim.errors import ConfigError
from ascend_sim.soc.files import arch_tree, chip_file
from ascend_sim.soc.models import Soc
from ascend_sim.soc.names import ChipName, resolve
from ascend_sim.soc.overrides import apply
from ascend_sim.soc.refusals import refusal
from ascend_sim.soc.tree import MISSING, Leaves, flatten, lay_over, nest


def load(name: str | Soc, overrides: Mapping[str, str | int | float | bool] | None = None) -> Soc:
    """The chip called `name` ("ascend910b", "Ascend910B4", "Atlas A2"; any case), some parameters overridden.

    A chip that has been loaded already is answered as it is. `overrides` maps dotted paths to values, for example
    `{"ub.bytes": "256 KiB"}`; texts are read as YAML scalars. Raises `UnsupportedError` for a chip that is not
    simulated and `ConfigError` for a value or path that cannot be.
    """
    if isinstance(name, Soc):
        if overrides:
            raise ConfigError(f"overrides {overrides!r} need the name of a chip; {name.variant} is already loaded")
        return name
    if not isinstance(name, str):
        raise ConfigError(f"soc must be the name of a chip, not {type(name).__name__}")
    chip = resolve(name)
    arch, leaves = _described(chip)
    if overrides:
        leaves = apply(overrides, leaves, chip.variant)
    return _build(chip, arch, leaves)


def _described(chip: ChipName) -> tuple[str, Leaves]:
    file = chip_file(chip.family)
    leaves = flatten(arch_tree(file.arch), f"arch{file.arch}.yaml")
    leaves = lay_over(leaves, flatten(file.common, f"{chip.family}.yaml"))
    leaves = lay_over(leaves, flatten(file.variants[chip.variant], f"{chip.family}.yaml"))
    for path, leaf in leaves.items():
        if leaf.value is MISSING:
            raise ConfigError(f"{leaf.file}: {chip.variant}: {path} has no value")
        if not (leaf.source and leaf.grade):
            raise ConfigError(f"{leaf.file}: {chip.variant}: {path} has no source or no grade; give both beside it")
    return file.arch, leaves


def _build(chip: ChipName, arch: str, leaves: Leaves) -> Soc:
    tree: dict[Any, Any] = {"name": chip.family, "variant": chip.variant, "arch": arch, **nest(leaves)}
    try:
        soc = Soc.model_validate(tree)
    except ValidationError as error:
        raise ConfigError(refusal(error, Soc, leaves, chip.variant)) from error
    soc._origins = {path: leaf.origin() for path, leaf in leaves.items()}
    return soc
