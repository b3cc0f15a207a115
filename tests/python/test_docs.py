"""The bash and Python blocks of README.md and docs/ run as they stand, page by page: in order, in one folder.

A bash block is run line by line. Two tables below are all that differs from what a reader types: SHORTER gives
commands that take long options for a short run, NOT_RUN lists commands that are left out, and why.
"""

import functools
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["README.md", *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)

# The longest beginning that fits a command counts. An option takes the place of the command's own, --set is added.
TRAIN = "--duration 0.5s --set run.eval_episodes=1"
SHORTER = {
    "penstock train": TRAIN,
    "penstock train --recipe dvrptw": f"{TRAIN} --num-envs 16",
    "penstock eval": "--episodes 5",
    "penstock bench env": "--rounds 1 --round-seconds 0.1",
    "penstock bench ppo": "--rounds 1 --round-seconds 0.1",
    "penstock booking eval": "--episodes 2",
    "penstock booking report": "--episodes 10",
    "penstock booking oracle eval": "--days 1 --sizes 5 --questions 1 --seconds 0",
    "penstock booking oracle train": "--lessons 10 --steps 2 --reinforce-steps 1",
    "penstock cage2 leaderboard": "--episodes 2",
    "penstock cage2 orders": "--episodes 2",
    "penstock cage2 search": "--n-workflows 2 --initial 2 --train-episodes-per-env 1 --eval-episodes 2 --seeds 2 --truth-seeds 1 --repetitions 1",
    "penstock cage2 workflow": "--train-episodes-per-env 1 --eval-episodes 2",
}
NOT_RUN = {
    "it installs what this test runs in, as scripts/build-wheels does": [
        "pip install torch==2.13.0",
        "pip install penstock-*.whl",
        "pip install 'gymnasium>=1.1,<2'",
        "pip install --no-deps penstock-*.whl",
        "pip install 'penstock[wandb]'",
    ],
    "it compiles for minutes; other stages of .ci/run do": [
        "scripts/bootstrap --no-dev",
        "scripts/build-wheels",
        "pip install .",
        "cmake --preset release && cmake --build --preset release",
        "cmake --install build/release --prefix ~/penstock",
    ],
    "it does not end": [
        "tensorboard --logdir runs",
    ],
    "it does not end; tests/golden/test_dvrptw_offer.py asks such a server": [
        "penstock booking offer --serve 8080",
        "curl -H 'Content-Type: application/json' --data-binary @query.json http://127.0.0.1:8080/offer",
    ],
    "it does not end; tests/golden/test_booking_service.py runs the page": [
        "penstock booking serve --fleet north.json --store days.db --port 8080",
        "penstock booking serve --fleet south.json --tastes tastes.json --policy models/slots-seller --store south.db --port 8081",
        "curl -s --data @quote.json http://127.0.0.1:8080/v1/plans/north.2026-12-01/quote",
        "curl -s --data @hold.json http://127.0.0.1:8080/v1/plans/north.2026-12-01/hold",
        "curl -s --data '{\"id\": \"o1\", \"key\": \"call-2\"}' http://127.0.0.1:8080/v1/plans/north.2026-12-01/commit",
        "curl -s http://127.0.0.1:8080/v1/plans/north.2026-12-01",
    ],
    "it needs a server of MLflow; test_trackers.py has one": [
        "penstock track runs/first --to mlflow --tracking-uri http://localhost:5000 --follow",
    ],
    "it needs an env that failed; test_worker_deaths.py has one": [
        "penstock replay runs/first/replay/env-3-episode-7.json",
    ],
    "it installs other trainers and measures for minutes; tests/bench runs it without them": [
        "penstock bench compare --peers sb3,cleanrl,jax",
    ],
}
SKIPPED = {command for commands in NOT_RUN.values() for command in commands}

# What a reader of the page has: the page read before, folders of a clone, a module.
READ_BEFORE = {"docs/cpp.md": "README.md", "docs/trackers.md": "README.md"}
IN_A_CLONE = {"docs/booking/training.md": "models/dvrptw-offer", "docs/booking/backtest.md": "models/slots-seller",
              "docs/cage2/README.md": "tests/data/cage2"}
OF_THE_READER = {"docs/from-your-scripts.md": ("my_pkg.py", """
import gymnasium
gymnasium.register("MyEnv-v0", lambda: gymnasium.make("CartPole-v1"))
""")}
SAVED_BY_THE_READER = re.compile(r"Save this as `([\w.]+)`:\n\n```\w+\n(.*?)^```$", re.M | re.S)


def blocks(text):
    """[(language, block)] of a page."""
    return BLOCK.findall(text)


def commands(block):
    """The commands of a bash block, without comments; a backslash joins lines."""
    lines = (re.sub(r"\s+", " ", re.sub(r"(^|\s)#.*", "", line)).strip() for line in block.replace("\\\n", " ").splitlines())
    return [line for line in lines if line]


