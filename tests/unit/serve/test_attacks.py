"""Attacks on a real server over sockets: it answers, or ends the connection, and goes on."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest

from fuzz.serving import framed
from tests.unit.serve.conftest import Served
from tests.unit.serve.visiting import FIXTURES

LONG = 60
"""Seconds after which a test gives up: the server waits for one."""


@contextmanager
def connected(served: Served) -> Iterator[socket.socket]:
    """A connection to the server."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=LONG) as made:
        yield made


def rest(made: socket.socket) -> bytes:
    """What the server sends until it ends the connection."""
    found = b""
    with suppress(ConnectionError):
        while data := made.recv(65536):
            found += data
    return found


def send(made: socket.socket, data: bytes) -> None:
    """Send bytes, of which the server may not want all."""
    with suppress(ConnectionError):
        made.sendall(data)


def status(answer: bytes) -> int:
    """The status of an answer; 0 if there is none."""
    return int(answer.split()[1]) if answer else 0


def head(served: Served, method: str, path: str, cookie: str, *lines: str) -> bytes:
    """The head of a request of the page."""
    host = f"127.0.0.1:{served.port}"
    own = [f"{method} {path} HTTP/1.1", f"Host: {host}", f"Cookie: {cookie}"]
    own += [f"Origin: http://{host}", *lines, "", ""]
    return "\r\n".join(own).encode()


def begun(served: Served) -> tuple[str, str]:
    """The path of a job that takes uploads, and the cookie."""
    path, cookie = served.enter()
    body = b'{"task":"speech-sf"}'
    length = f"Content-Length: {len(body)}"
    with connected(served) as made:
        send(made, head(served, "POST", f"{path}jobs", cookie, length, "Connection: close") + body)
        answer = rest(made)
    key = json.loads(answer.partition(b"\r\n\r\n")[2])["job"]
    return f"{path}jobs/{key}", cookie


def files(served: Served) -> list[Path]:
    """The uploaded files on the disk."""
    return [path for path in served.folder.glob("sessions/*/input/*/*") if path.is_file()]


def test_a_process_is_ready_before_the_first_job(served: Served):
    scratch = served.folder / "sessions" / "scratch"
    for _ in range(600):
        if scratch.is_dir():  # the working folder of its temporary files
            break
        time.sleep(0.1)
    assert scratch.is_dir()


def unfinished(data: bytes, served: Served) -> None:
    """Headers that never end end the connection."""
    with connected(served) as made:
        send(made, data)
        assert status(rest(made)) in {0, 400}


def dripping_headers(served: Served) -> None:
    with connected(served) as made:
        send(made, b"GET / HTTP/1.1\r\n")
        made.settimeout(0.2)
        sent = 0
        with suppress(ConnectionError):
            while sent < 100:
                send(made, b"X")
                sent += 1
                with suppress(TimeoutError):
                    if not made.recv(1):
                        break
        assert sent < 100


def second_request(served: Served) -> None:
    """A second request on a connection has no more time."""
    path, cookie = served.enter()
    with connected(served) as made:
        send(made, head(served, "GET", path, cookie))
        assert made.recv(15) == b"HTTP/1.1 200 OK"
        send(made, b"GET / HTTP/1.1\r\nX: ")
        assert b"HTTP/1.1" not in rest(made)


def stopping_body(served: Served) -> None:
    job, cookie = begun(served)
    line = b'{"name":"a.json","size":1000}\n'
    with connected(served) as made:
        length = f"Content-Length: {len(line) + 1000}"
        send(made, head(served, "PUT", f"{job}/inputs/submission", cookie, length) + line + b"x")
        assert status(rest(made)) == 408


def dripping_body(served: Served) -> None:
    job, cookie = begun(served)
    with connected(served) as made:
        lines = ("Transfer-Encoding: chunked",)
        send(made, head(served, "PUT", f"{job}/inputs/submission", cookie, *lines))
        send(made, b'1e\r\n{"name":"a.json","size":1000}\n\r\n')
        made.settimeout(0.2)
        answer = b""
        for _ in range(100):
            send(made, b"1\r\nx\r\n")
            with suppress(TimeoutError, ConnectionError):
                answer += made.recv(1000)
                break
        assert status(answer) == 408


def unread_answers(served: Served) -> None:
    path, cookie = served.enter()
    with connected(served) as made:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        made.settimeout(0.5)
        one = head(served, "GET", path, cookie)
        begin = time.monotonic()
        with pytest.raises(ConnectionError):
            while time.monotonic() < begin + LONG:
                with suppress(TimeoutError):  # the server takes no more: its answers are not read
                    made.sendall(one)


def at_once(served: Served, attacks: Sequence[Callable[[Served], None]]) -> None:
    """Attack the server in many ways at a time, then see that it goes on and has kept nothing."""
    with ThreadPoolExecutor(len(attacks)) as pool:
        for done in [pool.submit(attack, served) for attack in attacks]:
            done.result()
    assert not files(served)
    assert served.is_well()


@pytest.mark.thorough
def test_who_is_slow_is_not_waited_for(served: Served):
    line = b"GET / HTTP/1.1\r\n"
    beginnings = (b"", b"G", line, line + b"Host: x\r\nX: ", b"\r\n" * 100)
    heads = [partial(unfinished, data) for data in beginnings]
    others = [second_request, stopping_body, dripping_body, unread_answers]
    at_once(served, [*heads, dripping_headers, *others])


