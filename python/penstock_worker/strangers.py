"""Files and texts of others: read within bounds, and shown without what controls a terminal. Files are written without following
a link that somebody has laid."""

from __future__ import annotations

import json
import os
import pathlib
import secrets
import stat
from typing import Any, BinaryIO

MOST_BYTES = 64_000_000  # this and the next as core/base/json.h has them
MOST_LEVELS = 64


def opened(path: str | os.PathLike[str]) -> BinaryIO:
    """To read. OSError of a pipe, which would be waited for, and of a device, which may have no end."""
    file = open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(0, "not a regular file", os.fspath(path))
    return file


def read_text(path: str | os.PathLike[str], most: int = MOST_BYTES) -> str:
    """ValueError of more bytes than these, and of what is not UTF-8."""
    with opened(path) as file:
        if os.fstat(file.fileno()).st_size > most or len(data := file.read(most + 1)) > most:
            raise ValueError(f"more than {most} bytes; is it the right file?")
    return data.decode()


def parse_json(text: str | bytes, **options: Any) -> Any:
    """ValueError of what is not JSON, and of what is beyond the limits. The options are those of json.loads."""
    if len(text) > MOST_BYTES:
        raise ValueError(f"{len(text)} bytes, at most {MOST_BYTES} are read")
    try:
        value = json.loads(text, **options)
    except RecursionError:
        raise ValueError(f"nested more than {MOST_LEVELS} levels deep") from None
    refuse_deep(value)
    return value


def refuse_deep(value: Any) -> None:
    """What walks over a value calls itself for each level."""
    level = [value]
    for _ in range(MOST_LEVELS):
        children = (each.values() if isinstance(each, dict) else each for each in level if isinstance(each, (dict, list)))
        level = [child for several in children for child in several if isinstance(child, (dict, list))]
    if any(isinstance(each, (dict, list)) for each in level):
        raise ValueError(f"nested more than {MOST_LEVELS} levels deep")


def replace_text(path: str | os.PathLike[str], text: str) -> None:
    """The file is the old one or the new one. A link in its place is replaced, not followed."""
    path = pathlib.Path(path)
    beside = path.with_name(f".tmp-{secrets.token_hex(8)}")
    with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666), "w", encoding="utf-8") as file:
        file.write(text)
    beside.replace(path)


def printable(text: str) -> str:
    """Control characters, and those that turn the direction of writing, as Python writes them: a terminal would obey. Lines and
    tabs stay."""
    return "".join(repr(c)[1:-1] if c not in "\n\t" and not c.isprintable() else c for c in text)
