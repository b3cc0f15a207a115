"""The command line as others script it: spellings, exit codes, outputs."""

import json
import os
import platform
import pty
import re
import subprocess

import pytest

SHORT = ["--total-timesteps", 4096, "--set", "run.eval_episodes=2"]


def test_train_eval_and_their_json(penstock, tmp_path):
    run = tmp_path / "run"
    done = penstock("train", "--env", "cartpole", "--num-envs", 64, *SHORT, "--seed", 1, "--threads", 2,
                    "--run-dir", run, "--json")
    assert len(done.stdout.splitlines()) == 1
    result = json.loads(done.stdout)
    assert re.fullmatch("[0-9a-f]{16}", result["digest"])
    assert result["total_timesteps"] == 4096
    assert result["eval"]["mean_reward"] > 0 and result["time"]["fps"] > 0
    scores = penstock.json("eval", run, "--episodes", 100)
    assert scores["episodes"] == 100
    low, high = scores["ci95"]
    assert low < scores["mean_reward"] < high and scores["std_reward"] > 0
    assert penstock.json("eval", run, "--num-episodes", 100) == scores, "evaluation is reproducible"
    assert penstock.json("eval", run, "--episodes", 100, "--threads", 1) == scores
    assert penstock.json("eval", run, "--episodes", 100, "--sampled") != scores
    assert penstock.json("eval", run, "--episodes", 5, "--checkpoint", "best")["episodes"] == 5


def test_spellings_people_already_type(penstock, tmp_path):
    penstock("train", "--n-envs", 4, *SHORT, "--num-episodes", 20, "--learning-rate", "5e-4",
             "--checkpoint-dir", tmp_path / "run", "--save-interval", 1000, "--log-interval", 2)
    config = (tmp_path / "run" / "config.toml").read_text()
    for line in ["num_envs = 4  # --num-envs", "learning_rate = 0.0005  # --learning-rate",
                 "save_interval = 1000  # --save-interval", "log_interval = 2  # --log-interval",
                 "total_episodes = 20  # --episodes"]:
        assert line in config
    assert "gamma = 0.99  # default" in config


def test_sources_and_their_precedence(penstock, tmp_path):
    file = tmp_path / "my.toml"
    file.write_text("seed = 7\n[ppo]\nclip = 0.3\nlearning_rate = 1e-4\n[env]\nnum_envs = 8\n")
    done = penstock("config", "--config", file, "--set", "ppo.learning_rate=2e-4", "--num-envs", 16,
                    PENSTOCK_PPO__LEARNING_RATE="3e-4", PENSTOCK_SEED="9", PENSTOCK_ENV__NUM_ENVS="12")
    assert "clip = 0.3  # my.toml:3" in done.stdout
    assert "seed = 9  # PENSTOCK_SEED" in done.stdout
    assert "learning_rate = 0.0002  # --set" in done.stdout
    assert "num_envs = 16  # --num-envs" in done.stdout


@pytest.mark.parametrize("args,code,words", [
    (["train", "--env", "cartpol"], 78, ["cartpol", "cartpole"]),
    (["train", "--set", "ppo.clp=0.1"], 78, ["ppo.clp", "ppo.clip"]),
    (["train", "--set", "ppo.clip=wide"], 78, ["ppo.clip", "wide", "number"]),
    (["train", "--set", "net.activation=tan"], 78, ["tanh", "relu"]),
    (["train", "--num-envs", "1000000000"], 78, ["env.num_envs", "65536"]),
    (["train", "--device", "cuda"], 78, ["--device cpu"]),
    (["train", "--set", "ppo.clip"], 2, ["key=value"]),
    (["train", "--nonsense"], 2, ["--nonsense"]),
    (["frobnicate"], 2, ["frobnicate"]),
    (["train", "--recipe", "cartpol"], 2, ["cartpol", "cartpole"]),
    (["train", "--run-dir", "/proc/no/such/place"], 73, ["/proc/no/such/place"]),
])
def test_errors_name_the_fault_and_the_remedy(penstock, tmp_path, args, code, words):
    place = [] if "--run-dir" in args or args[0] != "train" else ["--run-dir", tmp_path / "run"]
    done = penstock(*args, *place, code=code)
    for word in words:
        assert word in done.stderr + done.stdout
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("text, word", [
    ("x = " + "[" * 20_000 + "]" * 20_000, "bomb.toml"),
    ("[env]\nnum_envs = 1_000_000_000\n", "bomb.toml"),
    ("[net]\nhidden = [1_000_000_000, 1_000_000_000]\n", "bomb.toml"),
    ("[env]\nid = \"../../../../etc/passwd\"\n", "not one of"),
], ids=["nested", "many", "wide", "elsewhere"])
def test_fault_25_a_hostile_config_is_refused_in_little_memory(penstock, tmp_path, text, word):
    file = tmp_path / "bomb.toml"
    file.write_text(text)
    least = peak_mb(penstock, "--version")[1]  # libtorch itself
    told, peak = peak_mb(penstock, "train", "--config", file, "--run-dir", tmp_path / "run", code=78)
    assert peak <= least + 64
    assert word in told and not (tmp_path / "run").exists()


