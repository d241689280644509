"""The commands and their options. What a command does stands in a module of its own, imported when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ascend_sim import __version__
from ascend_sim.cli.options import (
    DEFAULT_L2,
    DEFAULT_SOC,
    PROGRAM,
    Attrs,
    ColdStart,
    Core,
    Cores,
    Executor,
    Explain,
    Full,
    Html,
    Inputs,
    Json,
    L2State,
    LaunchKind,
    Msprof,
    NoValues,
    Op,
    OpSocName,
    Repeat,
    Sets,
    SocName,
    Trace,
    Window,
    Workers,
)

app = typer.Typer(
    name=PROGRAM,
    help="Runs Ascend vector kernels with real values and cycles, without a board.",
    add_completion=False,
    rich_markup_mode=None,  # plain help needs no rich, which takes longer to import than everything else here
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"{PROGRAM} {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Runs Ascend vector kernels with real values and cycles, without a board."""


@app.command(short_help="Run an operator on simulated cores.")
def run(
    op: Op,
    inputs: Inputs = None,
    attrs: Attrs = None,
    soc: OpSocName = None,
    sets: Sets = None,
    json: Json = False,
    full: Full = False,
    no_values: NoValues = False,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the random inputs.")] = 0,
    save: Annotated[
        Path | None,
        typer.Option("--save", help="Write inputs, outputs, golden and tiling words as npz.", show_default=False),
    ] = None,
    trace: Trace = None,
    msprof: Msprof = None,
    html: Html = None,
    cores: Cores = None,
    window: Window = None,
    explain: Explain = False,
    core: Core = None,
    l2: L2State = DEFAULT_L2,
    compare: Annotated[
        str,
        typer.Option(
            "--compare",
            metavar="REF",
            help="Compare the outputs with this reference of the operator's, too.",
            show_default=False,
        ),
    ] = "",
    launch_kind: LaunchKind = "back_to_back",
    cold_start_us: ColdStart = 0.0,
    repeat: Repeat = 1,
    tiling: Annotated[
        Path | None,
        typer.Option(
            "--tiling", metavar="FILE", help="Run with this tiling, see `ascend-sim check-tiling`.", show_default=False
        ),
    ] = None,
) -> None:
    """Run an operator: tiling, values against golden, cycles and what limits them.

    Exit code 0: values right (or not computed), 3: values wrong, 2: bad input.
    """
    from ascend_sim.cli.run import RunRequest, run_operator  # noqa: PLC0415 - `--help` must not wait for numpy

    request = RunRequest(
        op,
        inputs,
        attrs,
        soc,
        sets,
        not no_values,
        seed,
        save,
        trace,
        msprof,
        html,
        cores,
        window,
        explain,
        full,
        core,
        l2,
        json,
        compare,
        launch_kind,
        cold_start_us,
        repeat,
        tiling,
    )
    raise typer.Exit(run_operator(request))


@app.command(short_help="The host side alone: checks and tiling.")
def tiling(
    op: Op,
    inputs: Inputs = None,
    attrs: Attrs = None,
    soc: OpSocName = None,
    cores: Annotated[
        int | None, typer.Option("--cores", help="Vector cores, in place of the chip's.", show_default=False)
    ] = None,
    ub_bytes: Annotated[
        int | None, typer.Option("--ub-bytes", help="Configured UB size, in place of the chip's.", show_default=False)
    ] = None,
    sets: Sets = None,
    json: Json = False,
) -> None:
    """Check a call and print its tiling, as the operator's host code does: key, block dim, fields, raw words."""
    from ascend_sim.cli.tiling import TilingRequest, show_tiling  # noqa: PLC0415

    raise typer.Exit(show_tiling(TilingRequest(op, inputs, attrs, soc, cores, ub_bytes, sets, json)))


