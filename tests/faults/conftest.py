"""What tests of envs in worker processes share. PENSTOCK_TEST_RUNNER names the workers' extension module."""

import os
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "python"))  # for `processes`


@pytest.fixture(scope="session")
def worker_path(tmp_path_factory):
    """PYTHONPATH of penstock_worker as a wheel would install it, and of the envs of these tests."""
    folder = tmp_path_factory.mktemp("path")
    (folder / "penstock_worker").mkdir()
    runner = pathlib.Path(os.environ["PENSTOCK_TEST_RUNNER"])
    for file in [*(HERE.parents[1] / "python" / "penstock_worker").glob("*.py"), runner]:
        (folder / "penstock_worker" / file.name).symlink_to(file)
    return f"{folder}:{HERE}"


@pytest.fixture
def python_env(worker_path, monkeypatch):
    """The executable finds this interpreter, and it the workers."""
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.setenv("PYTHONPATH", worker_path)
