"""python -m penstock_worker serve [spawn] | work N, with the descriptors that server.py names: the payload, the lifeline,
and a socket or the rows."""

import os
import sys

from penstock_worker import process
from penstock_worker.server import LAST, LIFELINE, PAYLOAD, serve


def main(words: list[str]) -> None:
    for descriptor in (PAYLOAD, LIFELINE, LAST):
        os.set_inheritable(descriptor, False)  # by programs that envs start
    process.prepare(LIFELINE)
    payload = os.pread(PAYLOAD, os.fstat(PAYLOAD).st_size, 0).decode()
    if words[0] == "work":
        process.work(payload, LAST, int(words[1]))
    else:
        serve(payload, LAST, LIFELINE, spawns="spawn" in words)


if __name__ == "__main__":
    main(sys.argv[1:])
