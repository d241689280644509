"""Options that several commands have, and reading the KEY=VALUE texts among them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from ascend_sim.errors import InputError

PROGRAM = "ascend-sim"
INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""
DEFAULT_SOC = "ascend910b"
DEFAULT_L2 = "warm"

Op = Annotated[str, typer.Argument(metavar="OP", help="Operator, see `ascend-sim ops`.", show_default=False)]
Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        "-i",
        metavar="NAME=SHAPE:DTYPE",
        help="An input: x=2,32,8,128:float16 (seeded random values), x=@x.npy, x=@x.npy:bfloat16 (rounded on "
        "reading). Without any, the operator's example runs.",
        show_default=False,
    ),
]
Attrs = Annotated[
    list[str] | None,
    typer.Option("--attr", "-a", metavar="NAME=VALUE", help="An attribute: partial_slice=0,64.", show_default=False),
]
OpSocName = Annotated[
    str | None,
    typer.Option(
        "--soc",
        help=f"Chip or variant, see `ascend-sim socs`; without it {DEFAULT_SOC}, or the first that has the operator.",
        show_default=False,
    ),
]
SocName = Annotated[str, typer.Option("--soc", help="Chip or variant, see `ascend-sim socs`.")]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Override a chip parameter: ub.bytes=262144.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Full = Annotated[bool, typer.Option("--full", help="With --json: all that `ascend-sim diff` compares.")]
NoValues = Annotated[bool, typer.Option("--no-values", help="Time only; compute no values.")]
Explain = Annotated[
    bool,
    typer.Option("--explain", help="Say where the time goes: waits by reason, critical path, bound, what if."),
]
Trace = Annotated[
    Path | None,
    typer.Option("--trace", help="Write a Chrome trace (Perfetto, chrome://tracing).", show_default=False),
]
Msprof = Annotated[
    Path | None,
    typer.Option(
        "--msprof", metavar="DIR", help="Write a folder there as msprof does (OPPROF_...).", show_default=False
    ),
]
Html = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Write a report to read offline in a browser.", show_default=False),
]
Cores = Annotated[
    str | None,
    typer.Option("--cores", metavar="0-3,8", help="Only these vector cores in traces and reports.", show_default=False),
]
Window = Annotated[
    str | None,
    typer.Option(
        "--window", metavar="BEGIN:END", help="Only this time in traces and reports, in us.", show_default=False
    ),
]
Core = Annotated[
    int | None,
    typer.Option("--core", metavar="N", help="Show what block N alone prints.", show_default=False),
]
L2State = Annotated[
    str,
    typer.Option("--l2", metavar="warm|cold", help="L2 before a launch: as back-to-back launches leave it, or empty."),
]
LaunchKind = Annotated[
    str,
    typer.Option(
        "--launch-kind",
        metavar="back_to_back|few_launches|in_situ",
        help="What ran before the launch: many of the same, few (cold start), or other kernels.",
    ),
]
ColdStart = Annotated[
    float, typer.Option("--cold-start", metavar="US", help="Microseconds that every block starts later, on top.")
]
Repeat = Annotated[
    int,
    typer.Option("--repeat", metavar="N", help="Launch N times; later launches find L2 as the ones before left it."),
]

Workers = Annotated[
    int | None,
    typer.Option("--workers", metavar="N", help="Processes; without it as many as processors.", show_default=False),
]
Executor = Annotated[
    str | None,
    typer.Option(
        "--executor",
        metavar="WHERE",
        help="processes (of this machine), or dask://HOST:PORT: the workers of a Dask cluster.",
        show_default=False,
    ),
]


def key_values(texts: Iterable[str] | None, option: str, form: str) -> dict[str, str]:
    """`["a=1", "b=2"]` as a dict; a text without "=" or a key that comes twice is refused."""
    found: dict[str, str] = {}
    for text in texts or ():
        key, equals, value = text.partition("=")
        key, value = key.strip(), value.strip()
        if not equals or not key:
            raise InputError(f"{option} {text!r} must have the form {form}")
        if key in found:
            raise InputError(f"{option} {key} is given twice: {found[key]!r} and {value!r}")
        found[key] = value
    return found
