"""Where CI=true is set, a test that skips is a test that fails: what it needs is installed there. conftest.py of each suite
takes the hooks from here."""

import os
import re

import pytest

# What no script of ours can bring: long versions and clones that a variable asks for, a browser, rights that the kernel may
# refuse (daemons of Slurm want some), another processor.
MAY_BE_ABSENT = re.compile(r"PENSTOCK_[A-Z_]+|chromium|namespaces?\b|Slurm cluster does not start|AVX2|mlflow-skinny has no server")


def forbid(report):
    if os.environ.get("CI") != "true" or report.outcome != "skipped" or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if not MAY_BE_ABSENT.search(reason):
        report.outcome = "failed"
        report.longrepr = f"{reason}\nCI=true: nothing is skipped; scripts/bootstrap or tests/python/requirements.txt installs what this needs"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    report = yield
    forbid(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    report = yield
    forbid(report)
    return report
