"""One run over several processes, each on a node of a network that delays, loses, damages, cuts and resets what they say.

PENSTOCK_TEST_LONG_CUTS=1 cuts it for 5 s where the run goes on (2), and for more than 60 s where it ends (10).
"""

import contextlib
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import time

import pytest
from processes import wait_until
from ranks import Ranks, finish

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from slow_link import BadNetwork, NoNetwork

LONG_CUTS = os.environ.get("PENSTOCK_TEST_LONG_CUTS") == "1"
SURVIVED_CUT_S = 5 if LONG_CUTS else 2
FATAL_CUT_S = 60 if LONG_CUTS else 10
PATIENCE = 180  # seconds: of a machine that has little time for us


def cartpole(updates):
    """Saves after each update."""
    return ["train", "--env", "cartpole", "--num-envs", 64, "--threads", 1, "--seed", 3, "--total-timesteps", 64 * 4 * updates,
            "--set", "rollout.shards=4", "--set", "rollout.steps=4", "--set", "ppo.minibatch=64", "--set", "ppo.policy_epochs=2",
            "--set", "ppo.value_epochs=2", "--set", "run.eval_episodes=5", "--save-interval", 1]


# Hundreds of exchanges: with a delay it takes some seconds, however fast the machine is.
TRAIN = cartpole(updates=8)
DELAY_S = 0.003


