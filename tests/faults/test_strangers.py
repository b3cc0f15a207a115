"""Run directories and files that somebody else made are data: they run no code, take no memory that they do not have,
and write nowhere else."""

import copy
import hmac
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
import xxhash

RUN = ["--env", "cartpole", "--num-envs", 16, "--total-timesteps", 4_096, "--seed", 3, "--set", "run.eval_episodes=1"]


@pytest.fixture(scope="module")
def finished(penstock, tmp_path_factory):
    run = tmp_path_factory.mktemp("good") / "run"
    penstock("train", *RUN, "--run-dir", run)
    return run


@pytest.fixture
def run(finished, tmp_path):
    shutil.copytree(finished, tmp_path / "run")
    return tmp_path / "run"


def newest(run):
    return run / "ckpt" / (run / "ckpt" / "LATEST").read_text().strip()


def say(run, key, value):
    """Changes a key of config.toml, as a stranger would, who has not this user's key to sign with."""
    config = run / "config.toml"
    section, _, name = key.rpartition(".")
    lines, here = [], ""
    for line in config.read_text().splitlines():
        here = line.strip("[]") if line.startswith("[") else here
        if here == section and line.startswith(f"{name} ="):
            line = f"{name} = {json.dumps(value)}"
        lines.append(line)
    config.write_text("\n".join(lines) + "\n")


def with_file(run, name, change, **says):
    """A changed file of the newest checkpoint under checksums that fit it, and keys of its manifest."""
    folder = newest(run)
    text = change(folder / name)
    data = (folder / name).read_bytes()
    manifest = json.loads((folder / "MANIFEST.json").read_text()) | says
    manifest["files"][name] = {"size": len(data), "xxh3": xxhash.xxh3_64_hexdigest(data)}
    del manifest["xxh3"]
    body = json.dumps(manifest, indent=2, sort_keys=True)[: -len("\n}")] + ",\n  "
    own = xxhash.xxh3_64_hexdigest(body.encode())
    (folder / "MANIFEST.json").write_text(f'{body}"xxh3": "{own}"\n}}\n')
    return text


def with_state(run, change):
    return with_file(run, "state.json", change)


def measured(penstock, *args, **options):
    """(what was done, the most memory it held in MB)."""
    code = "import json, resource, subprocess, sys; done = subprocess.run(sys.argv[1:], capture_output=True, text=True); " \
           "print(json.dumps([done.returncode, done.stdout, done.stderr, " \
           "resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024]))"
    done = subprocess.run([sys.executable, "-c", code, penstock.exe, *map(str, args)], capture_output=True, text=True,
                          timeout=120, env=penstock.environment(**options), stdin=subprocess.DEVNULL)
    return json.loads(done.stdout)


def nested(depth):
    return "[" * depth + "]" * depth


class TestCode:
    @pytest.mark.parametrize("verb", ["eval", "resume", "export"])
    def test_an_env_that_a_run_names_needs_the_users_word(self, penstock, run, tmp_path, verb):
        say(run, "env.id", "subprocess:check_output")
        done = penstock(verb, run, code=65)
        assert "subprocess:check_output" in done.stderr and "--trust" in done.stderr

    def test_a_replay_runs_nothing_without_it(self, penstock, tmp_path):
        mark = tmp_path / "ran"
        file = tmp_path / "replay.json"
        file.write_text(json.dumps({"penstock_replay": 1, "env": "subprocess:check_output", "complete": True, "seed": 0,
                                    "kwargs": {"args": f"touch {mark}", "shell": True}, "actions": [[0]]}))
        done = penstock("replay", file, code=65)
        assert "subprocess:check_output" in done.stderr and not mark.exists()
        assert "the replay's env is" in penstock("replay", file, "--env", "my_pkg:MyEnv", code=2).stderr

    @pytest.mark.parametrize("words", [["eval"], ["resume", "--total-timesteps", 8192], ["eval", "--trust"]])
    def test_an_interpreter_is_not_taken_from_a_run(self, penstock, run, tmp_path, words):
        mark = tmp_path / "ran"
        program = run / "python"
        program.write_text(f"#!/bin/sh\ntouch {mark}\n")
        program.chmod(0o755)
        say(run, "env.id", "CartPole-v1")  # registered: no module is imported for it
        config = (run / "config.toml").read_text()
        (run / "config.toml").write_text(config.replace("[env]", f'[env]\npython = "{program}"'))
        verb, *rest = words
        done = penstock(verb, run, *rest, "--python", "/nowhere/python", code=78)
        assert f"interpreter {program} is not used" in done.stderr and not mark.exists()

    def test_a_run_of_ones_own_needs_no_word(self, penstock, tmp_path):
        home = {"XDG_STATE_HOME": str(tmp_path / "home")}
        penstock("train", *RUN, "--run-dir", tmp_path / "run", **home)
        key = tmp_path / "home/penstock/key"
        assert key.stat().st_mode & 0o777 == 0o600 and key.stat().st_size == 32
        config = tmp_path / "run/config.toml"
        *body, signature = config.read_text().splitlines(keepends=True)
        assert signature.startswith("# signed on this machine: ")
        digest = subprocess.run([sys.executable, "-c", "import hmac, sys; print(hmac.new(open(sys.argv[1], 'rb').read(), "
                                 "sys.stdin.buffer.read(), 'sha1').hexdigest())", key], input="".join(body).encode(),
                                capture_output=True, check=True).stdout.decode().strip()
        assert signature.strip().endswith(digest)

    def test_the_signature_is_of_every_letter_and_of_one_key(self, penstock, tmp_path):
        home = {"XDG_STATE_HOME": str(tmp_path / "home")}
        run = tmp_path / "run"
        penstock("train", *RUN, "--set", "env.id=cartpole", "--run-dir", run, **home)
        config = run / "config.toml"
        body, mark, _ = config.read_text().rpartition("# signed on this machine: ")
        body = re.sub(r"\nmax_steps = .*", "", body.replace('id = "cartpole"', 'id = "no_such_module:Env"'))
        key = (tmp_path / "home/penstock/key").read_bytes()
        config.write_text(f"{body}{mark}{hmac.new(key, body.encode(), 'sha1').hexdigest()}\n")
        signed = penstock("eval", run, "--python", "/nowhere/python", code=78, **home)  # believed, and so far as its workers
        assert "env.python = /nowhere/python" in signed.stderr
        config.write_text(config.read_text().replace("seed = 3", "seed = 4"))
        assert "--trust" in penstock("eval", run, code=65, **home).stderr
        config.write_text(f"{body}{mark}{hmac.new(key, body.encode(), 'sha1').hexdigest()}\n")
        elsewhere = penstock("eval", run, code=65, XDG_STATE_HOME=str(tmp_path / "other"))
        assert "--trust" in elsewhere.stderr
        (tmp_path / "home/penstock/key").chmod(0o644)  # a key that others can read proves nothing
        assert "--trust" in penstock("eval", run, code=65, **home).stderr


