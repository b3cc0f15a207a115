"""The verbs of cage2: recordings replayed, an episode told and drawn, policies trained and scored."""

import json
import pathlib
import xml.etree.ElementTree

import pytest

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "data" / "cage2"
SVG = "{http://www.w3.org/2000/svg}"


def test_replay_finds_nothing_but_the_known_coincidence(penstock):
    report = penstock.json("cage2", "replay", DATA)
    assert report["steps"] == 221_600 + 36_000 + 12_000
    assert report["observation_mismatches"] == 0 and report["reward_mismatches"] == 0
    assert report["field_mismatches"] == 1
    assert "269600 steps" in penstock("cage2", "replay", DATA).stdout


def test_replay_fails_when_what_blue_sees_differs(penstock, tmp_path):
    (tmp_path / "bline-react-100.npz").write_bytes((DATA / "dbg" / "bline-react-100.npz").read_bytes())
    done = penstock("cage2", "replay", tmp_path, "--json", code=1)
    report = json.loads(done.stdout)
    assert report["reward_mismatches"] > 0 and "bline-react-100.npz, episode" in report["examples"][0]


def test_replay_refuses_what_is_no_recording(penstock, tmp_path):
    assert "no recordings" in penstock("cage2", "replay", tmp_path, code=2).stderr
    (tmp_path / "bline-react-100.npz").write_bytes(b"PK")
    assert "bline-react-100.npz" in penstock("cage2", "replay", tmp_path, code=65).stderr


def test_an_episode_is_told_as_before(penstock):
    """Regenerate with: penstock cage2 play --red meander --seed 1 > tests/golden/cage2_play.txt"""
    told = penstock("cage2", "play", "--red", "meander", "--seed", 1).stdout
    assert told == (HERE / "cage2_play.txt").read_text()


def test_play_as_json(penstock):
    whole = penstock.json("cage2", "play", "--blue", "sleep", "--steps", 100, "--rules", "leaderboard")
    assert whole["rules"] == "leaderboard" and whole["steps"] == len(whole["episode"]) == 100
    assert whole["return"] == pytest.approx(sum(step["reward"] for step in whole["episode"]))
    assert whole["return"] < -1000 and not whole["episode"][-1]["service_up"]
    assert penstock.json("cage2", "play", "--blue", "sleep", "--red", "sleep")["return"] == 0


def test_beliefs_as_json(penstock):
    """Blue sees neither the attacker nor its sessions, and infers both."""
    asked = ("cage2", "play", "--blue", "sleep", "--red", "bline", "--steps", 20)
    episode = penstock.json(*asked, "--belief", 64)["episode"]
    first, last = episode[0]["belief"], episode[-1]["belief"]
    assert first["red"] == {"bline": 0.3333, "meander": 0.3333, "sleep": 0.3333} and first["exact"]
    assert last["red"]["bline"] == 1 and last["hypotheses"] >= 1
    for step in episode:
        for host, truth in step["sessions"].items():
            believed = step["belief"]["hosts"][host]
            assert believed["session"] > 0 and (believed["privileged"] > 0 or truth["privileged"] == 0)
    assert "belief" not in penstock.json(*asked)["episode"][0]
    assert "add --json" in penstock(*asked, "--belief", 8, code=2).stderr
    refused = penstock(*asked, "--belief", 8, "--json", "--set", "env.mix=[0,1,1]", code=78).stderr
    assert "bline has no weight" in refused


def test_a_picture_of_every_step(penstock, tmp_path):
    penstock("cage2", "play", "--steps", 40, "--red", "meander", "--svg", tmp_path / "new" / "folder")
    pictures = sorted((tmp_path / "new" / "folder").iterdir())
    assert [p.name for p in pictures] == [f"step-{i:03}.svg" for i in range(41)]
    for path in pictures:
        root = xml.etree.ElementTree.parse(path).getroot()
        words = [text.text for text in root.iter(SVG + "text")]
        assert root.tag == SVG + "svg" and {"Op_Server0", "User0", "Enterprise"} <= set(words)


