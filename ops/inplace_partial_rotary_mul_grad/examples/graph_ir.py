"""A graph of a rotation and its gradient: turning back what was turned gives the input again."""

import numpy as np

from ascend_sim.frontends import graph

shape, table = (2, 16, 4, 64), (2, 16, 1, 64)
x, cos, sin = (graph.Data(name, dims, "float32") for name, dims in (("x", shape), ("cos", table), ("sin", table)))
there = graph.op.InplacePartialRotaryMul("there").set_input_x(x).set_input_cos(cos).set_input_sin(sin)
there.set_attr_rotary_mode(1).set_attr_partial_slice([0, 64])
back = graph.op.InplacePartialRotaryMulGrad("back").set_input_dy(there).set_input_cos(cos).set_input_sin(sin)
back.set_attr_rotary_mode(1).set_attr_partial_slice([0, 64])
circle = graph.Graph("there_and_back", inputs=[x, cos, sin], outputs=[back])

rng = np.random.default_rng(0)
given = rng.standard_normal(shape, np.float32)
angle = rng.uniform(-np.pi, np.pi, (2, 16, 1, 32)).repeat(2, axis=-1)
run = circle.run([given, np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)], soc="ascend950")
print(f"largest deviation from x: {np.abs(run.outputs[0] - given).max():.1e}")
print(run.summary())
