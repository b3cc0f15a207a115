"""Systems that stay alive side by side and are measured in turns."""
import json
import os
import pathlib
import selectors
import shlex
import shutil
import subprocess
import time

SETUP_TIMEOUT_S = 900
TICKS = os.sysconf("SC_CLK_TCK")


class SystemFailed(RuntimeError):
    """A system that died, hung or spoke nonsense; the text says which."""


def pinned(command, threads):
    """The command bound to as many cores as it has threads: the last ones, which idle most."""
    cores = sorted(os.sched_getaffinity(0))[-threads:]
    if not shutil.which("taskset"):
        raise SystemFailed("there is no `taskset`: apt-get install util-linux")
    return ["taskset", "--cpu-list", ",".join(map(str, cores)), *command]


def environment(threads):
    """OpenMP keeps its default of waiting: a short spin, then sleep. `passive` would slow the peers
    down inside their turns, and the driver checks that they sleep between them."""
    env = {k: v for k, v in os.environ.items() if k not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        env[name] = str(threads)
    return env


class PeerProcess:
    """A peer that waits on its stdin for its turn. The protocol is in peers/protocol.py."""

    def __init__(self, name, command, threads, work):
        self.name = name
        self.version = self.setting = ""
        self._command = pinned(command, threads)
        self._env = environment(threads)
        self._work = pathlib.Path(work)
        self._log = self._work / "logs" / f"{name}.log"
        self._buffer = b""
        self._process = None

    def start(self, timeout_s=SETUP_TIMEOUT_S):
        """Returns when it is warm."""
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                env=self._env, cwd=self._work, bufsize=0,
            )
        hello = self._reply("ready", timeout_s)
        self.version = hello.get("version", "")
        self.setting = hello.get("setting", "")

    def turn(self, seconds):
        try:
            self._process.stdin.write(f"{seconds}\n".encode())
        except OSError:
            pass  # it is dead; reading says why
        return float(self._reply("rate", 120 + 20 * seconds)["rate"])

    def cpu_seconds(self):
        """What all its threads have used so far."""
        try:
            stat = pathlib.Path(f"/proc/{self._process.pid}/stat").read_text()
        except OSError:
            return 0.0
        fields = stat.rpartition(")")[2].split()  # the name before may hold blanks
        return (int(fields[11]) + int(fields[12])) / TICKS

    def close(self):
        """EOF asks it to end; one that does not is killed."""
        if self._process is None:
            return
        self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def _reply(self, key, timeout_s):
        line = self._line(time.monotonic() + timeout_s, timeout_s)
        try:
            reply = json.loads(line)
            reply[key]
        except (ValueError, TypeError, KeyError):
            raise SystemFailed(f"it said {line[:200]!r} instead of a line with {key!r}") from None
        return reply

    def _line(self, deadline, timeout_s):
        while b"\n" not in self._buffer:
            with selectors.DefaultSelector() as selector:
                selector.register(self._process.stdout, selectors.EVENT_READ)
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    self._process.kill()
                    raise SystemFailed(f"no answer within {timeout_s:.0f} s; see {self._log}")
            chunk = os.read(self._process.stdout.fileno(), 65536)
            if not chunk:
                raise SystemFailed(self._obituary())
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode(errors="replace")

    def _obituary(self):
        code = self._process.wait()
        lines = self._log.read_text(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "nothing on stderr")
        return f"it ended with exit code {code}: {last[:200]} (see {self._log})"


class Penstock:
    """Penstock by its command line, one process per turn, so that nothing waits between turns."""

    setting = ""

    def __init__(self, command, rate_key, threads, version="", name="penstock"):
        self.name = name
        self.version = version
        self._command = pinned([*command, "--threads", str(threads)], threads)
        self._rate_key = rate_key
        self._env = environment(threads)

    def start(self):
        pass

    def cpu_seconds(self):
        return 0.0

    def close(self):
        pass

    def turn(self, seconds):
        command = [*self._command, "--json", "--rounds", "1", "--round-seconds", str(seconds)]
        try:
            result = subprocess.run(
                command, capture_output=True, text=True, env=self._env, timeout=120 + 20 * seconds
            )
            return float(json.loads(result.stdout.splitlines()[-1])[self._rate_key])
        except subprocess.TimeoutExpired:
            reason = "no answer in time"
        except (OSError, IndexError, ValueError, KeyError):
            reason = result.stderr.strip() or result.stdout.strip() or "it printed nothing"
        raise SystemFailed(f"`{shlex.join(command)}`: {reason}")


class Contest:
    """Rounds in which every system has one turn. Whoever fails is left out from then on."""

    def __init__(self, systems, on_turn=lambda name, round_number, rate: None):
        self._waiting = list(systems)
        self._on_turn = on_turn
        self.rates = {system.name: [] for system in systems}
        self.failed = {}
        self.versions = {}
        self.settings = {}
        self.idle_share = 0.0  # the most that all waiting systems together used of one core

    def run(self, rounds, seconds):
        try:
            for system in list(self._waiting):  # one by one: setting up takes a core or two
                self._guard(system, system.start)
            self.versions = {system.name: system.version for system in self._waiting}
            self.settings = {system.name: system.setting for system in self._waiting}
            for number in range(1, rounds + 1):
                self._round(number, seconds)
        finally:
            for system in self._waiting:
                system.close()

    def _round(self, number, seconds):
        # A different one begins each time, so that no one always follows the same neighbour's heat.
        shift = (number - 1) % max(1, len(self._waiting))
        for system in self._waiting[shift:] + self._waiting[:shift]:
            others = [other for other in self._waiting if other is not system]
            before, start = sum(o.cpu_seconds() for o in others), time.monotonic()
            rate = self._guard(system, lambda: system.turn(seconds))
            used = sum(o.cpu_seconds() for o in others) - before
            self.idle_share = max(self.idle_share, used / (time.monotonic() - start))
            if rate is not None:
                self.rates[system.name].append(rate)
            self._on_turn(system.name, number, rate)

    def _guard(self, system, action):
        try:
            return action()
        except SystemFailed as error:
            self.failed[system.name] = str(error)
            self.rates.pop(system.name)
            self._waiting.remove(system)
            system.close()
            return None
