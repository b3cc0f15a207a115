"""The checks of penstock_worker.check, one after the other. "failed" is what training refuses, or counts as a failure
of the env; "warning" is what it takes, though it is hardly meant so."""

from __future__ import annotations

import gc
import os
import tempfile
import time
from collections.abc import Callable, MutableSequence
from typing import Any

import gymnasium

from penstock_worker import contract, state
from penstock_worker.play import LEAST_STEPS, Cost, Failure, Part, Player, again, blame, first_part

MOST_STEPS = 10_000  # after which an episode counts as endless
SEVERAL = 4  # envs whose memory is measured
BRIEF_US = 20.0  # a step that is shorter is not worth handing to another process

Tell = Callable[[dict[str, Any]], Any]
Make = Callable[[], Any]


class Examination:
    """Tells {"doing": name}, {"check": {"name", "result", "text"}} and {"measured": {...}} as it goes. `make` makes an
    env; or `env` is one, and what needs a second one is left out. The number of the step is left in `steps`."""

    def __init__(self, tell: Tell, seconds: float, steps: MutableSequence[int], make: Make | None = None,
                 env: Any = None):
        self.tell, self.seconds, self.steps = tell, seconds, steps
        self.make, self.env = make, env
        self.made: list[Any] = []

    def run(self) -> None:
        try:
            self._look()
        except Failure as failure:
            self._found(failure.name, "failed", str(failure))

    def _look(self) -> None:
        player = self._first()
        other = None if self.make is None else self._second()
        self._seeds(player, other or player)
        self._determinism(player, other)
        self._play(player)
        self._state(player, other)
        self._step_cost(player)
        if self.make is not None:
            self._memory()
            self._close()
        self._parallel(player.step_cost)

    def _found(self, name: str, result: str, text: str) -> None:
        self.tell({"check": {"name": name, "result": result, "text": text}})

    def _doing(self, name: str) -> None:
        self.steps[0] = 0
        self.tell({"doing": name})

    def _judged(self, name: str, remarks: list[str], text: str) -> None:
        self._found(name, "warning" if remarks else "ok", "; ".join(remarks) or text)

    def _made(self) -> Any:
        self.made.append(contract.env_of(self.env if self.make is None else self.make()))
        return self.made[-1]

    def _first(self) -> Player:
        self._doing("make")
        with blame("make"):
            env = self._made()
        self._found("make", "ok", type(env.unwrapped).__name__)
        self._doing("reset")
        player = Player(env, self.steps)
        self._judged("spaces", player.codec.action_remarks(), f"observations {env.observation_space}, actions "
                                                              f"{env.action_space}")
        player.begin(1)
        self._found("reset", "ok", "takes a seed, returns an observation and an info")
        return player

    def _second(self) -> Player:
        self._doing("second env")
        try:
            with blame("second env"):
                player = Player(self._made(), self.steps)
        except Failure as failure:
            raise Failure("second env", f"beside a first one in the same process: {failure}; share nothing between "
                                        "envs, or give each a process of its own: env.envs_per_worker = 1") from failure
        player.begin(1)
        self._found("second env", "ok", "can be made beside the first")
        return player

    def _seeds(self, player: Player, other: Player) -> None:
        self._doing("seeds")
        first, second = player.begin(7), other.begin(7)
        same = not first.difference(second)
        alike = first.row == player.begin(8).row
        other.begin(8)  # what the one has seen, the other has too
        remark = ("reset(seed=7) gave two observations: begin it with super().reset(seed=seed) and draw all random "
                  "numbers from self.np_random; as it is, no run can be repeated")
        text = "the same seed begins in the same way" + (", and so do others: no chance in it" if alike else "")
        self._judged("seeds", [] if same else [remark], text)

    def _determinism(self, player: Player, other: Player | None) -> None:
        """Two new envs, and then one of them a second time."""
        self._doing("determinism")
        part = first_part(player, 11, self.seconds / 4)
        remarks = []
        if other is not None and (found := part.difference(again(other, 11, part.actions))):
            remarks = [f"{found} differs between two envs with the same seed and actions: draw random numbers from "
                       "self.np_random only, share nothing between envs; as it is, no run can be repeated, resumed or "
                       "replayed exactly"]
        elif not state.layers(player.env) and (found := part.difference(again(player, 11, part.actions))):
            remarks = [f"{found} differs when an env plays an episode again: it or a wrapper keeps something over "
                       "episodes, so no run is resumed exactly; clear it in reset(), use normalise.obs and "
                       "normalise.reward for NormalizeObservation and NormalizeReward, or write get_state() and "
                       "set_state(state)"]
        self._judged("determinism", remarks, f"the same seed and {len(part.actions)} actions give the same episode")

    def _play(self, player: Player) -> None:
        """Random episodes; what was seen by then of steps, observations, masks and ends."""
        self._doing("step")
        lengths = self._lengths(player)
        self._found("step", "ok", f"{player.step_cost.calls} steps with finite rewards")
        self._judged("observations", list(player.obs_remarks), "lie in their space")
        self._judged("masks", list(player.mask_remarks),
                     "always a legal action" if player.codec.masked else "none: all actions are always legal")
        self._ends(player, lengths)

    def _lengths(self, player: Player) -> list[int]:
        """Steps of random episodes, the last of which did not end."""
        begun, seed, lengths = time.monotonic(), 100, [0]
        seen = player.begin(seed)
        while True:
            spent = time.monotonic() - begun
            enough = spent > self.seconds and (len(lengths) > 1 or spent > 3 * self.seconds or lengths[0] >= MOST_STEPS)
            if enough and lengths[-1] >= LEAST_STEPS:
                return lengths
            seen = player.step(player.random_action(seen))
            lengths[-1] += 1
            if seen.terminated or seen.truncated:
                seed += 1
                lengths.append(0)
                seen = player.begin(seed)

    def _ends(self, player: Player, lengths: list[int]) -> None:
        limit = limit_of(player.env)
        if len(lengths) > 1:
            mean = sum(lengths[:-1]) / (len(lengths) - 1)
            self._found("episodes end", "ok", f"after {mean:.4g} random steps in the mean of {len(lengths) - 1}")
        elif limit is not None:
            self._found("episodes end", "ok", f"by the limit of {limit} steps at the latest")
        else:
            self._found("episodes end", "warning", f"none within {lengths[0]} random steps: returns are known only "
                        "when episodes end, and an evaluation would go on for ever; wrap it with "
                        "gymnasium.wrappers.TimeLimit(env, steps), or look longer: --seconds")

    def _state(self, player: Player, other: Player | None) -> None:
        """As a run is resumed: the actions are taken again, and the state is brought back after them."""
        if not state.layers(player.env):
            return
        self._doing("state")
        part = first_part(player, 13, self.seconds / 4)
        half = len(part.actions) // 2
        with blame("state"), tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "state")
            one = again(player, 13, part.actions[:half])
            state.keep(player.env, path)
            one.seen.extend(player.step(action) for action in part.actions[half:])
            brought = other or player
            two = again(brought, 13, part.actions[:half])
            state.bring_back(brought.env, path)
            two.seen.extend(brought.step(action) for action in part.actions[half:])
            after = Part(part.actions, one.seen[half + 1:]).difference(Part(part.actions, two.seen[half + 1:]))
        if after:
            raise Failure("state", "after set_state(get_state()) the episode goes on differently; have get_state() "
                                   "return all that changes, and set_state() copy it back")
        self._found("state", "ok", "get_state() and set_state() bring an env back in mid-episode")

    def _step_cost(self, player: Player) -> None:
        step, reset = player.step_cost, player.reset_cost
        self.tell({"measured": {"step_us": round(step.mean_us, 2), "cpu_share": round(step.cpu_share, 3)}})
        busy = min(step.cpu_share, 1.0)
        text = (f"{brief(step.mean_us)} µs a step, {brief(busy * step.mean_us)} of it computing and "
                f"{brief((1 - busy) * step.mean_us)} waiting; {brief(reset.mean_us)} µs a reset")
        if step.cpu_share > 1.5:
            text += f"; it keeps {step.cpu_share:.1f} cores busy: OMP_NUM_THREADS=1 may help"
        self._found("step cost", "ok", text)

    def _memory(self) -> None:
        self._doing("memory")
        gc.collect()
        before, begun, count = resident_mb(), time.monotonic(), 0
        with blame("memory"):
            while count < SEVERAL and (count == 0 or time.monotonic() - begun < self.seconds):
                contract.begin(self._made(), count)
                count += 1
        each = max(0.0, resident_mb() - before) / count
        self.tell({"measured": {"memory_mb": round(each, 3)}})
        self._found("memory", "ok", f"{brief(each)} MB for each further env, {before:.0f} MB for the process")

    def _close(self) -> None:
        self._doing("close")
        with blame("close"):
            for env in self.made:
                env.close()
        self._found("close", "ok", f"{len(self.made)} envs, one after the other")

    def _parallel(self, cost: Cost) -> None:
        self._found("parallel", "ok", advice(cost.mean_us, cost.cpu_share, len(os.sched_getaffinity(0))))


def limit_of(env: Any) -> int | None:
    """Steps after which a wrapper ends an episode."""
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, gymnasium.wrappers.TimeLimit):
            return env._max_episode_steps
        env = env.env
    return None


def resident_mb() -> float:
    """What this process holds in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def brief(number: float) -> str:
    return f"{number:.0f}" if number >= 100 else f"{number:.1f}"


def advice(step_us: float, cpu_share: float, cores: int) -> str:
    """Whether worker processes pay."""
    if step_us < BRIEF_US:
        return (f"a step of less than {BRIEF_US:g} µs hardly pays a worker process: stay in this one, num_workers = 0, "
                "and take many envs")
    if cpu_share >= 0.5:
        return f"steps compute: as many workers as cores, num_workers = {cores} here; more gain nothing"
    return (f"steps wait: 2 to 4 workers for each core, num_workers = {2 * cores} to {4 * cores} here, with at least "
            "as many envs")
