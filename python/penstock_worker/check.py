"""Whether an env keeps what training relies on, and what it costs.

    python -m penstock_worker.check ID [--kwargs JSON] [--seconds 2] [--json]

ID is a Gymnasium id, "my_pkg:MyEnv-v0", which imports my_pkg first, or "my_pkg:make_env". Needs gymnasium, not torch.
The env is played in a child, which may hang or die. Exit code 0, or 1 where a check failed.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import mmap
import os
import select
import signal
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

SILENCE_S = 60.0  # beyond --seconds, after which a check counts as hanging


class Check(NamedTuple):
    """One of the checks: `result` is ok, warning (training takes it, though it is hardly meant so) or failed."""

    name: str
    result: str
    text: str

    def __str__(self) -> str:
        from penstock_worker.strangers import printable

        return f"{self.result:7}  {self.name}: {printable(self.text)}"


@dataclasses.dataclass(repr=False)
class EnvReport:
    """What was found of an env. `step_us` is the mean step in microseconds, `cpu_share` the part of it that computes,
    `memory_mb` what each further env takes; None where the checks did not get so far."""

    env: str
    checks: list[Check] = dataclasses.field(default_factory=list)
    step_us: float | None = None
    cpu_share: float | None = None
    memory_mb: float | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return all(check.result != "failed" for check in self.checks)

    def take(self, line: dict[str, Any]) -> Check | None:
        """A line of an Examination; the check in it, if there is one."""
        for name, value in line.get("measured", {}).items():
            setattr(self, name, value)
        if "check" not in line:
            return None
        self.checks.append(Check(**line["check"]))
        return self.checks[-1]

    def json(self) -> str:
        told = dataclasses.asdict(self)
        return json.dumps(told | {"checks": [check._asdict() for check in self.checks]}, ensure_ascii=False)

    def __repr__(self) -> str:
        counts = [f"{len(found)} {kind}" for kind in ("ok", "warning", "failed")
                  if (found := [check for check in self.checks if check.result == kind])]
        return "\n".join([f"{self.env}: {', '.join(counts)}", *map(str, self.checks)])


class Child:
    """Examines an env in a fork of this process."""

    def __init__(self, payload: str, seconds: float):
        self.steps = memoryview(mmap.mmap(-1, 8)).cast("Q")  # shared: in which step it is
        self.doing = "make"
        self.silence_s = SILENCE_S + seconds
        read, write = os.pipe()
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(read)
            be_child(payload, seconds, self.steps, write)
        os.close(write)
        self.pipe = read

    def lines(self) -> Iterator[dict[str, Any]]:
        """What it tells; of a child that hangs or dies, a check that failed."""
        text = b""
        while select.select([self.pipe], [], [], self.silence_s)[0]:
            if not (data := os.read(self.pipe, 1 << 16)):
                yield from self._ended(os.waitpid(self.pid, 0)[1])
                return
            *lines, text = (text + data).split(b"\n")
            for line in map(json.loads, lines):
                self.doing = line.get("doing", self.doing)
                yield line
        os.kill(self.pid, signal.SIGUSR1)  # it says on stderr where it is
        yield self._failed(f"no answer for {self.silence_s:g} s{self._place()}: it hangs")

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)

    def _ended(self, status: int) -> Iterator[dict[str, Any]]:
        from penstock_worker.process import status_text

        if status:
            yield self._failed(f"its process {status_text(status)}{self._place()}")

    def _place(self) -> str:
        return f" in step {self.steps[0]}" if self.steps[0] else ""

    def _failed(self, text: str) -> dict[str, Any]:
        return {"check": {"name": "step" if self.steps[0] else self.doing, "result": "failed", "text": text}}


def be_child(payload: str, seconds: float, steps: memoryview, pipe: int) -> None:
    code = 1
    try:
        import faulthandler

        os.dup2(2, 1)  # what an env prints
        sys.stdout = sys.stderr
        faulthandler.register(signal.SIGUSR1, all_threads=True)

        from penstock_worker.process import OneProcess

        this = OneProcess()

        def tell(line: dict[str, Any]) -> None:
            this.end_others()
            os.write(pipe, json.dumps(line).encode() + b"\n")

        examine(payload, seconds, steps, tell)
        code = 0
    except KeyboardInterrupt:
        pass
    finally:
        sys.stderr.flush()
        os._exit(code)  # threads and exit handlers of the env's libraries have no say


def examine(payload: str, seconds: float, steps: Any, tell: Any) -> None:
    """Importing what makes the env is the first check."""
    from penstock_worker.examine import Examination
    from penstock_worker.factory import Maker
    from penstock_worker.play import Failure, blame

    try:
        with blame("make"):
            make = Maker(payload)
    except Failure as failure:
        tell({"check": {"name": "make", "result": "failed", "text": str(failure)}})
        return
    Examination(tell, seconds, steps, make).run()


def report_of(payload: str, seconds: float, show: Any = None) -> EnvReport:
    """`payload` as penstock_worker.factory reads it; `show` gets each check as it comes."""
    report = EnvReport(json.loads(payload)["id"])
    child = Child(payload, seconds)
    try:
        for line in child.lines():
            if (check := report.take(line)) is not None and show is not None:
                show(check)
    finally:
        child.kill()
    return report


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m penstock_worker.check", description="Checks a Gymnasium env.")
    parser.add_argument("id", help="CartPole-v1, my_pkg:MyEnv-v0 or my_pkg:make_env; -: factory.Maker's JSON on stdin")
    parser.add_argument("--kwargs", type=json.loads, default={}, metavar="JSON", help="keywords of the env")
    parser.add_argument("--seconds", type=float, default=2.0, help="spent on random steps (2)")
    parser.add_argument("--json", action="store_true", help="one object instead of lines")
    args = parser.parse_args(words)
    payload = sys.stdin.read() if args.id == "-" else json.dumps({"id": args.id, "kwargs": args.kwargs})
    report = report_of(payload, args.seconds, None if args.json else lambda check: print(check, flush=True))
    if args.json:
        print(report.json())
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
