"""An env of one's own, in worker processes: a lift that fetches people, with a mask for doors and ends of the shaft."""

import gymnasium
import numpy as np
from gymnasium import spaces

import penstock

FLOORS = 5


class Lift(gymnasium.Env):
    """Down, up or open. People wait on floors; each that is fetched is worth 1, each step a little less."""

    observation_space = spaces.Dict({"floor": spaces.Discrete(FLOORS), "waiting": spaces.MultiBinary(FLOORS)})
    action_space = spaces.Discrete(3)

    def _seen(self):
        obs = {"floor": self.floor, "waiting": self.waiting.astype(np.int8)}
        mask = np.array([self.floor > 0, self.floor < FLOORS - 1, self.waiting[self.floor]], dtype=np.int8)
        return obs, {"action_mask": mask}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.floor, self.t = int(self.np_random.integers(FLOORS)), 0
        self.waiting = self.np_random.random(FLOORS) < 0.5
        return self._seen()

    def step(self, action):
        self.t += 1
        fetched = action == 2
        if fetched:
            self.waiting[self.floor] = False
        else:
            self.floor += 1 if action == 1 else -1
        obs, info = self._seen()
        return obs, float(fetched) - 0.05, not self.waiting.any(), self.t == 50, info


model = penstock.PPO(Lift, num_envs=16, num_workers=2, seed=1, ppo={"gamma": 0.95}).learn(60_000)
print(f"mean reward {model.evaluate(episodes=50).mean_reward:.2f}, digest {model.digest}")

env = Lift()
obs, info = env.reset(seed=7)
done = False
while not done:
    row = {"floor": np.eye(FLOORS)[obs["floor"]], "waiting": obs["waiting"]}  # as the policy sees it
    action, _ = model.predict(row, action_masks=info["action_mask"])
    print("floor", obs["floor"], "waiting", obs["waiting"], "->", ("down", "up", "open")[int(action)])
    obs, _, terminated, truncated, info = env.step(int(action))
    done = terminated or truncated
