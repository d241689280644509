"""Parameter trees of the YAML files, flattened: merging files is then one dictionary laid over another.

In a file, a mapping is a group. A leaf is a plain value, or a mapping with `value` and any of `source`, `grade`,
`note`, `unit`. The same four keys in a group hold for everything below it that does not say otherwise. A leaf without
a value (only `source` and so on) leaves the value to a file laid over it: variants then give bare values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from ascend_sim.errors import ConfigError
from ascend_sim.soc.parameters import FILE_GRADES, Origin

_ABOUT = frozenset(("source", "grade", "note", "unit"))


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()


class Leaf(NamedTuple):
    """A value at `keys` and what the file says about it; empty texts were not given."""

    keys: tuple[Any, ...]
    value: Any
    file: str
    source: str = ""
    grade: str = ""
    note: str = ""
    unit: str = ""

    @property
    def path(self) -> str:
        return ".".join(map(str, self.keys))

    def over(self, below: Leaf | None) -> Leaf:
        """This leaf laid over `below`: what it does not say stays, but a new source does not keep an old remark."""
        if below is None:
            return self
        return Leaf(
            self.keys,
            below.value if self.value is MISSING else self.value,
            self.file,
            self.source or below.source,
            self.grade or below.grade,
            self.note or ("" if self.source else below.note),
            self.unit or below.unit,
        )

    def origin(self) -> Origin:
        return Origin(self.file, self.source, self.grade, self.note, self.unit)


Leaves: TypeAlias = dict[str, Leaf]


class _About(NamedTuple):
    """What holds at a place of `file`."""

    file: str
    source: str = ""
    grade: str = ""
    note: str = ""
    unit: str = ""


def flatten(tree: object, file: str) -> Leaves:
    """All leaves of a parsed tree by dotted path; raises `ConfigError` for a grade that does not exist."""
    leaves: Leaves = {}
    _walk(tree, (), "", _About(file), leaves)
    return leaves


def _walk(node: object, keys: tuple[Any, ...], path: str, above: _About, into: Leaves) -> None:
    """Put the leaves of `node` at `keys` into `into`; `above` is what holds there."""
    if not isinstance(node, dict):
        into[path] = Leaf(keys, _frozen(node), *above)
        return
    here = above if _ABOUT.isdisjoint(node) else _about(node, path, above)
    if "value" in node:
        _check_value(node, here.file, path)
        into[path] = Leaf(keys, _frozen(node["value"]), *here)
        return
    bare = True
    for key, child in node.items():
        if key not in _ABOUT:
            bare = False
            _walk(child, (*keys, key), f"{path}.{key}" if keys else str(key), here, into)
    if bare:
        into[path] = Leaf(keys, MISSING, *here)


def _about(node: Mapping[Any, Any], path: str, above: _About) -> _About:
    """`above` with what `node` says about itself and all below it."""
    said = {key: _text(node[key], f"{above.file}: {path}: {key}") for key in _ABOUT if key in node}
    here = above._replace(**said)
    if here.grade and here.grade not in FILE_GRADES:
        raise ConfigError(f"{here.file}: {path}: grade {here.grade!r}; allowed: {', '.join(FILE_GRADES)}")
    return here


def _check_value(node: Mapping[Any, Any], file: str, path: str) -> None:
    extra = [str(key) for key in node if key != "value" and key not in _ABOUT]
    if extra or isinstance(node["value"], dict):
        raise ConfigError(
            f"{file}: {path}: beside a plain `value` only source, grade, note, unit may stand"
            + (f", not {', '.join(extra)}" if extra else "")
        )


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"{where} must be text, got {value!r}")
    return " ".join(value.split())


def _frozen(value: object) -> object:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value


def lay_over(below: Leaves, above: Leaves) -> Leaves:
    """`above` laid over `below`, path by path."""
    return {**below, **{path: leaf.over(below.get(path)) for path, leaf in above.items()}}


def nest(leaves: Leaves) -> dict[Any, Any]:
    """The values as nested dictionaries, as the models take them."""
    tree: dict[Any, Any] = {}
    for leaf in leaves.values():
        *groups, name = leaf.keys
        node = tree
        for key in groups:
            node = node.setdefault(key, {})
        node[name] = leaf.value
    return tree
