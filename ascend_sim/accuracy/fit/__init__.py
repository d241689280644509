"""Refit the constants of grade "fitted" on the measured rows: `python -m ascend_sim.accuracy.fit`.

Every constant of an architecture's file whose grade is `fitted` takes part, and no other; there is no second list. The
fit minimises the logarithms of simulated over measured (`newton.residuals`) and, with little weight, the distance of
each constant from its prior: what one would take had nobody measured it (`constants.PRIORS`). Constants are changed by
factors, so they keep their sign.

The command prints the constants before and after, the largest residuals, how large the error is when a constant has no
effect, and for every source of rows the error that constants fitted without that source have on it (leave one source
out). Nothing is written: a person reads the figures, and changes the YAML file with its comment.
"""
