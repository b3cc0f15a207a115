"""A whole-program JIT in the style of PureJaxRL: env, rollout and update inside one jit."""
import json
import os
import subprocess
import sys

import protocol


def probe(args, cores):
    """The rate of a process of its own that has so many cores."""
    command = [sys.executable, __file__, "--backend", "probe", "--threads", str(cores),
               "--num-envs", str(args.num_envs), "--minibatch", str(args.minibatch)]
    replies = subprocess.run(command, input="1\n1\n", stdout=subprocess.PIPE, text=True, check=True)
    return max(json.loads(line).get("rate", 0.0) for line in replies.stdout.splitlines())


def choose_cores(args):
    """XLA splits its work by the cores it sees at start. On matrices this small the split may lose,
    so that both are tried: a peer should not be slow by our choice."""
    cores = args.threads
    if cores > 1 and args.backend != "probe":
        cores = max((1, args.threads), key=lambda count: probe(args, count))
    if cores == 1:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    return cores


ARGS = protocol.arguments()
CORES = choose_cores(ARGS)  # must come before JAX is imported
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

N, T, MINIBATCH = ARGS.num_envs, protocol.STEPS, ARGS.minibatch
tree_map = jax.tree_util.tree_map


def env_reset(key):
    return jax.random.uniform(key, (N, 4), minval=-0.05, maxval=0.05)


def env_step(key, state, age, action):
    """CartPole-v1 over all envs: Euler steps, 500 of them at most, a new episode at once."""
    x, x_dot, theta, theta_dot = state.T
    force = jnp.where(action == 1, 10.0, -10.0)
    cos, sin = jnp.cos(theta), jnp.sin(theta)
    temp = (force + 0.05 * theta_dot**2 * sin) / 1.1
    theta_acc = (9.8 * sin - cos * temp) / (0.5 * (4.0 / 3.0 - 0.1 * cos**2 / 1.1))
    x_acc = temp - 0.05 * theta_acc * cos / 1.1
    tau = 0.02
    moved = jnp.stack([x + tau * x_dot, x_dot + tau * x_acc,
                       theta + tau * theta_dot, theta_dot + tau * theta_acc], axis=1)
    age = age + 1
    fallen = (jnp.abs(moved[:, 0]) > 2.4) | (jnp.abs(moved[:, 2]) > 12 * 2 * jnp.pi / 360)
    done = fallen | (age >= 500)
    return jnp.where(done[:, None], env_reset(key), moved), jnp.where(done, 0, age), done


def make_layer(key, inputs, outputs, gain):
    weight = jax.nn.initializers.orthogonal(gain)(key, (inputs, outputs))
    return {"weight": weight, "bias": jnp.zeros(outputs)}


def make_params(key):
    keys = jax.random.split(key, 6)
    root2 = 2**0.5

    def stack(keys, outputs, gain):
        return [make_layer(keys[0], 4, 64, root2), make_layer(keys[1], 64, 64, root2),
                make_layer(keys[2], 64, outputs, gain)]

    return {"actor": stack(keys[:3], 2, 0.01), "critic": stack(keys[3:], 1, 1.0)}


def mlp(layers, x):
    for layer in layers[:-1]:
        x = jnp.tanh(x @ layer["weight"] + layer["bias"])
    return x @ layers[-1]["weight"] + layers[-1]["bias"]


def network(params, obs):
    return jax.nn.log_softmax(mlp(params["actor"], obs)), mlp(params["critic"], obs)[:, 0]


def chosen(log_probs, action):
    return jnp.take_along_axis(log_probs, action[:, None], axis=1)[:, 0]


def adam(params, gradient, mean, square, step):
    norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree_util.tree_leaves(gradient)))
    scale = jnp.minimum(1.0, protocol.MAX_GRAD_NORM / (norm + 1e-6))
    gradient = tree_map(lambda g: g * scale, gradient)
    mean = tree_map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradient)
    square = tree_map(lambda v, g: 0.999 * v + 0.001 * g * g, square, gradient)
    fix_mean, fix_square = 1 - 0.9**step, 1 - 0.999**step

    def move(p, m, v):
        return p - protocol.LEARNING_RATE * (m / fix_mean) / (jnp.sqrt(v / fix_square) + 1e-5)

    return tree_map(move, params, mean, square), mean, square


def ppo_loss(params, obs, action, old_log_prob, advantage, target):
    log_probs, value = network(params, obs)
    ratio = jnp.exp(chosen(log_probs, action) - old_log_prob)
    trusted = jnp.clip(ratio, 1 - protocol.CLIP, 1 + protocol.CLIP)
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    policy_loss = jnp.maximum(-advantage * ratio, -advantage * trusted).mean()
    return policy_loss + protocol.VALUE_WEIGHT * 0.5 * ((value - target) ** 2).mean()


def rollout_step(carry, _):
    params, state, age, key = carry
    key, action_key, reset_key = jax.random.split(key, 3)
    log_probs, value = network(params, state)
    action = jax.random.categorical(action_key, log_probs)
    next_state, age, done = env_step(reset_key, state, age, action)
    row = (state, action, chosen(log_probs, action), value, jnp.ones(N), done)
    return (params, next_state, age, key), row


def advantages(reward, value, done, last_value):
    def back(carry, row):
        running, next_value = carry
        reward_t, value_t, done_t = row
        alive = 1.0 - done_t
        delta = reward_t + protocol.GAMMA * next_value * alive - value_t
        running = delta + protocol.GAMMA * protocol.GAE_LAMBDA * alive * running
        return (running, value_t), running

    rows = (reward, value, done.astype(jnp.float32))
    return lax.scan(back, (jnp.zeros(N), last_value), rows, reverse=True)[1]


def update(learner, key, data):
    """Four epochs over the flat rollout. learner: params, Adam's mean and square, its step."""

    def minibatch(learner, index):
        params, mean, square, step = learner
        gradient = jax.grad(ppo_loss)(params, *[x[index] for x in data])
        params, mean, square = adam(params, gradient, mean, square, step + 1.0)
        return (params, mean, square, step + 1.0), None

    def epoch(carry, _):
        learner, key = carry
        key, order_key = jax.random.split(key)
        order = jax.random.permutation(order_key, N * T).reshape(-1, MINIBATCH)
        return (lax.scan(minibatch, learner, order)[0], key), None

    return lax.scan(epoch, (learner, key), None, protocol.EPOCHS)[0]


def iteration(carry):
    learner, state, age, key = carry
    first = (learner[0], state, age, key)
    (params, state, age, key), rows = lax.scan(rollout_step, first, None, T)
    obs, action, log_prob, value, reward, done = rows
    advantage = advantages(reward, value, done, network(params, state)[1])
    data = (obs, action, log_prob, advantage, advantage + value)
    flat = [x.reshape((N * T,) + x.shape[2:]) for x in data]
    learner, key = update(learner, key, flat)
    return learner, state, age, key


def main():
    key, params_key, reset_key = jax.random.split(jax.random.PRNGKey(0), 3)
    params = make_params(params_key)
    zeros = tree_map(jnp.zeros_like, params)
    learner = (params, zeros, zeros, jnp.float32(0))
    carry = (learner, env_reset(reset_key), jnp.zeros(N, jnp.int32), key)
    compiled = jax.jit(iteration).lower(carry).compile()

    def iterate():
        nonlocal carry
        carry = jax.block_until_ready(compiled(carry))

    setting = f"XLA on {CORES} core{'s' if CORES > 1 else ''}"
    protocol.serve("jax", jax.__version__, iterate, N * T, setting)


if __name__ == "__main__":
    main()