class FarRanks(Ranks):
    """Each on a node of its own."""

    def __init__(self, penstock, network, *args):
        self.processes = [
            network.run(rank, [penstock.exe, *args, "--json", "--insecure-network"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                        text=True, stdin=subprocess.DEVNULL,
                        env=penstock.environment(RANK=str(rank), WORLD_SIZE=str(network.size), MASTER_ADDR=network.address(0),
                                                 MASTER_PORT="29500"))
            for rank in range(network.size)]


@pytest.fixture
def bad_network():
    with contextlib.ExitStack() as stack:
        def make(size, **conditions):
            try:
                return stack.enter_context(BadNetwork(size, **conditions))
            except NoNetwork as error:
                pytest.skip(str(error))

        yield make


@pytest.fixture(scope="module")
def alone(penstock, tmp_path_factory):
    """What one process makes of it."""
    return penstock.json(*TRAIN, "--run-dir", tmp_path_factory.mktemp("alone") / "run")


def until_some_updates(run, ranks):
    """In the middle of the run, whatever the machine: something is saved, and something is left to do."""
    def saved():
        return any(folder.name.isdigit() and int(folder.name) > 0 for folder in (run / "ckpt").glob("*"))

    wait_until(lambda: saved() or any(rank.poll() is not None for rank in ranks), PATIENCE)
    assert all(rank.poll() is None for rank in ranks), ranks.ends(PATIENCE)


def same_as(alone, result):
    return all(result[key] == alone[key] for key in ("digest", "episodes", "total_timesteps", "eval"))


def all_end(ranks, seconds, codes=(75,)):
    """Within that time; each says why in its last line, which names a rank."""
    begin = time.monotonic()
    ends = ranks.ends(seconds + PATIENCE)
    assert time.monotonic() - begin < seconds + PATIENCE
    for code, out, told in ends:
        assert code in codes and out == "", ends
        errors = [line for line in told.splitlines() if line.startswith("penstock: ") and ": warning: " not in line]
        assert [told.splitlines()[-1]] == errors and re.search(r"rank \d", errors[0]), ends
        assert "frame #" not in told and "Exception raised from" not in told, ends


def checksum_errors(network, node):
    """TCP segments that the kernel of that node has not believed."""
    table = network.run(node, ["cat", "/proc/net/snmp"], stdout=subprocess.PIPE, text=True).communicate()[0]
    names, values = [line.split() for line in table.splitlines() if line.startswith("Tcp:")]
    return int(dict(zip(names, values))["InCsumErrors"])


ECHO = """
import socket, sys
connection, _ = socket.create_server((sys.argv[1], 5000)).accept()
while piece := connection.recv(65536):
    connection.sendall(piece)
"""
ROUND_TRIPS = """
import socket, sys, time
while True:
    try:
        connection = socket.create_connection((sys.argv[1], 5000))
        break
    except ConnectionRefusedError:
        time.sleep(0.01)
begin = time.monotonic()
for _ in range(10):
    connection.sendall(bytes(1000))
    assert connection.recv(1000, socket.MSG_WAITALL) == bytes(1000)
print(time.monotonic() - begin)
"""


@pytest.mark.parametrize("conditions, least_s", [({"delay_s": 0.02}, 10 * 2 * 0.02), ({"rate": 20e3}, 10 * 2 * 1000 / 20e3)], ids=str)
def test_the_network_is_as_slow_as_asked(bad_network, conditions, least_s):
    network = bad_network(2, **conditions)
    network.run(0, [sys.executable, "-c", ECHO, network.address(0)])
    client = network.run(1, [sys.executable, "-c", ROUND_TRIPS, network.address(0)], stdout=subprocess.PIPE, text=True)
    assert float(client.communicate(timeout=PATIENCE)[0]) >= least_s


@pytest.mark.parametrize("size, conditions", [
    (2, {"delay_s": 0.01}),
    (4, {"delay_s": DELAY_S}),
    (2, {"delay_s": DELAY_S, "loss": 0.01}),
    (4, {"loss": 0.01}),
    (2, {"rate": 5e6}),
    (2, {"reordered": 0.02}),
    (2, {"duplicated": 0.1}),
    (4, {"delay_s": 0.002, "reordered": 0.01, "duplicated": 0.05, "corrupted": 0.005}),
], ids=str)
def test_fault_16_what_tcp_repairs_changes_no_bit(penstock, bad_network, alone, tmp_path, size, conditions):
    network = bad_network(size, **conditions)
    with FarRanks(penstock, network, *TRAIN, "--run-dir", tmp_path / "run") as ranks:
        result = finish(ranks)
    assert result["ranks"] == size and same_as(alone, result)
    for chance in {"loss", "reordered", "duplicated", "corrupted"} & conditions.keys():
        assert network.counts[chance] > 0
    assert (sum(checksum_errors(network, node) for node in range(size)) > 0) == ("corrupted" in conditions)


@pytest.mark.parametrize("size, nodes", [(2, [0, 1]), (4, [3])])
def test_fault_15_a_short_cut_is_waited_for(penstock, bad_network, alone, tmp_path, size, nodes):
    network = bad_network(size, delay_s=DELAY_S)
    with FarRanks(penstock, network, *TRAIN, "--run-dir", tmp_path / "run", "--peer-timeout", PATIENCE) as ranks:
        until_some_updates(tmp_path / "run", ranks)
        network.cut(*nodes)
        time.sleep(SURVIVED_CUT_S)
        assert all(rank.poll() is None for rank in ranks)
        network.heal()
        assert same_as(alone, finish(ranks))
    assert network.counts["cut"] > 0


CUTS = {
    "everything": (2, lambda network: network.cut()),
    "one way": (2, lambda network: network.change(cut={(1, 0)})),
    "one pair of four": (4, lambda network: network.change(cut={(2, 3), (3, 2)})),
    "rank 0 of four": (4, lambda network: network.cut(0)),
    "rank 3 of four": (4, lambda network: network.cut(3)),
}


@pytest.mark.parametrize("size, cut", CUTS.values(), ids=CUTS)
def test_fault_15_a_long_cut_ends_all_and_one_process_goes_on(penstock, bad_network, alone, tmp_path, size, cut):
    run = tmp_path / "run"
    network = bad_network(size, delay_s=DELAY_S)
    with FarRanks(penstock, network, *TRAIN, "--run-dir", run, "--peer-timeout", FATAL_CUT_S) as ranks:
        until_some_updates(run, ranks)
        cut(network)
        all_end(ranks, FATAL_CUT_S)
    assert same_as(alone, penstock.json("resume", run))


@pytest.mark.parametrize("name", CUTS)
def test_fault_15_ranks_that_cannot_meet_end(penstock, bad_network, tmp_path, name):
    size, cut = CUTS[name]
    network = bad_network(size)
    cut(network)
    with FarRanks(penstock, network, *TRAIN, "--run-dir", tmp_path / "run", "--peer-timeout", 3) as ranks:
        all_end(ranks, 3, codes=(69,))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("size, share", [(2, 1), (4, 1), (4, 0.01)])
def test_fault_14_reset_connections_end_all_and_one_process_goes_on(penstock, bad_network, alone, tmp_path, size, share):
    """A share of 1: each connection, when it next carries something. Else the first that happens to be hit."""
    run = tmp_path / "run"
    network = bad_network(size, delay_s=DELAY_S)
    with FarRanks(penstock, network, *TRAIN, "--run-dir", run, "--peer-timeout", 20) as ranks:
        until_some_updates(run, ranks)
        network.change(reset=share)
        if share < 1:
            wait_until(lambda: network.counts["reset"] > 0, PATIENCE)
            network.change(reset=0)
        all_end(ranks, 20)
    assert network.counts["reset"] > 0
    assert same_as(alone, penstock.json("resume", run))


def test_fault_14_a_half_open_connection_ends_the_other(penstock, bad_network, alone, tmp_path):
    """Rank 1 is lost while nothing passes; nobody tells rank 0 until it asks again."""
    run = tmp_path / "run"
    network = bad_network(2, delay_s=DELAY_S)
    with FarRanks(penstock, network, *TRAIN, "--run-dir", run, "--peer-timeout", 20) as ranks:
        until_some_updates(run, ranks)
        network.cut()
        ranks[1].kill()
        wait_until(lambda: network.counts["cut"] > 0, PATIENCE)
        network.heal()
        code, _, told = ranks.ends(20 + PATIENCE)[0]
    assert code == 75 and "rank 0 of 2: rank 1" in told.splitlines()[-1]
    assert same_as(alone, penstock.json("resume", run))


def test_fault_13_a_rank_that_is_stopped_for_a_while_is_waited_for(penstock, bad_network, alone, tmp_path):
    network = bad_network(2, delay_s=DELAY_S)
    with FarRanks(penstock, network, *TRAIN, "--run-dir", tmp_path / "run", "--peer-timeout", PATIENCE) as ranks:
        until_some_updates(tmp_path / "run", ranks)
        ranks[1].send_signal(signal.SIGSTOP)
        time.sleep(SURVIVED_CUT_S)
        assert ranks[0].poll() is None
        ranks[1].send_signal(signal.SIGCONT)
        assert same_as(alone, finish(ranks))


def listening_ports(pid):
    mine = set()
    for descriptor in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):  # closed meanwhile
            mine.add(os.readlink(descriptor))
    rows = [line.split() for line in pathlib.Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    return {int(row[1].split(":")[1], 16) for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in mine}


def send_random_bytes(ports, connections=60, size=4096):
    """Every second connection stays open; the list of them."""
    rng = random.Random(1)
    kept = []
    for port in ports:
        for i in range(connections):
            stranger = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
            with contextlib.suppress(OSError):  # a port that does not even listen to the end
                stranger.sendall(rng.randbytes(size))
            if i % 2:
                kept.append(stranger)
            else:
                stranger.close()
    return kept


def memory_until_over(ranks):
    """The most KB that each ever had."""
    most = [0] * len(ranks.processes)

    def over():
        for i, rank in enumerate(ranks):
            with contextlib.suppress(OSError, TypeError):  # it is over
                most[i] = int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{rank.pid}/status").read_text())[1])
        return all(rank.poll() is not None for rank in ranks)

    wait_until(over, 3 * PATIENCE)
    return most


def test_fault_27_random_bytes_on_the_ports_of_ranks_cost_no_memory(penstock, tmp_path):
    """The run begins and has the same bits, or ends in time. Once all have met, nobody listens."""
    args = [*cartpole(updates=20), "--json", "--peer-timeout", 20]
    with Ranks(penstock, 2, *args, "--run-dir", tmp_path / "calm") as ranks:
        calm = memory_until_over(ranks)
        expected = finish(ranks)
    with Ranks(penstock, 2, *args, "--run-dir", tmp_path / "run") as ranks:
        ranks[1].send_signal(signal.SIGSTOP)  # it still loads its libraries: rank 0 has to wait
        wait_until(lambda: len(listening_ports(ranks[0].pid)) == 2, PATIENCE)  # the store, and its own
        strangers = send_random_bytes(listening_ports(ranks[0].pid))
        ranks[1].send_signal(signal.SIGCONT)
        wait_until(lambda: (tmp_path / "run" / "metrics.jsonl").exists() or ranks[0].poll() is not None, PATIENCE)
        assert not any(listening_ports(rank.pid) for rank in ranks if rank.poll() is None)
        disturbed = memory_until_over(ranks)
        if ranks[0].returncode == 0:
            assert same_as(expected, finish(ranks))
        else:
            all_end(ranks, 20, codes=(69, 75))
        for stranger in strangers:
            stranger.close()
    assert all(now < before + 64 * 1024 for now, before in zip(disturbed, calm)), (disturbed, calm)
