"""Reading the YAML files of `configs`, each parsed once per process and version."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import Field, ValidationError

from ascend_sim.errors import ConfigError
from ascend_sim.resources import directory
from ascend_sim.soc.base import Section
from ascend_sim.soc.parse import parse


class Product(Section):
    """A product name under which chips are sold; `variants` is what the names of its chips begin with."""

    name: str
    short: str
    aliases: list[str] = Field(default_factory=list)
    variants: str
    default: str

    def answers_to(self, name: str) -> bool:
        return name.casefold() in {alias.casefold() for alias in (self.name, self.short, *self.aliases)}


class ForeignProduct(Section):
    """A product that the simulator and its operators do not support, with the beginnings of its chips' names."""

    name: str
    aliases: list[str] = Field(default_factory=list)
    chips: list[str]

    def answers_to(self, name: str) -> bool:
        wanted = name.casefold()
        return wanted in {alias.casefold() for alias in (self.name, *self.aliases)} or any(
            wanted.startswith(chip.casefold()) for chip in self.chips
        )


class ChipFile(Section):
    """`configs/<family>.yaml`: trees of parameters for the family and, laid over it, for each variant."""

    arch: str
    default: str
    products: list[Product]
    common: dict[str, Any]
    variants: dict[str, dict[str, Any]] = Field(min_length=1)


class ForeignFile(Section):
    """`configs/unsupported.yaml`."""

    products: list[ForeignProduct]


_File = TypeVar("_File", bound=Section)

FAMILIES = ("ascend910b", "ascend910_93", "ascend950")


def read(path: Path) -> Any:
    """The parsed file; raises `ConfigError` when it is missing or no YAML."""
    try:
        return _parse(path, path.stat().st_mtime_ns)
    except OSError as error:
        raise ConfigError(f"cannot read the chip description {path}: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path.name} is no valid YAML: {' '.join(str(error).split())}") from error


@lru_cache(maxsize=32)
def _parse(path: Path, _mtime_ns: int) -> Any:
    return parse(path.read_bytes())


def _checked(model: type[_File], path: Path) -> _File:
    try:
        return model.model_validate(read(path))
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigError(f"{path.name}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error


def chip_file(family: str) -> ChipFile:
    """`configs/<family>.yaml`, its outer shape checked."""
    path = directory("configs") / f"{family}.yaml"
    file = _checked(ChipFile, path)
    for where, name in [("default", file.default), *(("products." + p.name, p.default) for p in file.products)]:
        if name not in file.variants:
            raise ConfigError(f"{path.name}: {where}: no variant {name!r}; allowed: {', '.join(file.variants)}")
    return file


def arch_tree(arch: str) -> Mapping[str, Any]:
    """`configs/arch<arch>.yaml`: what all chips of an architecture share."""
    tree = read(directory("configs") / f"arch{arch}.yaml")
    if not isinstance(tree, Mapping):
        raise ConfigError(f"arch{arch}.yaml: must be a mapping of parameter groups")
    return tree


def foreign_products() -> list[ForeignProduct]:
    return _checked(ForeignFile, directory("configs") / "unsupported.yaml").products


def sources() -> Mapping[str, str]:
    """What the short names of sources stand for (`configs/sources.yaml`)."""
    return dict(read(directory("configs") / "sources.yaml"))


def source_keys(source: str) -> list[str]:
    """The short names in a source: the first word of each part between commas and semicolons ("RT; DK: bank pages")."""
    return [words[0].rstrip(":") for part in re.split("[,;]", source) if (words := part.split())]
