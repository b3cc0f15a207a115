"""learn(progress_bar=True): tqdm's bar, or one line that is overwritten."""

import sys

import pytest

import penstock

SMALL = {"rollout": {"steps": 32}, "run": {"eval_episodes": 0}, "ppo": {"minibatch": 128}}


def learnt(bar, *steps):
    model = penstock.PPO("cartpole", 16, 1, **SMALL)
    for number in steps:
        model.learn(number, progress_bar=bar)


def test_without_tqdm_a_line_is_overwritten(capfd, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    learnt(True, 20_000, 4096)
    out, err = capfd.readouterr()
    ends = [line.split("\r")[-1] for line in err.strip("\n").split("\n")]
    assert out == "" and len(ends) == 2  # one for each learn()
    assert ends[0].startswith("step 20480/20000 (100%)") and ends[1].startswith("step 24576/")
    learnt(False, 4096)
    assert "\r" not in capfd.readouterr().err


def test_with_tqdm(capfd):
    pytest.importorskip("tqdm")
    learnt(True, 20_000, 4096)
    out, err = capfd.readouterr()
    first, second = err.strip().split("\n")
    assert out == "" and "100%" in first.split("\r")[-1] and "reward=" in first.split("\r")[-1]
    assert "83%" in second.split("\r")[1]  # 20480 of 24576: it goes on


def test_in_a_notebook(tmp_path):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(
        "import penstock\n"
        "model = penstock.PPO('cartpole', 16, 1, run={'eval_episodes': 0}, rollout={'steps': 32})\n"
        "model.learn(20_480, progress_bar=True)")]
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3",
                            resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = "".join(out.get("text", "") for out in notebook.cells[0].outputs if out.get("name") == "stderr")
    kinds = [kind for out in notebook.cells[0].outputs for kind in out.get("data", {})]
    assert "100%" in shown or any("widget" in kind for kind in kinds)
    assert "IProgress" not in shown  # what tqdm says where ipywidgets are missing
