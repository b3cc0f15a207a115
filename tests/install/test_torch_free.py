"""A build without libtorch, and those who use its install: they need none of it, nor what other modules need."""
import re
import subprocess

import pytest
from public_headers import public_headers
from support import SOURCE, TORCH_FREE, UNNEEDED, run, without

SHIP = SOURCE / "examples" / "cpp" / "ship_policy"
FIND = """
cmake_minimum_required(VERSION 3.22)
project(user LANGUAGES CXX)
find_package(penstock CONFIG REQUIRED {components})
"""


def acts(program, policy):
    """The program chooses the place of the greater number."""
    return [run(program, policy, *row).split() for row in (("0.5", "-1"), ("-1", "0.5"))] == [["0"], ["1"]]


def configure(project, prefix, components, *options, code=0):
    return project(CMakeLists_txt=FIND.format(components=components)).configure(
        f"-DCMAKE_PREFIX_PATH={prefix}", *options, code=code)


def test_the_shipped_example_needs_neither_libtorch_nor_what_others_need(torch_free, project, policy):
    text = {"CMakeLists_txt": (SHIP / "CMakeLists.txt").read_text(), "main_cpp": (SHIP / "main.cpp").read_text()}
    user = project(**text)
    user.configure(f"-DCMAKE_PREFIX_PATH={torch_free}", "-DCMAKE_BUILD_TYPE=Release",
                   "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wshadow -Werror", *without(UNNEEDED))
    user.compile()
    program = user.build / "ship_policy"
    assert acts(program, policy)
    assert "torch" not in run("ldd", program)
    assert "the policy sees 2 numbers" in run(program, policy, "1", code=1)
    stripped = user.build / "stripped"
    run("strip", "-o", stripped, program)
    assert stripped.stat().st_size < 1_000_000


def test_envs_alone(torch_free, project):
    configure(project, torch_free, "COMPONENTS act env classic", *without(UNNEEDED))


def test_pkg_config_also_after_the_prefix_has_moved(torch_free, tmp_path, policy):
    moved = tmp_path / "moved"
    run("cp", "-r", torch_free, moved)
    environment = {"PATH": "/usr/bin:/bin", "PKG_CONFIG_PATH": str(next(moved.glob("lib*/**/pkgconfig")))}
    flags = run("pkg-config", "--cflags", "--libs", "penstock-act", env=environment).split()
    assert str(torch_free) not in " ".join(flags)
    program = tmp_path / "ship_policy"
    run("g++", "-std=c++20", SHIP / "main.cpp", *flags, "-o", program)
    assert acts(program, policy)
    assert run("pkg-config", "--modversion", "penstock-act", env=environment).strip() == version()


