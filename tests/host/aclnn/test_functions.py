"""The functions that `ascend_sim.aclnn` offers: both spellings, signatures, all declared interfaces."""

from __future__ import annotations

import inspect

import pytest

from ascend_sim import aclnn
from ascend_sim.host.aclnn.interface import snake
from ascend_sim.host.aclnn.registry import interfaces

# The parameters of the headers, in their order, without workspaceSize and executor.
HEADERS = {
    "aclnnInplacePartialRotaryMul": "xRef cos sin rotaryMode partialSlice",
    "aclnnInplacePartialRotaryMulGrad": "dyRef cos sin rotaryMode partialSlice",
    "aclnnApplyRotaryPosEmb": "queryRef keyRef cos sin layout",
    "aclnnApplyRotaryPosEmbV2": "queryRef keyRef cos sin layout rotaryMode",
    "aclnnApplyRotaryPosEmbGrad": "gradQueryEmbed gradKeyEmbed cos sin queryOptional keyOptional rotaryModeOptional "
    "layout gradQueryOut gradKeyOut gradCosOut gradSinOut",
    "aclnnRotaryPositionEmbedding": "x cos sin mode out",
    "aclnnRotaryPositionEmbeddingV2": "x cos sin mode rotate out",
    "aclnnRotaryPositionEmbeddingGrad": "dy cos sin xOptional mode dxOut dcosOut dsinOut",
}


@pytest.mark.parametrize("name", HEADERS)
def test_parameters_are_those_of_the_header(name: str) -> None:
    first = getattr(aclnn, f"{name}GetWorkspaceSize")
    assert list(inspect.signature(first).parameters) == [snake(parameter) for parameter in HEADERS[name].split()]
    second = getattr(aclnn, name)
    assert list(inspect.signature(second).parameters) == ["workspace", "workspace_size", "executor", "stream"]


def test_both_spellings_mean_one_function() -> None:
    assert aclnn.aclnnRotaryPositionEmbedding is aclnn.aclnn_rotary_position_embedding
    assert aclnn.aclnn_apply_rotary_pos_emb_v2.__name__ == "aclnn_apply_rotary_pos_emb_v2"


def test_every_interface_fits_its_operator() -> None:
    for interface, operator in interfaces().values():
        inputs, attributes = {i.name: i for i in operator.inputs}, {a.name for a in operator.attributes}
        outputs = {output.name: output for output in operator.outputs}
        for parameter in interface.parameters:
            known = {"input": inputs, "output": outputs, "attribute": attributes}[parameter.kind]
            assert parameter.meaning in known, (interface.name, parameter.name)
        given = {parameter.meaning for parameter in interface.of_kind("input")}
        assert {name for name, declared in inputs.items() if not declared.optional} <= given
        taken = {parameter.meaning for parameter in interface.of_kind("output")}
        assert {name for name, output in outputs.items() if output.inplace is None} <= taken


def test_the_module_lists_its_functions() -> None:
    assert {"aclnn_inplace_partial_rotary_mul_get_workspace_size", "AclTensor"} <= set(dir(aclnn))


def test_unknown_names() -> None:
    with pytest.raises(AttributeError) as refused:
        _ = aclnn.aclnnRotaryPositionEmbeding
    assert str(refused.value) == (
        "unknown aclnn interface 'aclnn_rotary_position_embeding': did you mean aclnn_rotary_position_embedding or "
        "aclnn_rotary_position_embedding_v2 or aclnn_rotary_position_embedding_grad?"
    )
    with pytest.raises(AttributeError, match=r"module 'ascend_sim.host.aclnn' has no attribute 'AclTensr'"):
        _ = aclnn.AclTensr


def test_a_call_that_does_not_fit_the_signature_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="missing a required argument: 'cos'"):
        aclnn.aclnn_rotary_position_embedding_get_workspace_size(None)
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'rows'"):
        aclnn.aclnn_rotary_position_embedding_get_workspace_size(None, None, None, 0, None, rows=3)
