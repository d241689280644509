"""TQue and TQueBind: flags, event ids, scalar cost, order of buffers, and what goes wrong."""

from __future__ import annotations

from typing import Any

import pytest
from asc_bench import calls, instrs, record, refused, session_of

from ascend_sim import asc
from ascend_sim.asc import TPosition as Pos


def one_queue(position: Pos = Pos.VECIN, depth: int = 1, num: int = 1, nbytes: int = 256) -> Any:
    pipe = asc.TPipe()
    queue = asc.TQue(position, depth)
    pipe.init_buffer(queue, num, nbytes)
    return queue


def test_the_four_calls_emit_their_flags() -> None:
    def body() -> None:
        queue = one_queue()
        for _ in range(2):
            queue.enque(queue.alloc_tensor(asc.float32))
            queue.free_tensor(queue.deque(asc.float32))

    assert instrs(body) == [
        "SetFlag MTE2_V 0",
        "WaitFlag MTE2_V 0",
        "SetFlag V_MTE2 0",
        "WaitFlag V_MTE2 0",
        "SetFlag MTE2_V 0",
        "WaitFlag MTE2_V 0",
        "SetFlag V_MTE2 0",
        "WaitFlag V_MTE2 0",  # the pipe's destructor waits for the last freed buffer
        "PipeBarrier PIPE_ALL",
    ]


@pytest.mark.parametrize(
    ("position", "handed_on", "freed"),
    [(Pos.VECIN, "MTE2_V", "V_MTE2"), (Pos.VECOUT, "V_MTE3", "MTE3_V"), (Pos.VECCALC, "V_MTE3", "MTE3_V")],
)
def test_events_by_position(position: Pos, handed_on: str, freed: str) -> None:
    def body() -> None:
        queue = one_queue(position)
        queue.enque(queue.alloc_tensor(asc.float16))
        queue.free_tensor(queue.deque(asc.float16))

    assert instrs(body)[:3] == [f"SetFlag {handed_on} 0", f"WaitFlag {handed_on} 0", f"SetFlag {freed} 0"]


def test_flags_go_on_the_pipes_of_their_event() -> None:
    def body() -> None:
        queue = one_queue(Pos.VECOUT)
        queue.enque(queue.alloc_tensor(asc.float16))
        queue.deque(asc.float16)

    first, second = record(body).blocks[0].instrs[:2]
    assert (first.pipe.name, second.pipe.name) == ("PIPE_V", "PIPE_MTE3")


def test_scalar_calls_are_charged_to_the_next_instruction() -> None:
    def body() -> None:
        queue = one_queue()
        queue.enque(queue.alloc_tensor(asc.float32))
        queue.free_tensor(queue.deque(asc.float32))

    first, second, third, *_ = record(body).blocks[0].instrs
    assert calls(first) == {"TPIPE": 1, "INIT_BUFFER": 1, "ALLOC_TENSOR": 1, "EN_QUE": 1}
    assert calls(second) == {"DE_QUE": 1}
    assert calls(third) == {"FREE_TENSOR": 1}


def test_buffers_are_used_in_turn_and_double_buffering_takes_two_ids() -> None:
    addresses: list[int] = []

    def body() -> None:
        queue = one_queue(depth=2, num=2, nbytes=250)
        for _ in range(3):
            tensor = queue.alloc_tensor(asc.float32)
            addresses.append(tensor.addr)
            queue.enque(tensor)
            queue.free_tensor(queue.deque(asc.float32))
        first, second = queue.alloc_tensor(asc.float32), queue.alloc_tensor(asc.float32)
        queue.enque(first)
        queue.enque(second)

    found = instrs(body)
    assert addresses == [0, 256, 0]  # 250 B are rounded up to 256
    assert found[:3] == ["SetFlag MTE2_V 0", "WaitFlag MTE2_V 0", "SetFlag V_MTE2 0"]
    assert found[3:6] == ["SetFlag MTE2_V 0", "WaitFlag MTE2_V 0", "SetFlag V_MTE2 1"]
    assert found[6] == "WaitFlag V_MTE2 0"
    assert found[-3:] == ["SetFlag MTE2_V 0", "SetFlag MTE2_V 1", "PipeBarrier PIPE_ALL"]


def test_the_tensor_of_a_buffer_is_one_object_with_its_slices() -> None:
    def body() -> None:
        queue = one_queue(nbytes=100)
        tensor = queue.alloc_tensor(asc.float16)
        view = tensor[16]
        assert (tensor.size, tensor.addr, tensor.position) == (64, 0, Pos.VECIN)
        assert (view.addr, view.size) == (32, 48)
        queue.enque(tensor)
        assert queue.deque(asc.float16) is tensor
        assert tensor[16:] is view
        queue.free_tensor(view)  # a slice still knows its buffer
        assert queue.alloc_tensor(asc.float32).size == 32

    record(body)


