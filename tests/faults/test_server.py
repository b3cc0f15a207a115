"""The server of `penstock booking offer` and peers that mean it ill: no one can stop it, fill its memory or keep others waiting."""

import gzip
import http.client
import json
import pathlib
import random
import re
import select
import signal
import socket
import time

import pytest

DOC = pathlib.Path(__file__).resolve().parents[2] / "docs" / "booking" / "offer.md"
QUERY = re.search(r"```json\n(.*?)```", DOC.read_text(), re.S)[1].encode()
PATIENCE = 60  # seconds: of a machine that has little time for us
ROOM = 40_000  # KB that an attack may cost at most


class Answer:
    def __init__(self, reply, body):
        self.status, self.headers, self.body = reply.status, reply.headers, body

    @property
    def error(self):
        """Every refusal is JSON of one form."""
        assert self.status >= 400 and self.headers["Content-Type"] == "application/json"
        told = json.loads(self.body)
        assert list(told) == ["error"] and told["error"]
        return told["error"]


class Peer:
    """A socket that sends what it likes."""

    def __init__(self, server):
        self.server = server
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, *parts):
        for part in parts:
            self.socket.sendall(part if isinstance(part, bytes) else part.encode("latin-1"))
        return self

    def send_until_answered(self, piece, most):
        """Sends the piece again and again, as long as the other side says nothing; what it says then."""
        for _ in range(most):
            if select.select([self.socket], [], [], 0)[0]:
                return self.answer()
            self.send(piece)
        raise AssertionError(f"took {most} times {len(piece)} bytes")

    def answer(self, method="GET"):
        """The next one. Bytes behind it stay where they are."""
        reply = http.client.HTTPResponse(self, method=method)
        reply.begin()
        return Answer(reply, reply.read())

    def makefile(self, _mode):
        return Unbuffered(self.socket)

    def ends(self):
        """Whether there is nothing more to read, by a close or a reset."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def head(self, method, path, *lines, host=None):
        host = [f"Host: {host or f'127.0.0.1:{self.server.port}'}"] if host != "" else []
        return "\r\n".join([f"{method} {path} HTTP/1.1", *host, *lines, "", ""])


class Unbuffered:
    """What HTTPResponse reads from, without reading ahead."""

    def __init__(self, sock):
        self.sock = sock

    def readline(self, limit=-1):
        line = b""
        while not line.endswith(b"\n") and len(line) != limit:
            byte = self.sock.recv(1)
            if not byte:
                break
            line += byte
        return line

    def read(self, count):
        data = b""
        while len(data) < count:
            part = self.sock.recv(count - len(data))
            if not part:
                break
            data += part
        return data

    def flush(self):
        pass

    def close(self):
        pass


class Served:
    """A running server."""

    def __init__(self, penstock, *args):
        self.process = penstock.start("booking", "offer", "--serve", 0, *args)
        self.url = self.process.stdout.readline().strip()
        self.port = int(self.url.split(":")[2].split("/")[0])

    def ask(self, method, path, body=None, headers=None, timeout=PATIENCE):
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            line.request(method, path, body=body, headers=headers or {})
            reply = line.getresponse()
            return Answer(reply, reply.read())
        finally:
            line.close()

    def healthy(self):
        answer = self.ask("GET", "/health")
        return (answer.status, answer.body) == (200, b"ok\n")

    def prices(self, query=QUERY):
        answer = self.ask("POST", "/offer", query, {"Content-Type": "application/json"})
        return answer.status == 200 and len(json.loads(answer.body)["offers"]) == 16

    def metric(self, name):
        text = self.ask("GET", "/metrics").body.decode()
        return float(re.search(rf"^{re.escape(name)} (\S+)$", text, re.M)[1])

    def peak_kb(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status)[1])

    def end(self):
        """Seconds from SIGTERM to the end, and the exit code."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=PATIENCE)
        return time.monotonic() - begin, code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


@pytest.fixture(scope="module")
def shared(penstock):
    """One server for all attacks: what the first ones leave behind would meet the last."""
    with Served(penstock) as server:
        yield server
        assert server.healthy() and server.prices()
        assert server.end()[1] == 0


@pytest.fixture
def server(shared):
    """The server, which works as before when the test is over, in the memory that it had."""
    assert shared.prices()
    before = shared.peak_kb()
    yield shared
    assert shared.healthy() and shared.prices()
    assert shared.peak_kb() - before < ROOM


