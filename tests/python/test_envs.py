"""The native envs behind Gymnasium's interfaces."""

import threading
import time
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import penstock
from penstock import _base
from penstock.envs import gym_id

IDS = [gym_id(name, doc) for name, doc in _base.envs()]


def play(envs, steps, seed=0):
    """Random legal actions; what came back, step by step, with copies."""
    envs.action_space.seed(seed)
    return [envs.step(envs.action_space.sample()) for _ in range(steps)]


def test_ids_come_from_the_catalog():
    assert {"Penstock/CartPole-v1", "Penstock/Acrobot-v1", "Penstock/MountainCar-v0", "Penstock/Pendulum-v1",
            "Penstock/Identity-v0", "Penstock/Masked-v0"} <= set(IDS)
    assert len(IDS) == len(penstock.env_names()) and set(IDS) <= set(gymnasium.registry)


@pytest.mark.parametrize("env_id", IDS)
def test_the_checker_of_gymnasium_passes(env_id):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # boxes without bounds, which it finds unusual
        check_env(gymnasium.make(env_id).unwrapped)


@pytest.mark.parametrize("env_id", IDS)
def test_shapes_and_types(env_id):
    envs = gymnasium.make_vec(env_id, num_envs=3)
    assert isinstance(envs, penstock.VectorEnv) and envs.num_envs == 3
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    obs, infos = envs.reset(seed=1)
    assert envs.observation_space.contains(obs)
    for obs, reward, terminated, truncated, infos in play(envs, 40):
        assert envs.observation_space.contains(obs)
        assert (reward.dtype, reward.shape) == (np.float64, (3,))
        for flags in (terminated, truncated):
            assert (flags.dtype, flags.shape) == (np.bool_, (3,))
        for key in infos:
            assert key.startswith("_") or infos["_" + key].dtype == np.bool_
    envs.close()
    assert envs.closed


def test_an_int_seed_is_seed_plus_i_and_an_env_does_not_know_its_neighbours():
    batch = penstock.VectorEnv("cartpole", 4, max_steps=7)
    alone = [penstock.VectorEnv("cartpole", 1, max_steps=7) for _ in range(4)]
    rows, _ = batch.reset(seed=10)
    singles = np.concatenate([env.reset(seed=10 + i)[0] for i, env in enumerate(alone)])
    assert np.array_equal(rows, singles)
    assert len(np.unique(rows[:, 0])) == 4
    for step in range(60):  # many episodes
        actions = np.random.default_rng(step).integers(2, size=4)
        batched = batch.step(actions)
        single = [env.step(actions[i:i + 1]) for i, env in enumerate(alone)]
        for k in range(4):
            assert np.array_equal(batched[k], np.concatenate([one[k] for one in single])), (step, k)


def test_lists_of_seeds():
    envs = penstock.VectorEnv("cartpole", 3)
    first, _ = envs.reset(seed=[5, 6, 7])
    assert np.array_equal(first, envs.reset(seed=5)[0])
    going_on, _ = envs.reset(seed=[5, None, 7])
    assert np.array_equal(going_on[[0, 2]], first[[0, 2]]) and not np.array_equal(going_on[1], first[1])
    other = penstock.VectorEnv("cartpole", 3)
    assert not np.array_equal(other.reset()[0], envs.reset()[0])  # seeded at random
    for wrong in ([1, 2], [1, 2, -3], -1):
        with pytest.raises(penstock.UsageError, match="seed"):
            envs.reset(seed=wrong)


@pytest.mark.parametrize("env", ["cartpole", "masked", "pendulum", "multi"])
def test_threads_change_nothing(env):
    def trace(num_threads):
        envs = penstock.VectorEnv(env, 37, num_threads=num_threads)
        envs.reset(seed=3)
        return play(envs, 50)

    for one, two in zip(trace(1), trace(3), strict=True):
        if isinstance(one[0], dict):
            assert all(np.array_equal(one[0][name], two[0][name]) for name in one[0])
        else:
            assert np.array_equal(one[0], two[0])
        assert all(np.array_equal(one[k], two[k]) for k in (1, 2, 3))


