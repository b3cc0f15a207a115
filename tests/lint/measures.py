#!/usr/bin/env python3
"""Four measures of the tree, each with a bound that it must keep.

    tests/lint/measures.py [ROOT]

Lines are those that are neither blank nor a comment alone.
"""
import pathlib
import sys

CODE = ("src/**/*.cpp", "src/**/*.h", "include/**/*.h")
BINDINGS = ("python/**/*.py", "python/**/*.cpp", "python/**/*.h")
TESTS = ("tests/**/*.cpp", "tests/**/*.h", "tests/**/*.py")


def lines(root, patterns):
    """Stripped lines that are not blank, of all files that match."""
    return [line.strip() for pattern in patterns for path in sorted(root.glob(pattern))
            for line in path.read_text(errors="replace").splitlines() if line.strip()]


def is_comment(line):
    return line.startswith(("//", "# ", "#!"))


def measures(root):
    """(what, value, whether the bound is kept, the bound in words)."""
    code = lines(root, CODE)
    statements = [line for line in code if not is_comment(line)]
    casts = 1000 * sum(line.count("static_cast") for line in code) / len(statements)
    headers = lines(root, ("include/**/*.h",))
    bare = [line for line in headers if not is_comment(line)]
    comments = (len(headers) - len(bare) + sum("//" in line for line in bare)) / len(bare)
    tested = [line for line in lines(root, TESTS) if not is_comment(line)]
    whole = len(statements) + len([line for line in lines(root, BINDINGS) if not is_comment(line)])
    folders = len([path for path in (root / "src").iterdir() if path.is_dir()])
    return [("static_cast per 1,000 lines", casts, casts <= 12, "at most 12"),
            ("comments per line of public headers, those behind code too", comments, comments >= 0.35, "at least 0.35"),
            ("lines of tests per line of code", len(tested) / whole, len(tested) / whole >= 0.6, "at least 0.6"),
            ("folders of src", folders, folders <= 7, "at most 7")]


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    found = measures(root)
    for what, value, kept, bound in found:
        print(f"{what}: {value:.2f}, {bound}{'' if kept else ': BROKEN'}")
    sys.exit(0 if all(kept for _, _, kept, _ in found) else 1)


if __name__ == "__main__":
    main()
