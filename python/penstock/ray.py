"""One learner here, samplers as Ray actors anywhere: APPO and IMPALA whose actors come, go and die while training goes on.

    import penstock.ray

    config = penstock.Config(algo="appo", env={"id": "cartpole", "num_envs": 256}, async_={"max_lag": 4})
    model = penstock.ray.train(config, num_actors=4, run_dir="runs/actors")
    model = penstock.ray.resume("runs/actors")  # after a stop, or a kill -9 of anything

The envs are dealt to `num_actors` seats, an actor each. An update learns from as many fragments as there are seats, in the order in
which they arrive, whoever they are of: an actor that is slow, stopped or gone holds nobody up. One that dies is started again by Ray and
begins new episodes. The order of arrivals is kept in the run directory, and `replay_order` repeats it to the same bits.
"""

from __future__ import annotations

import collections
import json
import os
import pathlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from penstock_worker.strangers import parse_json, read_text, replace_text

from penstock import _base
from penstock._extras import package
from penstock._torch import _core, torch
from penstock.callbacks import Callback
from penstock.config import Config
from penstock.ppo import PPO

if TYPE_CHECKING:
    import ray

ORDER = "arrivals.jsonl"  # of a run directory: a line for each fragment in the order in which they were taken
MOST_ORDER = 1 << 30  # bytes of that file: months of fragments
INLINE_BYTES = 64 << 10  # weights that travel faster with the call than through the object store
PATIENCE_S = 60.0  # that a checkpoint waits for actors which do not answer
MOST_FAILURES = 5  # of an actor to start, in a row
MOST_IN_FLIGHT = 2  # fragments of an actor that are asked for and not taken


def train(config: Config, num_actors: int = 4, *, env: Any = None, run_dir: str | os.PathLike[str] | None = None,
          total_timesteps: int | None = None, policy: torch.nn.Module | None = None,
          callbacks: list[Callback] | None = None, actor_options: dict[str, Any] | None = None,
          replay_order: str | os.PathLike[str] | None = None, verbose: int = 1) -> PPO:
    """Trains a new run on the Ray cluster that the program is connected to, or on one that it starts on this machine.

    `env` takes the place of the config's: a name, an id, or what makes a Gymnasium env. `actor_options` are Ray's, for each actor: {"num_cpus": 2, "resources": {"simulator": 1}}. `replay_order` is the file of arrivals of an
    earlier run of the same config: with it, this one has the same bits."""
    keys = {} if run_dir is None else {"run.dir": os.fspath(run_dir)}
    model = PPO(env or config.env.id, config=config, policy=policy, verbose=verbose, **keys)
    return _train(model, num_actors, actor_options, replay_order, total_timesteps, callbacks)


def resume(run_dir: str | os.PathLike[str], num_actors: int = 4, *, total_timesteps: int | None = None,
           policy: torch.nn.Module | None = None, env: Any = None, trust: bool = False,
           callbacks: list[Callback] | None = None, actor_options: dict[str, Any] | None = None,
           replay_order: str | os.PathLike[str] | None = None, verbose: int = 1) -> PPO:
    """Goes on with a run of train() from its newest checkpoint, with the same number of actors."""
    model = PPO.load(run_dir, policy=policy, env=env, trust=trust, verbose=verbose)
    return _train(model, num_actors, actor_options, replay_order, total_timesteps, callbacks)


def _train(model: PPO, num_actors: int, actor_options: dict[str, Any] | None,
           replay_order: str | os.PathLike[str] | None, total_timesteps: int | None,
           callbacks: list[Callback] | None) -> PPO:
    lag = model.config.to_dict().get("async.max_lag", 0)
    if lag < 1:
        raise _base.ConfigError(f"algo = {model.config.algo}, async.max_lag = {lag}: actors are always a little behind the learner; "
                                'use Config(algo="appo", async_={"max_lag": 4}), or algo="impala"')
    if num_actors < 1 or model.config.env.num_envs % num_actors:
        raise _base.ConfigError(f"num_actors = {num_actors}: {model.config.env.num_envs} envs cannot be dealt to them equally")
    with Actors(model.config, num_actors, min(lag, MOST_IN_FLIGHT), actor_options or {},
                _read_order(replay_order)) as actors:
        model._carrier = actors
        try:
            model.learn(total_timesteps, callbacks)
        finally:
            model._carrier = None
    return model


class Fragment(NamedTuple):
    """What names a fragment, and the version of the policy that it was sampled by."""

    seat: int
    epoch: int
    number: int
    version: int


def _read_order(path: str | os.PathLike[str] | None) -> list[Fragment] | None:
    if path is None:
        return None
    try:
        return [Fragment(*parse_json(line)) for line in read_text(path, MOST_ORDER).splitlines()]
    except (ValueError, TypeError) as error:
        raise _base.DataError(f"{path}: not an order of arrivals, as a run of penstock.ray keeps it in {ORDER}: {error}") from None


