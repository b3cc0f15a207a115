"""A PostgreSQL of its own on loopback: a temporary folder, an unprivileged user, nothing left when it is over."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

from processes import wait_until
from ranks import free_port

PROGRAMS = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))


def missing():
    """Why it cannot be started here, or None."""
    return None if PROGRAMS else "PostgreSQL is not installed: apt install postgresql"


class PostgresqlServer:
    """Its user is postgres when root starts it, who may not run it; else whoever starts it."""

    def __init__(self, folder):
        self.folder, self.port = pathlib.Path(folder), free_port()
        self.pid = None
        self.url = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def command(self, program, *args):
        user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        return [*user, str(PROGRAMS[-1] / program), *map(str, args)]

    def make(self):
        if os.getuid() == 0:
            shutil.chown(self.folder, "postgres")
        subprocess.run(self.command("initdb", "-D", self.folder / "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale"),
                       check=True, stdout=subprocess.DEVNULL, cwd="/")

    def start(self):
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories="
        subprocess.run(self.command("pg_ctl", "-D", self.folder / "data", "-w", "-t", 60, "-l", self.folder / "server.log", "-o", options,
                                    "start"), check=True, stdout=subprocess.DEVNULL, cwd="/")
        self.pid = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])

    def end(self):
        """Its fast shutdown: connections are cut."""
        if self.pid is not None:
            os.kill(self.pid, signal.SIGINT)
            wait_until(lambda: not pathlib.Path(f"/proc/{self.pid}").exists(), 60)
            self.pid = None


@contextlib.contextmanager
def postgresql_server():
    with tempfile.TemporaryDirectory(prefix="penstock-postgresql-") as folder:
        server = PostgresqlServer(folder)
        try:
            server.make()
            server.start()
            yield server
        finally:
            server.end()
