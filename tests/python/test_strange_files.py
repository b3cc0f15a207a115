"""Files of strangers that the package reads: what they hold is bounded, nothing is written where they point to, and what they say
does not reach the terminal as it is."""

import json
import math
import os

import gymnasium
import numpy as np
import penstock
import pytest
from penstock import _base, optuna, trackers
from penstock._follow import LONGEST, Run, Tail
from penstock._values import parse_toml
from penstock_worker import strangers

DEEP = "[" * 100_000
TOWER = ".".join(["a"] * 100_000) + " = 1"


def test_json_has_its_bounds(monkeypatch):
    deepest = "[" * 64 + "]" * 64
    assert strangers.parse_json(deepest) == json.loads(deepest)
    assert strangers.parse_json('{"a": [{"b": 1}]}') == {"a": [{"b": 1}]}
    for text in f"[{deepest}]", '{"a":' * 65 + "1" + "}" * 65, DEEP:
        with pytest.raises(ValueError, match="more than 64 levels"):
            strangers.parse_json(text)
    monkeypatch.setattr(strangers, "MOST_BYTES", 10)
    with pytest.raises(ValueError, match="at most 10 are read"):
        strangers.parse_json("[1, 2, 3, 4]")


def test_toml_has_its_bounds():
    assert parse_toml('a.b = 1\n[c]\nd = "x"', "t") == {"a": {"b": 1}, "c": {"d": "x"}}
    for text in TOWER, "a = " + DEEP, "a = 1\n" * 300_000, "a = ":
        with pytest.raises(penstock.ConfigError, match="^t:|^t "):
            parse_toml(text, "t")


def test_nothing_is_waited_for_and_nothing_endless_is_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with open(tmp_path / "sparse", "wb") as file:
        file.truncate(1 << 40)
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name in "pipe", "zero":
        with pytest.raises(OSError, match="not a regular file"):
            strangers.read_text(tmp_path / name)
    with pytest.raises(ValueError, match="more than 64000000 bytes"):
        strangers.read_text(tmp_path / "sparse")
    for name in "pipe", "zero", "sparse", "missing":
        with pytest.raises(penstock.Error):
            penstock.replay(tmp_path / name)


def test_a_plan_is_no_pipe(tmp_path):
    from penstock.booking import Plan

    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        Plan(tmp_path / "pipe")


@pytest.mark.parametrize("text", [DEEP, "[]", '{"penstock_replay": 1}', "\0", "{",
                                  '{"penstock_replay": 1, "env": 1, "kwargs": {}, "seed": 0, "actions": []}'])
def test_a_replay_that_is_none(tmp_path, text):
    (tmp_path / "replay.json").write_text(text)
    with pytest.raises(penstock.DataError, match="not a replay"):
        penstock.replay(tmp_path / "replay.json")


@pytest.fixture
def strange_run(tmp_path):
    """A run directory as `penstock track` reads it."""
    for name, text in {"manifest.json": "{}", "config.toml": "total_timesteps = 10\n", ".lock": "", "ckpt/LATEST": "5\n",
                       "ckpt/5/state.json": '{"run": {"episodes": 3}, "engine": {"updates": 2}}', "metrics.jsonl": ""}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_run_is_followed_however_strange(strange_run):
    assert Run(strange_run).summary() == {"status": "stopped", "total_timesteps": 5, "updates": 2, "episodes": 3}
    (strange_run / "ckpt/5/state.json").write_text(DEEP)
    assert Run(strange_run).summary()["episodes"] == 0
    (strange_run / "ckpt/5/state.json").write_text('{"run": [1], "engine": 2}')
    assert Run(strange_run).summary()["updates"] == 0
    (strange_run / ".lock").unlink()
    os.mkfifo(strange_run / ".lock")
    assert not Run(strange_run).is_locked()


@pytest.mark.parametrize(("name", "text"), [("config.toml", TOWER), ("config.toml", 'total_timesteps = "ten"'), ("config.toml", "a = "),
                                            ("ckpt/5/state.json", '{"run": {"window": [1]}}'), ("manifest.json", DEEP), ("manifest.json", "[]")])
