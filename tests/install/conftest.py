"""Fixtures of the tests of installs.

The torch-free build lies beside the build under test and is compiled with its flags: ccache has most of it already.
"""
import os

import pytest
from support import CMAKE, SOURCE, TORCH_FREE, Project, run, without, write_policy


@pytest.fixture
def project(tmp_path):
    return lambda **files: Project(tmp_path / "project", **files)


@pytest.fixture(scope="session")
def torch_free(tmp_path_factory):
    """The prefix of an install of a build that knows no libtorch."""
    warnings = os.environ.get("PENSTOCK_TEST_WARNINGS", "ON")
    run(CMAKE, "-S", SOURCE, "-B", TORCH_FREE, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DPENSTOCK_TORCH=OFF",
        f"-DPENSTOCK_WARNINGS={warnings}", *without(["Torch"]))
    run(CMAKE, "--build", TORCH_FREE, "--parallel", os.environ.get("JOBS", "2"))
    prefix = tmp_path_factory.mktemp("torch_free") / "prefix"
    run(CMAKE, "--install", TORCH_FREE, "--prefix", prefix)
    return prefix


@pytest.fixture
def policy(tmp_path):
    return write_policy(tmp_path / "policy.safetensors")
