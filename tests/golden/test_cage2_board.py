"""The leader board of cage2: totals, intervals over episodes and over training seeds, and the audit."""

import json
import pathlib

import pytest

RUNS = {}  # by training seed


@pytest.fixture
def defender(penstock, tmp_path_factory):
    """A barely trained policy of a seed; made once."""
    def run_of(seed):
        if seed not in RUNS:
            RUNS[seed] = tmp_path_factory.mktemp("board") / f"run{seed}"
            penstock("train", "--recipe", "cage2-defender", "--total-timesteps", 6400, "--threads", 1, "--seed", seed,
                     "--set", "env.num_envs=32", "--set", "net.hidden=[16]", "--set", "run.eval_episodes=2",
                     "--run-dir", RUNS[seed])
        return RUNS[seed]
    return run_of


def test_a_defender_is_scored_as_by_the_leader_board(penstock, defender):
    few = ("cage2", "leaderboard", defender(1), "--episodes", 140, "--no-audit")
    board = penstock.json(*few, "--threads", 1)
    assert board["rules"] == "leaderboard" and not board["sampled"] and board["set"] == []
    assert board["runs"][0]["trained_steps"] == 6400 and board["runs"][0]["wrapper"] == "v2"
    cells = [(cell["red"], cell["steps"]) for cell in board["cells"]]
    assert cells == [(red, steps) for red in ("bline", "meander", "sleep") for steps in (30, 50, 100)]
    assert board["total"] == pytest.approx(sum(cell["mean"] for cell in board["cells"]))
    error = board["runs"][0]["std_error"]
    assert error == pytest.approx(sum(cell["std_error"] ** 2 for cell in board["cells"]) ** 0.5)
    assert board["iqm"] == board["total"] and board["interval_of"] == "episodes only"
    assert board["interval"] == pytest.approx([board["total"] - 1.959964 * error, board["total"] + 1.959964 * error])
    assert board["official"] == {"CardiffUni": -54.57, "Keeping-it-RL": -56.90} and board["ahead_of_winner"] == 0
    assert penstock.json(*few, "--threads", 2) == board
    assert penstock.json(*few, "--seed", 1)["total"] != board["total"]
    assert penstock.json(*few, "--sampled")["total"] != board["total"]
    told = penstock(*few).stdout
    assert f"total {board['total']:.2f}" in told and "wrapper v2" in told and "0 of 1 above CardiffUni -54.57" in told
    assert "of episodes only" in told and "audit" not in told


def test_the_audit_plays_the_game_that_it_names(penstock, defender):
    few = ("cage2", "leaderboard", defender(1), "--episodes", 20)
    board = penstock.json(*few)
    audit = {row["changed"]: row for row in board["audit"]}
    assert len(audit) == 13 and all(row["games"] == 9 * 20 for row in audit.values())
    for row in audit.values():
        assert row["owed"] == pytest.approx(board["total"] - row["total"])
    head = penstock.json(*few, "--rules", "head", "--no-audit")
    assert head["total"] == pytest.approx(audit["env.rules=head"]["total"])
    assert head["official"] == {"CardiffUni": -86.03} and head["audit"] == []
    green = penstock.json(*few, "--set", "env.green=true", "--no-audit")
    assert green["total"] == pytest.approx(audit["env.green=true"]["total"]) and green["set"] == ["env.green=true"]
    assert green["official"] == {} and "ahead_of_winner" not in green
    debugged = penstock.json(*few, "--rules", "dbg", "--no-audit")
    assert debugged["runs"][0]["wrapper"] == "dbg" and debugged["official"] == {}
    told = penstock(*few).stdout
    assert "env.fix_restored_mail=true" in told and "Only these keys were checked" in told
    assert "does not live" not in told


