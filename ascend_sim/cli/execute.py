"""`ascend-sim exec`: a script of the user's own, with a summary of every kernel that it launches."""

from __future__ import annotations

import runpy
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer

from ascend_sim.api import launch_result
from ascend_sim.cli.calls import read_chip, read_l2
from ascend_sim.cli.progress import progress
from ascend_sim.cli.selections import check_selection
from ascend_sim.errors import AscendSimError, InputError, KernelError
from ascend_sim.host.device import OBSERVERS, Device, Launch, set_default_device
from ascend_sim.report.files import check_writable
from ascend_sim.report.selection import read_selection
from ascend_sim.report.style import style_for

SCRIPT_FAILED = 1
_PACKAGE = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True)
class ScriptRequest:
    """The command line as it was given; `soc`, `sets`, `values`, `l2` and `core` shape the script's default device."""

    file: Path
    arguments: list[str]
    soc: str
    sets: list[str] | None
    values: bool
    trace: Path | None
    msprof: Path | None
    html: Path | None
    cores: str | None
    window: str | None
    explain: bool
    core: int | None
    l2: str
    pypto: bool


def run_script(request: ScriptRequest) -> int:
    """Run the script as `python FILE.py ARGS` would; answers the exit code."""
    _check_file(request.file)
    check_selection(request.cores, request.window, request.trace, request.msprof, request.html)
    if request.trace is not None:
        check_writable(request.trace, "trace")
    chip = read_chip(request.soc, request.sets)
    default = Device(chip, values=request.values, l2=read_l2(request.l2), core_filter=request.core)
    printer = _Printer(request)
    with _in_place_of_python(request, default), _shim(request.pypto), progress():
        OBSERVERS.append(printer.show)
        try:
            runpy.run_path(str(request.file), run_name="__main__")
        except SystemExit as leaving:
            return _exit_code(leaving)
        except (KernelError, BrokenPipeError):
            raise  # names its place itself, or is not the script's fault
        except AscendSimError as error:
            raise InputError(f"{_place(error)}{error}") from error
        except Exception as error:
            if not _frames(error):
                raise InputError(f"cannot run {str(request.file)!r}: {_not_python(error)}") from error
            typer.echo(_trimmed(error), err=True, nl=False)
            return SCRIPT_FAILED
        finally:
            OBSERVERS.remove(printer.show)
    if not printer.launches:
        typer.echo(f"{request.file} launched no kernel", err=True)
    return 0


class _Printer:
    """Prints each launch as it ends, and writes its files: t.json, then t.2.json, t.3.json, ..."""

    def __init__(self, request: ScriptRequest) -> None:
        self.launches = 0
        self._request = request
        self._chosen = read_selection(request.cores, request.window)

    def show(self, launch: Launch) -> None:
        self.launches += 1
        result = launch_result(launch)
        request = self._request
        typer.echo(result.summary(style_for(sys.stdout), explain=request.explain) + "\n")
        if request.trace is not None:
            result.write_trace(self._numbered(request.trace), self._chosen)
        if request.html is not None:
            result.write_html(self._numbered(request.html), self._chosen)
        if request.msprof is not None:
            typer.echo(f"wrote {result.write_msprof(request.msprof, self._chosen)}", err=True)

    def _numbered(self, path: Path) -> Path:
        number = "" if self.launches == 1 else f".{self.launches}"
        return path.with_suffix(f"{number}{path.suffix}")


def _check_file(file: Path) -> None:
    if str(file).startswith("-") and not file.exists():
        raise InputError(f"exec has no option {file} (see `ascend-sim exec --help`); the script's own follow FILE.py")
    if not file.exists():
        raise InputError(f"cannot run {str(file)!r}: there is no such file")
    if file.is_dir():
        raise InputError(f"cannot run {str(file)!r}: it is a directory, give a Python file")


@contextmanager
def _in_place_of_python(request: ScriptRequest, default: Device) -> Iterator[None]:
    """What the interpreter sets up for a script, and the device that kernels find when the script opens none."""
    argv, path = sys.argv, list(sys.path)
    sys.argv = [str(request.file), *request.arguments]
    sys.path.insert(0, str(request.file.resolve().parent))
    before = set_default_device(default)
    try:
        yield
    finally:
        set_default_device(before)
        sys.argv, sys.path[:] = argv, path


@contextmanager
def _shim(wanted: bool) -> Iterator[None]:
    """`import pypto` in the script means the front end."""
    if not wanted:
        yield
        return
    from ascend_sim.frontends.pypto.shim import install_shim, remove_shim  # noqa: PLC0415 - few scripts want it

    install_shim()
    try:
        yield
    finally:
        remove_shim()


def _exit_code(leaving: SystemExit) -> int:
    if leaving.code is None or isinstance(leaving.code, int):
        return leaving.code or 0
    typer.echo(leaving.code, err=True)
    return SCRIPT_FAILED


def _frames(error: BaseException) -> list[traceback.FrameSummary]:
    """The frames of the script and of what it imports, without those that brought it here."""
    frames = traceback.extract_tb(error.__traceback__)
    return [f for f in frames if not f.filename.startswith(("<frozen runpy>", str(_PACKAGE)))]


def _place(error: BaseException) -> str:
    frames = _frames(error)
    return f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else ""


def _not_python(error: Exception) -> str:
    """Why nothing of the script ran."""
    if isinstance(error, SyntaxError) and error.lineno:
        return f"line {error.lineno} is not Python: {error.msg}"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return f"it is not a Python file ({error})"


def _trimmed(error: Exception) -> str:
    """The script's own traceback, as Python prints it."""
    head = ["Traceback (most recent call last):\n", *traceback.format_list(_frames(error))]
    return "".join([*head, *traceback.format_exception_only(error)])
