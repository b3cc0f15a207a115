"""What the tests of installs share: CMake, projects of somebody else, a policy file that another program wrote."""
import json
import os
import pathlib
import struct
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parents[2]
CMAKE = os.environ.get("PENSTOCK_TEST_CMAKE", "cmake")
BUILD = pathlib.Path(os.environ.get("PENSTOCK_TEST_BUILD", SOURCE / "build" / "ci"))
TORCH_FREE = BUILD.parent / "torch_free"
# Packages that nobody needs who only acts or steps envs.
UNNEEDED = ["Torch", "CLI11", "Eigen3", "ZLIB", "nlohmann_json", "Boost", "SQLite3"]


def run(*command, code=0, **options):
    """Its output, both streams; fails the test unless it ends with `code` (None: with anything but 0)."""
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **options)
    as_wanted = done.returncode != 0 if code is None else done.returncode == code
    assert as_wanted, f"{command}: exit {done.returncode}\n{done.stdout}"
    return done.stdout


def without(packages):
    return [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in packages]


class Project:
    """A project of somebody else, in a folder of its own."""

    def __init__(self, folder, **files):
        self.source, self.build = folder / "source", folder / "build"
        self.source.mkdir(parents=True)
        for name, text in files.items():
            (self.source / name.replace("_txt", ".txt").replace("_cpp", ".cpp")).write_text(text)

    def configure(self, *options, code=0):
        return run(CMAKE, "-S", self.source, "-B", self.build, "-G", "Ninja", *options, code=code)

    def compile(self, *targets):
        return run(CMAKE, "--build", self.build, "--parallel", 1, *(["--target", *targets] if targets else []))


def write_policy(path):
    """A policy of one layer as docs/formats.md says: of two numbers, it chooses the place of the greater one."""
    weights = {"actor.0.weight": ([2, 2], [1.0, 0.0, 0.0, 1.0]), "actor.0.bias": ([2], [0.0, 0.0]),
               "critic.0.weight": ([1, 2], [0.0, 0.0]), "critic.0.bias": ([1], [0.0])}
    policy = {"schema": 1, "version": 3, "obs": [{"name": "obs", "shape": [2], "lookups": []}],
              "action": {"kind": "discrete", "n": [2], "masked": False}, "max_episode_steps": 0, "squash": False,
              "clip_obs": 0.0,
              "parameters": [{"name": name, "shape": shape, "by_input": False} for name, (shape, _) in weights.items()],
              "mlp": {"activation": "tanh", "trunk": [], "actor": ["actor.0"], "critic": ["critic.0"], "log_std": False}}
    header, data = {"__metadata__": {"penstock.policy": json.dumps(policy)}}, b""
    for name, (shape, numbers) in weights.items():
        begin = len(data)
        data += struct.pack(f"<{len(numbers)}f", *numbers)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path
