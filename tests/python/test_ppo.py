"""Training from Python: the command line's runs, bit for bit."""

import copy
import json
import os
import pickle
import re
import signal
import sys
import threading

import numpy as np
import pytest
import torch

import penstock

SMALL = {"run.eval_episodes": 0, "run.save_every_s": 0.0}
CASES = {
    "cartpole": {},
    "cartpole appo": {"algo": "appo", "async.max_lag": 2},
    "cartpole eager": {"learner": "eager", "normalise.obs": True},
    "masked": {"env.num_actions": 5, "ppo.target_kl": 0.02, "normalise.reward": True},
    "pendulum": {"net.hidden": [32], "net.squash": True, "ppo.learning_rate": 3e-4, "rollout.shards": 3},
    "multi": {"net.kind": "transformer", "net.width": 16, "net.heads": 2, "net.layers": 1},
}


def flags(keys):
    words = []
    for path, value in keys.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        words += ["--set", f"{path}={text}"]
    return words


def ppo(env="cartpole", num_envs=16, seed=3, **keys):
    return penstock.PPO(env, num_envs, seed, verbose=0, **{**SMALL, **keys})


class TestLikeTheCommandLine:
    @pytest.mark.parametrize("case", CASES)
    def test_digest(self, cli, tmp_path, case):
        env, keys = case.split()[0], {**SMALL, **CASES[case]}
        line = cli.json("train", "--env", env, "--num-envs", 16, "--seed", 3, "--total-timesteps", 4096, *flags(keys),
                        "--run-dir", tmp_path / "run")
        model = ppo(env, **CASES[case]).learn(4096)
        assert model.digest == model.summary.digest == line["digest"]
        assert model.num_timesteps == line["total_timesteps"] and model.summary.updates == line["updates"]
        assert penstock.PPO.load(tmp_path / "run").digest == line["digest"]

    def test_what_should_matter_matters(self):
        assert ppo().learn(2048).digest == ppo(threads=1).learn(2048).digest
        assert ppo().learn(2048).digest != ppo(seed=4).learn(2048).digest
        assert ppo().learn(2048).digest != ppo(ppo={"clip": 0.1}).learn(2048).digest

    def test_a_measured_lag_is_a_number_once_the_run_has_begun(self, tmp_path, capsys):
        model = penstock.PPO("cartpole", 16, 3, algo="appo", async_={"max_lag": "auto"}, run_dir=tmp_path / "run", **SMALL)
        model.learn(2048)
        lag = model.config.async_.max_lag
        assert lag in (0, 1) and f"async.max_lag = {lag} (0: " in "".join(capsys.readouterr())
        assert penstock.PPO.load(tmp_path / "run").config.async_.max_lag == lag
        given = ppo(algo="appo", async_={"max_lag": lag})
        assert given.learn(2048).digest == model.digest
        assert given.learn(2048).digest == model.learn(2048).digest  # goes on with it

    def test_a_second_learn_is_a_resume(self, cli, tmp_path):
        run = tmp_path / "run"
        cli("train", "--num-envs", 16, "--seed", 3, "--total-timesteps", 4096, *flags(SMALL), "--run-dir", run)
        line = cli.json("resume", run, "--total-timesteps", 8192)
        model = ppo().learn(4096)
        assert model.learn(4096).digest == line["digest"]
        assert model.num_timesteps == 8192

    def test_the_command_line_goes_on_with_a_run_from_python(self, cli, tmp_path):
        ppo(run_dir=tmp_path / "python").learn(4096)
        line = cli.json("resume", tmp_path / "python", "--total-timesteps", 8192)
        assert ppo().learn(4096).learn(4096).digest == line["digest"]
        assert json.loads((tmp_path / "python" / "manifest.json").read_text())["seed"] == 3

    def test_evaluation(self, cli, tmp_path):
        model = ppo(run_dir=tmp_path / "run").learn(4096)
        for sampled in (False, True):
            line = cli.json("eval", tmp_path / "run", "--episodes", 30, "--seed", 5, *["--sampled"][:sampled])
            result = model.evaluate(30, seed=5, deterministic=not sampled)
            assert result.mean_reward == line["mean_reward"] and result.std_reward == line["std_reward"]


