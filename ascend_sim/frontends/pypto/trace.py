"""The tracing of one kernel: what the operations, loops and slices write down while its Python function runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ascend_sim.frontends.pypto.dtypes import DataType
from ascend_sim.frontends.pypto.errors import FeRuntimeError, PyptoRuntimeError, PyptoValueError
from ascend_sim.frontends.pypto.graph import ALIASES, Block, Loop, Node, Store
from ascend_sim.frontends.pypto.places import Site, assigned_name, site_of, user_frame
from ascend_sim.frontends.pypto.symbols import Scalar, Symbol, key_of
from ascend_sim.plurals import counted

MAX_ELEMENTS = (1 << 31) - 1


class Trace:
    """State of the kernel that is being traced."""

    def __init__(self, kernel: str, site: Site) -> None:
        self.kernel = kernel
        self.site = site  # of the function
        self.root = Block()
        self.blocks = [self.root]  # innermost last
        self.tile: tuple[int, ...] | None = None
        self.tile_site: Site | None = None
        self.globals: list[Node] = []  # tensors in global memory: parameters, then workspaces
        self.loops = 0  # numbered for their default names
        self.loop_path: list[Loop] = []  # innermost last
        self.ranges: dict[Symbol, tuple[Scalar, Scalar, int]] = {}  # start, stop and step by loop index
        self.copy = 0  # which copy of an unrolled body
        self.position = 0
        self._memo: dict[Any, Node] = {}
        self._names: dict[str, int] = {}
        self._versions: dict[int, int] = {}  # writes so far to each global tensor
        self._last_stores: dict[int, tuple[Any, ...]] = {}  # the last of them

    @property
    def count(self) -> int:
        """Nodes so far."""
        return len(self._memo)

    # -- nodes ------------------------------------------------------------------------------------------------------

    def node(
        self,
        op: str,
        inputs: Sequence[Node],
        shape: Sequence[Any],
        dtype: DataType,
        *,
        valid: Sequence[Scalar] | None = None,
        attrs: Mapping[str, Any] | None = None,
        name: str | None = None,
        label: str | None = None,
    ) -> Node:
        """The node of an operation; the same operation on the same tensors is the same node.

        It is called `name`, or what the user's file assigns it to, or `label`, or `op`.
        """
        frame = user_frame()
        attributes = dict(attrs or {})
        if any(node.is_global for node in inputs):
            attributes["versions"] = tuple(self.version(node) for node in inputs)
            attributes["scope"] = tuple(self.loop_path)  # what is read in a loop is read anew in every iteration
        dims, filled = tuple(shape), tuple(shape if valid is None else valid)
        tile = None if op in ALIASES and op != "permute" else self.tile  # a permute is cut by its own
        key: Any = (op, tuple(map(id, inputs)), _keys(dims), dtype, _keys(filled), tile)
        key += tuple((k, _attr_key(v)) for k, v in sorted(attributes.items()))
        found = self._memo.get(key)
        if found is None:
            self.position += 1
            found = self._memo[key] = Node(
                uid=len(self._memo) + len(self.globals),
                op=op,
                inputs=tuple(inputs),
                shape=dims,
                dtype=dtype,
                valid=filled,
                tile=tile,
                attrs=attributes,
                name=self.unique(name or assigned_name(frame) or label or op),
                site=site_of(frame),
                order=(self.position, self.copy),
            )
        return found

    def global_tensor(self, name: str, shape: Sequence[Scalar], dtype: DataType) -> Node:
        """A tensor in global memory."""
        frame = user_frame()
        node = Node(
            uid=len(self._memo) + len(self.globals),
            op="input",
            inputs=(),
            shape=tuple(shape),
            dtype=dtype,
            valid=tuple(shape),
            tile=None,
            attrs={},
            name=self.unique(name),
            site=site_of(frame),
        )
        self.globals.append(node)
        return node

    def unique(self, name: str) -> str:
        """`name`, numbered when it is taken already."""
        count = self._names[name] = self._names.get(name, 0) + 1
        return name if count == 1 else f"{name}_{count}"

    # -- statements -------------------------------------------------------------------------------------------------

    @property
    def block(self) -> Block:
        return self.blocks[-1]

    def store(self, source: Node, target: Node, offsets: Sequence[Scalar], parallel: bool) -> None:
        """Write `source` to global memory. Writing the same once more changes nothing and is left out: kernels for a
        pair of tensors are called with one tensor given twice.
        """
        key = id(self.block), id(source), _keys(offsets), parallel
        if self._last_stores.get(target.uid) == key:
            return
        self._last_stores[target.uid] = key
        self.block.items.append(Store(source, target, tuple(offsets), site_of(user_frame()), parallel))
        self._versions[target.uid] = self._versions.get(target.uid, 0) + 1

    @property
    def has_stores(self) -> bool:
        return bool(self._versions)

    def version(self, node: Node) -> int:
        """How often a global tensor has been written so far."""
        return self._versions.get(node.uid, 0)

    # -- the vector tile --------------------------------------------------------------------------------------------

    def need_tile(self, op: str, rank: int, what: str = "its output") -> tuple[int, ...]:
        """The vector tile shape in force, which must have a dim for each of the operation's."""
        if self.tile is None:
            raise PyptoRuntimeError(
                f"{op}: no vector tile shape is set; call pypto.set_vec_tile_shapes(...) with {rank} sizes before the "
                "first vector operation"
            )
        if len(self.tile) != rank:
            raise PyptoValueError(
                f"{op}: the vector tile {list(self.tile)} (set at {self.tile_site}) has "
                f"{counted(len(self.tile), 'dim')}, but {what} has {rank}; they must agree"
            )
        return self.tile


