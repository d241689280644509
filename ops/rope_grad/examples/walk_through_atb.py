"""Operation, Runner, kernel graph, kernel: the path that a call of the library takes, with what stands at each stop."""

from __future__ import annotations

import numpy as np

import ascend_sim
from ascend_sim.frontends import atb

rng = np.random.default_rng(0)
q, k, cos, sin = (rng.uniform(-1, 1, shape).astype(np.float16) for shape in ((11, 256),) * 2 + ((64, 128),) * 2)
pack = atb.VariantPack([q, k, cos, sin], [np.empty_like(q), np.empty_like(k)])

device = ascend_sim.device("Ascend910B1")
with device:
    status, operation = atb.CreateOperation(atb.RopeGradParam([2, 1, 4, 4]))
    assert operation is not None
    print(f"CreateOperation {status.name}: {operation.GetName()}, {operation.GetParamJson()}")

    status, outputs = operation.InferShape([item.desc for item in pack.inTensors])
    print(f"InferShape      {status.name}: {outputs}")

    status, context = atb.CreateContext()
    assert context is not None
    stream = object()
    context.SetExecuteStream(stream)
    status, workspace_bytes = operation.Setup(pack, context)
    print(f"Setup           {status.name}: {workspace_bytes} B of workspace")

    pool = context.GetRunnerPool(atb.RunnerTypeRegister.GetRunnerTypeIdx("RopeGradOpsRunner"))
    runner = pool.items[0].runner
    assert isinstance(runner, atb.OpsRunner)
    (node,) = runner.kernel_graph.nodes
    assert node.impl is not None
    assert node.impl.kernel is not None
    info = node.impl.kernel.kernel_info
    print(f"Runner          {runner.GetName()}, slot 0 of {len(pool.items)}")
    print(f"kernel graph    1 node: {node.opDesc.name}, {node.opDesc.param}")
    print(f"kernel          {node.impl.kernel.name}: {info.block_dim} blocks, {info.tiling.size} B of tiling data")

    status = operation.Execute(pack, None, context)
    print(f"Execute         {status.name}, synchronised: {atb.aclrtSynchronizeStream(stream)}")
    print(f"on the device   {device.runs[-1].duration_us:.2f} us")

    atb.DestroyOperation(operation)
    atb.DestroyContext(context)
    print(f"destroyed       {pool.used} slots in use")
