"""A Blue agent for CAGE Challenge 2, trained by Penstock. It needs numpy and the files beside it, and where agent.json has
"beliefs" the program penstock.

    from agent import Agent, wrap

    agent = Agent()                   # a BaseAgent of CybORG
    env = wrap(CybORG(scenario, "sim", agents={"Red": B_lineAgent}))
    observation = env.reset()
    action = agent.get_action(observation, env.get_action_space("Blue"))

Python 3.7 or newer.
"""

import json
import os
import shlex
import struct
import subprocess
import warnings
import weakref

import numpy as np

try:
    from CybORG.Agents.SimpleAgents.BaseAgent import BaseAgent
except ImportError:  # without CybORG: fed with recorded observations
    BaseAgent = object

HERE = os.path.dirname(os.path.abspath(__file__))

# ---- The game, as far as Blue knows it. Hosts are numbered alphabetically.

NUM_HOSTS = 13
OBS_SIZE = 4 * NUM_HOSTS
USER0 = 8
WINDOWS = {2, 3, 8, 9, 10}
SUBNET = [1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0, 0]  # user, enterprise, operational
OPEN_PORTS = ([{22, 53, 68}, {22}] + 2 * [{22, 135, 3389, 445, 139, 80, 443}] + 4 * [{22}] + 2 * [{22, 21}]
              + [{445, 139, 135, 3389}, {80, 3389, 443, 25}, {22, 80, 3390, 443, 25}])

# Actions: an index is the base of a kind plus the host.
SLEEP, MONITOR, ANALYSE, REMOVE, DECOYS, RESTORE = 0, 1, 2, 15, 28, 132
NUM_ACTIONS = 145
APACHE, FEMITTER, HARAKA, SMSS, SSHD, SVCHOST, TOMCAT, VSFTPD = range(8)
# The port that must be free, the system it needs, the port that it opens.
DECOY_NEEDS = [(80, "any", 80), (21, "windows", 21), (25, "linux", 25), (139, "windows", 139), (22, "any", 22),
               (3389, "windows", 3389), (443, "any", 443), (21, "linux", 80)]

UNKNOWN, YES, NO = range(3)  # how an action went


class Ports:
    """Whether Blue's actions succeed. It follows from the ports in use, all of which Blue knows."""

    def __init__(self, fix_vsftpd):
        self.needs = list(DECOY_NEEDS)
        if fix_vsftpd:
            self.needs[VSFTPD] = (21, "linux", 21)
        self.opened = [set() for _ in range(NUM_HOSTS)]

    def flag(self, action):
        if action == SLEEP:
            return UNKNOWN
        if action >= RESTORE:
            self.opened[action - RESTORE] = set()
        if not DECOYS <= action < RESTORE:
            return YES
        kind, host = divmod(action - DECOYS, NUM_HOSTS)
        free, system, opens = self.needs[kind]
        fits = system == "any" or (system == "windows") == (host in WINDOWS)
        if not fits or free in OPEN_PORTS[host] or free in self.opened[host]:
            return NO
        self.opened[host].add(opens)
        return YES


# ---- The memory of env.memory.

DEFENDED = [1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12]
NEVER = -1
MAX_DECOYS = 4
FAMILIES = 5  # sleep and monitor, analyse, remove, decoys, restore


def decoys_of(host):
    """The decoys that a host can have, the one that red likes best to attack first."""
    if host in (2, 3):
        return [FEMITTER]
    if host in (8, 9):
        return [TOMCAT, APACHE, SMSS, SVCHOST]
    return {10: [FEMITTER, TOMCAT, APACHE, SSHD], 11: [SSHD, VSFTPD], 12: [VSFTPD]}.get(host, [HARAKA, TOMCAT, APACHE])


class Host:
    def __init__(self):
        self.active = self.exploited = self.repaired = self.analysed = NEVER  # the last step of each, from 1 on
        self.num_scans = self.num_exploits = self.num_restores = 0
        self.decoys = [False] * MAX_DECOYS
        self.lures = [False] * MAX_DECOYS  # decoys that were in place when the host was scanned


