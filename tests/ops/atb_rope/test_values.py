"""The five kernels against the golden: equal bits over parts, slices, dtypes, cores and samples."""

from __future__ import annotations

from typing import Any, ClassVar

import ml_dtypes
import numpy as np
import pytest
from ascend_sim.oplib.atb_rope.golden import exact, golden

import ascend_sim
from ascend_sim import asc
from ascend_sim.errors import KernelError, UnsupportedError

from .calls import BF16, CALLS, MULTIPLES, Array, Call


def same_bits(a: Array, b: Array) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def naive(call: Call, given: dict[str, Array], name: str, token: int, column: int) -> Array:
    """One element of q or k by the formula, in the arithmetic that the dtypes ask for."""
    work = np.float16 if call.dtype == call.table == np.float16 else np.float32
    j = column % call.head_dim
    stride = call.head_dim // call.coeff
    first = j % (2 * stride) < stride
    other = column + stride if first else column - stride
    position = token
    for length in call.lengths:
        if position < length:
            break
        position -= length
    x, cos, sin = (given[n].astype(work) for n in (name, "cos", "sin"))
    along, across = x[token, column] * cos[position, j], x[token, other] * sin[position, j]
    return np.asarray(along - across if first else along + across).astype(call.dtype)


@pytest.mark.parametrize("name", ["20-quarters", "21-part of 24 B", "22-samples", "23-neighbours"])
def test_golden_element_by_element(name: str) -> None:
    call = CALLS[name]
    given = call.inputs()
    found = golden(given, call.attrs)
    rng = np.random.default_rng(2)
    for out, source in (("q_embedded", "q"), ("k_embedded", "k")):
        tokens, hidden = given[source].shape
        for token, column in zip(rng.integers(0, tokens, 60), rng.integers(0, hidden, 60), strict=True):
            want = naive(call, given, source, int(token), int(column))
            assert found[out][token, column].tobytes() == want.tobytes()


@pytest.mark.parametrize("name", CALLS)
def test_kernel_equals_golden(name: str) -> None:
    call = CALLS[name]
    given = call.inputs()
    before = {key: array.copy() for key, array in given.items()}
    result = ascend_sim.run("atb_rope", **given, **call.attrs, soc=call.soc)
    want = golden(before, call.attrs)
    assert result.tiling.key == int(name[:2])
    assert result.tiling.data["multiple"] == MULTIPLES.get(name, 1)
    for out, expected in want.items():
        assert same_bits(result.outputs[out], expected)
        assert np.isfinite(expected.astype(np.float32)).all()
    assert all(same_bits(given[key], before[key]) for key in before)
    assert (result.values.exact, result.warnings) == (True, [])


@pytest.mark.parametrize("lengths", ["int32", "uint32"])
def test_four_dims(lengths: str) -> None:
    rng = np.random.default_rng(1)
    q, k = (rng.uniform(-1, 1, (2, 3, heads, 64)).astype(np.float16) for heads in (4, 1))
    cos, sin = (rng.uniform(-1, 1, (6, 64)).astype(np.float16) for _ in range(2))
    seqlen = np.array([3, 3], lengths)
    result = ascend_sim.run("atb_rope", q, k, cos, sin, seqlen, rotary_coeff=2)
    flat = ascend_sim.run("atb_rope", q.reshape(6, 256), k.reshape(6, 64), cos, sin, seqlen, rotary_coeff=2)
    assert result.values.exact
    assert result.outputs["q_embedded"].shape == (2, 3, 4, 64)
    assert result.outputs["q_embedded"].tobytes() == flat.outputs["q_embedded"].tobytes()


def test_samples_that_cover_fewer_tokens_leave_the_rest_to_chance() -> None:
    """The scratch memory that stands for their tables is what it was: NaN here."""
    call = Call(8, 64, 64, 32, 2, lengths=(3, 2))
    result = call.run()
    assert np.isfinite(result.outputs["q_embedded"][:5]).all()
    assert np.isnan(result.outputs["q_embedded"][5:]).all()
    assert result.values.ok


def test_tables_with_too_few_rows_are_caught() -> None:
    given = Call(4, 64, 64, 32, 2).inputs()
    given |= {name: given[name][:3].copy() for name in ("cos", "sin")}
    with pytest.raises(KernelError, match=r"kernel argument 'cos', which holds 192 B"):
        ascend_sim.run("atb_rope", **given, rotaryCoeff=2)
    assert ascend_sim.tiling("atb_rope", given, {"rotaryCoeff": 2}).warnings == (
        "cos has 3 rows for 4 tokens: the library does not refuse it, and the kernel reads past its end",
    )


def test_random_lengths_add_up() -> None:
    result = ascend_sim.run(
        "atb_rope",
        *(((50, 64), "float16"), ((50, 64), "float16"), ((20, 32), "float16"), ((20, 32), "float16"), ((3,), "int32")),
        rotaryCoeff=2,
        cosFormat=1,
    )
    assert result.inputs["seqlen"].tolist() == [17, 17, 16]
    assert result.values.exact


