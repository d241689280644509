"""`ascend-sim sweep`: files, refusals in one line, Ctrl-C."""

from __future__ import annotations

from pathlib import Path

import pytest

from ascend_sim.cli import sweep as command
from ascend_sim.tune.store import Store

SWEEP = ("sweep", "inplace_partial_rotary_mul", "--over", "x.S=8,16", "--workers", "1")


def test_files_and_json(cli, tmp_path: Path):
    results = tmp_path / "r.sweep"
    files = {name: tmp_path / f"points.{name}" for name in ("csv", "html")}
    given = [word for name, path in files.items() for word in (f"--{name}", str(path))]
    answer = cli(*SWEEP, "--results", str(results), *given, "--json")
    assert (answer.code, answer.err) == (0, "")
    found = answer.json
    assert (found["op"], found["results"]) == ("inplace_partial_rotary_mul", str(results))
    assert [point["at"] for point in found["points"]] == [{"x.S": "8"}, {"x.S": "16"}]
    rows = files["csv"].read_text().splitlines()
    assert [row.split(",")[1] for row in rows[1:]] == [str(point["duration_us"]) for point in found["points"]]
    assert "<h1>inplace_partial_rotary_mul: 2 points</h1>" in files["html"].read_text()
    again = cli(*SWEEP, "--results", str(results))
    assert again.out.splitlines()[-1] == f"Results are kept in {results}"


def test_ctrl_c(cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    keep = Store.keep

    def once(self: Store, *given: object) -> None:
        keep(self, *given)  # type: ignore[arg-type]
        monkeypatch.setattr(Store, "keep", interrupted)

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Store, "keep", once)
    answer = cli(*SWEEP, "--results", str(tmp_path / "r"))
    text = f"interrupted: 1 of 2 points are kept in {tmp_path / 'r'}; the same command goes on from there\n"
    assert (answer.code, answer.out, answer.err) == (130, "", text)
    monkeypatch.setattr(command, "run_sweep", interrupted)
    answer = cli(*SWEEP, "--results", str(tmp_path / "s"))
    assert (answer.code, answer.err) == (130, "interrupted: nothing was timed yet\n")


@pytest.mark.parametrize(
    ("option", "value", "text"),
    [
        ("--workers", "0", "workers is 0, it must be 1 or more"),
        ("--executor", "slurm", "executor 'slurm': allowed are processes, or dask://HOST:PORT of a scheduler"),
        (
            "--html",
            "nowhere/x.html",
            "cannot write the HTML report to 'nowhere/x.html': there is no directory 'nowhere'",
        ),
    ],
)
def test_refused(cli, tmp_path: Path, option: str, value: str, text: str):
    answer = cli(*SWEEP[:4], "--results", str(tmp_path / "r"), option, value)
    assert (answer.code, answer.out, answer.err) == (2, "", f"error: {text}\n")
    assert list(tmp_path.iterdir()) == []
