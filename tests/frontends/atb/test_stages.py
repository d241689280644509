"""InferShape, Setup and Execute: every check with its status, and which comes first where two are broken."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ascend_sim.frontends import atb
from ascend_sim.host.device import Device

from .making import LENGTHS, SHAPES, Ready, created, descs, pack

ROPE_SHAPES = [(4, 256), (4, 128), (4, 64), (4, 64), (1,)]
ROPE_DTYPES = ["float16"] * 4 + ["int32"]


def changed(items: list[Any], index: int, value: Any) -> list[Any]:
    return [*items[:index], value, *items[index + 1 :]]


def rope_descs(shapes: Any = ROPE_SHAPES, dtypes: list[str] = ROPE_DTYPES) -> list[atb.TensorDesc]:
    return [atb.TensorDesc(dtype, "nd", shape) for dtype, shape in zip(dtypes, shapes, strict=True)]


class TestInferShape:
    def test_outputs_are_as_the_gradients(self, device: Device) -> None:
        given = descs()
        status, outs = created(atb.RopeGradParam(LENGTHS)).InferShape(given)
        assert (status, outs) == (0, given[:2])
        assert outs[0] is not given[0]

    def test_arrays_and_tensors_do_as_descriptions(self, device: Device) -> None:
        operation = created(atb.RopeGradParam(LENGTHS))
        arrays = [np.zeros(shape, np.float16) for shape in SHAPES]
        assert operation.infer_shape(arrays) == operation.InferShape([atb.tensor(array) for array in arrays])

    # each row breaks a rule and, where it can, one that comes later
    @pytest.mark.parametrize(
        ("shapes", "dtype", "code", "text"),
        [
            ([(0, 1)] * 3, "int8", 5, "3 inputs; there must be 4"),
            ([()] * 4, "int8", 8, "q_embedded_grad has 0 dims; allowed are 1 to 8"),
            ([(1,) * 9] * 4, "int8", 8, "q_embedded_grad has 9 dims; allowed are 1 to 8"),
            ([(0, 1), (), (), ()], "int8", 9, "q_embedded_grad (0, 1) has 0 B; allowed are 1 B to 274877906944 B"),
            ([(1 << 37, 2)] * 4, "int8", 13, "are (int8 ND, int8 ND, int8 ND, int8 ND); allowed are"),
            ([(1 << 37, 3)] * 4, "int8", 9, "has 412316860416 B"),
            ([(3, 100), (1,), (2,), (2,)], "float16", 8, "k_embedded_grad (1,) has 1 dim; allowed are 2"),
            ([(3, 100), (4, 100), (2, 3), (2, 4)], "float16", 9, "k_embedded_grad (4, 100) must have the shape of"),
            ([(3, 100), (3, 100), (2, 3), (2, 4)], "float16", 9, "sin (2, 4) must have the shape of cos, (2, 3)"),
            ([(3, 100), (3, 100), (2, 3), (2, 3)], "float16", 8, "100 columns; allowed are multiples of 128, whole"),
            ([(3, 128), (3, 128), (2, 3), (2, 3)], "float16", 8, "cos has 3 columns; the only head size is 128"),
            ([(3, 128), (3, 128), (2, 128), (2, 128)], "float16", 1, "qSeqLen[2] is 4; allowed are 1 to 2, the rows"),
        ],
    )  # fmt: skip
    def test_rope_grad(
        self, device: Device, shapes: Any, dtype: str, code: int, text: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        operation = created(atb.RopeGradParam(LENGTHS))
        assert operation.InferShape(descs(shapes, dtype)) == (code, [])
        assert text in caplog.messages[-1]
        assert caplog.messages[-1].endswith(f"({atb.Status(code).name}, {code})")

    @pytest.mark.parametrize("index", range(4))
    def test_only_fp16_in_nd(self, device: Device, index: int) -> None:
        operation = created(atb.RopeGradParam(LENGTHS))
        for dtype in atb.DataType:
            if dtype not in (atb.DataType.ACL_FLOAT16, atb.DataType.ACL_STRING, atb.DataType.ACL_DT_UNDEFINED):
                given = changed(descs(), index, atb.TensorDesc(dtype, "nd", SHAPES[index]))
                assert operation.InferShape(given)[0] == atb.Status.ERROR_INVALID_TENSOR_INI_MATCH
        for form in atb.Format:
            if form is not atb.Format.ACL_FORMAT_ND:
                given = changed(descs(), index, atb.TensorDesc("float16", form, SHAPES[index]))
                assert operation.InferShape(given)[0] == atb.Status.ERROR_INVALID_TENSOR_INI_MATCH

    def test_a_dtype_without_a_size_makes_an_empty_tensor(self, device: Device) -> None:
        given = changed(descs(), 2, atb.TensorDesc("string", "nd", SHAPES[2]))
        assert created(atb.RopeGradParam(LENGTHS)).InferShape(given)[0] == atb.Status.ERROR_INVALID_TENSOR_SIZE

    # (rank, tokens, head size, tables, hidden of k, whole heads, coefficient, its divisor, format) in this order
    @pytest.mark.parametrize(
        ("shapes", "param", "code", "text"),
        [
            ([(4, 256, 1), (5, 96), (4, 8), (3, 8), (1,)], (3, 2), 8, "q (4, 256, 1) has 3 dims; allowed: 2 or 4"),
            ([(4, 256), (5, 96), (4, 8), (3, 8), (1, 1)], (3, 2), 8, "seqlen (1, 1) has 2 dims; allowed: 1"),
            ([(4, 256), (5, 96), (4, 8), (3, 8), (1,)], (3, 2), 9, "q has 4 tokens, k 5; they must have"),
            ([(2, 2, 1, 256), (5, 96), (4, 8), (3, 8), (1,)], (3, 2), 9, "q has 4 tokens, k 5; they must have"),
            ([(4, 256), (4, 96), (4, 8), (3, 8), (1,)], (3, 2), 8, "cos has 8 columns; allowed are 16 to 4096"),
            ([(4, 256), (4, 96), (4, 4112), (3, 8), (1,)], (3, 2), 8, "cos has 4112 columns; allowed are 16 to 4096"),
            ([(4, 256), (4, 96), (4, 20), (3, 20), (1,)], (3, 2), 9, "sin (3, 20) must have the shape of cos, (4, 20)"),
            ([(4, 256), (4, 96), (4, 20), (4, 20), (1,)], (3, 2), 9, "q has 256 columns, k 96; those of q must be"),
            ([(4, 256), (4, 128), (4, 20), (4, 20), (1,)], (3, 2), 8, "k has 128 columns; allowed are multiples of 20"),
            ([(4, 256), (4, 128), (4, 64), (4, 64), (1,)], (128, 2), 1, "rotaryCoeff is 128; allowed are 2, 4 and 64"),
            ([(4, 144), (4, 144), (4, 18), (4, 18), (1,)], (4, 2), 1, "rotaryCoeff is 4; it must divide 18"),
            ([(4, 256), (4, 128), (4, 64), (4, 64), (1,)], (64, 2), 1, "cosFormat is 2; allowed are 0 and 1"),
        ],
    )  # fmt: skip
    def test_rope(
        self,
        device: Device,
        shapes: Any,
        param: tuple[int, int],
        code: int,
        text: str,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        operation = created(atb.RopeParam(*param))
        assert operation.InferShape(rope_descs(shapes)) == (code, [])
        assert text in caplog.messages[-1]

    @pytest.mark.parametrize("lengths", ["int32", "uint32"])
    @pytest.mark.parametrize(("x", "table"), [("float16", "float16"), ("float16", "float"), ("bf16", "bf16")])
    def test_dtypes_of_rope(self, device: Device, x: str, table: str, lengths: str) -> None:
        operation = created(atb.RopeParam(2))
        assert operation.InferShape(rope_descs(dtypes=[x, x, table, table, lengths]))[0] == 0

    @pytest.mark.parametrize(
        "dtypes",
        [
            ["float16", "bf16", "float16", "float16", "int32"],
            ["bf16", "bf16", "float", "float", "int32"],
            ["float16", "float16", "float16", "float", "int32"],
            ["float16", "float16", "float16", "float16", "int64"],
        ],
    )
    def test_dtypes_of_rope_go_together(self, device: Device, dtypes: list[str]) -> None:
        assert created(atb.RopeParam(2)).InferShape(rope_descs(dtypes=dtypes))[0] == 13

    @pytest.mark.parametrize("name", ["Ascend310P3", "Ascend310B1", "Ascend910A", "Ascend910B", "Ascend910ProB"])
    def test_no_bfloat16_on_older_chips(self, device: Device, name: str) -> None:
        operation = created(atb.RopeParam(2))
        given = rope_descs(dtypes=["bf16"] * 4 + ["int32"])
        with atb.pretend_soc(name):
            assert operation.InferShape(given)[0] == atb.Status.ERROR_INVALID_TENSOR_DTYPE
        assert operation.InferShape(given)[0] == 0


class TestSetup:
    def test_no_workspace_for_rope_grad(self, ready: Ready) -> None:
        assert ready.operation.Setup(ready.pack, ready.context) == (0, 0)
        assert ready.operation.setup(ready.pack, ready.context) == (0, 0)

    def test_the_null_context_comes_first(self, ready: Ready) -> None:
        assert ready.operation.Setup(atb.VariantPack(), None) == (1, 0)

    def test_counts_of_inputs_and_outputs_share_a_status(self, ready: Ready) -> None:
        for bad in (atb.VariantPack(), pack(SHAPES[:3]), pack([*SHAPES, SHAPES[3]]), pack(outputs=1), pack(outputs=3)):
            assert ready.operation.Setup(bad, ready.context) == (atb.Status.ERROR_INVALID_IN_TENSOR_NUM, 0)

    @pytest.mark.parametrize(("shape", "code"), [((), 8), ((1,) * 9, 8), ((0, 128), 9)])
    def test_outputs_are_tensors_too(self, ready: Ready, shape: tuple[int, ...], code: int) -> None:
        ready.pack.outTensors[1].desc = atb.TensorDesc("float16", "nd", shape)
        assert ready.operation.Setup(ready.pack, ready.context) == (code, 0)

    def test_dtype_of_an_output(self, ready: Ready) -> None:
        ready.pack.outTensors[1].desc = atb.TensorDesc("float", "nd", (11, 128))
        assert ready.operation.Setup(ready.pack, ready.context) == (13, 0)

    def test_the_operation_s_own_checks_again(self, ready: Ready) -> None:
        assert ready.operation.Setup(pack([(11, 128), (12, 128), *SHAPES[2:]]), ready.context) == (9, 0)
        assert ready.operation.Setup(pack([*SHAPES[:2], (3, 128), (3, 128)]), ready.context) == (1, 0)

    def test_what_is_no_context_is_noticed_last(self, ready: Ready) -> None:
        assert ready.operation.Setup(pack(outputs=1), object()) == (5, 0)  # type: ignore[arg-type]
        assert ready.operation.Setup(ready.pack, object()) == (1, 0)  # type: ignore[arg-type]

    def test_a_destroyed_context(self, ready: Ready) -> None:
        atb.DestroyContext(ready.context)
        assert ready.operation.Setup(ready.pack, ready.context) == (atb.Status.ERROR_INVALID_CONTEXT_ADDR, 0)

    def test_other_output_shapes_are_only_logged(self, ready: Ready, caplog: pytest.LogCaptureFixture) -> None:
        ready.pack.outTensors[0] = atb.tensor(np.zeros((12, 128), np.float16))
        assert ready.operation.Setup(ready.pack, ready.context) == (0, 0)
        assert caplog.messages == [
            "RopeGradOperation: q_grad is TensorDesc(float16, ACL_FORMAT_ND, (12, 128)), inferred was "
            "TensorDesc(float16, ACL_FORMAT_ND, (11, 128))"
        ]
        assert ready.execute() == 0

    def test_no_runner(self, ready: Ready, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(atb.RopeGradOperation, "CreateRunner", lambda *_: None)
        assert ready.operation.Setup(ready.pack, ready.context) == (atb.Status.ERROR_OPERATION_NULL_RUNNER, 0)

    def test_memory_runs_out(self, ready: Ready, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object) -> None:
            raise MemoryError("none left")

        monkeypatch.setattr(ready.context, "GetHostTilingBuffer", fail)
        assert ready.operation.Setup(ready.pack, ready.context) == (atb.Status.ERROR_OUT_OF_HOST_MEMORY, 0)
        monkeypatch.setattr(atb.RopeGradOperation, "CheckImpl", fail)
        assert ready.operation.InferShape(ready.pack.inTensors) == (atb.Status.ERROR_OUT_OF_HOST_MEMORY, [])

    def test_on_a_chip_that_is_only_pretended(self, ready: Ready) -> None:
        with atb.pretend_soc("Ascend910B9"):
            assert ready.operation.Setup(ready.pack, ready.context) == (atb.Status.ERROR_RT_FAIL, 0)

    def test_rope_needs_rows_of_whole_blocks(self, context: atb.Context, caplog: pytest.LogCaptureFixture) -> None:
        arrays = [np.zeros(shape, np.float16) for shape in ((4, 40), (4, 40), (4, 20), (4, 20))]
        given = atb.VariantPack([*arrays, np.zeros(1, np.int32)], [np.zeros((4, 40), np.float16) for _ in range(2)])
        operation = created(atb.RopeParam(2))
        assert operation.InferShape(given.inTensors)[0] == 0
        assert operation.Setup(given, context) == (atb.Status.ERROR_RT_FAIL, 0)
        assert "q has 40 columns; the kernel takes multiples of 16, rows of whole 32 B" in caplog.messages[-1]

    def test_workspace_of_rope(self, context: atb.Context) -> None:
        given = rope_pack()
        status, size = created(atb.RopeParam(2)).Setup(given, context)
        scratch = (16 << 20) + 6 * 4 * 4 * 64 * 2 + 4 * 64 * 4 + 4 * 32
        assert (status, size) == (0, -(-scratch // 512) * 512)


def rope_pack() -> atb.VariantPack:
    arrays = [np.ones(shape, np.float16) for shape in ROPE_SHAPES[:4]]
    outputs = [np.zeros(shape, np.float16) for shape in ROPE_SHAPES[:2]]
    return atb.VariantPack([*arrays, np.array([4], np.int32)], outputs)


class TestExecute:
    def test_before_setup_or_after_one_that_failed(self, ready: Ready) -> None:
        assert ready.execute() == 1
        ready.set_up()
        assert ready.operation.Setup(pack(outputs=1), ready.context) == (5, 0)
        assert ready.execute() == 1

    def test_the_null_context(self, ready: Ready) -> None:
        assert ready.set_up().operation.Execute(ready.pack, None, None) == 1

    def test_the_null_stream(self, ready: Ready) -> None:
        ready.set_up().context.SetExecuteStream(None)
        assert ready.execute() == 1

    def test_another_context(self, ready: Ready) -> None:
        other = Ready(ready.device)
        assert ready.set_up().operation.Execute(ready.pack, None, other.context) == 1

    def test_the_stream_is_looked_for_before_the_context_is_compared(
        self, ready: Ready, caplog: pytest.LogCaptureFixture
    ) -> None:
        ready.set_up().context.SetExecuteStream(None)
        assert ready.operation.Execute(ready.pack, None, Ready(ready.device).context) == 1
        assert "no stream" in caplog.messages[-1]

    @pytest.mark.parametrize("inputs", [3, 5])
    def test_counts(self, ready: Ready, inputs: int) -> None:
        ready.set_up()
        given = pack([*SHAPES, SHAPES[3]][:inputs])
        assert ready.operation.Execute(given, None, ready.context) == 1
        assert ready.operation.Execute(pack(outputs=1), None, ready.context) == 1

    def test_sizes_and_memory(self, ready: Ready) -> None:
        ready.set_up()
        for items in (ready.pack.inTensors, ready.pack.outTensors):
            items[1].dataSize -= 2
            assert ready.execute() == 1
            items[1].dataSize += 2
            kept, items[1].deviceData = items[1].deviceData, None
            assert ready.execute() == 1
            items[1].hostData = kept
            assert ready.execute() == 0

    def test_other_addresses(self, ready: Ready) -> None:
        ready.set_up()
        other = pack()
        assert ready.operation.Execute(other, None, ready.context) == 0
        assert (other.outTensors[0].data != 7).any()
        assert (ready.pack.outTensors[0].data == 7).all()

    def test_an_empty_pack_takes_setup_s(self, ready: Ready) -> None:
        assert ready.set_up().operation.Execute(atb.VariantPack(), None, ready.context) == 0
        assert (ready.pack.outTensors[0].data != 7).any()

    def test_the_form_with_a_size(self, ready: Ready) -> None:
        operation = ready.set_up().operation
        assert operation.Execute(ready.pack, None, 0, ready.context) == 0
        assert operation.execute(ready.pack, workspace=None, context=ready.context) == 0

    def test_workspace(self, context: atb.Context) -> None:
        operation, given = created(atb.RopeParam(2)), rope_pack()
        _, size = operation.Setup(given, context)
        workspace = np.zeros(size, np.uint8)
        assert operation.Execute(given, None, context) == 1
        assert operation.Execute(given, workspace[1:], context) == 1
        assert operation.Execute(given, workspace, size - 1, context) == 1
        assert operation.Execute(given, None, size, context) == 1
        assert operation.Execute(given, workspace, context) == 0

    def test_prepare_and_launch_apart(self, ready: Ready) -> None:
        ready.set_up()
        ready.context.SetExecuteType(atb.ExecuteType.EXECUTE_PRELAUNCH)
        assert ready.execute() == 0
        assert ready.device.launches == []
        ready.context.SetExecuteType(atb.ExecuteType.EXECUTE_LAUNCH)
        assert ready.execute() == 0
        assert len(ready.device.launches) == 1
        ready.context.SetExecuteType(atb.ExecuteType.EXECUTE_NORMAL)
        assert ready.execute() == 0
        assert len(ready.device.launches) == 2

    def test_a_failed_tiling_leaves_nothing_to_launch_with(self, ready: Ready, monkeypatch: pytest.MonkeyPatch) -> None:
        """Setup logs it and answers 0, as the library does."""
        from ascend_sim.frontends.atb.mki.rope_grad import RopeGradKernel  # noqa: PLC0415

        monkeypatch.setattr(RopeGradKernel, "CanSupport", lambda *_: False)
        assert created(atb.RopeGradParam([5])).Setup(pack([(5, 128)] * 4), ready.context) == (0, 0)
        operation = created(atb.RopeGradParam([6]))
        given = pack([(6, 128)] * 4)
        assert operation.Setup(given, ready.context) == (0, 0)
        assert operation.Execute(given, None, ready.context) == 1
        assert ready.device.launches == []

    def test_graph_mode_takes_no_other_shapes_once_captured(self, ready: Ready) -> None:
        ready.context.SetLaunchMode(atb.LaunchMode.GRAPH_LAUNCH_MODE)
        assert ready.set_up().execute() == 0
        assert ready.operation.Setup(pack([(12, 128), (12, 128), *SHAPES[2:]]), ready.context) == (8, 0)
        again = pack()
        assert ready.operation.Setup(again, ready.context) == (0, 0)
        assert ready.operation.Execute(again, None, ready.context) == 0
        assert (again.outTensors[0].data != 7).any()
