"""Graph mode: operator nodes with named inputs and attributes, inference over all of them, execution on one stream.

from ascend_sim.frontends import graph

x, cos, sin = (graph.Data(name, shape, "float16") for name, shape in ...)
rope = graph.op.InplacePartialRotaryMul("rope").set_input_x(x).set_input_cos(cos).set_input_sin(sin)
rope.set_attr_partial_slice([0, 64])
g = graph.Graph("layer", inputs=[x, cos, sin], outputs=[rope])
g.infer()["rope"]["x"]                  # shape and dtype; -1 and -2 where they are not known yet
run = g.run([x_array, cos_array, sin_array])
run.outputs[0], run.summary()
"""

from __future__ import annotations

from ascend_sim.frontends.graph.graph import Graph
from ascend_sim.frontends.graph.nodes import Data, Edge, Node, op
from ascend_sim.frontends.graph.run import GraphRun

__all__ = ["Data", "Edge", "Graph", "GraphRun", "Node", "op"]
