"""atb::infer: parameters of inference operations."""

from ascend_sim.frontends.atb.params import RopeParam

__all__ = ["RopeParam"]