class Seat:
    """What runs in an actor: the sampler of a seat, made when the first fragment of an epoch is asked for."""

    def __init__(self, config: Config, seat: int, num_seats: int):
        self._config, self._seat, self._num_seats = config, seat, num_seats
        self._epoch = -1
        self._sampler: _core.Sampler | None = None
        self._weights: np.ndarray | None = None

    def here(self) -> int:
        """That it lives, and in which process."""
        return os.getpid()

    def fill(self, fragment: Fragment, state: bytes, weights: np.ndarray | None) -> np.ndarray | None:
        """`weights` are those of the fragment before where there are none. None: this process does not know what came before, as
        another had the seat, and died when nobody had asked it for anything."""
        if weights is not None:
            self._weights = weights
        if fragment.epoch != self._epoch:
            if fragment.number > 0 and not state:
                return None
            self._sampler = _core.Sampler(self._config._plan, self._seat, self._num_seats, fragment.epoch)
            if state:
                self._sampler.restore(state)
            self._epoch = fragment.epoch
        assert self._sampler is not None and self._weights is not None
        return self._sampler.fill(self._weights, fragment.version)

    def state(self) -> bytes:
        return self._sampler.state() if self._sampler else b""


class Place:
    """A seat as the learner sees it."""

    def __init__(self) -> None:
        self.actor: Any = None
        self.failures = 0  # to start, in a row
        self.awake = False  # it has answered, and not failed since
        self.epoch = 0
        self.number = 0  # of the next fragment
        self.version = -1  # that it was given last
        self.state = b""  # that its first fragment begins with
        self.in_flight = 0
        self.used = False


