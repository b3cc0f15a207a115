#!/usr/bin/env python3
"""How long an update of a run over several processes takes: what is computed, what is said, and how often.

    scripts/scale_model.py                                     # the table of docs/scale.md
    scripts/scale_model.py --picture docs/images/scale.svg     # and its picture
    scripts/scale_model.py --env-us 5000 --envs-per-node 64 --cores 16 --parameters 1e6 --latency-us 200 --gbit 1
    scripts/scale_model.py --actors [--picture docs/images/actors.svg]      # one learner, nodes of actors on Ray that feed it

The constants are those of bench/reports/2026-11-17-ranks.md; bench/ranks/scale holds the model against real runs. It says nothing of how
well a run learns from larger batches. Those of --actors are of bench/reports/2026-11-18-ray.md.
"""

import argparse
import dataclasses
import math

SEGMENT_S, LONGEST_SEGMENT_S, SHARE_OF_MESSAGES = 0.1, 1.0, 0.2  # src/core/train/trainer.cpp
HALVES_FROM_BYTES = 1 << 20  # src/core/ranks/tree_peers.cpp
FLOAT = 4
IN_FLIGHT = 2  # fragments of an actor, python/penstock/ray.py
STORE_MB = 600  # bench/reports/2026-11-18-ray.md
FIRST_WINDOW = 14_600  # bytes that TCP sends before it waits for the first answer, also after a pause


@dataclasses.dataclass(frozen=True)
class Work:
    """What a run computes; seconds of one core."""

    envs: int
    steps: int  # of each env in a rollout
    epochs: int
    minibatches: int  # of an epoch
    parameters: float
    env_s: float  # a step
    waits: bool  # in a step: for somebody else, so that cores do not limit it
    infer_s: float  # a row
    gradient_s: float  # a row, each time it is learnt
    adam_s: float  # a minibatch, on every process

    @property
    def rows(self):
        return self.envs * self.steps


@dataclasses.dataclass(frozen=True)
class Network:
    latency_s: float  # from the call here to the answer to it there
    bytes_per_s: float
    take_s: float = 20e-6  # of rank 0, to take one message of many


@dataclasses.dataclass(frozen=True)
class Place:
    ranks: int
    threads: int = 1  # of each
    cores: float = math.inf  # of all, where several processes share a machine

    @property
    def levels(self):
        return math.ceil(math.log2(self.ranks))

    @property
    def computing(self):
        return min(self.ranks * self.threads, self.cores)


def exchange_s(size, network, place):
    """The sum of a gradient over all processes (TreePeers::sum_all)."""
    once = network.latency_s + size / network.bytes_per_s
    if place.ranks.bit_count() != 1:
        return 2 * place.levels * once
    if place.ranks > 2 and size >= HALVES_FROM_BYTES:
        return 2 * place.levels * network.latency_s + 2 * (1 - 1 / place.ranks) * size / network.bytes_per_s
    return place.levels * once


def slow_start_s(size, network, place):
    """TCP forgets a connection's speed while envs step, and doubles what it sends with each round trip: once an update, at each level."""
    windows = min(size, network.bytes_per_s * 2 * network.latency_s) / FIRST_WINDOW
    return place.levels * max(0, math.ceil(math.log2(1 + windows)) - 1) * 2 * network.latency_s


def merge_s(network, place):
    """Moments over all processes (TreePeers::merge)."""
    return (1 if place.ranks.bit_count() == 1 else 2) * place.levels * network.latency_s


def gather_s(network, place):
    """Something small of everybody to rank 0, which takes one after the other."""
    return network.latency_s + (place.ranks - 1) * network.take_s


def sampling_s(work, network, place):
    rows = work.rows
    stepping = rows * work.env_s / (place.ranks * place.threads if work.waits else place.computing)
    computing = stepping + rows * work.infer_s / place.computing
    if place.ranks == 1:
        return computing
    # Whether to stop, how far to go, whether all have come there: two words down the tree, two over it; then what went wrong.
    words = 4 * place.levels * network.latency_s + (place.ranks - 1) * network.take_s
    segment = min(max(words / SHARE_OF_MESSAGES, SEGMENT_S), LONGEST_SEGMENT_S)
    return computing + words * math.ceil(computing / segment)


