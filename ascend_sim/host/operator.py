"""How an operator is declared: one `Operator` per folder under ops/, in `op.py`, under the name `OP`.

The folder holds, beside op.py, the modules that a declaration names: `tiling.py` (the host code), `kernel.py` with
`launch(call)`, `golden.py` with `golden(inputs, attrs)`, and their `*_arch35.py` where the 950 differs. Kernels and
goldens are imported when a run first needs them, so that declarations load fast.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ascend_sim.errors import InputError, TilingError, UnsupportedError
from ascend_sim.host.attributes import Attribute
from ascend_sim.host.space import Space
from ascend_sim.host.tensors import Shape, TensorInfo
from ascend_sim.host.tiling import Tiling, TilingContext
from ascend_sim.plurals import counted

DEFAULT_SOC = "ascend910b"


@dataclass(frozen=True, slots=True)
class Input:
    """One input. `aliases` are its names in the Python API ("r1" for cos).

    `draw` makes the values of an input whose elements must fit the other shapes (lengths that add up), where a call
    gives none; other inputs are drawn at random.
    """

    name: str
    description: str
    aliases: tuple[str, ...] = ()
    optional: bool = False
    draw: Callable[[Mapping[str, TensorInfo]], Any] | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """One output; its dtype is that of the input `dtype_of`.

    `inplace` names the input whose memory it is; `needs` an optional input without which there is no such output.
    """

    name: str
    dtype_of: str
    inplace: str | None = None
    needs: str | None = None


@dataclass(frozen=True, slots=True)
class Support:
    """What an operator is on one SoC.

    `tiling` is None while the simulator lacks the host code, `kernel` while it lacks the kernels: the tiling can then
    be asked for, and a run is refused. `dtypes` lists the allowed combinations, in the order of the inputs. `layouts`
    describes, a line each, the shapes that the chip's kernels take. `kernel` and `golden` name the folder's modules,
    `space` that of the tilings that the kernels take, if they are declared.
    """

    tiling: Callable[[TilingContext], Tiling] | None
    dtypes: tuple[tuple[str, ...], ...]
    layouts: tuple[str, ...]
    kernel: str | None = "kernel"
    golden: str = "golden"
    space: str | None = None

    @property
    def simulated(self) -> bool:
        """Whether the operator runs on this SoC."""
        return self.tiling is not None and self.kernel is not None


@dataclass(frozen=True, slots=True)
class Example:
    """A sensible call: what runs when the user gives nothing but the operator's name."""

    inputs: Mapping[str, TensorInfo]
    attrs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Largest |actual - golden| allowed: `absolute` + `relative` * |golden|. Zero for both asks for equal bits."""

    absolute: float = 0.0
    relative: float = 0.0


@dataclass(frozen=True, slots=True)
class Reference:
    """A second answer to hold the outputs against, which they need not agree with: unrounded, or other mathematics.

    `function` is its name in the golden's module; it maps inputs and attributes to outputs, as `golden` does, in
    float64.
    """

    name: str
    description: str
    function: str


@dataclass(slots=True)
class Call:
    """One call on its way to the kernels.

    `tensors` holds inputs and outputs by name, as a kernel takes them (arrays, or `DeviceArray` without values); an
    output in place is its input. Absent optional inputs are not in it. `workspace` is the caller's scratch memory
    (uint8); None lets a kernel that needs some allocate its own.
    """

    tensors: Mapping[str, Any]
    attrs: Mapping[str, Any]
    tiling: Tiling
    arch: str
    workspace: Any = None


@dataclass(frozen=True, slots=True)
class Operator:
    """The declaration. `package` is op.py's `__package__`, from where kernel and golden are imported.

    `infer_shapes` maps the shapes of the inputs that are present, and the attributes, to the outputs' shapes in order;
    unknown dims (-1) and the unknown rank (-2,) pass through. `ub_reads` says which UB size the tiling takes:
    "configured" is the compile info's number as it stands, "reduced" what GetCoreMemSize makes of it (256 B less on
    2201). `contiguous_only`: the operator's page refuses non-contiguous tensors; others get a contiguous copy.
    `cann` lists the CANN releases whose host code differs, newest last. `references` are what a user may compare the
    outputs with beside the golden.
    """

    name: str
    type_name: str
    summary: str
    package: str
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    attributes: tuple[Attribute, ...]
    supports: Mapping[str, Support]
    infer_shapes: Callable[[Mapping[str, Shape], Mapping[str, Any]], tuple[Shape, ...]]
    example: Example
    ub_reads: Literal["configured", "reduced"]
    tolerance: Tolerance = Tolerance()
    contiguous_only: bool = False
    cann: tuple[str, ...] = ("master",)
    references: tuple[Reference, ...] = ()

    def input_named(self, name: str) -> Input:
        """The input that `name` (its own name or an alias) means."""
        for declared in self.inputs:
            if name == declared.name or name in declared.aliases:
                return declared
        raise InputError(f"{self.name} has no input {name!r}; its inputs are {_names(self.inputs)}")

    def attribute_named(self, name: str) -> Attribute:
        """The attribute that `name` (its own name or an alias) means."""
        for declared in self.attributes:
            if name == declared.name or name in declared.aliases:
                return declared
        raise InputError(f"{self.name} has no attribute {name!r}; its attributes are {_names(self.attributes)}")

    def reference_named(self, name: str) -> Reference:
        """The reference called `name`."""
        for declared in self.references:
            if name == declared.name:
                return declared
        known = ", ".join(declared.name for declared in self.references) or "none"
        raise InputError(f"{self.name} has no reference {name!r} to compare with; its references are {known}")

    @property
    def draws(self) -> dict[str, Callable[[Mapping[str, TensorInfo]], Any]]:
        """The inputs whose values are not simply random, with what makes them."""
        return {declared.name: declared.draw for declared in self.inputs if declared.draw is not None}

    def bind_inputs(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """`given` under the definition's names, in the definition's order; a missing required input is refused."""
        if not isinstance(given, Mapping):
            raise InputError(
                f"{self.name}: inputs must be a dict of name to array or (shape, dtype), not {type(given).__name__}"
            )
        found: dict[str, Any] = {}
        for name, value in given.items():
            canonical = self.input_named(name).name
            if canonical in found:
                raise InputError(f"{self.name}: input {canonical} is given twice{_alias(canonical, name)}")
            found[canonical] = value
        for declared in self.inputs:
            if not declared.optional and declared.name not in found:
                raise TilingError(
                    f"{self.type_name}: required input {declared.name} is missing; given are "
                    f"{', '.join(found) or 'none'}"
                )
        return {declared.name: found[declared.name] for declared in self.inputs if declared.name in found}

    def bind_attrs(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Every attribute, converted to the operator's own kind, defaults filled in."""
        if not isinstance(given, Mapping):
            raise InputError(f"{self.name}: attributes must be a dict of name to value, not {type(given).__name__}")
        found: dict[str, Any] = {}
        for name, value in given.items():
            attribute = self.attribute_named(name)
            if attribute.name in found:
                raise InputError(
                    f"{self.name}: attribute {attribute.name} is given twice{_alias(attribute.name, name)}"
                )
            found[attribute.name] = attribute.convert(self.type_name, value)
        return {a.name: found.get(a.name, a.default) for a in self.attributes}

    def bind_call(self, args: Sequence[Any], named: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Sort a Python call into inputs (by position or name) and attributes (by name); None means left out."""
        if len(args) > len(self.inputs):
            names = ", ".join(declared.name for declared in self.inputs)
            raise InputError(
                f"{self.name} takes {counted(len(self.inputs), 'input')} ({names}), {len(args)} were given"
            )
        inputs = {d.name: value for d, value in zip(self.inputs, args, strict=False) if value is not None}
        attrs: dict[str, Any] = {}
        input_names = {name for declared in self.inputs for name in (declared.name, *declared.aliases)}
        for name, value in named.items():
            if value is None:
                continue
            if name not in input_names:
                if all(name not in (a.name, *a.aliases) for a in self.attributes):
                    raise InputError(
                        f"{self.name} has no input or attribute {name!r}; its inputs are {_names(self.inputs)}, its "
                        f"attributes {_names(self.attributes)}"
                    )
                attrs[self.attribute_named(name).name] = value
                continue
            canonical = self.input_named(name).name
            if canonical in inputs:
                raise InputError(f"{self.name}: input {canonical} is given twice{_alias(canonical, name)}")
            inputs[canonical] = value
        return inputs, attrs

    @property
    def default_soc(self) -> str:
        """Where a call goes that names no SoC: ascend910b, or the first that has the operator."""
        return DEFAULT_SOC if DEFAULT_SOC in self.supports else next(iter(self.supports))

    def support_on(self, soc_name: str) -> Support:
        """What the operator is on that SoC; refused when the operator does not exist there."""
        support = self.supports.get(soc_name)
        if support is None:
            raise UnsupportedError(
                f"{self.name} is not supported by the operator library on {soc_name}; it exists on "
                f"{', '.join(self.supports)}"
            )
        return support

    def no_kernel_on(self, soc_name: str) -> str:
        """Why a call whose tiling is known cannot run there."""
        ready = ", ".join(name for name, support in self.supports.items() if support.simulated)
        where = f"it runs on {ready}" if ready else "it runs on no chip yet"
        return f"its kernels for {soc_name} are not simulated yet, only their tiling is; {where}"

    def launch(self, call: Call) -> None:
        """Run the operator's kernels on the current device."""
        kernel = self.support_on(call.tiling.soc).kernel
        if kernel is None:
            raise UnsupportedError(f"{self.name}: {self.no_kernel_on(call.tiling.soc)}")
        importlib.import_module(f"{self.package}.{kernel}").launch(call)

    def space_on(self, soc_name: str) -> Space:
        """The tilings that the operator's kernels take there."""
        name = self.support_on(soc_name).space
        if name is None:
            ready = ", ".join(soc for soc, support in self.supports.items() if support.space is not None) or "no chip"
            raise UnsupportedError(f"{self.name} declares its tilings on {ready}, not on {soc_name}")
        found = importlib.import_module(f"{self.package}.{name}").SPACE
        assert isinstance(found, Space)
        return found

    def golden(self, soc_name: str, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> dict[str, Any]:
        """Outputs by name, from the formula, rounded where the kernel rounds; `inputs` are arrays, left as they are."""
        module = importlib.import_module(f"{self.package}.{self.support_on(soc_name).golden}")
        return dict(module.golden(inputs, attrs))

    def reference(
        self, name: str, soc_name: str, inputs: Mapping[str, Any], attrs: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Outputs by name as the reference `name` has them, in float64."""
        module = importlib.import_module(f"{self.package}.{self.support_on(soc_name).golden}")
        return dict(getattr(module, self.reference_named(name).function)(inputs, attrs))


def _alias(canonical: str, given: str) -> str:
    return "" if given == canonical else f" (once as {given})"


def _names(declared: tuple[Input, ...] | tuple[Attribute, ...]) -> str:
    texts = [d.name + (f" (also {', '.join(d.aliases)})" if d.aliases else "") for d in declared]
    return ", ".join(texts) or "none"
