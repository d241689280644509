"""TPipe, TBuf, TBufPool, LocalMemAllocator: who gets which bytes, and which event ids."""

from __future__ import annotations

from asc_bench import calls, instrs, record, refused

from ascend_sim import asc
from ascend_sim.asc import HardEvent, TPosition


def test_buffers_follow_each_other_rounded_up() -> None:
    def body() -> None:
        pipe = asc.TPipe()
        queue, buffer = asc.TQue(TPosition.VECIN, 1), asc.TBuf(TPosition.VECCALC)
        pipe.init_buffer(que=queue, num=2, len=33)
        pipe.init_buffer(buf=buffer, num=10)
        assert [queue.alloc_tensor(asc.uint8).addr for _ in range(2)] == [0, 64]
        tensor = buffer.get(asc.float32)
        assert (tensor.addr, tensor.size) == (128, 8)

    assert calls(record(body).blocks[0].instrs[0]) == {"TPIPE": 1, "INIT_BUFFER": 2, "ALLOC_TENSOR": 2}


def test_capacity_is_what_the_chip_leaves() -> None:
    def fits() -> None:
        pipe = asc.TPipe()
        pipe.init_buffer(asc.TBuf(TPosition.VECCALC), 196_352)

    def overflows() -> None:
        pipe = asc.TPipe()
        pipe.init_buffer(asc.TQue(TPosition.VECIN, 1), 2, 65_537)
        pipe.init_buffer(asc.TQueBind(TPosition.VECOUT, TPosition.GM, 1), 1, 32_768)
        pipe.init_buffer(asc.TBuf(TPosition.VECCALC), 32_768)

    record(fits)
    refused(
        overflows,
        "unified buffer overflow: 196672 B asked for, 196352 B usable on Ascend910B3; "
        "buffers (each rounded up to 32 B):\n"
        "  TQue(VECIN): 2 x 65568 B = 131136 B\n"
        "  TQueBind(VECOUT, GM): 1 x 32768 B = 32768 B\n"
        "  TBuf(VECCALC): 1 x 32768 B = 32768 B",
    )


def test_at_most_64_buffers() -> None:
    def body() -> None:
        pipe = asc.TPipe()
        pipe.init_buffer(asc.TQue(TPosition.VECIN, 1), 60, 32)
        pipe.init_buffer(asc.TQue(TPosition.VECOUT, 1), 5, 32)

    refused(body, "init_buffer: 60 buffers exist and 5 more are asked for, but a TPipe manages at most 64")


def test_sizes_that_are_no_sizes() -> None:
    def init(num: object, nbytes: object) -> None:
        asc.TPipe().init_buffer(asc.TQue(TPosition.VECIN, 1), num, nbytes)

    refused(lambda: init(2, 0), "init_buffer: buffer length in bytes is 0, must be at least 1")
    refused(lambda: init(0, 32), "init_buffer: number of buffers is 0, must be at least 1")
    refused(
        lambda: init(2, 64 / 2),
        "init_buffer: buffer length in bytes must be an integer, not float (write // to divide)",
    )
    refused(lambda: init(2, None), "init_buffer(que, num, len) needs the number of buffers and their length in bytes")
    refused(lambda: asc.TPipe().init_buffer(3, 1, 32), "init_buffer takes a TQue or a TBuf, not int")


def test_one_pipe_per_kernel() -> None:
    def two() -> None:
        _pipes = asc.TPipe(), asc.TPipe()

    def one_after_the_other() -> None:
        first = asc.TPipe()
        assert asc.get_tpipe_ptr() is first
        first.destroy()
        second = asc.TPipe()
        assert asc.get_tpipe_ptr() is second

    refused(two, "a kernel has one TPipe: destroy() the first before making another")
    assert instrs(one_after_the_other) == ["PipeBarrier PIPE_ALL", "PipeBarrier PIPE_ALL"]
    refused(asc.get_tpipe_ptr, "get_tpipe_ptr: this kernel has no TPipe")


def test_reset_frees_buffers_and_events() -> None:
    def body() -> None:
        pipe = asc.TPipe()
        queue = asc.TQue(TPosition.VECIN, 1)
        for _ in range(3):
            pipe.init_buffer(queue, 1, 65_536)
            pipe.init_buffer(asc.TBuf(TPosition.VECCALC), 65_536)
            tensor = queue.alloc_tensor(asc.float32)
            assert tensor.addr == 0
            queue.free_tensor(tensor)
            pipe.reset()

    assert instrs(body) == ["SetFlag V_MTE2 0", "WaitFlag V_MTE2 0"] * 3 + ["PipeBarrier PIPE_ALL"]


def test_init_after_destroy() -> None:
    def body() -> None:
        pipe = asc.TPipe()
        pipe.destroy()
        pipe.init()
        pipe.init_buffer(asc.TBuf(TPosition.VECCALC), 32)

    def twice() -> None:
        asc.TPipe().init()

    assert len(instrs(body)) == 2
    refused(twice, "TPipe.init: a TPipe is in use already; call destroy() first")


def test_event_ids() -> None:
    def body() -> None:
        pipe = asc.TPipe()
        assert pipe.fetch_event_id(HardEvent.V_S) == 0
        assert pipe.fetch_event_id() == 0
        assert pipe.alloc_event_id(HardEvent.V_S) == 0
        assert pipe.alloc_event_id() == 1
        assert pipe.alloc_event_id(HardEvent.S_V) == 0  # every event has ids of its own
        pipe.release_event_id(0)
        assert pipe.alloc_event_id() == 0

    def too_many() -> None:
        pipe = asc.TPipe()
        for _ in range(9):
            pipe.alloc_event_id(HardEvent.MTE2_V)

    record(body)
    refused(
        too_many,
        "all 8 event ids of HardEvent.MTE2_V are taken: a core has 8 per event, so at most 8 tensors of one position "
        "may be between two calls of the queue at a time",
    )
    refused(lambda: asc.TPipe().release_event_id(3), "release_event_id: id 3 of HardEvent.V_S is not taken")