class Memory:
    """What Blue did and was shown in this episode. The numbers are those that the policy was trained with."""

    def __init__(self):
        self.hosts = [Host() for _ in range(NUM_HOSTS)]
        self.steps = self.quiet_since = 0
        self.first_active = None
        self.family = 0
        self.flag = UNKNOWN

    def next_decoy(self, host):
        """The action that places the best decoy that is missing; the first one when none is."""
        kinds = decoys_of(host)
        place = (self.hosts[host].decoys + [False]).index(False)
        return DECOYS + NUM_HOSTS * kinds[place if place < len(kinds) else 0] + host

    def note(self, action, flag, observation):
        self.steps += 1
        self.flag = flag
        self._note_action(action, flag)
        for number, host in enumerate(self.hosts):
            if observation[4 * number]:
                self._note_activity(number, host, bool(observation[4 * number + 1]))

    def _note_action(self, action, flag):
        if action < ANALYSE:
            self.family = 0
            return
        kind, number = divmod(action - ANALYSE, NUM_HOSTS)
        host = self.hosts[number]
        if kind == 0:
            self.family, host.analysed = 1, self.steps
        elif kind == 1:
            self.family, host.repaired = 2, self.steps
        elif action < RESTORE:
            self.family = 3
            if flag == YES and kind - 2 in decoys_of(number):
                host.decoys[decoys_of(number).index(kind - 2)] = True
        else:
            self.family, host.repaired = 4, self.steps
            host.num_restores += 1
            host.decoys = [False] * MAX_DECOYS

    def _note_activity(self, number, host, exploit):
        host.active = self.quiet_since = self.steps
        if self.first_active is None:
            self.first_active = number
        if exploit:
            host.exploited = self.steps
            host.num_exploits += 1
        else:
            host.num_scans += 1
            host.lures = [old or now for old, now in zip(host.lures, host.decoys)]

    def _recency(self, step):
        return 0.0 if step == NEVER else 1.0 / (1 + self.steps - step)

    def row(self):
        numbers = []
        for host in self.hosts:
            numbers += self._of_host(host)
        for number in DEFENDED:
            numbers += self.hosts[number].decoys + self.hosts[number].lures
        return np.array(numbers + self._of_all(), np.float32)

    def _of_host(self, host):
        return [host.active != NEVER,
                host.active != NEVER and host.active == self.quiet_since,
                self._recency(host.active),
                self._recency(host.exploited),
                self._recency(host.repaired),
                host.exploited != NEVER and host.exploited >= host.repaired,
                host.analysed > max(host.active, host.repaired),
                host.num_restores > 0,
                min(host.num_scans / 4, 1),
                min(host.num_exploits / 3, 1)]

    def _of_all(self):
        seen = sum(host.active != NEVER for host in self.hosts)
        time = [min(self.steps / 100, 1), self._recency(self.quiet_since), seen / NUM_HOSTS, self.flag == YES]
        phases = [self.steps < end for end in (4, 8, 30, 50)]
        family = [self.family == i for i in range(FAMILIES)]
        first = [self.first_active == number for number in range(USER0, NUM_HOSTS)]
        return time + phases + family + first + self._progress() + [self._recency(0)]

    def _progress(self):
        """By subnet: how many hosts were active, how many exploited, how many have decoys."""
        counts = [0] * 9
        for host, subnet in zip(self.hosts, SUBNET):
            counts[subnet] += host.active != NEVER
            counts[3 + subnet] += host.exploited != NEVER
            counts[6 + subnet] += any(host.decoys)
        return [0.2 * count for count in counts]


def macro_action(macro, memory):
    """The action of the 145 that one of the 45 macro actions means."""
    if macro == 0:
        return SLEEP
    kind, place = divmod(macro - 1, len(DEFENDED))
    host = DEFENDED[place]
    return memory.next_decoy(host) if kind == 3 else (ANALYSE, REMOVE, RESTORE)[kind] + host


# ---- The mask of env.mask.

# Of each host: 0 defender, 1 enterprise, 2 op_server, 3 op_host, 4 user.
TYPE_OF = [0, 1, 1, 1, 3, 3, 3, 2, 4, 4, 4, 4, 4]


def is_futile(action, memory):
    """A decoy that the host has already, or that is none of decoys_of() the host."""
    if not DECOYS <= action < RESTORE:
        return False
    kind, host = divmod(action - DECOYS, NUM_HOSTS)
    kinds = decoys_of(host)
    return kind not in kinds or memory.hosts[host].decoys[kinds.index(kind)]


