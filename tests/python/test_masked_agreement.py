"""MaskablePPO of sb3-contrib and ours learn the same masked problem alike: confidence bands over seeds overlap."""

import numpy as np
import pytest
import torch
import worker_envs

import penstock

sb3_contrib = pytest.importorskip("sb3_contrib")
from stable_baselines3.common.env_util import make_vec_env  # noqa: E402

SEEDS, STEPS, ENVS = range(5), 4096, 8
MARKS = [1024, 2048, 4096]  # env steps at which the curves are compared
SETTINGS = {"learning_rate": 1e-3, "gamma": 0.9, "gae_lambda": 0.95, "clip": 0.2}


def returns_of_theirs(seed):
    torch.set_num_threads(1)
    envs = make_vec_env(worker_envs.Guess, n_envs=ENVS, seed=seed, env_kwargs={"mask": "method"})
    model = sb3_contrib.MaskablePPO(
        "MlpPolicy", envs, n_steps=32, batch_size=128, n_epochs=4, seed=seed, ent_coef=0.0, vf_coef=0.5,
        learning_rate=SETTINGS["learning_rate"], gamma=SETTINGS["gamma"], gae_lambda=SETTINGS["gae_lambda"],
        clip_range=SETTINGS["clip"], policy_kwargs={"net_arch": [64, 64]})
    curve = []
    for mark in MARKS:
        model.learn(mark - model.num_timesteps, reset_num_timesteps=False)
        curve.append(play(lambda obs, masks: model.predict(obs, action_masks=masks, deterministic=True)[0]))
    return curve


def returns_of_ours(seed):
    model = penstock.PPO(worker_envs.Guess, ENVS, seed, env_kwargs={"mask": "method"}, num_workers=0, verbose=0,
                         ppo=SETTINGS | {"minibatch": 128, "policy_epochs": 4, "value_epochs": 4, "entropy_weight": 0.0,
                                         "value_weight": 0.5, "learning_rate_schedule": "constant"},
                         rollout={"steps": 32}, run={"eval_episodes": 0})
    curve = []
    for mark in MARKS:
        model.learn(mark - model.num_timesteps)
        curve.append(play(lambda obs, masks: model.predict(np.eye(6)[obs], action_masks=masks)[0]))
    return curve


def play(choose, episodes=10):
    env = worker_envs.Guess(mask="method")
    total = 0.0
    for episode in range(episodes):
        obs, _ = env.reset(seed=1000 + episode)
        done = False
        while not done:
            obs, reward, _, done, _ = env.step(int(choose(np.array(obs), env.action_masks())))
            total += reward
    return total / episodes


def test_curves_agree():
    theirs = np.array([returns_of_theirs(seed) for seed in SEEDS])
    ours = np.array([returns_of_ours(seed) for seed in SEEDS])
    for k, mark in enumerate(MARKS):
        # Student's t for 4 degrees of freedom, 99 %.
        band = [4.604 * np.std(x[:, k], ddof=1) / np.sqrt(len(SEEDS)) for x in (theirs, ours)]
        gap = abs(theirs[:, k].mean() - ours[:, k].mean())
        assert gap <= sum(band) + 0.1, (mark, theirs[:, k], ours[:, k])
    assert ours[:, -1].mean() > 13 and theirs[:, -1].mean() > 13  # of 16; a guess among two gives 8
