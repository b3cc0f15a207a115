"""Advantages, losses and one whole update, computed again with PyTorch and compared to 1e-6.

Nothing of Penstock is used here but the dumped numbers: GAE is the textbook recursion in float64, the
distributions are torch.distributions, gradients come from autograd and the step from torch.optim.Adam.
"""

import json
import math
import os
import subprocess
import tomllib

import pytest

torch = pytest.importorskip("torch")
safetensors = pytest.importorskip("safetensors.torch")

from philox import Words, philox, shuffled  # noqa: E402

SHUFFLE = 2  # the stream's number, part of the reproducibility contract
CASES = ["cartpole", "uneven", "value_clip", "epochs", "masked", "multi", "pendulum", "squashed"]


@pytest.fixture(scope="session")
def dumped(tmp_path_factory):
    out = tmp_path_factory.mktemp("dump")
    subprocess.run([os.environ["PPO_DUMP"], str(out)], check=True)
    return out


@pytest.fixture(params=[f"{case}-{learner}" for case in CASES for learner in ("eager", "fused")])
def case(request, dumped):
    info = json.loads((dumped / f"{request.param}.json").read_text())
    info["config"] = {k: tomllib.loads(f"x = {v}")["x"] for k, v in info["config"].items()}
    info["tensors"] = safetensors.load_file(dumped / f"{request.param}.safetensors")
    return info


