"""penstock.Config: the keys of the C++ side."""

import copy
import pickle

import pytest

import penstock


def test_defaults_and_names(cli):
    keys = penstock.Config().to_dict()
    assert keys["ppo.clip"] == 0.2 and keys["env.id"] == "cartpole" and keys["net.hidden"] == [64, 64]
    assert keys["pin_threads"] is False and keys["run.stop_at_reward"] == float("inf")
    section, listed = "", []
    for line in cli("config").stdout.splitlines():
        if line.startswith("["):
            section = line.strip("[]") + "."
        elif "=" in line:
            listed.append(section + line.split("=")[0].strip())
    assert list(keys) == listed


def test_nested_dotted_and_attributes():
    config = penstock.Config(seed=7, ppo={"clip": 0.1}, **{"net.hidden": [32, 16]})
    assert (config.seed, config.ppo.clip, config.net.hidden) == (7, 0.1, [32, 16])
    config.ppo.gamma = 0.5
    config["rollout.steps"] = 8
    config.device = "cpu"
    assert config["ppo.gamma"] == 0.5 and config.rollout.steps == 8
    assert {"clip", "gamma"} <= set(dir(config.ppo)) and "ppo" in dir(config)
    assert "ppo.gamma=0.5" in repr(config)


def test_a_section_that_is_a_word_of_python_has_an_underscore():
    config = penstock.Config(algo="appo", async_={"max_lag": 2})
    assert config.async_.max_lag == config["async.max_lag"] == 2
    config.async_.max_lag = 0
    assert config["async.max_lag"] == 0
    with pytest.raises(penstock.ConfigError, match="--algo appo"):
        penstock.Config(async_={"max_lag": 2})


def test_values_keep_their_bits():
    config = penstock.Config(**{"ppo.clip": 0.1 + 0.2, "ppo.learning_rate": 1e-7 / 3,
                                "run.stop_at_reward": float("inf")})
    assert config.ppo.clip == 0.1 + 0.2 and config.ppo.learning_rate == 1e-7 / 3
    assert config.run.stop_at_reward == float("inf")


def test_a_wrong_key_changes_nothing():
    config = penstock.Config(seed=7)
    for keys in ({"ppo.clip": 0.3, "ppo.clop": 1}, {"seed": -1}, {"env": {"id": "nope"}}, {"seed": "x"}):
        with pytest.raises(penstock.ConfigError):
            config.update(keys)
    assert config == penstock.Config(seed=7)
    with pytest.raises(AttributeError, match="did you mean 'ppo.clip'"):
        config.ppo.clipp  # noqa: B018
    with pytest.raises(AttributeError, match="unknown key 'sead'"):
        config.sead  # noqa: B018


def test_the_keys_of_an_env_stand_beside_it():
    config = penstock.Config(env={"id": "masked", "num_actions": 5})
    assert config.env.num_actions == 5
    with pytest.raises(penstock.ConfigError, match="unknown key 'env.num_actions'"):
        config.update({"env.id": "cartpole"})


def test_files_and_recipes(tmp_path):
    config = penstock.Config(seed=9, ppo={"clip": 0.15})
    (tmp_path / "run.toml").write_text(config.to_toml())
    assert penstock.Config.from_file(tmp_path / "run.toml") == config
    assert penstock.Config.from_recipe("pendulum").env.id == "pendulum"
    with pytest.raises(penstock.UsageError, match="not one of acrobot, .*pendulum"):
        penstock.Config.from_recipe("pong")
    with pytest.raises(OSError, match="cannot read the config file"):
        penstock.Config.from_file(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("seed = \n")
    with pytest.raises(penstock.ConfigError, match="bad.toml:1"):
        penstock.Config.from_file(tmp_path / "bad.toml")


def test_a_copy_is_its_own():
    config = penstock.Config(seed=1)
    other = config.copy()
    other.seed = 2
    assert config.seed == 1 and penstock.PPO("cartpole", config=config, seed=5).config.seed == 5


def test_it_is_pickled_and_copied():
    config = penstock.Config(seed=7, ppo={"clip": 0.1}, env={"id": "masked", "num_actions": 5})
    for other in (pickle.loads(pickle.dumps(config)), copy.deepcopy(config), copy.copy(config)):
        assert other == config and repr(other) == repr(config)
        other.seed = 8
        assert config.seed == 7