def test_a_tensor_that_was_changed_is_not_handed_out_again() -> None:
    def body() -> None:
        queue = one_queue()
        tensor = queue.alloc_tensor(asc.float32)
        tensor.set_size(8)
        assert tensor.get_size() == 8
        queue.enque(tensor)
        fresh = queue.deque(asc.float32)
        assert fresh is not tensor
        assert fresh.get_size() == 64

    record(body)


def test_equal_calls_are_one_instruction() -> None:
    def body() -> None:
        queue = one_queue()
        for _ in range(50):
            queue.enque(queue.alloc_tensor(asc.float32))
            queue.free_tensor(queue.deque(asc.float32))

    program = record(body, blocks=3)
    distinct = {id(i) for block in program.blocks for i in block.instrs}
    assert program.instructions == 3 * (50 * 4 + 1)
    assert len(distinct) == 7  # first enque differs (no wait before it); enque, deque, free, alloc, end wait, barrier


def test_questions() -> None:
    def body() -> None:
        queue = one_queue(depth=1, num=2)
        assert queue.vacant_in_que()
        assert queue.has_idle_buffer()
        assert not queue.has_tensor_in_que()
        queue.enque(queue.alloc_tensor(asc.float32))
        assert queue.get_tensor_count_in_que() == 1
        assert queue.has_tensor_in_que()
        assert not queue.vacant_in_que()
        queue.alloc_tensor(asc.float32)
        assert not queue.has_idle_buffer()
        queue.free_all_event()
        assert queue.get_tensor_count_in_que() == 0

    assert instrs(body)[:2] == ["SetFlag MTE2_V 0", "WaitFlag MTE2_V 0"]


def test_depth_zero_works_in_place() -> None:
    def body() -> None:
        queue = one_queue(depth=0)
        tensor = asc.LocalTensor(asc.float32)
        queue.alloc_tensor(tensor)
        assert (tensor.addr, tensor.size) == (0, 64)
        queue.enque(tensor)
        other = asc.LocalTensor(asc.float16)
        queue.deque(other)
        assert (other.addr, other.size) == (0, 128)
        queue.free_tensor(other)

    assert instrs(body)[:3] == ["SetFlag MTE2_V 0", "WaitFlag MTE2_V 0", "SetFlag V_MTE2 0"]


def test_a_bound_queue_hands_over_where_it_is_told() -> None:
    def body() -> None:
        pipe = asc.TPipe()
        queue = asc.TQueBind(Pos.VECIN, Pos.VECOUT, 1)
        pipe.init_buffer(queue, 1, 64)
        queue.enque(queue.alloc_tensor(asc.float32))
        queue.deque(asc.float32)
        tensor = queue.deque(asc.float32) if queue.has_tensor_in_que() else None
        assert tensor is None

    def by_position() -> None:
        pipe = asc.TPipe()
        queue = asc.TQueBind(Pos.VECIN, Pos.VECOUT, 1)
        pipe.init_buffer(queue, 1, 64)
        queue.enque(queue.alloc_tensor(asc.float32), Pos.GM, Pos.VECIN)
        queue.enque(queue.deque(asc.float32, Pos.GM, Pos.VECIN), Pos.VECOUT, Pos.GM)
        queue.deque(asc.float32, Pos.VECOUT, Pos.GM)

    assert instrs(body)[:2] == ["SetFlag MTE2_MTE3 0", "WaitFlag MTE2_MTE3 0"]
    assert instrs(by_position)[:4] == [
        "SetFlag MTE2_V 0",
        "WaitFlag MTE2_V 0",
        "SetFlag V_MTE3 0",
        "WaitFlag V_MTE3 0",
    ]


# -- what goes wrong ----------------------------------------------------------------------------------------------


def test_no_free_buffer() -> None:
    def body() -> None:
        queue = one_queue(depth=2, num=2)
        queue.enque(queue.alloc_tensor(asc.float32))
        queue.alloc_tensor(asc.float32)
        queue.alloc_tensor(asc.float32)

    refused(
        body,
        "alloc_tensor: TQue(VECIN) has no free buffer (1 allocated and 1 in the queue): free_tensor must come first, "
        "or init_buffer must ask for more buffers",
    )


def test_deque_of_an_empty_queue() -> None:
    refused(lambda: one_queue().deque(asc.float32), "deque: TQue(VECIN) is empty: every deque needs an enque before it")


def test_enque_beyond_the_depth() -> None:
    def body() -> None:
        queue = one_queue(depth=1, num=2)
        queue.enque(queue.alloc_tensor(asc.float32))
        queue.enque(queue.alloc_tensor(asc.float32))

    refused(body, "enque: TQue(VECIN) of depth 1 already holds 1: deque must come first")


def test_foreign_tensors() -> None:
    def body() -> None:
        pipe = asc.TPipe()
        first, second = asc.TQue(Pos.VECIN, 1), asc.TQue(Pos.VECOUT, 1)
        pipe.init_buffer(first, 1, 64)
        pipe.init_buffer(second, 1, 64)
        first.free_tensor(second.alloc_tensor(asc.float32))

    refused(
        body,
        "free_tensor: LocalTensor(asc.float32, VECOUT, addr=64, size=16) does not come from TQue(VECIN)",
    )
    refused(lambda: one_queue().enque(3), "enque takes a LocalTensor, not int")


