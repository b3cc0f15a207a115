"""PPO in one file, in the style of CleanRL: everything to see, nothing of Penstock but the env.

    python cleanrl_ppo.py --env-id Penstock/CartPole-v1
"""

import argparse
import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import penstock  # noqa: F401  registers the envs


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--env-id", default="Penstock/CartPole-v1")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--total-timesteps", type=int, default=60_000)
    parser.add_argument("--num-envs", type=int, default=16)
    parser.add_argument("--num-steps", type=int, default=64)
    parser.add_argument("--update-epochs", type=int, default=4)
    parser.add_argument("--num-minibatches", type=int, default=4)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--gamma", type=float, default=0.98)
    parser.add_argument("--gae-lambda", type=float, default=0.95)
    parser.add_argument("--clip-coef", type=float, default=0.2)
    parser.add_argument("--ent-coef", type=float, default=0.0)
    parser.add_argument("--vf-coef", type=float, default=0.5)
    parser.add_argument("--max-grad-norm", type=float, default=0.5)
    return parser.parse_args()


def layer_init(layer, std=np.sqrt(2)):
    nn.init.orthogonal_(layer.weight, std)
    nn.init.constant_(layer.bias, 0.0)
    return layer


class Agent(nn.Module):
    def __init__(self, envs):
        super().__init__()
        features = np.prod(envs.single_observation_space.shape)
        self.critic = nn.Sequential(layer_init(nn.Linear(features, 64)), nn.Tanh(), layer_init(nn.Linear(64, 64)),
                                    nn.Tanh(), layer_init(nn.Linear(64, 1), std=1.0))
        self.actor = nn.Sequential(layer_init(nn.Linear(features, 64)), nn.Tanh(), layer_init(nn.Linear(64, 64)),
                                   nn.Tanh(), layer_init(nn.Linear(64, envs.single_action_space.n), std=0.01))

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None):
        probs = Categorical(logits=self.actor(x))
        action = probs.sample() if action is None else action
        return action, probs.log_prob(action), probs.entropy(), self.critic(x)


def main():
    args = parse_args()
    batch_size = args.num_envs * args.num_steps
    minibatch_size = batch_size // args.num_minibatches
    torch.set_num_threads(1)  # networks this small are slower with more
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)

    envs = gym.make_vec(args.env_id, num_envs=args.num_envs)
    assert envs.metadata["autoreset_mode"] is gym.vector.AutoresetMode.SAME_STEP, "final_obs is used below"
    assert isinstance(envs.single_action_space, gym.spaces.Discrete), "only discrete action space is supported"
    agent = Agent(envs)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)

    obs = torch.zeros((args.num_steps, args.num_envs) + envs.single_observation_space.shape)
    actions = torch.zeros((args.num_steps, args.num_envs), dtype=torch.int64)
    logprobs, rewards, dones, values = (torch.zeros((args.num_steps, args.num_envs)) for _ in range(4))

    global_step, returns_seen, start_time = 0, [], time.time()
    next_obs = torch.tensor(envs.reset(seed=args.seed)[0])
    num_updates = args.total_timesteps // batch_size
    for update in range(num_updates):
        optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - update / num_updates)
        for step in range(args.num_steps):
            global_step += args.num_envs
            obs[step] = next_obs
            with torch.no_grad():
                action, logprob, _, value = agent.get_action_and_value(next_obs)
            values[step], actions[step], logprobs[step] = value.flatten(), action, logprob
            next_np, reward, terminated, truncated, infos = envs.step(action.numpy())
            # What a truncated episode would still have earned is part of its last reward.
            for i in np.flatnonzero(truncated & ~terminated):
                with torch.no_grad():
                    reward[i] += args.gamma * agent.get_value(torch.tensor(infos["final_obs"][i])).item()
            rewards[step] = torch.tensor(reward)
            dones[step] = torch.tensor(terminated | truncated).float()
            next_obs = torch.tensor(next_np)
            if "episode" in infos:
                returns_seen += infos["episode"]["r"][infos["_episode"]].tolist()

        with torch.no_grad():
            next_value = agent.get_value(next_obs).flatten()
            advantages, lastgaelam = torch.zeros_like(rewards), 0
            for t in reversed(range(args.num_steps)):
                following = next_value if t == args.num_steps - 1 else values[t + 1]
                delta = rewards[t] + args.gamma * following * (1 - dones[t]) - values[t]
                lastgaelam = delta + args.gamma * args.gae_lambda * (1 - dones[t]) * lastgaelam
                advantages[t] = lastgaelam
            returns = advantages + values

        b_obs = obs.reshape((-1,) + envs.single_observation_space.shape)
        b_actions, b_logprobs = actions.reshape(-1), logprobs.reshape(-1)
        b_advantages, b_returns = advantages.reshape(-1), returns.reshape(-1)
        for _ in range(args.update_epochs):
            for mb in torch.randperm(batch_size).split(minibatch_size):
                _, newlogprob, entropy, newvalue = agent.get_action_and_value(b_obs[mb], b_actions[mb])
                ratio = (newlogprob - b_logprobs[mb]).exp()
                mb_adv = (b_advantages[mb] - b_advantages[mb].mean()) / (b_advantages[mb].std() + 1e-8)
                clipped = ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef)
                pg_loss = torch.max(-mb_adv * ratio, -mb_adv * clipped).mean()
                v_loss = 0.5 * (newvalue.flatten() - b_returns[mb]).square().mean()
                loss = pg_loss - args.ent_coef * entropy.mean() + args.vf_coef * v_loss
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()
        if update % 10 == 9:
            print(f"global_step={global_step}, episodic_return={np.mean(returns_seen[-50:]):.1f}, "
                  f"SPS={global_step / (time.time() - start_time):.0f}")
    envs.close()
    assert np.mean(returns_seen[-50:]) > 150, "it should have learnt"


if __name__ == "__main__":
    main()
