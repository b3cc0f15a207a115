"""What the tests ask the system about processes."""

import os
import pathlib
import time


def parents():
    """pid -> (pid of the parent, state, command line), of everything that runs here."""
    found = {}
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text().rsplit(")", 1)[1].split()
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            found[int(folder.name)] = (int(stat[1]), stat[0], command)
    return found


def below(pid=None):
    """All living processes below that one, or below this one."""
    all_of_them = parents()
    found, now = set(), {os.getpid() if pid is None else pid}
    while now:
        now = {child for child, (parent, state, _) in all_of_them.items() if parent in now and state != "Z"}
        found |= now
    return found


def servers():
    """Children of this process that fork workers."""
    return [pid for pid, (parent, state, command) in parents().items()
            if parent == os.getpid() and state != "Z" and "penstock_worker serve" in command]


def workers():
    """What those servers have forked."""
    forking = servers()
    return sorted(pid for pid, (parent, state, _) in parents().items() if parent in forking and state != "Z")


def wait_until(condition, seconds=10):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.005)