@app.command(short_help="Two runs side by side: better, worse, where.")
def diff(
    before: Annotated[Path, typer.Argument(metavar="A.json", help="A run's `--json --full`.", show_default=False)],
    after: Annotated[Path, typer.Argument(metavar="B.json", help="Another one.", show_default=False)],
    json: Json = False,
    html: Html = None,
) -> None:
    """Compare two runs that `run --json --full` has written: times, pipes, waits, counts, bytes, source lines."""
    from ascend_sim.cli.diff import show_diff  # noqa: PLC0415

    show_diff(before, after, json, html)


@app.command(short_help="The legal tilings of a call, timed and ranked.")
def tune(
    op: Op,
    inputs: Inputs = None,
    attrs: Attrs = None,
    soc: OpSocName = None,
    sets: Sets = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="Try at most so many tilings.")] = 300,
    top: Annotated[int, typer.Option("--top", metavar="N", help="Show so many of the fastest.")] = 10,
    workers: Workers = None,
    executor: Executor = None,
    exact: Annotated[bool, typer.Option("--exact", help="Simulate every launch in full, no matter how long.")] = False,
    csv: Annotated[Path | None, typer.Option("--csv", help="Write all tilings as CSV.", show_default=False)] = None,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write a page with charts (needs plotly).", show_default=False)
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save", metavar="FILE", help="Write the fastest tiling, for `run --tiling FILE`.", show_default=False
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Time the legal tilings of a call and rank them against the operator's own choice.

    Every launch is timed without values. A difference smaller than the model's error is called a tie.
    """
    from ascend_sim.cli.tune import TuneRequest, show_tuning  # noqa: PLC0415

    show_tuning(TuneRequest(op, inputs, attrs, soc, sets, limit, top, workers, executor, exact, csv, html, save, json))


@app.command("check-tiling", short_help="Check a tiling of your own: legal, balanced, how long.")
def check_tiling(
    op: Op,
    tiling: Annotated[
        Path,
        typer.Option(
            "--tiling", metavar="FILE", help="JSON of `tune` or `tiling`, or raw int64 words.", show_default=False
        ),
    ],
    inputs: Inputs = None,
    attrs: Attrs = None,
    soc: OpSocName = None,
    sets: Sets = None,
    exact: Annotated[bool, typer.Option("--exact", help="Simulate the launches in full, no matter how long.")] = False,
    json: Json = False,
) -> None:
    """Tell whether a tiling fits UB, covers every element once and balances the cores, and how long it takes.

    Exit code 0: legal, 3: not, 2: bad input.
    """
    from ascend_sim.cli.check_tiling import CheckRequest, show_check  # noqa: PLC0415

    raise typer.Exit(show_check(CheckRequest(op, tiling, inputs, attrs, soc, sets, exact, json)))


@app.command(short_help="One operator over many shapes, chips and dtypes.")
def sweep(
    op: Op,
    over: Annotated[
        list[str],
        typer.Option(
            "--over",
            metavar="NAME=VALUES",
            help="An axis: x.S=128..32768:x2, x.1=64,128, soc=ascend910b,ascend950, dtype=float16,bfloat16, ATTR=...",
            show_default=False,
        ),
    ],
    inputs: Inputs = None,
    attrs: Attrs = None,
    soc: OpSocName = None,
    results: Annotated[
        Path | None,
        typer.Option("--results", help="Results file; without it one named after the sweep.", show_default=False),
    ] = None,
    workers: Workers = None,
    executor: Executor = None,
    exact: Annotated[bool, typer.Option("--exact", help="Simulate every launch in full, no matter how long.")] = False,
    csv: Annotated[Path | None, typer.Option("--csv", help="Write all points as CSV.", show_default=False)] = None,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write a page with charts (needs plotly).", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """Time an operator at every combination of the axes, the last one changing fastest.

    Finished points are kept in the results file: a sweep that was interrupted goes on where it stopped.
    """
    from ascend_sim.cli.sweep import SweepRequest, show_sweep  # noqa: PLC0415

    request = SweepRequest(op, over, inputs, attrs, soc, results, workers, executor, exact, csv, html, json)
    raise typer.Exit(show_sweep(request))


@app.command(short_help="Operators: inputs, dtypes, attributes.")
def ops(
    op: Annotated[str | None, typer.Argument(metavar="[OP]", help="One operator in full.", show_default=False)] = None,
    json: Json = False,
) -> None:
    """List the operators, or show inputs, attributes and a command to paste of one."""
    from ascend_sim.cli.listing import show_operators  # noqa: PLC0415

    show_operators(op, json)


@app.command(short_help="Chips, variants and their parameters.")
def socs(
    variant: Annotated[
        str | None, typer.Argument(metavar="[VARIANT]", help="One chip in full.", show_default=False)
    ] = None,
    sets: Sets = None,
    json: Json = False,
) -> None:
    """List chips and variants, or show every parameter of one with unit and source grade."""
    from ascend_sim.cli.listing import show_chips  # noqa: PLC0415

    show_chips(variant, sets, json)


@app.command(short_help="Simulated against measured times, with errors.")
def accuracy(
    only: Annotated[
        str | None,
        typer.Option("--only", metavar="TEXT", help="Rows with this in id, kernel, kind or chip.", show_default=False),
    ] = None,
    json: Json = False,
    check: Annotated[bool, typer.Option("--check", help="Exit with 1 when a threshold is missed.")] = False,
) -> None:
    """Simulate every kernel that others have measured on a board and that can be rebuilt, and show the errors."""
    from ascend_sim.cli.accuracy import show_accuracy  # noqa: PLC0415

    raise typer.Exit(show_accuracy(only, json, check))


@app.command(
    "exec",
    short_help="Run a script that launches kernels.",
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True},
)
def execute(
    file: Annotated[Path, typer.Argument(metavar="FILE.py", help="Script that launches kernels.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[ARGS]...", help="The script's own.", show_default=False)
    ] = None,
    soc: SocName = DEFAULT_SOC,
    sets: Sets = None,
    no_values: NoValues = False,
    trace: Trace = None,
    msprof: Msprof = None,
    html: Html = None,
    cores: Cores = None,
    window: Window = None,
    explain: Explain = False,
    core: Core = None,
    l2: L2State = DEFAULT_L2,
    pypto: Annotated[bool, typer.Option("--pypto", help="`import pypto` means the PyPTO front end.")] = False,
) -> None:
    """Run a script and print a summary of every kernel launch."""
    from ascend_sim.cli.execute import ScriptRequest, run_script  # noqa: PLC0415

    files = (trace, msprof, html, cores, window)
    request = ScriptRequest(file, arguments or [], soc, sets, not no_values, *files, explain, core, l2, pypto)
    raise typer.Exit(run_script(request))


@app.command(short_help="Lessons: kernels in small steps, each explained by its run.")
def learn(
    lesson: Annotated[str | None, typer.Argument(metavar="[LESSON]", help="A lesson.", show_default=False)] = None,
    step: Annotated[int | None, typer.Argument(metavar="[STEP]", help="Run this step.", show_default=False)] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Give a constant of the step another value.", show_default=False
        ),
    ] = None,
) -> None:
    """List the lessons, or run a step and compare it with the step before: source, times, waits."""
    from ascend_sim.cli.learn import LearnRequest  # noqa: PLC0415
    from ascend_sim.cli.learn import learn as show_lesson  # noqa: PLC0415

    show_lesson(LearnRequest(lesson, step, sets or []))


@app.command(short_help="Write the folder of a new operator.")
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the operator, in snake case.")],
    into: Annotated[Path, typer.Option("--into", metavar="DIR", help="Where the folder is made.")] = Path(),
) -> None:
    """Write declaration, tiling, kernel, golden and test of an operator that runs as it is: `ascend-sim run ./NAME`."""
    from ascend_sim.cli.scaffold import write_operator  # noqa: PLC0415

    write_operator(name, into)