def learning_s(work, network, place):
    minibatch = work.rows / work.minibatches * work.gradient_s / place.computing
    # Adam is everywhere the same: where processes share cores, each has its turn.
    adam = work.adam_s * max(1, place.ranks / place.cores)
    if place.ranks == 1:
        return work.epochs * work.minibatches * (minibatch + adam)
    down = place.levels * network.latency_s
    minibatch += adam + exchange_s(work.parameters * FLOAT, network, place)
    # Episodes are asked for and come; the update is announced; its losses are summed, how well values fit is; weights are compared.
    summed = 2 * merge_s(network, place)
    around = down + gather_s(network, place) + down + summed + down + gather_s(network, place)
    around += slow_start_s(work.parameters * FLOAT, network, place)
    return work.epochs * (merge_s(network, place) + work.minibatches * minibatch) + around


def update_s(work, network, place):
    return sampling_s(work, network, place) + learning_s(work, network, place)


def share(work, network, place):
    """Steps per second over those of as many machines that know nothing of each other."""
    alone = dataclasses.replace(work, envs=work.envs // place.ranks)
    one = Place(1, place.threads, place.threads)
    return update_s(alone, network, one) / update_s(work, network, place)


@dataclasses.dataclass(frozen=True)
class Intake:
    """What a learner of its own node takes from nodes of actors."""

    row_bytes: float
    store_bytes_per_s: float  # out of the object store and into a fragment

    def rates(self, work, network, nodes, cores, learner_cores):
        """Rows a second that actors could sample, the network and the store could carry, and the learner could learn."""
        carried = 1 / max(self.row_bytes / network.bytes_per_s, self.row_bytes / self.store_bytes_per_s)
        update = work.rows * work.epochs * work.gradient_s / learner_cores + work.epochs * work.minibatches * work.adam_s
        update += work.rows * work.infer_s / learner_cores  # rows of older versions are judged anew
        update += nodes * work.parameters * FLOAT / network.bytes_per_s  # a version to each node
        return {"actors": nodes * cores / (work.env_s + work.infer_s), "carrying": carried, "learner": work.rows / update}


def lag(rates):
    """Versions: where actors are not what limits, all that they were asked for waits its turn."""
    return 1 if min(rates, key=rates.get) == "actors" else IN_FLIGHT


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", default="1,2,8,64,256,1024")
    parser.add_argument("--cores", type=int, default=16, help="of a node")
    parser.add_argument("--envs-per-node", type=int, default=100)
    parser.add_argument("--steps", type=int, default=64, help="of each env in a rollout")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--minibatches", type=int, default=8, help="of an epoch")
    parser.add_argument("--parameters", type=float, action="append", help="of the network; may be given again")
    parser.add_argument("--env-us", type=float, action="append", help="of a step; may be given again")
    parser.add_argument("--infer-us", type=float, default=0.4, help="of a row")
    parser.add_argument("--gradient-us", type=float, default=1.2, help="of a row, each time it is learnt")
    parser.add_argument("--adam-us", type=float, default=20, help="of a minibatch")
    parser.add_argument("--latency-us", type=float, default=60)
    parser.add_argument("--gbit", type=float, default=10, help="of the network")
    parser.add_argument("--actors", action="store_true", help="one learner and nodes of actors, instead of nodes in step")
    parser.add_argument("--row-bytes", type=float, default=58, help="of a row that an actor sends")
    parser.add_argument("--store-mb", type=float, default=STORE_MB, help="a second that the learner takes from Ray's object store")
    parser.add_argument("--picture", help="a file to draw it into (needs matplotlib)")
    args = parser.parse_args()
    args.parameters = args.parameters or [5_000, 1_000_000]
    args.env_us = args.env_us or [0.02, 10, 1_000, 10_000]
    args.ranks = [int(word) for word in args.ranks.split(",")]
    return args


def work_of(args, ranks, parameters, env_us):
    larger = parameters / 5_000  # arithmetic grows with the network
    return Work(envs=args.envs_per_node * ranks, steps=args.steps, epochs=args.epochs, minibatches=args.minibatches, parameters=parameters,
                env_s=env_us * 1e-6, waits=False, infer_s=args.infer_us * 1e-6 * larger, gradient_s=args.gradient_us * 1e-6 * larger,
                adam_s=args.adam_us * 1e-6 * larger)


def curves(args):
    """{(parameters, env_us): [share by number of nodes]}."""
    network = Network(args.latency_us * 1e-6, args.gbit * 1e9 / 8)
    return {(parameters, env_us): [share(work_of(args, ranks, parameters, env_us), network,
                                         Place(ranks, args.cores, ranks * args.cores)) for ranks in args.ranks]
            for parameters in args.parameters for env_us in args.env_us}


def fed(args):
    """{(parameters, env_us): [rates by number of nodes of actors]}; the learner has a node of its own."""
    network = Network(args.latency_us * 1e-6, args.gbit * 1e9 / 8)
    intake = Intake(args.row_bytes, args.store_mb * 1e6)
    return {(parameters, env_us): [intake.rates(work_of(args, nodes, parameters, env_us), network, nodes, args.cores, args.cores)
                                   for nodes in args.ranks] for parameters in args.parameters for env_us in args.env_us}


def print_fed(args, found):
    print("Thousands of rows a second, what limits them (a(ctors), c(arrying), l(earner)), and the lag in versions.\n")
    print("| parameters | a step | " + " | ".join(f"{nodes:,}" for nodes in args.ranks) + " |")
    print("|---|---|" + "---|" * len(args.ranks))
    for (parameters, env_us), all_rates in found.items():
        cells = [f"{min(rates.values()) / 1e3:,.1f} {min(rates, key=rates.get)[0]} {lag(rates)}" for rates in all_rates]
        print(f"| {parameters:,.0f} | {step_text(env_us)} | " + " | ".join(cells) + " |")


def draw(args, found):
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(args.parameters), figsize=(5.2 * len(args.parameters), 3.8), sharey=True, squeeze=False)
    for axis, parameters in zip(axes[0], args.parameters):
        for env_us in args.env_us:
            values = found[parameters, env_us]
            if args.actors:
                values = [min(rates.values()) for rates in values]
            axis.plot(args.ranks, values, marker="o", markersize=4, label=step_text(env_us))
        axis.set(xscale="log", xlabel="nodes of actors" if args.actors else "nodes", title=f"{parameters:,.0f} parameters")
        axis.set(yscale="log") if args.actors else axis.set(ylim=(0, 1.05))
        axis.set_xticks(args.ranks, [f"{ranks:,}" for ranks in args.ranks])
        axis.minorticks_off()
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("rows a second" if args.actors else "of perfect")
    axes[0][-1].legend(title="a step of the env", fontsize="small")
    figure.tight_layout()
    plt.rcParams["svg.hashsalt"] = "penstock"
    figure.savefig(args.picture, metadata={"Date": None})


def step_text(env_us):
    return f"{env_us * 1e3:g} ns" if env_us < 1 else f"{env_us:g} µs" if env_us < 1_000 else f"{env_us / 1e3:g} ms"


def main():
    args = parse()
    found = fed(args) if args.actors else curves(args)
    if args.actors:
        print_fed(args, found)
        if args.picture:
            draw(args, found)
        return
    print("| parameters | a step | " + " | ".join(f"{ranks:,}" for ranks in args.ranks) + " |")
    print("|---|---|" + "---|" * len(args.ranks))
    for (parameters, env_us), shares in found.items():
        print(f"| {parameters:,.0f} | {step_text(env_us)} | " + " | ".join(f"{each:.2f}" for each in shares) + " |")
    if args.picture:
        draw(args, found)


if __name__ == "__main__":
    main()
