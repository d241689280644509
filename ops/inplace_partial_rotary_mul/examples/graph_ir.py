"""Graph mode by operator IR: two rotations of different slices, one after the other, before any shape is final."""

import numpy as np

from ascend_sim.frontends import graph

x = graph.Data("x", (-1, 32, 8, 128), "float16")  # the batch is not known yet
cos = graph.Data("cos", (-1, 32, 1, 64), "float16")
sin = graph.Data("sin", (-1, 32, 1, 64), "float16")

low = graph.op.InplacePartialRotaryMul("rope_low").set_input_x(x).set_input_cos(cos).set_input_sin(sin)
low.set_attr_rotary_mode(1).set_attr_partial_slice([0, 64])
high = graph.op.InplacePartialRotaryMul("rope_high").set_input_x(low).set_input_cos(cos).set_input_sin(sin)
high.set_attr_rotary_mode(1).set_attr_partial_slice([64, 128])

layer = graph.Graph("rope_layer", inputs=[x, cos, sin], outputs=[high])
print(f"inferred: {layer.infer()['rope_high']['x']}")

rng = np.random.default_rng(0)
values = [rng.standard_normal(shape).astype(np.float16) for shape in ((2, 32, 8, 128), (2, 32, 1, 64), (2, 32, 1, 64))]
run = layer.run(values, soc="ascend910b")
print(f"output {run.outputs[0].shape}, largest {np.abs(run.outputs[0]).max():.2f}")
print(run.summary())
