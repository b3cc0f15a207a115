#!/usr/bin/env python3
"""Holds the #include lines of include/penstock and src against the module DAG.

    tests/lint/includes.py [ROOT]
"""
import pathlib
import re
import sys

# Module -> what it may include beside itself. The same arrows as in CMakeLists.txt.
DAG = {
    "base": set(),
    "env": {"base"},
    "classic": {"env", "base"},
    "cage2": {"env", "base"},
    "routing": {"env", "base"},
    "routing_offer": {"routing", "env", "base"},
    "routing_nn": {"routing", "fused", "store", "env", "base"},
    "store": {"base"},
    "fused": {"base"},
    "procs": {"env", "base"},
    "search": {"base"},
    "page": {"base"},
    "nn": {"fused", "env", "base"},
    "rollout": {"fused", "nn", "env", "base"},
    "algo": {"fused", "rollout", "nn", "env", "base"},
    "train": {"fused", "algo", "rollout", "nn", "env", "store", "base"},
    "cage2_train": {"cage2", "fused", "train", "algo", "rollout", "nn", "env", "store", "base"},
    # Torch-free all the same: of cage2_train it includes the header alone.
    "cage2_search": {"page", "cage2", "cage2_train", "search", "fused", "train", "algo", "rollout", "nn", "env", "store", "base"},
    "cage2_cli": {"page", "cage2", "cage2_search", "cage2_train", "search", "fused", "train", "algo", "rollout", "nn", "env",
                  "store", "base"},
    "routing_train": {"routing", "fused", "train", "algo", "rollout", "nn", "env", "store", "base"},
    # Torch-free too: of routing_train it includes what was measured.
    "routing_report": {"page", "routing", "routing_train", "fused", "train", "algo", "rollout", "nn", "env", "store",
                       "base"},
    "routing_nn_train": {"routing", "routing_nn", "fused", "train", "algo", "rollout", "nn", "env", "store", "base"},
    "dvrptw_cli": {"page", "routing", "routing_nn", "routing_nn_train", "routing_offer", "routing_report", "routing_train", "fused", "train", "algo", "rollout", "nn", "env", "store", "base"},
    "catalog": {"fused", "classic", "cage2", "cage2_search", "cage2_train", "cage2_cli", "routing", "routing_offer",
                "routing_nn", "routing_nn_train", "routing_train", "routing_report", "page", "dvrptw_cli", "search", "procs", "train", "algo", "rollout", "nn", "env", "store", "base"},
    "cli": {"fused", "train", "algo", "rollout", "nn", "env", "store", "base"},
    "main": {"cli", "catalog"},  # src/main.cpp, which joins them
}
TORCH_FREE = {"base", "env", "classic", "cage2", "routing", "routing_nn", "routing_offer", "store", "fused", "procs", "search",
              "page", "cage2_search", "routing_report", "main"}
TORCH_IN_PUBLIC_HEADERS = {"ATen/core/Tensor.h"}  # the light one

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
TORCH = re.compile(r"^(torch|ATen|c10|caffe2)/")


def module_of(path, root):
    """The module that a file belongs to."""
    parts = path.relative_to(root).parts
    if parts == ("src", "main.cpp"):
        return "main"
    return parts[2] if parts[0] == "include" else parts[1]


def fault(module, public, include):
    """What is wrong with this line of that module, or None."""
    if TORCH.match(include):
        if module in TORCH_FREE:
            return f"{module} is torch-free"
        if public and include not in TORCH_IN_PUBLIC_HEADERS:
            return f"a public header may include of torch only {min(TORCH_IN_PUBLIC_HEADERS)}"
        return None
    parts = include.split("/")
    if parts[0] == "penstock":
        target = parts[1] if len(parts) > 2 else "?"
        if target not in DAG:
            return f"no module '{target}' in the table of tests/lint/includes.py"
        if target != module and target not in DAG[module]:
            return f"{module} may not include {target}"
    elif parts[0] in DAG and parts[0] != module:
        return f"a private header of {parts[0]}"
    return None


def faults(root):
    """Every fault of a tree, as 'file:line: include: why'."""
    found = []
    files = [*root.glob("include/penstock/**/*"), *root.glob("src/**/*")]
    for path in sorted(f for f in files if f.suffix in (".h", ".cpp")):
        module = module_of(path, root)
        where = path.relative_to(root)
        if module not in DAG:
            found.append(f"{where}:1: no module '{module}' in the table of tests/lint/includes.py")
            continue
        text = path.read_text()
        for match in INCLUDE.finditer(text):
            why = fault(module, where.parts[0] == "include", match[1])
            if why:
                line = text.count("\n", 0, match.start(1)) + 1
                found.append(f"{where}:{line}: {match[1]}: {why}")
    return found


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    root = root if root.is_dir() else root.parents[2]
    found = faults(root)
    for line in found:
        print(line)
    print(f"includes: {len(found)} faults")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
