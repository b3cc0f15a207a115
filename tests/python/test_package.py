"""What the wheel holds: one libtorch, its own libhwy and libfmt, docstrings of the headers, stubs that match."""

import ast
import importlib.metadata
import importlib.util
import inspect
import pathlib
import re
import subprocess
import sys

import pytest

import penstock
from penstock import _base, _core

PACKAGE = pathlib.Path(penstock.__file__).parent


def mapped(name):
    """Files of that name that this process has loaded."""
    lines = pathlib.Path("/proc/self/maps").read_text().splitlines()
    return {pathlib.Path(line.split()[-1]).resolve() for line in lines if name in line.rsplit("/", 1)[-1]}


def test_version_is_the_one_of_the_metadata():
    assert penstock.__version__ == importlib.metadata.version("penstock")


def test_torch_is_loaded_once_and_is_the_installed_one():
    import torch
    assert mapped("libtorch_cpu.so") == {(pathlib.Path(torch.__file__).parent / "lib" / "libtorch_cpu.so").resolve()}


def test_highway_comes_with_the_wheel():
    """One for both extensions: they use the same instruction set."""
    assert mapped("libhwy.so") == {(PACKAGE / "libhwy.so.1").resolve()}


def test_no_other_library_comes_with_the_wheel():
    names = {file.name for file in importlib.metadata.files("penstock") if ".so" in file.suffixes}
    assert names == {"libhwy.so.1", "libfmt.so.9", "libsqlite3.so.0", pathlib.Path(_base.__file__).name, pathlib.Path(_core.__file__).name,
                     pathlib.Path(importlib.util.find_spec("penstock_worker._runner").origin).name}


def test_the_licence_of_all_that_is_inside_comes_with_the_wheel():
    files = {file.name: file.read_text() for file in importlib.metadata.files("penstock") if "licenses" in file.parts}
    said = {"LICENSE": "Apache License", "fmt.txt": "Victor Zverovich", "highway.txt": "Google LLC",
            "nlohmann-json.txt": "Niels Lohmann", "tomlplusplus.txt": "Mark Gillard", "cli11.txt": "Henry Schreiner",
            "xxhash.txt": "Yann Collet", "eigen.txt": "Mozilla Public License", "pybind11.txt": "Wenzel Jakob",
            "boost.txt": "Boost Software License", "sqlite.txt": "disclaims copyright"}
    assert set(files) == set(said)
    assert all(holder in files[name] for name, holder in said.items())
    assert len(importlib.metadata.metadata("penstock").get_all("License-File")) == len(said)


def test_the_wheel_is_for_other_machines_too():
    tags = re.findall(r"^Tag: (.*)", importlib.metadata.distribution("penstock").read_text("WHEEL"), re.M)
    assert len(tags) == 1 and re.fullmatch(r"cp3\d+-cp3\d+-manylinux_2_\d+_\w+", tags[0]), tags


def test_a_python_to_build_for_that_is_not_there_is_named():
    script = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "build-wheels"
    done = subprocess.run([script, "python3.99"], capture_output=True, text=True)
    assert done.returncode == 1 and "python3.99: not found" in done.stderr


def test_torch_is_a_requirement_of_one_minor_version():
    assert "torch==2.13.*" in importlib.metadata.requires("penstock")


def test_no_path_of_the_build_machine_is_left():
    for module, path in ((_base, "$ORIGIN"), (_core, "$ORIGIN:$ORIGIN/../torch/lib")):
        found = subprocess.run(["readelf", "-d", module.__file__], capture_output=True, text=True, check=True).stdout
        assert re.findall(r"RUNPATH.*\[(.*)\]", found) == [path]


def stub(module):
    return ast.parse((PACKAGE / f"{module.__name__.split('.')[1]}.pyi").read_text()).body


def nodes(kind):
    """(module, node) of every class or function of the stubs."""
    found = [(module, node) for module in (_base, _core) for node in stub(module) if isinstance(node, kind)]
    return {"argvalues": found, "ids": [node.name for _, node in found]}


def arguments(function):
    return [a.arg for a in function.args.args if a.arg != "self"]


def documented_arguments(function):
    """Names of the arguments in the signature that pybind11 writes into the docstring; the longest overload."""
    found = re.findall(r"\w+\((.*?)\) -> ", function.__doc__ or "")
    names = [[part.split(":")[0].strip() for part in split_arguments(text)] for text in found]
    return max(([n for n in one if n not in ("self", "*args", "**kwargs")] for one in names), key=len)


def split_arguments(text):
    parts, depth, start = [], 0, 0
    for i, letter in enumerate(text):
        depth += (letter in "[(") - (letter in "])")
        if letter == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [part for part in [*parts, text[start:]] if part.strip()]


def public(names):
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("module", [_base, _core])
def test_the_stub_names_everything_and_nothing_else(module):
    names = {node.name for node in stub(module) if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    names |= {node.target.id for node in stub(module) if isinstance(node, ast.AnnAssign)}
    assert public(names) == public(dir(module))


@pytest.mark.parametrize("module, node", **nodes(ast.ClassDef))
def test_the_stub_of_a_class_matches(module, node):
    real = getattr(module, node.name)
    if issubclass(real, Exception):
        assert [base.id for base in node.bases] == [base.__name__ for base in real.__bases__]
        return
    members = {n.name: n for n in node.body if isinstance(n, ast.FunctionDef)}
    fields = {n.target.id for n in node.body if isinstance(n, ast.AnnAssign)}
    assert public(members) | fields == public(vars(real)) - {"name", "value"}
    for name, member in members.items():
        attribute = inspect.getattr_static(real, name)
        decorator = next((each.id for each in member.decorator_list if isinstance(each, ast.Name)), None)
        if decorator:
            assert isinstance(attribute, {"property": property, "staticmethod": staticmethod}[decorator]), name
        elif name in vars(real):
            assert arguments(member) == documented_arguments(getattr(real, name)), name


@pytest.mark.parametrize("module, node", **nodes(ast.FunctionDef))
def test_the_stub_of_a_function_matches(module, node):
    assert arguments(node) == documented_arguments(getattr(module, node.name))


def test_docstrings_are_the_headers_comments():
    assert "A key or value of the configuration is wrong." in _base.ConfigError.__doc__
    assert "XXH3 of all weights, by name." in _core.Engine.digest.__doc__
    assert "the three autoreset modes" in " ".join(_base.VectorEnv.__doc__.split())


def test_everything_public_is_explained():
    for name in penstock.__all__:
        assert name.startswith("__") or getattr(penstock, name).__doc__, name


def test_the_package_is_typed():
    assert (PACKAGE / "py.typed").exists()


def test_import_without_gymnasium_plugins_or_torch_threads_changed():
    code = "import torch; before = torch.get_num_threads(); import penstock; assert torch.get_num_threads() == before"
    subprocess.run([sys.executable, "-c", code], check=True)
