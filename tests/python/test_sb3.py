"""Stable-Baselines3 on our envs, and its tools on our policies."""

import numpy as np
import pytest
import torch

import penstock

stable_baselines3 = pytest.importorskip("stable_baselines3")
from stable_baselines3.common.evaluation import evaluate_policy  # noqa: E402

from penstock.sb3 import VecEnv  # noqa: E402


@pytest.fixture(autouse=True)
def one_torch_thread():
    """Networks this small are slower with more."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_ppo_learns_on_it():
    env = VecEnv("cartpole", num_envs=16)
    model = stable_baselines3.PPO("MlpPolicy", env, n_steps=64, batch_size=256, n_epochs=4, gamma=0.98,
                                  learning_rate=1e-3, seed=0, device="cpu")
    model.learn(40_000)
    assert len(model.ep_info_buffer) == 100  # no monitor needed
    reward, _ = evaluate_policy(model, VecEnv("cartpole", num_envs=8), n_eval_episodes=16, warn=False)
    assert reward > 150


def test_dict_observations():
    model = stable_baselines3.PPO("MultiInputPolicy", VecEnv("reach", num_envs=4), n_steps=32, batch_size=64,
                                  device="cpu")
    model.learn(256)


def test_a_part_that_is_called_like_a_method_of_torch():
    env = VecEnv("dvrptw", num_envs=2, customers=4, oracle="insertion")
    assert "values_" in env.observation_space.spaces and "values" not in env.observation_space.spaces
    stable_baselines3.PPO("MultiInputPolicy", env, n_steps=8, batch_size=16, device="cpu").learn(16)
    ours = penstock.PPO("dvrptw", 2, 1, verbose=0, **{"env.customers": 4, "env.oracle": "insertion"})
    evaluate_policy(ours, env, n_eval_episodes=2, warn=False)


def test_its_evaluation_takes_our_policy():
    model = penstock.PPO("cartpole", 64, 1, verbose=0).learn(200_000)
    reward, _ = evaluate_policy(model, VecEnv("cartpole", num_envs=8), n_eval_episodes=8, warn=False)
    assert reward > 400


def test_infos_of_an_end():
    env = VecEnv("identity", num_envs=3, max_steps=2)
    env.seed(5)
    first = env.reset()
    assert np.array_equal(first, penstock.VectorEnv("identity", 3).reset(seed=5)[0])
    _, reward, done, infos = env.step(first.argmax(1))
    assert reward.dtype == np.float32 and reward.tolist() == [1, 1, 1] and not done.any() and infos == [{}] * 3
    obs, _, done, infos = env.step(np.zeros(3, dtype=np.int64))
    assert done.all()
    for info in infos:
        assert info["TimeLimit.truncated"] is True and info["episode"]["l"] == 2
        assert info["terminal_observation"].shape == (4,) and 1 <= info["episode"]["r"] <= 2


def test_termination_and_success():
    env = VecEnv("masked", num_envs=2)
    env.reset()
    masks = np.stack(env.env_method("action_masks"))
    assert env.has_attr("action_masks") and masks.shape == (2, 8)
    _, _, done, infos = env.step(masks.argmin(1))  # an illegal one ends the episode
    assert done.all() and infos[0]["TimeLimit.truncated"] is False and infos[0]["is_success"] is False
    assert not VecEnv("cartpole", 1).has_attr("action_masks")