def peak_mb(penstock, *args, code=0):
    """(what it told on stderr, the most memory it held)."""
    process = penstock.start(*args)
    told = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    process.stderr.close()
    assert process.returncode == code, told
    return told, usage.ru_maxrss // 1024


def test_envs_recipes_doctor_version_help(penstock):
    names = [env["name"] for env in penstock.json("envs")]
    assert {"cartpole", "acrobot", "mountain_car", "pendulum"} <= set(names)
    assert "cartpole" in penstock("envs").stdout
    assert "ok   libtorch" in penstock("doctor").stdout
    assert all(check["ok"] for check in penstock.json("doctor"))
    assert penstock("--version").stdout.startswith("penstock 0.")
    for verb in (["train"], ["resume"], ["eval"], ["envs"], ["bench", "env"], ["bench", "ppo"], ["bench", "scale"],
                 ["bench", "compare"], ["doctor"]):
        assert "--json" in penstock(*verb, "--help").stdout


def test_dry_run_prints_the_plan_and_touches_nothing(penstock, tmp_path):
    plan = penstock.json("train", "--num-envs", 4096, "--total-timesteps", 100_000, "--dry-run",
                         "--run-dir", tmp_path / "run")
    assert plan["memory_bytes"] > 1_000_000 and "updates fit" in plan["warnings"][0]
    assert "[ppo]" in penstock("train", "--dry-run").stdout
    assert not (tmp_path / "run").exists()


def test_what_cannot_fit_into_memory_is_refused_before_anything_is_made(penstock, tmp_path):
    done = penstock("train", "--num-envs", 65536, "--set", "rollout.steps=1048576", "--run-dir", tmp_path / "run",
                    code=78)
    assert "MB are free" in done.stderr and "rollout.steps" in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_learner_or_instruction_set_that_cannot_be_is_refused_with_the_remedy(penstock, tmp_path):
    run = ["--run-dir", tmp_path / "run"]
    done = penstock("train", "--learner", "fused", "--set", "net.kind=transformer", *run, code=78)
    assert "learner = auto" in done.stderr
    assert "avx512" in penstock("train", "--isa", "mmx", *run, code=78).stderr
    absent = "neon" if platform.machine() == "x86_64" else "avx512"
    assert "this machine has" in penstock("train", "--isa", absent, *run, code=78).stderr
    assert "auto" in penstock("train", "--threads", "many", *run, code=78).stderr


def test_a_run_ends_at_the_reward_it_was_asked_for(penstock, tmp_path):
    done = penstock.json("train", "--total-timesteps", 2_000_000, "--set", "run.stop_at_reward=100",
                         "--run-dir", tmp_path / "run")
    assert done["total_timesteps"] < 500_000 and not done["preempted"]
    # It is over: resuming it trains no further.
    assert penstock.json("resume", tmp_path / "run")["total_timesteps"] == done["total_timesteps"]


def test_auto_tells_what_it_chose_and_why(penstock, tmp_path):
    # A choice comes after a known number of updates (at most 17 a trial), however fast the machine is: 2,000 small ones.
    done = penstock("train", "--total-timesteps", 2000 * 64, "--num-envs", 4, "--set", "rollout.steps=16",
                    "--threads", "auto", "--run-dir", tmp_path / "run")
    if len(os.sched_getaffinity(0)) > 1:
        assert re.search(r"auto: threads = \d+ \(1: \d+k/s, 2: \d+k/s", done.stderr)
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    assert json.loads(lines[5])["perf/threads"] >= 1


def test_every_recipe_runs_for_two_updates(penstock, tmp_path):
    recipes = penstock("config", "--recipes").stdout.split()
    assert {"cartpole", "acrobot", "pendulum"} <= set(recipes)
    for recipe in recipes:
        plan = penstock.json("train", "--recipe", recipe, "--dry-run")
        result = penstock.json("train", "--recipe", recipe, "--total-timesteps", 2 * plan["samples_per_update"],
                               "--set", "run.eval_episodes=1", "--run-dir", tmp_path / recipe)
        assert result["updates"] == 2


def test_progress_is_a_bar_on_a_terminal_and_plain_lines_elsewhere(penstock, tmp_path):
    args = ["train", "--total-timesteps", "60000", "--set", "run.eval_episodes=1"]
    master, slave = pty.openpty()
    process = subprocess.Popen([penstock.exe, *args, "--run-dir", str(tmp_path / "bar")], stderr=slave,
                               stdout=subprocess.PIPE, env=penstock.environment(LANG="C.UTF-8"))
    os.close(slave)
    shown = b""
    try:
        while chunk := os.read(master, 4096):
            shown += chunk
    except OSError:  # the other side is gone
        pass
    process.communicate(timeout=60)
    os.close(master)
    assert "█".encode() in shown and b"steps/s" in shown and b"ETA" in shown
    plain = penstock(*args, "--run-dir", tmp_path / "plain").stderr
    assert "\r" not in plain and "\x1b" not in plain