_ACTIVE: list[Trace] = []


def current(what: str) -> Trace:
    """The kernel that is being traced."""
    if not _ACTIVE:
        raise FeRuntimeError(f"pypto.{what} works inside a kernel: in a function with @pypto.frontend.jit")
    return _ACTIVE[-1]


def is_tracing() -> bool:
    return bool(_ACTIVE)


def refuse_nesting(kernel: str) -> None:
    if _ACTIVE:
        raise FeRuntimeError(
            f"kernel {kernel!r} is called inside kernel {_ACTIVE[-1].kernel!r}: a jitted function cannot call another "
            "one; leave @pypto.frontend.jit away from helpers"
        )


class Tracing:
    """`with Tracing(trace):` makes it the current one."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    def __enter__(self) -> Trace:
        refuse_nesting(self.trace.kernel)
        _ACTIVE.append(self.trace)
        return self.trace

    def __exit__(self, *_: object) -> None:
        _ACTIVE.remove(self.trace)


def set_vec_tile_shapes(*sizes: int) -> None:
    """Set the tile that the vector operations from here on are cut into: at most 4 dims, each positive."""
    trace = current("set_vec_tile_shapes")
    for index, size in enumerate(sizes):
        if isinstance(size, bool) or not isinstance(size, int):
            raise PyptoValueError(
                f"set_vec_tile_shapes: size {index} is {size!r}; tile sizes are whole numbers known when the kernel is "
                "written"
            )
        if size <= 0:
            raise PyptoValueError(f"set_vec_tile_shapes{sizes}: size {index} is {size}; every dim must be above 0")
    if not 1 <= len(sizes) <= 4:
        raise PyptoValueError(f"set_vec_tile_shapes{sizes}: {len(sizes)} dims; a vector tile has 1 to 4")
    if math.prod(sizes) > MAX_ELEMENTS:
        raise PyptoValueError(f"set_vec_tile_shapes{sizes}: {math.prod(sizes)} elements; at most {MAX_ELEMENTS}")
    trace.tile = tuple(sizes)
    trace.tile_site = site_of(user_frame())


def get_vec_tile_shapes() -> list[int]:
    """The tile in force, empty when none is."""
    return list(current("get_vec_tile_shapes").tile or ())


def _keys(scalars: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(key_of(scalar) for scalar in scalars)


def _attr_key(value: Any) -> Any:
    """An attribute in a key: scalars by `key_of`, floats told apart from equal ints and by their sign of zero."""
    if isinstance(value, tuple):
        return tuple(_attr_key(item) for item in value)
    if isinstance(value, float):
        return repr(value)
    return key_of(value) if not isinstance(value, str) and hasattr(value, "terms") else value
