"""Ctrl-C, signals and envs that hang or die before training: heard, told, and nothing is left behind."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import worker_envs
from processes import below, wait_until

import penstock

SMALL = {"verbose": 0, "rollout": {"steps": 32}, "run": {"eval_episodes": 0}, "ppo": {"minibatch": 128}}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Failures of runs without a directory are kept in the working directory."""
    monkeypatch.chdir(tmp_path)


def pressing(*presses, **keys):
    """A model whose envs, in this process, send it signals."""
    model = penstock.PPO(worker_envs.Pressing, 4, 3, num_workers=0, **SMALL | keys)
    worker_envs.Pressing.presses, worker_envs.Pressing.taken = list(presses), 0
    return model


@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_inside_an_env_of_this_process(presses, capfd):
    """The first is answered between steps; the second at once, for envs that hang."""
    model = pressing(*[(300, signal.SIGINT)] * presses, threads=1)
    with pytest.raises(KeyboardInterrupt):
        model.learn(1024)
    assert 0 < model.num_timesteps < 1024 and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert "KeyboardInterrupt" not in capfd.readouterr().err  # no failure of an env
    model.learn(1024 - model.num_timesteps)
    assert model.summary.incidents == model.summary.discarded == 0
    assert model.digest == pressing().learn(1024).digest


def test_an_answer_of_the_program_to_a_signal():
    before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(3))
    try:
        model = pressing((300, signal.SIGTERM))
        with pytest.raises(SystemExit) as caught:
            model.learn(1024)
        assert caught.value.code == 3 and model.num_timesteps > 0
        assert model.learn(64).summary.incidents == 0
    finally:
        signal.signal(signal.SIGTERM, before)


def test_the_constructor_can_be_interrupted():
    gc.collect()
    others = below()
    for method in ("forkserver", "spawn"):
        timer = threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        begun = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            penstock.PPO(worker_envs.Slow, 2, env_kwargs={"where": "reset"}, **{"env.start_method": method})
        assert time.monotonic() - begun < 60
        gc.collect()
        wait_until(lambda: below() <= others)


@pytest.mark.parametrize("method", ["forkserver", "spawn", "fork"])
def test_a_hang_before_training_has_a_deadline(method, capfd):
    keys = {"env.step_deadline_s": 0.5, "env.start_deadline_s": 3.0, "env.start_method": method}
    for where, words in [("init", "while it was made"), ("reset", r"in reset\(\)")]:
        with pytest.raises(penstock.ConfigError, match=f"worker_envs:Slow: no answer {words} within env.start_deadline_s "
                                                       "= 3 s; it hangs, or needs a larger env.start_deadline_s"):
            penstock.PPO(worker_envs.Slow, 2, env_kwargs={"where": where}, **keys)
    penstock.PPO(worker_envs.Slow, 2, env_kwargs={"where": "step"}, **keys)  # is survived in training
    told = capfd.readouterr().err
    assert "no answer in step 2 of a trial within env.step_deadline_s = 0.5 s" in told and "in wait" in told


@pytest.mark.parametrize("how, end", [("exit", "ended with exit code 3"),
                                      ("segfault", "was killed by signal 11 (Segmentation fault)")])
def test_a_death_before_training_is_told_with_its_step(how, end, capfd):
    model = penstock.PPO(worker_envs.Failing, 4, 2, env_kwargs={"how": how, "every": 1}, **SMALL)
    assert f"its process {end} in step 3 of a trial" in capfd.readouterr().err
    with pytest.raises(penstock.Error, match="failed 3 times at step 3 in the same way, and none got beyond it: env"):
        model.learn(1024)  # in workers, or this process would be gone
    assert model.summary is None


TEMPORARY = """
import sys
import penstock
model = penstock.PPO("cartpole", 16, 3, verbose=0, run={"eval_episodes": 0})
if sys.argv[1] == "learning":
    model.learn(10**9, lambda *_: print("ready", flush=True))
model.learn(4096)
print("ready", flush=True)
while True:
    pass
"""


@pytest.mark.parametrize("when", ["learning", "afterwards"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_no_temporary_folder(when, number, tmp_path):
    with subprocess.Popen([sys.executable, "-W", "ignore", "-c", TEMPORARY, when], stdout=subprocess.PIPE,
                          text=True, env=os.environ | {"TMPDIR": str(tmp_path)}) as process:
        try:
            assert process.stdout.readline() == "ready\n" and list(tmp_path.glob("penstock-*"))
            process.send_signal(number)
            process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == -number and not list(tmp_path.glob("penstock-*"))


def test_a_fork_leaves_the_folder_to_its_parent(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    model = penstock.PPO("cartpole", 16, 3, **SMALL).learn(512)
    pid = os.fork()
    if pid == 0:
        os.kill(os.getpid(), signal.SIGTERM)
        while True:
            pass
    assert os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGTERM
    assert model.run_dir.exists()


class TestOneLearnAtATime:
    def test_in_another_thread(self):
        model, started, go_on = penstock.PPO("cartpole", 16, 3, **SMALL), threading.Event(), threading.Event()

        def wait(model, progress, metrics):
            started.set()
            go_on.wait(20)

        thread = threading.Thread(target=model.learn, args=(1024, wait))
        thread.start()
        try:
            assert started.wait(20)
            for _ in range(2):
                with pytest.raises(RuntimeError, match="at work already, and was called again in another thread"):
                    model.learn(100)
                with pytest.raises(RuntimeError, match="at work in another thread"):
                    model.predict(np.zeros(4))
            assert model.config.total_timesteps == 1024
        finally:
            go_on.set()
            thread.join()
        assert model.num_timesteps == 1024 and model.learn(512).num_timesteps == 1536

    def test_in_a_callback(self):
        def again(model, progress, metrics):
            model.learn(100)

        with pytest.raises(RuntimeError, match="called again in a callback of it"):
            penstock.PPO("cartpole", 16, 3, **SMALL).learn(1024, again)


def test_an_evaluation_can_be_interrupted():
    model = penstock.PPO("cartpole", 4, 1, **SMALL)
    before = model.evaluate(episodes=2)
    with pytest.raises(KeyboardInterrupt):
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        model.evaluate(episodes=1_000_000)
    timer.join()
    assert model.evaluate(episodes=2).mean_reward == before.mean_reward


def test_an_evaluation_tells_the_envs_own_statistics():
    stats = penstock.PPO("dvrptw", 4, 1, **{"env.oracle": "insertion"}).evaluate(episodes=2).stats
    assert stats["cost_km"] > 100 and 0 <= stats["acceptance"] <= 1
    assert penstock.PPO("cartpole", 4, 1, **SMALL).evaluate(episodes=2).stats == {}