def test_the_games_rules_are_the_envs_keys(penstock):
    green = penstock("cage2", "play", "--set", "env.green=true", "--set", "env.fix_smb=true")
    assert "Green scans" in green.stdout
    assert "env.red" in penstock("cage2", "play", "--red", "bilne", code=78).stderr
    assert "did you mean 'react'" in penstock("cage2", "play", "--blue", "reatc", code=2).stderr


def test_a_misspelt_verb_of_a_domain(penstock):
    message = penstock("cage2", "relpay", code=2).stderr
    assert "'relpay' is not one of play, replay, workflow" in message and "did you mean 'replay'" in message
    assert "replay" in penstock("cage2", "--help").stdout
    penstock("cage2", code=2)


def test_the_env_trains(penstock, tmp_path):
    penstock("train", "--env", "cage2", "--num-envs", 8, "--total-timesteps", 4096, "--threads", 1,
             "--set", "env.red=mix", "--set", "run.eval_episodes=2", "--run-dir", tmp_path / "run")
    assert penstock.json("eval", tmp_path / "run", "--episodes", 10)["mean_reward"] < 0


def test_a_workflow_is_trained_told_and_kept(penstock, tmp_path):
    few = ("--n-envs", 5, "--train-episodes-per-env", 3, "--eval-episodes", 5, "--seed", 2, "--red", "meander",
           "--order", "op_server,enterprise,user,op_host,defender")
    runs = (tmp_path / str(number) for number in range(10))

    def train(*more):
        return penstock.json("cage2", "workflow", *few, *more, "--run-dir", next(runs))

    result = train()
    assert result["order"] == "op_server,enterprise,user,op_host,defender" and result["red"] == "meander"
    assert result["episodes"] == 15 and result["steps"] == 1500 == result["curve"][-1]["steps"]
    assert len(result["curve"]) == 3 and not result["stopped_early"] and 0 <= result["compliance"] <= 1
    assert sum(result["env_compliance"]) / 5 == pytest.approx(result["compliance"]) and len(result["env_compliance"]) == 5
    assert json.loads((pathlib.Path(result["run_dir"]) / "workflow.json").read_text()) == result
    assert result["mean_return"] < 0 < result["std_error"]
    assert result["worth"] == pytest.approx(result["mean_return"] + 20 * result["eval_compliance"] - 10)
    assert 0 <= result["lost_compliance"] <= 1 and result["fixes"] > 1
    assert train("--threads", 2)["digest"] == result["digest"]
    assert result["digest"] in penstock("cage2", "workflow", *few, "--run-dir", next(runs)).stdout
    assert train("--unconditioned")["digest"] != result["digest"]
    assert train("--set", "ppo.clip=0.1")["digest"] != result["digest"]
    bound = train("--set", "env.constraint=0.95")
    assert bound["digest"] != result["digest"] and train("--set", "env.constraint=0.95", "--threads", 2)["digest"] == bound["digest"]
    lines = [json.loads(line) for line in (pathlib.Path(bound["run_dir"]) / "metrics.jsonl").read_text().splitlines()]
    multipliers = [20] + [line["rollout/multiplier"] for line in lines]
    for number, point in enumerate(bound["curve"]):  # the running average is of each env's episodes so far: sums tell each rollout's
        before = bound["curve"][number - 1]["compliance"] * number if number > 0 else 0
        compliance = point["compliance"] * (number + 1) - before
        assert multipliers[number + 1] == pytest.approx(multipliers[number] + 5 * (0.95 - compliance))
    assert bound["worth"] == pytest.approx(bound["mean_return"] + multipliers[-1] * (bound["eval_compliance"] - 0.95))

    assert penstock.json("eval", result["run_dir"], "--episodes", 3)["mean_reward"] < 0
    assert "already holds a run" in penstock("cage2", "workflow", *few, "--run-dir", result["run_dir"], code=73).stderr


