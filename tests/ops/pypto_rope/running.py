"""Runs a case of cases.json: which kernel it is for, its inputs, its expected values, its time.

Up to `MOST_VALUES` elements all values are computed. Of larger cases values are computed for the first tiles of some
cores, with inputs only where these read; up to `MOST_TIMED` elements the whole is timed without values, beyond that
these tiles alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
from ascend_sim.oplib.pypto_rope import golden, half_tables, interleave, mrope, rms_norm_rope, vision

from ascend_sim.asc.memory import DeviceArray
from ascend_sim.frontends.pypto.lowering import Lowered, Target
from ascend_sim.host.device import Device

Array = npt.NDArray[Any]
Case = Mapping[str, Any]
MOST_VALUES = 16_000_000
MOST_TIMED = 40_000_000
SAMPLED_TILES = 6  # of each sampled core

OUTSIDE = {
    "rmsnorm+rope+int8 KV cache": "a fused kernel outside the documents: it quantises to int8 and scatters into a "
    "paged NZ cache, for which the front end has no operation",
    "rmsnorm+rope+scatternd": "a fused kernel outside the documents, skipped by its own project: it rotates [x1, -x2] "
    "instead of [-x2, x1] and scatters into the caches",
}


@dataclass(slots=True)
class Work:
    """One launch: its inputs and outputs (shape, dtype), and how the outputs follow from the inputs.

    `order` names the kernel's arguments. `made` are inputs that the host makes of others.
    """

    kernel: Any
    inputs: dict[str, tuple[tuple[int, ...], str]]
    outputs: dict[str, tuple[tuple[int, ...], str]]
    expected: Callable[[Mapping[str, Array]], dict[str, Array]]
    order: tuple[str, ...]
    made: dict[str, Callable[[Any], Any]] = field(default_factory=dict)
    positions_axis: int = 1  # of the output, for tables (S, D)

    @property
    def elements(self) -> int:
        return max(int(np.prod(shape)) for shape, _ in (*self.inputs.values(), *self.outputs.values()))


def dtype_of(case: Case, name: str) -> str:
    dtypes = case["dtypes"]
    return str(dtypes.get(name, dtypes.get("all", dtypes.get("out"))))


def works(case: Case) -> list[Work]:
    """The launches of a case; empty for the kinds of `OUTSIDE`."""
    return _KINDS[case["kind"]](case) if case["kind"] in _KINDS else []


def _vision(case: Case) -> list[Work]:
    shapes, dtype = case["shapes"], dtype_of(case, "q")
    inputs = {name: (tuple(shapes[name]), dtype) for name in ("q", "k", "cos", "sin")}
    outputs = {"q_out": inputs["q"], "k_out": inputs["k"]}

    def expected(x: Mapping[str, Array]) -> dict[str, Array]:
        wide = {name: array.astype(np.float32) for name, array in x.items()}
        tables = wide["cos"][..., None, :], wide["sin"][..., None, :]
        return {f"{name}_out": golden.rounded(wide[name], *tables) for name in ("q", "k")}

    return [Work(vision.vision_rope_kernel, inputs, outputs, expected, ("q", "k", "cos", "sin", "q_out", "k_out"))]


def _mrope(case: Case) -> list[Work]:
    """q and k one after the other, with tables that the host has merged."""
    shapes, dtype = case["shapes"], dtype_of(case, "q")
    sections = tuple(case["params"].get("mrope_section", mrope.SECTIONS))
    found = []
    for name in ("q", "k"):
        batch, _, positions, head_dim = shapes[name]
        table = ((batch, 1, positions, head_dim), dtype)
        three = ((3, batch, positions, head_dim), dtype)

        def expected(x: Mapping[str, Array]) -> dict[str, Array]:
            merged = [golden.sections_merged(x[f"{t}_tables"], sections) for t in ("cos", "sin")]
            return {"out": golden.rounded(x["x"], *merged)}

        work = Work(
            mrope.mrope_kernel,
            {"x": (tuple(shapes[name]), dtype), "cos_tables": three, "sin_tables": three, "cos": table, "sin": table},
            {"out": (tuple(shapes[name]), dtype)},
            expected,
            ("x", "cos", "sin", "out"),
        )
        work.made = {t: lambda x, t=t: mrope.merged(x[f"{t}_tables"], sections) for t in ("cos", "sin")}
        found.append(work)
    return found


def _rms_norm_rope(case: Case) -> list[Work]:
    shapes, dtype = case["shapes"], dtype_of(case, "x")
    inputs = {name: (tuple(shapes[name]), dtype) for name in ("x", "cos", "sin", "norm_weight")}

    def expected(x: Mapping[str, Array]) -> dict[str, Array]:
        return {"out": golden.normalized_and_rotated(x["x"], x["cos"], x["sin"], x["norm_weight"])}

    kernel = rms_norm_rope.qk_rope_kernel(shapes["x"][1])
    return [Work(kernel, inputs, {"out": inputs["x"]}, expected, ("x", "cos", "sin", "norm_weight", "out"))]


def _interleave(case: Case) -> list[Work]:
    shape = tuple(case["shapes"].get("x") or case["params"]["shape"])
    cos = tuple(case["shapes"].get("cos") or (shape[0], 1, *shape[2:]))
    dtype = dtype_of(case, "x")
    inputs = {"x": (shape, dtype), "cos": (cos, dtype), "sin": (cos, dtype)}

    def expected(x: Mapping[str, Array]) -> dict[str, Array]:
        wide = {name: array.astype(np.float32) for name, array in x.items()}
        return {"out": golden.neighbours(wide["x"], wide["cos"], wide["sin"])}

    kernel = interleave.kernel_for(shape, cos, dtype)
    return [Work(kernel, inputs, {"out": (shape, dtype)}, expected, ("x", "cos", "sin", "out"))]


def _half_tables(case: Case) -> list[Work]:
    """Query and key of the cann-bench cases, one launch each, or one for both where they are alike."""
    params, shapes, found = case["params"], case["shapes"], []
    neighbours, heads_first = params["rotaryMode"] == "interleaved", params["layout"] == 1
    for dtype, shape in dict.fromkeys((dtype_of(case, name), tuple(shapes[name])) for name in ("query", "key")):
        inputs = {"x": (shape, dtype), **{t: (tuple(shapes[t]), dtype) for t in ("cos", "sin")}}

        def expected(x: Mapping[str, Array]) -> dict[str, Array]:
            wide = x["x"].astype(np.float32)
            c, s = (x[t].astype(np.float32) for t in ("cos", "sin"))
            if not heads_first:
                c, s = c[..., None, :], s[..., None, :]
            half = wide.shape[-1] // 2
            a, b = (wide[..., ::2], wide[..., 1::2]) if neighbours else (wide[..., :half], wide[..., half:])
            with np.errstate(all="ignore"):
                parts = a * c - b * s, b * c + a * s
            joined = np.stack(parts, -1).reshape(wide.shape) if neighbours else np.concatenate(parts, -1)
            return {"out": joined}

        kernel = half_tables.kernel_for(shape, dtype, neighbours, heads_first)
        order = ("x", "cos", "sin", "out")
        axis = 2 if heads_first else 1
        found.append(Work(kernel, inputs, {"out": (shape, dtype)}, expected, order, positions_axis=axis))
    return found


def _one_row(case: Case) -> list[Work]:
    """pypto-lib's example: rows of heads, one row of cos and sin (D wide, of which the first half counts) for all."""
    rows, head_dim = case["shapes"]["x"]
    dtype = dtype_of(case, "x")
    inputs = {"x": ((rows, 1, 1, head_dim), dtype), **dict.fromkeys(("cos", "sin"), ((1, head_dim // 2), dtype))}
    shape = (rows, 1, 1, head_dim)

    def expected(x: Mapping[str, Array]) -> dict[str, Array]:
        full = {t: np.concatenate([x[t], x[t]], -1)[:, None, None] for t in ("cos", "sin")}
        return {"out": golden.rounded(x["x"], full["cos"], full["sin"])}

    kernel = half_tables.kernel_for(shape, dtype, False, True)
    return [Work(kernel, inputs, {"out": (shape, dtype)}, expected, ("x", "cos", "sin", "out"))]


def _rms_norm(case: Case) -> list[Work]:
    shape, dtype = tuple(case["shapes"]["hidden_states"]), dtype_of(case, "hidden_states")
    inputs = {"x": (shape, dtype), "gamma": (tuple(case["shapes"]["gamma"]), dtype)}

    def expected(x: Mapping[str, Array]) -> dict[str, Array]:
        wide = x["x"].astype(np.float32)
        normed = wide / np.sqrt((wide * wide).mean(-1, keepdims=True) + 1e-6)
        return {"out": normed * x["gamma"].astype(np.float32)}

    from .rms_norm import rms_norm_kernel  # noqa: PLC0415 - a kernel of the tests' own

    return [Work(rms_norm_kernel, inputs, {"out": (shape, dtype)}, expected, ("x", "gamma", "out"))]


_KINDS: dict[str, Callable[[Case], list[Work]]] = {
    "vision": _vision,
    "mrope": _mrope,
    "rmsnorm+rope": _rms_norm_rope,
    "interleave_rope (split-half output)": _interleave,
    "property": _interleave,
    "rope q and k": _half_tables,
    "half rope, fp32": _one_row,
    "rms_norm only": _rms_norm,
}


# -- inputs ----------------------------------------------------------------------------------------------------


def numpy_dtype(name: str) -> Any:
    return ml_dtypes.bfloat16 if name == "bfloat16" else np.dtype(name)


def drawn(case: Case, name: str, shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> Array:
    """Random values as the case asks for them: a range, a constant, or the standard normal distribution."""
    params = case["params"]
    is_table = name.startswith(("cos", "sin"))
    bounds = params.get("cos_sin_range" if is_table else "value_range")
    if isinstance(params.get(name), int | float):  # a constant
        values = np.full(shape, params[name], np.float32)
    elif bounds is not None:
        values = _in_range(shape, [float(end) for end in bounds], rng)
    elif is_table and case["kind"] != "vision":
        values = rng.uniform(-1, 1, shape)
    else:
        values = rng.standard_normal(shape)
    return values.astype(np.float32).astype(numpy_dtype(dtype))


def _in_range(shape: tuple[int, ...], bounds: list[float], rng: np.random.Generator) -> Array:
    low, high = bounds
    if np.isnan(low):
        return np.full(shape, np.nan)
    if np.isinf(low) or np.isinf(high):  # every kind of number, some of them infinite
        values = rng.standard_normal(shape) * 100
        values[rng.random(shape) < 0.01] = np.inf
        values[rng.random(shape) < 0.01] = -np.inf
        return values
    return rng.uniform(low, high, shape)


# -- running ----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Outcome:
    """What a launch gave: time of the whole, pairs of (actual, expected) for what was computed, UB at its fullest."""

    duration_us: float
    instructions: int
    peak_ub_bytes: int
    ub_bytes: int
    pairs: list[tuple[Array, Array]]


def run_work(case: Case, work: Work, seed: int = 0) -> Outcome:
    if work.elements <= MOST_VALUES:
        return _run_whole(case, work, seed)
    return _run_sampled(case, work, seed)


def _run_whole(case: Case, work: Work, seed: int) -> Outcome:
    rng = np.random.default_rng(case["params"].get("seed", seed))
    arrays = {name: drawn(case, name, *work.inputs[name], rng) for name in work.inputs if name not in work.made}
    arrays |= {name: make(arrays) for name, make in work.made.items()}
    arrays |= {name: np.empty(shape, numpy_dtype(dtype)) for name, (shape, dtype) in work.outputs.items()}
    with Device() as device:
        work.kernel(*(arrays[name] for name in work.order))
    (launch,) = device.launches
    expected = work.expected(arrays)
    timeline = launch.timeline
    lowered = work.kernel.lowered()
    return Outcome(
        timeline.launch_us + timeline.to_us(timeline.duration_cycles),
        launch.program.instructions,
        lowered.peak_ub_bytes,
        lowered.ub_bytes,
        [(arrays[name], expected[name]) for name in work.outputs],
    )


def _run_sampled(case: Case, work: Work, seed: int) -> Outcome:
    blanks = {name: DeviceArray(*work.inputs.get(name, work.outputs.get(name, ((1,), "int8")))) for name in work.order}
    whole = work.elements <= MOST_TIMED
    with Device(values=False, timing=whole) as device:
        if whole:
            work.kernel(*blanks.values())
    lowered = work.kernel.lowered_for(Target.of(device), *blanks.values())
    rng = np.random.default_rng(case["params"].get("seed", seed))
    pairs, sampled = _samples(case, work, lowered, rng, timing=not whole)
    (launch,) = device.launches if whole else sampled.launches
    timeline = launch.timeline
    return Outcome(
        timeline.launch_us + timeline.to_us(timeline.duration_cycles),
        launch.program.instructions,
        lowered.peak_ub_bytes,
        lowered.ub_bytes,
        pairs,
    )


def _samples(
    case: Case, work: Work, lowered: Lowered, rng: np.random.Generator, timing: bool
) -> tuple[list[tuple[Array, Array]], Device]:
    """Values of the first tiles of the first, a middle and the last core, and the device that they ran on."""
    cores = sorted({0, lowered.block_dim // 2, lowered.block_dim - 1})
    arrays = {n: np.zeros(s, numpy_dtype(d)) for n, (s, d) in {**work.inputs, **work.outputs}.items()}
    touched = [lowered.touched(core, SAMPLED_TILES) for core in cores]
    names = dict(zip((node.name for node in lowered.globals), work.order, strict=True))
    for reads, _ in touched:
        for name, box in reads:
            part = tuple(slice(low, high) for low, high in box)
            array = arrays[names[name]]
            if not array[part].astype(np.float32).any():
                array[part] = drawn(case, names[name], array[part].shape, array.dtype.name, rng)
    with Device(timing=timing) as device:
        lowered.launch({node.name: arrays[names[node.name]] for node in lowered.globals}, cores, SAMPLED_TILES)
    pairs = []
    for _, writes in touched:
        for name, box in writes:
            pairs.append(_compared(work, arrays, names[name], box))
    return pairs, device


def _compared(work: Work, arrays: Mapping[str, Array], output: str, box: Any) -> tuple[Array, Array]:
    """A written part and what it should be: the formula on the rows that it lies in."""
    rows = tuple(slice(low, high) for low, high in box[:-1])
    columns = slice(*box[-1])
    inputs = {}
    for name in work.order:
        if name in work.outputs:
            continue
        array = arrays[name]
        if array.ndim == len(box):  # x, or tables with dims of 1 where they are shared
            inputs[name] = array[
                tuple(r if size > 1 else slice(None) for r, size in zip(rows, array.shape, strict=False))
            ]
        else:  # (S, D) under (B, S, N, D) or (B, N, S, D)
            inputs[name] = array[rows[work.positions_axis]]
    return arrays[output][(*rows, columns)], work.expected(inputs)[output][..., columns]


# -- tolerances ----------------------------------------------------------------------------------------------------


def deviations(case: Case, actual: Array, expected: Array) -> str:
    """What breaks the case's tolerance, or "". `expected` may be wider than the output's type."""
    tolerance = case["tolerance"]
    if tolerance.get("no_nan_inf") and not np.isfinite(actual.astype(np.float32)).all():
        return "there are NaN or infinite values"
    count, rounded = actual.size, expected.astype(actual.dtype)
    bits = np.dtype(f"u{actual.itemsize}")
    unlike = np.ascontiguousarray(actual).view(bits) != np.ascontiguousarray(rounded).view(bits)
    actual, expected, rounded = actual[unlike], expected[unlike], rounded[unlike]  # the others are right to the bit
    a, e = actual.astype(np.float64), rounded.astype(np.float64)
    same = (a == e) | (np.isnan(a) & np.isnan(e))
    finite = np.isfinite(a) & np.isfinite(e)
    if not (same | finite).all():
        return "NaN or infinite values differ"
    a, e = a[finite], expected.astype(np.float64)[finite]
    difference = np.abs(a - e)
    if "max_rel_err" in tolerance:
        e = rounded.astype(np.float64)[finite]  # a subnormal may be far from what it stands for
        difference = np.abs(a - e)
        relative = difference / (np.abs(e) + 1e-7)
        worst, mean = relative.max(initial=0), relative.sum() / max(count, 1)
        good = worst <= tolerance["max_rel_err"] and mean <= tolerance["mean_rel_err"]
        return "" if good else f"relative error up to {worst:.3g}, {mean:.3g} on average"
    if "max_abs" in tolerance:
        return "" if difference.max(initial=0) <= tolerance["max_abs"] else f"off by {difference.max():.3g}"
    if "pass_verify_error_tol" in tolerance:
        rtol, atol = tolerance["pass_verify_error_tol"]
    else:
        rtol, atol = tolerance["rtol"], tolerance["atol"]
    over = difference - (atol + rtol * np.abs(e))
    return (
        "" if over.max(initial=-1) <= 0 else f"{(over > 0).sum()} of {over.size} elements off by up to {over.max():.3g}"
    )