def test_it_learns():
    model = penstock.PPO("cartpole", num_envs=64, seed=1, verbose=0).learn(400_000)
    assert model.summary.eval.mean_reward > 475 and not model.summary.preempted


def test_torch_keeps_its_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        ppo().learn(1024).predict(np.zeros(4))
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def actor_choices(model, x):
    """The actor's most likely actions, by plain torch."""
    weights = model.weights()
    for k in range(3):
        x = x @ weights[f"actor.{k}.weight"].T + weights[f"actor.{k}.bias"]
        x = torch.tanh(x) if k < 2 else x
    return x.argmax(1).numpy()


def tensor_of(path, name):
    """A float64 tensor of a safetensors file."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    entry = json.loads(data[8:8 + size])[name]
    begin, end = entry["data_offsets"]
    return np.frombuffer(data[8 + size + begin:8 + size + end], dtype=np.float64).reshape(entry["shape"])


class TestPredict:
    def test_rows_and_batches(self):
        model = ppo()  # untrained is fine
        action, state = model.predict(np.zeros(4))
        assert action in (0, 1) and np.ndim(action) == 0 and state is None
        actions, _ = model.predict(np.zeros((7, 4), dtype=np.float64))
        assert actions.shape == (7,) and (actions == action).all()
        with pytest.raises(penstock.UsageError, match=r"\[5\], expected \[4\]"):
            model.predict(np.zeros(5))

    def test_the_most_likely_action_is_the_networks(self):
        model, rows = ppo().learn(4096), torch.randn(50, 4)
        assert np.array_equal(model.predict(rows.numpy())[0], actor_choices(model, rows))

    def test_samples_follow_the_seed(self):
        rows = np.zeros((1000, 4))
        one, two = ppo(), ppo()
        first = one.predict(rows, deterministic=False)[0]
        assert np.array_equal(first, two.predict(rows, deterministic=False)[0])
        assert not np.array_equal(first, one.predict(rows, deterministic=False)[0])  # the next call's
        assert 400 < first.sum() < 600

    def test_dict_rows_and_masks(self):
        model = ppo("masked")
        envs = penstock.VectorEnv("masked", 20)
        obs, infos = envs.reset(seed=0)
        mask = infos["action_mask"]
        for deterministic in (True, False):
            actions = model.predict(obs, deterministic, action_masks=mask)[0]
            assert mask[np.arange(20), actions].all()
        single = {name: part[3] for name, part in obs.items()}
        assert model.predict(single, action_masks=mask[3])[0] == model.predict(obs, action_masks=mask)[0][3]
        only = np.zeros((20, 8))
        only[:, 5] = 1
        assert (model.predict(obs, action_masks=only)[0] == 5).all()
        with pytest.raises(penstock.DataError, match="env 2: no action is legal"):
            only[2] = 0
            model.predict(obs, deterministic=False, action_masks=only)
        free = model.predict(obs, deterministic=False)[0]  # without masks, anything
        assert not mask[np.arange(20), free].all()
        with pytest.raises(penstock.UsageError, match="action_masks: 3 per row, expected 8"):
            model.predict(single, action_masks=np.ones(3))
        with pytest.raises(penstock.UsageError, match="no part 'hint'"):
            model.predict({"clock": np.zeros(1)})

    def test_masks_for_an_env_without_masks(self):
        for deterministic in (True, False):
            for only in (0, 1):
                masks = np.tile(np.eye(2)[only], (30, 1))
                assert (ppo().predict(np.zeros((30, 4)), deterministic, masks)[0] == only).all()

    def test_boxes_and_several_choices(self):
        actions = ppo("pendulum").predict(np.zeros((9, 3)), deterministic=False)[0]
        assert actions.shape == (9, 1) and actions.dtype == np.float32 and (np.abs(actions) <= 2).all()
        obs, _ = penstock.VectorEnv("multi", 4).reset(seed=0)
        assert ppo("multi").predict(obs)[0].shape == (4, 3)

    def test_observations_are_normalised_as_in_training(self):
        model = ppo(**{"normalise.obs": True}).learn(8192)
        count, mean, m2 = tensor_of(next(model.run_dir.glob("ckpt/8192/model.safetensors")), "normaliser.obs").T
        rows = np.random.default_rng(0).normal(size=(200, 4)).astype(np.float32)
        scaled = np.clip((rows - mean) / np.sqrt(m2 / count + 1e-8), -10, 10)
        expected, raw = (actor_choices(model, torch.tensor(x, dtype=torch.float32)) for x in (scaled, rows))
        assert np.array_equal(model.predict(rows)[0], expected) and not np.array_equal(expected, raw)


class TestSaving:
    def test_there_and_back(self, cli, tmp_path):
        model = ppo().learn(4096)
        model.save(tmp_path / "saved")
        loaded = penstock.PPO.load(tmp_path / "saved")
        assert loaded.digest == model.digest
        loaded.config.isa = "auto"  # a run keeps the one it began with
        assert loaded.config == model.config
        assert loaded.num_timesteps == 4096
        rows = np.random.default_rng(0).normal(size=(100, 4))
        assert np.array_equal(loaded.predict(rows)[0], model.predict(rows)[0])
        assert cli.json("eval", tmp_path / "saved", "--episodes", 5)["mean_reward"] == model.evaluate(5).mean_reward
        assert loaded.learn(4096).digest == ppo().learn(4096).learn(4096).digest

    def test_a_saved_one_is_replaced_and_nothing_else(self, tmp_path):
        model = ppo(run_dir=tmp_path / "run").learn(2048)
        model.save(tmp_path / "saved")
        model.learn(2048).save(tmp_path / "saved")
        assert penstock.PPO.load(tmp_path / "saved").num_timesteps == 4096
        model.save(tmp_path / "run")  # where it lives anyway
        assert (tmp_path / "run" / "metrics.jsonl").exists()
        other = tmp_path / "other"
        other.mkdir()
        (other / "thesis.tex").write_text("x")
        for taken in (other, other / "thesis.tex"):
            with pytest.raises(penstock.IoError, match="holds something else"):
                model.save(taken)
        with pytest.raises(penstock.IoError, match="holds something else"):
            ppo().learn(1024).save(tmp_path / "run")

    def test_without_a_number_the_config_decides(self, tmp_path):
        whole = ppo(total_timesteps=8192).learn()
        assert whole.num_timesteps == 8192 and whole.learn().digest == whole.digest  # nothing left to do
        part = ppo(total_timesteps=8192, run_dir=tmp_path / "run")
        part.learn(callbacks=lambda model, progress, metrics: progress.timesteps >= 2048)
        assert part.num_timesteps == 2048
        assert penstock.PPO.load(tmp_path / "run").learn().digest == whole.digest

    def test_keys_change_from_loading_on(self, tmp_path):
        ppo().learn(2048).save(tmp_path / "saved")
        changed = penstock.PPO.load(tmp_path / "saved", verbose=0, ppo={"clip": 0.1})
        other = penstock.PPO.load(tmp_path / "saved", verbose=0)
        assert changed.config.ppo.clip == 0.1 and other.config.ppo.clip == 0.2 and changed.digest == other.digest
        changed.save(tmp_path / "changed")
        other.save(tmp_path / "other")
        assert changed.learn(1024).digest != penstock.PPO.load(tmp_path / "other", verbose=0).learn(1024).digest
        with pytest.raises(penstock.UsageError, match=r"its own 16 envs.*num_envs=8, start_from="):
            penstock.PPO.load(tmp_path / "saved", **{"env.num_envs": 8})
        with pytest.raises(penstock.ConfigError, match="unknown key 'ppo.clp'"):
            penstock.PPO.load(tmp_path / "saved", ppo={"clp": 0.1})

    def test_nothing_to_save_or_load(self, tmp_path):
        with pytest.raises(penstock.UsageError, match="before the first learn"):
            ppo().save(tmp_path / "saved")
        with pytest.raises(penstock.DataError, match="not a run directory"):
            penstock.PPO.load(tmp_path)

    def test_a_run_directory_belongs_to_one(self, tmp_path):
        model = ppo(run_dir=tmp_path / "run").learn(2048)
        assert model.run_dir == tmp_path / "run"
        with pytest.raises(OSError, match="holds a run") as caught:
            ppo(run_dir=tmp_path / "run").learn(2048)
        assert caught.value.exit_code == 73

    def test_the_lock_is_given_back(self, cli, tmp_path):
        model = ppo(run_dir=tmp_path / "run").learn(2048)
        cli("resume", tmp_path / "run", "--total-timesteps", 4096)
        assert model.num_timesteps == 2048

    def test_without_a_directory_nothing_stays(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        model = ppo().learn(2048)
        folder = model.run_dir
        assert folder.exists() and not list(tmp_path.iterdir())
        del model
        assert not folder.exists()

    def test_a_damaged_checkpoint_is_named(self, tmp_path):
        ppo(run_dir=tmp_path / "run").learn(2048)
        for file in tmp_path.glob("run/ckpt/*/model.safetensors"):
            file.write_bytes(file.read_bytes()[:-8])
        with pytest.raises(penstock.DataError, match="model.safetensors") as caught:
            penstock.PPO.load(tmp_path / "run")
        assert caught.value.exit_code == 65


class TestCallbacks:
    def test_stop_at_reward(self):
        model = ppo(num_envs=64).learn(400_000, callbacks=penstock.StopAtReward(60))
        assert model.summary.preempted and 4096 <= model.num_timesteps < 200_000

    def test_a_function_sees_metrics_and_stops(self):
        seen = []

        def watch(model, progress, metrics):
            seen.append((progress.timesteps, metrics["train/approx_kl"], model.digest))
            return progress.timesteps >= 3072

        model = ppo().learn(100_000, callbacks=watch)
        assert [steps for steps, _, _ in seen] == [1024, 2048, 3072] == [1024, 2048, model.num_timesteps]
        assert len({digest for _, _, digest in seen}) == 3 and seen[-1][2] == model.digest
        assert model.learn(1024).num_timesteps == 4096  # it goes on

    def test_a_function_finds_the_metrics_of_updates_in_every_call(self):
        """Evaluations log other names."""
        seen = []
        ppo(run={"eval_interval": 2048, "eval_episodes": 2}).learn(
            4096, lambda model, progress, metrics: seen.append(metrics["train/approx_kl"]))
        assert len(seen) > 4

    def test_watching_changes_nothing(self, tmp_path):
        callbacks = [penstock.Evaluate(1024, episodes=3), penstock.Checkpoint(2048, tmp_path),
                     lambda model, progress, metrics: model.predict(np.zeros(4)) and False]
        watched = ppo().learn(8192, callbacks)
        assert watched.digest == ppo().learn(8192).digest

    def test_evaluate(self, tmp_path):
        evaluate = penstock.Evaluate(2048, episodes=5, best_path=tmp_path / "best", stop_at_reward=100)
        model = ppo(num_envs=64).learn(400_000, evaluate)
        steps, result = evaluate.results[-1]
        assert result.mean_reward >= 100 and steps == model.num_timesteps and result.episodes == 5
        assert evaluate.best == max(r.mean_reward for _, r in evaluate.results)
        best = penstock.PPO.load(tmp_path / "best")
        assert best.evaluate(5).mean_reward == evaluate.best

    def test_checkpoints(self, tmp_path):
        checkpoint = penstock.Checkpoint(2048, tmp_path)
        model = ppo().learn(8192, checkpoint)
        assert [path.name for path in checkpoint.paths] == ["2048", "4096", "6144", "8192"]
        again = penstock.PPO.load(tmp_path / "4096")
        assert again.num_timesteps == 4096
        assert again.learn(4096).digest == model.digest

    def test_what_a_callback_raises_arrives_and_the_run_is_saved(self):
        def fail(model, progress, metrics):
            raise KeyError("mine")

        model = ppo()
        with pytest.raises(KeyError, match="mine"):
            model.learn(8192, fail)
        assert model.num_timesteps == 1024
        assert model.learn(7168).digest == ppo().learn(8192).digest

    def test_an_exception_before_the_first_step(self):
        class Early(penstock.Callback):
            def on_start(self, model):
                raise KeyError("early")

        model = ppo()
        with pytest.raises(KeyError, match="early"):
            model.learn(2048, Early())
        assert model.num_timesteps == 0 and model.learn(2048).digest == ppo().learn(2048).digest

    def test_ctrl_c_saves_and_raises(self):
        def press(model, progress, metrics):
            if progress.timesteps == 2048:
                os.kill(os.getpid(), signal.SIGINT)

        model = ppo()
        with pytest.raises(KeyboardInterrupt):
            model.learn(1_000_000_000, press)
        assert 2048 <= model.num_timesteps < 1_000_000
        saved = model.digest
        assert model.learn(1024).digest != saved  # it goes on

    def test_another_thread_has_to_wait(self):
        caught = []

        def other(model, progress, metrics):
            def use():
                try:
                    model.predict(np.zeros(4))
                except RuntimeError as error:
                    caught.append(str(error))

            thread = threading.Thread(target=use)
            thread.start()
            thread.join()
            return True

        ppo().learn(8192, other)
        assert caught == ["learn() is at work in another thread"]

    def test_start_and_end(self):
        calls = []

        class Mine(penstock.Callback):
            def on_start(self, model):
                calls.append(("start", model.num_timesteps))

            def on_end(self, model, summary):
                calls.append(("end", summary.digest == model.digest))

        ppo().learn(2048, [Mine()])
        assert calls == [("start", 0), ("end", True)]


def test_a_changed_config_counts_from_the_next_learn_on():
    model = ppo().learn(2048)
    model.config.update({"ppo.clip": 0.1, "ppo.learning_rate_schedule": "constant"})
    rows = np.zeros((3, 4))
    assert model.predict(rows)[0].shape == (3,)
    assert model.learn(2048).digest != ppo().learn(2048).learn(2048).digest
    model.config.env.id = "pendulum"
    assert model.predict(rows)[0].shape == (3,)  # still the old one's
    with pytest.raises(penstock.DataError):
        model.learn(2048)


class Dropping(torch.nn.Module):
    """With dropout, and a part that its author has put into eval mode."""

    seen = set()  # (acting, training, training of the frozen part), by all copies

    def __init__(self):
        super().__init__()
        self.frozen = torch.nn.Dropout(0.5).eval()
        self.trunk = torch.nn.Sequential(torch.nn.Linear(4, 64), torch.nn.Dropout(0.5), torch.nn.Linear(64, 3))

    def forward(self, obs, legal):
        Dropping.seen.add((torch.is_inference_mode_enabled(), self.trunk[1].training, self.frozen.training))
        out = self.trunk(self.frozen(obs))
        return out[:, :2], out[:, 2]


def test_dropout_is_on_in_updates_only():
    torch.manual_seed(0)
    model, rows = ppo(policy=Dropping()), np.random.default_rng(0).normal(size=(500, 4))
    Dropping.seen.clear()
    model.learn(2048)
    assert Dropping.seen == {(True, False, False), (False, True, False)}
    assert np.array_equal(model.predict(rows)[0], model.predict(rows)[0])
    assert model.evaluate(5).mean_reward == model.evaluate(5).mean_reward
    assert model.policy.training


def test_reprs_say_what_it_is():
    model = ppo(run={"eval_episodes": 2}).learn(1024)
    assert repr(model) == "PPO('cartpole', num_envs=16, seed=3, num_timesteps=1024)"
    assert re.match(r"Summary\({.*\"digest\":", repr(model.summary)), repr(model.summary)
    assert re.match(r"EvalResult\(mean_reward=\d.*episodes=2", repr(model.summary.eval)), repr(model.summary.eval)


def test_a_model_is_saved_not_pickled():
    for way in (pickle.dumps, copy.deepcopy, copy.copy):
        with pytest.raises(TypeError, match=r"save\(path\) writes it and PPO.load\(path\) brings it back"):
            way(ppo())


class TestFineTuning:
    def test_a_run_begins_with_the_policy_of_another(self, cli, tmp_path):
        first = ppo(**{"normalise.obs": True}).learn(4096)
        first.save(tmp_path / "first")
        second = ppo(num_envs=8, seed=5, start_from=tmp_path / "first", ppo={"clip": 0.1}, **{"normalise.obs": True})
        assert second.digest == first.digest and second.num_timesteps == 0
        assert (second.normaliser().mean == first.normaliser().mean).all()
        rows = np.random.default_rng(1).normal(size=(50, 4)).astype(np.float32)
        assert (second.predict(rows)[0] == first.predict(rows)[0]).all()
        line = cli.json("train", "--num-envs", 8, "--seed", 5, "--total-timesteps", 2048, *flags(SMALL), "--set",
                        "normalise.obs=true", "--set", "ppo.clip=0.1", "--start-from", tmp_path / "first", "--run-dir",
                        tmp_path / "second")
        assert second.learn(2048).digest == line["digest"] != first.digest
        assert cli.json("resume", tmp_path / "second", "--total-timesteps", 4096)["total_timesteps"] == 4096

    def test_another_network_does_not_fit(self, tmp_path):
        ppo().learn(2048).save(tmp_path / "first")
        with pytest.raises(penstock.DataError, match=r"run.start_from = .*actor.0.weight"):
            ppo(start_from=tmp_path / "first", net={"hidden": [8]}).learn(1024)

    @pytest.mark.parametrize("steps", [0, 2048])
    def test_weights_are_set_before_and_between(self, tmp_path, steps):
        source = ppo(seed=9).learn(2048)
        model = ppo(run_dir=tmp_path / "run")
        if steps:
            model.learn(steps)
        model.set_weights(source.weights())
        assert model.digest == source.digest
        if steps:
            assert penstock.PPO.load(tmp_path / "run").digest == source.digest
        model.learn(1024, callbacks=None)
        assert model.digest != source.digest
        plain = ppo().learn(steps + 1024) if steps == 0 else ppo().learn(steps).learn(1024)
        assert model.digest != plain.digest  # it went on from what was set

    def test_what_does_not_fit_is_named(self):
        model = ppo()
        with pytest.raises(penstock.UsageError, match="no parameter 'actor.9.weight'"):
            model.set_weights({"actor.9.weight": torch.zeros(2)})
        with pytest.raises(penstock.UsageError, match=r"'actor.0.bias' is \[3\], expected \[64\]"):
            model.set_weights({"actor.0.bias": torch.zeros(3)})


def test_statistics_of_the_normaliser():
    assert ppo().normaliser() is None
    model = ppo(**{"normalise.obs": True}).learn(2048)
    count, mean, m2 = tensor_of(next(model.run_dir.glob("ckpt/2048/model.safetensors")), "normaliser.obs").T
    found = model.normaliser()
    assert np.array_equal(found.count, count) and np.array_equal(found.mean, mean)
    assert np.allclose(found.std, np.sqrt(m2 / count), rtol=1e-12)


class TestHabitsOfStableBaselines3:
    @pytest.mark.parametrize("name, ours", [
        ("n_steps", "rollout.steps"), ("batch_size", "ppo.minibatch"), ("n_epochs", "ppo.policy_epochs"),
        ("gae_lambda", "ppo.gae_lambda"), ("clip_range", "ppo.clip"), ("ent_coef", "ppo.entropy_weight"),
        ("vf_coef", "ppo.value_weight"), ("max_grad_norm", "ppo.max_grad_norm"), ("n_envs", "env.num_envs")])
    def test_keys(self, name, ours):
        with pytest.raises(penstock.ConfigError, match=f"it is called {ours} ") as caught:
            penstock.PPO("cartpole", **{name: 1})
        assert caught.value.exit_code == 78 and ours in penstock.Config().to_dict()

    def test_schedules_are_words(self):
        for keys in ({"learning_rate": lambda left: 3e-4 * left}, {"ppo": {"learning_rate": lambda left: 3e-4 * left}}):
            with pytest.raises(penstock.ConfigError, match='"learning_rate_schedule": "linear"'):
                penstock.PPO("cartpole", **keys)

    @pytest.mark.parametrize("name, ours", [("callback", "callbacks="), ("log_interval", "run=")])
    def test_arguments_of_learn(self, name, ours):
        with pytest.raises(TypeError, match=rf"learn\(\) takes no argument '{name}'; here it is {ours}"):
            ppo().learn(1024, **{name: None})
        with pytest.raises(TypeError, match="its arguments are total_timesteps, callbacks and"):
            ppo().learn(1024, nonsense=1)


def test_an_env_of_another_kind_is_refused_by_name(tmp_path):
    ppo().learn(1024).save(tmp_path / "saved")
    for env in ("CartPole-v1", "pendulum", lambda: None):
        with pytest.raises(penstock.UsageError, match="trained on env.id = cartpole, and goes on with nothing else"):
            penstock.PPO.load(tmp_path / "saved", env=env)
    assert penstock.PPO.load(tmp_path / "saved", env="Penstock/CartPole-v1").num_timesteps == 1024


class TestErrors:
    def test_an_env_that_is_none(self):
        with pytest.raises(TypeError, match="expected an id, or a class or function"):
            penstock.PPO(3)

    def test_words_of_the_other_side(self):
        words = r"unknown key 'ppo.clp' \(Python\), did you mean 'ppo.clip'"
        with pytest.raises(penstock.ConfigError, match=words) as caught:
            penstock.PPO("cartpole", ppo={"clp": 1})
        assert caught.value.exit_code == 78
        assert isinstance(caught.value, (penstock.Error, ValueError))
        with pytest.raises(ValueError, match="ppo.clip = 11 .*: expected 0 to 10"):
            penstock.PPO("cartpole", **{"ppo.clip": 11})
        with pytest.raises(ValueError, match="device = tpu .*: expected one of cpu, cuda, mps"):
            penstock.PPO("cartpole", device="tpu")
        with pytest.raises(penstock.ConfigError, match="needs about"):
            penstock.PPO("cartpole", num_envs=65536, **{"rollout.steps": 1_000_000}).learn(1)

    def test_warnings(self):
        with pytest.warns(UserWarning, match=r"only 1 updates fit into 1024 steps .*: use learn\(20480\) or fewer"):
            ppo().learn(1024)


def test_progress_lines_only_on_stderr(capfd, monkeypatch):
    monkeypatch.setattr(sys.modules["penstock._progress"], "QUIET_SECONDS", 0.0)
    penstock.PPO("cartpole", 16, verbose=1, **SMALL).learn(65536)
    out, err = capfd.readouterr()
    assert out == "" and "steps/s" in err
