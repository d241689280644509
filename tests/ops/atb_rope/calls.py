"""Calls of atb_rope: sizes, dtypes, and running them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

import ascend_sim
from ascend_sim.report.result import OperatorResult

Array = npt.NDArray[Any]
HALF, BF16, FLOAT = np.float16, ml_dtypes.bfloat16, np.float32


@dataclass(frozen=True)
class Call:
    """`lengths` given means cosFormat 1."""

    tokens: int
    hidden_q: int
    hidden_k: int
    head_dim: int
    coeff: int
    dtype: Any = HALF
    table: Any = HALF
    lengths: tuple[int, ...] = ()
    soc: str = "Ascend910B3"

    @property
    def attrs(self) -> dict[str, int]:
        return {"rotaryCoeff": self.coeff, "cosFormat": int(bool(self.lengths))}

    @property
    def rows(self) -> int:
        return max(self.lengths) if self.lengths else self.tokens

    def shapes(self) -> dict[str, tuple[int, ...]]:
        table = (self.rows, self.head_dim)
        return {
            "q": (self.tokens, self.hidden_q), "k": (self.tokens, self.hidden_k), "cos": table, "sin": table,
            "seqlen": (len(self.lengths) or 1,),
        }  # fmt: skip

    def dtypes(self) -> dict[str, str]:
        x, table = np.dtype(self.dtype).name, np.dtype(self.table).name
        return {"q": x, "k": x, "cos": table, "sin": table, "seqlen": "int32"}

    def inputs(self, seed: int = 0) -> dict[str, Array]:
        rng = np.random.default_rng(seed)
        found = {
            name: rng.uniform(-2, 2, shape).astype(self.dtype if name in "qk" else self.table)
            for name, shape in self.shapes().items()
            if name != "seqlen"
        }
        return found | {"seqlen": np.array(self.lengths or [self.tokens], np.int32)}

    def pairs(self) -> dict[str, tuple[tuple[int, ...], str]]:
        dtypes = self.dtypes()
        return {name: (shape, dtypes[name]) for name, shape in self.shapes().items()}

    def run(self, **options: Any) -> OperatorResult:
        return ascend_sim.run("atb_rope", **self.inputs(), **self.attrs, soc=self.soc, **options)

    def timed(self, **options: Any) -> OperatorResult:
        return ascend_sim.run("atb_rope", **self.pairs(), **self.attrs, soc=self.soc, values=False, **options)


# by tiling id, then by what is special: (call, multiple)
CALLS = {
    "20-halves": Call(4, 4096, 4096, 128, 2),
    "20-quarters": Call(4, 4096, 1024, 128, 4),
    "20-neighbours": Call(5, 448, 448, 64, 64),
    "20-part of 24 B": Call(10, 240, 48, 24, 2),
    "20-part of 20 B": Call(9, 240, 240, 40, 4),
    "20-part of 16 B": Call(9, 128, 64, 16, 2),
    "20-several slices": Call(3, 26624, 1024, 1024, 2),
    "20-last core shorter": Call(41, 64, 64, 32, 2),
    "20-samples": Call(40, 256, 256, 32, 2, lengths=(10, 5, 25)),
    "20-samples, rows of 48 B": Call(90, 240, 240, 24, 24, lengths=(10, 5, 25, 50)),
    "21-halves": Call(4, 4096, 4096, 128, 2, table=FLOAT),
    "21-quarters": Call(70, 256, 128, 64, 4, table=FLOAT),
    "21-neighbours": Call(64, 32, 32, 16, 16, table=FLOAT),
    "21-part of 24 B": Call(10, 240, 48, 24, 2, table=FLOAT),
    "21-several slices": Call(41, 8192, 1024, 128, 2, table=FLOAT),
    "21-samples": Call(40, 256, 256, 32, 2, table=FLOAT, lengths=(10, 5, 25)),
    "21-samples, rows of 96 B": Call(90, 240, 240, 24, 24, table=FLOAT, lengths=(10, 5, 25, 50)),
    "22-halves": Call(3, 16640, 8320, 128, 2, BF16, BF16),
    "22-neighbours": Call(70, 448, 448, 16, 16, BF16, BF16),
    "22-part of 24 B": Call(9, 240, 48, 24, 2, BF16, BF16),
    "22-rows of 48 B": Call(9, 240, 48, 24, 24, BF16, BF16),
    "22-samples": Call(40, 256, 256, 32, 2, BF16, BF16, lengths=(10, 5, 25)),
    "23-halves": Call(100, 1024, 1024, 64, 2),
    "23-quarters": Call(128, 128, 128, 64, 4),
    "23-neighbours": Call(77, 64, 64, 32, 32),
    "23-part of 20 B": Call(100, 240, 240, 40, 4),
    "23-several slices": Call(81, 12288, 6144, 128, 2),
    "23-several tokens a row": Call(256, 1024, 128, 128, 2),
    "23-32 tokens a row": Call(4096, 128, 64, 64, 2),
    "24-halves": Call(128, 1024, 128, 64, 2, BF16, BF16),
    "24-quarters": Call(64, 256, 256, 64, 4, BF16, BF16),
    "24-several slices": Call(300, 6144, 128, 64, 2, BF16, BF16),
    "24-samples": Call(90, 256, 256, 32, 2, BF16, BF16, lengths=(10, 5, 25, 50)),
}  # fmt: skip
MULTIPLES = {"23-several tokens a row": 4, "23-32 tokens a row": 32}