def test_freeing_twice_and_freeing_what_is_queued() -> None:
    def twice() -> None:
        queue = one_queue()
        tensor = queue.alloc_tensor(asc.float32)
        queue.free_tensor(tensor)
        queue.free_tensor(tensor)

    def queued() -> None:
        queue = one_queue()
        tensor = queue.alloc_tensor(asc.float32)
        queue.enque(tensor)
        queue.free_tensor(tensor)

    refused(twice, "free_tensor: this buffer of TQue(VECIN) is free, not allocated (freed twice?)")
    refused(queued, "free_tensor: this buffer of TQue(VECIN) is in the queue, not allocated (deque it first)")


def test_enque_of_a_free_buffer() -> None:
    def body() -> None:
        queue = one_queue()
        tensor = queue.alloc_tensor(asc.float32)
        queue.free_tensor(tensor)
        queue.enque(tensor)

    refused(body, "enque: this buffer of TQue(VECIN) is free, not allocated")


def test_queues_without_buffers() -> None:
    refused(
        lambda: asc.TQue(Pos.VECIN, 1).alloc_tensor(asc.float32),
        "alloc_tensor: TQue(VECIN) has no buffers yet: call pipe.init_buffer first",
    )
    refused(
        lambda: asc.TQue(Pos.VECIN, 1).deque(asc.float32),
        "deque: TQue(VECIN) has no buffers yet: call pipe.init_buffer first",
    )


def test_nine_buffers_of_one_position() -> None:
    def nine_allocated() -> None:
        queue = one_queue(depth=9, num=9, nbytes=32)
        for _ in range(9):
            queue.alloc_tensor(asc.float32)

    def nine_freed() -> None:
        queue = one_queue(depth=9, num=9, nbytes=32)
        for _ in range(9):
            queue.free_tensor(queue.alloc_tensor(asc.float32))

    refused(
        nine_allocated,
        "alloc_tensor: 8 tensors of position VECIN are allocated and not freed; at most 8 are allowed",
    )
    refused(
        nine_freed,
        "TQue(VECIN): all 8 event ids of HardEvent.V_MTE2 are taken; a core has 8 per event, so at most 8 buffers of "
        "one position can be used at a time",
    )


def test_queues_of_the_950_have_an_id_per_buffer() -> None:
    """Up to 32: mutexes, not events, of which it has eight per pair of pipes, too."""

    def freed(count: int) -> None:
        queue = one_queue(depth=1, num=count, nbytes=32)
        for _ in range(count):
            queue.enque(queue.alloc_tensor(asc.float32))
            queue.free_tensor(queue.deque(asc.float32))

    flags = [text for text in instrs(freed, 32, soc="ascend950") if text.startswith("SetFlag V_MTE2")]
    assert flags == [f"SetFlag V_MTE2 {number}" for number in range(32)]
    refused(
        freed,
        "TQue(VECIN): all 32 ids of HardEvent.V_MTE2 are taken; a core has 32 mutexes for the buffers of its queues",
        33,
        soc="ascend950",
    )


def test_positions_and_depths_that_do_not_exist() -> None:
    refused(
        lambda: asc.TQue(Pos.A1, 1),
        "asc.TQue at A1: allowed are VECIN, VECOUT and VECCALC; the memories of the cube unit are not simulated yet",
    )
    refused(
        lambda: asc.TQueBind(Pos.A1, Pos.A2, 1),
        "a queue from A1 to A2 is not simulated: a vector core connects GM, VECIN, VECCALC and VECOUT",
    )
    refused(lambda: asc.TQue(Pos.VECIN, None), "queue depth None: must be a Python integer of 0 or more")


def test_in_place_and_by_dtype_do_not_mix() -> None:
    refused(
        lambda: one_queue(depth=0).alloc_tensor(asc.float32),
        "TQue(VECIN) works in place: pass an empty LocalTensor(dtype), not a data type",
    )
    refused(
        lambda: one_queue().alloc_tensor(asc.LocalTensor(asc.float32)),
        "TQue(VECIN): filling a tensor in place needs depth 0; pass a data type to get a tensor",
    )
    refused(
        lambda: one_queue().alloc_tensor("float"),
        "alloc_tensor or deque takes a numeric data type such as asc.float32, not 'float'",
    )


def test_a_tensor_never_freed_is_a_warning() -> None:
    def body() -> None:
        queue = one_queue(num=2)
        queue.alloc_tensor(asc.float32)
        queue.enque(queue.alloc_tensor(asc.float32))

    _, session = session_of(body, blocks=4)
    assert session.warnings == [
        "TQue(VECIN) ends the kernel with 1 allocated and 1 in the queue: every tensor wants free_tensor"
    ]
