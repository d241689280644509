"""The way in and out: every error that a user can cause becomes one line and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import typer

from ascend_sim.cli.app import app
from ascend_sim.cli.options import INTERRUPTED, PROGRAM
from ascend_sim.errors import AscendSimError, DeadlockError

READER_LEFT, BAD_INPUT = 1, 2  # click ends with 1 for a broken pipe


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the console script; ends the process with the command's exit code."""
    sys.exit(invoke(arguments))


def invoke(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and answer its exit code."""
    try:
        given = list(sys.argv[1:] if arguments is None else arguments)
        code = app(given or ["--help"], prog_name=PROGRAM, standalone_mode=False)
        sys.stdout.flush()
    except AscendSimError as error:
        return _fail(str(error) if isinstance(error, DeadlockError) else _one_line(str(error)))
    except OSError as error:
        return _reader_left() if isinstance(error, BrokenPipeError) else _cannot_print(error)
    except MemoryError as error:
        return _fail(f"not enough memory: {error or 'use smaller inputs, or --no-values'}")
    except (KeyboardInterrupt, typer.Abort):
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        if hasattr(error, "format_message"):  # usage errors of click, whichever click typer brings along
            command = getattr(getattr(error, "ctx", None), "command_path", PROGRAM)
            return _fail(f"{error.format_message().removesuffix('.')} (see `{command} --help`)")
        raise
    return code if isinstance(code, int) else 0


def _one_line(text: str) -> str:
    """A text with a list under it as one line; only a deadlock's list of waiters is worth more lines."""
    lines = [line.strip() for line in text.splitlines()]
    return "".join(f"{line}{' ' if line.endswith((':', ';')) else '; '}" for line in lines[:-1]) + lines[-1]


def _fail(text: str) -> int:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _reader_left()
    print(f"error: {text}", file=sys.stderr)
    return BAD_INPUT


def _reader_left() -> int:
    """Nobody reads stdout any more (`| head`)."""
    _silence()
    return READER_LEFT


def _cannot_print(error: OSError) -> int:
    """Files report their own errors, so what is left is stdout: a full disk behind `>`."""
    _silence()
    print(f"error: cannot write the output: {error.strerror or error}", file=sys.stderr)
    return BAD_INPUT


def _silence() -> None:
    """Let the flush at exit go nowhere instead of failing again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
