from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ascend_sim import __version__
from ascend_sim.cli import guard

from .conftest import ROOT

COMMANDS = ["run", "tiling", "ops", "socs", "exec"]
HEAVY = ["numpy", "yaml", "simpy", "ml_dtypes", "rich", "greenlet"]


def test_help_lists_the_commands(cli):
    answer = cli("--help")
    assert answer.code == 0
    for command in COMMANDS:
        assert f"  {command} " in answer.out
    assert cli().out == answer.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(cli, command):
    answer = cli(command, "--help")
    assert answer.code == 0
    assert answer.out.startswith(f"Usage: ascend-sim {command} ")


def test_version(cli):
    assert cli("--version").out == f"ascend-sim {__version__}\n"


def test_help_imports_nothing_heavy():
    code = (
        "import sys\n"
        "from ascend_sim.cli.guard import invoke\n"
        "invoke(['run', '--help'])\n"
        f"print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stderr == "[]\n"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["bogus"], "No such command 'bogus' (see `ascend-sim --help`)"),
        (["run"], "Missing argument 'OP' (see `ascend-sim run --help`)"),
        (["ops", "--nope"], "No such option: --nope (see `ascend-sim ops --help`)"),
    ],
)
def test_wrong_usage_is_one_line(refused, arguments, text):
    assert refused(*arguments) == text


def test_a_reader_that_leaves_early_is_no_error():
    command = [sys.executable, "-m", "ascend_sim", "socs"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        process.stdout.close()  # before anything is written
        err = process.stderr.read()
    assert (process.returncode, err) == (1, "")


def test_an_interrupt_and_a_full_memory_are_told_in_a_line(monkeypatch, capsys):
    def ends(error):
        def app(*_args, **_kwargs):
            raise error

        monkeypatch.setattr(guard, "app", app)
        return guard.invoke(["ops"]), capsys.readouterr().err

    assert ends(KeyboardInterrupt()) == (130, "interrupted\n")
    assert ends(MemoryError("Unable to allocate 1 TiB")) == (2, "error: not enough memory: Unable to allocate 1 TiB\n")
    monkeypatch.setattr(guard, "_silence", lambda: None)
    full = OSError(28, "No space left on device")
    assert ends(full) == (2, "error: cannot write the output: No space left on device\n")
    with pytest.raises(ZeroDivisionError):  # a mistake of ours keeps its traceback
        ends(ZeroDivisionError())
