"""Small calls that reach every kernel, dtype, split, alignment and share of rows over cores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

DTYPES: Mapping[str, tuple[Any, Any]] = {
    "fp16": (np.float16, np.float16),
    "bf16": (ml_dtypes.bfloat16, ml_dtypes.bfloat16),
    "fp32": (np.float32, np.float32),
    "fp16_cos32": (np.float16, np.float32),
    "bf16_cos32": (ml_dtypes.bfloat16, np.float32),
}

# 8 KiB of UB, so that small rows are already cut; (cores, tokens): 3 front and 1 tail core; one; more rows than cores
SHARES: Mapping[str, tuple[int, int]] = {"front_and_tail": (4, 7), "one_core": (1, 5), "many_rows": (3, 24)}
SPLIT_HEADS: Mapping[str, int] = {"S": 4, "BSN": 40}
SLICES: Mapping[str, tuple[int, int]] = {"aligned": (16, 48), "padded": (10, 46)}


@dataclass(frozen=True)
class Case:
    name: str
    dtypes: tuple[Any, Any]
    x: tuple[int, int, int, int]
    cos: tuple[int, int, int, int]
    part: tuple[int, int]
    path: str
    cores: int
    ub: str = "8 KiB"

    def inputs(self, seed: int = 0) -> dict[str, Array]:
        rng = np.random.default_rng(seed)
        x_type, cos_type = self.dtypes
        shapes = {"x": (self.x, x_type), "cos": (self.cos, cos_type), "sin": (self.cos, cos_type)}
        return {name: rng.standard_normal(shape).astype(dtype) for name, (shape, dtype) in shapes.items()}


def _general() -> Iterator[Case]:
    for dtype, types in DTYPES.items():
        for split, heads in SPLIT_HEADS.items():
            for align, part in SLICES.items():
                for share, (cores, tokens) in SHARES.items():
                    length = part[1] - part[0]
                    path = "split_s" if split == "S" else "split_bsn"
                    yield Case(
                        f"{dtype}-{split}-{align}-{share}",
                        types,
                        (1, tokens, heads, 64),
                        (1, tokens, 1, length),
                        part,
                        path,
                        cores,
                    )


def _fast() -> Iterator[Case]:
    for dtype in ("fp16", "bf16", "fp32"):
        for share, (cores, rows) in SHARES.items():
            cos = (rows, 1, 1, 48)
            for path, heads in (("fast_broadcast", 3), ("fast_elementwise", 1)):
                name = f"{dtype}-{path}-{share}"
                yield Case(name, DTYPES[dtype], (rows, 1, heads, 80), cos, (16, 64), path, cores)
    yield Case("fp16-heads-in-dim-1", DTYPES["fp16"], (9, 5, 1, 16), (9, 1, 1, 16), (0, 16), "fast_broadcast", 2)


def _others() -> Iterator[Case]:
    fp16, fp32 = DTYPES["fp16"], DTYPES["fp32"]
    yield Case("noop", fp16, (3, 2, 2, 32), (3, 1, 1, 0), (0, 0), "noop", 4)
    yield Case("noop-inside", fp32, (3, 2, 2, 32), (3, 2, 1, 0), (8, 8), "noop", 4)
    yield Case("full-size-ub-S", fp16, (2, 32, 8, 128), (2, 32, 1, 64), (0, 64), "split_s", 40, "192 KiB")
    yield Case("full-size-ub-BSN", fp16, (1, 3, 80, 128), (1, 3, 1, 128), (0, 128), "split_bsn", 40, "192 KiB")
    yield Case("batches-and-tokens", fp32, (3, 5, 2, 24), (3, 5, 1, 16), (8, 24), "split_s", 2)
    yield Case("cos-per-batch-long-slice", fp16, (5, 3, 2, 96), (5, 1, 1, 80), (0, 80), "split_s", 2, "16 KiB")
    yield Case("tiles-of-tail-cores", fp16, (1, 18, 4, 64), (1, 18, 1, 32), (16, 48), "split_s", 4)
    yield Case("wide-columns", fp16, (1, 2, 12, 160), (1, 2, 1, 144), (0, 144), "split_bsn", 2)
    yield Case("wide-columns-fp32", fp32, (1, 2, 12, 160), (1, 2, 1, 140), (2, 142), "split_bsn", 2)
    yield Case("shortest-slice", fp16, (1, 3, 3, 6), (1, 3, 1, 2), (2, 4), "split_s", 2)
    yield Case("odd-start", fp16, (1, 3, 3, 8), (1, 3, 1, 4), (3, 7), "split_s", 2)


CASES: Mapping[str, Case] = {case.name: case for case in (*_general(), *_fast(), *_others())}

WRAPPING = Case(
    "300 heads", DTYPES["fp16"], (2, 1, 300, 16), (2, 1, 1, 16), (0, 16), "fast_broadcast", 2, "192 KiB"
)  # golden and kernel differ, as on the chip

WHAT_IF = Case("sign wraps", DTYPES["fp32"], (1, 6, 64, 64), (1, 6, 1, 64), (0, 64), "split_s", 1, "512 KiB")

# more than 2**31 elements of x, to be run without data
HUGE: Mapping[str, Case] = {
    "split_s": Case("", DTYPES["fp16"], (1, 70000, 32, 1024), (1, 70000, 1, 16), (4, 20), "split_s", 40, "192 KiB"),
    "fast": Case("", DTYPES["fp16"], (70000, 1, 32, 1024), (70000, 1, 1, 16), (4, 20), "fast_broadcast", 40, "192 KiB"),
}