def test_a_strange_run_is_refused_in_words(strange_run, name, text):
    (strange_run / name).write_text(text)
    with pytest.raises(penstock.Error):
        Run(strange_run).summary()


def test_strange_lines_of_metrics_are_left_out(strange_run):
    path = strange_run / "metrics.jsonl"
    path.write_text("\n".join(['{"step": 1, "a": 2}', DEEP, "[]", '{"step": "2"}', '{"step": 2, "a": ' + "9" * 400 + "}",
                               '{"step": 3, "a": null, "b": "text"}', '{"step": 4']))
    tail = Tail(Run(strange_run))
    assert [(row.step, row.values["a"]) for rows in tail.batches() for row in rows][0] == (1, 2)
    path.write_text("")
    path.write_text(path.read_text() + '{"step": 1, "a": 2}\n' + "x" * (5 * LONGEST))
    tail = Tail(Run(strange_run))
    assert [row.step for rows in tail.batches() for row in rows] == [1]
    assert len(tail._torn) <= LONGEST
    with path.open("a") as file:
        file.write('"}\n{"step": 7, "a": null}\n')
    (row,) = (row for rows in tail.batches() for row in rows)
    assert row.step == 7 and math.isnan(row.values["a"])


# Where others' files point to, and what their texts say.


def test_links_are_replaced_and_not_followed(tmp_path):
    (tmp_path / "victim").write_text("mine")
    (tmp_path / "link").symlink_to("victim")
    strangers.replace_text(tmp_path / "link", "theirs")
    assert (tmp_path / "victim").read_text() == "mine"
    assert (tmp_path / "link").read_text() == "theirs" and not (tmp_path / "link").is_symlink()
    assert {path.name for path in tmp_path.iterdir()} == {"victim", "link"}


class Throws(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        return np.zeros(1, np.float32), {}

    def step(self, action):
        if action:
            raise ValueError("\x1b[2Jcleared")
        return np.zeros(1, np.float32), 0.0, False, False, {}


def test_a_failure_is_kept_beside_a_link_and_told_without_escapes(tmp_path):
    (tmp_path / "victim").write_text("mine")
    (tmp_path / "replays").mkdir()
    (tmp_path / "replays" / "env-0-episode-0.json").symlink_to("../victim")
    envs = penstock.VectorEnv(Throws, 1, num_workers=1, replay_dir=tmp_path / "replays")
    try:
        envs.reset(seed=[0])
        envs.step(np.array([0]))
        with pytest.warns(RuntimeWarning, match=r"\\x1b\[2Jcleared") as told:
            envs.step(np.array([1]))
    finally:
        envs.close()
    assert "\x1b" not in str(told[0].message)
    assert (tmp_path / "victim").read_text() == "mine"
    assert "cleared" in (tmp_path / "replays" / "env-0-episode-0.json").read_text()


def test_errors_are_told_without_escapes(tmp_path, capsys, monkeypatch):
    with pytest.raises(_base.Error) as told:
        _base.Settings().add_toml_file(str(tmp_path / "\x1b[2J.toml"))
    assert "\x1b" not in str(told.value) and r"\x1b[2J" in str(told.value)
    path = tmp_path / "replay.json"
    path.write_text(json.dumps({"penstock_replay": 1, "env": "os:\x1b[2J", "seed": 0, "kwargs": {}, "actions": []}))
    with pytest.raises(penstock.DataError) as told:
        penstock.replay(path)
    assert "\x1b" not in str(told.value)
    monkeypatch.setattr(optuna, "search", refuse)
    assert optuna.main(["fleet.toml"]) == 78
    trackers.say("\x1b[2J")
    said = capsys.readouterr().err
    assert "\x1b" not in said and said.count(r"\x1b[2J") == 2


def refuse(*_, **__):
    raise penstock.ConfigError("\x1b[2J")
