"""Tests of the comparison without any peer installed: fakes speak the protocol instead."""
import importlib.machinery
import importlib.util
import json
import pathlib
import sys
import time
import xml.etree.ElementTree as ElementTree

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import catalog  # noqa: E402
import chart  # noqa: E402
import install  # noqa: E402
import puffer_source  # noqa: E402
import report  # noqa: E402
import summary  # noqa: E402
import turns  # noqa: E402


def load_program():
    loader = importlib.machinery.SourceFileLoader("compare_program", str(HERE / "compare"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    loader.exec_module(module)
    sys.dont_write_bytecode = before
    return module


compare = load_program()

FAKE_PEER = """
import json, sys
print(json.dumps({"ready": True, "peer": "fake", "version": "7.0", "setting": "as is"}), flush=True)
for number, line in enumerate(sys.stdin, 1):
    if number == DIES_AT:
        sys.exit("out of luck")
    print(json.dumps({"rate": 100.0 * number}), flush=True)
"""

FAKE_PENSTOCK = f"""#!{sys.executable}
import json, sys
if "doctor" in sys.argv:
    print(json.dumps([{{"check": "penstock", "detail": "9.9"}},
                      {{"check": "libtorch", "detail": "1.2, CUDA no"}}]))
elif "--help" in sys.argv:
    print("--no-bare")
else:
    assert "env" in sys.argv or "--no-bare" in sys.argv
    key = "steps_per_second" if "env" in sys.argv else "samples_per_second"
    print(json.dumps({{key: 1000.0}}))
"""


def fake_command(dies_at=0):
    return [sys.executable, "-c", FAKE_PEER.replace("DIES_AT", str(dies_at))]


def fake_peer(work, name="fake", dies_at=0):
    return turns.PeerProcess(name, fake_command(dies_at), 1, work)


@pytest.fixture
def penstock(tmp_path):
    program = tmp_path / "penstock"
    program.write_text(FAKE_PENSTOCK)
    program.chmod(0o755)
    return str(program)


def canned(**changes):
    def cell(threads, num_envs, rates, **more):
        return {"num_envs": num_envs, "minibatch": 256, "threads": threads, "rates": rates,
                "failed": {}, "settings": {}} | more

    results = {
        "date": "2026-01-02",
        "command": "bench/compare/compare --peers sb3",
        "machine": {"cpu": "Some & CPU", "cores": 2, "system": "Linux", "python": "3.11",
                    "load": 0.5},
        "settings": {"rounds": 3, "seconds": 3.0},
        "titles": {"penstock": "Penstock", "sb3": "Stable-Baselines3", "jax": "JAX <jit>"},
        "notes": {"sb3": "its PPO"},
        "versions": {"penstock": "0.1.0", "sb3": "2.9"},
        "not_installed": {},
        "cells": [
            cell(1, 8, {"penstock": [2e5, 4e5, 3e5], "sb3": [1e5, 1e5, 1e5]}),
            cell(1, 64, {"penstock": [3e5] * 3, "sb3": [7911.0] * 3, "jax": [6e5] * 3}),
            cell(2, 8, {"penstock": [5e5] * 3, "sb3": [1e5] * 3},
                 settings={"penstock": "", "sb3": "2 torch threads"}),
        ],
        "env": None,
        "idle_share": 0.004,
    }
    return results | changes


# Statistics


def test_the_ratio_is_the_median_of_the_rounds_not_the_ratio_of_the_medians():
    assert summary.ratio_of([10, 20, 90], [10, 10, 100]) == 1.0
    assert summary.ratio_of([10, 30, 90], [10, 10, 100]) == 1.0  # medians alone would say 3


def test_a_summary_has_median_and_spread_and_no_ratio_for_the_baseline():
    rows = summary.summarise({"penstock": [1.0, 3.0, 2.0], "sb3": [1.0, 1.0, 1.0]}, "penstock")
    assert rows["penstock"] == summary.Row(2.0, 1.0, 3.0, None)
    assert rows["sb3"].ratio == 2.0


def test_rates_have_three_digits_and_one_unit():
    assert summary.rate_text(7911) == "7.91 k"
    assert summary.rate_text(121_400) == "121 k"
    assert summary.rate_text(31_700_000) == "31.7 M"
    assert summary.range_text(summary.Row(1.05e6, 9.5e5, 1.1e6, None)) == "1.05 M (0.95–1.10)"


# Report and chart


def test_the_report_has_a_table_per_number_of_threads():
    text = report.markdown(canned(), "x.svg")
    assert text.startswith("# Penstock beside others, 2026-01-02")
    assert "## Training: one thread" in text and "## Training: 2 threads" in text
    assert "| Penstock | 300 k (200–400) | 300 k (300–300) |" in text
    assert "100 k (100–100), **3.00×**" in text
    assert "| JAX <jit> | – | 600 k (600–600), **0.50×** |" in text
    assert "![Samples per second](x.svg)" in text
    assert "Stable-Baselines3: 2 torch threads" in text
    assert "missing" not in text and "Other work" not in text


def test_the_report_of_a_busy_machine_says_so():
    results = canned()
    results["machine"]["load"] = 1.5
    assert "**Other work was running**" in report.markdown(results, "x.svg")


def test_the_report_names_who_is_missing_and_why():
    results = canned(not_installed={"jax": "`pip install jax` failed: no network"})
    results["cells"][0]["failed"] = {"sb3": "it ended with exit code 1"}
    text = report.markdown(results, "x.svg")
    assert "JAX <jit> is missing: `pip install jax` failed: no network" in text
    assert "Stable-Baselines3 left out of N 8, minibatch 256, one thread: it ended" in text


def test_the_env_table_compares_equal_numbers_of_threads():
    env = {
        "num_envs": 1024,
        "systems": {name: {"peer": name[:-2], "threads": int(name[-1])}
                    for name in ("penstock-1", "penstock-2", "sb3-1", "sb3-2")},
        "rates": {"penstock-1": [2e6], "penstock-2": [6e6], "sb3-1": [1e6], "sb3-2": [1e6]},
        "failed": {},
    }
    text = report.markdown(canned(env=env), "x.svg")
    assert "| Stable-Baselines3 | 1 | 1.00 M (1.00–1.00), **2.00×** |" in text
    assert "| Stable-Baselines3 | 2 | 1.00 M (1.00–1.00), **6.00×** |" in text


def test_the_chart_has_a_bar_and_a_value_for_every_result():
    root = ElementTree.fromstring(chart.svg(canned()))
    space = "{http://www.w3.org/2000/svg}"
    words = [element.text for element in root.iter(f"{space}text")]
    legend_and_background = 3 + 1
    assert len(list(root.iter(f"{space}rect"))) == 7 + legend_and_background
    assert "7.91 k" in words and "JAX <jit>" in words and "8 envs, minibatch 256" in words


def test_bars_and_their_labels_stay_inside_the_picture():
    root = ElementTree.fromstring(chart.svg(canned()))
    for element in root.iter():
        if "y" in element.attrib and "x" in element.attrib:
            assert 0 <= float(element.get("x")) <= chart.WIDTH
            assert 0 <= float(element.get("y")) <= float(root.get("height"))


def test_grid_lines_are_round_and_few():
    for highest in (950.0, 12_345.0, 166_000.0, 485_000.0):
        assert 2 <= highest / chart.nice_step(highest) <= 5


# Turns


def test_a_peer_answers_turn_by_turn(tmp_path):
    peer = fake_peer(tmp_path)
    peer.start()
    assert (peer.version, peer.setting) == ("7.0", "as is")
    assert [peer.turn(0.1), peer.turn(0.1)] == [100.0, 200.0]
    assert peer.cpu_seconds() >= 0.0
    peer.close()
    assert peer._process.returncode == 0


def test_processor_time_counts_what_the_kernel_does_too(tmp_path):
    work = """
import os, sys, time
print('{"ready": true, "version": "1", "setting": ""}', flush=True)
busy = time.monotonic() + 0.6
while time.monotonic() < busy:
    os.stat('/')
sys.stdin.read()
"""
    peer = turns.PeerProcess("kernel", [sys.executable, "-c", work], 1, tmp_path)
    peer.start()
    time.sleep(0.8)
    fields = pathlib.Path(f"/proc/{peer._process.pid}/stat").read_text().rpartition(")")[2].split()
    user, system = int(fields[11]) / turns.TICKS, int(fields[12]) / turns.TICKS
    assert system > 0
    assert abs(peer.cpu_seconds() - (user + system)) < 0.05
    peer.close()


def test_every_system_has_its_turn_in_every_round(tmp_path):
    seen = []
    contest = turns.Contest([fake_peer(tmp_path, "a"), fake_peer(tmp_path, "b")],
                            lambda name, number, rate: seen.append((number, name)))
    contest.run(rounds=3, seconds=0.1)
    assert contest.rates == {"a": [100.0, 200.0, 300.0], "b": [100.0, 200.0, 300.0]}
    assert seen == [(1, "a"), (1, "b"), (2, "b"), (2, "a"), (3, "a"), (3, "b")]


def test_a_peer_that_dies_in_a_round_is_left_out_and_the_others_go_on(tmp_path):
    contest = turns.Contest([fake_peer(tmp_path, "good"), fake_peer(tmp_path, "bad", dies_at=2)])
    contest.run(rounds=3, seconds=0.1)
    assert contest.rates == {"good": [100.0, 200.0, 300.0]}
    assert "exit code 1: out of luck" in contest.failed["bad"]


def test_a_peer_that_never_gets_ready_is_left_out(tmp_path):
    command = [sys.executable, "-c", "import no_such_module"]
    broken = turns.PeerProcess("broken", command, 1, tmp_path)
    contest = turns.Contest([broken, fake_peer(tmp_path)])
    contest.run(rounds=1, seconds=0.1)
    assert list(contest.rates) == ["fake"]
    assert "no_such_module" in contest.failed["broken"]


def test_a_peer_that_hangs_or_talks_nonsense_fails(tmp_path):
    hanging = turns.PeerProcess("h", [sys.executable, "-c", "input()"], 1, tmp_path)
    with pytest.raises(turns.SystemFailed, match="no answer"):
        hanging.start(timeout_s=0.2)
    assert hanging._process.wait(timeout=5) == -9, "one that hangs is killed, not asked"
    hanging.close()
    chatty = turns.PeerProcess("c", [sys.executable, "-c", "print('hello')"], 1, tmp_path)
    with pytest.raises(turns.SystemFailed, match="'hello' instead of a line with 'ready'"):
        chatty.start()
    chatty.close()


def test_the_protocol_of_the_real_peers(tmp_path):
    script = tmp_path / "peer.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(HERE / 'peers')!r})\n"
        "import time, protocol\n"
        "print('a greeting that must not reach the driver')\n"
        "args = protocol.arguments()\n"
        "protocol.serve('p', '1', lambda: time.sleep(0.01), args.num_envs * protocol.STEPS)\n"
    )
    peer = turns.PeerProcess("p", [sys.executable, str(script), "--num-envs", "2"], 1, tmp_path)
    peer.start()
    assert 0 < peer.turn(0.05) <= 2 * 128 / 0.01
    peer.close()


# Installing


def test_a_command_that_fails_is_named():
    with pytest.raises(install.InstallError, match="no-such-compiler x.cpp"):
        install.run(["no-such-compiler", "x.cpp"], lambda line: None)
    with pytest.raises(install.InstallError, match="exit.*failed: ERROR: no luck"):
        code = "import sys; print('ERROR: no luck\\nhint', file=sys.stderr); sys.exit(1)"
        install.run([sys.executable, "-c", code], lambda line: None)


def test_a_finished_environment_is_used_again(tmp_path):
    peer = catalog.Peer("x", "X", "ppo_x.py", "", (("a", "b"),))
    venv = tmp_path / "venvs" / "x"
    venv.mkdir(parents=True)
    (venv / "installed.json").write_text('[["a", "b"]]')
    command = install.install(peer, tmp_path, say=pytest.fail)
    assert command == [str(venv / "bin" / "python"), str(HERE / "peers" / "ppo_x.py")]


def test_every_peer_has_a_script_and_a_name_of_its_own():
    everyone = (*catalog.TRAINERS, *catalog.ENVS)
    assert len({peer.name for peer in everyone} | {"penstock"}) == len(everyone) + 1
    for peer in everyone:
        assert (HERE / "peers" / peer.script).is_file()


def test_the_source_package_is_found_on_the_index_page():
    page = '<a href="https://h/a/pufferlib-3.0.0a1.tar.gz#sha256=12">' \
           '<a href="https://h/b/pufferlib-3.0.0.tar.gz#sha256=ab" data-x="">'
    found = puffer_source.find_archive(page, "3.0.0")
    assert found == ("https://h/b/pufferlib-3.0.0.tar.gz", "ab")
    with pytest.raises(RuntimeError, match="no source package of pufferlib 9"):
        puffer_source.find_archive(page, "9")


def test_a_patch_that_does_not_fit_is_an_error(tmp_path):
    (tmp_path / "setup.py").write_text("old()\n")
    puffer_source.patch(tmp_path, {"setup.py": [("old()", "pass")]})
    assert (tmp_path / "setup.py").read_text() == "pass\n"
    with pytest.raises(RuntimeError, match="has no old()"):
        puffer_source.patch(tmp_path, {"setup.py": [("old()", "pass")]})


# The program


def test_arguments_that_cannot_work_name_the_remedy(penstock, monkeypatch, capsys):
    monkeypatch.delenv("PENSTOCK_EXE", raising=False)
    with pytest.raises(compare.UsageError, match="--penstock"):
        compare.parse_args([])
    with pytest.raises(compare.UsageError, match="there are cleanrl, cleanrl-numpy, hand"):
        compare.parse_args(["--penstock", penstock, "--peers", "sb4"])
    with pytest.raises(compare.UsageError, match="lends"):
        compare.parse_args(["--penstock", penstock, "--threads", "4096"])
    with pytest.raises(SystemExit):
        compare.parse_args(["--penstock", penstock, "--cells", "8x300"])
    assert "must divide" in capsys.readouterr().err


def test_a_whole_run_writes_its_reports(penstock, tmp_path, monkeypatch, capsys):
    def install_fake(peer, work, say):
        if peer.name == "jax":
            raise install.InstallError(f"`{work}/bin/pip install jax` failed: no network")
        return [*fake_command(dies_at=2 if peer.name == "cleanrl" else 0), *peer.arguments]

    monkeypatch.setattr(install, "install", install_fake)
    arguments = ["--penstock", penstock, "--cells", "8x256", "--threads", "1", "--rounds", "2",
                 "--seconds", "0.1", "--work", f"{tmp_path}/work", "--out", f"{tmp_path}/out"]
    (tmp_path / "work").mkdir()
    monkeypatch.setattr(sys, "argv", ["compare", *arguments, "--env-only", "--json"])
    assert compare.main() == 0
    line = json.loads(capsys.readouterr().out)
    assert line["cells"][0]["systems"]["sb3"]["ratio"] == 7.5  # of 10 and 5
    assert "WORK/bin/pip install jax" in line["not_installed"]["jax"]
    assert "out of luck" in line["cells"][0]["failed"]["cleanrl"]
    assert line["env"]["rates"]["penstock-1"] == [1000.0, 1000.0]
    text = pathlib.Path(line["report"]).read_text()
    assert "**Penstock** 9.9, libtorch 1.2" in text and str(tmp_path) not in text
    assert sorted(p.suffix for p in (tmp_path / "out").iterdir()) == [".json", ".md", ".svg"]


def test_without_penstock_there_is_nothing_to_compare(penstock, tmp_path, monkeypatch, capsys):
    broken = pathlib.Path(penstock)
    broken.write_text(FAKE_PENSTOCK.replace("print(json.dumps({key: 1000.0}))", "sys.exit('no')"))
    monkeypatch.setattr(sys, "argv", ["compare", "--penstock", penstock, "--peers", "", "--threads",
                                      "1", "--work", str(tmp_path), "--out", f"{tmp_path}/out"])
    assert compare.main() == 1
    assert "Penstock itself failed" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