class Actors:
    """The carrier of a run: seats that are Ray actors."""

    def __init__(self, config: Config, num_seats: int, most_in_flight: int, options: dict[str, Any],
                 replayed: list[Fragment] | None):
        self._ray = package("ray")
        self.num_seats = num_seats
        self._config = config.copy()
        self._most = most_in_flight
        self._options = options
        self._script = None if replayed is None else collections.deque(replayed)  # what is still to be taken
        self._versions: dict[int, Any] = {}  # weights, or references of them
        self._newest = 0
        self._places: list[Place] = []
        self._pending: dict[Any, tuple[int, Fragment | None]] = {}  # by reference: seat, and what was asked for; None: whether it lives
        self._arrived: collections.deque[tuple[Fragment, Any]] = collections.deque()
        self._order: Any = None
        self._taken = 0
        self.num_lost = 0  # times that an actor had died

    def __enter__(self) -> Actors:
        if not self._ray.is_initialized():
            os.environ.setdefault("RAY_AUTH_MODE", "token")  # its ports are open to the network
            self._ray.init(include_dashboard=False, log_to_driver=False)
        self._make = self._ray.remote(Seat).options(**{"num_cpus": 1, "max_restarts": -1, "max_task_retries": 0} | self._options)
        self._places = [Place() for _ in range(self.num_seats)]
        for seat in range(self.num_seats):
            self._seat(seat)
        return self

    def __exit__(self, *failure: Any) -> None:
        for place in self._places:
            if place.actor is not None:
                self._ray.kill(place.actor)
        self._pending.clear()
        self._versions.clear()
        if self._order is not None:
            self._order.close()

    def keep_order(self, run_dir: pathlib.Path) -> None:
        """Before the first fragment; what a checkpoint does not know of is dropped."""
        path = run_dir / ORDER
        kept = read_text(path, MOST_ORDER).splitlines(keepends=True)[:self._taken] if path.exists() else []
        if len(kept) < self._taken:
            raise _base.DataError(f"{path}: {len(kept)} arrivals, and the checkpoint has seen {self._taken}: the file was cut or exchanged")
        replace_text(path, "".join(kept))
        self._order = path.open("a", buffering=1)

    # What the run calls.

    def publish(self, weights: np.ndarray, version: int) -> None:
        self._newest = version
        self._versions[version] = weights if weights.nbytes < INLINE_BYTES else self._ray.put(weights)
        wanted = {version} if self._script is None else {version, *(fragment.version for fragment in self._script)}
        self._versions = {number: reference for number, reference in self._versions.items() if number in wanted}

    def next(self, wait: float) -> np.ndarray | None:
        end = time.monotonic() + wait
        while (taken := self._take()) is None and wait > 0:
            if self._script is not None and not self._script:
                raise _base.DataError("replay_order: the order ends before the run does")
            self._ask()
            if not self._hear(max(0.0, end - time.monotonic())):
                return None
        return taken

    def save(self) -> list[tuple[int, int, int, bytes]]:
        """Nothing is asked for meanwhile, so what is in flight arrives."""
        end = time.monotonic() + PATIENCE_S
        while any(fragment for _, fragment in self._pending.values()) and self._hear(end - time.monotonic()):
            pass
        asked = {seat: place.actor.state.remote() for seat, place in enumerate(self._places) if place.awake and place.used and not place.in_flight}
        states = []
        for seat, place in enumerate(self._places):
            if not place.used:
                if place.state:
                    states.append((seat, place.epoch, place.number, place.state))
                continue
            try:
                state = self._ray.get(asked[seat], timeout=max(0.0, end - time.monotonic()))
            except (KeyError, self._ray.exceptions.RayError):
                state = b""  # a run that is resumed does without it
            states.append((seat, place.epoch, place.number, state) if state else (seat, place.epoch + 1, 0, state))
        return states

    def load(self, states: list[tuple[int, int, int, bytes]], num_taken: int) -> None:
        self._taken = num_taken
        for seat, epoch, number, state in states:
            place = self._places[seat]
            place.epoch, place.number, place.state = epoch, number, state
        for _ in range(num_taken if self._script is not None else 0):
            self._script.popleft()

    # How it does so.

    def _seat(self, seat: int) -> None:
        """A new actor, which Ray starts when there is room for it."""
        self._places[seat].actor = self._make.remote(self._config, seat, self.num_seats)
        self._call(seat)

    def _call(self, seat: int) -> None:
        """Asks whether the actor lives; Ray answers when it does, however often it has to start it."""
        self._pending[self._places[seat].actor.here.options(max_task_retries=-1).remote()] = (seat, None)

    def _ask(self) -> None:
        for fragment in self._due():
            place = self._places[fragment.seat]
            state = place.state if not place.used else b""
            place.epoch, place.number, place.used = fragment.epoch, fragment.number + 1, True
            weights = None if fragment.version == place.version else self._versions[fragment.version]
            reference = place.actor.fill.remote(fragment, state, weights)
            place.version = fragment.version
            self._pending[reference] = (fragment.seat, fragment)
            place.in_flight += 1

    def _due(self) -> Iterator[Fragment]:
        """What is to be asked for now, oldest first where an order is repeated."""
        if self._script is None:
            for _ in range(self._most):
                for seat, place in enumerate(self._places):
                    if place.awake and place.in_flight < self._most:
                        yield Fragment(seat, place.epoch, place.number, self._newest)
            return
        for fragment in list(self._script):  # without gaps, so that all that has arrived can be taken, before a checkpoint say
            place = self._places[fragment.seat]
            if (fragment.epoch, fragment.number) < (place.epoch, place.number):
                continue  # asked for
            if not place.awake or place.in_flight == self._most or fragment.version not in self._versions:
                return
            yield fragment

    def _hear(self, wait: float) -> bool:
        """Takes up an answer; False when there was none."""
        if not self._pending:
            time.sleep(min(wait, 0.01))
            return False
        heads = {seat: reference for reference, (seat, _) in reversed(self._pending.items())}  # a seat's answers come in their order
        ready, _ = self._ray.wait(list(heads.values()), num_returns=1, timeout=max(0.0, wait))
        for reference in ready:
            seat, fragment = self._pending.pop(reference)
            place = self._places[seat]
            try:
                answer = self._ray.get(reference)
            except self._ray.exceptions.RayTaskError as error:  # its code failed, not the actor
                raise error.as_instanceof_cause() from None
            except self._ray.exceptions.RayError as error:
                if fragment is None:
                    self._seat_anew(seat, error)
                else:
                    self._lose(seat, str(error))
                continue
            if fragment is None:
                place.awake, place.failures = True, 0
            elif answer is None:
                self._lose(seat, "it was started again meanwhile")
            else:
                place.in_flight -= 1
                self._arrived.append((fragment, answer))
        return bool(ready)

    def _lose(self, seat: int, why: str) -> None:
        """What the actor held is gone; who takes the seat begins anew."""
        place = self._places[seat]
        self._pending = {reference: asked for reference, asked in self._pending.items() if asked[0] != seat}
        self.num_lost += 1
        if self._script is not None:
            raise _base.Error(f"an actor died while an order was repeated: {why}")
        place.awake, place.in_flight, place.version = False, 0, -1
        if place.used:
            place.epoch, place.number, place.state = place.epoch + 1, 0, b""
        self._call(seat)

    def _seat_anew(self, seat: int, error: Exception) -> None:
        """Ray has given the actor up: somebody has ended it for good, or it cannot start."""
        place = self._places[seat]
        place.failures += 1
        if place.failures == MOST_FAILURES:
            raise _base.Error(f"the actor of seat {seat} does not start: {error}")
        self._seat(seat)

    def _take(self) -> np.ndarray | None:
        """The next fragment that has arrived; of an order, that one and no other."""
        if self._script is not None:
            for i, (fragment, _) in enumerate(self._arrived):
                if fragment == self._script[0]:
                    self._arrived.rotate(-i)
                    self._script.popleft()
                    break
            else:
                return None
        if not self._arrived:
            return None
        fragment, message = self._arrived.popleft()
        self._taken += 1
        self._order.write(json.dumps(list(fragment)) + "\n")
        return message
