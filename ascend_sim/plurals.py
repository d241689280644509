"""Counts in words: `1 block`, `2 blocks`, `1 batch`, `1 entry`. Reports and error texts count with these."""

from __future__ import annotations

_HISSING = ("ch", "sh", "s", "x")


def counted(count: int, noun: str) -> str:
    """`count` of the `noun` (given in the singular), without separators: for error texts, whose figures are copied."""
    return f"{count} {noun if count == 1 else plural_of(noun)}"


def plural(count: int, noun: str) -> str:
    """As `counted`, with separators of thousands: for reports."""
    return f"{count:,} {noun if count == 1 else plural_of(noun)}"


def plural_of(noun: str) -> str:
    """`row` -> `rows`, `batch` -> `batches`, `entry` -> `entries`, `key` -> `keys`."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(_HISSING) else f"{noun}s"


def singular_of(nouns: str) -> str:
    """`rows` -> `row`, `batches` -> `batch`, `entries` -> `entry`; a noun in -che would lose its e."""
    if nouns.endswith("ies"):
        return f"{nouns[:-3]}y"
    return nouns[:-2] if nouns.endswith(("ches", "shes", "sses", "xes")) else nouns.removesuffix("s")
