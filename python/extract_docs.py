#!/usr/bin/env python3
"""Turns the comments of headers into string constants, for docstrings.

    extract_docs.py OUTPUT HEADER...

A `///` block before a class, struct, alias, function or method becomes docs::Name or docs::Class_name, and so does the
trailing comment of a struct's field. A name that a binding uses and no header explains does not compile.
"""
import pathlib
import re
import sys

TYPE = re.compile(r"^(?:class|struct|enum class) (?:alignas\(\d+\) )?(\w+)[^;]*$")
ALIAS = re.compile(r"^using (\w+) =")
FUNCTION = re.compile(r"(\w+)\(")
FIELD = re.compile(r"(\w+)(?: = [^;]*)?;")
# What may stand before a parenthesis and names nothing.
KEYWORDS = {"alignas", "concept", "decltype", "default", "delete", "explicit", "noexcept", "operator", "requires", "sizeof",
            "static_assert", "template"}


def name_of(line):
    """What a declaration declares, or None."""
    line = line.strip()
    found = TYPE.match(line) or ALIAS.match(line) or FUNCTION.search(line) or FIELD.search(line)
    return found[1] if found and found[1] not in KEYWORDS else None


def docs_of(lines):
    """(name, text) of everything that a header explains."""
    scope, block = "", []
    for line in lines:
        if line.startswith("};"):
            scope = ""
        text = line.strip()
        if text.startswith("///"):
            block.append(text[3:].strip())
            continue
        if not line.startswith(" ") and TYPE.match(text):
            scope = TYPE.match(text)[1]
            yield scope, block
        elif block and name_of(text):
            yield f"{scope}_{name_of(text)}" if scope else name_of(text), block
        elif scope and "  // " in text and name_of(text):
            yield f"{scope}_{name_of(text)}", [text.split("  // ", 1)[1]]
        block = []


def constants(headers):
    """Name -> text; the first of several overloads counts."""
    found = {}
    for header in headers:
        for name, block in docs_of(pathlib.Path(header).read_text().splitlines()):
            if block and name:
                found.setdefault(name, " ".join(block))
    return found


def main():
    output, headers = pathlib.Path(sys.argv[1]), sys.argv[2:]
    lines = [f'inline constexpr const char* {name} = R"doc({text})doc";'
             for name, text in sorted(constants(headers).items())]
    body = "\n".join(lines)
    output.write_text(f"#pragma once\n// Made by extract_docs.py.\nnamespace docs {{\n{body}\n}}  // namespace docs\n")


if __name__ == "__main__":
    main()
