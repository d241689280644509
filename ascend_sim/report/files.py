"""Writing files so that a reader never meets half of one."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ascend_sim.errors import InputError


def check_writable(path: str | os.PathLike[str], what: str) -> Path:
    """`path` as a Path, after making sure that `what` ("trace", "outputs") can be written there; raises InputError."""
    target = Path(path)
    if target.is_dir():
        raise InputError(f"cannot write the {what} to {str(target)!r}: it is a directory, give a file name")
    parent = target.parent
    if not parent.is_dir():
        raise InputError(f"cannot write the {what} to {str(target)!r}: there is no directory {str(parent)!r}")
    if not os.access(parent, os.W_OK):
        raise InputError(f"cannot write the {what} to {str(target)!r}: no permission to write in {str(parent)!r}")
    return target


def same_file(one: Path, other: Path) -> bool:
    """Whether both paths name one regular file, there or to be made (/dev/null may be named twice)."""
    return one.resolve() == other.resolve() and (one.is_file() or not one.exists())


@contextlib.contextmanager
def atomic(path: str | os.PathLike[str], what: str) -> Iterator[Path]:
    """Yield a temporary file beside `path`; it takes the name `path` only when the body ends without an error.

    What is no regular file (/dev/null, a pipe) is not replaced but written to, from a file in the system's own place.
    """
    target = check_writable(path, what)
    special = target.exists() and not target.is_file()
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=None if special else target.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        if special:
            with temporary.open("rb") as source, target.open("wb") as sink:
                shutil.copyfileobj(source, sink)
        else:
            _take_default_mode(temporary)
            temporary.replace(target)
    except OSError as error:
        raise InputError(f"cannot write the {what} to {str(target)!r}: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def _take_default_mode(path: Path) -> None:
    """Temporary files are private; a result file has the mode that any new file of the user gets."""
    mask = os.umask(0)
    os.umask(mask)
    path.chmod(0o666 & ~mask)
