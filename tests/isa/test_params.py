"""Parameter structs: pyasc's order and defaults, changeable, equal by value."""

from __future__ import annotations

import pytest

from ascend_sim import asc

DEFAULTS = {
    asc.BinaryRepeatParams: {"dst_blk_stride": 1, "src0_blk_stride": 1, "src1_blk_stride": 1, "dst_rep_stride": 8,
                             "src0_rep_stride": 8, "src1_rep_stride": 8},
    asc.UnaryRepeatParams: {"dst_blk_stride": 1, "src_blk_stride": 1, "dst_rep_stride": 8, "src_rep_stride": 8},
    asc.CopyRepeatParams: {"dst_stride": 0, "src_stride": 0, "dst_repeat_size": 0, "src_repeat_size": 0},
    asc.BrcbRepeatParams: {"dst_blk_stride": 1, "dst_rep_stride": 8},
    asc.GatherRepeatParams: {"dst_blk_stride": 1, "dst_rep_stride": 8},
    asc.GatherMaskParams: {"src0_block_stride": 1, "repeat_times": 1, "src0_repeat_stride": 0, "src1_repeat_stride": 0},
    asc.DataCopyParams: {"block_count": 1, "block_len": 0, "src_stride": 0, "dst_stride": 0},
    asc.DataCopyExtParams: {"block_count": 1, "block_len": 0, "src_stride": 0, "dst_stride": 0, "rsv": 0},
    asc.DataCopyPadParams: {"is_pad": False, "left_padding": 0, "right_padding": 0, "padding_value": 0},
    asc.TransDataTo5HDParams: {"dst_high_half": False, "src_high_half": False, "repeat_times": 1, "dst_rep_stride": 0,
                               "src_rep_stride": 0},
}  # fmt: skip


@pytest.mark.parametrize("kind", DEFAULTS, ids=lambda kind: kind.__name__)
def test_order_and_defaults(kind: type) -> None:
    made = kind()
    assert made.field_names == tuple(DEFAULTS[kind])
    assert made.key == tuple(DEFAULTS[kind].values())
    by_position = kind(*range(len(made.key)))
    assert [getattr(by_position, name) for name in made.field_names] == list(range(len(made.key)))


def test_a_changed_struct_is_another_value_and_its_old_key_stays() -> None:
    params = asc.BinaryRepeatParams()
    key = params.key
    assert params == asc.BinaryRepeatParams(1, 1, 1, 8, 8, 8)
    params.src1_rep_stride = 0
    assert key == (1, 1, 1, 8, 8, 8)
    assert params.key == (1, 1, 1, 8, 8, 0)
    assert params != asc.BinaryRepeatParams()
    assert hash(params) == hash(asc.BinaryRepeatParams(src1_rep_stride=0))
    assert asc.UnaryRepeatParams() != asc.CopyRepeatParams(1, 1, 8, 8)
    assert repr(asc.BrcbRepeatParams()) == "BrcbRepeatParams(dst_blk_stride=1, dst_rep_stride=8)"


def test_pad_params_take_their_dtype_first() -> None:
    params = asc.DataCopyPadExtParams(asc.float16, True, 1, 2, 3)
    assert params.key == (asc.float16, True, 1, 2, 3)
