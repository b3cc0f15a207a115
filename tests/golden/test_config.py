"""The set of config keys is a promise: config_keys.txt changes only on purpose. So is the docs page."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def keys(toml):
    section, found = "", []
    for line in toml.splitlines():
        if line.startswith("["):
            section = line.strip("[]") + "."
        elif "=" in line:
            found.append(section + line.split("=")[0].strip())
    return found


def test_keys_are_frozen(penstock):
    frozen = (ROOT / "tests/golden/config_keys.txt").read_text().split()
    assert keys(penstock("config").stdout) == frozen, "regenerate with: penstock config, and say so in CHANGELOG"


def test_the_docs_page_is_current(penstock):
    page = (ROOT / "docs/config.md").read_text()
    table = penstock("config", "--markdown").stdout
    assert table in page, "run scripts/gen-config-docs"
    own = [line for line in penstock("config", "--markdown", "--env", "dvrptw").stdout.splitlines()
           if line.startswith("| `env.") and not line.startswith(("| `env.id`", "| `env.num_envs`"))]
    assert len(own) > 20
    assert all(line in page for line in own), "run scripts/gen-config-docs"
