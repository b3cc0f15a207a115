"""Termination, truncation and the three autoreset modes, against numbers worked out by hand.

identity: the row shows a class, naming it pays 1; truncated after max_steps.
bandit, no noise: arm a of 10 pays 1 - |a - 3| / 10; terminated at once.
multi: terminated after `length` steps when every digit was copied.
"""

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import penstock

MODES = list(AutoresetMode)
SAME, NEXT, OFF = AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED


def identity(mode, num_envs=1, **keys):
    envs = penstock.VectorEnv("identity", num_envs, max_steps=3, autoreset_mode=mode, **keys)
    obs, infos = envs.reset(seed=4)
    assert infos == {}
    return envs, obs


def right(obs):
    return obs.argmax(axis=1)


def wrong(obs):
    return (obs.argmax(axis=1) + 1) % 4


def first_rows(count):
    """The first row of each of an env's episodes, from the mode where that is plain."""
    envs, obs = identity(SAME)
    rows = [obs]
    while len(rows) < count:
        obs, _, _, truncated, _ = envs.step(right(obs))
        if truncated[0]:
            rows.append(obs)
    return rows


def test_same_step():
    envs, obs = identity(SAME)
    obs, reward, terminated, truncated, infos = envs.step(right(obs))
    assert (reward[0], terminated[0], truncated[0], infos) == (1, False, False, {})
    obs, reward, terminated, truncated, infos = envs.step(wrong(obs))
    assert (reward[0], terminated[0], truncated[0], infos) == (0, False, False, {})
    last = obs
    obs, reward, terminated, truncated, infos = envs.step(right(obs))
    assert (reward[0], terminated[0], truncated[0]) == (1, False, True)
    assert infos["episode"]["r"][0] == 2 and infos["episode"]["l"][0] == 3 and infos["_episode"][0]
    assert 0 < infos["episode"]["t"][0] < 60
    assert np.array_equal(obs, first_rows(2)[1])  # the next episode's
    final = infos["final_obs"][0]
    assert infos["final_obs"].dtype == object and infos["_final_obs"][0]
    assert final.sum() == 1 and final.shape == last[0].shape
    assert infos["final_info"]["episode"]["r"][0] == 2 and infos["_final_info"][0]
    obs, reward, terminated, truncated, infos = envs.step(right(obs))  # a live step of the next episode
    assert (reward[0], terminated[0], truncated[0], infos) == (1, False, False, {})


def test_next_step():
    envs, obs = identity(NEXT)
    for action in (right, wrong):
        obs = envs.step(action(obs))[0]
    obs, reward, terminated, truncated, infos = envs.step(right(obs))
    assert (reward[0], terminated[0], truncated[0]) == (1, False, True)
    assert infos["episode"]["r"][0] == 2 and infos["episode"]["l"][0] == 3
    assert "final_obs" not in infos and "final_info" not in infos  # obs is the last row itself
    dead = envs.step(wrong(obs))  # the action is ignored
    assert (dead[1][0], dead[2][0], dead[3][0], dead[4]) == (0, False, False, {})
    assert np.array_equal(dead[0], first_rows(2)[1])
    obs = dead[0]
    rewards = []
    for _ in range(3):
        obs, reward, _, truncated, infos = envs.step(right(obs))
        rewards.append(reward[0])
    assert rewards == [1, 1, 1] and truncated[0]
    assert infos["episode"]["r"][0] == 3 and infos["episode"]["l"][0] == 3  # the dead step counts nowhere


def test_disabled():
    envs, obs = identity(OFF, num_envs=2)
    for _ in range(3):
        obs, reward, _, truncated, infos = envs.step(right(obs))
    assert truncated.all() and infos["episode"]["r"].tolist() == [3, 3]
    with pytest.raises(penstock.UsageError, match="env 0: its episode has ended.*reset_mask"):
        envs.step(right(obs))
    before = obs.copy()
    obs, _ = envs.reset(options={"reset_mask": np.array([False, True])})
    assert np.array_equal(obs[0], before[0])  # left alone
    with pytest.raises(penstock.UsageError, match="env 0"):
        envs.step(right(obs))
    obs, _ = envs.reset(options={"reset_mask": np.array([True, False])})
    assert np.array_equal(obs[:1], first_rows(2)[1])
    obs, reward, _, truncated, _ = envs.step(right(obs))
    assert reward.tolist() == [1, 1] and not truncated.any()
    for mask in ([True, False], np.array([1, 0]), np.zeros(2, dtype=bool), np.ones(3, dtype=bool)):
        with pytest.raises(penstock.UsageError, match="reset_mask"):
            envs.reset(options={"reset_mask": mask})


def test_a_mask_resets_a_running_episode_too():
    envs, obs = identity(SAME, num_envs=2)
    envs.step(right(obs))
    again, _ = envs.reset(seed=[9, 9], options={"reset_mask": np.array([True, False])})
    assert np.array_equal(again[0], penstock.VectorEnv("identity", 1).reset(seed=9)[0][0])
    for _ in range(2):
        obs, _, _, truncated, infos = envs.step(right(again))
        again = obs
    assert truncated.tolist() == [False, True]  # env 1 had a step more
    assert infos["_episode"].tolist() == [False, True] and infos["episode"]["l"].tolist() == [0, 3]
    assert infos["final_obs"][0] is None and infos["final_obs"][1] is not None


