"""Penstock inside another project: found from a checkout, and the project is as it was."""
import shutil

import pytest
from support import CMAKE, SOURCE, run, without

PARENT = """
cmake_minimum_required(VERSION 3.22)
project(parent LANGUAGES CXX)
set(BUILD_SHARED_LIBS ON)
set(PENSTOCK_TORCH {torch} CACHE BOOL "")
{bring}
add_executable(parent main.cpp)
target_link_libraries(parent PRIVATE {target})
target_compile_options(parent PRIVATE -Wall -Wextra -Wshadow -Werror)
install(TARGETS parent)
get_directory_property(options COMPILE_OPTIONS)
message(STATUS "build type '${{CMAKE_BUILD_TYPE}}', standard '${{CMAKE_CXX_STANDARD}}', options '${{options}}', "
               "outputs '${{CMAKE_RUNTIME_OUTPUT_DIRECTORY}}', launcher '${{CMAKE_CXX_COMPILER_LAUNCHER}}'")
"""
ADD = f'add_subdirectory("{SOURCE}" penstock)'
FETCH = f"""include(FetchContent)
FetchContent_Declare(penstock SOURCE_DIR "{SOURCE}")
FetchContent_MakeAvailable(penstock)"""
MAIN = """
#include "penstock/core/base/random.h"
#include "penstock/core/env/batched_env.h"
int main() { return static_cast<int>(penstock::Random(1).uniform(0.0, 1.0)); }
"""


def parent(project, bring, torch="OFF", target="penstock::env"):
    return project(CMakeLists_txt=PARENT.format(bring=bring, torch=torch, target=target), main_cpp=MAIN)


@pytest.mark.parametrize("bring", [ADD, FETCH], ids=["add_subdirectory", "FetchContent"])
def test_the_parent_is_left_alone(project, bring):
    user = parent(project, bring)
    told = user.configure(*without(["Torch"]))
    assert "build type '', standard '', options '', outputs '', launcher ''" in told
    rules = [(user.build / folder / "cmake_install.cmake").read_text() for folder in (".", "penstock", "_deps/penstock-build")
             if (user.build / folder / "cmake_install.cmake").exists()]
    assert not any("libpenstock" in text or "include/penstock" in text for text in rules)
    assert not (user.build / "CPackConfig.cmake").exists()
    wanted = run("ninja", "-C", user.build, "-t", "commands", "all")
    assert "penstock_base" in wanted and "penstock_classic" not in wanted  # what is linked, no more


def test_a_bootstrapped_checkout_brings_its_libtorch(project):
    user = parent(project, ADD, torch="ON", target="penstock::train")
    user.configure()
    assert not (user.build / "penstock" / "penstock").exists()
    assert "penstock_exe" not in run(CMAKE, "--build", user.build, "--target", "help")


def test_a_parent_with_warnings_as_errors(project):
    user = parent(project, ADD)
    launcher = [f"-DCMAKE_CXX_COMPILER_LAUNCHER={shutil.which('ccache')}"] if shutil.which("ccache") else []
    user.configure("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", *launcher, *without(["Torch"]))
    user.compile("parent")
    run(user.build / "parent")
