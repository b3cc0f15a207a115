"""The names of penstock.cage2."""

import numpy as np
import pytest

import penstock
from penstock import cage2


ORDER = ("op_server", "user", "op_host", "enterprise", "defender")


def test_envs_show_the_order_and_begin_anew():
    envs = cage2.ParallelEnvWrapper(4, ORDER, red="meander")
    obs = envs.reset(seed=1)
    assert obs.shape == (4, 52) and obs.dtype == np.float32 and envs.orders.shape == (4, 5, 5)
    assert [cage2.TYPES[i] for i in envs.orders[0].argmax(axis=1)] == list(ORDER)
    for t in range(200):
        obs, rewards, dones = envs.step([1] * 4)
        assert obs.shape == (4, 52) and rewards.shape == dones.shape == (4,)
        assert dones.all() == dones.any() == (t % 100 == 99)
        if t % 100 == 99:
            assert not obs.any()
    envs.close()
    with pytest.raises(penstock.ConfigError, match="op_server"):
        cage2.ParallelEnvWrapper(4, ("user",))


def test_ppo_is_the_recipe():
    model = cage2.ParallelOrderConditionedPPO(n_envs=5, verbose=0, run={"eval_episodes": 0})
    assert model.config["ppo.learning_rate"] == 0.002 and model.config["env.num_envs"] == 5
    assert model.learn(1000).summary.total_timesteps == 1000
    with pytest.raises(penstock.UsageError, match=r"learn\(500\) plays one episode in every env"):
        model.update(cage2.ParallelTrajectoryBuffer(5))


@pytest.mark.parametrize("order", ["random", ORDER])
def test_the_loop_of_a_script(order):
    model = cage2.ParallelOrderConditionedPPO(order, n_envs=5, verbose=0, run={"eval_episodes": 0}).learn(1000)
    envs, buffer = cage2.ParallelEnvWrapper(5, order), cage2.ParallelTrajectoryBuffer(5)
    obs = envs.reset(seed=3)
    given = () if order == ORDER else (envs.orders,)
    for _ in range(20):
        actions, log_probs, values = model.get_actions(obs, *given)
        after, rewards, dones = envs.step(actions)
        buffer.add(obs, actions, rewards, log_probs, values, dones)
        obs = after
    assert len(buffer) == 100 and (buffer.arrays()["log_probs"] < 0).all()
    likeliest, highest, _ = model.get_actions(obs, *given, deterministic=True)
    assert likeliest.tolist() == model.predict({"obs": obs, "order": envs.orders})[0].tolist()
    assert (highest >= model.get_actions(obs, *given)[1]).all()
    buffer.reset()
    assert len(buffer) == 0


def test_what_get_actions_must_know():
    with pytest.raises(penstock.UsageError, match="get_actions\\(obs, envs.orders\\)"):
        cage2.ParallelOrderConditionedPPO(n_envs=2).get_actions(np.zeros((2, 52)))
    with pytest.raises(penstock.UsageError, match="use predict"):
        cage2.ParallelOrderConditionedPPO(ORDER, n_envs=2, net={"activation": "relu"}).get_actions(np.zeros((2, 52)))


def test_returns_end_with_their_episode():
    buffer = cage2.ParallelTrajectoryBuffer(1, gamma=0.5)
    for reward, done in ((1, False), (2, True), (4, False)):
        buffer.add([[0]], [0], [reward], [0.0], [0.0], [done])
    raw = np.array([2.0, 2.0, 4.0])
    assert np.allclose(buffer.arrays()["returns"][:, 0], (raw - raw.mean()) / raw.std())
    with pytest.raises(ValueError, match="dones: 2 rows, expected 1"):
        buffer.add([[0]], [0], [0], [0.0], [0.0], [False, False])
    assert len(buffer) == 3


def test_the_trainer_is_the_search():
    command = cage2.ParallelWorkflowRLTrainer(n_workflows=3, red="meander").command()
    assert command[3:5] == ["cage2", "search"] and command[-1] == "--json"
    assert command[command.index("--n-workflows") + 1] == "3" and command[command.index("--red") + 1] == "meander"


