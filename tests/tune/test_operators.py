"""What `tune` finds for every operator on every chip that has its tilings: the own among them, all of them takers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ascend_sim
from ascend_sim.host.given import given_tiling, read_given
from ascend_sim.host.planning import tiling_context
from ascend_sim.host.registry import operator_named, operator_names
from ascend_sim.report.style import PLAIN
from ascend_sim.soc import load
from ascend_sim.tune.processes import Processes
from ascend_sim.tune.search import tune
from ascend_sim.tune.text import tuning_text

DECLARED = [
    (name, soc)
    for name in operator_names()
    for soc, support in operator_named(name).supports.items()
    if support.space is not None and soc != "ascend910_93"  # shares all of it with ascend910b
]


@pytest.mark.parametrize(("name", "soc"), DECLARED)
def test_the_example(name: str, soc: str, tmp_path: Path):
    operator, chip = operator_named(name), load(soc)
    inputs, attrs = operator.example.inputs, operator.example.attrs
    found = tune(operator, inputs, attrs, chip, limit=3, executor=Processes(1))
    assert found.lost == []
    own, best = found.own, found.trials[0].tiling
    assert own.duration_us == ascend_sim.run(operator, **inputs, **attrs, soc=chip, values=False).duration_us
    assert f"{len(found.trials)} tiling" in tuning_text(found, PLAIN)
    file = tmp_path / "best.json"
    file.write_text(json.dumps(best.to_json()))
    ran = ascend_sim.run(operator, **inputs, **attrs, soc=chip, tiling=file)
    assert ran.values.ok
    assert ran.duration_us == pytest.approx(found.trials[0].duration_us, rel=1e-9)


@pytest.mark.parametrize(("name", "soc"), DECLARED)
def test_the_own_words_as_a_board_dumps_them(name: str, soc: str, tmp_path: Path):
    operator, chip = operator_named(name), load(soc)
    context = tiling_context(operator, operator.example.inputs, operator.example.attrs, chip)
    space, host = operator.space_on(soc), operator.support_on(soc).tiling
    assert host is not None
    own = host(context)
    if not own.words:
        return
    sizes = [*space.word_bytes, *[space.word_bytes[-1]] * len(own.words)]
    words = [word or 0 for word in own.words]
    file = tmp_path / "words"
    file.write_bytes(b"".join(word.to_bytes(size, "little") for word, size in zip(words, sizes, strict=False)))
    assert read_given(file, space.word_bytes).words == words
    tiling, faults = given_tiling(operator, context, own, file)
    assert faults == ()
    assert (tiling.key, tiling.block_dim, tiling.data, tiling.buffers) == (
        own.key,
        own.block_dim,
        own.data,
        own.buffers,
    )
