"""How an env is made: from a Gymnasium id, from a function that a module has, or from a pickled one."""

from __future__ import annotations

import base64
import difflib
import importlib
import json
import os
import pickle
import re
import sys
from typing import Any


class ContractError(TypeError):
    """A mistake in an env's code or name, with its remedy."""


def require_class(found: Any, name: str) -> None:
    """Before it is called: a file of somebody else gave the name, and the arguments too."""
    import gymnasium

    if not isinstance(found, type) or not issubclass(found, gymnasium.Env):
        raise ContractError(f"{name} is not a class of gymnasium.Env, and of what others name nothing else is called; if you "
                            f"know it, name it yourself: --env {name}")


class Maker:
    """Calling it makes an env. `payload` is JSON: id, kwargs, and optionally path (sys.path),
    pickle (base64), info_keys and only_classes."""

    def __init__(self, payload: str):
        told = json.loads(payload)
        self.id: str = told["id"]
        self.kwargs: dict[str, Any] = told.get("kwargs", {})
        self.info_keys: list[str] = told.get("info_keys", [])  # whose numbers at the end of an episode are averaged
        for folder in [*told.get("path", []), os.getcwd()]:
            if folder not in sys.path:
                sys.path.append(folder)
        self.function = self._function(told)

    def __call__(self) -> Any:
        return self.function(**self.kwargs)

    def _function(self, told: dict[str, Any]) -> Any:
        if "pickle" in told:
            return pickle.loads(base64.b64decode(told["pickle"]))  # made by the parent, for this process
        module, _, name = self.id.rpartition(":")
        if module:
            home = found = importlib.import_module(module)
            for part in name.split("."):
                found = getattr(found, part, None)
            if callable(found):
                if told.get("only_classes"):
                    require_class(found, self.id)
                return found
            self._refuse_typo(home, name)
        return self._registered(name)

    @staticmethod
    def _refuse_typo(module: Any, name: str) -> None:
        """A name that is neither an id of Gymnasium nor in the module."""
        import gymnasium

        if re.search(r"-v\d+$", name) or name in gymnasium.registry:
            return
        here = [key for key, value in vars(module).items()
                if callable(value) and getattr(value, "__module__", "") == module.__name__ and not key.startswith("_")]
        near = difflib.get_close_matches(name, here, 3) or here[:8]
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        raise ContractError(f"module {module.__name__} has no class or function {name}{hint}")

    @staticmethod
    def _registered(name: str) -> Any:
        import gymnasium

        def make(**kwargs: Any) -> Any:
            return gymnasium.make(name, disable_env_checker=True, **kwargs)

        gymnasium.spec(name)  # an unknown id is an error now, with the nearest ones in its words
        return make
