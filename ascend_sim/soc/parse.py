"""YAML to plain values, fast enough for a command line.

PyYAML's C parser is quick; what takes time is to resolve and construct each scalar in Python. Chip files say the same
keys, sources and grades again and again, so each distinct scalar is resolved and constructed once.
"""

from __future__ import annotations

from typing import Any

import yaml
from yaml.nodes import Node, ScalarNode

_Base: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAPPING, _SEQUENCE, _MERGE = (f"tag:yaml.org,2002:{kind}" for kind in ("map", "seq", "merge"))


class _Loader(_Base):  # type: ignore[misc]
    """A safe loader that remembers what tag a plain text has."""

    def __init__(self, text: bytes) -> None:
        super().__init__(text)
        self._tags: dict[tuple[str, Any], str] = {}

    def resolve(self, kind: type[Node], value: str, implicit: Any) -> str:
        if kind is not ScalarNode:
            return str(super().resolve(kind, value, implicit))
        tag = self._tags.get((value, implicit))
        if tag is None:
            tag = self._tags[value, implicit] = str(super().resolve(kind, value, implicit))
        return tag


def parse(text: bytes) -> Any:
    """The one document of `text` (UTF-8) as PyYAML's safe loader gives it; raises `yaml.YAMLError`."""
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        return None if node is None else _value(node, loader, {})
    finally:
        loader.dispose()


def _value(node: Node, loader: Any, known: dict[tuple[str, str], Any]) -> Any:
    tag, content = node.tag, node.value
    if node.__class__ is ScalarNode:
        key = (tag, content)
        if key not in known:
            known[key] = loader.construct_object(node)
        return known[key]
    if tag == _SEQUENCE:
        return [_value(item, loader, known) for item in content]
    if tag == _MAPPING and all(key.__class__ is ScalarNode and key.tag != _MERGE for key, _ in content):
        return {_value(key, loader, known): _value(value, loader, known) for key, value in content}
    return loader.construct_document(node)  # what chip files do not need