def test_an_order_that_is_none(penstock):
    message = penstock("cage2", "workflow", "--order", "user,op_hots,op_server,enterprise,defender", code=78).stderr
    assert "op_hots" in message and "did you mean 'op_host'" in message
    penstock("cage2", "workflow", "--compliance-rule", "C", code=78)


def test_one_policy_for_all_orders_by_recipe(penstock, tmp_path):
    penstock("train", "--recipe", "cage2-workflow", "--total-timesteps", 5000, "--threads", 1,
             "--set", "run.eval_episodes=2", "--run-dir", tmp_path / "run")
    last = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    told = [line for line in last if "rollout/compliance" in line][-1]
    aligned = 20 * told["rollout/compliance"] - 10
    assert told["rollout/ep_rew_mean"] == pytest.approx(told["rollout/game_return"] + aligned)
    assert told["rollout/fixes"] > 1 and 0 < told["rollout/lost_compliance"] < 1


@pytest.mark.parametrize("red, games", [("bline", 6), ("meander", 24)])
def test_a_search_tells_orders_that_are_one_game_together(penstock, tmp_path, red, games):
    few = ("cage2", "search", "--red", red, "--evaluator", "synthetic", "--no-baselines", "--out", tmp_path)
    told = penstock.json(*few)
    assert told["games"]["of_120_orders"] == games
    tried = told["games"]["tried"]
    assert sum(row["orders_tried"] for row in tried) == len(tried) == len(told["ranking"]) <= games
    assert all(row["least"] <= row["mean_return"] <= row["most"] for row in tried)
    whole = json.loads((tmp_path / "search.json").read_text())
    assert whole["games"] == told["games"] and {"fixes", "worth", "lost_compliance"} <= set(whole["trials"][0])
    assert f"the 120 orders are {games} games" in penstock(*few).stdout


def test_one_policy_is_played_by_an_order_of_each_game(penstock, tmp_path):
    run = tmp_path / "run"
    penstock("train", "--recipe", "cage2-workflow-amortised", "--num-envs", 4, "--total-timesteps", 400, "--threads", 1, "--run-dir",
             run, "--set", "ppo.minibatch=200", "--set", "run.eval_episodes=0")
    few = ("cage2", "orders", run, "--episodes", 6)
    told = penstock.json(*few, "--threads", 1)
    assert [row["red"] for row in told["orders"]] == ["bline"] * 6 + ["meander"] * 24 and told["of"] == 30
    assert len({(row["red"], row["order"]) for row in told["orders"]}) == 30
    kept = [all(row[how][count] >= 0.95 for how in ("sampled", "greedy") for count in ("compliance", "lost_compliance"))
            for row in told["orders"]]
    assert kept == [row["kept"] for row in told["orders"]] and told["kept"] == sum(kept)
    assert penstock.json(*few, "--threads", 2) == told
    assert f"{told['kept']} of 30 kept" in penstock(*few).stdout
    # The same games by `penstock eval`.
    row = told["orders"][-1]
    same = penstock.json("eval", run, "--episodes", 6, "--seed", 1, "--set", "env.red=meander", "--set", f"env.order={row['order']}")
    assert same["stats"]["game_return"] == pytest.approx(row["greedy"]["mean_return"])
    assert same["stats"]["compliance"] == pytest.approx(row["greedy"]["compliance"])
    assert len(penstock.json(*few, "--red", "bline")["orders"]) == 6
    defender = tmp_path / "defender"
    penstock("train", "--env", "cage2_defender", "--num-envs", 2, "--total-timesteps", 200, "--run-dir", defender, "--set", "rollout.steps=100",
             "--set", "run.eval_episodes=0", "--set", "ppo.minibatch=100")
    assert "orders are kept in cage2_workflow" in penstock("cage2", "orders", defender, code=2).stderr
