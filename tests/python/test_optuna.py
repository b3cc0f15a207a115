"""Searches by Optuna over fleets: each setting once, the same after any interruption."""

import os
import pathlib
import signal
import subprocess
import sys

import penstock
import pytest
from penstock.optuna import meant, search

optuna = pytest.importorskip("optuna")

FILE = """
seeds = {seeds}
draws = {draws}
draw_seed = 7

[set]
env.num_envs = 8
total_timesteps = 1024
run.eval_episodes = 2
ppo.minibatch = 64

[random]
ppo.learning_rate = "log(1e-4, 1e-2)"
ppo.clip = "uniform(0.1, 0.3)"
rollout.steps = "whole(8, 32)"
net.activation = "tanh | relu"
net.hidden = "[16] | [8, 8]"
"""


def write(folder, draws, text=FILE, seeds=1):
    path = folder / "rates.toml"
    path.write_text(text.format(draws=draws, seeds=list(range(1, seeds + 1))))
    return path


def sampler(seed):
    """Learns from the second setting on."""
    return optuna.samplers.TPESampler(seed=seed, n_startup_trials=2)


def found(study):
    return [(trial.params, trial.value) for trial in study.trials]


def ledgers(folder):
    return {path: path.stat().st_mtime_ns for path in folder.glob("*/ledger.jsonl")}


def test_search_goes_on_where_it_ended(tmp_path):
    whole = search(write(tmp_path, 3), out=tmp_path / "whole", sampler=sampler)
    assert len(whole.trials) == 3
    for params, value in found(whole):
        assert 1e-4 <= params["ppo.learning_rate"] <= 1e-2
        assert 8 <= params["rollout.steps"] <= 32
        assert value > 0
    assert len({params["ppo.clip"] for params, _ in found(whole)}) == 3

    search(write(tmp_path, 2), out=tmp_path / "parts", sampler=sampler)
    before = ledgers(tmp_path / "parts")
    assert len(before) == 2
    rest = search(write(tmp_path, 3), out=tmp_path / "parts", sampler=sampler)
    assert found(rest) == found(whole)
    assert ledgers(tmp_path / "parts").items() >= before.items()  # nothing was trained twice


def test_score_is_the_mean_over_seeds(tmp_path):
    study = search(write(tmp_path, 1, seeds=2), out=tmp_path / "out")
    scores = []
    for seed in (1, 2):
        chosen = {key: meant(value) for key, value in study.trials[0].params.items()}
        keys = {"env.num_envs": 8, "run.eval_episodes": 2, "ppo.minibatch": 64, "run.dir": str(tmp_path / f"s{seed}"), **chosen}
        config = penstock.Config()
        config.update(keys)
        model = penstock.PPO("cartpole", seed=seed, config=config)
        scores.append(model.learn(1024).summary.eval.mean_reward)
    assert study.best_value == pytest.approx(sum(scores) / 2)


def test_killed_command_ends_as_if_it_had_not_been(tmp_path):
    command = [sys.executable, "-m", "penstock", "optuna", write(tmp_path, 2), "--out"]
    whole = subprocess.run([*command, tmp_path / "whole"], capture_output=True, text=True, check=True).stdout
    with subprocess.Popen([*command, tmp_path / "killed"], stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        process.stdout.readline()
        os.killpg(process.pid, signal.SIGKILL)
    again = subprocess.run([*command, tmp_path / "killed"], capture_output=True, text=True, check=True).stdout
    assert again == whole
    assert len(whole.splitlines()) == 3 and "best" in whole.splitlines()[-1]


def test_failing_settings_are_told_and_left(tmp_path):
    path = write(tmp_path, 3, FILE.replace('"whole(8, 32)"', '"8 | -1"'))
    study = search(path, out=tmp_path / "out")
    states = {trial.params["rollout.steps"]: trial.state.name for trial in study.trials}
    assert states == {"8": "COMPLETE", "-1": "FAIL"}


@pytest.mark.parametrize(("old", "new", "message"), [
    ("[random]", "[other]", r"needs a section \[random\]"),
    ("draws = 1\n", "", "draws = 20"),
    ('"log(1e-4, 1e-2)"', '"log 1e-4"', r"random.ppo.learning_rate = 'log 1e-4': expected uniform\(low, high\)"),
    ("[set]", "rungs = [512]\n[set]", "rungs: not with Optuna"),
    ("[set]", "[grid]\nppo.gamma = [0.9]\n[set]", "grid: not with Optuna"),
    ("[set]", "[set", "rates.toml"),
])
def test_files_that_are_not_understood(tmp_path, old, new, message):
    with pytest.raises(penstock.ConfigError, match=message):
        search(write(tmp_path, 1, FILE.replace("{draws}", "1").replace(old, new)), out=tmp_path)


def test_without_the_package(tmp_path):
    code = "import sys; sys.modules['optuna'] = None; import penstock.optuna as o; sys.exit(o.main(sys.argv[1:]))"
    done = subprocess.run([sys.executable, "-c", code, str(pathlib.Path(write(tmp_path, 1)))], capture_output=True, text=True, check=False)
    assert done.returncode == 69
    assert "pip install 'penstock[optuna]'" in done.stderr