NO_REQUESTS = (
    b"GET / HTTP/1.1\r\nX: " + b"x" * 2_000_000,
    b"GET /" + b"x" * 2_000_000,
    b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 200_000,
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 500,
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET /\r\n\r\n",
    b"\x00" * 5000,
    b"GET / HTTP/9.9\r\nHost: x\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
    b"GET / HTTP/1.1\r\n Host: x\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
)


def refused(data: bytes, served: Served) -> None:
    with connected(served) as made:
        send(made, data)
        assert status(rest(made)) in {0, 400, 405, 421}, data[:50]


def test_what_is_no_request_is_refused(served: Served):
    at_once(served, [partial(refused, data) for data in NO_REQUESTS])


@pytest.mark.parametrize(
    ("lines", "statuses"),
    [
        (("Host: evil.example",), {400, 421}),
        (("Content-Length: 5", "Content-Length: 6"), {400}),
        (("Content-Length: -1",), {400}),
        (("Content-Length: 99999999999999999999",), {400, 413}),
        (("Transfer-Encoding: gzip",), {400, 501}),
        (("Content-Length: 99999999999",), {413}),
    ],
)
def test_odd_headers_are_refused(
    served: Served, lines: tuple[str, ...], statuses: set[int]
) -> None:
    job, cookie = begun(served)
    with connected(served) as made:
        send(made, head(served, "PUT", f"{job}/inputs/submission", cookie, *lines))
        assert status(rest(made)) in statuses
    assert served.is_well()


def test_a_target_with_another_host_is_not_followed(served: Served):
    path, cookie = served.enter()
    with connected(served) as made:
        target = f"http://evil.example{path}"
        send(made, head(served, "GET", target, cookie, "Connection: close"))
        assert status(rest(made)) in {400, 404}


def test_an_upload_that_is_broken_off_leaves_nothing(served: Served):
    job, cookie = begun(served)
    line = b'{"name":"a.json","size":100000}\n'
    with connected(served) as made:
        length = f"Content-Length: {len(line) + 100_000}"
        send(made, head(served, "PUT", f"{job}/inputs/submission", cookie, length) + line)
        send(made, b"x" * 50_000)
    body = framed([("a.json", b"{}")])
    for _ in range(100):  # until the server has seen the end
        with connected(served) as made:
            lines = (f"Content-Length: {len(body)}", "Connection: close")
            send(made, head(served, "PUT", f"{job}/inputs/submission", cookie, *lines) + body)
            if status(rest(made)) == 200:
                break
        time.sleep(0.02)
    assert [path.read_bytes() for path in files(served)][-1] == b"{}"
    assert not [path for path in files(served) if path.stat().st_size > 2]


def test_a_body_without_end_is_cut_off(served: Served):
    path, cookie = served.enter()
    with connected(served) as made:
        send(made, head(served, "POST", f"{path}jobs", cookie, "Transfer-Encoding: chunked"))
        send(made, (b"4000\r\n" + b"x" * 0x4000 + b"\r\n") * 20)
        assert status(rest(made)) in {0, 413}
    assert served.is_well()


def test_no_second_request_is_smuggled(served: Served):
    path, cookie = served.enter()
    lines = ("Content-Length: 6", "Transfer-Encoding: chunked", "Connection: close")
    with connected(served) as made:
        send(made, head(served, "POST", f"{path}jobs", cookie, *lines) + b"0\r\n\r\nG")
        send(made, head(served, "GET", path, cookie))
        assert rest(made).count(b"HTTP/1.1") <= 1
    assert served.is_well()


def test_many_at_once_do_not_stop_it(served: Served):
    with ExitStack() as stack:
        many = [stack.enter_context(connected(served)) for _ in range(300)]
        for number, made in enumerate(many):
            send(made, b"GET / HTTP/1.1\r\nHost: x\r\n" + b"\r\n" * (number % 2))
        answers = [status(rest(made)) for made in many]
    assert set(answers) <= {0, 421, 503}
    assert served.is_well()


def test_a_job_over_the_network_is_done_in_a_process_of_its_own(served: Served):
    job, cookie = begun(served)
    body = framed([("run.json", (FIXTURES / "speech-sf/valid/submission.json").read_bytes())])
    for method, path, data in (
        ("PUT", f"{job}/inputs/submission", body),
        ("POST", f"{job}/begin", b""),
    ):
        with connected(served) as made:
            lines = (f"Content-Length: {len(data)}", "Connection: close")
            send(made, head(served, method, path, cookie, *lines) + data)
            assert status(rest(made)) in {200, 202}
    state: dict[str, object] = {"state": "waiting"}
    for _ in range(600):
        with connected(served) as made:
            send(made, head(served, "GET", job, cookie, "Connection: close"))
            state = json.loads(rest(made).partition(b"\r\n\r\n")[2])
        if state["state"] == "done":
            break
        time.sleep(0.1)
    assert (state["state"], state["error"]) == ("done", "")
    with connected(served) as made:
        send(made, head(served, "DELETE", job, cookie, "Connection: close"))
        assert status(rest(made)) == 204
    assert not (served.folder / "sessions" / job.rpartition("/")[2]).exists()
