"""Fields, words and cores of the tiling, on every variant; refusals with their texts and statuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ascend_sim.oplib.rope_grad.tiling import tiling_buffer

import ascend_sim
from ascend_sim.errors import TilingError, UnsupportedError
from ascend_sim.host.tiling import Tiling
from ascend_sim.soc import load

FP16 = "float16"
SHAPES = ((11, 1024), (11, 1024), (64, 128), (64, 128))
NAMES = ("q_embedded_grad", "k_embedded_grad", "cos", "sin")


def tiling(shapes: Any = SHAPES, lengths: Any = (2, 1, 4, 4), dtype: str = FP16, **options: Any) -> Tiling:
    given = {name: (shape, dtype) for name, shape in zip(NAMES, shapes, strict=True)}
    return ascend_sim.tiling("rope_grad", given, {"qSeqLen": list(lengths)}, **options)


def test_the_struct() -> None:
    found = tiling()
    assert found.words == (64, 1024, 128, 11, 4, 2, 1, 4, 4)
    assert dict(found.data) == {
        "maxSeqLen": 64, "hiddenSize": 1024, "headSize": 128, "sumSeqLen": 11, "batch": 4,
        "qSeqLen[0]": 2, "qSeqLen[1]": 1, "qSeqLen[2]": 4, "qSeqLen[3]": 4,
        "path": "head_per_core", "rowsPerLoop": 96,
    }  # fmt: skip
    assert (found.key, found.block_dim, found.workspace_bytes, found.warnings) == (0, 8, 0, ())


def test_sum_seq_len_is_the_rows_whatever_the_samples_add_up_to() -> None:
    assert tiling(lengths=[3]).data["sumSeqLen"] == 11


def test_the_buffer_that_the_kernel_reads() -> None:
    found = tiling_buffer(tiling().words)
    assert found.size == 40 + 4 * 4
    assert found[:40].view(np.int64).tolist() == [64, 1024, 128, 11, 4]
    assert found[40:].view(np.int32).tolist() == [2, 1, 4, 4]


@pytest.mark.parametrize("soc", ["Ascend910B1", "Ascend910B2C", "Ascend910B3", "Ascend910B4-1", "Ascend910_9362"])
def test_a_core_per_head_as_far_as_there_are_cores(soc: str) -> None:
    cores = load(soc).cores.aiv
    for heads in (1, cores - 1, cores, cores + 1):
        found = tiling([(4, 128 * heads)] * 2 + [(4, 128)] * 2, [4], soc=soc)
        assert found.block_dim == min(heads, cores)
        assert bool(found.warnings) == (heads > cores)


@pytest.mark.parametrize(("cores", "blocks"), [(4, 4), (128, 8), (129, 1), (0, 1)])
def test_what_the_platform_says_of_its_cores(cores: int, blocks: int) -> None:
    """1 to 128, or it counts as one."""
    assert tiling(cores=cores).block_dim == blocks


def test_how_the_samples_are_walked() -> None:
    (share,) = tiling([(300, 128)] * 2 + [(200, 128)] * 2, [200]).shares
    assert (share.cores, share.rows) == (1, 200)
    assert [(loop.per_loop, loop.loops, loop.last) for loop in share.loops] == [(96, 3, 8)]
    (share,) = tiling([(300, 128)] * 2 + [(200, 128)] * 2, [100, 100]).shares
    assert [(loop.unit, loop.loops) for loop in share.loops] == [("samples", 2), ("rows", 2)]
    (share,) = tiling().shares
    assert [(loop.unit, loop.loops) for loop in share.loops] == [("samples", 4)]


# each row breaks a rule and, where it can, one that comes later
@pytest.mark.parametrize(
    ("shapes", "lengths", "dtype", "status", "text"),
    [
        ([(0, 1)] * 4, [], "float32", 1, "qSeqLen has 0 entries; allowed are 1 to 32 samples (ERROR_INVALID_"),
        ([(0, 1)] * 4, [1] * 33, "float32", 1, "qSeqLen has 33 entries; allowed are 1 to 32 samples"),
        ([(0, 1)] * 4, [-3], "float32", 1, "qSeqLen[0] is -3; a sample has at least 1 row"),
        ([()] * 4, [1], "float32", 8, "q_embedded_grad has 0 dims; allowed are 1 to 8 (ERROR_INVALID_TENSOR_DIM, 8)"),
        ([(0, 1)] * 4, [1], "float32", 9, "q_embedded_grad (0, 1) has 0 B; allowed are 1 B to 274877906944 B"),
        ([(3, 1)] * 4, [1], "float32", 13, "are (float32, float32, float32, float32); allowed are (float16, "),
        ([(3,)] * 4, [1], FP16, 8, "q_embedded_grad (3,) has 1 dim; allowed are 2"),
        ([(3, 1), (4, 1), (1, 1), (2, 1)], [1], FP16, 9, "k_embedded_grad (4, 1) must have the shape of q_emb"),
        ([(3, 1), (3, 1), (1, 1), (2, 1)], [9], FP16, 9, "sin (2, 1) must have the shape of cos, (1, 1)"),
        ([(3, 1), (3, 1), (1, 1), (1, 1)], [9], FP16, 8, "q_embedded_grad has 1 columns; allowed are multiples of 128"),
        ([(3, 128), (3, 128), (1, 1), (1, 1)], [9], FP16, 8, "cos has 1 columns; the only head size is 128"),
        ([(3, 128)] * 4, [1, 9], FP16, 1, "qSeqLen[1] is 9; allowed are 1 to 3, the rows of cos"),
    ],
)  # fmt: skip
def test_refusals(shapes: Any, lengths: Any, dtype: str, status: int, text: str) -> None:
    with pytest.raises(TilingError) as refused:
        tiling(shapes, lengths, dtype)
    assert str(refused.value).startswith("RopeGrad: ")
    assert text in str(refused.value)
    assert refused.value.status == status


def test_qseqlen_has_no_default() -> None:
    with pytest.raises(TilingError, match="qSeqLen has 0 entries"):
        ascend_sim.tiling("rope_grad", {name: (shape, FP16) for name, shape in zip(NAMES, SHAPES, strict=True)})


@pytest.mark.parametrize("soc", ["ascend950", "Ascend950DT_9591"])
def test_the_950_has_no_such_operator(soc: str) -> None:
    text = "^rope_grad is not supported by the operator library on ascend950; it exists on ascend910b, ascend910_93$"
    with pytest.raises(UnsupportedError, match=text):
        tiling(soc=soc)


def test_shapes_of_the_outputs() -> None:
    given = {name: (shape, FP16) for name, shape in zip(NAMES, SHAPES, strict=True)}
    assert ascend_sim.infer_shapes("rope_grad", given, {"q_seq_len": [2, 1, 4, 4]}) == [(11, 1024), (11, 1024)]
    unknown = given | {"q_embedded_grad": ((-1, 1024), FP16), "k_embedded_grad": ((-2,), FP16)}
    assert ascend_sim.infer_shapes("rope_grad", unknown) == [(-1, 1024), (-2,)]
