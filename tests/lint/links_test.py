"""The link lint can fail: each kind of fault, in a tree of its own."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import links  # noqa: E402


def faults_of(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return links.faults(root)


class Links(unittest.TestCase):
    def test_links_that_resolve_are_fine(self):
        self.assertEqual([], faults_of({
            "README.md": "[a](docs/a.md#one-two) [b](#here) [c](https://example.org/x.md)\n\n# Here\n",
            "docs/a.md": "# One, two\n\n[up](../README.md)\n",
            "src/x.cpp": "// docs/a.md tells\n",
        }))

    def test_a_missing_file_is_named_with_its_line(self):
        self.assertEqual(["README.md:2: no such file: docs/b.md"], faults_of({"README.md": "x\n[a](docs/b.md)\n"}))

    def test_a_missing_heading_is_named(self):
        self.assertEqual(["README.md:1: no such heading: docs/a.md#two"],
                         faults_of({"README.md": "[a](docs/a.md#two)\n", "docs/a.md": "# One\n"}))

    def test_blocks_of_code_hold_neither_links_nor_headings(self):
        self.assertEqual([], faults_of({"README.md": "```\n[a](b.md)\n# c\n```\n"}))

    def test_a_source_that_names_a_missing_page_is_named(self):
        self.assertEqual(["include/x.h:2: no such page: docs/old.md"],
                         faults_of({"include/x.h": "#pragma once\n/// See docs/old.md.\n"}))


if __name__ == "__main__":
    unittest.main()
