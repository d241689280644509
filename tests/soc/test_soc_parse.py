"""Parsing YAML gives what PyYAML's own safe loader gives."""

from __future__ import annotations

import pytest
import yaml

from ascend_sim.resources import directory
from ascend_sim.soc.parse import parse

FILES = sorted(directory("configs").glob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_chip_files(path) -> None:
    text = path.read_bytes()
    assert repr(parse(text)) == repr(yaml.safe_load(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "~",
        "{a: 1, b: 1.0, c: '1', d: 1_000, e: 0x10, f: yes, g: null, h: 2024-01-01, i: \"1.0\", 1: 2, true: 3}",
        "a: 1\na: 2",
        "a: &x {k: [1, [2, 3]]}\nb: *x\nc: {<<: *x, l: 1}",
        "!!set {a, b}",
        "- |\n  text\n  of lines\n- >-\n  folded\n  text",
    ],
)
def test_texts(text: str) -> None:
    assert repr(parse(text.encode())) == repr(yaml.safe_load(text))


@pytest.mark.parametrize("text", ["a: [1", "a: !tag 1", "? [1, 2]\n: 3", "? {a: 1}\n: 2", "a: 1\n--- \nb: 2", "a: *x"])
def test_what_is_no_plain_yaml_is_refused_alike(text: str) -> None:
    with pytest.raises(yaml.YAMLError) as theirs:
        yaml.load(text.encode(), Loader=yaml.CSafeLoader)
    with pytest.raises(type(theirs.value)) as ours:
        parse(text.encode())
    assert str(ours.value) == str(theirs.value)
