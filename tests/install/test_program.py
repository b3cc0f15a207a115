"""The install of the build under test: the program starts wherever the prefix lies, and who needs libtorch finds it."""
import pathlib
import re
import subprocess

import pytest
from public_headers import public_headers
from support import BUILD, CMAKE, SOURCE, UNNEEDED, run, without

FIND = """
cmake_minimum_required(VERSION 3.22)
project(user LANGUAGES CXX)
find_package(penstock CONFIG REQUIRED {components})
foreach(target {targets})
  if(NOT TARGET ${{target}})
    message(FATAL_ERROR "no ${{target}}")
  endif()
endforeach()
"""
CLEAN = {"PATH": "/usr/bin:/bin"}  # no LD_LIBRARY_PATH


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("install") / "prefix"
    run(CMAKE, "--install", BUILD, "--prefix", folder)
    return folder


def find(project, prefix, components, targets, *options, code=0):
    text = FIND.format(components=components, targets=targets)
    return project(CMakeLists_txt=text).configure(f"-DCMAKE_PREFIX_PATH={prefix}", *options, code=code)


def test_it_starts_also_after_the_prefix_has_moved(prefix, tmp_path):
    assert "cartpole" in run(prefix / "bin" / "penstock", "envs", env=CLEAN)
    moved = tmp_path / "moved"
    run("cp", "-r", prefix, moved)
    prefix.rename(prefix.with_name("away"))  # so that nothing of it can be in use
    try:
        assert "cartpole" in run(moved / "bin" / "penstock", "envs", env=CLEAN)
        assert "seed" in run(moved / "bin" / "penstock", "train", "--recipe", "cartpole", "--dry-run", env=CLEAN, cwd=tmp_path)
    finally:
        prefix.with_name("away").rename(prefix)


def test_it_looks_for_libraries_where_there_may_be_some(prefix):
    told = run("readelf", "-d", prefix / "bin" / "penstock")
    folders = re.search(r"(?:RUNPATH|RPATH).*\[(.*)\]", told)[1].split(":")
    assert folders[0].startswith("$ORIGIN/") and folders[0].endswith("/penstock")
    assert not [folder for folder in folders if "intel64" in folder or "win-x64" in folder]
    assert any((pathlib.Path(folder) / "libtorch_cpu.so").exists() for folder in folders[1:])


def test_a_libtorch_that_lies_in_the_prefix_is_used(prefix, tmp_path):
    moved = tmp_path / "moved"
    run("cp", "-r", prefix, moved)
    library = next(moved.rglob("libpenstock_full.so"))
    torch = pathlib.Path(re.search(r"=> (\S+)/libtorch_cpu\.so", run("ldd", library, env=CLEAN))[1])
    for file in torch.glob("lib*.so*"):
        (library.parent / file.name).symlink_to(file)
    assert f"{library.parent}/libtorch_cpu.so" in run("ldd", library, env=CLEAN)


def test_offers_are_priced_without_libtorch(prefix, tmp_path):
    """Loading it takes half a second; and who has none can still price."""
    moved = tmp_path / "moved"
    run("cp", "-r", prefix, moved)
    assert "torch" not in run("ldd", moved / "bin" / "penstock", env=CLEAN)
    next(moved.rglob("libpenstock_full.so")).unlink()
    query = tmp_path / "query.json"
    query.write_text(re.search(r"```json\n(.*?)```", (SOURCE / "docs/booking/offer.md").read_text(), re.S)[1])
    for domain in ("booking", "dvrptw"):
        assert '"request": "cora"' in run(moved / "bin" / "penstock", domain, "offer", query, env=CLEAN)
    told = subprocess.run([moved / "bin" / "penstock", "envs"], capture_output=True, text=True, env=CLEAN)
    assert told.returncode == 1 and "libpenstock_full.so" in told.stderr and "install Penstock again" in told.stderr


def test_all_headers_are_there(prefix):
    there = {path.relative_to(prefix / "include").as_posix() for path in prefix.rglob("*.h")}
    assert there == {*public_headers(torch=False), *public_headers(torch=True), "penstock/version.h"}


def test_components_that_need_no_libtorch_look_for_none(prefix, project):
    find(project, prefix, "COMPONENTS act env", "penstock::act penstock::env", *without(UNNEEDED))


def test_components_that_need_it_say_so(prefix, project):
    told = " ".join(find(project, prefix, "COMPONENTS train", "", *without(["Torch"]), code=1).split())
    assert "'train' needs Torch, which was not found: pass -DTorch_DIR=" in told


def test_without_components_everything_is_found(prefix, project):
    find(project, prefix, "", "penstock::act penstock::train penstock::cli penstock::catalog torch")


def test_the_libtorch_of_the_build_is_a_hint(prefix, project, tmp_path):
    """Where it is gone, another one is given by Torch_DIR."""
    moved = tmp_path / "moved"
    run("cp", "-r", prefix, moved)
    config = next(moved.rglob("penstockConfig.cmake"))
    hint = re.search(r'find_package\(Torch QUIET HINTS "([^"]+)"\)', config.read_text())[1]
    config.write_text(config.read_text().replace(hint, "/nowhere"))
    find(project, moved, "COMPONENTS train", "penstock::train torch", f"-DTorch_DIR={hint}")


def test_packages(prefix):
    text = (BUILD / "CPackConfig.cmake").read_text()
    for name, value in {"CPACK_PACKAGE_NAME": "penstock", "CPACK_COMPONENTS_ALL": "runtime;development;data",
                        "CPACK_DEBIAN_RUNTIME_PACKAGE_NAME": "penstock", "CPACK_PACKAGING_INSTALL_PREFIX": "/usr",
                        "CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS": "ON"}.items():
        assert f'set({name} "{value}")' in text
