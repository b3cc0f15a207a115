"""Packages that are not required: each belongs to an extra of its own name."""

from __future__ import annotations

import importlib
from typing import Any

from penstock._base import Error


class MissingPackageError(Error, ImportError):
    """The package is not installed."""

    exit_code = 69


def package(name: str) -> Any:
    """The module. A folder of that name, which some packages make, is none."""
    try:
        module = importlib.import_module(name)
        if module.__file__ is None:
            raise ModuleNotFoundError(f"{name} is a folder")
    except ModuleNotFoundError as error:
        raise MissingPackageError(f"{name} is not installed: pip install 'penstock[{name}]'") from error
    return module
