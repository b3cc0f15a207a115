#!/usr/bin/env python3
"""Installs a build tree, builds examples/cpp/my_env against it and trains the env it adds.

    find_package.py CMAKE SOURCE_DIR BUILD_DIR
"""
import json
import pathlib
import subprocess
import sys
import tempfile

MAX_LINES = 25  # of an env beyond its simulation


def run(*command):
    print("+", *command, flush=True)
    subprocess.run([str(word) for word in command], check=True, stdin=subprocess.DEVNULL)


def lines_beyond_simulation(text):
    """Lines of code outside the two marks."""
    before, rest = text.split("// simulation begins\n")
    after = rest.split("// simulation ends\n")[1]
    lines = [line.strip() for line in (before + after).splitlines()]
    return [line for line in lines if line and not line.startswith("//")]


def check_lines(example):
    lines = lines_beyond_simulation((example / "docking.h").read_text())
    print(f"{len(lines)} lines beyond the simulation, {MAX_LINES} allowed")
    assert len(lines) <= MAX_LINES, "\n".join(lines)


def build_example(cmake, example, prefix, build):
    run(cmake, "-S", example, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
        f"-DCMAKE_PREFIX_PATH={prefix}")
    run(cmake, "--build", build)


def train(program, run_dir):
    """One line of JSON on stdout, with a digest of the weights."""
    command = [program, "train", "--env", "my_env", "--num-envs", "8", "--total-timesteps", "8192",
               "--seed", "1", "--run-dir", run_dir, "--json"]
    print("+", *command, flush=True)
    done = subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          text=True)
    summary = json.loads(done.stdout)
    assert summary["digest"], summary
    return summary["digest"]


def main():
    cmake, source, build = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    example = source / "examples" / "cpp" / "my_env"
    check_lines(example)
    with tempfile.TemporaryDirectory() as folder:
        temp = pathlib.Path(folder)
        run(cmake, "--install", build, "--prefix", temp / "prefix")
        build_example(cmake, example, temp / "prefix", temp / "build")
        digest = train(temp / "build" / "my_env", temp / "run")
        print("digest", digest)


if __name__ == "__main__":
    main()
