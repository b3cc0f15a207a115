"""A booking service that is started, killed and called, as tests and benches do it."""

import http.client
import json
import pathlib
import signal


class Service:
    """A running `penstock booking serve`, with a clock that stands until it is set."""

    def __init__(self, penstock, folder, store, fleet, *options, now_ms=1_796_000_000_000):
        self.penstock, self.folder, self.store, self.options = penstock, pathlib.Path(folder), store, options
        self.fleet = self.folder / "north.json"
        self.fleet.write_text(json.dumps(fleet))
        self.clock = self.folder / "clock"
        self.set_clock(now_ms)
        self.process = None
        self.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def set_clock(self, now_ms):
        """Whole at any moment, as the service reads it meanwhile."""
        self.now_ms = now_ms
        draft = self.clock.with_suffix(".new")
        draft.write_text(str(now_ms))
        draft.replace(self.clock)

    def start(self):
        self.process = self.penstock.start("booking", "serve", "--fleet", self.fleet, "--store", self.store, "--port", 0,
                                           "--clock", self.clock, *self.options)
        url = self.process.stdout.readline().strip()
        assert url, self.process.stderr.read()
        self.port = int(url.rsplit(":", 1)[1])

    def kill(self, how=signal.SIGKILL):
        self.process.send_signal(how)
        code = self.process.wait(timeout=60)
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def end(self):
        if self.process.poll() is None:
            assert self.kill(signal.SIGTERM) == 0

    def line(self):
        return Line(self.port)


class Line:
    """A connection that is kept."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def ask(self, method, path, body=None):
        """(status, text)."""
        text = None if body is None else json.dumps(body)
        self.connection.request(method, path, body=text, headers={"Content-Type": "application/json"})
        reply = self.connection.getresponse()
        return reply.status, reply.read().decode()

    def get(self, path):
        status, text = self.ask("GET", path)
        assert status == 200, text
        return json.loads(text)

    def post(self, plan, verb, body):
        """(status, answer)."""
        status, text = self.ask("POST", f"/v1/plans/{plan}/{verb}", body)
        return status, json.loads(text)