def test_beliefs_are_a_part_of_what_a_defender_sees():
    envs = penstock.VectorEnv("cage2_defender", 3, num_hypotheses=16, red="bline")
    obs, _ = envs.reset(seed=1)
    assert obs["belief"].shape == (3, 56)
    assert np.allclose(obs["belief"][:, -4:-1], [10 / 21, 10 / 21, 1 / 21])  # env.mix, whoever plays
    for _ in range(12):
        obs, *_ = envs.step([0] * 3)
    assert (obs["belief"][:, -4] > 0.99).all() and (obs["belief"] <= 1.0001).all()
    envs.close()


def test_memory_and_belief_of_an_agent_are_those_of_the_env():
    envs = penstock.VectorEnv("cage2_defender", 1, num_hypotheses=64, red="bline")
    memory, belief = cage2.Memory(), cage2.Belief(64)
    obs, _ = envs.reset(seed=4)
    analyse_enterprise0 = (1, 3, True)  # the macro action, that of the 145, and that it always succeeds
    sleep = (0, 0, None)
    for step in range(30):
        assert np.array_equal(memory.features(), obs["memory"][0])
        assert np.array_equal(belief.features(), obs["belief"][0])
        macro, action, success = analyse_enterprise0 if step % 3 == 0 else sleep
        obs, *_ = envs.step([macro])
        memory.note(action, success, obs["obs"][0])
        belief.note(action, success, obs["obs"][0])
    told = belief.told()
    assert told["red"]["bline"] == 1 and told["exact"] and not told["lost"]
    assert told["hosts"]["User0"]["privileged"] == 1  # where red begins
    assert set(memory.flagged(obs["obs"][0])) <= set(range(13))
    belief.reset()
    assert belief.told()["red"]["bline"] == round(10 / 21, 4)
    with pytest.raises(penstock.UsageError, match="52 numbers"):
        memory.note(0, None, [0.0])
    envs.close()


def memory_of(steps):
    memory = cage2.Memory()
    for step in steps:
        memory.note(*step)
    return memory


@pytest.mark.parametrize("macro", [False, True])
@pytest.mark.parametrize("mask", ["legal", "order"])
def test_masks_and_macro_actions_of_an_agent_are_those_of_the_env(mask, macro):
    envs = penstock.VectorEnv("cage2", 1, red="meander", memory=True, macro=macro, mask=mask, order=",".join(ORDER))
    obs, infos = envs.reset(seed=2)
    rng = np.random.default_rng(1)
    memory, steps, closed, fixes = cage2.Memory(), [], 0, 0
    for _ in range(90):
        is_open = memory.mask(obs["hosts"].reshape(52), ORDER if mask == "order" else None, macro)
        assert np.array_equal(is_open, infos["action_mask"].reshape(-1))
        assert np.array_equal(memory.features(), obs["memory"][0])
        closed += np.count_nonzero(~is_open)
        choice = int(rng.choice(np.flatnonzero(is_open)))
        action = memory.macro_action(choice) if macro else choice
        fixes += 15 <= action < 28 or action >= 132
        obs, _, _, _, infos = envs.step([choice])
        # Whether it succeeded: an env does not say so, but its memory does.
        for success in (True, False, None):
            memory = memory_of([*steps, (action, success, obs["hosts"].reshape(52))])
            if np.array_equal(memory.features(), obs["memory"][0]):
                break
        steps.append((action, success, obs["hosts"].reshape(52)))
    assert closed > 90 and fixes > 0
    envs.close()


def test_types_of_hosts():
    assert cage2.HOST_TYPES[cage2.HOSTS.index("Op_Server0")] == "op_server" and len(cage2.HOST_TYPES) == 13
    assert all(name.lower().rstrip("0123456789") == kind for name, kind in zip(cage2.HOSTS, cage2.HOST_TYPES, strict=True))
    memory = cage2.Memory()
    assert not memory.mask(np.zeros(52), ",".join(ORDER))[132:].any() and memory.mask(np.zeros(52))[132:].all()
    with pytest.raises(penstock.ConfigError, match="there are five types"):
        memory.mask(np.zeros(52), ("user",))