def test_statistics_are_zero_where_no_episode_ended():
    envs = penstock.VectorEnv("masked", 2, autoreset_mode=SAME, copy=False)
    obs, infos = envs.reset(seed=0)
    for illegal in (0, 1, 0):  # one env after the other ends by an illegal action
        actions = (infos["action_mask"] * obs["hint"]).argmax(axis=1)
        actions[illegal] = infos["action_mask"][illegal].argmin()
        obs, _, terminated, _, infos = envs.step(actions)
        other = 1 - illegal
        assert terminated[illegal] and not terminated[other]
        assert infos["episode"]["l"][other] == infos["episode"]["r"][other] == infos["episode"]["t"][other] == 0
        assert infos["episode"]["l"][illegal] >= 1
        assert infos["final_obs"][other] is None and infos["final_obs"][illegal] is not None


@pytest.mark.parametrize("mode", [NEXT, OFF])
def test_every_action_is_legal_where_none_matters(mode):
    envs = penstock.VectorEnv("masked", 1, autoreset_mode=mode)
    _, infos = envs.reset(seed=0)
    ending = envs.step(infos["action_mask"].argmin(axis=1))
    assert ending[2][0] and ending[4]["action_mask"].all()
    if mode is NEXT:
        _, _, _, _, infos = envs.step(np.array([7]))  # whatever it is
    else:
        _, infos = envs.reset(options={"reset_mask": np.array([True])})
    same = penstock.VectorEnv("masked", 1)
    _, first = same.reset(seed=0)
    _, _, _, _, expected = same.step(first["action_mask"].argmin(axis=1))
    assert np.array_equal(infos["action_mask"], expected["action_mask"]) and not infos["action_mask"].all()


@pytest.mark.parametrize("mode", MODES)
def test_termination_and_its_returns(mode):
    envs = penstock.VectorEnv("bandit", 4, noise=0.0, autoreset_mode=mode)
    envs.reset(seed=0)
    obs, reward, terminated, truncated, infos = envs.step(np.array([3, 0, 9, 4]))
    assert np.allclose(reward, [1.0, 0.7, 0.4, 0.9], atol=1e-6)
    assert terminated.all() and not truncated.any()
    assert np.allclose(infos["episode"]["r"], reward) and infos["episode"]["l"].tolist() == [1] * 4
    if mode is OFF:
        envs.reset(options={"reset_mask": np.ones(4, dtype=bool)})
    reward, terminated = envs.step(np.array([3, 3, 3, 3]))[1:3]
    assert reward.tolist() == ([0] * 4 if mode is NEXT else [1] * 4)
    assert terminated.all() == (mode is not NEXT)


def test_terminated_and_truncated_can_come_together():
    """A pole held over max_steps and falling in that very step."""
    probe = penstock.VectorEnv("cartpole", 1)
    probe.reset(seed=0)
    steps = 0
    while not probe.step(np.array([1]))[2][0]:
        steps += 1
    envs = penstock.VectorEnv("cartpole", 1, max_steps=steps + 1)
    envs.reset(seed=0)
    for _ in range(steps):
        assert not any(flag.any() for flag in envs.step(np.array([1]))[2:4])
    _, _, terminated, truncated, infos = envs.step(np.array([1]))
    assert terminated[0] and truncated[0] and infos["episode"]["l"][0] == steps + 1


def episodes(mode, env, steps, **keys):
    """Every env's episodes as lists of (row, action, reward, ended) without dead steps."""
    envs = penstock.VectorEnv(env, 5, autoreset_mode=mode, **keys)
    obs, _ = envs.reset(seed=1)
    found, running, dead = [[] for _ in range(5)], [[] for _ in range(5)], np.zeros(5, dtype=bool)
    for _ in range(steps):
        # A function of the env's own row, so that modes meet the same actions.
        actions = (np.abs(obs[:, 0] * 1e4).astype(np.int64) + 1) % 2
        rows, (obs, reward, terminated, truncated, infos) = obs, envs.step(actions)
        ended = terminated | truncated
        for i in np.flatnonzero(~dead):
            running[i].append((rows[i].tolist(), int(actions[i]), reward[i], bool(terminated[i]), bool(truncated[i])))
            if ended[i]:
                final = infos["final_obs"][i] if mode is SAME else obs[i]
                found[i].append((running[i], final.tolist(), infos["episode"]["r"][i], infos["episode"]["l"][i]))
                running[i] = []
        dead = ended & (mode is NEXT)
        if mode is OFF and ended.any():
            obs, _ = envs.reset(options={"reset_mask": ended})
    return found


def test_every_mode_goes_through_the_same_episodes():
    traces = [episodes(mode, "cartpole", 150, max_steps=12) for mode in MODES]
    for i in range(5):
        count = min(len(trace[i]) for trace in traces)
        assert count >= 8
        assert traces[0][i][:count] == traces[1][i][:count] == traces[2][i][:count]
        assert all(length == len(steps) and total == len(steps) for steps, _, total, length in traces[0][i])
    kinds = {steps[-1][3:] for trace in traces[0] for steps, _, _, _ in trace}
    assert kinds >= {(True, False), (False, True)}  # poles fell, and were held for long enough
