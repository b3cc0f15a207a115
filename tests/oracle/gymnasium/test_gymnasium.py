"""Our classic control envs against Gymnasium's, 10,000 steps per case.

Gymnasium plays; its states, actions and results are recorded. env_replay (the variable ENV_REPLAY
names the program) then plays the same actions: from Gymnasium's state before every single step
("one step"), and from Gymnasium's state at the start of an episode ("free-running").
"""

import os
import subprocess
from dataclasses import dataclass, field

import pytest

np = pytest.importorskip("numpy")
gym = pytest.importorskip("gymnasium", reason="gymnasium is not installed: no oracle to ask")

NUM_STEPS = 10_000
SEED = 20240501

# States after one step from the same state. Measured over 20 seeds: mountain_car and pendulum equal
# bit for bit, cartpole 4.4e-16, acrobot 1.8e-15. What is left is the last bit of sin and cos (a
# series, libm, numpy), which another libm may round differently.
ONE_STEP = 1e-14

# Observations and rewards are single precision here, and rewards are double in Gymnasium: one
# rounding, half an ulp, which we allow twice. Measured: observations equal, rewards 2**-24.
FLOAT32 = 2.0**-23


@dataclass(frozen=True)
class Case:
    """`horizon`: free-running goes back to Gymnasium's state after that many steps; None: never
    within an episode. `tolerance`: of the state within the horizon."""

    name: str
    gym_id: str
    policy: object
    tolerance: float
    horizon: int | None = None
    terminates: bool = False


@dataclass
class Record:
    """What Gymnasium did; one row per step."""

    starts: list = field(default_factory=list)  # the steps at which episodes begin
    before: list = field(default_factory=list)
    action: list = field(default_factory=list)
    after: list = field(default_factory=list)
    obs: list = field(default_factory=list)
    reward: list = field(default_factory=list)
    terminated: list = field(default_factory=list)


def at_random(env, state, rng):
    del state, rng
    return env.action_space.sample()


def balance(env, state, rng):
    """Push under the pole, now and then at random: episodes of 500 steps."""
    lean = state[2] + 0.3 * state[3] + 0.02 * state[0] + 0.05 * state[1]
    return at_random(env, state, rng) if rng.random() < 0.1 else int(lean > 0)


def pump(env, state, rng):
    """Push the way the car moves: it gains energy and reaches the flag."""
    return at_random(env, state, rng) if rng.random() < 0.1 else (2 if state[1] > 0 else 0)


def pump_arm(env, state, rng):
    """Bend against the swing of the first link: the arm gets up in about 90 steps."""
    return at_random(env, state, rng) if rng.random() < 0.1 else (0 if state[2] > 0 else 2)


# The last bit of a sine grows where the motion is unstable, whoever computes it; the horizons keep
# the comparison sharp. Worst difference of a state over 20 seeds, by horizon:
#
#                        20       50       100      200      whole episode
#   cartpole random                                          6.0e-15  (22 steps on average)
#   cartpole balanced    3.9e-16  2.7e-15  1.2e-13  2.5e-10  2.2       (500 steps)
#   acrobot random       4.3e-14  1.2e-12  3.9e-12  3.9e-12  3.7e-6    (500 steps)
#   acrobot pumped       7.8e-14  1.2e-12  6.3e-12  6.5e-5   8.0e-2    (95 steps on average)
#   mountain_car, pendulum                                   0
#
# An upright pole under recorded actions is an open loop: a difference grows by
# exp(sqrt(g / (l (4/3 - m_pole / m_total))) dt), 1.08 a step, 3000 times in 100 steps, 1e17 in 500.
# A fast acrobot is chaotic. So both are set back to Gymnasium's state after 100 and 50 steps, and
# the bounds are about a hundred to a thousand times the worst measured. Where 0 was measured the
# bound leaves room for a libm that is not the one Gymnasium uses.
CASES = {
    "cartpole random": Case("cartpole", "CartPole-v1", at_random, 1e-12, terminates=True),
    "cartpole balanced": Case("cartpole", "CartPole-v1", balance, 1e-10, horizon=100),
    "mountain_car random": Case("mountain_car", "MountainCar-v0", at_random, 1e-12),
    "mountain_car pumped": Case("mountain_car", "MountainCar-v0", pump, 1e-12, terminates=True),
    "acrobot random": Case("acrobot", "Acrobot-v1", at_random, 1e-9, horizon=50),
    "acrobot pumped": Case("acrobot", "Acrobot-v1", pump_arm, 1e-9, horizon=50, terminates=True),
    "pendulum random": Case("pendulum", "Pendulum-v1", at_random, 1e-9),
}


