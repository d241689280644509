"""`tune`, `check-tiling` and `run --tiling`: a tiling goes from one to the other as a file."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path

import pytest

import ascend_sim
from ascend_sim.errors import InputError
from ascend_sim.host.given import given_tiling
from ascend_sim.host.planning import tiling_context
from ascend_sim.host.registry import operator_named
from ascend_sim.soc import load

OP = "inplace_partial_rotary_mul"
CALL = ["-i", "x=1,41,4,64:float16", "-i", "r1=1,41,1,64:float16", "-i", "r2=1,41,1,64:float16"]
CALL += ["-a", "partial_slice=0,64"]
INPUTS = {"x": ((1, 41, 4, 64), "float16"), "r1": ((1, 41, 1, 64), "float16"), "r2": ((1, 41, 1, 64), "float16")}


def test_the_fastest_is_right_and_as_fast_as_said(cli, tmp_path: Path):
    best, table = tmp_path / "best.json", tmp_path / "table.json"
    found = cli("tune", OP, *CALL, "--limit", "24", "--workers", "1", "--save", str(best), "--json").json
    assert found["own_rank"] > 1  # or this test shows nothing
    table.write_text(json.dumps(found))
    for file in (best, table):
        ran = cli("run", OP, *CALL, "--tiling", str(file), "--json").json
        assert ran["values"]["ok"] is True
        assert ran["values"]["exact"] is True
        assert ran["duration_us"] == pytest.approx(found["best"]["duration_us"], abs=1e-4)
        assert ran["tiling"]["data"] == found["best"]["tiling"]["data"]
    checked = cli("check-tiling", OP, *CALL, "--tiling", str(best), "--json")
    assert checked.code == 0
    assert checked.json["duration_us"] == found["best"]["duration_us"]
    assert checked.json["own_us"] == found["own"]["duration_us"]
    assert checked.json["agrees_with_own"] is False


def test_an_illegal_one_is_not_run(cli, refused, tmp_path: Path):
    file = tmp_path / "tiling.json"
    fields = cli("tiling", OP, *CALL, "--json").json["data"]
    file.write_text(json.dumps({**fields, "ubCalcNum": 900, "ubCalcTailNum": 900}))
    text = refused("run", OP, *CALL, "--tiling", str(file))
    assert text.startswith(f"tiling file {file} is not legal for this call: its buffers take ")
    answer = cli("check-tiling", OP, *CALL, "--tiling", str(file))
    assert (answer.code, answer.err) == (3, "")
    assert "Illegal" in answer.out
    file.write_text("1 2")
    assert "has 2 words" in refused("run", OP, *CALL, "--tiling", str(file), "--no-values")
    assert "has 2 words" in refused("check-tiling", OP, *CALL, "--tiling", str(file))


def test_python_takes_fields_words_and_tilings():
    operator, chip = operator_named(OP), load("ascend910b")
    context = tiling_context(operator, INPUTS, {"partial_slice": [0, 64]}, chip)
    own, *_, other = operator.space_on(chip.name).candidates(context, 10)
    for source in (other, dict(other.data), other.to_json()):
        ran = ascend_sim.run(OP, **INPUTS, partial_slice=[0, 64], tiling=source)
        assert ran.values.ok
        assert (ran.tiling.data, ran.tiling.block_dim) == (other.data, other.block_dim)
    assert given_tiling(operator, context, own, list(own.words))[0].data == own.data
    with pytest.raises(
        InputError, match=r"^the tiling is not legal for this call: numHeads is 3, for this call it has"
    ):
        ascend_sim.run(OP, **INPUTS, partial_slice=[0, 64], tiling={**own.data, "numHeads": 3}, values=False)
    with pytest.raises(InputError, match=r"^the tiling has neither fields of a tiling nor a list of integer words$"):
        ascend_sim.run(OP, **INPUTS, partial_slice=[0, 64], tiling=3.5, values=False)


def test_files_are_looked_at_first(refused, tmp_path: Path):
    same = str(tmp_path / "same")
    assert refused("tune", OP, *CALL, "--csv", same, "--save", same) == (
        f"--csv and --save both name {same!r}: give two files"
    )
    nowhere = tmp_path / "none" / "best.json"
    assert re.match(
        r"cannot write the tiling to .*: there is no directory", refused("tune", OP, *CALL, "--save", str(nowhere))
    )
    assert refused("tune", OP, *CALL, "--workers", "0") == "workers is 0, it must be 1 or more"
    assert refused("tune", OP, *CALL, "--limit", "0") == "limit is 0, it must be 1 or more"
    for top in ("-1", "0"):
        assert refused("tune", OP, *CALL, "--top", top) == f"top is {top}, it must be 1 or more"
    assert refused("tune", OP, *CALL, "--executor", "ray") == (
        "executor 'ray': allowed are processes, or dask://HOST:PORT of a scheduler"
    )


def test_an_interrupt(cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ascend_sim.cli.tune.tune", interrupted)
    answer = cli("tune", OP, *CALL, "--csv", str(tmp_path / "t.csv"))
    assert (answer.code, answer.out, answer.err) == (130, "", "interrupted: nothing was written\n")
    assert list(tmp_path.iterdir()) == []


def test_an_illegal_dump_of_mixed_words_says_why(tmp_path: Path):
    """rope_grad has 32-bit words behind five of 64: with one of padding, a dump is not whole in the larger ones."""
    operator = operator_named("rope_grad")
    call = {**operator.example.inputs, **operator.example.attrs}
    own = ascend_sim.tiling(operator, inputs=operator.example.inputs, attrs=operator.example.attrs)
    words = [word or 0 for word in own.words]
    dump = struct.pack(f"<5q{len(words) - 5}ii", words[0] + 1, *words[1:], 0)
    assert len(dump) % 8
    file = tmp_path / "tiling.bin"
    file.write_bytes(dump)
    with pytest.raises(InputError, match=rf"^tiling file {re.escape(str(file))} is not legal for this call: "):
        ascend_sim.run(operator, **call, tiling=file, values=False)
