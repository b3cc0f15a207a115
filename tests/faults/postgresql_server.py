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
        self.url = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def command(self, program, *args):
        user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        return [*user, str(PROGRAMS[-1] / program), *map(str, args)]

    def start(self):
        if os.getuid() == 0:
            shutil.chown(self.folder, "postgres")
        data = self.folder / "data"
        subprocess.run(self.command("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale"),
                       check=True, stdout=subprocess.DEVNULL, cwd="/")
        with open(self.folder / "log", "w") as log:
            subprocess.run(self.command("pg_ctl", "-D", data, "-w", "-t", 60, "-l", self.folder / "server.log", "-o",
                                        f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=", "start"),
                           check=True, stdout=log, stderr=log, cwd="/")
        self.pid = int((data / "postmaster.pid").read_text().split()[0])

    def end(self):
        if hasattr(self, "pid"):
            os.kill(self.pid, signal.SIGINT)  # its fast shutdown
            wait_until(lambda: not pathlib.Path(f"/proc/{self.pid}").exists(), 60)


@contextlib.contextmanager
def postgresql_server():
    with tempfile.TemporaryDirectory(prefix="penstock-postgresql-") as folder:
        server = PostgresqlServer(folder)
        try:
            server.start()
            yield server
        finally:
            server.end()
