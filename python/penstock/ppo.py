"""Training from Python: the same runs, bit for bit, as `penstock train`."""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import shutil
import tempfile
import threading
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from penstock_worker.strangers import read_text

from penstock import _base
from penstock._habits import refuse_learn_keys
from penstock._progress import Lines, display
from penstock._signals import Signals
from penstock._temporary import folder_of
from penstock._torch import _core, torch
from penstock.callbacks import Callback, as_callbacks
from penstock.config import Config
from penstock.envs import own_spaces
from penstock.factories import named
from penstock.policy import Acting

if TYPE_CHECKING:
    from typing import Unpack

    from penstock._keys import Keys

REPLAYS = "replays"  # where failures of a run without a directory of its own are kept
LAG = "async.max_lag"
MEASURED = -1  # what LAG = "auto" is


class Normaliser(NamedTuple):
    """What normalise.obs knows of every number of an observation row; (x - mean) / sqrt(std**2 + 1e-8) is what the
    network reads, clipped to normalise.clip_obs."""

    count: np.ndarray
    mean: np.ndarray
    std: np.ndarray


class PPO(Acting):
    """Proximal policy optimisation.

        model = PPO("cartpole", num_envs=64, seed=1, ppo={"clip": 0.1})
        model = PPO(lambda: MyEnv(size=3), num_envs=8, num_workers=2)
        model.learn(400_000)

    `env` is a native env's name, a Gymnasium id ("my_pkg:MyEnv-v0"), or a class or function that makes an env, which
    then lives in `num_workers` processes ("auto": as many as measurements say; 0: in this one), made with `env_kwargs`.
    Keywords are the config's keys, nested or dotted. `policy` is a torch.nn.Module whose forward(obs, legal) returns
    (logits, value): it is deep-copied once per shard, and gets the trained weights at the end of learn(). The run lives
    in `run_dir`, or in a temporary folder that goes with the object: save() keeps it. `start_from` is a run directory
    whose policy and normaliser it begins with: another env of the same spaces, number of envs or any other key will do.
    """

    def __init__(self, env: Any, num_envs: int | None = None, seed: int | None = None, *,
                 num_workers: int | str | None = None, env_kwargs: dict[str, Any] | None = None,
                 config: Config | None = None, policy: torch.nn.Module | None = None,
                 run_dir: str | os.PathLike[str] | None = None, start_from: str | os.PathLike[str] | None = None,
                 verbose: int = 1, **keys: Unpack[Keys]):
        if policy is not None and not isinstance(policy, torch.nn.Module):
            raise TypeError(f"policy = {policy!r}: expected a torch.nn.Module; without one the network is "
                            'net={"kind": "mlp", "hidden": [64, 64], "activation": "tanh"}')
        refuse_batch_statistics(policy)
        name, pickled = named(env)
        given = {"env.id": name, "env.num_envs": num_envs, "seed": seed, "run.dir": run_dir, "workers": num_workers,
                 "env.kwargs": env_kwargs, "run.start_from": start_from}
        config = (config or Config()).copy(module=policy, pickled=pickled)
        config.update({path: value for path, value in given.items() if value is not None} | keys)
        self._begin(config, policy, verbose)

    def _begin(self, config: Config, policy: torch.nn.Module | None, verbose: int) -> None:
        self.config = config
        self.policy = policy
        self.verbose = verbose
        self.summary: _core.Summary | None = None
        self.num_timesteps = 0
        self._run_dir: pathlib.Path | None = None
        self._training: _core.Training | None = None
        self._busy = threading.Lock()  # held by learn()
        self._thread = 0
        self._temporary = False
        self._engine: _core.Engine | None = None
        self._given: dict[str, torch.Tensor] = {}  # weights for a run that has not begun
        self._carrier: Any = None  # to samplers in other processes
        self._use_plan()

    def _use_plan(self) -> None:
        """From here on the config is as it is now."""
        plan = self.config._plan
        spec = plan.spec()  # before the last plan goes: they share what an env of Python was asked
        self._plan = plan
        self._use_spaces(spec, *own_spaces(plan.spaces(), self.config.env.id, spec))

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, policy: torch.nn.Module | None = None, env: Any = None,
             trust: bool = False, verbose: int = 1, **keys: Unpack[Keys]) -> PPO:
        """The run in a directory, of save(), of run_dir or of `penstock train`. learn() goes on with it there. A policy
        or an env that came from the program itself is to be given again. An `env` takes the place of the run's Python
        env; it must have the same spaces. Keywords are keys of the config that change from here on; the number of envs
        and the network stay as they are. `trust` lets the code run that a run of somebody else names as its env."""
        folder = pathlib.Path(path)
        config = recorded_config(folder, policy, env, trust)
        recorded = config.env.num_envs
        config.update(keys)
        if config.env.num_envs != recorded:
            raise _base.UsageError(f"{folder}: a run goes on with its own {recorded} envs; with another number, begin a "
                                   f"new one with its policy: PPO({config.env.id!r}, num_envs={config.env.num_envs}, "
                                   f"start_from={str(folder)!r})")
        model = cls.__new__(cls)
        model._begin(config, policy, verbose)
        model._run_dir = folder
        try:
            model._resting_engine()
        except _base.DataError as error:
            if env is None:
                raise
            raise _base.UsageError(f"{folder}: env = {config.env.id} does not fit: {error}") from None
        model._give_weights()
        return model

    def learn(self, total_timesteps: int | None = None, callbacks: Any = None, progress_bar: bool = False,
              **unknown: Any) -> PPO:
        """Trains for this many env steps, and the next time for as many more; without a number, until the config's
        total_timesteps are done. Ctrl-C saves and raises KeyboardInterrupt; the next learn() goes on. The bar is tqdm's
        where that is installed."""
        refuse_learn_keys(unknown)
        watchers = as_callbacks(callbacks)
        if not self._busy.acquire(blocking=False):
            place = "in a callback of it" if threading.get_ident() == self._thread else "in another thread"
            raise RuntimeError(f"learn() is at work already, and was called again {place}: one at a time for each PPO")
        try:
            if total_timesteps is not None:
                self.config.update({"total_timesteps": self.num_timesteps + int(total_timesteps)}, "learn()")
            with contextlib.closing(display(self.verbose, progress_bar, self.num_timesteps)) as shown:
                self._learn(watchers, Signals(), shown)
        finally:
            self._busy.release()
        return self

    def _learn(self, watchers: list[Callback], signals: Signals, shown: Lines) -> None:
        self._start(watchers, signals, shown)
        assert self._training is not None and self._run_dir is not None
        try:
            for watcher in watchers:
                watcher.on_start(self)
            with signals.kept():
                self.summary = self._training.run()
            for watcher in watchers:
                watcher.on_end(self, self.summary)
        finally:
            self._give_weights()
            self._training = None  # gives the directory's lock back
            self.num_timesteps = saved_step(self._run_dir)

    def _choose(self, rows: np.ndarray, legal: np.ndarray | None, draw: bool) -> np.ndarray:
        return self._at_rest().predict(rows, legal, self.config.seed if draw else None, self._predictions)

    def evaluate(self, episodes: int = 100, *, seed: int = 0, deterministic: bool = True) -> _core.EvalResult:
        """Plays whole episodes, as `penstock eval` does."""
        return self._at_rest().evaluate(self._plan, episodes, seed, deterministic)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a run directory that load(), `penstock eval` and `penstock resume` read. Replaces a saved one."""
        if self._training is not None:
            self._at_rest()
            self._training.save()
        if self._run_dir is None:
            raise _base.UsageError("save: there is nothing to save before the first learn()")
        copy_run(self._run_dir, pathlib.Path(path))

    def export(self, path: str | os.PathLike[str]) -> None:
        """Writes the policy as one file, as `penstock export` does: Policy.load(path) acts with it, and C++ programs."""
        self._at_rest().export(os.fspath(path))

    def weights(self) -> dict[str, torch.Tensor]:
        """A copy of every parameter by name."""
        return _core.weights(self._at_rest())

    def set_weights(self, weights: dict[str, torch.Tensor]) -> None:
        """Parameters by name, as weights() gives them; those that are not named stay. learn() goes on from them."""
        given = {name: torch.as_tensor(value, dtype=torch.float32) for name, value in weights.items()}
        _core.set_weights(self._at_rest(), given)
        if self._run_dir is None:
            self._given |= given
        elif self._training is None:
            self._write_weights(given)
        self._give_weights()

    def _write_weights(self, given: dict[str, torch.Tensor]) -> None:
        """Into the run's newest checkpoint."""
        run = _core.Training(self._plan, str(self._run_dir), False, lambda now: False, lambda now, metrics: False,
                             lambda text: None)
        _core.set_weights(run.engine, given)
        run.save()

    def normaliser(self) -> Normaliser | None:
        """The statistics of normalise.obs; None without it."""
        found = _core.normaliser(self._at_rest())
        return None if found is None else Normaliser(*found.numpy())

    @property
    def digest(self) -> str:
        """Of the weights; equal for equal runs."""
        return self._at_rest().digest()

    @property
    def run_dir(self) -> pathlib.Path | None:
        """Where the run lives; None before the first learn()."""
        return self._run_dir

    def __repr__(self) -> str:
        return (f"PPO({self.config.env.id!r}, num_envs={self.config.env.num_envs}, seed={self.config.seed}, "
                f"num_timesteps={self.num_timesteps})")

    def __reduce__(self) -> Any:
        raise TypeError("a PPO is neither pickled nor copied: save(path) writes it and PPO.load(path) brings it back; its "
                        "config can be pickled")

    def _start(self, watchers: list[Callback], signals: Signals, shown: Lines) -> None:
        self._use_plan()
        plan = self._plan
        fresh = self._run_dir is None
        if fresh:
            self._run_dir = pathlib.Path(self.config.run.dir or self._temporary_folder())
            for text in plan.warnings():
                warnings.warn(in_python(text), stacklevel=4)
        progress, logged, note = self._watch(watchers, signals, shown)
        self._engine = None
        self._thread = threading.get_ident()
        try:
            self._training = _core.Training(plan, str(self._run_dir), fresh, progress, logged, note, self._carrier)
            if self._carrier is not None:
                self._carrier.keep_order(self._run_dir)
            self._keep_lag()
            if self._given:
                _core.set_weights(self._training.engine, self._given)
                self._training.save()  # from here on the run has them
                self._given = {}
        except BaseException:
            self._run_dir = None if fresh else self._run_dir
            raise

    def _keep_lag(self) -> None:
        """A lag that was left to be measured is a number once the run has begun."""
        if self.config.to_dict().get(LAG) == MEASURED:
            recorded = _core.recorded_settings(str(self._run_dir), True)
            self.config.update({LAG: next(value for path, value, _ in recorded.lines() if path == LAG)})
            self._use_plan()

    def _temporary_folder(self) -> str:
        self._temporary = True
        return folder_of(self)

    def _watch(self, watchers: list[Callback], signals: Signals, shown: Lines) -> tuple[Any, Any, Any]:
        """What the C++ side calls: several times a second, after updates, and with remarks."""
        latest: dict[str, float] = {}  # lines of updates and of evaluations have different names

        def progress(now: _core.Progress) -> bool:
            signals.answer()
            self.num_timesteps = now.timesteps
            shown.show(now)
            return False

        def logged(now: _core.Progress, metrics: dict[str, float]) -> bool:
            self.num_timesteps = now.timesteps
            latest.update(metrics)
            with signals.answered():
                return any([bool(watcher.on_log(self, now, latest.copy())) for watcher in watchers])

        def note(text: str) -> None:
            chosen = self.verbose > 0 and text.startswith(LAG)  # results depend on it
            if self.verbose > 1 or chosen or text.startswith("warning"):
                shown.say(f"penstock: {self._with_replay(text)}")

        return progress, logged, note

    def _with_replay(self, text: str) -> str:
        """A remark whose command works: the file outlives a temporary run, and the interpreter is named."""
        told = re.search(r"penstock replay (\S+)((?: --(?:env|python) \S+)*)$", text)
        if told is None:
            return text
        path, python = told[1], self.config["env.python"]
        if self._temporary:
            try:
                pathlib.Path(REPLAYS).mkdir(exist_ok=True)
                path = shutil.copy(path, REPLAYS)
            except OSError as error:
                return f"{text[:told.start()]}penstock replay, which needs a run_dir: {REPLAYS}: {error.strerror}"
        named = f" --python {python}" if python and " --python " not in told[2] else ""
        return text[:told.start(1)] + path + told[2] + named

    def _at_rest(self) -> _core.Engine:
        """The engine, when it is not at work."""
        if self._training is None:
            return self._resting_engine()
        if threading.get_ident() != self._thread:
            raise RuntimeError("learn() is at work in another thread")
        return self._training.engine

    def _resting_engine(self) -> _core.Engine:
        if self._engine is None:
            self._engine = _core.Engine(self._plan)
            if self._run_dir is not None:
                self.num_timesteps = self._engine.restore(str(self._run_dir), "latest")  # whole, or the one before it
            else:
                self._engine.take_policy(self.config.run.start_from)
            _core.set_weights(self._engine, self._given)
        return self._engine

    def _give_weights(self) -> None:
        """Back into the module that the user gave."""
        if self.policy is not None:
            self.policy.load_state_dict(self.weights(), strict=False)