def test_tbuf() -> None:
    def body() -> None:
        pipe = asc.TPipe()
        buffer = asc.TBuf(TPosition.VECCALC)
        pipe.init_buffer(buffer, 256)
        whole = buffer.get(asc.float32)
        assert buffer.get(asc.float32) is whole
        assert buffer.alloc_tensor(asc.float32) is whole
        buffer.free_tensor(whole)
        assert buffer.get(asc.float16, 10).size == 10
        assert buffer.get(asc.float16, len=10) is buffer.get(asc.float16, 10)
        part = buffer.get_with_offset(8, 64, asc.float32)
        assert (part.addr, part.size) == (64, 8)
        shaped = buffer.get(asc.float32, shape=asc.ShapeInfo([8, 8]))
        assert shaped.get_shape_info().dims == (8, 8)

    record(body)


def test_tbuf_refusals() -> None:
    def buffer() -> asc.TBuf:
        made = asc.TBuf(TPosition.VECCALC)
        asc.TPipe().init_buffer(made, 256)
        return made

    refused(
        lambda: asc.TBuf(TPosition.VECCALC).get(asc.float32),
        "TBuf.get: this TBuf has no buffer yet: call pipe.init_buffer first",
    )
    refused(
        lambda: buffer().get(asc.float32, 65),
        "TBuf.get: 65 elements of asc.float32 from byte 0 need 260 B, but the buffer has 256 B",
    )
    refused(
        lambda: buffer().get_with_offset(8, 16, asc.float32),
        "TBuf.get_with_offset: buf_offset 16 must be a multiple of 32 B",
    )
    refused(
        lambda: asc.TBuf(TPosition.CO1),
        "asc.TBuf at CO1: allowed are VECIN, VECOUT and VECCALC; the memories of the cube unit are not simulated yet",
    )


def test_pools() -> None:
    def body() -> None:
        pipe = asc.TPipe()
        pipe.init_buffer(asc.TBuf(TPosition.VECCALC), 64)
        first, second = asc.TBufPool(TPosition.VECCALC), asc.TBufPool(TPosition.VECCALC)
        pipe.init_buf_pool(first, 1024)
        pipe.init_buf_pool(second, share_buf=first)
        queue, buffer = asc.TQue(TPosition.VECIN, 1), asc.TBuf(TPosition.VECCALC)
        first.init_buffer(queue, 2, 100)
        second.init_buffer(buffer, 512)
        assert queue.alloc_tensor(asc.float32).addr == 64
        assert buffer.get(asc.float32).addr == 64
        first.reset()
        first.init_buffer(buf=buffer, len=1024)
        assert buffer.get(asc.float32).size == 256

    def overflow() -> None:
        pool = asc.TBufPool(TPosition.VECCALC)
        asc.TPipe().init_buf_pool(pool, 64)
        pool.init_buffer(asc.TBuf(TPosition.VECCALC), 65)

    def crowd() -> None:
        pool = asc.TBufPool(TPosition.VECCALC, 2)
        asc.TPipe().init_buf_pool(pool, 1024)
        pool.init_buffer(asc.TQue(TPosition.VECIN, 1), 3, 32)

    record(body)
    refused(overflow, "TBufPool(VECCALC): 96 B asked for, but the pool has 64 B")
    refused(crowd, "TBufPool(VECCALC): 3 buffers asked for, but buf_id_size is 2")
    refused(
        lambda: asc.TBufPool(TPosition.VECCALC).init_buffer(asc.TBuf(TPosition.VECCALC), 32),
        "this TBufPool has no memory yet: call pipe.init_buf_pool first",
    )


def test_allocator() -> None:
    def body() -> None:
        memory = asc.LocalMemAllocator()
        first = memory.alloc(TPosition.VECIN, asc.float16, 3)
        second = memory.alloc(TPosition.VECOUT, asc.float32, 8)
        assert (first.addr, first.size, second.addr, second.size) == (0, 3, 32, 8)
        assert memory.get_cur_addr() == 64

    record(body)
    refused(
        lambda: asc.LocalMemAllocator().alloc(TPosition.VECIN, asc.float32, 50_000),
        "LocalMemAllocator.alloc: 200000 B asked for with 0 B in use, but the unified buffer has 196352 B",
    )


def test_select_needs_the_end_of_the_unified_buffer() -> None:
    def body(last: asc.ConstExpr) -> None:
        pipe = asc.TPipe()
        values, end = asc.TBuf(TPosition.VECCALC), asc.TBuf(TPosition.VECCALC)
        pipe.init_buffer(values, 1024)
        pipe.init_buffer(end, last)
        x = values.get(asc.float32, 64)
        asc.select(x, values.get(asc.uint8, 32), x, 2.5, asc.SelMode.VSEL_TENSOR_SCALAR_MODE, 64)

    record(body, 188_416 - 1024)
    refused(
        body,
        "Select: VSEL_TENSOR_SCALAR_MODE works in the last 8192 B of UB (from byte 188416 on), but the buffers of the "
        "TPipe take 188448 B",
        188_416 - 992,
    )
