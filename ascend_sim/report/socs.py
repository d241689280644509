"""What `ascend-sim socs` shows: the chips that can be simulated, and every parameter of one of them.

Each view is first a plain dictionary (the JSON answer) and then a text made from that dictionary alone.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ascend_sim.soc import Soc, load
from ascend_sim.soc.files import FAMILIES, chip_file, foreign_products, source_keys, sources

_WIDTH = 120  # columns that remarks may fill when nobody says how wide the terminal is


def chips() -> dict[str, Any]:
    """Families with their products and variants, and the products that are not supported."""
    return {
        "families": [_family(name) for name in FAMILIES],
        "unsupported": [{"name": product.name, "chips": product.chips} for product in foreign_products()],
    }


def _family(name: str) -> dict[str, Any]:
    file = chip_file(name)
    variants = [load(variant) for variant in file.variants]
    return {
        "name": name,
        "arch": file.arch,
        "default": file.default,
        "simulated": variants[0].timing is not None,
        "products": [product.name for product in file.products],
        "variants": [_variant(soc) for soc in variants],
    }


def _variant(soc: Soc) -> dict[str, Any]:
    return {
        "name": soc.variant,
        "aic": soc.cores.aic,
        "aiv": soc.cores.aiv,
        "clock_mhz": soc.clock_mhz,
        "ub_usable_bytes": soc.ub.usable_bytes,
        "l2_bytes": soc.l2.bytes,
        "hbm_bytes": soc.hbm.bytes,
        "hbm_peak_gbps": soc.hbm.peak_gbps,
    }


def chip(soc: Soc) -> dict[str, Any]:
    """Every parameter of one chip: path, value, unit, source, grade and remark; and what the sources stand for."""
    parameters = soc.parameters()
    keys = {key for parameter in parameters for key in source_keys(parameter.source)}
    return {
        "soc": soc.name,
        "variant": soc.variant,
        "arch": soc.arch,
        "simulated": soc.timing is not None,
        "products": [p.name for p in chip_file(soc.name).products if soc.variant.startswith(p.variants)],
        "parameters": [
            {"path": p.path, "value": p.value, "unit": p.unit, "source": p.source, "grade": p.grade, "note": p.note}
            for p in parameters
        ],
        "sources": {key: text for key, text in sources().items() if key in keys},
    }


def chips_text(view: Mapping[str, Any]) -> str:
    """The dictionary of `chips` as text: a table per family."""
    parts = [_family_text(family) for family in view["families"]]
    foreign = [f"  {product['name']} ({', '.join(product['chips'])})" for product in view["unsupported"]]
    parts.append("\n".join(["Not supported by the simulator and its operators:", *foreign]))
    return "\n\n".join([*parts, "* default; `ascend-sim socs VARIANT` lists every parameter of one"]) + "\n"


def _family_text(family: Mapping[str, Any]) -> str:
    note = "" if family["simulated"] else "; its vector core is not simulated yet"
    head = f"{family['name']}: {', '.join(family['products'])} (architecture {family['arch']}{note})"
    columns = ("variant", "AIC", "AIV", "MHz", "UB usable B", "L2 MiB", "HBM GiB", "HBM GB/s")
    rows = [
        (
            f"{row['name']}{' *' if row['name'] == family['default'] else ''}",
            row["aic"],
            row["aiv"],
            row["clock_mhz"],
            row["ub_usable_bytes"],
            row["l2_bytes"] // 2**20,
            None if row["hbm_bytes"] is None else row["hbm_bytes"] // 2**30,
            row["hbm_peak_gbps"],
        )
        for row in family["variants"]
    ]
    return f"{head}\n{_table(columns, rows, right=range(1, len(columns)))}"


def chip_text(view: Mapping[str, Any], width: int = _WIDTH) -> str:
    """The dictionary of `chip` as text: one line per parameter, then the remarks and what the sources stand for."""
    note = "" if view["simulated"] else "; its vector core is not simulated yet"
    head = f"{view['variant']} ({view['soc']}, architecture {view['arch']}; {', '.join(view['products'])}{note})"
    remarks: dict[str, int] = {}
    rows = []
    for row in view["parameters"]:
        keys, remark = _whence(row, view["sources"])
        number = f"[{remarks.setdefault(remark, len(remarks) + 1)}]" if remark else ""
        unit = "" if row["unit"] == "1" else row["unit"]
        rows.append((row["path"], row["value"], unit, row["grade"], keys, number))
    columns = ("parameter", "value", "unit", "grade", "source", "remark")
    legend = [f"  {key}: {text}" for key, text in view["sources"].items()]
    notes = [
        textwrap.fill(f"[{number}] {text}", width, initial_indent="  ", subsequent_indent="      ")
        for text, number in remarks.items()
    ]
    parts = [head, _table(columns, rows, right=(1,)), "", "Remarks:", *notes, "", "Sources:", *legend]
    return "\n".join(parts) + "\n"


def _whence(row: Mapping[str, Any], known: Collection[str]) -> tuple[str, str]:
    """The short names of a parameter's sources, and what is to be said beyond them."""
    source, note = row["source"], row["note"]
    keys = [key for key in dict.fromkeys(source_keys(source)) if key in known]
    more = set(source.replace(",", " ").replace(";", " ").split()) - {*keys, row["grade"]}
    return ", ".join(keys), "; ".join(filter(None, (source if more else "", note)))


def _table(columns: Sequence[str], rows: Sequence[Sequence[object]], right: Collection[int]) -> str:
    """Plain columns under their titles; those in `right` are set flush right."""
    cells = [columns, *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(row[index]) for row in cells) for index in range(len(columns))]
    lines = [
        "  ".join(
            cell.rjust(width) if index in right else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
    lines.insert(1, "-" * (sum(widths) + 2 * (len(widths) - 1)))
    return "\n".join(lines)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, tuple | list):
        return ", ".join(map(_cell, value))
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return f"{value:,.10g}" if isinstance(value, float) else f"{value:,}"
    return str(value)
