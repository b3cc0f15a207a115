"""Stable-Baselines3 on a native env."""

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy

from penstock.sb3 import VecEnv

torch.set_num_threads(1)  # networks this small are slower with more
model = PPO("MlpPolicy", VecEnv("cartpole", num_envs=16), n_steps=64, batch_size=256, n_epochs=4, gamma=0.98,
            learning_rate=1e-3, seed=1, device="cpu")
model.learn(50_000)
mean, deviation = evaluate_policy(model, VecEnv("cartpole", num_envs=8), n_eval_episodes=40, warn=False)
print(f"mean reward {mean:.1f} +/- {deviation:.1f}")