def shortened(command):
    """The command with the options of SHORTER."""
    fitting = [beginning for beginning in SHORTER if command.startswith(beginning)]
    if not fitting:
        return command
    words, options = shlex.split(command), shlex.split(SHORTER[max(fitting, key=len)])
    assert not {"&&", "||", "|", ";"} & set(words), f"{command}: one command in a line, so that it can be shortened"
    for name, value in zip(options[::2], options[1::2], strict=True):
        if name in words and name != "--set":
            words[words.index(name) + 1] = value
        else:
            words += [name, value]
    return shlex.join(words)


def surroundings(folder):
    """The commands of the wheel come first; nothing leaves this machine, nothing lands in anyone's home."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PENSTOCK_", "WANDB_", "MLFLOW_"))}
    wandb = {f"WANDB_{kind}DIR": str(folder / "wandb-home") for kind in ("CONFIG_", "CACHE_", "DATA_")}
    return {**kept, **wandb, "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}",
            "WANDB_MODE": "offline", "WANDB_ERROR_REPORTING": "false", "MLFLOW_DISABLE_TELEMETRY": "true",
            "OMP_NUM_THREADS": "1"}  # networks this small are slower with more, above all on a busy machine


def run(words, folder, what):
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300, env=surroundings(folder),
                          stdin=subprocess.DEVNULL)
    assert done.returncode == 0, f"{what}\nexit {done.returncode}\n{done.stdout}\n{done.stderr}"


def run_blocks(text, folder):
    """Runs a page's blocks in the folder."""
    for name, content in SAVED_BY_THE_READER.findall(text):
        (folder / name).write_text(content)
    for language, block in blocks(text):
        if language == "python":
            run([sys.executable, "-c", block], folder, block)
        for command in commands(block) if language == "bash" else []:
            if command not in SKIPPED:
                run(["bash", "-c", shortened(command)], folder, shortened(command))


@pytest.fixture(scope="module")
def folder_after(tmp_path_factory):
    """Gives the folder of a reader who has typed all of a page."""

    @functools.cache
    def read(page):
        folder = tmp_path_factory.mktemp("reader")
        if page in READ_BEFORE:
            shutil.copytree(read(READ_BEFORE[page]), folder, dirs_exist_ok=True)
        if page in IN_A_CLONE:
            shutil.copytree(ROOT / IN_A_CLONE[page], folder / IN_A_CLONE[page])
        if page in OF_THE_READER:
            name, content = OF_THE_READER[page]
            (folder / name).write_text(content)
        run_blocks((ROOT / page).read_text(), folder)
        return folder

    return read


def all_blocks():
    return [(page, language, block) for page in PAGES for language, block in blocks((ROOT / page).read_text())]


def all_commands():
    return [command for _, language, block in all_blocks() if language == "bash" for command in commands(block)]


@pytest.mark.parametrize("page", sorted({page for page, language, _ in all_blocks() if language in ("bash", "python")}))
def test_page(folder_after, page):
    folder_after(page)


def test_no_command_hides_from_this_test():
    hidden = [f"{page}: {block}" for page, language, block in all_blocks() if language not in ("bash", "python")
              and (language not in ("", "cpp", "cmake", "csv", "json", "toml") or re.search(r"^(\$ |penstock |pip )", block, re.M))]
    assert not hidden, "these blocks are bash, or not commands:\n" + "\n".join(hidden)
    assert [page for page in PAGES if re.search(r"^[ \t]+(```|~~~)|^~~~", (ROOT / page).read_text(), re.M)] == []
    assert len(all_commands()) - len(SKIPPED) > 20


def test_every_exception_has_a_command():
    assert SKIPPED <= set(all_commands())
    assert {beginning for beginning in SHORTER if not any(c.startswith(beginning) for c in all_commands())} == set()
    assert {*READ_BEFORE, *IN_A_CLONE, *OF_THE_READER} <= set(PAGES)


def test_a_page_is_read_as_a_reader_does(tmp_path):
    page = "Save this as `a.txt`:\n\n```json\n{}\n```\n\n```bash\ncp a.txt \\\n    b.txt  # a copy\n```\n" \
           "```python\nopen('c.txt', 'w').write(open('b.txt').read())\n```\n"
    run_blocks(page, tmp_path)
    assert (tmp_path / "c.txt").read_text() == "{}\n"
    for wrong in ("```bash\ntrue\ncp d.txt e.txt  # not there\n```\n", "```python\nassert False\n```\n"):
        with pytest.raises(AssertionError, match="exit 1"):
            run_blocks(wrong, tmp_path)


def test_long_commands_are_shortened():
    assert shortened("penstock booking eval a --episodes 1000 --set x=1") == "penstock booking eval a --episodes 2 --set x=1"
    assert shortened("penstock train --set a=1 --duration 1h") == \
        "penstock train --set a=1 --duration 0.5s --set run.eval_episodes=1"
    assert "--num-envs 16" in shortened("penstock train --recipe dvrptw-256")
    assert shortened("penstock doctor") == "penstock doctor"
