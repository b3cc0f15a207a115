"""The envs, and hyper-parameters that are equal on both sides, by Penstock's names."""

# env -> (Gymnasium's id, return at which it counts as solved)
ENVS = {"cartpole": ("CartPole-v1", 475), "acrobot": ("Acrobot-v1", -100), "pendulum": ("Pendulum-v1", -300)}

# Stable-Baselines3's habits where the two differ by default: one shard, as many passes for the value as for the policy,
# a constant learning rate.
COMMON = {
    "total_timesteps": 60_000,
    "env.num_envs": 8,
    "rollout.steps": 128,
    "rollout.shards": 1,
    "net.hidden": [64, 64],
    "net.activation": "tanh",
    "net.log_std_init": 0.0,
    "normalise.obs": False,
    "normalise.reward": False,
    "ppo.minibatch": 256,
    "ppo.policy_epochs": 10,
    "ppo.value_epochs": 10,
    "ppo.learning_rate": 3e-4,
    "ppo.learning_rate_schedule": "constant",
    "ppo.gamma": 0.99,
    "ppo.gae_lambda": 0.95,
    "ppo.clip": 0.2,
    "ppo.entropy_weight": 0.0,
    "ppo.value_weight": 0.5,
    "ppo.max_grad_norm": 0.5,
    "ppo.adam_epsilon": 1e-5,
    "ppo.normalise_advantage": True,
}
# With 0.99 and 3e-4 Pendulum stays at chance for 60,000 steps, and a comparison would say nothing.
OWN = {"cartpole": {"total_timesteps": 50_000}, "pendulum": {"ppo.gamma": 0.9, "ppo.learning_rate": 1e-3}}


def equal(env, changes):
    unknown = changes.keys() - COMMON.keys()
    if unknown:
        raise SystemExit(f"--set {', '.join(sorted(unknown))}: not one of {', '.join(COMMON)}")
    return COMMON | OWN.get(env, {}) | changes


def of_recipe(config, changes):
    """The same keys from a recipe's config, {dotted name: value}."""
    return {key: config[key] for key in COMMON} | changes
