"""Gives each peer its own virtual environment, or compiles it. What is there already is kept."""
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CXX_FLAGS = ["-O3", "-march=native", "-ffast-math", "-fopenmp"]


class InstallError(RuntimeError):
    """A peer that cannot be had; the text names the command that failed."""


def install(peer, work, say=print):
    """The command that starts the peer, after whatever it takes to have one."""
    script = HERE / "peers" / peer.script
    if script.suffix == ".cpp":
        return [str(compile_program(script, work, say)), *peer.arguments]
    venv = make_venv(peer, pathlib.Path(work), say)
    return [str(venv / "bin" / "python"), str(script), *peer.arguments]


def make_venv(peer, work, say):
    name = peer.venv or peer.name
    venv = work / "venvs" / name
    stamp = venv / "installed.json"
    wanted = json.dumps([list(group) for group in peer.packages])
    if stamp.exists() and stamp.read_text() == wanted:
        return venv
    shutil.rmtree(venv, ignore_errors=True)  # half of an installation is not worth mending
    run([sys.executable, "-m", "venv", str(venv)], say)
    pip = [str(venv / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
    for group in peer.packages:
        run([*pip, *group], say)
    if peer.source:
        run([*pip, "--no-deps", "--no-build-isolation", fetch_source(peer, work, say)], say)
    stamp.write_text(wanted)  # last: only a finished environment has it
    return venv


def fetch_source(peer, work, say):
    say(f"fetching and patching the source of {peer.title}")
    try:
        return str(peer.source(work / "source"))
    except (OSError, RuntimeError) as error:
        raise InstallError(f"its source could not be fetched: {error}") from error


def compile_program(source, work, say):
    """The name carries a digest of the source, so that a changed source is compiled again."""
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:12]
    program = pathlib.Path(work) / "bin" / f"{source.stem}-{digest}"
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        compiler = os.environ.get("CXX", "g++")
        run([compiler, *CXX_FLAGS, str(source), "-o", str(program)], say)
    return program


def run(command, say):
    say(shlex.join(command))
    try:
        result = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise InstallError(f"`{shlex.join(command)}` could not be started: {error}") from error
    if result.returncode != 0:
        reason = reason_in(result.stderr or result.stdout)
        raise InstallError(f"`{shlex.join(command)}` failed: {reason}")


def reason_in(output):
    """The line that says most: the first that speaks of an error, or else the last one."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith(("error", "fatal"))]
    return (errors or lines[-1:] or ["it printed nothing"])[0][:300]
