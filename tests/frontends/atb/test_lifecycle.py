"""Creating, cloning, updating and destroying operations: statuses, and the order in which things are refused."""

from __future__ import annotations

import pytest

import ascend_sim
from ascend_sim.errors import InputError
from ascend_sim.frontends import atb
from ascend_sim.frontends.atb import infer, train
from ascend_sim.host.device import Device
from ascend_sim.soc import load

from .making import LENGTHS, Ready, created, pack

GRAD_VARIANTS = [
    *("Ascend910B1", "Ascend910B2", "Ascend910B2C", "Ascend910B3", "Ascend910B4", "Ascend910B4-1"),
    *("Ascend910_9362", "Ascend910_9372", "Ascend910_9381", "Ascend910_9382", "Ascend910_9391", "Ascend910_9392"),
]


class TestCreate:
    def test_an_operation_says_what_it_is(self, device: Device) -> None:
        operation = created(atb.RopeGradParam(LENGTHS))
        assert isinstance(operation, atb.RopeGradOperation)
        assert (operation.GetName(), operation.GetInputNum(), operation.GetOutputNum()) == ("RopeGradOperation", 4, 2)
        assert operation.GetParamJson() == {"c_qSeqLen": LENGTHS}
        assert operation.GetParam() == atb.RopeGradParam(LENGTHS)
        forward = created(atb.RopeParam(2, 1))
        assert (forward.GetName(), forward.GetInputNum(), forward.GetOutputNum()) == ("RopeOperation", 5, 2)
        assert forward.GetParamJson() == {"rotaryCoeff": 2, "cosFormat": 1}

    @pytest.mark.parametrize("variant", GRAD_VARIANTS)
    def test_it_exists_on_every_variant_of_a2_and_a3(self, variant: str) -> None:
        assert load(variant).variant == variant
        with Device(variant):
            assert atb.CreateOperation(atb.RopeGradParam([1]))[0] == 0
            assert atb.CreateOperation(atb.RopeParam())[0] == 0

    @pytest.mark.parametrize("name", ["Ascend910B", "Ascend910A", "Ascend310P3", "Ascend310B1", "Ascend950PR_9589"])
    def test_elsewhere_it_is_refused(self, device: Device, name: str, caplog: pytest.LogCaptureFixture) -> None:
        with atb.pretend_soc(name):
            assert atb.CreateOperation(atb.RopeGradParam([1])) == (atb.Status.ERROR_INVALID_PARAM, None)
        assert caplog.messages == [
            "CreateOperation RopeGradOperation: RopeGradOperation exists on the variants of Ascend910B and "
            f"Ascend910_93, not on {name} (ERROR_INVALID_PARAM, 1)"
        ]

    def test_on_a_device_of_the_950(self) -> None:
        with Device("Ascend950PR_9589"):
            assert atb.CreateOperation(atb.RopeGradParam([1])) == (atb.Status.ERROR_INVALID_PARAM, None)
            assert atb.CreateOperation(atb.RopeParam()) == (atb.Status.ERROR_CANN_ERROR, None)

    def test_rope_on_the_950_lacks_its_aclnn_operator(self, device: Device, caplog: pytest.LogCaptureFixture) -> None:
        with atb.pretend_soc("Ascend950PR_9589"):
            assert atb.CreateOperation(atb.RopeParam()) == (atb.Status.ERROR_CANN_ERROR, None)
        assert caplog.messages == [
            "CreateOperation RopeOperation: aclnnApplyRotaryPosEmbV2, which RopeOperation calls on the 950, is not "
            "here (ERROR_CANN_ERROR, 12)"
        ]

    @pytest.mark.parametrize(
        ("lengths", "text"),
        [
            ([], "qSeqLen has 0 entries; allowed are 1 to 32 samples"),
            ([1] * 33, "qSeqLen has 33 entries; allowed are 1 to 32 samples"),
            ([3, 0], "qSeqLen[1] is 0; a sample has at least 1 row"),
            ([-1], "qSeqLen[0] is -1; a sample has at least 1 row"),
        ],
    )
    def test_sample_lengths(
        self, device: Device, lengths: list[int], text: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        assert atb.CreateOperation(atb.RopeGradParam(lengths)) == (1, None)
        assert caplog.messages == [f"CreateOperation RopeGradOperation: RopeGrad: {text} (ERROR_INVALID_PARAM, 1)"]

    @pytest.mark.parametrize("lengths", [[1] * 32, [2**31 - 1]])
    def test_lengths_at_the_limits(self, device: Device, lengths: list[int]) -> None:
        assert atb.CreateOperation(atb.RopeGradParam(lengths))[0] == 0

    def test_the_order_null_pointer_reserved_bytes_chip_lengths(
        self, device: Device, caplog: pytest.LogCaptureFixture
    ) -> None:
        bad = atb.RopeGradParam([], rsv=[0, 1])
        with atb.pretend_soc("Ascend310P3"):
            assert atb.CreateOperation(bad, None) == (1, None)
            assert atb.CreateOperation(bad) == (1, None)
            assert atb.CreateOperation(atb.RopeGradParam([])) == (1, None)
        assert atb.CreateOperation(atb.RopeGradParam([])) == (1, None)
        whys = [
            "there is no place for the operation", "a reserved byte of the parameter is not 0", "not on Ascend310P3",
            "qSeqLen has 0 entries",
        ]  # fmt: skip
        assert all(why in text for why, text in zip(whys, caplog.messages, strict=True))

    @pytest.mark.parametrize("byte", range(8))
    def test_every_reserved_byte_counts(self, device: Device, byte: int) -> None:
        rsv = [0] * byte + [255]
        assert atb.CreateOperation(atb.RopeGradParam([1], rsv))[0] == 1
        assert atb.CreateOperation(atb.RopeParam(rsv=rsv))[0] == 1

    def test_other_parameters(self) -> None:
        with pytest.raises(InputError, match=r"^CreateOperation takes one of RopeGradParam, RopeParam, not int$"):
            atb.CreateOperation(3)  # type: ignore[arg-type]


class TestClone:
    def test_a_copy_of_the_parameter(self, device: Device) -> None:
        operation = created(atb.RopeGradParam(LENGTHS))
        status, param = atb.CloneOperationParam(operation)
        assert (status, param) == (0, atb.RopeGradParam(LENGTHS))
        param.qSeqLen.append(9)
        assert operation.GetParam() == atb.RopeGradParam(LENGTHS)

    def test_into_a_parameter(self, device: Device) -> None:
        param = atb.RopeGradParam()
        assert atb.CloneOperationParam(created(atb.RopeGradParam(LENGTHS)), param) == (0, param)
        assert param.qSeqLen == LENGTHS

    def test_refusals(self, device: Device) -> None:
        operation = created(atb.RopeGradParam(LENGTHS))
        assert atb.CloneOperationParam(None) == (1, None)
        assert atb.CloneOperationParam(operation, atb.RopeParam) == (1, None)
        assert atb.CloneOperationParam(created(atb.RopeParam())) == (1, None)  # the library has no such function


class TestUpdate:
    def test_an_equal_parameter_keeps_the_runner(self, ready: Ready) -> None:
        ready.set_up()
        assert atb.UpdateOperationParam(ready.operation, atb.RopeGradParam(LENGTHS)) == 0
        assert ready.execute() == 0

    def test_reserved_bytes_are_not_looked_at(self, ready: Ready) -> None:
        assert atb.UpdateOperationParam(ready.set_up().operation, atb.RopeGradParam(LENGTHS, rsv=[1])) == 0
        assert ready.execute() == 0

    def test_another_parameter_drops_the_runner_until_setup(self, ready: Ready) -> None:
        ready.set_up()
        assert atb.UpdateOperationParam(ready.operation, atb.RopeGradParam([11])) == 0
        assert ready.operation.GetParam() == atb.RopeGradParam([11])
        assert ready.execute() == atb.Status.ERROR_OPERATION_NULL_RUNNER
        assert ready.set_up().execute() == 0

    def test_a_bad_parameter_changes_nothing(self, ready: Ready) -> None:
        ready.set_up()
        for lengths in ([], [0], [1] * 33):
            assert atb.UpdateOperationParam(ready.operation, atb.RopeGradParam(lengths)) == 1
        assert ready.operation.GetParam() == atb.RopeGradParam(LENGTHS)
        assert ready.execute() == 0

    def test_refusals(self, device: Device) -> None:
        assert atb.UpdateOperationParam(None, atb.RopeGradParam([1])) == 1
        assert atb.UpdateOperationParam(created(atb.RopeParam()), atb.RopeGradParam([1])) == 1
        assert atb.UpdateOperationParam(created(atb.RopeParam()), atb.RopeParam(2)) == 1
        operation = created(atb.RopeGradParam([1]))
        with atb.pretend_soc("Ascend310P3"):
            assert atb.UpdateOperationParam(operation, atb.RopeGradParam([2])) == 1


class TestDestroy:
    def test_always_well(self, device: Device) -> None:
        operation = created(atb.RopeGradParam([1]))
        assert [atb.DestroyOperation(item) for item in (operation, operation, None)] == [0, 0, 0]

    def test_a_destroyed_operation_has_no_address(self, ready: Ready) -> None:
        operation = ready.set_up().operation
        atb.DestroyOperation(operation)
        gone = atb.Status.ERROR_INVALID_OPERATION_ADDR
        assert operation.InferShape(ready.pack.inTensors) == (gone, [])
        assert operation.Setup(ready.pack, ready.context) == (gone, 0)
        assert ready.execute() == gone
        assert atb.CloneOperationParam(operation) == (gone, None)
        assert atb.UpdateOperationParam(operation, atb.RopeGradParam([1])) == gone

    def test_others_live_on(self, ready: Ready) -> None:
        other = created(atb.RopeGradParam([3]))
        assert other.Setup(pack([(3, 128)] * 4), ready.context)[0] == 0
        atb.DestroyOperation(other)
        assert ready.set_up().execute() == 0


class TestParameters:
    def test_python_names(self) -> None:
        param = atb.RopeGradParam(q_seq_len=[1, 2])
        assert param.q_seq_len == param.qSeqLen == [1, 2]
        param.q_seq_len = [3]
        assert param == train.RopeGradParam([3])
        rope = infer.RopeParam(rotary_coeff=2, cos_format=1)
        assert (rope.rotaryCoeff, rope.rotary_coeff, rope.cosFormat, rope.cos_format) == (2, 2, 1, 1)
        assert (atb.RopeParam().rotaryCoeff, atb.RopeParam().cosFormat) == (4, 0)

    def test_equality_is_that_of_the_lengths(self) -> None:
        assert atb.RopeGradParam([1], rsv=[1]) == atb.RopeGradParam([1])
        assert atb.RopeGradParam([1]) != atb.RopeGradParam([2])
        assert atb.RopeGradParam([1]) != atb.RopeParam()

    @pytest.mark.parametrize(
        ("given", "text"),
        [
            ({"qSeqLen": 3}, r"qSeqLen is 3; it must be a list of integers"),
            ({"qSeqLen": [1.5]}, r"qSeqLen is \[1\.5\]; it must be a list of integers"),
            ({"qSeqLen": [1 << 31]}, r"qSeqLen has the entry 2147483648, which does not fit int32"),
            ({"rsv": [0] * 9}, r"rsv has 9 bytes; there are 8"),
            ({"rsv": [256]}, r"rsv is \[256\]; allowed are up to 8 bytes"),
        ],
    )
    def test_refusals(self, given: dict[str, object], text: str) -> None:
        with pytest.raises(InputError, match=f"^{text}$"):
            atb.RopeGradParam(**given)  # type: ignore[arg-type]


def test_where_to_import_it_from() -> None:
    assert ascend_sim.atb is atb


def test_python_names_of_the_functions() -> None:
    assert atb.create_operation is atb.CreateOperation
    assert atb.clone_operation_param is atb.CloneOperationParam
    assert atb.update_operation_param is atb.UpdateOperationParam
    assert atb.destroy_operation is atb.DestroyOperation
    assert atb.Operation.infer_shape is atb.Operation.InferShape
    assert atb.Operation.setup is atb.Operation.Setup
    assert atb.Operation.execute is atb.Operation.Execute
    assert atb.Operation.get_param_json is atb.Operation.GetParamJson
