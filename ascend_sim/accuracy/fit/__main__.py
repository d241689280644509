"""The command `python -m ascend_sim.accuracy.fit`."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence

import numpy as np

from ascend_sim.accuracy.fit.constants import PRIORS, REFERENCES, Values, fitted_constants
from ascend_sim.accuracy.fit.newton import Linear, fit
from ascend_sim.accuracy.fit.simulations import Simulations
from ascend_sim.accuracy.fit.validate import ablation, leave_one_out, median_error
from ascend_sim.accuracy.rows import all_rows, choose
from ascend_sim.accuracy.table import Entry
from ascend_sim.soc import load

WORST_SHOWN = 15


def main(arguments: Sequence[str] | None = None) -> None:
    """Refit, print; see the package."""
    given = _parser().parse_args(arguments)
    begin = time.perf_counter()
    priors = PRIORS[given.arch]
    before: Values = {
        p.path: float(p.value) for p in fitted_constants(REFERENCES[given.arch]) if isinstance(p.value, int | float)
    }
    rows = [row for row in choose(all_rows(), given.only) if row.family and load(row.soc).arch == given.arch]
    everything = Simulations(rows, before, given.workers)
    rows = [e.row for e in everything.table(before) if e.sample is not None and e.seconds <= given.seconds]
    simulations = everything.restricted(rows)
    after, linear = fit(simulations, before, priors, given.rounds)
    old, table = everything.tables([before, after])
    print(f"{len(rows)} of {len(old)} rows of architecture {given.arch}, {len(before)} fitted constants")
    print(f"median error of all rows {median_error(old):.2%} -> {median_error(table):.2%}")
    print_constants(before, after, priors)
    print_worst(table)
    if given.ablation:
        print_ablation(simulations, after)
    if given.sources:
        print_sources(everything, linear, priors)
    print(f"\n{everything.count} simulations in {time.perf_counter() - begin:.0f} s")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Refit the fitted timing constants on the measured rows.")
    parser.add_argument("--arch", choices=sorted(REFERENCES), default="2201", help="whose constants and rows")
    parser.add_argument("--only", help="rows with this in id, kernel, kind or chip")
    parser.add_argument("--rounds", type=int, default=2, help="Gauss-Newton steps; 0 keeps the constants of the files")
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="rows that take longer to simulate are not fitted to"
    )
    parser.add_argument("--workers", type=int, help="processes; as many as cores without it")
    parser.add_argument("--no-ablation", dest="ablation", action="store_false", help="do not leave constants out")
    parser.add_argument("--no-sources", dest="sources", action="store_false", help="do not leave sources out")
    return parser


def print_constants(before: Values, after: Values, priors: Mapping[str, float]) -> None:
    """Each constant: what the files have, what the fit finds, what it would be without any row."""
    print(f"\n{'constant':<48} {'file':>8} {'fit':>8} {'prior':>8}")
    for path, value in after.items():
        print(f"{path:<48} {before[path]:>8.4g} {value:>8.4g} {priors[path]:>8.4g}")


def print_worst(entries: Sequence[Entry]) -> None:
    """The largest residuals of the duration."""
    print("\nlargest errors of the duration")
    errors = [(entry.headline.error, entry.row.id) for entry in entries if entry.headline is not None]
    for error, row in sorted(errors, key=lambda found: -abs(found[0]))[:WORST_SHOWN]:
        print(f"{error:>+7.1%}  {row}")


def print_ablation(simulations: Simulations, values: Values) -> None:
    """Each constant left out."""
    print("\nmedian error of the duration with a constant left out")
    print(f"{'constant':<48} {'all rows':>8}  rows that notice: with it, without it")
    for found in ablation(simulations, values):
        print(
            f"{found.path:<48} {found.everything:>8.1%}  {found.rows:>4} rows {found.with_it:>8.1%} "
            f"{found.without_it:>8.1%}",
            flush=True,
        )


def print_sources(simulations: Simulations, linear: Linear, priors: Mapping[str, float]) -> None:
    """Leave one source out: each source, then all."""
    print("\nerror of the duration on a source with constants fitted to the others")
    everything: list[float] = []
    for group, (values, errors) in leave_one_out(simulations, linear, priors).items():
        sizes = [abs(error) for error in errors]
        everything += sizes
        unseen = [path.rpartition(".")[2] for path, value in values.items() if _is_prior(path, value, priors)]
        text = f"  (at their priors: {', '.join(unseen)})" if unseen else ""
        print(f"without {group:<16} {len(sizes):>3} rows, median {np.median(sizes):>6.1%}{text}", flush=True)
    if everything:
        p90 = np.percentile(everything, 90)
        print(f"all {len(everything)} rows: median {np.median(everything):.1%}, 90th percentile {p90:.1%}")


def _is_prior(path: str, value: float, priors: Mapping[str, float]) -> bool:
    return abs(value / priors[path] - 1) < 0.02


if __name__ == "__main__":
    main()