def recorded_config(folder: pathlib.Path, policy: torch.nn.Module | None, env: Any, trust: bool) -> Config:
    """What a run directory says it is, with the env that the program gives; the run's own is not looked at then."""
    settings = _core.recorded_settings(str(folder), trust or env is not None)
    recorded = {path: value for path, value, _ in settings.lines()}
    kind = recorded.get("net.kind")
    if (kind == _core.MODULE_KIND) != (policy is not None):
        remedy = "it was trained without one" if policy else "give it again: PPO.load(path, policy=...)"
        raise _base.UsageError(f"{folder}: its network is net.kind = {kind}; as to a torch.nn.Module, {remedy}")
    name, pickled = ("", "") if env is None else named(env)
    check_same_kind(folder, recorded.get("env.id", ""), name)
    config = Config().copy(module=policy, pickled=pickled)
    if name:
        settings.add("env.id", name, "env")
    config._with(lambda now: now.append(settings))
    return config


def check_same_kind(folder: pathlib.Path, recorded: str, given: str) -> None:
    """A native env's states mean nothing to another env."""
    native = {name for name, _ in _base.envs()}
    if given and given != recorded and native & {given, recorded}:
        raise _base.UsageError(f"{folder}: it was trained on env.id = {recorded}, and goes on with nothing else; env = "
                               f"{given} is another env. Leave `env` out, or train a new PPO on it")