def test_philox_known_answer():
    assert philox([0] * 4, [0] * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


def gae(t, gamma, lam):
    x = {k: t["rollout." + k].double() for k in ("reward", "value", "final_value")}
    ended, cut = t["rollout.terminated"], t["rollout.truncated"]
    steps, envs = x["reward"].shape
    advantage = torch.zeros(steps, envs, dtype=torch.float64)
    for n in range(envs):
        running = 0.0
        for s in reversed(range(steps)):
            future = x["value"][s + 1, n]
            if cut[s, n]:
                future = x["final_value"][s, n]
            if ended[s, n]:
                future = 0.0
            if ended[s, n] or cut[s, n]:
                running = 0.0
            running = x["reward"][s, n] + gamma * future - x["value"][s, n] + gamma * lam * running
            advantage[s, n] = running
    return advantage


def test_advantages(case):
    t, c = case["tensors"], case["config"]
    expected = gae(t, c["ppo.gamma"], c["ppo.gae_lambda"])
    scale = expected.abs().max().item()
    torch.testing.assert_close(t["rollout.advantage"].double(), expected, rtol=1e-6, atol=1e-6 * scale)
    torch.testing.assert_close(
        t["rollout.target"].double(), expected + t["rollout.value"][:-1].double(), rtol=1e-6, atol=1e-6 * scale
    )


def stack(weights, name, x, activation, last):
    k = 0
    while f"{name}.{k}.weight" in weights:
        x = torch.nn.functional.linear(x, weights[f"{name}.{k}.weight"], weights[f"{name}.{k}.bias"])
        k += 1
        if last or f"{name}.{k}.weight" in weights:
            x = activation(x)
    return x


def forward(case, weights, obs):
    activation = torch.tanh if case["config"]["net.activation"] == "tanh" else torch.relu
    x = stack(weights, "trunk", obs, activation, True)
    return stack(weights, "actor", x, activation, False), stack(weights, "critic", x, activation, False)[:, 0]


def log_prob_entropy(case, weights, out, actions, legal):
    if case["choices"]:
        log_prob = entropy = 0
        if legal is not None:
            out = out.masked_fill(~legal, -math.inf)
        for d, part in enumerate(out.split(case["choices"], dim=1)):
            p = torch.softmax(part, 1)
            log_p = torch.log_softmax(part, 1)
            log_prob = log_prob + log_p.gather(1, actions[:, d : d + 1])[:, 0]
            # 0 log 0 = 0: illegal alternatives add nothing
            entropy = entropy - torch.where(p > 0, p * log_p.masked_fill(p == 0, 0), torch.zeros_like(p)).sum(1)
        return log_prob, entropy
    normal = torch.distributions.Normal(out, weights["log_std"].exp().expand_as(out))
    log_prob = normal.log_prob(actions).sum(1)
    if case["config"]["net.squash"]:
        low, high = torch.tensor(case["low"]), torch.tensor(case["high"])
        transform = torch.distributions.transforms
        squash = transform.ComposeTransform(
            [transform.TanhTransform(), transform.AffineTransform((low + high) / 2, (high - low) / 2)]
        )
        log_prob = log_prob - squash.log_abs_det_jacobian(actions, squash(actions)).sum(1)
    return log_prob, normal.entropy().sum(1)


def minibatches(case, epoch):
    """The m-th slice of every shard's own permutation."""
    t, c = case["tensors"], case["config"]
    steps, envs = t["rollout.reward"].shape
    count = max(1, steps * envs // c["ppo.minibatch"])
    orders = []
    for s, (begin, end) in enumerate(case["shards"]):
        items = [step * envs + n for step in range(steps) for n in range(begin, end)]
        orders.append(shuffled(items, Words(c["seed"], s, epoch, SHUFFLE)))
    for m in range(count):
        yield [i for o in orders for i in o[len(o) * m // count : len(o) * (m + 1) // count]]


def loss_of(case, weights, rows, epoch):
    c, t = case["config"], case["tensors"]
    flat = {k: t["rollout." + k].flatten(0, 1) for k in ("obs", "actions", "log_prob", "value", "advantage", "target")}
    steps, envs = t["rollout.reward"].shape
    flat["obs"], flat["value"] = flat["obs"][: steps * envs], flat["value"][: steps * envs]
    legal = t["rollout.legal"].flatten(0, 1)[rows] if "rollout.legal" in t else None
    out, value = forward(case, weights, flat["obs"][rows])
    advantage = flat["advantage"][rows]
    if c["ppo.normalise_advantage"]:
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    total, parts = 0, {}
    if epoch < c["ppo.policy_epochs"]:
        log_prob, entropy = log_prob_entropy(case, weights, out, flat["actions"][rows], legal)
        ratio = (log_prob - flat["log_prob"][rows]).exp()
        clipped = ratio.clamp(1 - c["ppo.clip"], 1 + c["ppo.clip"])
        parts["train/policy_gradient_loss"] = torch.max(-advantage * ratio, -advantage * clipped).mean()
        parts["train/entropy_loss"] = -entropy.mean()
        parts["train/clip_fraction"] = ((ratio - 1).abs() > c["ppo.clip"]).float().mean()
        total = parts["train/policy_gradient_loss"] + c["ppo.entropy_weight"] * parts["train/entropy_loss"]
    if epoch < c["ppo.value_epochs"]:
        error = (value - flat["target"][rows]) ** 2
        if c["ppo.value_clip"] > 0:
            old = flat["value"][rows]
            near = old + (value - old).clamp(-c["ppo.value_clip"], c["ppo.value_clip"])
            error = torch.max(error, (near - flat["target"][rows]) ** 2)
        parts["train/value_loss"] = error.mean()
        total = total + c["ppo.value_weight"] * parts["train/value_loss"]
    return total, parts


def test_one_whole_update(case):
    c, t = case["config"], case["tensors"]
    weights = {k[7:]: v.clone().requires_grad_() for k, v in t.items() if k.startswith("before.")}
    adam = torch.optim.Adam(weights.values(), lr=c["ppo.learning_rate"], betas=(0.9, c["ppo.adam_beta2"]),
                            eps=c["ppo.adam_epsilon"])
    sums = {}
    for epoch in range(max(c["ppo.policy_epochs"], c["ppo.value_epochs"])):
        for rows in minibatches(case, epoch):
            loss, parts = loss_of(case, weights, rows, epoch)
            for w in weights.values():  # a parameter that no loss reaches still decays its moments
                w.grad = torch.zeros_like(w)
            loss.backward()
            if c["ppo.max_grad_norm"] > 0:
                torch.nn.utils.clip_grad_norm_(weights.values(), c["ppo.max_grad_norm"])
            adam.step()
            for k, v in parts.items():
                sums.setdefault(k, []).append(v.item())
    moved = max((w - t["before." + k]).abs().max().item() for k, w in weights.items())
    assert moved > 1e-3, "the update must have moved something"
    for name, w in weights.items():
        torch.testing.assert_close(t["after." + name], w.detach(), rtol=1e-6, atol=1e-6)
    for name, values in sums.items():
        mean = sum(values) / len(values)
        assert case["metrics"][name] == pytest.approx(mean, rel=1e-5, abs=1e-6), name
