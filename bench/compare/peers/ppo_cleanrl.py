"""A single-file PPO in CleanRL's style, on EnvPool or on Gymnasium's vectorised CartPole.

    ppo_cleanrl.py --backend envpool|gymnasium --num-envs N --minibatch M --threads K

Gymnasium's is NumPy over all envs at once. CleanRL's logging and episode statistics are left out,
which only makes it faster.
"""
import importlib.metadata

import protocol

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

T = protocol.STEPS


def layer(inputs, outputs, gain=2**0.5):
    linear = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(linear.weight, gain)
    nn.init.zeros_(linear.bias)
    return linear


def stack(outputs, gain):
    return nn.Sequential(
        layer(4, 64), nn.Tanh(), layer(64, 64), nn.Tanh(), layer(64, outputs, gain)
    )


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic = stack(1, 1.0)
        self.actor = stack(2, 0.01)

    def act(self, obs, action=None):
        choice = Categorical(logits=self.actor(obs))
        if action is None:
            action = choice.sample()
        return action, choice.log_prob(action), choice.entropy(), self.critic(obs).flatten()


def make_envs(backend, num_envs, threads):
    if backend == "envpool":
        import envpool

        return envpool.make(
            "CartPole-v1", env_type="gymnasium", num_envs=num_envs, num_threads=threads, seed=0
        )
    import gymnasium

    return gymnasium.make_vec(
        "CartPole-v1", num_envs=num_envs, vectorization_mode="vector_entry_point"
    )


class Trainer:
    def __init__(self, envs, num_envs, minibatch):
        self.num_envs = num_envs
        self.minibatch = minibatch
        self.envs = envs
        self.agent = Agent()
        self.adam = torch.optim.Adam(
            self.agent.parameters(), lr=protocol.LEARNING_RATE, eps=1e-5
        )
        self.obs = torch.zeros(T, num_envs, 4)
        self.action = torch.zeros(T, num_envs, dtype=torch.long)
        self.log_prob = torch.zeros(T, num_envs)
        self.reward = torch.zeros(T, num_envs)
        self.done = torch.zeros(T, num_envs)  # whether an episode ended before step t
        self.value = torch.zeros(T, num_envs)
        self.next_obs = as_tensor(self.envs.reset()[0])
        self.next_done = torch.zeros(num_envs)

    def iterate(self):
        self.rollout()
        self.learn(*self.advantages())

    def rollout(self):
        for t in range(T):
            self.obs[t] = self.next_obs
            self.done[t] = self.next_done
            with torch.no_grad():
                action, log_prob, _, value = self.agent.act(self.next_obs)
            self.action[t] = action
            self.log_prob[t] = log_prob
            self.value[t] = value
            obs, reward, terminated, truncated, _ = self.envs.step(action.numpy().astype(np.int32))
            self.reward[t] = as_tensor(reward)
            self.next_obs = as_tensor(obs)
            self.next_done = as_tensor(terminated | truncated)

    @torch.no_grad()
    def advantages(self):
        """Generalised advantages and value targets, [T, N] both."""
        advantage = torch.zeros_like(self.reward)
        next_value = self.agent.critic(self.next_obs).flatten()
        alive = 1.0 - self.next_done
        running = torch.zeros(self.num_envs)
        for t in reversed(range(T)):
            delta = self.reward[t] + protocol.GAMMA * next_value * alive - self.value[t]
            running = delta + protocol.GAMMA * protocol.GAE_LAMBDA * alive * running
            advantage[t] = running
            next_value = self.value[t]
            alive = 1.0 - self.done[t]
        return advantage, advantage + self.value

    def learn(self, advantage, target):
        flat = (self.obs.reshape(-1, 4), self.action.reshape(-1), self.log_prob.reshape(-1),
                advantage.reshape(-1), target.reshape(-1))
        samples = self.num_envs * T
        for _ in range(protocol.EPOCHS):
            order = torch.randperm(samples)
            for start in range(0, samples, self.minibatch):
                index = order[start:start + self.minibatch]
                self.learn_minibatch(*(x[index] for x in flat))

    def learn_minibatch(self, obs, action, old_log_prob, advantage, target):
        _, log_prob, entropy, value = self.agent.act(obs, action)
        ratio = (log_prob - old_log_prob).exp()
        trusted = ratio.clamp(1 - protocol.CLIP, 1 + protocol.CLIP)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        policy_loss = torch.max(-advantage * ratio, -advantage * trusted).mean()
        value_loss = 0.5 * ((value - target) ** 2).mean()
        loss = policy_loss + protocol.VALUE_WEIGHT * value_loss - 0.0 * entropy.mean()
        self.adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.agent.parameters(), protocol.MAX_GRAD_NORM)
        self.adam.step()


def as_tensor(array):
    return torch.as_tensor(np.asarray(array, dtype=np.float32))


def main():
    args = protocol.arguments()
    torch.manual_seed(0)
    envs = make_envs(args.backend, args.num_envs, args.threads)
    trainer = Trainer(envs, args.num_envs, args.minibatch)
    setting = protocol.pick_torch_threads(trainer.iterate, args.threads)
    version = f"torch {torch.__version__}, {args.backend} {importlib.metadata.version(args.backend)}"
    protocol.serve("cleanrl", version, trainer.iterate, args.num_envs * T, setting)


if __name__ == "__main__":
    main()
