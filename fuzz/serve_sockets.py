"""Damaged requests for a real `hlteval serve`, as raw bytes over sockets, and damaged jobs.

    python -m fuzz.serve_sockets [--requests 500] [--jobs 30] [--first 0]

Requests are damaged in their bytes, cut off, or followed by others; jobs are uploads of damaged
fixtures, which processes of the server check. A trial fails if the server answers with 500 or ends;
at the end it must have printed nothing, and left nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

from fuzz.mutations import STRANGE, WORDS, mutate
from fuzz.serve import as_dropped, damaged_body
from fuzz.serving import framed
from fuzz.subjects import readers, seeds, uses

PROGRAM = """
from hlteval.serve.server import serve
from hlteval.serve.settings import ServeLimits, ServeSettings
limits = ServeLimits(headers=0.3, reading=1.0, pause=0.3, grace=0.5, rate=1e6)
serve(ServeSettings(), limits=limits, ready=lambda url, file: print(url, flush=True))
"""
ALLOWED = frozenset({0, 200, 201, 202, 204, 400, 403, 404, 405, 408, 409, 413, 421, 429, 503})


class Client:
    """A client of a server that runs.

    Args:
        url: that the server printed.
    """

    def __init__(self, url: str) -> None:
        self.port = urlsplit(url).port or 0
        self.cookie = self.path = ""
        answer = self.ask("GET", f"/?{urlsplit(url).query}")
        self.path = answer.partition(b"url=")[2].partition(b'"')[0].decode()
        self.cookie = answer.partition(b"hlteval=")[2].partition(b";")[0].decode()

    def head(self, method: str, path: str, *lines: str) -> bytes:
        """The head of a request."""
        host = f"127.0.0.1:{self.port}"
        own = [f"{method} {path} HTTP/1.1", f"Host: {host}", f"Origin: http://{host}"]
        own += [f"Cookie: hlteval={self.cookie}", *lines, "Connection: close", "", ""]
        return "\r\n".join(own).encode()

    def send(self, data: bytes) -> bytes:
        """The answer to bytes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as made:
            with suppress(ConnectionError):
                made.sendall(data)
            answer = b""
            with suppress(ConnectionError):
                while more := made.recv(65536):
                    answer += more
            return answer

    def ask(self, method: str, path: str, body: bytes = b"") -> bytes:
        """The answer to a request."""
        return self.send(self.head(method, path, f"Content-Length: {len(body)}") + body)

    def job(self, task: str) -> str:
        """The path of a new job."""
        body = json.dumps({"task": task}).encode()
        answer = self.ask("POST", f"{self.path}jobs", body)
        key = json.loads(answer.partition(b"\r\n\r\n")[2])["job"]
        return f"{self.path}jobs/{key}"


def damaged(data: bytes, draw: Random) -> bytes:
    """A request with some changes."""
    for _ in range(draw.randint(1, 4)):
        at = draw.randint(0, len(data))
        kind = draw.randrange(4)
        if kind == 0:
            data = data[:at] + draw.choice((*STRANGE, *WORDS)) + data[at + draw.randint(0, 3) :]
        elif kind == 1:
            data = data[:at]
        elif kind == 2:
            data += data[at:]
        else:
            data = data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :]
    return data


def request(client: Client, draw: Random) -> Counter[int]:
    """Send a damaged request."""
    length = draw.choice((0, 5, 20, 10**12))
    method = draw.choice(("GET", "POST", "PUT", "DELETE", "HEAD"))
    path = draw.choice((client.path, f"{client.path}jobs", "/", f"{client.path}jobs/x/begin"))
    head = client.head(method, path, f"Content-Length: {length}")
    answer = client.send(damaged(head + b'{"task":"hub4"}', draw))
    return Counter([int(answer.split()[1]) if answer.startswith(b"HTTP/1.1 ") else 0])


def job(client: Client, draw: Random) -> Counter[int]:
    """Do a job with a damaged submission."""
    name = draw.choice([each for each in readers() if uses(each)])
    use = draw.choice(uses(name))
    path = client.job(use.task)
    found: Counter[int] = Counter()

    def ask(method: str, end: str, body: bytes = b"") -> Any:
        answer = client.ask(method, path + end, body)
        found[int(answer.split()[1])] += 1
        return answer.partition(b"\r\n\r\n")[2]

    for side in ("submission", "reference"):
        body = framed(as_dropped(mutate(seeds(name), draw, alone=True)[0], draw))
        ask("PUT", f"/inputs/{side}", damaged_body(body, draw) if draw.random() < 0.1 else body)
    ask("POST", "/begin")
    for _ in range(600):
        state = json.loads(ask("GET", ""))
        if state["state"] in {"done", "uploading"}:
            break
        time.sleep(0.1)
    if "Internal error" in state["error"] or "ended" in state["error"]:
        found[999] += 1
        print(use, state["error"], flush=True)
    for part in state["parts"]:
        ask("GET", f"/parts/{part['key']}")
    ask("DELETE", "")
    return found


def main() -> None:
    """Run trials from a first number; exit code 1 if one fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--requests", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=30)
    parser.add_argument("--first", type=int, default=0, help="first number")
    options = parser.parse_args()
    totals: Counter[int] = Counter()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        places = {name: Path(folder, name) for name in ("home", "work", "tmp")}
        for place in places.values():
            place.mkdir()
        own = {"HOME": str(places["home"]), "TMPDIR": str(places["tmp"])}
        paths = os.pathsep.join(filter(None, (str(Path.cwd()), *sys.path)))
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            cwd=places["work"],
            env={**os.environ, **own, "PYTHONPATH": paths},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout
            client = Client(process.stdout.readline().strip())
            for number in range(options.first, options.first + options.requests):
                totals += request(client, Random(f"request {number}"))
            for number in range(options.first, options.first + options.jobs):
                totals += job(client, Random(f"job {number}"))
            process.terminate()
            out, errors = process.communicate(timeout=60)
        left = [str(path) for place in places.values() for path in place.rglob("*")]
    print(f"{options.requests} requests, {options.jobs} jobs: {dict(sorted(totals.items()))}")
    print(f"status {process.returncode}, printed {(out + errors)!r}, left {left}")
    wrong = set(totals) - ALLOWED
    sys.exit(1 if wrong or left or out or errors or process.returncode else 0)


if __name__ == "__main__":
    main()
