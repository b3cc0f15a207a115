"""One training run of either side, told in the same words.

A run is {"evaluation": deterministic, 20 episodes; "training": last 100 episodes; "curve": the same after every
update, None before the first episode; "seconds"; "digest": of Penstock's weights}.
"""
import math
import time

import gymnasium
import numpy as np
import penstock
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecNormalize

from hyper import ENVS

EPISODES = 20
WORKERS = 2
TEST_SEED = 10_000  # episodes of the evaluation are none of the training's
ACTIVATIONS = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}


class Curve(BaseCallback):
    """Mean return of the last 100 episodes at every rollout's end, as Penstock logs it."""

    def __init__(self):
        super().__init__()
        self.points = []

    def _on_step(self):
        return True

    def _on_rollout_end(self):
        returns = [episode["r"] for episode in self.model.ep_info_buffer]
        self.points.append(np.mean(returns) if returns else math.nan)


def sb3_model(env_id, keys, seed):
    rate = keys["ppo.learning_rate"]
    linear = keys["ppo.learning_rate_schedule"] == "linear"
    envs = make_vec_env(env_id, keys["env.num_envs"], seed=seed)
    if keys["normalise.obs"] or keys["normalise.reward"]:
        envs = VecNormalize(envs, norm_obs=keys["normalise.obs"], norm_reward=keys["normalise.reward"],
                            gamma=keys["ppo.gamma"])
    hidden = keys["net.hidden"]
    if keys["ppo.policy_epochs"] != keys["ppo.value_epochs"]:
        raise SystemExit("ppo.policy_epochs and ppo.value_epochs differ: Stable-Baselines3 has one number for both")
    return PPO(
        "MlpPolicy", envs, n_steps=keys["rollout.steps"], batch_size=keys["ppo.minibatch"],
        n_epochs=keys["ppo.policy_epochs"], learning_rate=(lambda left: rate * left) if linear else rate,
        gamma=keys["ppo.gamma"], gae_lambda=keys["ppo.gae_lambda"], clip_range=keys["ppo.clip"],
        ent_coef=keys["ppo.entropy_weight"], vf_coef=keys["ppo.value_weight"],
        max_grad_norm=keys["ppo.max_grad_norm"], normalize_advantage=keys["ppo.normalise_advantage"], seed=seed,
        device="cpu", policy_kwargs=dict(net_arch=dict(pi=hidden, vf=hidden),
                                         activation_fn=ACTIVATIONS[keys["net.activation"]],
                                         log_std_init=keys["net.log_std_init"],
                                         optimizer_kwargs=dict(eps=keys["ppo.adam_epsilon"])))


def sb3_evaluation(model, env_id, seed):
    envs = make_vec_env(env_id, 1, seed=TEST_SEED + seed)
    trained_on = model.get_env()
    if isinstance(trained_on, VecNormalize):
        envs = VecNormalize(envs, norm_obs=trained_on.norm_obs, norm_reward=False, training=False)
        envs.obs_rms = trained_on.obs_rms if trained_on.norm_obs else None
    return evaluate_policy(model, envs, n_eval_episodes=EPISODES, deterministic=True)[0]


def run_sb3(env, keys, seed):
    env_id = ENVS[env][0]
    begin = time.perf_counter()
    model = sb3_model(env_id, keys, seed)
    curve = Curve()
    model.learn(keys["total_timesteps"], callback=curve)
    seconds = time.perf_counter() - begin
    return told(curve.points, sb3_evaluation(model, env_id, seed), seconds)


def run_penstock(env_id, keys, seed, workers=None):
    points = []
    begin = time.perf_counter()
    model = penstock.PPO(env_id, seed=seed, num_workers=workers, verbose=0,
                         **keys | {"threads": 1, "run.eval_episodes": 0})
    model.learn(callbacks=lambda _, progress, __: points.append(progress.ep_rew_mean))
    seconds = time.perf_counter() - begin
    evaluation = model.evaluate(EPISODES, seed=TEST_SEED + seed)
    return told(points, evaluation.mean_reward, seconds) | {"digest": model.digest}


def told(points, evaluation, seconds):
    curve = [None if math.isnan(x) else round(float(x), 1) for x in points]
    return {"evaluation": float(evaluation), "training": float(points[-1]), "curve": curve,
            "seconds": round(seconds, 1)}


# name -> function(env, keys, seed)
SYSTEMS = {
    "sb3": run_sb3,
    "in-process": lambda env, keys, seed: run_penstock(ENVS[env][0], keys, seed, 0),
    "native": lambda env, keys, seed: run_penstock(env, keys, seed),
    "workers": lambda env, keys, seed: run_penstock(ENVS[env][0], keys, seed, WORKERS),
}


def check_time_limits(env):
    """Gymnasium's wrapper cuts episodes off where the native env does."""
    theirs = gymnasium.spec(ENVS[env][0]).max_episode_steps
    ours = penstock.Config(**{"env.id": env}).env.max_steps
    if ours != theirs:
        raise SystemExit(f"{env}: episodes end after {ours} steps in the native env, after {theirs} in Gymnasium's")