def version():
    return re.search(r"^project\(penstock VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text(), re.M)[1]


def test_the_version_header(torch_free, tmp_path):
    source = tmp_path / "version.cpp"
    source.write_text('#include "penstock/version.h"\n#include <cstdio>\n'
                      "static_assert(PENSTOCK_VERSION_NUMBER >= 100);\n"
                      'int main() { std::printf("%s %d.%d.%d", PENSTOCK_VERSION, PENSTOCK_VERSION_MAJOR,\n'
                      "                         PENSTOCK_VERSION_MINOR, PENSTOCK_VERSION_PATCH); }\n")
    run("g++", "-std=c++20", f"-I{torch_free}/include", source, "-o", tmp_path / "version")
    assert run(tmp_path / "version") == f"{version()} {version()}"


def test_headers_are_those_of_the_modules_there(torch_free):
    there = {path.relative_to(torch_free / "include").as_posix() for path in torch_free.rglob("*.h")}
    assert there == {*public_headers(torch=False), "penstock/version.h"}


def test_an_unknown_component_is_refused_with_those_there_are(torch_free, project):
    told = " ".join(configure(project, torch_free, "COMPONENTS act nonsense", code=1).split())
    assert "unknown component 'nonsense'" in told
    assert re.search(r"the components are base .*act", told)


def test_an_unknown_component_that_is_optional(torch_free, project):
    configure(project, torch_free, "COMPONENTS act OPTIONAL_COMPONENTS nonsense")


def test_what_was_left_out_is_refused_with_the_reason(torch_free, project):
    told = " ".join(configure(project, torch_free, "COMPONENTS train", code=1).split())
    assert "'train' needs libtorch" in told and "PENSTOCK_TORCH=OFF" in told


def test_a_missing_package_is_named(torch_free, project):
    told = " ".join(configure(project, torch_free, "COMPONENTS act", *without(["hwy"]), code=1).split())
    assert "'act' needs hwy, which was not found" in told


def test_without_components_everything_is_found(torch_free, project):
    text = FIND.format(components="") + "if(NOT TARGET penstock::cage2_search)\n  message(FATAL_ERROR none)\nendif()\n"
    project(CMakeLists_txt=text).configure(f"-DCMAKE_PREFIX_PATH={torch_free}")


def test_modules_that_nobody_asked_for_are_not_there(torch_free, project):
    text = FIND.format(components="COMPONENTS env") + "if(TARGET penstock::act)\n  message(FATAL_ERROR there)\nendif()\n"
    project(CMakeLists_txt=text).configure(f"-DCMAKE_PREFIX_PATH={torch_free}")


def test_a_plugin_exports_its_own_names_alone(torch_free, project):
    text = FIND.format(components="COMPONENTS act") + (
        "add_library(plugin SHARED plugin.cpp)\ntarget_link_libraries(plugin PRIVATE penstock::act)\n")
    code = ('#include "penstock/act.h"\nextern "C" long updates(const char* file) '
            "{ return penstock::PolicyModel::load(file)->version(); }\n")
    user = project(CMakeLists_txt=text, plugin_cpp=code)
    user.configure(f"-DCMAKE_PREFIX_PATH={torch_free}", "-DCMAKE_BUILD_TYPE=Release")
    user.compile()
    names = [line.split(maxsplit=2)[2] for line in run("nm", "-DC", "--defined-only", user.build / "libplugin.so").splitlines()]
    assert "updates" in names
    print(len(names), "names")
    ours = [name for name in names if re.match(r"(void |bool )?(penstock|nlohmann|fmt|hwy|toml)::", name)]
    assert len(ours) <= 5, ours


@pytest.mark.parametrize("option", ["-DPENSTOCK_DEVELOPER=ON", "-DPENSTOCK_PYTHON=ON"])
def test_what_needs_libtorch_is_refused(option, tmp_path):
    told = run("cmake", "-S", SOURCE, "-B", tmp_path, "-G", "Ninja", "-DPENSTOCK_TORCH=OFF", option, code=1)
    assert "need libtorch" in " ".join(told.split())


def test_shared_libraries_are_refused(tmp_path):
    told = run("cmake", "-S", SOURCE, "-B", tmp_path, "-G", "Ninja", "-DPENSTOCK_TORCH=OFF", "-DBUILD_SHARED_LIBS=ON", code=1)
    assert "static archives only" in " ".join(told.split())


def test_install_components(torch_free, tmp_path):
    def installed(component):
        run("cmake", "--install", TORCH_FREE, "--prefix", tmp_path / component, "--component", component)
        return {path.relative_to(tmp_path / component).parts[0] for path in (tmp_path / component).rglob("*") if path.is_file()}

    assert installed("development") == {"include", "lib"}
    assert installed("data") == {"share"}
    assert not (tmp_path / "development" / "share").exists()
    assert (tmp_path / "data" / "share" / "penstock" / "compare").is_dir()


def test_debian_packages(torch_free, tmp_path):
    subprocess.run(["cpack", "-G", "DEB", "-B", tmp_path], cwd=TORCH_FREE, check=True, capture_output=True)
    packages = {path.name.split("_")[0]: path for path in tmp_path.glob("*.deb")}
    assert set(packages) == {"libpenstock-dev", "penstock-data"}
    fields = run("dpkg-deb", "--field", packages["libpenstock-dev"])
    assert f"Version: {version()}" in fields and "Depends: libfmt-dev, libhwy-dev" in fields
    files = run("dpkg-deb", "--contents", packages["libpenstock-dev"])
    assert "./usr/include/penstock/act.h" in files and "penstock-act.pc" in files and "/share/" not in files
    assert "Architecture: all" in run("dpkg-deb", "--field", packages["penstock-data"])
