from __future__ import annotations

import json

from .test_run import OP, SLICE, SMALL


def test_two_runs(cli, tmp_path):
    for name, more in (("a", []), ("b", ["--l2", "cold"])):
        answer = cli("run", OP, *SMALL, *SLICE, "--no-values", "--json", "--full", *more)
        assert answer.code == 0
        (tmp_path / f"{name}.json").write_text(answer.out)
    before, after = (str(tmp_path / f"{name}.json") for name in "ab")
    shown = cli("diff", before, after)
    assert (shown.code, shown.err) == (0, "")
    assert "times as slow" in shown.out
    found = cli("diff", before, after, "--json").json
    assert found.keys() == {"runs", "time", "pipes", "waits", "path", "instructions", "bytes", "lines"}
    duration = found["time"][0]
    assert duration["name"] == "Task Duration"
    assert duration["before"] == json.loads((tmp_path / "a.json").read_text())["duration_us"] < duration["after"]


def test_refusals(cli, tmp_path):
    (tmp_path / "a.json").write_text("{}")
    answer = cli("diff", str(tmp_path / "a.json"), str(tmp_path / "b.json"))
    assert answer.code == 2
    assert "does not hold a run that can be compared: write it with `run --json --full`" in answer.err
    answer = cli("run", OP, *SMALL, *SLICE, "--full")
    assert answer.code == 2
    assert "--full says what the JSON holds: give it together with --json" in answer.err
