"""Kernels as PyPTO users write them, over several lengths: rotary embedding's variants and what stands next to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ascend_sim.frontends import pypto
from ascend_sim.host.device import Device

from .ordering import disorder

FP32, FP16, BF16, INT32 = pypto.DT_FP32, pypto.DT_FP16, pypto.DT_BF16, pypto.DT_INT32
INT8 = pypto.DataType.DT_INT8
DYN = pypto.DYNAMIC
BFLOAT = ml_dtypes.bfloat16
RNG = np.random.default_rng


def normal(seed: int, *shape: int) -> Any:
    return RNG(seed).standard_normal(shape).astype(np.float32)


MOST_ORDERED = 1000  # instructions of a program whose accesses are all compared


def run(kernel: Any, *arrays: Any) -> None:
    """One launch, with all its accesses ordered."""
    with Device(timing=False) as device:
        kernel(*arrays)
    (launch,) = device.launches
    if launch.program.instructions <= MOST_ORDERED:
        assert not disorder(launch.program)


def rotate_half(x: Any) -> Any:
    half = x.shape[-1] // 2
    if isinstance(x, np.ndarray):
        return np.concatenate([-x[..., half:], x[..., :half]], -1)
    return pypto.concat([-x[..., half:], x[..., :half]], -1)


@pypto.frontend.jit
def softmax(x: pypto.Tensor([DYN, 200], FP16), y: pypto.Tensor([DYN, 200], FP16)):
    length = x.shape[0]
    for i in pypto.loop(pypto.ceildiv(length, 16), name="ROWS", idx_name="i"):
        rows = pypto.min(length - i * 16, 16)
        pypto.set_vec_tile_shapes(16, 200)
        wide = pypto.cast(pypto.view(x, [16, 200], [i * 16, 0], valid_shape=[rows, 200]), FP32)
        powers = pypto.exp(wide - pypto.amax(wide, -1, keepdim=True))
        pypto.assemble(pypto.cast(powers / pypto.sum(powers, -1, keepdim=True), FP16), [i * 16, 0], y)


def test_softmax_over_dynamic_rows() -> None:
    for length in (1, 16, 53):
        x = normal(length, length, 200).astype(np.float16)
        y = np.full_like(x, 9)
        run(softmax, x, y)
        powers = np.exp(x.astype(np.float32) - x.max(-1, keepdims=True).astype(np.float32))
        np.testing.assert_allclose(y, powers / powers.sum(-1, keepdims=True), rtol=2e-3, atol=1e-4)
    assert softmax.traces == 1


def test_heads_before_positions_then_rotated() -> None:
    """[B, S, N, D] to [B, N, S, D] in unified buffer, cos and sin for all heads."""

    @pypto.frontend.jit
    def kernel(
        x: pypto.Tensor([2, 24, 6, 64], FP16),
        cos: pypto.Tensor([24, 64], FP16),
        sin: pypto.Tensor([24, 64], FP16),
        y: pypto.Tensor([2, 6, 24, 64], FP16),
    ):
        pypto.set_vec_tile_shapes(1, 8, 6, 64)
        turned = pypto.transpose(x, 1, 2)
        pypto.set_vec_tile_shapes(1, 6, 8, 64)
        c, s = (pypto.reshape(table, [1, 1, 24, 64]) for table in (cos, sin))
        y[:] = turned * c + rotate_half(turned) * s

    x, cos, sin = (normal(i, *shape).astype(np.float16) for i, shape in enumerate([(2, 24, 6, 64), (24, 64), (24, 64)]))
    y = np.empty((2, 6, 24, 64), np.float16)
    run(kernel, x, cos, sin, y)
    turned = x.transpose(0, 2, 1, 3)
    assert np.array_equal(y, turned * cos + rotate_half(turned) * sin)


def test_neighbours_taken_apart_by_reshape_and_transpose() -> None:
    """As in the DeepSeek kernels: [N, D] is [N, D / 2, 2], turned to [N, 2, D / 2]; a token an iteration."""

    @pypto.frontend.jit
    def kernel(
        x: pypto.Tensor([DYN, 32, 64], BF16),
        cos: pypto.Tensor([DYN, 64], BF16),
        sin: pypto.Tensor([DYN, 64], BF16),
        y: pypto.Tensor([DYN, 32, 64], BF16),
    ):
        for t in pypto.loop(x.shape[0]):
            pypto.set_vec_tile_shapes(1, 64)
            tables = [pypto.cast(pypto.view(table, [1, 64], [t, 0]), FP32) for table in (cos, sin)]
            c, s = (pypto.reshape(table, [1, 1, 64]) for table in tables)
            pypto.set_vec_tile_shapes(1, 16, 64)
            pairs = pypto.reshape(pypto.cast(pypto.view(x, [1, 32, 64], [t, 0, 0]), FP32), [1, 32, 32, 2])
            pypto.set_vec_tile_shapes(1, 16, 32, 2)
            halves = pypto.reshape(pypto.transpose(pairs, 2, 3), [1, 32, 64])
            pypto.set_vec_tile_shapes(1, 16, 64)
            pypto.assemble(pypto.cast(halves * c + rotate_half(halves) * s, BF16), [t, 0, 0], y)

    for tokens in (1, 13):
        x, cos, sin = (
            normal(i, *shape).astype(BFLOAT) for i, shape in enumerate([(tokens, 32, 64), (tokens, 64), (tokens, 64)])
        )
        y = np.empty_like(x)
        run(kernel, x, cos, sin, y)
        halves = x.astype(np.float32).reshape(tokens, 32, 32, 2).swapaxes(2, 3).reshape(tokens, 32, 64)
        c, s = (table.astype(np.float32)[:, None] for table in (cos, sin))
        assert np.array_equal(y, (halves * c + rotate_half(halves) * s).astype(BFLOAT))


def test_loops_over_two_dynamic_dims_and_two_outputs() -> None:
    """Steps of 4 unrolled by 4 and 2, a tail in the inner loop, a row maximum beside the result."""
    heads, width, step = 5, 96, 4

    @pypto.frontend.jit
    def kernel(
        q: pypto.Tensor([DYN, DYN, heads, width], FP32),
        cos: pypto.Tensor([DYN, width], FP32),
        y: pypto.Tensor([DYN, DYN, heads, width], FP32),
        highest: pypto.Tensor([DYN, DYN, heads, 1], FP32),
    ):
        for b in pypto.loop(q.shape[0], name="B"):
            for s in pypto.loop(0, q.shape[1], step, name="S", unroll_list=[4, 2]):
                rows = (q.shape[1] - s).min(step)
                block = pypto.view(q, [1, step, heads, width], [b, s, 0, 0], valid_shape=[1, rows, heads, width])
                table = pypto.view(cos, [step, width], [s, 0], valid_shape=[rows, width])
                pypto.set_vec_tile_shapes(1, step, heads, width)
                scaled = block * pypto.reshape(table, [1, step, 1, width], valid_shape=[1, rows, 1, width])
                pypto.assemble(scaled, [b, s, 0, 0], y)
                pypto.assemble(pypto.amax(scaled, -1, keepdim=True), [b, s, 0, 0], highest)

    for batch, length in ((1, 1), (2, 7), (3, 33)):
        q, cos = normal(1, batch, length, heads, width), normal(2, length, width)
        y, highest = np.full_like(q, 7), np.full((batch, length, heads, 1), 7, np.float32)
        run(kernel, q, cos, y, highest)
        assert np.array_equal(y, q * cos[:, None])
        assert np.array_equal(highest, y.max(-1, keepdims=True))


def two_slices(y: Any, rotated: Any, rest: Any) -> None:
    y[..., :32] = rotated
    y[..., 32:] = rest


def one_concat(y: Any, rotated: Any, rest: Any) -> None:
    y[:] = pypto.concat([rotated, rest], -1)


@pytest.mark.parametrize("joined", [two_slices, one_concat])
def test_the_rest_of_a_head_passes_through(joined: Callable[[Any, Any, Any], None]) -> None:
    @pypto.frontend.jit
    def kernel(
        x: pypto.Tensor([9, 4, 128], FP16),
        cos: pypto.Tensor([9, 32], FP16),
        sin: pypto.Tensor([9, 32], FP16),
        y: pypto.Tensor([9, 4, 128], FP16),
    ):
        pypto.set_vec_tile_shapes(4, 4, 64)
        rotary = x[..., :32]
        rotated = rotary * cos.unsqueeze(1) + rotate_half(rotary) * sin.unsqueeze(1)
        joined(y, rotated, x[..., 32:])

    x, cos, sin = (normal(i, *shape).astype(np.float16) for i, shape in enumerate([(9, 4, 128), (9, 32), (9, 32)]))
    y = np.empty_like(x)
    run(kernel, x, cos, sin, y)
    rotated = x[..., :32] * cos[:, None] + rotate_half(x[..., :32]) * sin[:, None]
    assert np.array_equal(y, np.concatenate([rotated, x[..., 32:]], -1))


def test_heads_of_80() -> None:
    """Halves of 40 float16 are 80 B: rows inside a 32 B block."""

    @pypto.frontend.jit
    def kernel(x: pypto.Tensor(), cos: pypto.Tensor(), sin: pypto.Tensor(), y: pypto.Tensor()):
        pypto.set_vec_tile_shapes(8, 4, 128)
        y[:] = x * cos.unsqueeze(1) + rotate_half(x) * sin.unsqueeze(1)

    x, cos, sin = (normal(i, *shape).astype(np.float16) for i, shape in enumerate([(17, 3, 80), (17, 80), (17, 80)]))
    y = np.empty_like(x)
    run(kernel, x, cos, sin, y)
    assert np.array_equal(y, x * cos[:, None] + rotate_half(x) * sin[:, None])


def test_grouped_query_heads_in_one_loop() -> None:
    """q with 32 heads and k with 4, cos and sin of half a head in float32, tails of the last block."""
    step = 2

    @pypto.frontend.jit
    def kernel(
        q: pypto.Tensor([DYN, 32, 128], BF16),
        k: pypto.Tensor([DYN, 4, 128], BF16),
        cos: pypto.Tensor([DYN, 64], FP32),
        sin: pypto.Tensor([DYN, 64], FP32),
        q_out: pypto.Tensor([DYN, 32, 128], BF16),
        k_out: pypto.Tensor([DYN, 4, 128], BF16),
    ):
        for i in pypto.loop((q.shape[0] + step - 1) // step, unroll_list=[2, 1]):
            rows = (q.shape[0] - i * step).min(step)
            c, s = (
                pypto.view(table, [step, 64], [i * step, 0], valid_shape=[rows, 64]).unsqueeze(1)
                for table in (cos, sin)
            )
            for source, target, heads in ((q, q_out, 32), (k, k_out, 4)):
                pypto.set_vec_tile_shapes(step, heads, 128)
                block = pypto.view(source, [step, heads, 128], [i * step, 0, 0], valid_shape=[rows, heads, 128])
                wide = pypto.cast(block, FP32)
                pypto.set_vec_tile_shapes(step, heads, 64)
                left, right = wide[..., :64], wide[..., 64:]
                turned = pypto.concat([left * c - right * s, right * c + left * s], -1)
                pypto.assemble(pypto.cast(turned, BF16), [i * step, 0, 0], target)

    for tokens in (1, 4, 9):
        q, k = normal(1, tokens, 32, 128).astype(BFLOAT), normal(2, tokens, 4, 128).astype(BFLOAT)
        cos, sin = normal(3, tokens, 64), normal(4, tokens, 64)
        outs = [np.zeros_like(q), np.zeros_like(k)]
        run(kernel, q, k, cos, sin, *outs)
        for x, found in zip((q, k), outs, strict=True):
            left, right = np.split(x.astype(np.float32), 2, -1)
            c, s = cos[:, None], sin[:, None]
            assert np.array_equal(
                found, np.concatenate([left * c - right * s, right * c + left * s], -1).astype(BFLOAT)
            )


def test_packed_query_key_value() -> None:
    """One row holds all heads: split by reshape and views, normalized, rotated in part, written by open slices."""
    heads, groups, width, rotary, block = 6, 1, 128, 64, 8

    def prepared(x: Any, c: Any, s: Any, weight: Any, lib: Any) -> Any:
        """RMSNorm and rotation of the first `rotary` elements; `lib`: (sum of rows, square root, concat)."""
        add_up, root, joined = lib
        normed = x / root(add_up(x * x * (1.0 / width)) + 1e-5) * weight
        left, right = normed[..., : rotary // 2], normed[..., rotary // 2 : rotary]
        return joined([left * c - right * s, right * c + left * s, normed[..., rotary:]])

    in_kernel = (lambda x: pypto.sum(x, -1, keepdim=True), pypto.sqrt, lambda parts: pypto.concat(parts, 2))
    in_numpy = (lambda x: x.sum(-1, keepdims=True), np.sqrt, lambda parts: np.concatenate(parts, -1))

    @pypto.frontend.jit
    def kernel(
        x: pypto.Tensor([DYN, ...], BF16),
        gamma: pypto.Tensor([], BF16),
        cos: pypto.Tensor([DYN, ...], BF16),
        sin: pypto.Tensor([DYN, ...], BF16),
        q: pypto.Tensor([DYN, ...], BF16),
        k: pypto.Tensor([DYN, ...], BF16),
        v: pypto.Tensor([DYN, ...], BF16),
    ):
        pypto.experimental.set_operation_options(combine_axis=True)
        pypto.set_semantic_label("weights")
        pypto.set_vec_tile_shapes(1, 1, width)
        weight = pypto.cast(pypto.reshape(gamma, [1, 1, width], inplace=True), FP32)
        whole = heads + 2 * groups
        for i in pypto.loop((x.shape[0] + block - 1) // block, name="TOKENS", idx_name="i"):
            rows = (x.shape[0] - i * block).min(block)
            flat = pypto.view(x, [block, whole * width], [i * block, 0], valid_shape=[rows, whole * width])
            pypto.set_pass_options(sg_set_scope=1)
            pypto.set_vec_tile_shapes(block, width)
            split = pypto.reshape(flat, [block, whole, width], valid_shape=[rows, whole, width])
            pypto.set_vec_tile_shapes(4, heads, width)
            c, s = (
                pypto.cast(pypto.view(t, [block, 1, rotary // 2], [i * block, 0, 0], [rows, 1, rotary // 2]), FP32)
                for t in (cos, sin)
            )
            for first, count, target in ((0, heads, q), (heads, groups, k), (heads + groups, groups, v)):
                part = pypto.view(split, [block, count, width], [0, first, 0], valid_shape=[rows, count, width])
                if target is not v:
                    part = pypto.cast(prepared(pypto.cast(part, FP32), c, s, weight, in_kernel), BF16)
                out = pypto.reshape(part, [block, count * width], valid_shape=[rows, count * width])
                target[i * pypto.symbolic_scalar(block) :, 0:] = out
            pypto.set_pass_options(sg_set_scope=-1)

    for tokens in (5, 8, 19):
        x, gamma = normal(1, tokens, 8 * width).astype(BFLOAT), normal(2, width).astype(BFLOAT)
        cos, sin = (normal(i, tokens, 1, rotary // 2).astype(BFLOAT) for i in (3, 4))
        outs = [np.zeros((tokens, count * width), BFLOAT) for count in (heads, groups, groups)]
        run(kernel, x, gamma, cos, sin, *outs)
        split = x.reshape(tokens, 8, width)
        wide, c, s, weight = (array.astype(np.float32) for array in (split, cos, sin, gamma))
        right = prepared(wide[:, :7], c, s, weight, in_numpy)
        found = np.concatenate([out.reshape(tokens, -1, width) for out in outs], 1)
        np.testing.assert_allclose(found[:, :7].astype(np.float32), right, rtol=1e-2, atol=1e-2)
        assert np.array_equal(found[:, 7:], split[:, 7:])


def test_rows_quantised_to_int8() -> None:
    @pypto.frontend.jit
    def kernel(
        x: pypto.Tensor([DYN, 256], BF16), q: pypto.Tensor([DYN, 256], INT8), scale: pypto.Tensor([DYN, 1], FP32)
    ):
        for i in pypto.loop((x.shape[0] + 7) // 8):
            rows = (x.shape[0] - 8 * i).min(8)
            pypto.set_vec_tile_shapes(8, 256)
            wide = pypto.cast(pypto.view(x, [8, 256], [8 * i, 0], valid_shape=[rows, 256]), FP32)
            up = pypto.full([8, 1], 127.0, FP32) / pypto.amax(pypto.abs(wide), -1, True)
            whole = pypto.cast(wide * up, INT32, pypto.CastMode.CAST_RINT)
            pypto.assemble(pypto.cast(pypto.cast(whole, FP16), INT8), [8 * i, 0], q)
            pypto.assemble(1.0 / up, [8 * i, 0], scale)

    x = normal(1, 21, 256).astype(BFLOAT)
    q, scale = np.zeros((21, 256), np.int8), np.zeros((21, 1), np.float32)
    run(kernel, x, q, scale)
    wide = x.astype(np.float32)
    up = np.float32(127) / np.abs(wide).max(-1, keepdims=True)
    assert np.array_equal(q, np.rint(wide * up).astype(np.int8))
    assert np.array_equal(scale, 1 / up)


def test_residual_and_norm_in_bfloat16() -> None:
    @pypto.frontend.jit
    def kernel(
        x: pypto.Tensor([DYN, 512], BF16),
        more: pypto.Tensor([DYN, 512], BF16),
        gamma: pypto.Tensor([512], BF16),
        y: pypto.Tensor([DYN, 512], BF16),
    ):
        for i in pypto.loop((x.shape[0] + 3) // 4):
            rows = (x.shape[0] - 4 * i).min(4)
            pypto.set_vec_tile_shapes(4, 512)
            a, b = (pypto.view(t, [4, 512], [4 * i, 0], valid_shape=[rows, 512]) for t in (x, more))
            pypto.assemble(pypto.rms_norm(a + b, gamma, 1e-5), [4 * i, 0], y)

    x, more = (normal(i, 11, 512).astype(BFLOAT) for i in (1, 2))
    gamma = normal(3, 512).astype(BFLOAT)
    y = np.zeros_like(x)
    run(kernel, x, more, gamma, y)
    total = (x + more).astype(np.float32)
    right = total / np.sqrt((total * total).mean(-1, keepdims=True) + 1e-5) * gamma.astype(np.float32)
    np.testing.assert_allclose(y.astype(np.float32), right, rtol=1e-2, atol=1e-2)


def test_what_is_kept_is_made_of_what_is_kept() -> None:
    """The tiles of a concat's last piece compute what those of the first only load; the last dim is cut innermost."""
    dims, block = [DYN, 3, 32], [8, 3, 32]

    @pypto.frontend.jit
    def kernel(a: pypto.Tensor(dims, BF16), b: pypto.Tensor(dims, BF16), y: pypto.Tensor(dims, BF16)):
        pypto.set_vec_tile_shapes(4, 1, 16)
        for i in pypto.loop((a.shape[0] + 7) // 8):
            rows = (a.shape[0] - 8 * i).min(8)
            x, other = (pypto.view(t, block, [8 * i, 0, 0], valid_shape=[rows, 3, 32]) for t in (a, b))
            turned = pypto.concat([x[:, 1:], x[:, :1] * 2.0], 1)
            lifted = turned + pypto.amin(turned, 2, keepdim=True)
            more = pypto.minimum(-pypto.maximum(lifted, other[:, :1]) * 0.5, other)
            pypto.assemble(more, [8 * i, 0, 0], y)

    a, b = (normal(seed, 10, 3, 32).astype(BFLOAT) for seed in (1, 2))
    y = np.zeros_like(a)
    run(kernel, a, b, y)
    turned = np.concatenate([a[:, 1:], a[:, :1] * BFLOAT(2)], 1)
    lifted = turned + turned.min(2, keepdims=True)
    assert np.array_equal(y, np.minimum(-np.maximum(lifted, b[:, :1]) * BFLOAT(0.5), b))


def test_symbolic_indices_and_scalars() -> None:
    """`//` and `%` of an index as offsets, indices that drop dims, tails that slices find by themselves."""

    @pypto.frontend.jit
    def exchanged(x: pypto.Tensor([6, 4, 64], FP32), y: pypto.Tensor([4, 6, 64], FP32)):
        pypto.set_vec_tile_shapes(1, 1, 64)
        for t in pypto.loop(24):
            pypto.assemble(pypto.view(x, [1, 1, 64], [t // 4, t % 4, 0]) * 1.0, [t % 4, t // 4, 0], y)

    @pypto.frontend.jit
    def tripled(x: pypto.Tensor([DYN, DYN, 64], FP32), y: pypto.Tensor([DYN, DYN, 64], FP32)):
        pypto.set_vec_tile_shapes(4, 64)
        for i in pypto.loop(x.shape[0]):
            for j in pypto.loop((x.shape[1] + 3) // 4):
                y[i, j * 4 : j * 4 + 4] = x[i, j * 4 : j * 4 + 4, :] * 3.0

    @pypto.frontend.jit
    def first_half(x: pypto.Tensor([DYN, 64], FP16), y: pypto.Tensor([DYN, 64], FP16), most: int):
        rows = (x.shape[0] // 2).max(1).min(most)
        pypto.set_vec_tile_shapes(16, 64)
        for i in pypto.loop((rows + 15) // 16):
            valid = (rows - i * 16).min(16).max(0)
            pypto.assemble(-pypto.view(x, [16, 64], [i * 16, 0], valid_shape=[valid, 64]), [i * 16, 0], y)

    x = normal(1, 6, 4, 64)
    y = np.zeros((4, 6, 64), np.float32)
    run(exchanged, x, y)
    assert np.array_equal(y, x.swapaxes(0, 1))

    x = normal(1, 3, 10, 64)
    y = np.zeros_like(x)
    run(tripled, x, y)
    assert np.array_equal(y, x * 3)

    for length, most in ((1, 100), (50, 100), (77, 7)):
        x = normal(length, length, 64).astype(np.float16)
        y = np.zeros_like(x)
        run(first_half, x, y, most)
        rows = min(max(length // 2, 1), most)
        assert np.array_equal(y[:rows], -x[:rows])
        assert not y[rows:].any()


def interleaved(heads: int, tile: tuple[int, int, int], unroll: list[int], shared: bool) -> Any:
    """PyPTO's interleave kernels: gathermask, arithmetic in bfloat16, even places first. `tile`: batches, heads and
    positions; `shared`: one row of cos and sin for all positions.
    """
    batches, together, across = tile
    table = [DYN, 1, 1 if shared else DYN, 64]

    @pypto.frontend.jit(
        runtime_options={"run_mode": pypto.RunMode.NPU, "stitch_function_max_num": 512, "device_sched_mode": 3},
        pass_options={"vec_nbuffer_setting": {-1: 8}},
    )
    def kernel(
        x: pypto.Tensor([DYN, heads, DYN, 64], BF16),
        cos: pypto.Tensor(table, BF16),
        sin: pypto.Tensor(table, BF16),
        out: pypto.Tensor([DYN, heads, DYN, 64], BF16),
    ):
        pypto.experimental.set_operation_options(combine_axis=True)
        for b_block in pypto.loop((x.shape[0] + batches - 1) // batches, name="B"):
            b = b_block * batches
            b_valid = (x.shape[0] - b).min(batches)
            for n_block in pypto.loop(heads // together, name="N"):
                for s_block in pypto.loop((x.shape[2] + across - 1) // across, name="S", unroll_list=unroll):
                    n, s = n_block * together, s_block * across
                    valid = (x.shape[2] - s).min(across)
                    x_tile = pypto.view(
                        x, [batches, together, across, 64], [b, n, s, 0], [b_valid, together, valid, 64]
                    )
                    size, at = [batches, 1, 1 if shared else across, 64], [b, 0, 0 if shared else s, 0]
                    filled = [b_valid, 1, 1 if shared else valid, 64]
                    tiles = [x_tile, *(pypto.view(t, size, at, valid_shape=filled) for t in (cos, sin))]
                    pypto.set_vec_tile_shapes(batches, together, across, 64)
                    xe, ce, se = (pypto.gathermask(t, pattern_mode=1) for t in tiles)
                    xo, co, so = (pypto.gathermask(t, pattern_mode=2) for t in tiles)
                    pypto.set_vec_tile_shapes(batches, together, across, 32)
                    even = pypto.sub(pypto.mul(xe, ce), pypto.mul(xo, se))
                    odd = pypto.add(pypto.mul(xe, so), pypto.mul(xo, co))
                    pypto.assemble(even, [b, n, s, 0], out)
                    pypto.assemble(odd, [b, n, s, 32], out)

    return kernel


@pytest.mark.parametrize(
    ("heads", "tile", "unroll", "shared", "sizes"),
    [
        (128, (1, 32, 16), [1], False, [(1, 2), (2, 37)]),
        (128, (1, 32, 16), [4, 2, 1], True, [(1, 37)]),
        (128, (4, 32, 2), [1], False, [(1, 2), (5, 3)]),
        (1, (1, 1, 64), [2], False, [(3, 1), (2, 130)]),
    ],
)
def test_interleave_with_the_documented_tiles(
    heads: int, tile: tuple[int, int, int], unroll: list[int], shared: bool, sizes: list[tuple[int, int]]
) -> None:
    """(1, 32, 16, 64) has room for its tensors, not for the float32 that bfloat16 is computed in: it goes in parts."""
    kernel = interleaved(heads, tile, unroll, shared)
    for batch, length in sizes:
        x = normal(1, batch, heads, length, 64).astype(BFLOAT)
        cos, sin = (normal(i, batch, 1, 1 if shared else length, 64).astype(BFLOAT) for i in (2, 3))
        out = np.zeros_like(x)
        run(kernel, x, cos, sin, out)
        even = x[..., ::2] * cos[..., ::2] - x[..., 1::2] * sin[..., ::2]
        odd = x[..., ::2] * sin[..., 1::2] + x[..., 1::2] * cos[..., 1::2]
        assert np.array_equal(out, np.concatenate([even, odd], -1))
    lowered = kernel.lowered()
    assert lowered.peak_ub_bytes <= lowered.ub_bytes
    assert ("parts of tiles of [1, 32, 16, 32]" in str(lowered)) is (tile == (1, 32, 16))
