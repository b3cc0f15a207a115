"""Sums up `llvm-cov report -show-functions` by source: lines of the functions that were entered, and the names of the others."""

import re
import sys


def short(name):
    """A function without its parameters, template arguments and namespaces."""
    for inner in (r"<[^<>]*>", r"\([^()]*\)"):
        while inner and re.search(inner, name):
            name = re.sub(inner, "", name)
    return name.split("::")[-1].split()[0] if name.split() else name


def main():
    root, source, entered, reached, others = sys.argv[1], None, 0, 0, []

    def tell():
        if source is None:
            return
        share = 100 * reached / entered if entered else 0
        print(f"{share:5.1f} % of {entered:4d} lines  {source}" + (f"; not entered: {', '.join(sorted(set(others)))}" if others else ""))

    for line in sys.stdin:
        if line.startswith("File '"):
            tell()
            source, entered, reached, others = line.split("'")[1].removeprefix(root + "/"), 0, 0, []
        # Name, regions (all, missed, share), lines (all, missed, share), branches.
        row = re.match(r"(.*?)\s+(\d+)\s+(\d+)\s+[\d.]+%\s+(\d+)\s+(\d+)\s+[\d.]+%", line)
        if not row or row[1].startswith("TOTAL"):
            continue
        lines, missed = int(row[4]), int(row[5])
        if missed == lines:
            others.append(short(row[1]))
        else:
            entered, reached = entered + lines, reached + lines - missed
    tell()


if __name__ == "__main__":
    main()
