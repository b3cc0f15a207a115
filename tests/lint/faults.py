#!/usr/bin/env python3
"""Says where the table of docs/faults.md and the tests that are named by its rows differ.

    tests/lint/faults.py [ROOT]
"""

import pathlib
import re
import sys

ROW = re.compile(r"^\| (\d+) \|.*\| ([^|]*) \|$", re.M)
NAME = re.compile(r'def test_fault_(\d+)_|TEST_CASE\(\s*"fault (\d+):')


def told(root):
    """(row, file) for each test that the table names; (row, "") for a row without one."""
    for number, files in ROW.findall((root / "docs/faults.md").read_text()):
        for file in re.findall(r"`([^`]+)`", files) or [""]:
            yield int(number), file


def written(root):
    tests = root / "tests"
    for path in [*tests.rglob("*.py"), *tests.rglob("*.cpp")]:
        for number in NAME.findall(path.read_text()):
            yield int("".join(number)), str(path.relative_to(tests))


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    table, tests = set(told(root)), set(written(root))
    for number, file in sorted(table ^ tests):
        print(f"docs/faults.md, row {number}: {file or 'nothing'} is {'told' if (number, file) in table else 'not told'}, "
              f"but is {'a' if (number, file) in tests else 'no'} test of it")
    print(f"faults: {len({row for row, _ in table})} rows, {len(tests)} files of tests")
    return int(table != tests)


if __name__ == "__main__":
    sys.exit(main())
