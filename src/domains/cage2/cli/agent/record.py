"""Records games of CybORG as files that `penstock cage2 replay` and numpy read.

    python record.py --cyborg PATH_OF_CLONE --red meander --episodes 20 --steps 100 --out recordings

Blue is the agent of this folder, or --blue random. A file is RED-POLICY-STEPS.npz, in the subfolder lb where the clone plays by
the rules of the leader board's day; its arrays are described in Penstock's docs/cage2/README.md.
"""

import argparse
import os
import random

import numpy as np

from agent import Agent, activity, wrap
from evaluate import REDS, load, make_game

HOSTS = ["Defender", "Enterprise0", "Enterprise1", "Enterprise2", "Op_Host0", "Op_Host1", "Op_Host2", "Op_Server0",
         "User0", "User1", "User2", "User3", "User4"]
NONE = 255
ACTIONS = ["Sleep", "DiscoverRemoteSystems", "DiscoverNetworkServices", "ExploitRemoteService", "PrivilegeEscalate", "Impact"]
EXPLOITS = ["EternalBlue", "BlueKeep", "HTTPRFI", "HTTPSRFI", "SSHBruteForce", "SQLInjection", "HarakaRCE",
            "FTPDirectoryTraversal"]
DECOYS = ["apache2", "femitter", "haraka", "Smss.exe", "Sshd.exe", "Svchost.exe", "Tomcat.exe", "vsftpd"]
PORTS = [21, 22, 25, 80, 139, 443, 3389, 3390]
VSFTPD = 7
ACTIVITIES = {"None": [0, 0], "Scan": [1, 0], "Exploit": [1, 1]}


def flag(success):
    """0 unknown, 1 yes, 2 no."""
    return {"TRUE": 1, "FALSE": 2}.get(getattr(success, "name", str(success).upper()), 0)


def is_privileged(session):
    return session.username in ("root", "SYSTEM")


def bits(hosts):
    """A set of hosts as two bytes, the low one first."""
    number = sum(1 << HOSTS.index(host) for host in hosts)
    return [number & 255, number >> 8]


class SecondTable:
    """The table of another wrapper, kept beside the program's own from the same entries."""

    def __init__(self, env, wrapper):
        self.wrapper = wrapper
        self.table = env
        while not hasattr(self.table, "_interpret_connections"):
            self.table = self.table.env
        self.own = self.table._process_anomalies
        self.table._process_anomalies = self.both
        self.reset()

    def reset(self):
        self.marks = {host: "No" for host in HOSTS}
        self.seen = {}

    def both(self, anomalies):
        self.note_action()
        self.seen = {}
        for host, found in anomalies.items():
            if "Processes" in found:
                self.seen[host] = activity(found["Processes"], self.wrapper)
                if self.seen[host] == "Exploit":
                    self.marks[host] = "User"
            if any(file["Density"] >= 0.9 for file in found.get("Files", [])):
                self.marks[host] = "Privileged"
        return self.own(anomalies)

    def note_action(self):
        """What Remove and Restore do to a mark."""
        action = self.table.get_last_action(agent="Blue")
        name = type(action).__name__
        if name == "Restore":
            self.marks[action.hostname] = "No"
        elif name == "Remove" and self.marks[action.hostname] != "No":
            self.marks[action.hostname] = "Unknown"

    def vector(self):
        marks = {"No": [0, 0], "Unknown": [1, 0], "User": [0, 1], "Privileged": [1, 1]}
        return sum([ACTIVITIES[self.seen.get(host, "None")] + marks[self.marks[host]] for host in HOSTS], [])


