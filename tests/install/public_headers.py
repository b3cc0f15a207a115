"""The public headers, by whether their modules link libtorch; the graph of modules says so."""
import sys

from support import SOURCE

sys.path.insert(0, str(SOURCE / "tests" / "lint"))
import includes  # noqa: E402


def public_headers(torch):
    """Public headers of the modules that link libtorch, or of those that do not."""
    graph = includes.read_graph(SOURCE)
    root = SOURCE / "include"
    for path in sorted((root / "penstock").rglob("*.h")):
        folder = includes.module_of(path.relative_to(root / "penstock").as_posix(), graph)
        links = path.name == "penstock.h" if not folder else includes.links_torch(graph[folder], graph)
        if links == torch:
            yield path.relative_to(root).as_posix()
