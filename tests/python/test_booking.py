"""The names of penstock.booking."""

import numpy as np

import penstock
from penstock.booking import VectorizedDVRPEnv, select_action_batch


def test_a_day_of_requests():
    envs = VectorizedDVRPEnv(num_envs=4, customers=6, oracle="insertion")
    obs = envs.reset(seed=1)
    assert obs.shape == (4, 606, 2) and (obs[..., 0].sum(1) == 0).all() and (obs[..., 1].sum(1) == 6).all()
    for t in range(12):
        assert envs.masks.shape == (4, 16) and envs.masks.dtype == bool
        obs, rewards, dones = envs.step(envs.masks.argmax(1))
        assert rewards.shape == (4,) and dones.all() == dones.any() == (t % 6 == 5)
        committed = (t + 1) % 6
        assert (obs[..., 0].sum(1) == 6 * committed).all()  # the next day begins with none
    envs.close()


def test_actions_for_all_envs_at_once():
    config = penstock.Config.from_recipe("dvrptw-source")
    model = penstock.PPO("dvrptw", 4, 1, config=config, verbose=0,
                         **{"env.oracle": "insertion", "env.customers": 6})
    envs = VectorizedDVRPEnv(4, 6, oracle="insertion")
    obs = envs.reset(seed=1)
    masks = np.zeros((4, 16), dtype=bool)
    masks[:, [3, 12]] = True
    drawn = np.array([select_action_batch(model, obs, masks) for _ in range(30)])
    assert drawn.shape == (30, 4) and set(drawn.ravel()) == {3, 12}
    likeliest = select_action_batch(model, obs, masks, deterministic=True)
    assert np.array_equal(likeliest, model.predict(obs, action_masks=masks)[0])
    envs.close()