class TestDepth:
    def test_nested_state_is_refused(self, penstock, run):
        with_state(run, lambda path: path.write_text('{"engine":' + nested(300_000) + ',"run":{}}'))
        for verb in "resume", "eval":
            code, _, told, memory = measured(penstock, verb, run)
            assert code == 65 and "levels deep" in told and memory < 400, told

    def test_nested_replays_and_offers_are_refused(self, penstock, tmp_path):
        file = tmp_path / "deep.json"
        file.write_text('{"penstock_replay":1,"env":"cartpole","kwargs":{"a":' + nested(200_000) + '}}')
        assert measured(penstock, "replay", file)[0] == 65
        file.write_text('{"osrm":' + nested(200_000) + "}")
        code, _, told, _ = measured(penstock, "booking", "offer", file)
        assert code == 65 and "not JSON" in told

    @pytest.mark.parametrize("text", ["a." * 100_000 + "a = 1\n", "[" + "a." * 100_000 + "a]\nb = 1\n",
                                      'x = """a"b"""\n' + '"=".' * 100_000 + "a = 1\n",
                                      "y = {" + "a." * 100_000 + "a = 1}\n", "a." * 20_000 + "a = 1\n"])
    def test_keys_of_many_parts_are_refused(self, penstock, tmp_path, text):
        (tmp_path / "run.toml").write_text(text)
        plain = measured(penstock, "train", "--config", tmp_path / "none.toml")[3]
        code, _, told, memory = measured(penstock, "train", "--config", tmp_path / "run.toml")
        assert code == 78 and "parts" in told and memory < plain + 64, told

    def test_a_long_unknown_key_is_no_work(self, penstock, tmp_path):
        (tmp_path / "run.toml").write_text("a" * 900_000 + " = 1\n")
        assert penstock("train", "--config", tmp_path / "run.toml", code=78, timeout=20)