class ReadOuts:
    """What a step was made of, from the program's own state."""

    def __init__(self, cyborg, red):
        self.controller = cyborg.environment_controller
        self.red = red
        self.before()

    def before(self):
        self.usernames = {ident: session.username for ident, session in self.sessions().items()}

    def sessions(self):
        return self.controller.state.sessions["Red"]

    def on(self, host):
        return [session for session in self.sessions().values() if session.host == host]

    def reported(self, host):
        """Processes that Blue was told of."""
        found = set()
        for session in self.controller.state.sessions["Blue"].values():
            found.update(getattr(session, "sus_pids", {}).get(host, []))
        return found

    def row(self):
        state = self.controller.state
        first = self.sessions()[0]
        space = self.controller.agent_interfaces["Red"].action_space
        processes = [process.name for process in state.hosts["Op_Server0"].processes]
        addresses = {state.ip_addresses[address] for address, known in space.ip_address.items() if known}
        names = [host for host, known in space.hostname.items() if known and host in HOSTS]
        agent = self.controller.agent_interfaces["Red"].agent
        blue = self.controller.observation["Blue"].data["success"]
        row = ([flag(blue)] + self.move() + [agent.action if self.red == "bline" else NONE, int("OTService" in processes),
                                             int(first.ot_service is not None)])
        row += bits(addresses & set(HOSTS)) + bits(names)
        columns = [self.of_host(host, first) for host in HOSTS]
        return row + [value for block in zip(*columns) for value in block]

    def move(self):
        """Red's action, target and success; of an exploit which, and whether it was detected; the session escalated."""
        state = self.controller.state
        action = self.controller.get_last_action("Red")
        kind = ACTIONS.index(type(action).__name__)
        success = flag(self.controller.observation["Red"].data["success"])
        target, exploit, detected, escalated = NONE, NONE, NONE, NONE
        if kind == 1:
            target = ["User", "Enterprise", "Operational"].index(state.subnets[action.subnet].name)
        elif kind in (2, 3):
            target = HOSTS.index(state.ip_addresses[action.ip_address])
        elif kind in (4, 5):
            target = HOSTS.index(action.hostname)
        if kind == 3 and getattr(action, "sub_action", None) is not None:
            exploit = EXPLOITS.index(type(action.sub_action).__name__)
            new = [session for ident, session in self.sessions().items() if ident not in self.usernames]
            if new:
                detected = int(new[0].pid in self.reported(new[0].host))
        if kind == 4:
            for place, session in enumerate(self.on(action.hostname)):
                if self.usernames.get(session.ident) != session.username and is_privileged(session):
                    escalated = place
        return [kind, target, success, exploit, detected, escalated]

    def of_host(self, name, first):
        host = self.controller.state.hosts[name]
        sessions = self.on(name)
        privileged = [session for session in sessions if is_privileged(session)]
        reported = self.reported(name)
        decoys = [DECOYS.index(process.name) for process in host.processes if process.decoy_type.value]
        address = next(address for address, owner in self.controller.state.ip_addresses.items() if owner == name)
        known = first.ports.get(address, [])
        return [2 if privileged else int(bool(sessions)),
                len(sessions),
                len(privileged),
                sum(session.pid in reported and not is_privileged(session) for session in sessions),
                (2 if is_privileged(sessions[0]) else 1) if sessions else 0,
                sum(1 << kind for kind in set(decoys)),
                decoys.count(VSFTPD),
                sum(file.density >= 0.9 for file in host.files),
                sum(1 << place for place, port in enumerate(PORTS) if port in known)]


def record_episode(env, second, read_outs, choose, steps, seed):
    random.seed(seed)
    observation = env.reset()
    second.reset()
    blue, obs, obs2, rewards, info = [], [], [], [], []
    for _ in range(steps):
        action = choose(observation, second.vector())
        read_outs.before()
        observation, reward, _, _ = env.step(action)
        blue.append(action)
        obs.append([int(number) for number in observation])
        obs2.append(second.vector())
        rewards.append(round(10 * reward))
        info.append(read_outs.row())
    return blue, np.packbits(obs, axis=1), np.packbits(obs2, axis=1), rewards, info


def main():
    parser = argparse.ArgumentParser(description="Records games of CybORG for penstock cage2 replay.")
    parser.add_argument("--cyborg", required=True, help="a clone of cage-challenge-2; its code is run")
    parser.add_argument("--red", choices=REDS, default="bline")
    parser.add_argument("--blue", choices=("agent", "random"), default="agent")
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", default="recordings")
    parser.add_argument("--penstock", default="penstock", help="the program, for a policy with beliefs (default penstock)")
    args = parser.parse_args()
    rules = load(args.cyborg)["rules"]
    cyborg = make_game(args.red)
    env = wrap(cyborg, "v1")
    second, read_outs = SecondTable(env, "v2"), ReadOuts(cyborg, args.red)
    agent, draw = Agent(seed=args.seed, penstock=args.penstock), np.random.RandomState(args.seed)
    sees_second = agent.settings["wrapper"] == "v2"

    def choose(observation, other):
        if args.blue == "random":
            return int(draw.randint(145))
        return agent.get_action(other if sees_second else observation)

    episodes, seeds = [], list(range(args.seed, args.seed + args.episodes))
    for seed in seeds:
        episodes.append(record_episode(env, second, read_outs, choose, args.steps, seed))
        agent.end_episode()
    folder = os.path.join(args.out, "lb") if rules == "leaderboard" else args.out
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "%s-%s-%d.npz" % (args.red, args.blue, args.steps))
    blue, obs, obs2, rewards, info = zip(*episodes)
    np.savez_compressed(path, blue=np.array(blue, np.uint8), obs=np.array(obs), obs2=np.array(obs2),
                        reward10=np.array(rewards, np.int16), seeds=np.array(seeds, np.int64), info=np.array(info, np.uint8))
    print(path)


if __name__ == "__main__":
    main()
