"""python -m penstock_worker describe | serve | work N, with descriptors 3 (payload), 4 (lifeline), 5 (socket or rows).
"""

import os
import sys

from penstock_worker import process

PAYLOAD, LIFELINE, LAST = 3, 4, 5


def main(words: list[str]) -> None:
    process.prepare(LIFELINE)
    payload = os.pread(PAYLOAD, os.fstat(PAYLOAD).st_size, 0).decode()
    if words[0] == "work":
        process.work(payload, LAST, int(words[1]))
    elif words[0] == "describe":
        process.answer(LAST, process.description(payload))
    else:
        from penstock_worker import server

        server.serve(payload, LAST)


if __name__ == "__main__":
    main(sys.argv[1:])