def test_copies_by_default_and_views_on_demand():
    copies = penstock.VectorEnv("cartpole", 2)
    obs, _ = copies.reset(seed=0)
    before = obs.copy()
    after = copies.step(np.array([0, 1]))[0]
    assert np.array_equal(obs, before) and not np.shares_memory(obs, after)

    views = penstock.VectorEnv("cartpole", 2, copy=False)
    obs, _ = views.reset(seed=0)
    stepped = views.step(np.array([0, 1]))
    assert obs is stepped[0] and np.array_equal(obs, after)
    again = views.step(np.array([0, 1]))
    assert all(again[k] is stepped[k] for k in range(4))


def test_views_outlive_the_env():
    envs = penstock.VectorEnv("cartpole", 2, copy=False)
    obs, _ = envs.reset(seed=0)
    before = obs.copy()
    del envs
    assert np.array_equal(obs, before)


def test_named_parts_are_a_dict_of_views():
    envs = penstock.VectorEnv("multi", 5, copy=False)
    assert isinstance(envs.single_observation_space, gymnasium.spaces.Dict)
    obs, _ = envs.reset(seed=0)
    assert {name: part.shape for name, part in obs.items()} == {"first": (5, 3), "second": (5, 2), "third": (5, 4)}
    row = envs._arrays["obs"]
    assert all(np.shares_memory(part, row) for part in obs.values())
    assert np.array_equal(np.concatenate([obs["first"], obs["second"], obs["third"]], axis=1), row)
    assert all((part.sum(axis=1) == 1).all() for part in obs.values())  # one-hot


def test_masks_are_in_the_infos():
    envs = penstock.VectorEnv("masked", 6)
    obs, infos = envs.reset(seed=0)
    for _ in range(20):
        mask = infos["action_mask"]
        assert mask.shape == (6, 8) and mask.dtype == np.int8 and infos["_action_mask"].all()
        assert np.array_equal(mask.astype(bool), envs.action_masks())
        legal = (mask * obs["hint"]).argmax(axis=1)  # the marked action that is legal pays 1
        obs, reward, terminated, _, infos = envs.step(legal)
        assert (reward == 1).all() and not terminated.any()
    illegal = (infos["action_mask"] == 0).argmax(axis=1)
    _, reward, terminated, _, _ = envs.step(illegal)
    assert (reward == -1).all() and terminated.all()
    single = envs.single_action_space
    assert infos["action_mask"][0][single.sample(mask=infos["action_mask"][0])]  # as Gymnasium wants masks


def test_actions_are_checked():
    envs = penstock.VectorEnv("cartpole", 3)
    envs.reset(seed=0)
    before = envs._arrays["obs"].copy()
    for wrong, words in [([0, 1, 2], "env 2: action 2 is not one of 0 to 1"), ([0, -1, 0], "env 1: action -1"),
                         ([0, 1], r"\[2\], expected \[3\]"), ([0.0, 1.0, 1.0], "whole numbers")]:
        with pytest.raises(penstock.UsageError, match=words):
            envs.step(np.array(wrong))
    assert np.array_equal(envs._arrays["obs"], before)  # nothing moved
    envs.step([0, 1, 0])  # lists and other integers are fine
    envs.step(np.array([0, 1, 0], dtype=np.int32))

    box = penstock.VectorEnv("pendulum", 2)
    box.reset(seed=0)
    with pytest.raises(penstock.UsageError, match="env 1: the action is not a number"):
        box.step(np.array([[0.0], [np.nan]]))
    inside = penstock.VectorEnv("pendulum", 2)
    inside.reset(seed=0)
    assert np.array_equal(box.step(np.array([[5.0], [-5.0]]))[0], inside.step(np.array([[2.0], [-2.0]]))[0])


def test_env_keys_are_keywords():
    envs = gymnasium.make_vec("Penstock/CartPole-v1", num_envs=2, max_steps=3)
    envs.reset(seed=0)
    assert [step[3].all() for step in play(envs, 3)] == [False, False, True]
    with pytest.raises(penstock.ConfigError, match="unknown key 'env.max_step'.*did you mean 'env.max_steps'"):
        penstock.VectorEnv("cartpole", 2, max_step=3)
    with pytest.raises(penstock.ConfigError, match="did you mean 'cartpole'"):
        penstock.VectorEnv("cartpol", 2)
    with pytest.raises(penstock.ConfigError, match="env.max_steps = 0"):
        penstock.VectorEnv("cartpole", 2, max_steps=0)
    with pytest.raises(ValueError, match="num_envs"):
        penstock.VectorEnv("cartpole", 0)
    with pytest.raises(ValueError, match="render"):
        penstock.VectorEnv("cartpole", 1, render_mode="human")


