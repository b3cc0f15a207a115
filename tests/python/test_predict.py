"""predict() takes the env's own observations and answers with the env's own actions."""

import numpy as np
import pytest
import worker_envs
from gymnasium import spaces
from gymnasium.vector.utils import concatenate, create_empty_array

import penstock

OBSERVATIONS = {
    "discrete": spaces.Discrete(5),
    "start": spaces.Discrete(5, start=-2),
    "multi-discrete": spaces.MultiDiscrete([3, 4]),
    "table": spaces.MultiDiscrete([[2, 3], [4, 5]], start=[[1, 1], [0, 0]]),
    "scalar": spaces.Box(-1, 1, ()),
    "double": spaces.Box(-1, 1, (2, 3), np.float64),
    "image": spaces.Box(0, 255, (4, 4, 1), np.uint8),
    "binary": spaces.MultiBinary(3),
    "tuple": spaces.Tuple((spaces.Discrete(3), spaces.Box(-1, 1, (2,)))),
    "nested": spaces.Dict(a=spaces.Discrete(3), b=spaces.Dict(
        c=spaces.Box(-1, 1, (2,)), d=spaces.Tuple((spaces.MultiBinary(2), spaces.Discrete(2))))),
}
ACTIONS = {
    "start": spaces.Discrete(3, start=-1),
    "multi-discrete": spaces.MultiDiscrete([3, 4], start=[1, -1]),
    "table": spaces.MultiDiscrete([[2, 3], [4, 5]]),
    "binary": spaces.MultiBinary((2, 2)),
    "box": spaces.Box(-2, 2, (2,)),
    "double": spaces.Box(-0.1, 0.1, (2, 2), np.float64),
    "whole": spaces.Box(-3, 4, (2,), np.int32),
}


def model_of(obs, action):
    return penstock.PPO(lambda: worker_envs.Spaces(obs, action), 2, 3, num_workers=0, verbose=0,
                        net={"log_std_init": 1.0} if isinstance(action, spaces.Box) else {})


def batch_of(space, values):
    return concatenate(space, values, create_empty_array(space, len(values)))


@pytest.mark.parametrize("space", OBSERVATIONS.values(), ids=OBSERVATIONS)
def test_observations_of_the_env(space):
    factory = lambda: worker_envs.Spaces(space, spaces.Discrete(4))  # noqa: E731
    model = penstock.PPO(factory, 2, 3, num_workers=0, verbose=0)
    assert model.observation_space == space
    env = factory()
    values = [env.reset(seed=seed)[0] for seed in range(6)]
    actions = [model.predict(value)[0] for value in values]
    assert all(np.ndim(action) == 0 and 0 <= action < 4 for action in actions)
    assert model.predict(batch_of(space, values))[0].tolist() == actions
    # What workers write is what predict() reads, and their own form is taken too.
    envs = penstock.VectorEnv(factory, 6, num_workers=0)
    rows, _ = envs.reset(seed=0)
    assert np.array_equal(model._rows_of(batch_of(space, values))[0], envs._arrays["obs"])
    assert model.predict(rows)[0].tolist() == actions
    envs.close()


@pytest.mark.parametrize("space", ACTIONS.values(), ids=ACTIONS)
def test_actions_of_the_env(space):
    model = model_of(spaces.Box(-1, 1, (3,)), space)
    assert model.action_space == space
    rows = np.random.default_rng(0).uniform(-1, 1, (50, 3)).astype(np.float32)
    for deterministic in (True, False):
        assert space.contains(model.predict(rows[0], deterministic)[0])
        assert all(space.contains(action) for action in model.predict(rows, deterministic)[0])
    if not isinstance(space, spaces.Box):
        seen = np.array([model.predict(rows, False)[0] for _ in range(20)]).reshape(1000, -1)
        low, high = seen.min(0), seen.max(0)
        first = np.ravel(getattr(space, "start", 0))
        assert (low == first).all() and (high > first).all()  # from the space's own first one on
    env = worker_envs.Spaces(spaces.Box(-1, 1, (3,)), space)
    obs, _ = env.reset(seed=1)
    for _ in range(3):
        obs, *_ = env.step(model.predict(obs, deterministic=False)[0])


@pytest.mark.parametrize("env", penstock.env_names())
def test_rows_of_native_envs_are_as_the_env_wrote_them(env):
    """Also where the parts of a row are in another order than their names."""
    envs = penstock.VectorEnv(env, 3)
    model = penstock.PPO(env, 2, 3, verbose=0)
    assert np.array_equal(model._rows_of(envs.reset(seed=0)[0])[0], envs._arrays["obs"])


def test_what_is_not_an_observation():
    model = model_of(OBSERVATIONS["nested"], spaces.Discrete(2))
    with pytest.raises(penstock.UsageError, match="no part 'b.c'"):
        model.predict({"a": 1, "b": {}})
    with pytest.raises(penstock.UsageError, match=r"part 'a' is 3, which is not in its space|part 'a' is \[3\]"):
        model.predict({"a": 3, "b": {"c": np.zeros(2), "d": (np.zeros(2), 0)}})
    with pytest.raises(penstock.UsageError, match="not batches of one size"):
        model.predict({"a": 1, "b": {"c": np.zeros((4, 2)), "d": (np.zeros(2), 0)}})
    with pytest.raises(penstock.UsageError, match="part 'obs' is float64, expected whole numbers"):
        model_of(OBSERVATIONS["discrete"], spaces.Discrete(2)).predict(1.5)


def test_a_mask_in_the_observation_is_obeyed():
    model = penstock.PPO(worker_envs.Guess, 2, 3, num_workers=0, verbose=0, env_kwargs={"mask": "obs"})
    for only in range(6):
        obs = {"shown": 2, "action_mask": np.eye(6, dtype=np.int8)[only]}
        assert model.predict(obs)[0] == only
    assert model.predict({"shown": 2, "action_mask": np.zeros(6)}, action_masks=np.eye(6)[1])[0] == 1