def refused(server, status, *parts):
    """What a peer that sends this is told; the connection ends with it."""
    with Peer(server) as peer:
        answer = peer.send(*parts).answer()
        assert answer.status == status and answer.headers["Connection"] == "close"
        assert peer.ends()
        return answer.error


# ---- bodies


def test_a_body_that_says_how_long_it_is(server):
    with Peer(server) as peer:
        peer.send(peer.head("POST", "/offer", "Content-Length: 1000000000"))
        assert "8000000 bytes" in peer.answer().error


def test_a_chunked_body_without_end(server):
    with Peer(server) as peer:
        peer.send(peer.head("POST", "/offer", "Transfer-Encoding: chunked"))
        answer = peer.send_until_answered(b"100000\r\n" + b" " * 0x100000 + b"\r\n", 1000)
        assert answer.status == 413 and "8000000 bytes" in answer.error


def test_a_chunk_of_absurd_size(server):
    for size in ("ffffffffffffffff", "10000000000000000", "-1", "7fffffffffffffff", ""):
        with Peer(server) as peer:
            peer.send(peer.head("POST", "/offer", "Transfer-Encoding: chunked"), size, "\r\n[[[[")
            assert peer.answer().status in (400, 413)


def test_a_chunk_s_endless_extension_and_an_endless_trailer(server):
    for begin in ("1;x=", "0\r\nx: "):
        with Peer(server) as peer:
            peer.send(peer.head("POST", "/offer", "Transfer-Encoding: chunked"), begin)
            assert peer.send_until_answered(b"x" * 4096, 10_000).status == 431


def test_bodies_that_unpack(server):
    bomb = gzip.compress(b"[" * 50_000_000)
    for coding in ("gzip", "br", "deflate", "gzip, gzip"):
        answer = server.ask("POST", "/offer", bomb, {"Content-Encoding": coding})
        assert answer.status == 415 and "Content-Encoding" in answer.error
    with Peer(server) as peer:
        peer.send(peer.head("POST", "/offer", "Transfer-Encoding: gzip, chunked"), "1\r\n[\r\n0\r\n\r\n")
        assert peer.answer().status == 501
        assert peer.ends()


@pytest.mark.parametrize("body", [b"[" * 62_000_000, b"[]," * 21_000_000], ids=["deep", "wide"])
def test_much_json(server, body):
    answer = server.ask("POST", "/offer", body)
    assert answer.status == 413 and answer.error


@pytest.mark.parametrize("body,why", [(b"", "not JSON"), (b'{"mode": "\xff\xfe"}', "not JSON"), (b"[1]", "object"),
                                      (b"{}", "missing")])
def test_bodies_that_are_no_query(server, body, why):
    answer = server.ask("POST", "/offer", body)
    assert answer.status == 400 and why in answer.error


def test_a_chunked_query_is_one(server):
    plain = server.ask("POST", "/offer", QUERY).body
    with Peer(server) as peer:
        peer.send(peer.head("POST", "/offer", "Transfer-Encoding: chunked"))
        for i in range(0, len(QUERY), 7):
            part = QUERY[i:i + 7]
            peer.send(f"{len(part):x};why=not\r\n", part, "\r\n")
        for byte in "0\r\nx: y\r\n\r\n":
            peer.send(byte)
        assert peer.answer().body == plain


# ---- heads