def flagged_hosts(observation, memory):
    """Hosts that Blue must take for lost: those that the table marks, and suspects, which were active more than once
    without an alarm and neither repaired nor analysed since."""
    def flagged(number):
        host = memory.hosts[number]
        suspect = host.num_scans >= 2 and host.active > max(host.repaired, host.analysed)
        return suspect or any(observation[4 * number + 2:4 * number + 4])
    return [number for number in DEFENDED if flagged(number)]


def fixable_hosts(observation, memory, order):
    """Those flagged that are of the most urgent type among them."""
    flagged = flagged_hosts(observation, memory)
    first = min([order.index(TYPE_OF[number]) for number in flagged], default=None)
    return [number for number in flagged if order.index(TYPE_OF[number]) == first]


def open_actions(actions, fixable, memory):
    """Which of the actions are open; `fixable` None: every fix is."""
    def is_open(action):
        fixes = REMOVE <= action < DECOYS or action >= RESTORE
        if not fixes:
            return not is_futile(action, memory)
        return fixable is None or (action - ANALYSE) % NUM_HOSTS in fixable
    return [is_open(action) for action in actions]


# ---- The beliefs of env.num_hypotheses.

def stop(process):
    """What reads has ended, or ends with its input."""
    try:
        process.stdin.close()
    except OSError:
        pass
    process.wait()


class Beliefs:
    """What Blue can infer of red. The filter knows every rule of the game, so that `penstock cage2 believe` reckons it: a
    line for each step."""

    def __init__(self, settings, penstock):
        words = shlex.split(penstock) + ["cage2", "believe"]
        for key in sorted(settings):
            words += ["--set", "%s=%s" % (key, settings[key])]
        try:
            self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, universal_newlines=True)
        except OSError as error:
            raise RuntimeError("%s: %s; this policy needs beliefs, which penstock tells: install it (pip install penstock), "
                               "or name it by Agent(penstock=...)" % (words[0], error.strerror))
        weakref.finalize(self, stop, self.process)

    def reset(self):
        self._ask({})

    def note(self, action, flag, observation):
        self._ask({"action": action, "success": {YES: True, NO: False}.get(flag),
                   "observation": "".join(str(int(bit)) for bit in observation)})

    def row(self):
        return self.features

    def _ask(self, line):
        try:
            self.process.stdin.write(json.dumps(line) + "\n")
            self.process.stdin.flush()
            answer = json.loads(self.process.stdout.readline())
        except (OSError, ValueError):
            raise RuntimeError("penstock cage2 believe ended; what went wrong stands above")
        self.features = np.array(answer["features"], np.float32)
        if answer["lost"]:
            warnings.warn("nothing explains what was seen: this game is not played by the rules of agent.json")


# ---- The policy.

def read_safetensors(path):
    """The arrays of the file by name, and its metadata."""
    types = {"F32": "<f4", "F64": "<f8", "I64": "<i8", "I32": "<i4", "U8": "u1", "BOOL": "?"}
    with open(path, "rb") as file:
        data = file.read()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:start].decode())
    metadata = header.pop("__metadata__", {})
    arrays = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        arrays[name] = np.frombuffer(data[start + begin:start + end], types[entry["dtype"]]).reshape(entry["shape"])
    return arrays, metadata


class Policy:
    """The actor of a policy file: a stack of linear layers."""

    def __init__(self, path):
        arrays, metadata = read_safetensors(path)
        shape = json.loads(metadata["penstock.policy"])
        self.activate = {"tanh": np.tanh, "relu": lambda x: np.maximum(x, 0)}[shape["mlp"]["activation"]]
        names = shape["mlp"]["trunk"] + shape["mlp"]["actor"]
        self.layers = [(arrays[name + ".weight"].astype(float), arrays[name + ".bias"].astype(float)) for name in names]
        self.clip = shape["clip_obs"]
        if self.clip:
            count, mean, squares = arrays["normaliser.obs"].T
            self.mean = mean
            self.scale = np.where(count > 0, np.sqrt(squares / np.maximum(count, 1) + 1e-8), 1)

    def probabilities(self, row, is_open=None):
        """Of every action, those that are not open aside."""
        x = np.asarray(row, float)
        if self.clip:
            x = np.clip((x - self.mean) / self.scale, -self.clip, self.clip)
        for weight, bias in self.layers[:-1]:
            x = self.activate(weight @ x + bias)
        weight, bias = self.layers[-1]
        x = weight @ x + bias
        if is_open is not None:
            x = np.where(is_open, x, -np.inf)
        shares = np.exp(x - x.max())
        return shares / shares.sum()


