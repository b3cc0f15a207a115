"""Fetches PufferLib's source package and patches it so that it builds offline and for the CPU.

As published, its setup.py downloads raylib and Box2D from a code host (for the browser and for
other envs), compiles every env it has, and switches to CUDA as soon as an `nvcc` is on the path.
Only its CartPole and its CPU kernel are needed here, and what those need is inside the package.
No line that runs in a measurement is changed.
"""
import hashlib
import pathlib
import re
import shutil
import urllib.request

VERSION = "3.0.0"
INDEX = "https://pypi.org/simple/pufferlib/"

# file: (text that must be there, what takes its place)
PATCHES = {
    "setup.py": [
        ("download_raylib('raylib-5.5_webassembly', '.zip')", "pass"),
        ("download_box2d('box2d-web')", "pass"),
        ("download_box2d(BOX2D_NAME)", "pass"),
        (
            "glob.glob('pufferlib/ocean/**/binding.c', recursive=True)",
            "['pufferlib/ocean/cartpole/binding.c']",
        ),
        ('shutil.which("nvcc")', "False"),
    ],
    "pufferlib/pufferl.py": [('shutil.which("nvcc") is not None', "False")],
}


def find_archive(index_html, version):
    """The address and SHA-256 of a version's source package on a page of a PyPI index."""
    name = re.escape(f"pufferlib-{version}.tar.gz")
    link = re.search(rf'href="([^"#]*/{name})#sha256=([0-9a-f]+)"', index_html)
    if not link:
        raise RuntimeError(f"{INDEX} lists no source package of pufferlib {version}")
    return link.groups()


def download(folder):
    """pip cannot be asked: `pip download` runs the unpatched setup.py to learn the name."""
    with urllib.request.urlopen(INDEX, timeout=60) as page:
        address, digest = find_archive(page.read().decode(), VERSION)
    with urllib.request.urlopen(address, timeout=300) as reply:
        content = reply.read()
    if hashlib.sha256(content).hexdigest() != digest:
        raise RuntimeError(f"{address} does not have the checksum of the index: try again")
    archive = folder / "pufferlib.tar.gz"
    archive.write_bytes(content)
    return archive


def patch(source, patches=PATCHES):
    """Replaces each text as listed; a package that changed is an error, not a silent miss."""
    for name, changes in patches.items():
        file = pathlib.Path(source) / name
        text = file.read_text()
        for old, new in changes:
            if old not in text:
                raise RuntimeError(f"pufferlib {VERSION}: {name} has no {old}; adapt {__file__}")
            text = text.replace(old, new)
        file.write_text(text)


def prepare(folder):
    """Downloads, unpacks and patches inside the folder; gives the source tree to hand to pip."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / f"pufferlib-{VERSION}"
    shutil.rmtree(source, ignore_errors=True)
    shutil.unpack_archive(download(folder), folder)
    patch(source)
    return source
