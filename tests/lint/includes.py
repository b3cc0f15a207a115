#!/usr/bin/env python3
"""Holds the #include lines of include/penstock and src against the graph of modules and four rules between groups.

    tests/lint/includes.py [ROOT]           the faults of a tree
    tests/lint/includes.py --table [ROOT]   the modules as a table of Markdown, for docs/architecture.md

The graph is read from cmake/PenstockModules.cmake, the one place where it is written.
"""
import pathlib
import re
import sys

GRAPH = "cmake/PenstockModules.cmake"
# Group -> the groups that it may include beside itself.
RULES = {
    "core": set(),
    "tools": {"core"},
    "envs": {"core", "tools"},
    "domains": {"core", "tools"},  # and no domain includes another
    "app": {"core", "tools", "envs", "domains"},
}
# Headers that stand before the modules, for users -> the module whose includes are theirs; None: every module's.
DOORS = {"penstock.h": None, "act.h": "core/act"}
TORCH_IN_PUBLIC_HEADERS = {"ATen/core/Tensor.h"}  # the light one

CALL = re.compile(r'^penstock_module\(([a-z0-9_/]+)((?:\s+[A-Z]+)*)\s+"([^"]*)"([^)]*)\)', re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
TORCH = re.compile(r"^(torch|ATen|c10|caffe2)/")


class Module:
    """A line of the graph: what a module holds and what it may include."""

    def __init__(self, folder, flags, holds, arguments):
        self.folder, self.holds, self.torch = folder, holds, "TORCH" in flags
        self.apart = "APART" in flags or "LEAN" in flags  # what users have is compiled source by source
        self.target = "_".join(folder.split("/")[1:])
        public = arguments.split("PRIVATE_DEPENDS")[0]
        self.depends = re.findall(r"penstock::(\w+)", public)
        self.includes = {folder}  # closed by read_graph()


def read_graph(root):
    """Folder -> Module, with the arrows closed. Modules come after what they depend on."""
    modules = [Module(*match) for match in CALL.findall((root / GRAPH).read_text())]
    targets = {}
    for module in modules:
        for name in module.depends:
            if name not in targets:
                sys.exit(f"{GRAPH}: {module.folder} depends on penstock::{name}, which does not stand above it")
            module.includes |= targets[name].includes
        targets[module.target] = module
    return {module.folder: module for module in modules}


def module_of(path, graph):
    """The folder of the deepest module that holds a path like core/base/errors.h."""
    folder = path.rpartition("/")[0]
    while folder and folder not in graph:
        folder = folder.rpartition("/")[0]
    return folder


def across(here, there):
    """What the four rules say against an include between two folders, or None."""
    group, target = here.split("/")[0], there.split("/")[0]
    if group != target:
        return None if target in RULES[group] else f"{group} may not include {target}"
    if group == "domains" and here.split("/")[1] != there.split("/")[1]:
        return "a domain may not include another"
    return None


def fault(module, public, include, graph):
    """What is wrong with this line of that module, or None."""
    if TORCH.match(include):
        if not module.torch:
            return f"{module.folder} is torch-free"
        if public and include not in TORCH_IN_PUBLIC_HEADERS:
            return f"a public header may include of torch only {min(TORCH_IN_PUBLIC_HEADERS)}"
        return None
    ours = include.startswith("penstock/")
    path = include.removeprefix("penstock/")
    if not ours and path.split("/")[0] not in RULES:
        return None
    if ours and "/" not in path:
        return None if path == "version.h" else "the front door is for users; include what is meant"
    target = module_of(path, graph)
    if not target:
        return f"no module for it in {GRAPH}"
    if not ours and target != module.folder:
        return f"a private header of {target}"
    if target in module.includes:
        return None
    return across(module.folder, target) or f"{module.folder} may not include {target}: no such arrow in {GRAPH}"


def faults(root):
    """Every fault of a tree, as 'file:line: include: why'."""
    graph, found = read_graph(root), []
    for module in graph.values():
        for folder in module.includes:
            why = across(module.folder, folder)
            if why:
                found.append(f"{GRAPH}:1: {module.folder} depends on {folder}: {why}")
    for base in (root / "include" / "penstock", root / "src"):
        for path in sorted(f for f in base.rglob("*") if f.suffix in (".h", ".cpp")):
            inside, where = path.relative_to(base).as_posix(), path.relative_to(root)
            if inside in ("app/main.cpp", "app/full.cpp") or inside in DOORS:  # they join the modules
                continue
            folder = module_of(inside, graph)
            if not folder:
                found.append(f"{where}:1: no module for it in {GRAPH}")
                continue
            text = path.read_text()
            for match in INCLUDE.finditer(text):
                why = fault(graph[folder], base.name == "penstock", match[1], graph)
                if why:
                    line = text.count("\n", 0, match.start(1)) + 1
                    found.append(f"{where}:{line}: {match[1]}: {why}")
    return found


def door_faults(root):
    """What a door lets in that it must not: headers of torch, by whatever way, and modules beyond its own."""
    graph, found, folder = read_graph(root), [], root / "include" / "penstock"
    for door, owner in DOORS.items():
        seen, left = set(), [door] if (folder / door).exists() else []
        while left:
            name = left.pop()
            seen.add(name)
            for include in INCLUDE.findall((folder / name).read_text()):
                path = include.removeprefix("penstock/")
                if TORCH.match(include):
                    found.append(f"include/penstock/{name}:1: {include}: penstock/{door} lets no header of torch in")
                elif include.startswith("penstock/") and path not in seen and (folder / path).exists():
                    left.append(path)
        modules = {module_of(name, graph) for name in seen if name not in DOORS}
        for module in sorted(modules - graph[owner].includes if owner in graph else ()):
            found.append(f"include/penstock/{door}:1: it is for {owner} alone, and includes {module}")
    return sorted(set(found))


def links_torch(module, graph):
    return any(graph[folder].torch for folder in module.includes)


def table(root):
    """The graph as Markdown."""
    graph = read_graph(root)
    lines = ["| Module | Holds | Uses | Torch |", "|---|---|---|---|"]
    folders = {module.target: module.folder for module in graph.values()}
    for module in graph.values():
        uses = ", ".join(f"`{folders[name]}`" for name in module.depends)
        torch = "yes" if module.torch else "links it" if links_torch(module, graph) else "no"
        lines.append(f"| `{module.folder}` | {module.holds} | {uses} | {torch} |")
    return "\n".join(lines)


def doc_faults(root):
    """Whether docs/architecture.md shows today's graph."""
    doc = root / "docs" / "architecture.md"
    if doc.exists() and table(root) not in doc.read_text():
        return ["docs/architecture.md:1: the table of modules is not that of the graph; run scripts/gen-module-docs"]
    return []


def main():
    arguments = [a for a in sys.argv[1:] if a != "--table"]
    root = pathlib.Path(arguments[0] if arguments else __file__).resolve()
    root = root if root.is_dir() else root.parents[2]
    if "--table" in sys.argv:
        print(table(root))
        return
    found = faults(root) + door_faults(root) + doc_faults(root)
    for line in found:
        print(line)
    print(f"includes: {len(found)} faults")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