def test_many_headers(server):
    with Peer(server) as peer:
        peer.send(f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n")
        answer = peer.send_until_answered(b"".join(b"x-%d: %d\r\n" % (i, i) for i in range(50)), 4000)
        assert answer.status == 431 and answer.error
    with Peer(server) as peer:
        answer = peer.send(peer.head("GET", "/health", *["a: b"] * 150)).answer()
        assert answer.status == 431 and "100 headers" in answer.error
        assert peer.ends()
    with Peer(server) as peer:
        assert peer.send(peer.head("GET", "/health", *["a: b"] * 90)).answer().status == 200


def test_headers_that_come_one_by_one(server):
    """Each within a limit, all of them not."""
    with Peer(server) as peer:
        peer.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer.send(f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n")
        answer = peer.send_until_answered(b"a" * 300 + b": b\r\n", 100_000)
        assert answer.status == 431 and "16384 bytes" in answer.error


@pytest.mark.parametrize("line", ["GET /" + "x" * 20_000, "GET /health HTTP/1.1\r\nx: " + "y" * 20_000])
def test_long_lines(server, line):
    assert "16384 bytes" in refused(server, 431, line)


@pytest.mark.parametrize("lines", [["Content-Length: 2", "Content-Length: 3"], ["Content-Length: 2, 3"],
                                   ["Content-Length: 4", "Transfer-Encoding: chunked"],
                                   ["Transfer-Encoding: chunked", "Content-Length: 4"],
                                   ["Content-Length: -1"], ["Content-Length: 0x10"], ["Content-Length: 18446744073709551616"],
                                   ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
                                   ["a b: c"], [": c"], ["x: \x00"]])
def test_heads_with_two_meanings(server, lines):
    """One answer, and what follows is not taken for a request."""
    with Peer(server) as peer:
        second = peer.head("GET", "/health")
        answer = peer.send(peer.head("POST", "/offer", *lines), "0\r\n\r\n", second).answer()
        assert answer.status == 400 and answer.error
        assert peer.ends()


@pytest.mark.parametrize("lines,status", [
    (["Transfer-Encoding: identity"], 501), (["Transfer-Encoding: chunked, gzip"], 501), (["Expect: wonders"], 417)])
def test_what_is_not_supported(server, lines, status):
    with Peer(server) as peer:
        answer = peer.send(peer.head("POST", "/offer", *lines), "0\r\n\r\n").answer()
        assert answer.status == status and answer.error
        assert peer.ends()


def test_a_body_on_request(server):
    with Peer(server) as peer:
        peer.send(peer.head("POST", "/offer", f"Content-Length: {len(QUERY)}", "Expect: 100-continue"))
        assert Unbuffered(peer.socket).read(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
        assert peer.send(QUERY).answer().status == 200


# ---- pages of other sites


def test_the_host_must_be_this_one(server):
    with Peer(server) as peer:
        for host in (f"localhost:{server.port}", f"[::1]:{server.port}", f"LocalHost:{server.port}"):
            assert peer.send(peer.head("GET", "/health", host=host)).answer().status == 200
    for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1", f"127.0.0.1:{server.port + 1}",
                 f"127.0.0.1.evil.example:{server.port}", f"127.0.0.1:{server.port}.evil.example"):
        with Peer(server) as peer:
            answer = peer.send(peer.head("GET", "/health", host=host)).answer()
            assert answer.status == 421 and f"127.0.0.1:{server.port}" in answer.error
    with Peer(server) as peer:
        assert "Host" in peer.send(peer.head("GET", "/health", host="")).answer().error
    with Peer(server) as peer:
        assert "two Host" in peer.send(peer.head("GET", "/health", f"Host: 127.0.0.1:{server.port}")).answer().error


def test_the_origin_must_be_this_one(server):
    for origin in ("http://evil.example", "null", f"https://127.0.0.1:{server.port}", "http://127.0.0.1",
                   f"http://127.0.0.1:{server.port}@evil.example"):
        answer = server.ask("POST", "/offer", QUERY, {"Origin": origin, "Content-Type": "text/plain"})
        assert answer.status == 403 and "Origin" in answer.error
    for host in ("127.0.0.1", "localhost", "[::1]"):
        assert server.ask("POST", "/offer", QUERY, {"Origin": f"http://{host}:{server.port}"}).status == 200


# ---- paths and methods


@pytest.mark.parametrize("path", ["/", "/offer/", "/../../etc/passwd", "/%2e%2e/offer", "/offer%00", "/\xff\xfe", "//health"])
def test_other_paths(server, path):
    with Peer(server) as peer:
        answer = peer.send(peer.head("GET", path)).answer()
        assert answer.status == 404 and "POST /offer" in answer.error
        assert peer.send(peer.head("GET", "/health?why=not")).answer().body == b"ok\n"  # the connection stays


def test_other_methods(server):
    with Peer(server) as peer:
        answer = peer.send(peer.head("GET", "/offer")).answer()
        assert (answer.status, answer.headers["Allow"]) == (405, "POST") and answer.error
        answer = peer.send(peer.head("HEAD", "/health")).answer("HEAD")
        assert (answer.status, answer.headers["Content-Length"], answer.body) == (200, "3", b"")
        assert peer.send(peer.head("GET", "/health")).answer().body == b"ok\n"


def test_old_clients(server):
    with Peer(server) as peer:
        peer.send(f"GET /health HTTP/1.0\r\nHost: 127.0.0.1:{server.port}\r\n\r\n")
        assert peer.answer().body == b"ok\n" and peer.ends()
    with Peer(server) as peer:
        for _ in range(2):
            peer.send(f"GET /health HTTP/1.0\r\nHost: 127.0.0.1:{server.port}\r\nConnection: keep-alive\r\n\r\n")
            assert peer.answer().headers["Connection"] == "keep-alive"


# ---- many at a time


def test_requests_in_one_go_are_answered_in_turn(server):
    offer = server.ask("POST", "/offer", QUERY).body
    with Peer(server) as peer:
        ask = peer.head("POST", "/offer", f"Content-Length: {len(QUERY)}").encode() + QUERY
        peer.send(*[peer.head("GET", "/health").encode() + ask + peer.head("GET", "/nothing").encode()] * 20)
        for _ in range(20):
            assert peer.answer().body == b"ok\n"
            assert peer.answer().body == offer
            assert peer.answer().status == 404


def test_fault_27_random_bytes(server):
    """Dropped without a word or with one, in constant memory."""
    draw = random.Random(1)
    told = set()
    for i in range(300):
        with Peer(server) as peer:
            noise = draw.randbytes(draw.randrange(1, 3000))
            if i % 3 == 0:
                noise = peer.head("POST", "/offer", "Transfer-Encoding: chunked").encode() + noise
            elif i % 3 == 1:
                noise = bytes(draw.choice(b"GET /offer HTTP1.\r\n: ") for _ in range(200)) + b"\r\n\r\n"
            peer.send(noise)
            peer.socket.shutdown(socket.SHUT_WR)
            data = Unbuffered(peer.socket).read(12)
            told.add(data[9:12].decode())
    assert told <= {"", "400", "404", "413", "431", "505"} and "400" in told


def test_fault_27_bytes_without_a_line(server):
    with Peer(server) as peer:
        assert peer.send_until_answered(b"\x16\x03\x01" * 100, 10_000).status in (400, 431)
    with Peer(server) as peer:
        assert peer.send_until_answered(b"GET" * 100, 10_000).status == 431


def test_fault_27_connections_that_say_nothing_or_little(server):
    """Idle ones stay; slow ones are told 408 in the end; others are not kept waiting by either."""
    idle = [Peer(server) for _ in range(300)]
    slow = [Peer(server).send("POST /offer HTT") for _ in range(30)]
    for peer in slow[:10]:
        peer.send(f"P/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: 1000\r\n\r\n")
    try:
        assert server.metric("penstock_http_connections_open") >= 330
        told = {}
        begin = time.monotonic()
        while len(told) < len(slow) and time.monotonic() - begin < PATIENCE:
            assert server.healthy() and server.prices()
            for peer in slow:
                if peer in told:
                    continue
                try:
                    peer.send("x")
                    peer.socket.settimeout(0.01)
                    if peer.socket.recv(1, socket.MSG_PEEK):
                        peer.socket.settimeout(PATIENCE)
                        told[peer] = peer.answer()
                except TimeoutError:
                    pass
        assert [answer.status for answer in told.values()] == [408] * len(slow)
        assert all("within 10 s" in answer.error for answer in told.values())
        for peer in idle:
            assert peer.send(peer.head("GET", "/health")).answer().body == b"ok\n"
    finally:
        for peer in idle + slow:
            peer.socket.close()


def test_peers_that_do_not_read(server):
    """They are not read any more either, once the buffers of the system are full."""
    for _ in range(5):
        with Peer(server) as peer:
            peer.socket.settimeout(0.5)
            ask = peer.head("POST", "/offer", f"Content-Length: {len(QUERY)}").encode() + QUERY
            with pytest.raises(TimeoutError):
                for _ in range(200_000):
                    peer.send(ask)


def test_thousands_of_requests(server):
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    for _ in range(3000):
        line.request("POST", "/offer", QUERY)
        assert len(line.getresponse().read()) > 1000
    line.close()


def test_metrics(server):
    def requests():
        return server.metric('penstock_http_requests_total{path="/offer",status="200"}')

    before, received = requests(), server.metric("penstock_http_received_bytes_total")
    for _ in range(5):
        assert server.prices()
    assert requests() == before + 5
    assert server.metric("penstock_http_received_bytes_total") > received + 5 * len(QUERY)
    count = server.metric('penstock_http_request_seconds_count{path="/offer"}')
    assert count == server.metric('penstock_http_request_seconds_bucket{path="/offer",le="+Inf"}') >= requests()
    assert 0 < server.metric('penstock_http_request_seconds_sum{path="/offer"}') < count * PATIENCE
    assert server.metric("penstock_http_uptime_seconds") > 0
    server.ask("GET", "/nothing")
    assert server.metric('penstock_http_requests_total{path="other",status="404"}') > 0


# ---- work that takes long, and the end


def long_query():
    """A plan of 60 rides on 20 vehicles, on which a search can spend any time."""
    def stop(x, y, early):
        return {"x": x, "y": y, "earliest": early, "latest": early + 7200}
    rides = [{"id": f"r{i}", "pickup": stop(100 * i, 50 * i, 25200 + 60 * i),
              "dropoff": stop(6000 - 90 * i, 4000 - 60 * i, 27000 + 60 * i)} for i in range(61)]
    routes = [[name for ride in rides[v:60:20] for name in (ride["id"], ride["id"])] for v in range(20)]
    return json.dumps({"vehicles": 20, "capacity": 4, "depot": {"x": 3000, "y": 2000}, "requests": rides[:60],
                       "routes": routes, "new": rides[60]}).encode()


def ask_without_waiting(server, query):
    peer = Peer(server)
    return peer.send(peer.head("POST", "/offer", f"Content-Length: {len(query)}"), query)


def wait_until(condition):
    begin = time.monotonic()
    while not condition():
        assert time.monotonic() - begin < PATIENCE
        time.sleep(0.01)


def running(server):
    return server.metric("penstock_http_requests_running")


def test_health_while_offers_are_priced(penstock):
    """All workers are at searches without end. The end comes all the same, and they are told."""
    with Served(penstock, "--oracle", "rr-100000000", "--deadline", 1000) as server:
        askers = [ask_without_waiting(server, long_query()) for _ in range(5)]
        wait_until(lambda: running(server) == 2)
        assert server.metric("penstock_http_requests_waiting") == 3
        for _ in range(50):
            assert server.healthy()
        seconds, code = server.end()
        assert code == 0 and seconds < 20  # 5 s, on a machine that has time
        for asker in askers:
            assert asker.answer().status == 503 and asker.ends()


def test_nobody_waits_for_longer_than_the_deadline(penstock):
    """Searches without end: all are told, none goes on."""
    with Served(penstock, "--oracle", "rr-100000000", "--deadline", 0.5) as server:
        askers = [ask_without_waiting(server, long_query()) for _ in range(5)]
        for asker in askers:
            answer = asker.answer()
            assert answer.status == 503 and answer.headers["Retry-After"] == "1" and answer.error
        wait_until(lambda: running(server) == 0)
        seconds, code = server.end()
        assert code == 0


def test_the_end_waits_for_answers(penstock):
    """Requests that are priced, wait or come are answered; idle connections are closed, new ones not taken."""
    query = long_query()
    with Served(penstock, "--oracle", "rr-200", "--deadline", 1000) as server:
        idle = Peer(server)
        coming = Peer(server).send(Peer(server).head("POST", "/offer", f"Content-Length: {len(query)}"), query[:-1])
        before = server.metric("penstock_http_received_bytes_total")
        askers = [ask_without_waiting(server, query) for _ in range(3)]
        wait_until(lambda: server.metric("penstock_http_received_bytes_total") > before + 3 * len(query))
        server.process.send_signal(signal.SIGTERM)
        assert idle.ends()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
        coming.send(query[-1:])
        for asker in [*askers, coming]:
            answer = asker.answer()
            assert answer.status == 200 and len(json.loads(answer.body)["offers"]) == 16
            assert asker.ends()
        assert answer.headers["Connection"] == "close"
        assert server.process.wait(timeout=PATIENCE) == 0


def test_ctrl_c_ends_it_too(penstock):
    with Served(penstock) as server:
        assert server.prices()
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(timeout=PATIENCE) == 0
