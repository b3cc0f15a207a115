"""Stable-Baselines3's PPO."""
import protocol

import stable_baselines3
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv


def make_model(args):
    # One process: for an env this cheap SubprocVecEnv is several times slower at any thread count.
    envs = make_vec_env("CartPole-v1", args.num_envs, seed=0, vec_env_cls=DummyVecEnv)
    return PPO(
        "MlpPolicy",
        envs,
        n_steps=protocol.STEPS,
        batch_size=args.minibatch,
        n_epochs=protocol.EPOCHS,
        learning_rate=protocol.LEARNING_RATE,
        gamma=protocol.GAMMA,
        gae_lambda=protocol.GAE_LAMBDA,
        clip_range=protocol.CLIP,
        ent_coef=0.0,
        vf_coef=protocol.VALUE_WEIGHT,
        max_grad_norm=protocol.MAX_GRAD_NORM,
        policy_kwargs={"net_arch": {"pi": [64, 64], "vf": [64, 64]}},
        seed=0,
        device="cpu",
    )


def main():
    args = protocol.arguments()
    model = make_model(args)
    _, callback = model._setup_learn(total_timesteps=10**12, callback=None)

    def iterate():
        # The body of learn() without its logging, so that a window can end between two iterations.
        model.collect_rollouts(model.env, callback, model.rollout_buffer, model.n_steps)
        model.train()

    setting = protocol.pick_torch_threads(iterate, args.threads)
    version = f"{stable_baselines3.__version__}, torch {torch.__version__}"
    protocol.serve("sb3", version, iterate, args.num_envs * protocol.STEPS, setting)


if __name__ == "__main__":
    main()
