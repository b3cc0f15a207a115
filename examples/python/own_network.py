"""A torch.nn.Module as the policy."""

import torch
from torch import nn

import penstock


class Residual(nn.Module):
    """forward(obs, legal): logits (or means and log deviations of a box) and the value. `legal` is None for an env
    without masks; masking the logits is done outside."""

    def __init__(self, num_features: int, num_actions: int, width: int = 64):
        super().__init__()
        self.embed = nn.Linear(num_features, width)
        self.block = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))
        self.actor = nn.Linear(width, num_actions)
        self.critic = nn.Linear(width, 1)

    def forward(self, obs: torch.Tensor, legal: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
        x = self.embed(obs)
        x = x + self.block(x)
        return self.actor(x), self.critic(x)


torch.manual_seed(1)
network = Residual(4, 2)
model = penstock.PPO("cartpole", num_envs=32, seed=1, policy=network, ppo={"policy_epochs": 4, "value_epochs": 4})
model.learn(120_000, callbacks=penstock.StopAtReward(200))
print("mean reward", model.evaluate(episodes=50).mean_reward)
logits, value = network(torch.zeros(1, 4), None)  # has the trained weights
print("value of the upright pole:", value.item())
