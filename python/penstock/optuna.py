"""A fleet whose settings Optuna chooses, by what the earlier ones reached: [random] says from what, `draws` how many.

    penstock optuna rates.toml

Each setting is a fleet of its own, with all its seeds. What was chosen and what came of it stands in the folder, and Optuna is told all of
it before it chooses again: whatever is killed meanwhile, the same command goes on to the same settings.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from penstock_worker.strangers import parse_json, printable, read_text, replace_text

from penstock._base import ConfigError, Error
from penstock._extras import package
from penstock._values import flat, parse_toml

if TYPE_CHECKING:
    import optuna

AGAIN = 75  # the exit code of what was stopped and goes on with the same command
RANGE = re.compile(r"\s*(uniform|log|whole)\s*\(([^,]+),([^,]+)\)\s*")

Settings = dict[str, Any]


class Stopped(Error):
    """The search was asked to stop; the same call goes on."""

    exit_code = AGAIN


def meant(choice: Any) -> Any:
    """The value that a text between | stands for: a number, a list, a truth, else the text."""
    try:
        return parse_toml(f"value = {choice}", "")["value"] if isinstance(choice, str) else choice
    except ConfigError:
        return choice


def distribution(key: str, value: Any) -> optuna.distributions.BaseDistribution:
    distributions = package("optuna.distributions")
    if isinstance(value, list):
        return distributions.CategoricalDistribution(value)
    if isinstance(value, str) and "|" in value:
        return distributions.CategoricalDistribution([word.strip() for word in value.split("|")])
    range_of = RANGE.fullmatch(str(value))
    try:
        kind, low, high = range_of.groups()  # type: ignore[union-attr]
        if kind == "whole":
            return distributions.IntDistribution(int(low), int(high))
        return distributions.FloatDistribution(float(low), float(high), log=kind == "log")
    except (AttributeError, ValueError) as error:
        raise ConfigError(f"random.{key} = {value!r}: expected uniform(low, high), log(low, high), whole(low, high), a list, or values "
                          "with | between them") from error


class Fleets:
    """The fleets of a search, a file and a folder each."""

    def __init__(self, file: str | os.PathLike[str], out: str | os.PathLike[str] | None) -> None:
        path = pathlib.Path(file)
        try:
            self.keys = parse_toml(read_text(path), path.name)
        except (OSError, ValueError) as error:
            raise ConfigError(f"{path}: {error}") from error
        self.choices = {key: distribution(key, value) for key, value in flat(self.keys.pop("random", {}))}
        self.draws = self.keys.pop("draws", 0)
        self.seed = self.keys.pop("draw_seed", 1)
        if not self.choices or self.draws < 1:
            raise ConfigError(f"{path}: Optuna needs a section [random] and draws = 20, say")
        if refused := {"grid", "rungs"} & self.keys.keys():
            raise ConfigError(f"{path}: {' and '.join(sorted(refused))}: not with Optuna; keys of a grid can stand in [random] as lists")
        if "config" in self.keys:
            self.keys["config"] = str((path.parent / self.keys["config"]).resolve())
        self.folder = pathlib.Path(out) if out else pathlib.Path("fleets") / f"{path.stem}-optuna"
        self.folder.mkdir(parents=True, exist_ok=True)

    def chosen(self, number: int) -> Settings | None:
        """What an earlier call chose."""
        try:
            settings = dict(flat(parse_toml(read_text(self._file(number)), self._file(number).name)["set"]))
        except FileNotFoundError:
            return None
        return {key: next((choice for choice in getattr(distribution, "choices", ()) if meant(choice) == settings[key]), settings[key])
                for key, distribution in self.choices.items()}

    def choose(self, number: int, settings: Settings) -> None:
        keys = {**dict(flat(self.keys)), **{f"set.{key}": meant(value) for key, value in settings.items()}}
        text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
        replace_text(self._file(number), text)

    def score(self, number: int) -> float | None:
        """The mean over seeds, once all have ended; None where one failed."""
        file = self._file(number)
        command = [sys.executable, "-m", "penstock", "fleet", str(file), "--out", str(file.with_suffix("")), "--json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode == AGAIN or done.returncode < 0:
            raise Stopped(f"setting {number} was stopped; the same command goes on with it")
        return float(parse_json(done.stdout)[0]["mean"]) if done.returncode == 0 else None

    def _file(self, number: int) -> pathlib.Path:
        return self.folder / f"{number:03}.toml"


def search(file: str | os.PathLike[str], *, out: str | os.PathLike[str] | None = None,
           sampler: Callable[[int], optuna.samplers.BaseSampler] | None = None,
           tell: Callable[[int, Settings, float | None], None] = lambda number, settings, score: None) -> optuna.Study:
    """All settings of the file, one after the other, and Optuna's study of them. `sampler(seed)` makes what chooses each, TPE unless
    given; a function of that seed, as the search else depends on when it was interrupted."""
    optuna = package("optuna")
    fleets = Fleets(file, out)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    make = sampler or (lambda seed: optuna.samplers.TPESampler(seed=seed))
    study = optuna.create_study(direction="maximize")
    for number in range(fleets.draws):
        trial = None
        settings = fleets.chosen(number)
        if settings is None:
            study.sampler = make(fleets.seed * 1_000_003 + number)
            trial = study.ask(fleets.choices)
            settings = trial.params
            fleets.choose(number, settings)
        score = fleets.score(number)
        state = optuna.trial.TrialState.COMPLETE if score is not None else optuna.trial.TrialState.FAIL
        if trial is not None:
            study.tell(trial, score, state)
        else:
            study.add_trial(optuna.trial.create_trial(state=state, params=settings, distributions=fleets.choices, value=score))
        tell(number, settings, score)
    return study


def told(settings: Settings) -> str:
    return " ".join(f"{key}={value}" for key, value in settings.items())


def main(argv: list[str]) -> int:
    """penstock optuna FILE; returns the exit code."""
    parser = argparse.ArgumentParser(prog="penstock optuna", description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", help="a fleet's TOML file, with [random] and draws")
    parser.add_argument("--out", help="the search's folder; without it, fleets/NAME-optuna by the file's name")
    parser.add_argument("--json", action="store_true", help="print the best setting as JSON")
    args = parser.parse_args(argv)

    def tell(number: int, settings: Settings, score: float | None) -> None:
        if not args.json:
            print(f"{number:03}  {'failed' if score is None else f'{score:.2f}':>10}  {printable(told(settings))}", flush=True)

    try:
        study = search(args.file, out=args.out, tell=tell)
    except Error as error:
        print(f"penstock: {printable(str(error))}", file=sys.stderr)
        return 78 if isinstance(error, ConfigError) else error.exit_code
    if all(trial.value is None for trial in study.trials):
        print("penstock: every setting failed; their logs are in the folder", file=sys.stderr)
        return 1
    best = study.best_trial
    print(json.dumps({"score": best.value, "settings": best.params}) if args.json else printable(f"best  {best.value:.2f}  {told(best.params)}"))
    return 0
