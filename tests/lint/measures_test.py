#!/usr/bin/env python3
"""measures.py against trees that keep its bounds, and trees that break one each."""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import measures  # noqa: E402

GOOD = {"src/core/a.cpp": "int a();\n" * 100, "include/a.h": "int a();  // what it is\n" * 10,
        "tests/a_test.cpp": "check();\n" * 80}
BAD = {"static_cast": {"src/core/b.cpp": "f(static_cast<int>(x));\n" * 5},
       "comments": {"include/b.h": "int b();\n" * 20},
       "tests": {"tests/a_test.cpp": "// nothing is checked\n" * 80},
       "folders": {f"src/{name}/c.cpp": "int c();\n" for name in "abcdefgh"}}


def broken(files):
    """The measures whose bounds a tree breaks."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return [what for what, _, kept, _ in measures.measures(root) if not kept]


def main():
    assert broken(GOOD) == [], broken(GOOD)
    for what, files in BAD.items():
        found = broken({**GOOD, **files})
        assert len(found) == 1 and what in found[0], (what, found)
    print(f"measures.py finds {len(BAD)} kinds of faults")


if __name__ == "__main__":
    main()