def test_the_lock_of_the_interpreter_is_free_during_a_step():
    """Another thread runs Python in the very middle of one long call."""
    envs = penstock.VectorEnv("acrobot", 300_000, copy=False)
    envs.reset(seed=0)
    moments, done = [], threading.Event()

    def note_moments():
        while not done.is_set():
            moments.append(time.perf_counter())

    thread = threading.Thread(target=note_moments)
    thread.start()
    begin = time.perf_counter()
    envs._envs.step_choices(np.zeros(300_000, dtype=np.int64))
    length = time.perf_counter() - begin
    done.set()
    thread.join()
    assert length > 0.01  # long enough to tell
    assert sum(0.2 < (moment - begin) / length < 0.8 for moment in moments) > 10


def test_wrappers_of_gymnasium_work():
    envs = gymnasium.make_vec("Penstock/CartPole-v1", num_envs=2, episode_stats=False, max_steps=3)
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    envs.reset(seed=0)
    for _ in range(3):
        infos = envs.step(np.array([0, 1]))[4]
    assert infos["episode"]["r"].tolist() == [3, 3]


@pytest.mark.parametrize("name", ["CartPole-v1", "Acrobot-v1", "MountainCar-v0", "Pendulum-v1"])
def test_spaces_and_limit_are_those_of_gymnasium(name):
    ours, theirs = gymnasium.make(f"Penstock/{name}"), gymnasium.make(name)
    assert ours.observation_space == theirs.observation_space
    assert ours.spec.max_episode_steps == theirs.spec.max_episode_steps
    assert penstock.PPO(f"Penstock/{name}").observation_space == theirs.observation_space
    envs = gymnasium.make_vec(f"Penstock/{name}", num_envs=4, max_steps=30)
    assert envs.single_observation_space == theirs.observation_space and envs.spec.max_episode_steps == 30
    envs.reset(seed=1)
    envs.action_space.seed(1)
    for _ in range(400):
        assert envs.step(envs.action_space.sample())[0] in envs.observation_space


def test_vector_wrappers_of_gymnasium_need_next_step():
    from gymnasium.wrappers.vector import NormalizeObservation, NormalizeReward, RecordEpisodeStatistics

    def wrapped(mode):
        envs = penstock.VectorEnv("cartpole", 8, autoreset_mode=mode, episode_stats=False)
        return NormalizeReward(NormalizeObservation(RecordEpisodeStatistics(envs)))

    with pytest.raises(ValueError, match="NEXT_STEP"):
        wrapped("SAME_STEP")
    envs, lengths, rows = wrapped("NEXT_STEP"), [], []
    obs, _ = envs.reset(seed=1)
    envs.action_space.seed(1)
    for _ in range(300):
        obs, _, terminated, truncated, infos = envs.step(envs.action_space.sample())
        rows.append(obs)
        if "episode" in infos:
            assert ((terminated | truncated) == infos["_episode"]).all()
            lengths.extend(infos["episode"]["l"][infos["_episode"]])
    assert len(lengths) > 50 and 10 < np.mean(lengths) < 40  # random play
    assert np.allclose(np.concatenate(rows[100:]).std(axis=0), 1, atol=0.5)  # positions have 0.1 as they are


def test_counts_are_shown_in_full():
    envs = gymnasium.make_vec("Penstock/Dvrptw-v0", num_envs=3, obs="hist", oracle="insertion")
    obs, _ = envs.reset(seed=1)
    assert obs.shape == (3, 606, 2) and envs.single_observation_space.shape == (606, 2)
    for t in range(40):
        assert (obs[:, :, 1].sum(axis=1) == 6).all()
        assert (obs[:, :, 0].sum(axis=1) == 6 * (t % 30)).all()
        obs, *_, infos = envs.step(np.full(3, 12))
