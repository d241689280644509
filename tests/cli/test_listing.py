from __future__ import annotations

import pytest

from ascend_sim.host.registry import operator_named, operator_names

OP = "inplace_partial_rotary_mul"


def test_ops_lists_operators_socs_and_dtypes(cli):
    answer = cli("ops")
    assert answer.code == 0
    assert f"{OP}  InplacePartialRotaryMul\n" in answer.out
    assert "ascend910b, ascend910_93, ascend950" in answer.out
    assert "float16, float32, bfloat16, float16 + float32, bfloat16 + float32" in answer.out
    row = next(row for row in cli("ops", "--json").json["operators"] if row["name"] == OP)
    assert list(row["socs"]) == ["ascend910b", "ascend910_93", "ascend950"]


def test_one_operator_in_full_with_a_command_that_works(cli):
    answer = cli("ops", OP)
    for text in ("cos (also r1)", "rotary_mode", "default 0,0", "B11D: (B, 1, 1, L)", "(float16, float32, float32)"):
        assert text in answer.out
    command = cli("ops", OP, "--json").json["command"]
    assert command in answer.out
    assert command.split()[:3] == ["ascend-sim", "run", OP]


@pytest.mark.parametrize("name", operator_names())
def test_the_command_of_every_operator_is_its_example(cli, name):
    operator = operator_named(name)
    command = cli("ops", name, "--json").json["command"].split()
    runs = operator.supports[operator.default_soc].simulated
    assert command[:3] == ["ascend-sim", "run" if runs else "tiling", name]
    assert cli("tiling", *command[2:], "--json").json == cli("tiling", name, "--json").json


def test_operators_may_be_called_by_their_type_name(cli):
    assert cli("ops", "InplacePartialRotaryMul").out == cli("ops", OP).out


def test_unknown_operator(refused):
    assert refused("ops", "inplace_partial_rotary").startswith(
        "unknown operator 'inplace_partial_rotary': did you mean"
    )


def test_socs_lists_chips_and_variants(cli):
    answer = cli("socs")
    assert answer.code == 0
    for text in ("Ascend910B4-1", "Ascend910_9392", "Ascend950PR_9589", "Atlas A2", "Not supported"):
        assert text in answer.out
    families = cli("socs", "--json").json["families"]
    assert [family["default"] for family in families] == ["Ascend910B3", "Ascend910_9392", "Ascend950PR_9589"]


def test_one_chip_with_every_parameter(cli):
    rows = {row["path"]: row for row in cli("socs", "Ascend910B4", "--json").json["parameters"]}
    assert (rows["cores.aiv"]["value"], rows["clock_mhz"]["unit"]) == (40, "MHz")
    assert all(row["grade"] for row in rows.values())
    text = cli("socs", "Ascend910B4").out
    assert all(path.rpartition(".")[2] in text for path in rows)


def test_one_chip_with_an_override(cli):
    rows = {row["path"]: row for row in cli("socs", "Ascend910B4", "--set", "cores.aiv=8", "--json").json["parameters"]}
    assert (rows["cores.aiv"]["value"], rows["cores.aiv"]["grade"]) == (8, "override")


def test_unknown_chip(refused):
    assert refused("socs", "Ascend1").startswith("unknown SoC 'Ascend1'")
