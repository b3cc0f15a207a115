"""What is said to an env's author about twenty mistakes; docs/python.md has the same words in a table."""

import pathlib
import threading

import mistaken_envs
import pytest
import worker_envs
from mistaken_envs import Mistaken

import penstock

DOCS = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md").read_text()
lock = threading.Lock()

# What is given as env, what is said, and a rest of the keywords.
REFUSED = {
    "reward None": (Mistaken, "step() returned None as its reward; return a number", {"how": "none reward"}),
    "reward array": (Mistaken, "step() returned an array of shape (1,) as its reward; return one number",
                     {"how": "array reward"}),
    "info None": (Mistaken, "step() returned None as its info; return a dict", {"how": "no info"}),
    "no seed": (mistaken_envs.WithoutSeed, "reset() does not take `seed`; write def reset(self, *, seed=None, options=None)",
                {}),
    "obs only": (Mistaken, "reset() returned ndarray of shape (3,); return the observation and a dict", {"how": "obs only"}),
    "no spaces": (Mistaken, "Mistaken has no observation_space; set it in __init__", {"how": "no spaces"}),
    "four values": (Mistaken, "step() returned 4 values; return obs, reward, terminated, truncated, info", {"how": "four"}),
    "PettingZoo": (mistaken_envs.Agents, "a PettingZoo env of several agents; one agent is trained", {}),
    "VectorEnv": (mistaken_envs.vector, "which is many envs in one; give what makes one env", {}),
    "gym": (mistaken_envs.OldEnv, "an env of the old gym package; wrap it with GymV26CompatibilityV0", {}),
    "wrong shape": (Mistaken, "has shape (5,), its space (3,); return it in that shape", {"how": "wrong shape"}),
    "typo": ("mistaken_envs:Mistakn", "module mistaken_envs has no class or function Mistakn; did you mean Mistaken", {}),
    "None made": (mistaken_envs.nothing, "the factory made None; does it end without `return env`?", {}),
    "class made": (mistaken_envs.a_class, "the factory made the class WithoutSeed, not an env; return WithoutSeed()", {}),
}
REMARKED = {
    "extra axis": ("extra axis", "has shape (1, 3), its space (3,); the numbers are taken in their order"),
    "outside": ("outside", "is outside of its space"),
    "int box": ("int box", "whole numbers in a Box: the nearest to what the policy means is taken"),
    "exit": ("exit", "its process ended with exit code 3 in step 2 of a trial"),
    "segfault": ("segfault", "its process was killed by signal 11 (Segmentation fault) in step 2 of a trial"),
}
AT_ONCE = {
    "instance": (lambda: penstock.PPO(Mistaken("none")), "one env is not enough, many are made from it"),
    "closure": (lambda: penstock.PPO(lambda: Mistaken(str(lock))), "worker processes get it pickled"),
    "kwargs": (lambda: penstock.PPO(Mistaken, env_kwargs={"how": "none", "size": {1, 2}}),
               "is not JSON, as what goes to other processes by name has to be"),
    "MlpPolicy first": (lambda: penstock.PPO("MlpPolicy", "CartPole-v1"), "the env comes first, and no policy need be named"),
    "policy by name": (lambda: penstock.PPO("cartpole", policy="MlpPolicy"), "expected a torch.nn.Module; without one"),
}


def documented(words):
    return words in DOCS


@pytest.mark.parametrize("case", REFUSED)
def test_a_mistake_is_refused_with_its_remedy(case):
    env, words, kwargs = REFUSED[case]
    with pytest.raises(penstock.ConfigError) as caught:
        penstock.PPO(env, 2, env_kwargs=kwargs)
    assert words in str(caught.value), str(caught.value)
    assert documented(words)


@pytest.mark.parametrize("case", REMARKED)
def test_what_is_accepted_is_remarked_on_once(case, capfd):
    how, words = REMARKED[case]
    penstock.PPO(Mistaken, 2, env_kwargs={"how": how})
    assert capfd.readouterr().err.count(words) == 1
    assert documented(words)


@pytest.mark.parametrize("case", AT_ONCE)
def test_a_mistake_of_the_call(case):
    call, words = AT_ONCE[case]
    with pytest.raises((TypeError, penstock.UsageError)) as caught:
        call()
    assert words in str(caught.value), str(caught.value)
    assert documented(words)


def test_the_culprit_of_a_closure_is_named():
    key = threading.Lock()
    with pytest.raises(TypeError, match="cannot pickle '_thread.lock' object: key; make such things inside"):
        penstock.PPO(lambda: Mistaken(str(key)))
    with pytest.raises(penstock.UsageError, match="env_kwargs: size = {1, 2} is not JSON.*lambda: MyEnv"):
        penstock.PPO(Mistaken, env_kwargs={"how": "none", "size": {1, 2}})


@pytest.mark.parametrize("workers", [0, 1])
def test_a_mistake_that_comes_late_has_the_same_words(workers):
    """Beyond the steps that are tried out."""
    env = penstock.VectorEnv(worker_envs.Spoilt, 1, num_workers=workers, replay_dir=None)
    env.reset(seed=0)
    with pytest.warns(RuntimeWarning, match="step 300.*step\\(\\) returned None as its reward; return a number"):
        for _ in range(300):
            env.step([0])
    env.close()
