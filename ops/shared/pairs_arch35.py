"""Query and key in the templates of the 950: tensors that share their cos rows and differ in their heads alone."""

from __future__ import annotations

from dataclasses import dataclass

Run = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class View:
    """Query and key as a template takes them: A and AB s x heads, BAB b x s x heads, ABA and BA b x heads x s."""

    template: str
    b: int
    s: int
    q_heads: int
    k_heads: int

    @property
    def heads(self) -> int:
        """Of query and key together."""
        return self.q_heads + self.k_heads

    @property
    def most_heads(self) -> int:
        return max(self.q_heads, self.k_heads)

    @property
    def runs(self) -> tuple[Run, ...]:
        """(kind, size for query, size for key) in memory order. A: each index has cos rows of its own; R: all have the
        same; H: heads. Axes of one index are left out, and batches of kind R count as heads where these follow."""
        heads, positions = ("H", self.q_heads, self.k_heads), ("A", self.s, self.s)
        kind = "A" if self.template == "ABA" else "R"
        batches = (kind, self.b, self.b)
        found: list[Run] = []
        for run in (batches, positions, heads) if self.template in ("A", "AB", "BAB") else (batches, heads, positions):
            if run[0] == "H" and found and found[-1][0] == "R":
                _, before, _ = found.pop()
                found.append(("H", before * self.q_heads, before * self.k_heads))
            elif run[0] == "H" or run[1] != 1:
                found.append(run)
        return tuple(found)
