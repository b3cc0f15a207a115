"""A network of its own for tests, as bad as they ask for: what `tc netem` does, without that module of the kernel.

    with BadNetwork(2, delay_s=0.01, loss=0.01) as network:
        server = network.run(0, ["server", network.address(0)])
        client = network.run(1, ["client", network.address(0)])
        network.cut()

Each node is a network namespace with a TUN device, and a thread of this process carries IP packets from one to the other. Namespaces and
devices have no name outside: they are held by descriptors, so that the kernel removes them with this process, however it ends.
"""

import collections
import ctypes
import dataclasses
import errno
import fcntl
import heapq
import itertools
import math
import os
import random
import select
import socket
import struct
import subprocess
import threading
import time

MTU = 1500
FULL_S = 0.5  # what a limited rate would deliver later than this does not fit into the queue
OVERTAKEN_S = 0.02  # how long a packet is held back that others overtake
FORBIDDEN = (errno.EPERM, errno.EACCES, errno.ENOENT, errno.ENODEV, errno.ENXIO, errno.ENOSYS)

# <linux/sched.h>, <linux/if_tun.h>, <linux/sockios.h>, <linux/if.h>
CLONE_NEWNET = 0x40000000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
SIOCSIFFLAGS, SIOCSIFADDR, SIOCSIFNETMASK, SIOCSIFMTU = 0x8914, 0x8916, 0x891C, 0x8922
IFF_UP, IFF_RUNNING = 0x1, 0x40

TCP_SYN, TCP_RST, TCP_ACK = 0x02, 0x04, 0x10


class NoNetwork(Exception):
    """This machine does not let us make one: why."""


@dataclasses.dataclass(frozen=True)
class Conditions:
    """What happens to packets; from `loss` to `reset` with that probability to each."""

    delay_s: float = 0.0  # each way
    rate: float = math.inf  # bytes a second out of each node
    loss: float = 0.0
    duplicated: float = 0.0
    reordered: float = 0.0
    corrupted: float = 0.0  # one bit behind the IP header: TCP's checksum shows it always
    reset: float = 0.0  # instead of a TCP segment, both ends of its connection get a reset
    cut: frozenset = frozenset()  # (source, target): ways on which nothing passes


class BadNetwork:
    """Some nodes, and whatever runs on them until the block is left. Raises NoNetwork where the kernel forbids it."""

    def __init__(self, size, seed=1, **conditions):
        self.size = size
        self.conditions = Conditions(**conditions)  # replaced as a whole: the relay reads it at each packet
        self.counts = collections.Counter()  # packets by what happened to them: a field above, "full" or "passed"
        self._random = random.Random(seed)
        self._processes = []
        self._spaces, self._tuns = [], []
        self._due = []  # heap of (time, number, target, packet)
        self._numbers = itertools.count()
        self._line_free = [0.0] * size  # when the last byte of a node's packets has left it
        self._relay = threading.Thread(target=self._carry, daemon=True)

    def __enter__(self):
        self._stop = os.eventfd(0)
        try:
            for node in range(self.size):
                space, tun = _in_a_thread(_make_node, self.address(node))
                self._spaces.append(space)
                self._tuns.append(tun)
        except OSError as error:
            self._close()
            if error.errno not in FORBIDDEN:
                raise
            raise NoNetwork(f"no network namespace with a TUN device here: {error}") from error
        self._relay.start()
        return self

    def __exit__(self, *_):
        for process in self._processes:
            with process:  # waits for it and closes its pipes
                process.kill()
        os.eventfd_write(self._stop, 1)
        self._relay.join()
        self._close()

    def _close(self):
        for descriptor in (*self._spaces, *self._tuns, self._stop):
            os.close(descriptor)

    @staticmethod
    def address(node):
        return f"10.99.0.{node + 1}"

    def run(self, node, command, env=None, **options):
        """A Popen of that command on a node. Its pid is the command's own, and it is killed with this thread, if it must be."""
        there = ["nsenter", f"--net=/proc/{os.getpid()}/fd/{self._spaces[node]}", "setpriv", "--pdeathsig", "KILL"]
        process = subprocess.Popen([*there, *map(str, command)], env=env, **options)
        self._processes.append(process)
        return process

    def change(self, **conditions):
        self.conditions = dataclasses.replace(self.conditions, **conditions)

    def cut(self, *nodes):
        """Nothing passes to or from these, or anywhere."""
        ways = itertools.permutations(range(self.size), 2)
        self.change(cut=frozenset(way for way in ways if not nodes or set(way) & set(nodes)))

    def heal(self):
        self.change(cut=frozenset())

    def _carry(self):
        while True:
            wait = max(0.0, self._due[0][0] - time.monotonic()) if self._due else None
            ready, _, _ = select.select([self._stop, *self._tuns], [], [], wait)
            if self._stop in ready:
                return
            for tun in ready:
                self._take(self._tuns.index(tun), os.read(tun, 2 * MTU))
            while self._due and self._due[0][0] <= time.monotonic():
                _, _, target, packet = heapq.heappop(self._due)
                _write(self._tuns[target], packet)

    def _take(self, source, packet):
        """Decides on a packet that a node has sent."""
        target = self._target_of(packet)
        if target is None:
            return
        now, conditions = time.monotonic(), self.conditions
        leaves = max(now, self._line_free[source]) + len(packet) / conditions.rate
        if (source, target) in conditions.cut:
            self.counts["cut"] += 1
        elif leaves - now > FULL_S:
            self.counts["full"] += 1
        elif not self._happens("loss"):
            self._line_free[source] = leaves
            arrives = leaves + conditions.delay_s + OVERTAKEN_S * self._happens("reordered")
            for node, arriving in self._what_comes_of(packet, source, target):
                heapq.heappush(self._due, (arrives, next(self._numbers), node, arriving))
            self.counts["passed"] += 1

    def _what_comes_of(self, packet, source, target):
        """(node, packet) of all that arrives."""
        if _is_established(packet) and self._happens("reset"):
            return [(target, _reset(packet)), (source, _reset(_answer_to(packet)))]
        if self._happens("corrupted"):
            packet = _with_a_bit_flipped(packet, self._random)
        return [(target, packet)] * (1 + self._happens("duplicated"))

    def _happens(self, what):
        happens = self._random.random() < getattr(self.conditions, what)
        self.counts[what] += happens
        return happens

    def _target_of(self, packet):
        """None for what is not for a node: IPv6 looks for neighbours by itself."""
        if packet[0] >> 4 != 4 or packet[16:19] != bytes([10, 99, 0]):
            return None
        node = packet[19] - 1
        return node if 0 <= node < self.size else None


