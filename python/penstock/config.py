"""The configuration of a run, with the names of the C++ side: `penstock config --markdown` lists them."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from penstock import _base
from penstock._habits import refuse_function
from penstock._torch import _core
from penstock._values import flat, key_of, text_of

if TYPE_CHECKING:
    from typing import Unpack

    from penstock._keys import Attributes, ConfigKeys
else:
    Attributes = object

RECIPES = pathlib.Path(__file__).parent / "recipes"


class Section:
    """The keys of one section: config.ppo.clip."""

    def __init__(self, config: Config, prefix: str):
        object.__setattr__(self, "_config", config)
        object.__setattr__(self, "_prefix", prefix)

    def __getattr__(self, name: str) -> Any:
        return self._config._get(self._prefix + name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._config.update({self._prefix + name: value})

    def __dir__(self) -> list[str]:
        return [path[len(self._prefix):] for path in self._config.to_dict() if path.startswith(self._prefix)]

    def __repr__(self) -> str:
        return ", ".join(f"{self._prefix}{name}={getattr(self, name)!r}" for name in dir(self))


class Config(Attributes):
    """Keys by name, nested or dotted; a wrong one is refused at once, with the nearest spelling.

        config = Config(seed=1, ppo={"clip": 0.1}, **{"rollout.steps": 32})
        config.ppo.gamma = 0.98
        config["ppo.gamma"]
    """

    _settings: _base.Settings
    _plan: _core.RunPlan
    _module: Any = None  # a torch.nn.Module that net.kind may name
    _pickled: str = ""  # what makes the env that env.id names

    def __init__(self, **keys: Unpack[ConfigKeys]):
        object.__setattr__(self, "_settings", _base.Settings())
        self.update(keys)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Config:
        """What a TOML file says, as `--config` takes it."""
        return cls()._with(lambda settings: settings.add_toml_file(os.fspath(path)))

    @classmethod
    def from_recipe(cls, name: str) -> Config:
        """One of the recipes that ship with Penstock, as `--recipe` takes it."""
        names = sorted(path.stem for path in RECIPES.glob("*.toml"))
        if name not in names:
            raise _base.UsageError(f"recipe {name}: not one of {', '.join(names)}")
        return cls.from_file(RECIPES / f"{name}.toml")

    def update(self, keys: Mapping[str, Any], origin: str = "Python") -> None:
        """Sets keys; later ones win. Nothing changes when one of them is refused."""
        def add(settings: _base.Settings) -> None:
            for path, value in flat(keys):
                refuse_function(path, value)
                settings.add(path, text_of(value), origin)

        self._with(add)

    def copy(self, module: Any = None, pickled: str = "") -> Config:
        """The same keys; with a module, the policy's network is that, with a pickled factory, the env is what it
        makes."""
        out = type(self)()
        object.__setattr__(out, "_module", module if module is not None else self._module)
        object.__setattr__(out, "_pickled", pickled or self._pickled)
        out._with(lambda settings: settings.append(self._settings))
        if module is not None:
            out.update({"net.kind": _core.MODULE_KIND})
        return out

    def __reduce__(self) -> Any:
        return restored, (self._settings.lines(), self._module, self._pickled)

    def to_dict(self) -> dict[str, Any]:
        """Every key with its value, dotted."""
        return {path: value for path, value, _, _ in self._plan.fields()}

    def to_toml(self) -> str:
        """The resolved document: every key, and where its value came from."""
        return self._plan.toml()

    def __getitem__(self, path: str) -> Any:
        return self._get(path)

    def __setitem__(self, path: str, value: Any) -> None:
        self.update({path: value})

    if not TYPE_CHECKING:  # who checks types knows the names
        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            section = key_of(name) + "."
            if any(path.startswith(section) for path in self.to_dict()):
                return Section(self, section)
            return self._get(name)

        def __setattr__(self, name: str, value: Any) -> None:
            self.update({name: value})

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *{path.split(".")[0] for path in self.to_dict()}]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self.to_dict() == other.to_dict()

    def __repr__(self) -> str:
        given = {path: text for path, text, _ in self._settings.lines()}
        return f"Config({', '.join(f'{path}={text}' for path, text in given.items())})"

    def _get(self, path: str) -> Any:
        values = self.to_dict()
        if path not in values:
            raise AttributeError(self._unknown(path))
        return values[path]

    def _unknown(self, path: str) -> str:
        """The C++ side's words for a key that does not exist."""
        settings = _base.Settings(self._settings)
        settings.add(path, "0", "Python")
        try:
            _core.RunPlan(settings, self._module, self._pickled)
        except _base.ConfigError as error:
            return str(error)
        return path

    def _with(self, change: Any) -> Config:
        settings = _base.Settings(self._settings)
        change(settings)
        plan = _core.RunPlan(settings, self._module, self._pickled)
        object.__setattr__(self, "_settings", settings)
        object.__setattr__(self, "_plan", plan)
        return self


def restored(lines: list[tuple[str, str, str]], module: Any, pickled: str) -> Config:
    """What pickle and copy make of a Config."""
    def add(settings: _base.Settings) -> None:
        for path, text, origin in lines:
            settings.add(path, text, origin)

    return Config().copy(module=module, pickled=pickled)._with(add)
