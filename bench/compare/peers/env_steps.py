"""Env stepping only: CartPole with random actions, no policy.

    env_steps.py --backend gymnasium|envpool|puffer --num-envs N --threads K
"""
import importlib.metadata

import protocol

import numpy as np

BATCHES = 64  # actions are drawn beforehand, so that drawing costs nobody anything


def gymnasium_envs(num_envs, threads):
    import gymnasium

    envs = gymnasium.make_vec(
        "CartPole-v1", num_envs=num_envs, vectorization_mode="vector_entry_point"
    )
    envs.reset(seed=0)
    return envs.step


def envpool_envs(num_envs, threads):
    import envpool

    envs = envpool.make(
        "CartPole-v1", env_type="gymnasium", num_envs=num_envs, num_threads=threads, seed=0
    )
    envs.reset()
    return envs.step


def puffer_envs(num_envs, threads):
    from pufferlib.ocean.cartpole.cartpole import Cartpole

    # Collecting its episode log at every step costs time and serves nobody here.
    envs = Cartpole(num_envs=num_envs, report_interval=protocol.STEPS)
    envs.reset(seed=0)
    return envs.step


BACKENDS = {
    "gymnasium": (gymnasium_envs, "gymnasium"),
    "envpool": (envpool_envs, "envpool"),
    "puffer": (puffer_envs, "pufferlib"),
}


def main():
    args = protocol.arguments()
    make, package = BACKENDS[args.backend]
    step = make(args.num_envs, args.threads)
    rng = np.random.default_rng(0)
    actions = [rng.integers(0, 2, args.num_envs).astype(np.int32) for _ in range(BATCHES)]

    def iterate():
        for action in actions:
            step(action)

    version = importlib.metadata.version(package)
    protocol.serve(args.backend, version, iterate, args.num_envs * BATCHES)


if __name__ == "__main__":
    main()
