"""What-if values for single parameters: `--set ub.bytes=262144`."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import yaml

from ascend_sim.errors import ConfigError
from ascend_sim.soc.models import Soc
from ascend_sim.soc.rules import derivation, described_only
from ascend_sim.soc.tree import Leaves

OVERRIDE = "override"
_SHOWN = 8  # names of a group that an error text spells out


def apply(overrides: Mapping[str, Any], leaves: Leaves, variant: str) -> Leaves:
    """`leaves` with the overridden values; raises `ConfigError` for a path that is no parameter of `variant`, or one
    that no result depends on."""
    if not isinstance(overrides, Mapping) or not all(isinstance(path, str) for path in overrides):
        raise ConfigError(f"overrides must be a dict of dotted paths to values, not {overrides!r}")
    changed = dict(leaves)
    for path, given in overrides.items():
        if path not in leaves:
            raise ConfigError(_unknown(path, leaves, variant))
        if described_only(Soc, path):
            raise ConfigError(
                f"{path} of {variant} cannot be set: it belongs to the chip's description, and nothing that is "
                "simulated depends on it"
            )
        below = leaves[path]
        was = f"in place of {below.value} ({below.grade}, {below.source}) of {below.file}"
        changed[path] = below._replace(value=scalar(given), file=OVERRIDE, source=OVERRIDE, grade=OVERRIDE, note=was)
    return changed


def scalar(given: object) -> object:
    """A text as the YAML scalar that it spells (and `1e3` as the number that YAML 1.1 does not see in it)."""
    if not isinstance(given, str):
        return given
    try:
        value = yaml.load(given, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError:
        return given
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return given if isinstance(value, dict | list) else value


def _unknown(path: str, leaves: Leaves, variant: str) -> str:
    below = [name for name in leaves if name.startswith(f"{path}.")]
    if below:
        more = (
            f" and {len(below) - _SHOWN} more (`ascend-sim socs {variant}` lists them)" if len(below) > _SHOWN else ""
        )
        return f"{path} of {variant} is a group; set one of {', '.join(below[:_SHOWN])}{more}"
    derived = derivation(Soc, path)
    if derived:
        return f"{path} of {variant} cannot be set: it is derived ({derived})"
    name = path.rpartition(".")[2]
    near = get_close_matches(path, leaves, n=3, cutoff=0.7)
    near += [leaf for leaf in leaves if leaf.rpartition(".")[2] == name and leaf not in near]
    hint = f"; did you mean {', '.join(near[:5])}?" if near else ""
    return f"{variant} has no parameter {path!r}{hint} (`ascend-sim socs {variant}` lists them all)"
