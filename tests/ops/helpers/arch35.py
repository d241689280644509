"""Which lines the 950's kernels touch, worked out from the tiling fields as the kernels read them.

A line is one head at one position. Each function answers how often every line is visited; a sound tiling visits each
exactly once. Block numbers map to pieces of the axes as in the published kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.errors import TilingError
from ascend_sim.host.tiling import Tiling

Visits = npt.NDArray[np.int64]
Fields = Mapping[str, Any]


def steps(start: int, stop: int, size: int) -> Iterator[slice]:
    """A loop over [start, stop) in steps of `size`, the last one shorter."""
    assert size > 0
    for at in range(start, stop, size):
        yield slice(at, min(at + size, stop))


def piece(index: int, factor: int, total: int) -> tuple[int, int]:
    """What a core takes of an axis."""
    return index * factor, min((index + 1) * factor, total)


def one_axis(block_dim: int, lines: int, factor: int, per_step: int) -> Visits:
    visits = np.zeros(lines, np.int64)
    for block in range(block_dim):
        start, stop = piece(block, factor, lines)
        assert start < stop  # no core idles
        for rows in steps(start, stop, per_step):
            visits[rows] += 1
    return visits


def positions_by_heads(block_dim: int, fields: Fields, positions: int, heads: int) -> Visits:
    """AB: block = position piece * blockNumN + head piece; the last piece has its tail field."""
    visits = np.zeros((positions, heads), np.int64)
    for block in range(block_dim):
        at, n_at = divmod(block, fields["blockNumN"])
        rows = fields["blockTailBS"] if at == fields["blockNumBS"] - 1 else fields["blockFactorBS"]
        columns = fields["blockTailN"] if n_at == fields["blockNumN"] - 1 else fields["blockFactorN"]
        assert rows > 0
        assert columns > 0
        first, first_n = at * fields["blockFactorBS"], n_at * fields["blockFactorN"]
        for part in steps(first, first + rows, fields["ubFactorBS"]):
            for part_n in steps(first_n, first_n + columns, fields["ubFactorN"]):
                visits[part, part_n] += 1
    return visits


def batches_by_positions(
    block_dim: int, fields: Fields, shape: tuple[int, int, int], step_b: int, step_s: int, step_n: int
) -> Visits:
    """BAB, ABA, BA: block % blockNumB is the batch piece, block // blockNumB the piece of positions."""
    b, s, n = shape
    visits = np.zeros(shape, np.int64)
    assert block_dim == fields["blockNumB"] * fields["blockNumS"]
    for block in range(block_dim):
        s_at, b_at = divmod(block, fields["blockNumB"])
        batches = piece(b_at, fields["blockFactorB"], b)
        positions = piece(s_at, fields["blockFactorS"], s)
        assert batches[0] < batches[1]
        assert positions[0] < positions[1]
        for part_s in steps(*positions, step_s):
            for part_b in steps(*batches, step_b):
                for part_n in steps(0, n, step_n):
                    visits[part_b, part_s, part_n] += 1
    return visits


# -- what every tiling keeps -------------------------------------------------------------------------------------------


def if_it_fits(tile: Callable[[], Tiling]) -> Tiling | None:
    """The tiling, or None where rows need more unified buffer than there is, which no random call can rule out."""
    try:
        return tile()
    except TilingError as refused:
        if "of unified buffer" not in str(refused):
            raise
        return None


def check_once(touched: Visits, lines: int) -> None:
    assert touched.size == lines
    assert (touched == 1).all()


def check_cut(found: Tiling, lines: int, cores: int, ub_bytes: int) -> None:
    """Cores that there are, every line in one share, buffers that fit."""
    assert 1 <= found.block_dim <= cores
    assert found.block_dim == sum(share.cores for share in found.shares)
    assert sum(share.cores * share.rows for share in found.shares) == lines
    assert 0 < found.ub_used_bytes <= ub_bytes


def check_words(found: Tiling) -> None:
    """The words are the fields, in their order."""
    assert found.words == tuple(value for name, value in found.data.items() if name != "path")
