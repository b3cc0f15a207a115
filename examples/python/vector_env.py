"""Native envs by Gymnasium's vector interface: masks, named parts, views instead of copies."""

import gymnasium
import numpy as np

import penstock

envs = gymnasium.make_vec("Penstock/Masked-v0", num_envs=8, num_threads=2, copy=False)
print(type(envs) is penstock.VectorEnv, envs.single_observation_space)

obs, infos = envs.reset(seed=0)  # env i gets seed i
returns = []
for _ in range(64):
    marked = np.where(infos["action_mask"] == 1, obs["hint"], -1)  # only what is legal
    obs, reward, terminated, truncated, infos = envs.step(marked.argmax(axis=1))
    if "episode" in infos:
        returns += infos["episode"]["r"][infos["_episode"]].tolist()
print(len(returns), "episodes, mean return", np.mean(returns), "of 16")
