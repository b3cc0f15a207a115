"""python -m penstock_worker describe START_S STEP_S | serve | work N, with descriptors 3 (payload), 4 (lifeline),
5 (socket or rows)."""

import os
import socket
import sys

from penstock_worker import process

PAYLOAD, LIFELINE, LAST = 3, 4, 5


def main(words: list[str]) -> None:
    process.prepare(LIFELINE)
    payload = os.pread(PAYLOAD, os.fstat(PAYLOAD).st_size, 0).decode()
    if words[0] == "work":
        process.work(payload, LAST, int(words[1]))
        return
    from penstock_worker import server, trial

    if words[0] == "serve":
        server.serve(payload, LAST)
        return
    with socket.socket(fileno=LAST) as channel:
        channel.sendall(trial.describe(payload, trial.Deadlines(*map(float, words[1:])), LIFELINE).encode() + b"\n")


if __name__ == "__main__":
    main(sys.argv[1:])