def _in_a_thread(function, *args):
    """A thread of its own can move to another namespace without the others."""
    result = {}

    def call():
        try:
            result["value"] = function(*args)
        except OSError as error:
            result["error"] = error

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    if "error" in result:
        raise result["error"]
    return result["value"]


def _make_node(address):
    """Descriptors of a new namespace and of the device in it. Moves the calling thread there."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), f"unshare: {os.strerror(ctypes.get_errno())}")
    tun = os.open("/dev/net/tun", os.O_RDWR)
    try:
        fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"tun0", IFF_TUN | IFF_NO_PI))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
            _set(control, SIOCSIFFLAGS, b"lo", struct.pack("H", IFF_UP | IFF_RUNNING))
            _set(control, SIOCSIFADDR, b"tun0", _sockaddr(address))
            _set(control, SIOCSIFNETMASK, b"tun0", _sockaddr("255.255.255.0"))
            _set(control, SIOCSIFMTU, b"tun0", struct.pack("i", MTU))
            _set(control, SIOCSIFFLAGS, b"tun0", struct.pack("H", IFF_UP | IFF_RUNNING))
        return os.open("/proc/thread-self/ns/net", os.O_RDONLY), tun
    except OSError:
        os.close(tun)
        raise


def _set(control, request, device, value):
    fcntl.ioctl(control, request, struct.pack("16s24s", device, value))


def _sockaddr(address):
    return struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton(address))


def _write(tun, packet):
    try:
        os.write(tun, packet)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EIO):  # a damaged packet that the kernel does not even take
            raise


def _header_size(packet):
    return (packet[0] & 0x0F) * 4


def _is_established(packet):
    """Of TCP, and neither of the two packets that begin a connection."""
    return packet[9] == socket.IPPROTO_TCP and not packet[_header_size(packet) + 13] & TCP_SYN


def _with_a_bit_flipped(packet, rng):
    damaged = bytearray(packet)
    damaged[rng.randrange(_header_size(packet), len(packet))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def _answer_to(packet):
    """The header of a TCP segment that goes back, with the numbers that the sender expects."""
    tcp = _header_size(packet)
    source, target = struct.unpack_from("!4s4s", packet, 12)
    from_port, to_port, number, expected = struct.unpack_from("!HHII", packet, tcp)
    answer = bytearray(packet[: tcp + 20])
    struct.pack_into("!4s4s", answer, 12, target, source)
    struct.pack_into("!HHII", answer, tcp, to_port, from_port, expected, number)
    return bytes(answer)


def _reset(packet):
    """In the place of a TCP segment, with its number: the one that the receiver expects, so that it believes it."""
    tcp = _header_size(packet)
    reset = bytearray(packet[: tcp + 20])
    struct.pack_into("!H", reset, 2, len(reset))
    struct.pack_into("BB", reset, tcp + 12, 5 << 4, TCP_RST | TCP_ACK)  # a header of five words, without options
    struct.pack_into("!H", reset, 10, 0)
    struct.pack_into("!H", reset, 10, _checksum(reset[:tcp]))
    struct.pack_into("!H", reset, tcp + 16, 0)
    struct.pack_into("!H", reset, tcp + 16, _checksum(_pseudo_header(reset) + reset[tcp:]))
    return bytes(reset)


def _pseudo_header(packet):
    return packet[12:20] + struct.pack("!BBH", 0, socket.IPPROTO_TCP, len(packet) - _header_size(packet))


def _checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
