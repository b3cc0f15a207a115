"""Several processes of one run, as a launcher starts them."""

import json
import socket
import subprocess


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Ranks:
    """Started together; all are over when the block is left."""

    def __init__(self, penstock, size, *args, each=lambda rank: (), **env):
        port = free_port()
        self.processes = [
            subprocess.Popen([penstock.exe, *map(str, [*args, *each(rank)])], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             stdin=subprocess.DEVNULL,
                             env=penstock.environment(RANK=str(rank), WORLD_SIZE=str(size), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), **env))
            for rank in range(size)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.communicate()

    def __getitem__(self, rank):
        return self.processes[rank]

    def ends(self, timeout=180):
        """(exit code, stdout, stderr) of each."""
        told = [process.communicate(timeout=timeout) for process in self.processes]
        return [(process.returncode, *texts) for process, texts in zip(self.processes, told)]


def finish(ranks, code=0):
    """Rank 0's line of JSON; the others say nothing."""
    ends = ranks.ends()
    assert [end[0] for end in ends] == [code] * len(ends), ends
    assert all(out == "" for _, out, _ in ends[1:]), ends
    return json.loads(ends[0][1].splitlines()[-1])


def train(penstock, size, *args, **kwargs):
    with Ranks(penstock, size, *args, "--json", **kwargs) as ranks:
        return finish(ranks)
