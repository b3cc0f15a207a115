"""What all peers share: the matched work, and how they speak with the driver.

A peer sets itself up and warms up, then prints {"ready": true, "peer": ..., "version": ...}. For
every line with a number of seconds on stdin it runs whole iterations (rollout and update) for at
least that long and prints {"rate": samples per second}. It ends when stdin ends. Between its turns
it waits in a read, so that the others have the machine for themselves.
"""
import argparse
import json
import os
import sys
import time

STEPS = 128  # T: steps of each env in a rollout
EPOCHS = 4
LEARNING_RATE = 1e-3
GAMMA = 0.99
GAE_LAMBDA = 0.95
CLIP = 0.2
VALUE_WEIGHT = 0.5
MAX_GRAD_NORM = 0.5

# Libraries greet and draw on stdout. The driver gets a stdout of its own, they get stderr.
_driver = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--num-envs", type=int, required=True)
    parser.add_argument("--minibatch", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--backend", default="")
    return parser.parse_args()


def window(iterate, samples, seconds):
    """Samples per second of whole iterations that last `seconds` or a little longer."""
    start = time.perf_counter()
    count = 0
    while True:
        iterate()
        count += 1
        elapsed = time.perf_counter() - start
        if elapsed >= seconds:
            return count * samples / elapsed


def pick_torch_threads(iterate, threads):
    """Sets the faster of one and `threads` intra-op threads, and says which.

    On matrices this small more threads often lose: a peer should not be slow by our choice.
    """
    import torch

    torch.set_num_threads(1)
    iterate()
    best = {1: 0.0}
    if threads > 1:
        for count in (1, threads) * 2:
            torch.set_num_threads(count)
            best[count] = max(best.get(count, 0.0), window(iterate, 1, 0.7))
    chosen = max(best, key=best.get)
    torch.set_num_threads(chosen)
    return f"{chosen} torch thread{'s' if chosen > 1 else ''}"


def serve(peer, version, iterate, samples, setting=""):
    """Answers the driver until it hangs up. `samples`: what one iteration is worth."""
    for _ in range(2):
        iterate()
    _say({"ready": True, "peer": peer, "version": version, "setting": setting})
    for line in sys.stdin:
        _say({"rate": window(iterate, samples, float(line))})
    os._exit(0)  # some libraries leave threads behind that never end


def _say(reply):
    _driver.write(json.dumps(reply) + "\n")
    _driver.flush()
