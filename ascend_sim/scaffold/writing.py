"""Writing the folder: every file of the template, with the operator's name in it."""

from __future__ import annotations

import keyword
import re
import shutil
from pathlib import Path
from string import Template

from ascend_sim.errors import InputError

_TEMPLATE = Path(__file__).parent / "template"
_SUFFIX = ".txt"
"""Keeps the template's files from being taken for modules of this package."""


def write_operator(name: str, into: Path) -> Path:
    """Make `into`/`name` and answer its path; what exists is never touched.

    `name` is in snake case, as operators are called ("my_rope"); raises `InputError` for any other, for a folder that
    exists, and for one that cannot be written.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name) or keyword.iskeyword(name):
        raise InputError(f"operator name {name!r}: must be in snake case (a-z, 0-9 and single _), for example my_rope")
    folder = into / name
    if folder.exists():
        raise InputError(f"{str(folder)!r} exists already; give another name, or remove it first")
    if not into.is_dir():
        raise InputError(f"{str(into)!r} is no directory to make {name} in")
    names = {"name": name, "type_name": "".join(part.capitalize() for part in name.split("_"))}
    try:
        folder.mkdir()
        for file in sorted(_TEMPLATE.glob(f"*{_SUFFIX}")):
            text = Template(file.read_text(encoding="utf-8")).substitute(names)
            (folder / file.name.removesuffix(_SUFFIX)).write_text(text, encoding="utf-8")
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise InputError(f"cannot write {str(folder)!r}: {error.strerror or error}") from error
    return folder