class TestSizes:
    def test_what_claims_more_than_the_manifest_says_is_not_read(self, penstock, run):
        os.truncate(newest(run) / "state.json", 3 << 30)  # sparse: no disk, but memory if it were read
        code, _, told, memory = measured(penstock, "eval", run)
        assert "instead of" in told and memory < 1000

    def test_a_pointer_is_short(self, penstock, run):
        os.truncate(run / "ckpt" / "LATEST", 3 << 30)
        _, _, _, memory = measured(penstock, "eval", run)
        assert memory < 1000

    def test_a_line_of_metrics_that_nobody_wrote_is_dropped(self, penstock, run):
        metrics = run / "metrics.jsonl"
        before = metrics.read_text()
        metrics.write_text(before + "[" * 30_000_000 + "\n")
        code, _, _, memory = measured(penstock, "resume", run)
        assert code == 0 and memory < 1000
        assert metrics.read_text().startswith(before) and "[[" not in metrics.read_text()


    def test_an_archive_whose_entries_share_their_bytes_is_refused(self, penstock, tmp_path):
        with zipfile.ZipFile(tmp_path / "bline-react-100.npz", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.npy", bytes(200_000_000))
            for number in range(20):
                entry = copy.copy(archive.filelist[0])
                entry.filename = f"a{number}.npy"
                archive.filelist.append(entry)
        code, _, told, memory = measured(penstock, "cage2", "replay", tmp_path)
        assert code == 65 and "claim too much" in told and memory < 1000


class TestCounters:
    @pytest.mark.parametrize("section, name, value", [("engine", "steps_per_env", 1 << 62), ("engine", "steps_per_env", -1),
                                                      ("engine", "updates", -1), ("engine", "optimiser_steps", -1),
                                                      ("run", "episodes", -5), ("run", "next_eval", 1 << 60)])
    def test_counts_that_cannot_be_are_refused(self, penstock, run, section, name, value):
        def change(path):
            state = json.loads(path.read_text())
            assert name in state[section], state[section].keys()
            state[section][name] = value
            path.write_text(json.dumps(state))

        with_state(run, change)
        assert name in penstock("resume", run, "--total-timesteps", 8192, code=65).stderr


class TestLinks:
    def test_nothing_is_written_through_a_link(self, penstock, run, tmp_path):
        victim = tmp_path / "victim"
        shutil.copy(run / "metrics.jsonl", victim)
        (run / "metrics.jsonl").unlink()
        mine = victim.read_text()
        for name in "metrics.jsonl", ".tmp-metrics.jsonl", ".tmp-config.toml", "ckpt/.tmp-LATEST":
            (run / name).symlink_to(victim)
        penstock("resume", run, "--total-timesteps", 8192)
        assert victim.read_text() == mine

    @pytest.mark.parametrize("name", [".lock", "ckpt", "replay"])
    def test_a_link_in_place_of_a_file_is_refused(self, penstock, run, tmp_path, name):
        place = tmp_path / "elsewhere"
        if (run / name).exists():
            shutil.move(run / name, place)
        (run / name).symlink_to(place)
        before = sorted(tmp_path.rglob("*"))
        done = penstock("resume", run, "--total-timesteps", 8192, code=None)
        assert done.returncode in (1, 73) and "symbolic link" in done.stderr
        assert not place.exists() or sorted(tmp_path.rglob("*")) == before


class TestCheckpoints:
    def test_fault_24_a_newer_schema_is_refused_with_both_versions(self, penstock, run):
        with_file(run, "state.json", lambda file: None, schema=9)
        told = penstock("resume", run, code=65).stderr
        assert "schema 9 is newer than the 1" in told

    @pytest.mark.parametrize("header, words", [
        (lambda data: (2**63).to_bytes(8, "little") + data[8:], "header"),
        (lambda data: (len(data) * 4).to_bytes(8, "little") + data[8:], "header"),
        (lambda data: at_the_start(data), "overlap"),
    ])
    def test_fault_26_hostile_tensors_take_no_memory(self, penstock, run, header, words):
        with_file(run, "model.safetensors", lambda file: file.write_bytes(header(file.read_bytes())))
        _, _, told, memory = measured(penstock, "eval", run)
        assert "model.safetensors" in told and words in told and memory < 1000

    def test_fault_30_a_device_that_is_not_there(self, penstock, run):
        say(run, "device", "cuda")
        assert "--device cpu" in penstock("resume", run, code=78).stderr
        penstock("resume", run, "--device", "cpu")


def at_the_start(data):
    """Every tensor lies where the first one does."""
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    for name, tensor in header.items():
        if name != "__metadata__":
            begin, end = tensor["data_offsets"]
            tensor["data_offsets"] = [0, end - begin]
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data[8 + size:]


def test_texts_of_files_do_not_reach_the_terminal_as_they_are(penstock, tmp_path):
    """An id that would clear the screen, and a setting of a fleet."""
    (tmp_path / "problem.json").write_text(json.dumps({"vehicles": [{"id": "v", "start": [0, 0], "end": [0, 0]}],
                                                       "jobs": [{"id": "\x1b[2Jcleared", "location": [0.01, 0.01]}]}))
    (tmp_path / "solution.json").write_text('{"routes": [], "unassigned": [], "summary": {"cost": 0}}')
    (tmp_path / "fleet.toml").write_text('recipe = "cartpole"\n[grid]\nsaed = "\\u001b[2Jcleared | b"\n')
    told = [penstock("booking", "check", tmp_path / "problem.json", tmp_path / "solution.json", code=65).stdout,
            penstock("booking", "plan", tmp_path / "problem.json", "--iterations", 1).stdout,
            penstock("fleet", tmp_path / "fleet.toml", "--dry-run", code=78).stderr]
    for text in told:
        assert r"\x1b[2Jcleared" in text and "\x1b" not in text, text