def refuse_batch_statistics(policy: torch.nn.Module | None) -> None:
    """Modules whose buffers would change in training."""
    for name, part in policy.named_modules() if policy is not None else ():
        if isinstance(part, torch.nn.modules.batchnorm._NormBase) and part.training and (
                part.track_running_stats or isinstance(part, torch.nn.modules.batchnorm._BatchNorm)):
            raise _base.UsageError(f"policy: {name or 'it'} is {type(part).__name__}, whose running statistics are "
                                   "neither shared between the shards' copies nor saved; use LayerNorm or GroupNorm, "
                                   "or freeze it: call its eval() before")


def in_python(text: str) -> str:
    """A warning of the command line in the words of this package."""
    text = re.sub(r"--total-timesteps (\d+)", r"learn(\1)", text)
    return re.sub(r"--episodes (\d+)", r"total_episodes=\1", text)


def saved_step(run: pathlib.Path) -> int:
    """Env steps of the newest checkpoint, which is what the next learn() starts from."""
    return int(read_text(run / "ckpt" / "LATEST", 64))


def copy_run(run: pathlib.Path, path: pathlib.Path) -> None:
    """Config, manifest and newest checkpoint of a run, as a run directory of its own."""
    if path.resolve() == run.resolve():
        return  # it is there already
    saved_before = (path / "config.toml").exists() and not (path / "metrics.jsonl").exists()
    if path.exists() and not saved_before and (path.is_file() or any(path.iterdir())):
        raise _base.IoError(f"save: {path} holds something else; choose another path")
    newest = str(saved_step(run))
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".tmp-") as folder:
        copy = pathlib.Path(folder) / "run"
        (copy / "ckpt").mkdir(parents=True)
        for name in ("config.toml", "manifest.json"):
            shutil.copy2(run / name, copy / name)
        shutil.copytree(run / "ckpt" / newest, copy / "ckpt" / newest)
        (copy / "ckpt" / "LATEST").write_text(newest + "\n")
        shutil.rmtree(path, ignore_errors=True)
        copy.rename(path)
