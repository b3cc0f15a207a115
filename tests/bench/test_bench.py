"""Short benches with generous guards; the full ones are commands, their reports under bench/reports."""


def test_env(penstock):
    result = penstock.json("bench", "env", "--env", "cartpole", "--num-envs", 1024, "--threads", 1,
                           "--round-seconds", 0.2)
    assert result["steps_per_second"] >= 10e6


def test_ppo_beside_bare_libtorch(penstock):
    result = penstock.json("bench", "ppo", "--num-envs", 64, "--minibatch", 2048, "--threads", 1,
                           "--round-seconds", 0.5)
    assert result["samples_per_second"] > 0 and result["bare_samples_per_second"] > 0
    assert result["ratio"] >= 0.8


def test_every_env_can_be_measured(penstock):
    for env in penstock.json("envs"):
        result = penstock.json("bench", "env", "--env", env["name"], "--rounds", 1, "--round-seconds", 0.05)
        assert result["steps_per_second"] > 0
