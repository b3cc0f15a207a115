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


def descendants(pid):
    """pids below that one, by depth; zombies are not alive."""
    all_of_them = parents()
    levels, now = [], [pid]
    while now:
        now = [child for child, (parent, state, _) in all_of_them.items() if parent in now and state != "Z"]
        if now:
            levels.append(now)
    return levels


def workers(pid=None):
    """Workers are forked by a server, which is a child."""
    levels = descendants(os.getpid() if pid is None else pid)
    return sorted(levels[1]) if len(levels) > 1 else []


def wait_until(condition, seconds=10):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.005)