class Agent(BaseAgent):
    """Acts on the 52 numbers of wrap(env). end_episode() must be called between episodes, as CybORG's evaluation
    does. `sampled` and `seed`: in place of what agent.json says, and of seed 0. `penstock`: the program, for beliefs."""

    def __init__(self, folder=HERE, sampled=None, seed=0, penstock="penstock"):
        with open(os.path.join(folder, "agent.json")) as file:
            self.settings = json.load(file)
        self.policy = Policy(os.path.join(folder, "policy.safetensors"))
        self.sampled = self.settings["sampled"] if sampled is None else sampled
        self.random = np.random.RandomState(seed)
        self.beliefs = Beliefs(self.settings["beliefs"], penstock) if self.settings["beliefs"] else None
        self.end_episode()

    def end_episode(self):
        self.memory = Memory()
        if self.beliefs:
            self.beliefs.reset()
        self.ports = Ports(self.settings["fix_vsftpd"])
        self.action = None  # the last one
        self.choice = None  # its number among the policy's

    def set_initial_values(self, action_space, observation):
        self.end_episode()

    def train(self, results):
        """It has learnt what it will."""

    def get_action(self, observation, action_space=None):
        """The next action, an index below 145."""
        shares = self.probabilities(observation)
        self.choice = int(self.random.choice(len(shares), p=shares) if self.sampled else np.argmax(shares))
        self.action = self._meant()[self.choice]
        return self.action

    def probabilities(self, observation):
        """Of each of the policy's actions, after what the last one led to."""
        observation = np.asarray(observation)
        if observation.shape != (OBS_SIZE,):
            raise ValueError("the observation has shape %s instead of (52,): make the env by this folder's wrap()"
                             % (observation.shape,))
        if self.action is not None:
            flag = self.ports.flag(self.action)
            self.memory.note(self.action, flag, observation)
            if self.beliefs:
                self.beliefs.note(self.action, flag, observation)
            self.action = None
        return self.policy.probabilities(self._row(observation), self._open(observation))

    def _row(self, observation):
        """The numbers that the policy was trained with."""
        parts = [observation]
        if self.settings["show_order"]:
            parts.append(np.eye(5)[self.settings["order"]].ravel())
        if self.settings["memory"]:
            parts.append(self.memory.row())
        if self.beliefs:
            parts.append(self.beliefs.row())
        return np.concatenate(parts)

    def _meant(self):
        """The action, an index below 145, of each of the policy's choices."""
        if not self.settings["macro"]:
            return list(range(NUM_ACTIONS))
        return [macro_action(macro, self.memory) for macro in range(1 + 4 * len(DEFENDED))]

    def _open(self, observation):
        """Which choices the mask leaves; None: all."""
        if self.settings["mask"] == "none":
            return None
        by_order = self.settings["mask"] == "order"
        fixable = fixable_hosts(observation, self.memory, self.settings["order"]) if by_order else None
        return open_actions(self._meant(), fixable, self.memory)


# ---- The wrapper that the policy was trained with.

def activity(entries, wrapper):
    """What the table says of a host with these entries in a step. v1: as in CybORG; v2: as CardiffUni corrected it;
    dbg: as in CybORG++."""
    events = [entry["Connections"][0] for entry in entries if "Connections" in entry]
    if not events and wrapper != "v1":
        return "None"
    ports = {event["local_port"] for event in events}
    shell = any(event.get("remote_port") == 4444 for event in events)
    if shell and wrapper == "dbg":
        return "Exploit"
    if len(entries) >= 3 and len(ports) >= 3:
        return "Scan"
    if shell or (len(entries) >= 3 and len(ports) == 1):
        return "Exploit"
    decoyed = "Service Name" in entries[0]
    return "None" if decoyed and wrapper != "v2" else "Scan"


def wrap(cyborg, wrapper=None):
    """CybORG's ChallengeWrapper for Blue, which shows events as the policy knows them."""
    from CybORG.Agents.Wrappers import ChallengeWrapper

    if wrapper is None:
        with open(os.path.join(HERE, "agent.json")) as file:
            wrapper = json.load(file)["wrapper"]
    env = ChallengeWrapper(env=cyborg, agent_name="Blue")
    table = env
    while not hasattr(table, "_interpret_connections"):
        table = table.env
    table._interpret_connections = lambda entries: activity(entries, wrapper)
    return env
