"""`pypto.experimental`: what kernels set there is taken and changes nothing here."""

from __future__ import annotations

from ascend_sim.frontends.pypto.errors import FeTypeError


def set_operation_options(*, force_combine_axis: bool | None = None, combine_axis: bool | None = None) -> None:
    """Whether PyPTO's code generator joins axes; this lowering always joins those that lie without a gap."""
    for name, value in (("force_combine_axis", force_combine_axis), ("combine_axis", combine_axis)):
        if value is not None and not isinstance(value, bool):
            raise FeTypeError(f"set_operation_options: {name} is {value!r}; it must be True or False")
