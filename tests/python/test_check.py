"""penstock.check_env and `python -m penstock_worker.check`: what is found of envs, and what is said of it."""

import json
import subprocess
import sys
import threading

import gymnasium
import mistaken_envs
import pytest
import worker_envs
from mistaken_envs import Mistaken
from penstock_worker.examine import advice

import penstock

# How an env is mistaken: which check says it, how bad it is, and in what words.
FOUND = {
    "none reward": ("step", "failed", "return a number"),
    "array reward": ("step", "failed", "return one number"),
    "nan reward": ("step", "failed", "return a finite number"),
    "four": ("step", "failed", "return obs, reward, terminated, truncated, info"),
    "no info": ("step", "failed", "return a dict"),
    "raises": ("step", "failed", "ValueError: the valve is stuck"),
    "exit": ("step", "failed", "its process ended with exit code 3 in step 2"),
    "segfault": ("step", "failed", "its process was killed by signal 11 (Segmentation fault) in step 2"),
    "obs only": ("reset", "failed", "return the observation and a dict"),
    "no spaces": ("make", "failed", "set it in __init__"),
    "wrong shape": ("observations", "failed", "return it in that shape"),
    "nan obs": ("observations", "failed", "not finite"),
    "outside": ("observations", "warning", "widen the bounds"),
    "extra axis": ("observations", "warning", "the numbers are taken in their order"),
    "int box": ("spaces", "warning", "Discrete or MultiDiscrete learns better"),
    "short mask": ("masks", "failed", "the action mask has 1 entries, expected 2"),
    "empty mask": ("masks", "failed", "no legal action"),
    "late mask": ("masks", "warning", "return one there too"),
    "unseeded": ("seeds", "warning", "super().reset(seed=seed)"),
    "random": ("determinism", "warning", "self.np_random only"),
    "remembers": ("determinism", "warning", "keeps something over episodes"),
    "endless": ("episodes end", "warning", "gymnasium.wrappers.TimeLimit"),
    "once": ("second env", "failed", "env.envs_per_worker = 1"),
    "forgets": ("state", "failed", "have get_state() return all that changes"),
    "wrong state": ("state", "failed", "a state is of numbers"),
    "no close": ("close", "failed", "cannot close"),
}


def check(env, **kwargs):
    return penstock.check_env(env, seconds=0.1, **kwargs)


def of(report, name):
    return next(found for found in report.checks if found.name == name)


@pytest.mark.parametrize("how", FOUND)
def test_a_mistake_is_found(how):
    name, result, words = FOUND[how]
    report = check(mistaken_envs.stateful if name == "state" else Mistaken, how=how)
    found = of(report, name)
    assert found.result == result and words in found.text, report
    assert report.ok == (result != "failed")
    others = [each.name for each in report.checks if each.result != "ok" and each != found]
    assert others == (["determinism"] if how == "unseeded" else []), report  # which it then is not


@pytest.mark.parametrize("env", ["CartPole-v1", "Pendulum-v1", "worker_envs:Guess-v0", "cartpole", "reach",
                                 worker_envs.Parts, worker_envs.kept_cartpole, lambda: worker_envs.Guess("info")],
                         ids=lambda env: env if isinstance(env, str) else env.__name__)
def test_nothing_is_wrong_with_these(env):
    report = check(env)
    assert [found for found in report.checks if found.result != "ok"] == [], report
    assert len(report.checks) >= 14 and report.step_us > 0 and report.memory_mb >= 0
    assert ("state" in [found.name for found in report.checks]) == (env is worker_envs.kept_cartpole)
    assert repr(report).splitlines()[0].endswith(f"{len(report.checks)} ok")


def test_an_instance_is_played_where_it_is():
    env = gymnasium.make("CartPole-v1")
    report = check(env)
    assert report.ok and not {"second env", "memory", "close"} & {found.name for found in report.checks}
    env.reset()
    env.step(0)
    broken = check(Mistaken("none reward"))
    assert of(broken, "step").result == "failed" and broken.memory_mb is None


def test_what_cannot_be_made():
    lock = threading.Lock()
    for env, words in [("nope:Env-v0", "No module named 'nope'"), ("Cartpole-v1", "CartPole"),
                       (mistaken_envs.vector, "many envs in one"), (mistaken_envs.nothing, "does it end without"),
                       (lambda: Mistaken(str(lock)), "worker processes get it pickled"), (3, "expected an id")]:
        report = check(env)
        assert not report.ok and [found.name for found in report.checks] == ["make"]
        assert words in report.checks[0].text


def test_waiting_is_told_from_computing():
    busy = check(worker_envs.Worker, microseconds=2000)
    idle = check(mistaken_envs.Sleeping)
    assert busy.cpu_share > 0.9 > 0.5 > idle.cpu_share and min(busy.step_us, idle.step_us) > 1500
    assert "as many workers as cores" in of(busy, "parallel").text
    assert "2 to 4 workers for each core" in of(idle, "parallel").text


def test_advice():
    assert "num_workers = 0" in advice(5.0, 1.0, 8)
    assert "num_workers = 8 here" in advice(500.0, 0.9, 8)
    assert "num_workers = 16 to 32 here" in advice(500.0, 0.1, 8)


def test_memory_of_each_env():
    assert 15 < check(mistaken_envs.Heavy).memory_mb < 25


def run(*words):
    """Where neither torch nor the compiled parts can be imported."""
    code = ("import sys; sys.modules.update(dict.fromkeys(['torch', 'penstock', 'penstock_worker._runner'])); "
            "from penstock_worker.check import main; sys.exit(main(sys.argv[1:]))")
    return subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=60)


def test_the_command():
    done = run("CartPole-v1", "--seconds", "0.1")
    assert done.returncode == 0 and "ok       step cost: " in done.stdout, done.stderr
    done = run("CartPole-v1", "--seconds", "0.1", "--json", "--kwargs", '{"max_episode_steps": 9}')
    told = json.loads(done.stdout)
    assert list(told) == ["env", "checks", "step_us", "cpu_share", "memory_mb"] and told["env"] == "CartPole-v1"
    ends = next(found for found in told["checks"] if found["name"] == "episodes end")
    assert ends["result"] == "ok" and "after 9 random steps" in ends["text"]
    done = run("Nope-v1", "--seconds", "0.1")
    assert done.returncode == 1 and done.stdout.startswith("failed   make: ")


def test_what_an_env_prints_is_not_in_the_answer(tmp_path):
    (tmp_path / "talking.py").write_text("import gymnasium\ndef make():\n    print('hello')\n    return "
                                         "gymnasium.make('CartPole-v1')\n")
    code = f"import sys; sys.path.append({str(tmp_path)!r}); from penstock_worker.check import main; main(sys.argv[1:])"
    done = subprocess.run([sys.executable, "-c", code, "talking:make", "--seconds", "0.1", "--json"],
                          capture_output=True, text=True, timeout=60)
    assert json.loads(done.stdout)["env"] == "talking:make" and "hello" in done.stderr


def test_a_hang_is_told_with_its_place(monkeypatch, capfd):
    from penstock_worker import check as checker

    monkeypatch.setattr(checker, "SILENCE_S", 1.5)
    payload = json.dumps({"id": "worker_envs:Slow", "kwargs": {"where": "step"}, "path": sys.path})
    report = checker.report_of(payload, 0.1)
    assert "for 1.6 s in step 2: it hangs" in of(report, "step").text
