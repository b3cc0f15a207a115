"""Policies that leave: watched, exported as an agent of numpy for CybORG, and held against the native one.

PENSTOCK_TEST_OBSERVATIONS=10000 holds them on as many observations, instead of 2,000.
"""

import importlib.util
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
import xml.etree.ElementTree

import numpy as np
import pytest

DATA = pathlib.Path(__file__).resolve().parents[1] / "data" / "cage2"
OBSERVATIONS = int(os.environ.get("PENSTOCK_TEST_OBSERVATIONS", "2000"))
SMALL = ("--num-envs", 32, "--threads", 1, "--seed", 3, "--set", "run.eval_episodes=1", "--set", "rollout.shards=1")


ORDER = "user,op_server,enterprise,op_host,defender"
BY_ORDER = {"cage2_workflow": ("--order", ORDER)}  # what a policy for all orders must be told
HOSTS = ["Defender", *(f"Enterprise{i}" for i in range(3)), *(f"Op_Host{i}" for i in range(3)), "Op_Server0",
         *(f"User{i}" for i in range(5))]  # numbered alphabetically
NAMES = ["cage2_defender", "cage2", "cage2_workflow", "masked", "remembers", "believes"]


@pytest.fixture(scope="module")
def runs(penstock, tmp_path_factory):
    """A defender; a policy of plain cage2 with another activation and scaled observations; one for all orders of repairs,
    masked by them; two of cage2 with a memory and 145 actions, with a mask and without; a defender with beliefs."""
    folder = tmp_path_factory.mktemp("runs")
    penstock("train", "--recipe", "cage2-defender", *SMALL, "--total-timesteps", 48_000, "--run-dir", folder / "cage2_defender")
    penstock("train", "--env", "cage2", *SMALL, "--total-timesteps", 16_384, "--run-dir", folder / "cage2",
             "--set", "env.red=mix", "--set", "net.activation=relu", "--set", "normalise.obs=true")
    penstock("train", "--recipe", "cage2-workflow-amortised", *SMALL, "--total-timesteps", 16_000, "--run-dir", folder / "cage2_workflow",
             "--set", "ppo.minibatch=800", "--set", "env.wrapper=v2")
    penstock("train", "--env", "cage2", *SMALL, "--total-timesteps", 8_192, "--run-dir", folder / "masked", "--set", "env.red=mix",
             "--set", "env.memory=true", "--set", "env.mask=legal")
    penstock("train", "--env", "cage2", *SMALL, "--total-timesteps", 4_096, "--run-dir", folder / "remembers", "--set", "env.red=mix",
             "--set", "env.memory=true")
    penstock("train", "--recipe", "cage2-defender", *SMALL, "--total-timesteps", 32_000, "--run-dir", folder / "believes",
             "--set", "env.rules=head", "--set", "env.num_hypotheses=8", "--set", "env.green=true")
    return folder


