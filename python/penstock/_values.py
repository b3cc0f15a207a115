"""Keys and values as the command line would spell them."""

from __future__ import annotations

import json
import keyword
import os
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from penstock import _base
from penstock._base import UsageError

KWARGS = "env.kwargs"  # a value that is itself a mapping


def text_of(value: Any) -> str:
    """A value as the command line would spell it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return json_of(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(text_of(item) for item in value) + "]"
    if isinstance(value, float):
        return repr(float(value))
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def json_of(keywords: Mapping[str, Any]) -> str:
    """Keywords of an env, which another process reads."""
    for name, value in keywords.items():
        try:
            json.dumps(value)
        except (TypeError, ValueError):
            raise UsageError(f"env_kwargs: {name} = {value!r} is not JSON, as what goes to other processes by name "
                                   f"has to be; give a function instead: PPO(lambda: MyEnv({name}=...))") from None
    return json.dumps(keywords)


def key_of(name: str) -> str:
    """A key's name: those that are words of Python are written with an underscore behind, as `async_`."""
    bare = name.removesuffix("_")
    return bare if keyword.iskeyword(bare) else name


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """ConfigError of what is not TOML or beyond the limits, which the C++ side keeps."""
    _base.Settings().add_toml(text, name)
    return tomllib.loads(text)


def flat(keys: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """("ppo.clip", 0.1) of {"ppo": {"clip": 0.1}} and of {"ppo.clip": 0.1}."""
    for name, value in keys.items():
        if isinstance(value, Mapping) and prefix + name != KWARGS:
            yield from flat(value, f"{prefix}{key_of(name)}.")
        else:
            yield prefix + name, value
