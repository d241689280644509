from __future__ import annotations

from dataclasses import replace

import pytest

from ascend_sim.host.registry import operator_named

OP = "inplace_partial_rotary_mul"
CALL = ["-i", "x=4,1024,16,128:bfloat16", "-i", "r1=4,1024,1,64:float32", "-i", "r2=4,1024,1,64:float32"]


def test_json_has_key_fields_and_words(cli):
    answer = cli("tiling", OP, *CALL, "--attr", "partial_slice=64,128", "--soc", "Ascend910B3", "--json")
    assert answer.code == 0
    found = answer.json
    assert found["ok"] is True
    assert (found["soc"], found["variant"]) == ("ascend910b", "Ascend910B3")
    assert (found["key"], found["block_dim"], found["workspace_bytes"]) == (2030, 40, 16 << 20)
    assert found["data"]["path"] == "split_s"
    assert found["data"]["start"] == 64
    fields = [value for name, value in found["data"].items() if name != "path"]
    assert found["words"] == fields


def test_cores_and_ub_bytes_stand_in_for_the_chips(cli):
    few = cli("tiling", OP, *CALL, "--attr", "partial_slice=64,128", "--cores", "7", "--json").json
    assert few["block_dim"] == 7
    small = cli("tiling", OP, *CALL, "--attr", "partial_slice=64,128", "--ub-bytes", "65536", "--json").json
    assert small["ub"]["capacity_bytes"] == 65536


def test_set_changes_the_chip(cli):
    usual = cli("tiling", OP, *CALL, "--attr", "partial_slice=64,128", "--json").json
    large = cli("tiling", OP, *CALL, "--attr", "partial_slice=64,128", "--set", "ub.bytes=262144", "--json").json
    assert large["ub"]["capacity_bytes"] - usual["ub"]["capacity_bytes"] == 65536
    assert large["data"]["ubCalcNum"] > usual["data"]["ubCalcNum"]


def test_text_tells_key_cores_and_ub(cli):
    answer = cli("tiling", OP)
    assert answer.code == 0
    for text in (
        "key 2000: ",
        "block dim 40, workspace 16 MiB",
        "24 front cores: 2 rows each",
        "of 196,352 B",
        "Words",
    ):
        assert text in answer.out


@pytest.fixture
def only_planned(monkeypatch):
    """The operator as if only the 950 had it, and had no kernels yet; one word of its tiling is not modelled."""
    real = operator_named(OP)

    def tiling(context):
        found = real.supports["ascend950"].tiling(context)
        return replace(found, words=(None, *found.words[1:]), notes=("word 0 is the library's",))

    support = replace(real.supports["ascend950"], kernel=None, tiling=tiling)
    planned = replace(real, supports={"ascend950": support})
    monkeypatch.setattr("ascend_sim.cli.tiling.operator_named", lambda name: planned)


def test_a_tiling_without_kernels_says_so(cli, only_planned):
    answer = cli("tiling", OP)
    assert answer.code == 0
    assert "InplacePartialRotaryMul on Ascend950PR_9589" in answer.out
    told = " ".join(answer.out.split())
    assert "Words ? 32 " in told
    assert "Note word 0 is the library's" in told
    assert "Note cannot be run: its kernels for ascend950 are not simulated yet, only their tiling is; it runs" in told
    found = cli("tiling", OP, "--json").json
    assert found["words"][:2] == [None, 32]
    assert found["notes"] == ["word 0 is the library's"]
    assert found["not_runnable"].startswith("its kernels for ascend950 are not simulated yet")


def test_a_refusal_is_json_with_exit_code_2(cli):
    answer = cli("tiling", OP, "--attr", "partial_slice=0,63", "--json")
    assert answer.code == 2
    assert list(answer.json) == ["ok", "error"]
    assert answer.json["ok"] is False
    assert answer.json["error"].startswith("InplacePartialRotaryMul: partial_slice is [0, 63)")
    assert answer.err == ""


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["nope"], "unknown operator 'nope'"),
        ([OP, "--soc", "Ascend910Z"], "unknown SoC 'Ascend910Z'"),
        ([OP, "--soc", "Ascend310P"], "Ascend310P (Atlas inference series) is not supported by"),
        ([OP, "--set", "ub.size=1"], "Ascend910B3 has no parameter 'ub.size'"),
        ([OP, "--set", "ub.bytes"], "--set 'ub.bytes' must have the form path.to.field=value"),
        ([OP, "--set", "ub.bytes=many"], "override: ub.bytes of Ascend910B3 cannot be 'many'"),
        ([OP, "--attr", "partial_slice=0,63"], "InplacePartialRotaryMul: partial_slice is [0, 63)"),
        ([OP, "--attr", "slice=0,64"], "inplace_partial_rotary_mul has no attribute 'slice'"),
        ([OP, "--attr", "rotary_mode=half"], "InplacePartialRotaryMul: attribute rotary_mode is 'half'"),
        ([OP, "-i", "y=1:float16"], "inplace_partial_rotary_mul has no input 'y'"),
        ([OP, "-i", "x=1,2:float16"], "InplacePartialRotaryMul: required input cos is missing"),
        ([OP, "-i", "x=1:float16", "-i", "x=2:float16"], "--input x is given twice: '1:float16' and '2:float16'"),
        ([OP, "--cores", "many"], "Invalid value for '--cores': "),
        ([OP, "--cores", "70000"], "cores is 70000; at most 65535 can be"),
        ([OP, "--ub-bytes", str(2**63)], "ub_bytes is 9223372036854775808; at most 9223372036854775807 can be"),
    ],
)
def test_bad_input_is_one_line(refused, arguments, text):
    assert refused("tiling", *arguments).startswith(text)
