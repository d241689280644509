"""How far to trust the simulated times: kernels measured on real boards by others, rebuilt and compared.

`data/` holds the measured rows, `kernels/` the kernels they ran, `table` simulates and compares them, `expected`
answers how large the error of an estimate is likely to be. Nothing here reaches the machine but the programs
themselves: no kernel's name, shape or row id does.
"""
