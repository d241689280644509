"""atb::train: parameters of training operations."""

from ascend_sim.frontends.atb.params import RopeGradParam

__all__ = ["RopeGradParam"]
