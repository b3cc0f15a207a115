"""A torch.nn.Module as the policy."""

import numpy as np
import pytest
import torch
from torch import nn

import penstock


class Net(nn.Module):
    """Two small networks over all features."""

    def __init__(self, num_features, num_params):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(num_features, 32), nn.Tanh(), nn.Linear(32, num_params))
        self.critic = nn.Sequential(nn.Linear(num_features, 32), nn.Tanh(), nn.Linear(32, 1))
        self.masks_seen = False

    def forward(self, obs, legal):
        self.masks_seen |= legal is not None
        return self.actor(obs), self.critic(obs)


def net(*sizes):
    torch.manual_seed(0)
    return Net(*sizes)


def ppo(env, policy, **keys):
    return penstock.PPO(env, 32, 1, policy=policy, verbose=0, **{"run.eval_episodes": 50, **keys})


def test_it_learns_to_name_classes():
    module = net(4, 4)
    model = ppo("identity", module).learn(60_000)
    assert model.summary.eval.mean_reward > 15.5  # of 16
    rows = np.eye(4, dtype=np.float32)
    assert model.predict(rows)[0].tolist() == [0, 1, 2, 3]
    logits, _ = module(torch.from_numpy(rows), None)  # the module itself has the weights
    assert logits.argmax(1).tolist() == [0, 1, 2, 3]


def test_it_learns_cartpole():
    model = ppo("cartpole", net(4, 2), **{"run.stop_at_reward": 150.0}).learn(200_000)
    assert model.summary.eval.mean_reward > 150


class Looks(penstock.Callback):
    """Asks for the newest version while a learner beside the sampler may be in Python."""

    def __init__(self):
        self.looks = 0

    def on_log(self, model, progress, metrics):
        self.looks += 1
        model.predict(np.zeros((1, 4), np.float32))
        assert model.weights()
        assert model.digest


def test_it_learns_beside_the_sampler():
    looks = Looks()
    model = ppo("cartpole", net(4, 2), algo="appo", **{"run.eval_episodes": 2}).learn(40_000, callbacks=looks)
    assert looks.looks > 10
    assert model.digest == ppo("cartpole", net(4, 2), algo="appo", **{"run.eval_episodes": 2}).learn(40_000).digest


@pytest.mark.parametrize("layer", [nn.BatchNorm1d(32), nn.InstanceNorm1d(32, track_running_stats=True)], ids=repr)
def test_running_statistics_are_refused_by_their_place(layer):
    module = net(4, 2)
    module.actor.insert(1, layer)
    with pytest.raises(penstock.UsageError, match=r"policy: actor.1 is .*use LayerNorm or GroupNorm, or freeze it"):
        ppo("cartpole", module)
    layer.eval()
    if isinstance(layer, nn.BatchNorm1d):
        ppo("cartpole", module).learn(1024)
    module.actor[1] = nn.LayerNorm(32)
    ppo("cartpole", module).learn(1024)


def test_masks_reach_the_module():
    class Watching(Net):
        def forward(self, obs, legal):
            assert legal.dtype == torch.bool and legal.shape == (len(obs), 8)
            return self.actor(obs), self.critic(obs).squeeze(1)

    ppo("masked", Watching(32, 8)).learn(4096)


def test_boxes_get_means_and_deviations():
    model = ppo("pendulum", net(3, 2)).learn(4096)
    assert model.predict(np.zeros(3))[0].shape == (1,)


def test_threads_change_nothing():
    digests = {ppo("cartpole", net(4, 2), threads=threads, **{"rollout.shards": 4}).learn(8192).digest
               for threads in (1, 2, 4)}
    assert len(digests) == 1


def test_saving_and_loading(tmp_path):
    model = ppo("cartpole", net(4, 2)).learn(4096)
    model.save(tmp_path / "saved")
    with pytest.raises(penstock.UsageError, match=r"net.kind = module.*PPO.load\(path, policy=...\)"):
        penstock.PPO.load(tmp_path / "saved")
    fresh = net(4, 2)
    loaded = penstock.PPO.load(tmp_path / "saved", policy=fresh)
    assert loaded.digest == model.digest
    assert torch.equal(fresh.actor[0].weight, model.weights()["actor.0.weight"])
    assert loaded.learn(4096).digest == model.learn(4096).digest
    other = net(4, 2)
    other.actor = nn.Linear(4, 2)
    with pytest.raises(penstock.DataError, match="actor"):
        penstock.PPO.load(tmp_path / "saved", policy=other)


def test_a_run_without_a_module_takes_none(tmp_path):
    penstock.PPO("cartpole", 16, verbose=0).learn(1024).save(tmp_path / "saved")
    with pytest.raises(penstock.UsageError, match="net.kind = mlp.*trained without one"):
        penstock.PPO.load(tmp_path / "saved", policy=net(4, 2))


def test_wrong_modules():
    class Silent(Net):
        def forward(self, obs, legal):
            return self.actor(obs)

    class Raising(Net):
        def forward(self, obs, legal):
            raise ZeroDivisionError("mine")

    cases = [(net(4, 3), r"first tensor of forward\(\) is \[\d+, 3\], expected \[\d+, 2\]"),
             (Silent(4, 2), "must return two tensors"), (net(4, 2).double(), "actor.0.weight is not float32"),
             (nn.Tanh(), "no parameters")]
    for module, words in cases:
        with pytest.raises(penstock.UsageError, match=words):
            ppo("cartpole", module).learn(1024)
    with pytest.raises(ZeroDivisionError, match="mine"):
        ppo("cartpole", Raising(4, 2)).learn(1024)


def test_after_a_failure_a_run_goes_on_from_where_it_failed():
    class Failing(Net):
        calls_left = 10**9

        def forward(self, obs, legal):
            Failing.calls_left -= 1
            if Failing.calls_left < 0:
                raise ZeroDivisionError("mine")
            return super().forward(obs, legal)

    def model():
        torch.manual_seed(0)
        return ppo("cartpole", Failing(4, 2), **{"run.save_interval": 4096, "run.save_every_s": 0.0})

    whole = model().learn(16_384).digest
    failing = model()

    def soon(model, progress, metrics):
        if progress.timesteps == 6144:
            Failing.calls_left = 100

    with pytest.raises(ZeroDivisionError):
        failing.learn(16_384, soon)
    saved = failing.num_timesteps
    assert 6144 <= saved < 16_384  # where the segment that failed began, not the last timed checkpoint
    Failing.calls_left = 10**9
    assert failing.learn(16_384 - saved).digest == whole


def test_rows_may_be_kept():
    class Keeping(Net):
        kept = []

        def forward(self, obs, legal):
            self.kept.append((obs, obs.clone()))
            return self.actor(obs), self.critic(obs)

    module = Keeping(4, 2)
    ppo("cartpole", module).learn(1024)
    assert all(torch.equal(rows, at_that_time) for rows, at_that_time in Keeping.kept)


def test_without_a_module_there_is_no_such_kind():
    with pytest.raises(penstock.ConfigError, match="net.kind = module: not one of mlp"):
        penstock.PPO("cartpole", **{"net.kind": "module"})
