"""What the program is made of and how it was linked: no foreign folder to load from, the compiler's guards on, a bill of
materials that scanners read."""
import json
import re

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from support import BUILD, SOURCE, run

PROGRAM = BUILD / "penstock"
LIBRARY = BUILD / "libpenstock_full.so"  # what it loads for all but offers


@pytest.mark.parametrize("file", [PROGRAM, LIBRARY], ids=["program", "library"])
def test_libraries_are_looked_for_in_whole_paths_alone(file):
    folders = re.search(r"(?:RUNPATH|RPATH).*\[(.*)\]", run("readelf", "-dW", file))[1].split(":")
    assert folders and all(re.match(r"/|\$ORIGIN", folder) for folder in folders), folders  # "" is the current folder
    assert not [folder for folder in folders if "intel64" in folder or "win-x64" in folder]


@pytest.mark.parametrize("file", [PROGRAM, LIBRARY], ids=["program", "library"])
def test_the_guards_of_the_compiler_are_on(file):
    dynamic, segments = run("readelf", "-dW", file), run("readelf", "-lW", file)
    assert "BIND_NOW" in dynamic or "NOW" in re.search(r"FLAGS_1.*", dynamic)[0]
    assert "GNU_RELRO" in segments and (file == LIBRARY or "PIE" in dynamic)
    assert re.search(r"GNU_STACK\s+\S+ \S+ \S+ \S+ \S+ RW ", segments)  # not executable
    symbols = run("nm", "-D", file)
    assert "__stack_chk_fail" in symbols and re.search(r"__\w+_chk@", symbols)


@pytest.mark.parametrize("file", [PROGRAM, LIBRARY], ids=["program", "library"])
def test_no_path_of_the_build_is_in_the_program(file):
    assert str(SOURCE / "src").encode() not in file.read_bytes()


def test_the_bill_of_materials_is_valid_and_names_what_is_linked():
    text = run(SOURCE / "scripts" / "sbom", BUILD)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    names = {part["name"] for part in json.loads(text)["components"]}
    assert {"torch", "libfmt9", "libhwy1", "zlib1g", "nlohmann-json3-dev", "libtomlplusplus-dev"} <= names
    assert all(part["version"] for part in json.loads(text)["components"])


def test_what_is_installed_is_pinned_by_its_bytes():
    for name in "requirements", "requirements-dev":
        locked = (SOURCE / "scripts" / f"{name}.lock").read_text().splitlines()[1:]
        assert locked and all(re.fullmatch(r"[\w.-]+==\S+ --hash=sha256:[0-9a-f]{64}", line) for line in locked)
        versions = {re.sub(r"[-_.]+", "-", line.split("==")[0].lower()): line.split()[0].split("==")[1] for line in locked}
        asked = re.findall(r"^([\w.-]+)(?:\[.*\])?==(\S+)", (SOURCE / "scripts" / f"{name}.txt").read_text(), re.M)
        assert asked and all(versions[package] == version for package, version in asked), "run scripts/lock"
