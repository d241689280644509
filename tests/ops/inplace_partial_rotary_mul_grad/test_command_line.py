"""All eight broadcast forms of both operators on the 950, and empty tensors, from the command line."""

from __future__ import annotations

import json

import pytest

from ascend_sim.cli.guard import invoke

FORMS = {
    "BSND": "2,3,4", "111D": "1,1,1", "1SND": "1,3,4", "B1ND": "2,1,4", "BS1D": "2,3,1", "11ND": "1,1,4",
    "B11D": "2,1,1", "1S1D": "1,3,1",
}  # fmt: skip
FORWARD = "inplace_partial_rotary_mul"
KEYS = {
    FORWARD: [20040, 20041, 20011, 20010, 20030, 20011, 20030, 20020],
    f"{FORWARD}_grad": [205, 206, 202, 201, 204, 202, 204, 203],
}


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    capsys.readouterr()
    code = invoke(("run", *arguments, "--soc", "ascend950", "--json"))
    found = capsys.readouterr()
    assert (code, found.err) == (0, "")
    answer: dict[str, object] = json.loads(found.out)
    return answer


def call(name: str, x: str, cos: str) -> tuple[str, ...]:
    first = "dy" if name.endswith("grad") else "x"
    tables = [text for table in ("cos", "sin") for text in ("-i", f"{table}={cos}:float32")]
    return (name, "-i", f"{first}={x}:float16", *tables)


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("form", FORMS)
def test_forms(name: str, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    answer = told(capsys, *call(name, "2,3,4,40", f"{FORMS[form]},34"), "--attr", "partial_slice=2,36")
    assert answer["values"]["ok"] is True  # type: ignore[index]
    mixed = 200 if name == FORWARD else 0
    assert answer["tiling"]["key"] == KEYS[name][list(FORMS).index(form)] + mixed  # type: ignore[index]
    assert answer["instructions"] > 0  # type: ignore[operator]


@pytest.mark.parametrize(
    ("name", "x", "cos", "part", "key"),
    [
        (FORWARD, "2,3,4,40", "2,3,1,0", "4,4", 20040),
        (f"{FORWARD}_grad", "2,3,4,40", "2,3,1,0", "4,4", 403),
        (f"{FORWARD}_grad", "0,3,4,40", "1,3,1,34", "2,36", 403),
        (f"{FORWARD}_grad", "2,3,4,40", "2,0,1,34", "2,36", 403),
    ],
)
def test_nothing_to_do(name: str, x: str, cos: str, part: str, key: int, capsys: pytest.CaptureFixture[str]) -> None:
    answer = told(capsys, *call(name, x, cos), "--attr", f"partial_slice={part}")
    assert (answer["tiling"]["key"], answer["tiling"]["block_dim"]) == (key, 1)  # type: ignore[index]
    assert (answer["instructions"], answer["values"]["ok"]) == (0, True)  # type: ignore[index]
    assert answer["duration_us"] > 0  # type: ignore[operator]
