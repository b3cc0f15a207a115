#!/usr/bin/env python3
"""Says which links of the Markdown pages lead nowhere, and which docs/*.md that a source names do not exist.

    tests/lint/links.py [ROOT]
"""

import pathlib
import re
import sys

FOLDERS = ("docs", "bench", "cmake", "deploy", "examples", "include", "python", "recipes", "src", "tests")
SOURCES = {".h", ".cpp", ".py", ".toml", ".cmake"}
OURS = {"tests/lint/links.py", "tests/lint/links_test.py"}
LINK = re.compile(r"\]\(([^)\s]+)\)")
NAMED = re.compile(r"\bdocs/[\w./-]+\.md\b")
BLOCK = re.compile(r"```.*?```", re.S)


def anchors(text):
    """The fragments of a page's headings, as GitHub makes them."""
    heads = re.findall(r"^#+ (.+)$", BLOCK.sub("", text), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def line_of(text, place):
    return text.count("\n", 0, place) + 1


def page_faults(root, page):
    text = (root / page).read_text()
    prose = BLOCK.sub(lambda block: "\n" * block.group().count("\n"), text)
    for link in LINK.finditer(prose):
        target, _, fragment = link.group(1).partition("#")
        if "://" in target:
            continue
        path = (root / page).parent / target if target else root / page
        where = f"{page}:{line_of(prose, link.start())}"
        if not path.exists():
            yield f"{where}: no such file: {target}"
        elif fragment and path.suffix == ".md" and fragment not in anchors(path.read_text()):
            yield f"{where}: no such heading: {link.group(1)}"


def name_faults(root, source):
    text = (root / source).read_text()
    for name in NAMED.finditer(text):
        if not (root / name.group()).exists():
            yield f"{source}:{line_of(text, name.start())}: no such page: {name.group()}"


def files(root):
    yield from sorted(root.glob("*.md"))
    for folder in FOLDERS:
        yield from sorted(path for path in (root / folder).rglob("*") if path.is_file())


def faults(root):
    found = []
    for path in files(root):
        name = str(path.relative_to(root))
        if path.suffix == ".md":
            found += page_faults(root, name)
        elif path.suffix in SOURCES and name not in OURS:
            found += name_faults(root, name)
    return found


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    found = faults(root.resolve())
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
