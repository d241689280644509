from __future__ import annotations

import io
import sys
import time

import pytest

from ascend_sim.cli import progress as progress_module
from ascend_sim.cli.progress import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Recorder:
    """What the progress line looks at: `launch` is None outside a launch."""

    launch: object = object()
    block, block_dim = 4, 48


@pytest.fixture(autouse=True)
def recorder(monkeypatch):
    monkeypatch.setattr(progress_module, "RECORDER", Recorder)
    monkeypatch.setattr(Recorder, "launch", object())
    return Recorder


def wait_for(condition):
    for _ in range(400):
        if condition():
            return
        time.sleep(0.005)
    raise AssertionError("nothing was shown in two seconds")


def test_a_long_run_shows_what_it_does(recorder):
    stream = Terminal()
    with progress(stream, after_s=0.01):
        wait_for(stream.getvalue)
        recorder.launch = None
        wait_for(lambda: "timing the instructions, 0 s" in stream.getvalue())
    shown = stream.getvalue()
    assert shown.startswith("\r\x1b[Krunning block 5 of 48, 0 s")
    assert shown.endswith("s\r\x1b[K")


def test_short_runs_and_files_see_nothing():
    terminal, file = Terminal(), io.StringIO()
    with progress(terminal, after_s=60):
        pass
    with progress(file, after_s=0):
        time.sleep(0.02)
    assert terminal.getvalue() == file.getvalue() == ""


def test_what_is_printed_takes_the_lines_place(capsys):
    stream, before = Terminal(), sys.stdout
    with progress(stream, after_s=0.01):
        wait_for(stream.getvalue)
        print("half ", end="")
        assert stream.getvalue().endswith("s\r\x1b[K")
        shown = stream.getvalue()
        time.sleep(0.25)
        assert stream.getvalue() == shown  # never in the middle of somebody's line
        print("whole")
        wait_for(lambda: len(stream.getvalue()) > len(shown))
    assert sys.stdout is before
    assert capsys.readouterr().out == "half whole\n"