@pytest.mark.parametrize("name", ["20-samples", "21-neighbours", "22-halves", "23-several tokens a row", "24-samples"])
def test_values_take_no_time(name: str) -> None:
    call = CALLS[name]
    if call.lengths:  # without values they are taken to be even
        tokens, samples = call.tokens, len(call.lengths)
        even = tuple(tokens // samples + (i < tokens % samples) for i in range(samples))
        call = Call(tokens, call.hidden_q, call.hidden_k, call.head_dim, call.coeff, call.dtype, call.table, even)
    assert call.run().timeline.duration_cycles == call.timed().timeline.duration_cycles


@pytest.mark.parametrize("name", ["20-last core shorter", "20-samples", "22-samples", "24-several slices"])
def test_block_order_changes_nothing(name: str) -> None:
    call = CALLS[name]
    operator = ascend_sim.host.registry.operator_named("atb_rope")
    outs = []
    for reverse in (False, True):
        blocks = call.timed().program.block_dim
        order = range(blocks - 1, -1, -1) if reverse else None
        with ascend_sim.device(call.soc, block_order=order) as device:
            outs.append(ascend_sim.host.execute.run_operator(operator, call.inputs(), call.attrs, device).outputs)
    assert all(same_bits(outs[0][name], outs[1][name]) for name in outs[0])


class SpyPipe(asc.TPipe):
    """Notes the buffers that a kernel asks for."""

    asked: ClassVar[list[int]] = []

    def init_buffer(self, que: Any, num: int, len: int | None = None) -> None:  # type: ignore[override] # noqa: A002
        self.asked.append(num if len is None else num * len)
        super().init_buffer(que, num, len)


@pytest.mark.parametrize("name", ["20-samples", "21-halves", "22-samples", "23-halves", "24-halves"])
def test_ub_holds_what_the_tiling_planned(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asc, "TPipe", SpyPipe)
    SpyPipe.asked.clear()
    result = CALLS[name].timed()
    assert SpyPipe.asked == [buffer.total for buffer in result.tiling.buffers] * result.tiling.block_dim
    assert result.tiling.ub_used_bytes == result.chip.ub.usable_bytes


def test_heads_that_id_24_has_no_room_for() -> None:
    call = Call(64, 4096, 4096, 4096, 2, BF16, BF16)
    with pytest.raises(
        UnsupportedError,
        match=r"^atb_rope: heads of 4096 elements do not fit into the 2048 that kernel 24 handles at once: the real "
        r"kernel divides by zero$",
    ):
        call.run()
    assert Call(63, 4096, 4096, 4096, 2, BF16, BF16).timed().tiling.key == 22


MUTANTS = {
    "signs": (asc.LocalTensor, "set_value", lambda call, t, i, value: call(t, i, abs(value))),
    "swapped parts": (asc, "data_copy", lambda call, dst, src, count: call(dst, src, _unswapped(dst, src, count))),
    "last sum": (asc, "add", lambda call, dst, a, b, count: asc.sub(dst, a, b, count)),
}


def _unswapped(dst: Any, src: Any, count: Any) -> Any:
    local = isinstance(dst, asc.LocalTensor) and isinstance(src, asc.LocalTensor)
    if local and count.src_stride and count.src_stride == count.block_len:
        return asc.DataCopyParams(1, count.block_len, 0, 0)
    return count


@pytest.mark.parametrize("mutant", MUTANTS)
@pytest.mark.parametrize("name", ["20-quarters", "21-halves", "22-halves", "23-halves", "24-halves"])
def test_one_changed_instruction_gives_wrong_values(name: str, mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, call, change = MUTANTS[mutant]
    original = getattr(owner, call)
    monkeypatch.setattr(owner, call, lambda *args: change(original, *args))
    assert CALLS[name].run().values.ok is False


def test_infinities_on_an_aligned_path() -> None:
    call = CALLS["20-halves"]
    given = call.inputs()
    rng = np.random.default_rng(5)
    limits = ml_dtypes.finfo(np.float16)
    special = [0.0, np.inf, np.nan, float(limits.max), float(limits.smallest_subnormal), 1.0]
    for array in (given["q"], given["cos"], given["sin"]):
        array[...] = rng.choice(np.array([special, [-value for value in special]]).ravel(), array.shape)
    want = golden({key: array.copy() for key, array in given.items()}, call.attrs)["q_embedded"]
    found = ascend_sim.run("atb_rope", **given, **call.attrs).outputs["q_embedded"]
    nan = np.isnan(want)
    assert np.array_equal(np.isnan(found), nan)
    assert np.array_equal(found[~nan], want[~nan])


def test_the_unrounded_reference() -> None:
    call = CALLS["20-halves"]
    result = call.run(compare="exact")
    want = exact(call.inputs(), call.attrs)
    assert result.comparison is not None
    worst = max(np.abs(result.outputs[name] - want[name]).max() for name in want)
    assert 0 < result.comparison.max_abs_error == worst < 2**-7