def load_agent(folder, name="agent"):
    spec = importlib.util.spec_from_file_location(f"{name}_{folder.name}", folder / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def episodes_of(penstock, *args):
    return [json.loads(line) for line in penstock("cage2", "play", "--json", *args).stdout.splitlines()]


def seen_before(episode):
    """What Blue acted on in each step."""
    bits = ["0" * 52] + [step["observation"] for step in episode["episode"][:-1]]
    return np.array([[int(bit) for bit in row] for row in bits])


# ---- Watching

def test_a_trained_policy_is_watched_by_the_rules_it_was_trained_on(penstock, runs):
    told = penstock("cage2", "play", "--blue", runs / "cage2_defender", "--red", "bline").stdout
    assert "rules leaderboard, wrapper v2, seed 0" in told and "step 100/100" in told
    several = penstock("cage2", "play", "--blue", runs / "cage2", "--episodes", 3, "--rules", "leaderboard").stdout
    assert "rules leaderboard, wrapper v1, seed 2: return" in several and "mean of 3 episodes" in several
    assert "step 1/" not in several


def test_a_picture_of_a_run_with_an_odd_name(penstock, runs, tmp_path):
    shutil.copytree(runs / "cage2", tmp_path / "a<b&c")
    penstock("cage2", "play", "--blue", tmp_path / "a<b&c", "--steps", 1, "--svg", tmp_path / "pictures")
    root = xml.etree.ElementTree.parse(tmp_path / "pictures" / "step-001.svg").getroot()
    assert any("a<b&c against" in (text.text or "") for text in root.iter())


def test_a_page_of_an_episode(penstock, runs, tmp_path):
    """It holds the log that --json prints, and loads nothing."""
    shutil.copytree(runs / "cage2", tmp_path / "<script>&")
    played = ("cage2", "play", "--blue", tmp_path / "<script>&", "--steps", 30, "--seed", 2)
    log = penstock.json(*played, "--html", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.count("<script") == 2 and "&lt;script&gt;&amp; against" in page
    assert json.loads(re.search(r'<script id="game" type="application/json">(.*)</script>', page)[1]) == log
    assert set(re.findall(r"https?://[^\s\"']*", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(link|img|iframe)|@import|url\(|fetch\(", page)
    message = penstock(*played, "--html", tmp_path / "page.html" / "page.html", code=73).stderr
    assert "page.html" in message and "Not a directory" in message


@pytest.mark.skipif(not shutil.which("chromium"), reason="needs chromium")
def test_the_page_in_a_browser(penstock, tmp_path):
    """Step 20 as the page tells it and as the log does."""
    log = penstock.json("cage2", "play", "--red", "meander", "--html", tmp_path / "page.html")
    done = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'browser'}",
                           "--dump-dom", f"file://{tmp_path / 'page.html'}#20"], capture_output=True, text=True, timeout=120)
    step = log["episode"][19]
    assert '<output id="number" for="step">20 / 30</output>' in done.stdout, done.stderr
    assert re.search(r'<dd id="blue">' + re.escape(step["blue"]), done.stdout)
    assert re.search(r'<dd id="red">' + re.escape(step["red"]), done.stdout)
    assert done.stdout.count('class="host root') == sum(at["privileged"] > 0 for at in step["sessions"].values())
    assert done.stdout.count('class="host user') == sum(at["privileged"] == 0 for at in step["sessions"].values())
    scans = [step["observation"][4 * h:4 * h + 2] for h in range(13)]
    assert done.stdout.count('class="badge"') == scans.count("10")
    assert done.stdout.count('class="badge alarm"') == scans.count("11")


def test_an_episode_does_not_depend_on_those_beside_it(penstock, runs):
    both = episodes_of(penstock, "--blue", runs / "cage2_defender", "--sampled", "--episodes", 2, "--seed", 4)
    assert both[1:] == episodes_of(penstock, "--blue", runs / "cage2_defender", "--sampled", "--seed", 5)


def test_the_log_tells_what_happened(penstock):
    for episode in episodes_of(penstock, "--blue", "react", "--red", "meander", "--steps", 100, "--episodes", 5):
        marks = {step["red_move"]["action"] for step in episode["episode"]}
        assert {"discover_systems", "discover_services", "exploit", "escalate"} <= marks
        for step in episode["episode"]:
            # The reward follows from the sessions, the service and the Restore.
            lost = [host for host, at in step["sessions"].items() if at["privileged"] and host != "User0"]
            cost = sum(1 if host[:10] in ("Enterprise", "Op_Server0") else 0.1 for host in lost)
            cost += 10 * (not step["service_up"]) + step["blue"].startswith("Restore")
            assert step["reward"] == pytest.approx(-cost)
            assert len(step["observation"]) == 52 and step["choice"] == step["action"]
            # A detected exploit raises the alarm (11) of its host, and the mark "user" (01).
            move = step["red_move"]
            if move["action"] == "exploit" and move["success"] and move["detected"]:
                assert "11" in {step["observation"][4 * h:4 * h + 2] for h in range(13)}


def test_what_cannot_be_watched_or_exported(penstock, runs, tmp_path):
    penstock("train", "--env", "cage2_red", "--num-envs", 2, "--total-timesteps", 256, "--set", "run.eval_episodes=0", "--run-dir",
             tmp_path / "red", "--set", "rollout.steps=128", "--set", "ppo.minibatch=128")
    for verb in (("play", "--blue", tmp_path / "red"), ("export", tmp_path / "red", "--out", tmp_path / "agent")):
        message = penstock("cage2", *verb, code=2).stderr
        assert "the run's env is cage2_red" in message and "--recipe cage2-defender" in message
    assert not (tmp_path / "agent").exists()
    for verb in (("play", "--blue", runs / "cage2_workflow"), ("export", runs / "cage2_workflow", "--out", tmp_path / "agent")):
        assert "the run serves all orders: name one" in penstock("cage2", *verb, code=2).stderr
    assert "there are five types" in penstock("cage2", "play", "--blue", runs / "cage2_workflow", "--order", "user", code=78).stderr
    for blue in ("react", runs / "cage2"):
        assert "--order: " in penstock("cage2", "play", "--blue", blue, "--order", ORDER, code=2).stderr


def test_a_policy_that_keeps_an_order_is_watched(penstock, runs):
    """Fixes and compliance, told from the log by rule B."""
    types = dict(zip(["Defender", "Enterprise", "Op_Server", "Op_Host", "User"],
                     ["defender", "enterprise", "op_server", "op_host", "user"]))
    place = lambda host: ORDER.split(",").index(types[host.rstrip("0123456789")])
    fixes = 0
    played = ("--blue", runs / "cage2_workflow", "--order", ORDER, "--red", "meander", "--sampled", "--seed", 3)
    for episode in episodes_of(penstock, *played, "--episodes", 4):
        assert episode["order"] == ORDER and episode["wrapper"] == "v2"
        held, verdicts = set(), []
        for step in episode["episode"]:
            kind, *host = step["blue"].split()
            if kind in ("Remove", "Restore"):
                urgent = min(map(place, held), default=place(host[0]))
                verdicts.append((place(host[0]) == urgent, host[0] in held))
            held = set(step["sessions"]) - {"User0"}
        lost = [complies for complies, was_lost in verdicts if was_lost]
        assert episode["fixes"] == len(verdicts)
        assert episode["compliance"] == pytest.approx(np.mean([complies for complies, _ in verdicts]) if verdicts else 0.5)
        assert episode["lost_compliance"] == pytest.approx(np.mean(lost) if lost else 0.5)
        fixes += len(verdicts)
    assert fixes > 20
    assert f"by {ORDER} against meander" in (told := penstock("cage2", "play", *played).stdout) and "% of those of lost hosts" in told


# ---- The exported agent

@pytest.fixture(scope="module")
def agents(penstock, runs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("agents")
    for name in NAMES:
        assert "README.md" in penstock("cage2", "export", runs / name, "--out", folder / name, *BY_ORDER.get(name, ())).stdout
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_it_does_what_the_native_policy_does(penstock, runs, agents, name):
    """Only a draw between the two best, in the sixth place, may be decided otherwise."""
    agent = load_agent(agents / name).Agent(penstock=shlex.quote(penstock.exe))
    count = 0
    for red in ("bline", "meander"):
        for episode in episodes_of(penstock, "--blue", runs / name, *BY_ORDER.get(name, ()), "--red", red, "--episodes", OBSERVATIONS // 200,
                                   "--steps", 100):
            for observation, step in zip(seen_before(episode), episode["episode"]):
                best = np.sort(agent.probabilities(observation))[-2:]
                same = agent.get_action(observation, 145) == step["action"]
                assert same or best[1] - best[0] < 1e-5
                agent.action = step["action"]
                count += same
            agent.end_episode()
    assert count >= 0.999 * OBSERVATIONS


@pytest.mark.parametrize("name", NAMES)
def test_its_probabilities_are_the_native_ones(penstock, runs, agents, name):
    agent = load_agent(agents / name).Agent(sampled=True, penstock=shlex.quote(penstock.exe))
    worst, count = 0.0, 0
    for episode in episodes_of(penstock, "--blue", runs / name, *BY_ORDER.get(name, ()), "--sampled", "--episodes", OBSERVATIONS // 100,
                               "--steps", 100):
        for observation, step in zip(seen_before(episode), episode["episode"]):
            native = np.exp(step["log_prob"])
            worst = max(worst, abs(agent.probabilities(observation)[step["choice"]] - native))
            agent.action = step["action"]
            count += 1
        agent.end_episode()
    assert count == OBSERVATIONS and worst < 1e-5


def test_beliefs_of_a_game_are_told_by_lines(penstock):
    """As `play --belief` tells them of the same game, and features in that order."""
    log = penstock.json("cage2", "play", "--blue", "react", "--red", "meander", "--steps", 60, "--belief", 16, "--wrapper", "v2")
    lines = [{}] + [{"action": step["action"], "success": step["blue_success"], "observation": step["observation"]}
                    for step in log["episode"]]
    text = "".join(json.dumps(line) + "\n" for line in lines + lines)
    done = subprocess.run([penstock.exe, "cage2", "believe", "--set", "env.num_hypotheses=16", "--set", "env.wrapper=v2"], input=text,
                          capture_output=True, text=True, check=True)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(told) == 2 * 61 and told[:61] == told[61:]
    assert [answer["belief"] for answer in told[1:61]] == [step["belief"] for step in log["episode"]]
    assert not any(answer["lost"] for answer in told)
    for answer in told[:61]:
        assert len(answer["features"]) == 56
        for number, host in enumerate(HOSTS):
            named = answer["belief"]["hosts"].get(host, {"session": 0, "privileged": 0, "scanned": 0, "next": 0})
            assert answer["features"][4 * number:4 * number + 4] == pytest.approx(list(named.values()), abs=1e-4)
        assert answer["features"][52:] == pytest.approx([*answer["belief"]["red"].values(), answer["belief"]["service_down"]], abs=1e-4)


@pytest.mark.parametrize("line,words", [
    ("{", "line 2: "),
    ("[]", "line 2: expected an object"),
    ('{"action": 145, "observation": "' + "0" * 52 + '"}', "line 2: action: 145 is not one of the 145"),
    ('{"action": 1e30, "observation": "' + "0" * 52 + '"}', "line 2: "),
    ('{"action": 0, "observation": "012"}', "line 2: observation: expected 52 zeros and ones"),
    ('{"action": 0}', "line 2: "),
    ('{"action": 0, "success": "yes", "observation": "' + "0" * 52 + '"}', "line 2: "),
    ("x" * 5000, "line 2: longer than 4095 bytes"),
    ("\x1b[31m", "line 2: "),
])
def test_lines_that_are_no_steps(penstock, line, words):
    done = subprocess.run([penstock.exe, "cage2", "believe"], input="{}\n" + line + "\n{}\n", capture_output=True, text=True)
    assert done.returncode == 65 and words in done.stderr and "\x1b" not in done.stderr
    assert len(done.stdout.splitlines()) == 1


def test_a_game_that_is_another_one(penstock):
    """All hosts under attack at once: no hypothesis explains it, which the agent warns about."""
    text = '{}\n{"action": 0, "observation": "' + "1" * 52 + '"}\n{}\n'
    done = subprocess.run([penstock.exe, "cage2", "believe"], input=text, capture_output=True, text=True, check=True)
    assert [json.loads(line)["lost"] for line in done.stdout.splitlines()] == [False, True, False]


def test_an_agent_without_what_tells_beliefs(penstock, agents, tmp_path):
    module = load_agent(agents / "believes")
    with pytest.raises(RuntimeError, match="no-such-program: .*pip install penstock"):
        module.Agent(penstock="no-such-program")
    with pytest.raises(RuntimeError, match="penstock cage2 believe ended"):
        module.Agent(penstock="false")
    agent = module.Agent(penstock=shlex.quote(penstock.exe))
    agent.get_action(np.zeros(52))
    with pytest.warns(UserWarning, match="nothing explains what was seen"):
        agent.get_action(np.ones(52))
    process = agent.beliefs.process
    del agent
    assert process.poll() == 0


def test_sampled_as_the_run_was_exported(penstock, runs, tmp_path):
    told = penstock.json("cage2", "export", runs / "cage2_defender", "--sampled", "--out", tmp_path / "agent")
    assert told["sampled"] and told["wrapper"] == "v2" and told["rules"] == "leaderboard"
    module = load_agent(tmp_path / "agent")
    first = [[agent.get_action(np.zeros(52)) for _ in range(30)] for agent in (module.Agent(seed=1), module.Agent(seed=1),
                                                                             module.Agent(seed=2))]
    assert first[0] == first[1] != first[2]
    greedy = module.Agent(sampled=False)
    assert greedy.get_action(np.zeros(52)) == module.Agent(sampled=False, seed=9).get_action(np.zeros(52))


def test_it_needs_nothing_but_numpy(agents, tmp_path):
    """With a python that has no site packages but numpy, from another folder."""
    script = """if True:
        import sys
        sys.modules["torch"] = sys.modules["penstock"] = sys.modules["safetensors"] = None
        sys.path.insert(0, sys.argv[1])
        import numpy, agent
        blue = agent.Agent()
        blue.set_initial_values(145, numpy.zeros(52))
        print(blue.get_action(numpy.zeros(52), 145), blue.train(None))
        try:
            blue.get_action(numpy.zeros(11293), 145)
        except ValueError as error:
            print(error)"""
    done = subprocess.run([sys.executable, "-B", "-c", script, agents / "cage2_defender"], capture_output=True, text=True,
                          cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "None" in done.stdout and "by this folder's wrap()" in done.stdout


@pytest.mark.parametrize("recording", ["bline-rand145-100", "meander-rand145-100", "sleep-rand54-100", "lb/bline-cardiff-100",
                                       "dbg/meander-react-100"])
def test_whether_an_action_succeeded_is_public(agents, recording):
    """Of recordings of the real program: the ports in use tell it. CybORG++'s Remove alone tells of hidden sessions."""
    module = load_agent(agents / "cage2_defender")
    data = np.load(DATA / f"{recording}.npz")
    debugged = recording.startswith("dbg")
    for actions, info in zip(data["blue"].tolist(), data["info"].tolist()):
        ports = module.Ports(fix_vsftpd=debugged)
        for action, row in zip(actions, info):
            flag = ports.flag(action)
            assert flag == row[0] or (debugged and 15 <= action < 28)


def test_the_wrappers(agents):
    """The rules of docs/cage2: n entries, a decoy's among them; f local ports; 4444 is red's."""
    activity = load_agent(agents / "cage2_defender").activity
    decoy = {"PID": 1, "Service Name": "apache"}
    event = lambda port, remote=None: {"Connections": [{"local_port": port, **({"remote_port": remote} if remote else {})}]}
    for entries, v1, v2, dbg in [
        ([decoy], "None", "None", "None"),
        ([event(22)], "Scan", "Scan", "Scan"),
        ([decoy, event(22)], "None", "Scan", "None"),
        ([event(80), event(49200, 4444)], "Exploit", "Exploit", "Exploit"),
        ([event(1), event(2), event(3)], "Scan", "Scan", "Scan"),
        ([event(1), event(2), event(3, 4444)], "Scan", "Scan", "Exploit"),
        ([event(22)] * 10, "Exploit", "Exploit", "Exploit"),
        ([decoy, event(80), event(80)], "Exploit", "Exploit", "Exploit"),
        ([decoy, event(80), event(22)], "None", "Scan", "None"),
    ]:
        assert [activity(entries, wrapper) for wrapper in ("v1", "v2", "dbg")] == [v1, v2, dbg]


def test_what_an_agent_cannot_know_is_refused(penstock, tmp_path):
    penstock("train", "--recipe", "cage2-defender", *SMALL, "--total-timesteps", 3_200, "--run-dir", tmp_path / "run",
             "--set", "env.fix_remove_flag=true")
    message = penstock("cage2", "export", tmp_path / "run", "--out", tmp_path / "agent", code=2).stderr
    assert "train with env.fix_remove_flag = false" in message and not (tmp_path / "agent").exists()
    penstock("cage2", "play", "--blue", tmp_path / "run", "--steps", 3)
    (tmp_path / "file").write_text("")
    assert "not a run directory" in penstock("cage2", "export", tmp_path / "absent", code=65).stderr


def test_an_occupied_name(penstock, runs, tmp_path):
    (tmp_path / "file").write_text("mine")
    message = penstock("cage2", "export", runs / "cage2", "--out", tmp_path / "file", code=73).stderr
    assert "--out" in message and "choose another folder" in message and (tmp_path / "file").read_text() == "mine"


# ---- In the real program, or in one that plays recordings

STAND_IN = {
    "CybORG/__init__.py": """
        CYBORG_VERSION = "0.0 of a test\\n"
        class CybORG:
            def __init__(self, scenario, mode, agents):
                assert scenario.endswith("Scenario2.yaml") and mode == "sim"
                self.red = agents["Red"].red""",
    "CybORG/Simulator/__init__.py": "",
    "CybORG/Simulator/Session.py": "class RedAbstractSession: pass",
    "CybORG/Agents/__init__.py": """
        class B_lineAgent: red = "bline"
        class SleepAgent: red = "sleep" """,
    "CybORG/Agents/SimpleAgents/__init__.py": "",
    "CybORG/Agents/SimpleAgents/BaseAgent.py": "class BaseAgent: pass",
    "CybORG/Agents/SimpleAgents/Meander.py": "class RedMeanderAgent: red = 'meander'",
    "CybORG/Agents/Wrappers/__init__.py": """
        import json, os
        HERE = os.path.dirname(os.path.abspath(__file__))
        class Table:
            def _interpret_connections(self, entries): return "the program's own"
        class ChallengeWrapper:
            def __init__(self, env, agent_name):
                assert agent_name == "Blue"
                self.env = Table()
                self.episodes = map(json.loads, open(os.path.join(HERE, env.red + ".jsonl")))
            def get_action_space(self, agent): return 145
            def reset(self):
                assert self.env._interpret_connections([{"Service Name": "decoy"}]) == "None"
                self.steps = iter(next(self.episodes)["episode"])
                return [0] * 52
            def step(self, action):
                step = next(self.steps)
                assert action == step["action"], (action, step)
                return [int(bit) for bit in step["observation"]], step["reward"] + EXTRA, False, {}""",
}


def stand_in(penstock, run, folder, extra=0.0, episodes=30, more=()):
    """A package CybORG that plays recordings of the native policy, and insists on its actions."""
    for name, text in STAND_IN.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"))
    wrappers = folder / "CybORG" / "Agents" / "Wrappers"
    with (wrappers / "__init__.py").open("a") as file:
        file.write(f"\nEXTRA = {extra}\n")
    for red in ("bline", "meander", "sleep"):
        log = penstock("cage2", "play", "--blue", run, *more, "--red", red, "--steps", 100, "--episodes", episodes, "--json")
        (wrappers / f"{red}.jsonl").write_text(log.stdout)
    return folder


def verify(penstock, run, clone, *args, **options):
    return penstock("cage2", "verify", run, "--cyborg", clone, "--python", sys.executable, "--episodes", 30,
                    "--native-episodes", 200, *args, **options)


def test_beliefs_elsewhere(penstock, runs, tmp_path):
    """Green's scans are a part of the game that the filter reckons with."""
    clone = stand_in(penstock, runs / "believes", tmp_path / "clone")
    told = verify(penstock, runs / "believes", clone, "--json", code=None)
    assert json.loads(told.stdout)["cells"] and "nothing explains" not in told.stderr


def test_games_elsewhere_are_held_against_ours(penstock, runs, tmp_path):
    clone = stand_in(penstock, runs / "cage2_defender", tmp_path / "clone")
    told = json.loads(verify(penstock, runs / "cage2_defender", clone, "--json").stdout)
    assert told["cyborg"] == "0.0 of a test" and told["rules"] == "leaderboard" and not told["differs"]
    assert [(cell["red"], cell["steps"]) for cell in told["cells"]] == [
        (red, steps) for red in ("bline", "meander", "sleep") for steps in (30, 50, 100)]
    for cell in told["cells"]:
        log = (clone / "CybORG" / "Agents" / "Wrappers" / f"{cell['red']}.jsonl").read_text().splitlines()
        returns = [sum(step["reward"] for step in json.loads(line)["episode"][:cell["steps"]]) for line in log]
        assert cell["real"] == pytest.approx(np.mean(returns)) and cell["ci95_low"] <= cell["difference"] <= cell["ci95_high"]
        assert cell["real_std_error"] == pytest.approx(np.std(returns, ddof=1) / 30**0.5)
    text = verify(penstock, runs / "cage2_defender", clone).stdout
    assert "rules leaderboard, wrapper v2" in text and "no difference is shown" in text


def test_a_policy_that_keeps_an_order_plays_elsewhere_too(penstock, runs, tmp_path):
    by = BY_ORDER["cage2_workflow"]
    clone = stand_in(penstock, runs / "cage2_workflow", tmp_path / "clone", more=("--rules", "leaderboard", *by))
    assert not json.loads(verify(penstock, runs / "cage2_workflow", clone, *by, "--json").stdout)["differs"]
    told = penstock.json("cage2", "record", "--blue", runs / "cage2_workflow", *by, "--episodes", 2, "--out", tmp_path / "recordings")
    assert told["steps"] == 200 and "0 observations, 0 rewards" in penstock("cage2", "replay", tmp_path / "recordings").stdout


def test_a_difference_is_shown(penstock, runs, tmp_path):
    clone = stand_in(penstock, runs / "cage2_defender", tmp_path / "clone", extra=-0.5)
    done = verify(penstock, runs / "cage2_defender", clone, "--json", code=1)
    told = json.loads(done.stdout)
    # Where red sleeps and Blue restores nothing, no game differs from another: half a point a step is all there is.
    assert told["differs"] and told["corrected_p"] == pytest.approx(9e-4)
    assert all(cell["ci95_high"] < 0 for cell in told["cells"] if cell["steps"] == 100)


def test_a_clone_that_does_not_play(penstock, runs, tmp_path):
    run = runs / "cage2_defender"
    assert "clone https://github.com/cage-challenge" in verify(penstock, run, tmp_path / "absent", code=2).stderr
    assert "name a clone" in verify(penstock, run, tmp_path, code=65).stderr
    clone = stand_in(penstock, run, tmp_path / "clone", episodes=5)
    message = verify(penstock, run, clone, code=65).stderr
    assert "StopIteration" in message and "before all were played" in message
    (clone / "CybORG" / "Agents" / "__init__.py").write_text("print('hello')\nimport gym_that_is_not_there")
    message = verify(penstock, run, clone, code=65).stderr
    assert "'hello' where a line of JSON was expected" in message
    (clone / "CybORG" / "__init__.py").write_text("import gym_that_is_not_there")
    message = verify(penstock, run, clone, code=65).stderr
    assert "gym_that_is_not_there" in message and "give --python one that has CybORG's requirements" in message
    absent = penstock("cage2", "verify", run, "--cyborg", clone, "--python", "no-such-python", code=2).stderr
    assert "--python no-such-python" in absent


@pytest.mark.skipif("PENSTOCK_CYBORG" not in os.environ, reason="PENSTOCK_CYBORG names no clone of cage-challenge-2")
def test_the_real_program(penstock, runs):
    """PENSTOCK_CYBORG: a clone; PENSTOCK_CYBORG_PYTHON: one that has its requirements."""
    python = os.environ.get("PENSTOCK_CYBORG_PYTHON", sys.executable)
    told = penstock.json("cage2", "verify", runs / "cage2_defender", "--cyborg", os.environ["PENSTOCK_CYBORG"], "--python",
                         python, "--episodes", 6, timeout=600)
    assert not told["differs"]


@pytest.mark.skipif("PENSTOCK_CYBORG" not in os.environ, reason="PENSTOCK_CYBORG names no clone of cage-challenge-2")
@pytest.mark.parametrize("red", ["bline", "meander", "sleep"])
@pytest.mark.parametrize("blue", ["agent", "random"])
def test_recordings_of_the_real_program_replay(penstock, agents, tmp_path, red, blue):
    python = os.environ.get("PENSTOCK_CYBORG_PYTHON", sys.executable)
    subprocess.run([python, "-B", agents / "cage2_defender" / "record.py", "--cyborg", os.environ["PENSTOCK_CYBORG"], "--red", red,
                    "--blue", blue, "--episodes", "2", "--steps", "100", "--out", tmp_path], check=True, timeout=300)
    report = penstock.json("cage2", "replay", tmp_path)
    assert report["steps"] == 200
    assert report["observation_mismatches"] + report["reward_mismatches"] + report["field_mismatches"] == 0


def test_the_scripts_of_an_agent_say_what_they_take(agents):
    for name in ("evaluate.py", "record.py"):
        done = subprocess.run([sys.executable, "-B", agents / "cage2" / name, "--help"], capture_output=True, text=True)
        assert done.returncode == 0 and "a clone of cage-challenge-2; its code is run" in " ".join(done.stdout.split())


def test_the_second_table_of_a_recording(agents, monkeypatch):
    """What Remove and Restore do to a mark, and what is seen of this step alone."""
    monkeypatch.syspath_prepend(str(agents / "cage2_defender"))
    record = load_agent(agents / "cage2_defender", "record")
    shell = {"Processes": [{"Connections": [{"local_port": 80}]}, {"Connections": [{"local_port": 5, "remote_port": 4444}]}]}

    class Table:
        action = None

        def _interpret_connections(self, entries):
            return "None"

        def _process_anomalies(self, anomalies):
            return "the program's own"

        def get_last_action(self, agent):
            return self.action

    table = Table()
    second = record.SecondTable(table, "v2")
    host = 4 * record.HOSTS.index("User3")

    def after(action, anomalies):
        table.action = type(action, (), {"hostname": "User3"})()
        assert table._process_anomalies(anomalies) == "the program's own"
        vector = second.vector()
        assert len(vector) == 52 and not any(vector[:host]) and not any(vector[host + 4:])
        return vector[host:host + 4]

    assert after("Sleep", {}) == [0, 0, 0, 0]
    assert after("Sleep", {"User3": shell}) == [1, 1, 0, 1]
    assert after("Remove", {}) == [0, 0, 1, 0]
    assert after("Analyse", {"User3": {"Files": [{"Density": 0.9}]}}) == [0, 0, 1, 1]
    assert after("Restore", {"User3": {"Processes": [{"Connections": [{"local_port": 80}]}]}}) == [1, 0, 0, 0]
    assert after("Remove", {}) == [0, 0, 0, 0]


# ---- Recordings of our own

@pytest.mark.parametrize("rules,folder", [("head", "."), ("leaderboard", "lb"), ("dbg", "dbg")])
def test_what_is_recorded_replays(penstock, runs, tmp_path, rules, folder):
    """The files are numpy's; the exported format holds a trained policy's games as it does a script's."""
    for blue, red in ((runs / "cage2_defender", "bline"), ("decoy_first", "meander")):
        told = penstock.json("cage2", "record", "--blue", blue, "--red", red, "--rules", rules, "--episodes", 5,
                             "--steps", 50, "--out", tmp_path)
        assert told["steps"] == 250 and pathlib.Path(told["out"]).parent == (tmp_path / folder)
    report = penstock.json("cage2", "replay", tmp_path)
    assert (report["files"], report["steps"]) == (2, 500)
    assert report["observation_mismatches"] + report["reward_mismatches"] + report["field_mismatches"] == 0
    data = np.load(tmp_path / folder / "bline-cage2_defender-50.npz")
    real = np.load(DATA / "bline-react-50.npz")
    assert {name: array.dtype for name, array in data.items()} == {name: array.dtype for name, array in real.items()}
    assert {name: array.shape[2:] for name, array in data.items()} == {name: array.shape[2:] for name, array in real.items()}


def test_a_recording_is_the_game_that_play_tells(penstock, runs, tmp_path):
    run = runs / "cage2_defender"
    penstock("cage2", "record", "--blue", run, "--red", "meander", "--rules", "leaderboard", "--episodes", 4, "--seed", 9,
             "--out", tmp_path)
    data = np.load(tmp_path / "lb" / "meander-cage2_defender-100.npz")
    told = episodes_of(penstock, "--blue", run, "--red", "meander", "--episodes", 4, "--seed", 9)
    assert data["blue"].tolist() == [[step["action"] for step in episode["episode"]] for episode in told]
    seen = np.unpackbits(data["obs2"], axis=2)[:, :, :52]  # the policy's wrapper is v2
    assert seen.tolist() == [[[int(bit) for bit in step["observation"]] for step in episode["episode"]] for episode in told]
    assert (data["reward10"] / 10).sum(axis=1) == pytest.approx([episode["return"] for episode in told])


@pytest.mark.parametrize("args,words", [
    (("--red", "mix"), ["--red", "bline"]),
    (("--rules", "debugged"), ["--rules", "dbg"]),
    (("--blue", "reatc"), ["did you mean 'react'"]),
    (("--episodes", 100_000, "--steps", 10), ["record fewer episodes"]),
])
def test_what_cannot_be_recorded(penstock, tmp_path, args, words):
    message = penstock("cage2", "record", *args, "--out", tmp_path / "out", code=2).stderr
    assert all(word in message for word in words)
