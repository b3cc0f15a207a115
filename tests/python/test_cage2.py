"""The names of penstock.cage2."""

import numpy as np
import pytest

import penstock
from penstock import cage2


def test_envs_show_the_order_and_begin_anew():
    order = ("op_server", "user", "op_host", "enterprise", "defender")
    envs = cage2.ParallelEnvWrapper(4, order, red="meander")
    obs, _ = envs.reset(seed=1)
    assert obs["obs"].shape == (4, 52) and obs["order"].shape == (4, 5, 5)
    assert [cage2.TYPES[i] for i in obs["order"][0].argmax(axis=1)] == list(order)
    for t in range(200):
        obs, _, terminated, _, _ = envs.step(np.full(4, 1))
        assert terminated.all() == (t % 100 == 99)
        if t % 100 == 99:
            assert not obs["obs"].any()
    with pytest.raises(penstock.ConfigError, match="op_server"):
        cage2.ParallelEnvWrapper(4, ("user",))


def test_ppo_is_the_recipe():
    model = cage2.ParallelOrderConditionedPPO(n_envs=5, verbose=0, run={"eval_episodes": 0})
    assert model.config["ppo.learning_rate"] == 0.002 and model.config["env.num_envs"] == 5
    assert model.learn(1000).summary.total_timesteps == 1000


def test_returns_end_with_their_episode():
    buffer = cage2.ParallelTrajectoryBuffer(1, gamma=0.5)
    for reward, done in ((1, False), (2, True), (4, False)):
        buffer.add([[0]], [0], [0.0], [reward], [done])
    raw = np.array([2.0, 2.0, 4.0])
    assert np.allclose(buffer.arrays()["returns"][:, 0], (raw - raw.mean()) / raw.std())
    assert len(buffer) == 3
    with pytest.raises(ValueError, match="expected 1"):
        buffer.add([[0], [0]], [0], [0.0], [0], [False])


def test_the_trainer_is_the_search():
    command = cage2.ParallelWorkflowRLTrainer(n_workflows=3, red="meander").command()
    assert command[3:5] == ["cage2", "search"] and command[-1] == "--json"
    assert command[command.index("--n-workflows") + 1] == "3" and command[command.index("--red") + 1] == "meander"