def test_several_training_seeds_have_an_interval_over_seeds(penstock, defender):
    runs = [defender(seed) for seed in (1, 2, 3)]
    few = ("--episodes", 20, "--no-audit")
    together = penstock.json("cage2", "leaderboard", *runs, *few)
    totals = [penstock.json("cage2", "leaderboard", run, *few)["total"] for run in runs]
    assert [run["total"] for run in together["runs"]] == totals and [run["seed"] for run in together["runs"]] == [1, 2, 3]
    mean = sum(totals) / 3
    half = 4.30265 * (sum((total - mean) ** 2 for total in totals) / 2 / 3) ** 0.5
    assert together["total"] == together["iqm"] == pytest.approx(mean)
    assert together["interval"] == pytest.approx([mean - half, mean + half])
    assert together["interval_of"] == "the mean over training seeds (Student's t)"
    twice = penstock("cage2", "leaderboard", runs[0], runs[0], *few)
    assert "have the training seed 1" in twice.stderr and "of 2 runs" in twice.stdout


def test_a_policy_can_be_evaluated_in_another_game(penstock, defender):
    run = defender(1)
    def reward(*more):
        return penstock.json("eval", run, "--episodes", 5, *more)["stats"]["game_return"]
    asleep = reward("--set", "env.red=sleep")
    assert asleep > -200 and asleep != reward("--set", "env.red=bline")
    assert reward("--set", "env.red=sleep", "--set", "env.max_steps=30") >= asleep
    refused = penstock("eval", run, "--set", "net.hidden=[8]", code=2).stderr
    assert "net.hidden" in refused and "expected a key of the env" in refused
    refused = penstock("cage2", "leaderboard", run, "--set", "env.red=meander", code=2).stderr
    assert "penstock eval" in refused
    assert "did you mean 'env.green'" in penstock("cage2", "leaderboard", run, "--set", "env.gren=1", code=78).stderr
    assert "head, leaderboard or dbg" in penstock("cage2", "leaderboard", run, "--rules", "lb", code=2).stderr


def test_the_leader_board_is_for_its_own_envs(penstock, tmp_path):
    penstock("train", "--env", "cartpole", "--total-timesteps", 2048, "--threads", 1, "--run-dir", tmp_path / "run")
    assert "env is cartpole" in penstock("cage2", "leaderboard", tmp_path / "run", code=2).stderr


def test_a_masked_policy_is_scored_too(penstock, tmp_path):
    run = tmp_path / "run"
    told = penstock.json("train", "--recipe", "cage2-workflow-masked", "--total-timesteps", 5000, "--threads", 1,
                         "--set", "run.eval_episodes=2", "--run-dir", run)
    assert told["total_timesteps"] == 5000
    few = ("cage2", "leaderboard", run, "--episodes", 10, "--no-audit")
    board = penstock.json(*few, "--sampled", "--set", "env.order=op_server,enterprise,op_host,user,defender")
    assert board["runs"][0]["wrapper"] == "v1"
    # Against a red that sleeps nothing looks lost, so that a masked policy never restores.
    assert [cell["mean"] for cell in board["cells"] if cell["red"] == "sleep"] == [0, 0, 0]
    assert penstock.json(*few, "--sampled", "--set", "env.mask=none")["cells"][8]["mean"] < 0


@pytest.mark.parametrize("name", ["leaderboard", "head"])
def test_a_defender_that_ships_scores_what_its_card_says(penstock, name):
    run = pathlib.Path(__file__).parents[2] / "models" / f"cage2-defender-{name}"
    card = json.loads((run / "card.json").read_text())
    board = penstock.json("cage2", "leaderboard", run, "--rules", card["rules"], "--episodes", 50, "--seed", 2, "--no-audit")
    assert board["runs"][0]["wrapper"] == card["wrapper"] and card["rules"] == name
    error = (card["std_error"] ** 2 + board["runs"][0]["std_error"] ** 2) ** 0.5
    assert abs(board["total"] - card["total"]) < 3 * error  # other episodes than the card's
    assert board["ahead_of_winner"] == 1
    assert card["total"] == pytest.approx(sum(cell["mean"] for cell in card["cells"]), abs=0.001)
    assert f"{card['total']:.2f}".replace("-", "\N{MINUS SIGN}") in (run / "README.md").read_text()