def play(gym_id, policy, seed):
    env = gym.make(gym_id)
    env.action_space.seed(seed)
    rng = np.random.default_rng(seed)
    record = Record()
    env.reset(seed=seed)
    record.starts.append(0)
    for step in range(NUM_STEPS):
        before = np.array(env.unwrapped.state, dtype=np.float64)
        action = policy(env, before, rng)
        obs, reward, terminated, truncated, _ = env.step(action)
        record.before.append(before)
        record.action.append(float(np.asarray(action).reshape(-1)[0]))
        record.after.append(np.array(env.unwrapped.state, dtype=np.float64))
        record.obs.append(obs)
        record.reward.append(reward)
        record.terminated.append(terminated)
        if (terminated or truncated) and step + 1 < NUM_STEPS:
            env.reset()
            record.starts.append(step + 1)
    return record


def pieces(record, horizon=None):
    """(state, actions) of each episode, cut after every `horizon` steps."""
    for begin, end in zip(record.starts, record.starts[1:] + [NUM_STEPS]):
        length = horizon or end - begin
        for first in range(begin, end, length):
            yield record.before[first], record.action[first : min(first + length, end)]


def replay(name, episodes, tmp_path):
    """The helper's answer: max_episode_steps and [steps, columns]."""
    numbers = [np.concatenate([[len(actions)], state, actions]) for state, actions in episodes]
    np.concatenate(numbers).tofile(tmp_path / "in")
    helper = os.environ["ENV_REPLAY"]
    subprocess.run([helper, name, tmp_path / "in", tmp_path / "out"], check=True, timeout=60)
    out = np.fromfile(tmp_path / "out")
    return out[0], out[1:].reshape(NUM_STEPS, -1)


def split(rows, record):
    """States, observations, rewards, terminations."""
    num_state, num_obs = len(record.before[0]), len(record.obs[0])
    states, obs, reward, terminated = np.split(
        rows, [num_state, num_state + num_obs, num_state + num_obs + 1], axis=1
    )
    return states, obs, reward[:, 0], terminated[:, 0].astype(bool)


def compare(rows, record, tolerance):
    states, obs, reward, terminated = split(rows, record)
    np.testing.assert_allclose(states, record.after, rtol=0, atol=tolerance)
    np.testing.assert_allclose(obs, record.obs, rtol=FLOAT32, atol=tolerance)
    np.testing.assert_allclose(reward, record.reward, rtol=FLOAT32, atol=tolerance)
    np.testing.assert_array_equal(terminated, record.terminated)


@pytest.fixture(scope="module", params=CASES)
def played(request):
    case = CASES[request.param]
    return case, play(case.gym_id, case.policy, SEED)


def test_one_step(played, tmp_path):
    case, record = played
    _, rows = replay(case.name, pieces(record, horizon=1), tmp_path)
    compare(rows, record, ONE_STEP)


def test_free_running(played, tmp_path):
    case, record = played
    _, rows = replay(case.name, pieces(record, case.horizon), tmp_path)
    compare(rows, record, case.tolerance)


def test_the_record_covers_resets_and_ends(played):
    case, record = played
    assert len(record.starts) > 15
    assert any(record.terminated) or not case.terminates


def test_limit(played, tmp_path):
    case, record = played
    limit, _ = replay(case.name, pieces(record), tmp_path)
    assert limit == gym.spec(case.gym_id).max_episode_steps