def test_the_run_directory_is_what_the_docs_say(penstock, tmp_path):
    run = tmp_path / "run"
    penstock("train", *SHORT, "--run-dir", run)
    manifest = json.loads((run / "manifest.json").read_text())
    assert {"penstock", "git", "machine", "dependencies", "seed", "command"} <= manifest.keys()
    step = run / "ckpt" / (run / "ckpt" / "LATEST").read_text().strip()
    assert {p.name for p in step.iterdir()} == {"model.safetensors", "optim.safetensors", "envs.safetensors",
                                                "state.json", "MANIFEST.json"}
    line = json.loads((run / "metrics.jsonl").read_text().splitlines()[0])
    assert line["step"] == line["time/total_timesteps"]


def test_tensorboard_reads_the_run_with_the_names_people_know(penstock, tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    run = tmp_path / "run"
    penstock("train", "--env", "mountain_car", "--num-envs", 64, "--total-timesteps", 30_000, "--run-dir", run)
    events = accumulator.EventAccumulator(str(run))
    events.Reload()
    tags = set(events.Tags()["scalars"])
    expected = {f"train/{x}" for x in ("approx_kl", "clip_fraction", "clip_range", "entropy_loss",
                                       "explained_variance", "learning_rate", "loss", "n_updates",
                                       "policy_gradient_loss", "value_loss")}
    expected |= {f"time/{x}" for x in ("fps", "iterations", "time_elapsed", "total_timesteps")}
    expected |= {f"rollout/{x}" for x in ("ep_rew_mean", "ep_len_mean", "success_rate")}
    expected |= {f"perf/{x}_frac" for x in ("env", "infer", "copy", "learn")}
    expected |= {"eval/mean_reward", "eval/mean_ep_length"}
    assert expected <= tags, expected - tags
    shares = [events.Scalars(f"perf/{x}_frac")[-1].value for x in ("env", "infer", "copy", "learn")]
    assert sum(shares) == pytest.approx(1, abs=0.01)
    lines = [json.loads(x) for x in (run / "metrics.jsonl").read_text().splitlines()]
    scalars = events.Scalars("train/value_loss")
    assert [s.step for s in scalars] == [x["step"] for x in lines if "train/value_loss" in x]
    assert scalars[0].value == pytest.approx(lines[0]["train/value_loss"], rel=1e-6)


EPOCHS = ["--env", "pendulum", "--set", "rollout.steps=auto", "--set", "total_timesteps=0",
          "--set", "run.save_unit=updates", "--set", "run.save_every_s=0", "--set", "run.print_updates=true",
          "--set", "run.eval_episodes=0", "--set", "run.keep=9", "--threads", 1]


def test_epochs_their_lines_and_their_checkpoints(penstock, tmp_path):
    done = penstock("train", *EPOCHS, "--max-steps", 30, "--episodes", 200, "--save-interval", 2, "--log-interval", 1,
                    "--run-dir", tmp_path / "run", "--json")
    result = json.loads(done.stdout)
    assert result["updates"] == 4 and result["episodes"] == 256
    assert "3 epochs of 64 and a remainder of 8" in done.stderr and "256 episodes in all" in done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("epoch ")]
    assert [line.split()[1] for line in lines] == ["1/4", "2/4", "3/4", "4/4"]
    for word in ("reward -", "policy loss", "value loss", "entropy", "steps 7680"):
        assert word in lines[-1]
    saved = sorted(int(re.search(r"\d+", path.name)[0]) for path in (tmp_path / "run" / "ckpt").iterdir()
                   if path.is_dir())
    assert saved == [0, 2 * 1920, 4 * 1920]


def test_keys_of_the_env_are_options(penstock, tmp_path):
    plan = penstock("train", *EPOCHS, "--max-steps=30", "--episodes", 1000, "--dry-run").stdout
    assert "max_steps = 30  # --max-steps" in plan and "steps = 30" in plan
    assert "# 1000 episodes: 15 epochs of 64 and a remainder of 40" in plan and "# 16 updates, 1920 samples each" in plan
    assert "'--max-steps'" in penstock("train", "--env", "pendulum", "--max-step", 3, code=2).stderr
    assert "'--episodes'" in penstock("train", "--env", "pendulum", "--episode", 3, code=2).stderr
    assert "expected a value" in penstock("train", "--env", "pendulum", "--max-steps", code=2).stderr
    few = penstock.json("train", *EPOCHS, "--num-envs", 256, "--max-steps", 30, "--episodes", 1000, "--dry-run")
    assert few["epochs"] == {"whole": 3, "remainder": 232} and "--episodes 3840" in few["warnings"][0]
