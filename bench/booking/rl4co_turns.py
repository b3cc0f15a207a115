#!/usr/bin/env python3
"""Greedy decoding of RL4CO's attention model and of the neural oracle, in turns, on one thread.

    rl4co_turns.py --penstock build/ci/penstock [--rounds 3] [--seconds 4]

Run it by a Python that has rl4co and a CPU build of torch. RL4CO decodes its CVRPTW with 30 customers (128 wide, 3 layers, 8
heads, untrained); the oracle days of 30 deliveries. Rates are instances per second of processor time: the machine may
be busy. A line of JSON per batch size; exit code 1 when the median factor at 64 or 256 is below 3.
"""
import argparse
import json
import statistics
import subprocess
import time
import warnings


def make_rl4co():
    """A function that decodes a batch for some seconds and tells the rate."""
    warnings.filterwarnings("ignore")
    import torch
    from rl4co.envs import CVRPTWEnv
    from rl4co.models.zoo.am import AttentionModelPolicy

    torch.set_num_threads(1)
    torch.manual_seed(0)
    env = CVRPTWEnv(generator_params={"num_loc": 30}, check_solution=False)
    policy = AttentionModelPolicy(env_name=env.name, embed_dim=128, num_encoder_layers=3, num_heads=8).eval()

    def rate(batch, seconds):
        start = env.reset(batch_size=[batch])
        with torch.inference_mode():
            policy(start.clone(), env, phase="test", decode_type="greedy")
            begin, count = time.process_time(), 0
            while time.process_time() - begin < seconds:
                policy(start.clone(), env, phase="test", decode_type="greedy")
                count += batch
            return count / (time.process_time() - begin)

    return rate


def penstock_rates(program, seconds):
    """By batch size, of deliveries."""
    done = subprocess.run([program, "dvrptw", "oracle", "eval", "--days", "0", "--questions", "0", "--threads", "1",
                           "--seconds", str(seconds), "--json"], capture_output=True, text=True, check=True)
    return {row["batch"]: row["per_second"] for row in json.loads(done.stdout)["speeds"] if row["mode"] == "deliver"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--penstock", default="build/ci/penstock")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4)
    args = parser.parse_args()
    rl4co = make_rl4co()
    ours, theirs = {}, {}
    for _ in range(args.rounds):
        for batch, rate in penstock_rates(args.penstock, args.seconds).items():
            ours.setdefault(batch, []).append(rate)
        for batch in (1, 64, 256):
            theirs.setdefault(batch, []).append(rl4co(batch, args.seconds))
    slow = []
    for batch in (1, 64, 256):
        ratios = [a / b for a, b in zip(ours[batch], theirs[batch])]
        print(json.dumps({"batch": batch, "penstock": round(statistics.median(ours[batch]), 1),
                          "rl4co": round(statistics.median(theirs[batch]), 1),
                          "ratios": [round(ratio, 2) for ratio in ratios]}), flush=True)
        if batch > 1 and statistics.median(ratios) < 3:
            slow.append(batch)
    if slow:
        raise SystemExit(f"below 3 times RL4CO at batch {slow}")


if __name__ == "__main__":
    main()
