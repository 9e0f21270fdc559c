"""Damaged uploads and requests for `hlteval serve`: answers only, nothing written elsewhere.

    python -m fuzz.serve [--inputs 5000] [--first 0]

Fixtures of all formats are damaged and uploaded as files, folders and archives, under damaged names
and in damaged bodies; paths, headers, methods, options and orders are damaged, too. All is drawn
from a seed. A trial fails on a status of 500 or above that is not declared, an internal error, an
answer with a path of this machine, or a file outside the folder of the server.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import os
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from fuzz.mutations import STRANGE, TEXTS, WORDS, Files, mutate
from fuzz.serving import HOST, Visitor, application, framed, of_folder
from fuzz.subjects import CONTEXTS, FIXTURES, readers, seeds, uses
from hlteval import tasks
from hlteval.serve.application import offered_options
from hlteval.serve.settings import ServeLimits

DECLARED = frozenset({200, 201, 202, 204, 400, 403, 404, 405, 408, 409, 413, 421, 429})
"""The statuses of answers; the bounds of the server are not reached."""
NAMES = (
    *(
        "../x",
        "/etc/passwd",
        "C:x",
        "a\\b",
        "a\0b",
        ".",
        "..",
        "",
        " ",
        "-",
        "<stdin>",
        "con",
        "nul.txt",
    ),
    *(
        "a/../../x",
        "x" * 300,
        "x/" * 400 + "y",
        "\u202eb",
        "A.a2",
        "a.a2",
        ".hidden",
        "a.zip",
        "a.tar.gz",
    ),
    *(
        "__MACOSX/._a",
        "s3://bucket/x",
        "http://x/y",
        "~/x",
        "$HOME/x",
        "a;b",
        "a\nb",
        "\ud800",
        "e\u0301",
    ),
)
"""Names of files that a browser would hardly give."""
PATHS = (
    *(
        "",
        "/",
        "//",
        "/..",
        "/%2e%2e/",
        "/..%2f..%2fetc%2fpasswd",
        "/%00",
        "/\xff",
        "/" + "x" * 5000,
    ),
    *("/jobs", "/jobs/", "/jobs/x", "/jobs/x/begin", "/jobs/x/inputs/submission", "/s//", "/s/x/"),
)
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "X")
HEADERS = (
    *("host", "origin", "cookie", "sec-fetch-site", "content-length", "transfer-encoding", "range"),
    *("content-type", "x-forwarded-for", "x-http-method-override", "if-none-match", "expect"),
)
VALUES = (
    *("", HOST, f"http://{HOST}", "null", "evil.example", "hlteval=x", "hlteval=", "same-origin"),
    *(
        "cross-site",
        "-1",
        "99999999999",
        "chunked",
        "bytes=0-1,1-2",
        "x" * 3000,
        "\xff",
        "a;b=c",
        '"',
    ),
)


@dataclass
class Totals:
    """What came of all trials.

    Attributes:
        inputs: damaged uploads, bodies and requests.
        statuses: of the answers.
        outcomes: of the parts of jobs.
        errors: the beginnings of what jobs say that have no outcome.
        failures: why trials failed, with their numbers.
        slowest: CPU seconds of a trial, and its number.
    """

    inputs: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, str]] = field(default_factory=list)
    slowest: tuple[float, int] = (0.0, 0)


async def trial(number: int, visitor: Visitor, totals: Totals) -> None:
    """One trial: a damaged upload or a damaged request, and the answers to it."""
    draw = Random(f"serve {number}")
    visitor.answers.clear()
    notices: list[str] = []
    visitor.application.notify = notices.append
    if draw.random() < 0.25:
        await _request(visitor, draw)
        totals.inputs += 1
    else:
        totals.inputs += await _upload(visitor, draw, totals)
    for answer in visitor.answers:
        totals.statuses[answer.status_code] += 1
    if reason := _wrong(visitor):
        totals.failures.append((number, "; ".join((reason, *notices))))


def _wrong(visitor: Visitor) -> str:
    """Why answers are wrong; empty if they are not."""
    secret = [str(visitor.application.sessions.root).encode(), str(Path.cwd()).encode()]
    secret += [str(Path.home()).encode() + b"/", b"Traceback (most recent"]
    for answer in visitor.answers:
        if answer.status_code not in DECLARED:
            return f"status {answer.status_code}: {answer.text[:200]}"
        if answer.headers.get("cache-control") != "no-store":
            return "an answer without its headers"
        if found := [each for each in secret if each in answer.content]:
            return f"an answer shows {found[0]!r}"
        if b"Internal error" in answer.content[-5000:]:
            return answer.text[:500]
    return ""


async def _request(visitor: Visitor, draw: Random) -> None:
    """A damaged request."""
    paths = [*PATHS, visitor.path, f"{visitor.path}jobs", visitor.path[:-2]]
    path = draw.choice(paths) + draw.choice(("", "", "?token=x", "?token=%00", "?" + "a=b&" * 500))
    if draw.random() < 0.3:
        path = _damaged_text(path, draw)
    headers = {draw.choice(HEADERS): draw.choice(VALUES) for _ in range(draw.randint(0, 3))}
    body = draw.choice((b"", b"{}", b'{"task":"hub4"}', b"[" * 5000, os.urandom(0), *STRANGE))
    await _send(visitor, draw.choice(METHODS), path or "/", headers, body)


async def _send(
    visitor: Visitor, method: str, path: str, headers: Mapping[str, str], body: bytes
) -> None:
    """Send a request as ASGI has it, whatever an HTTP library thinks of it."""
    messages: list[Mapping[str, Any]] = []
    own = {"host": HOST, "origin": f"http://{HOST}"}
    cookies = "; ".join(f"{c.name}={c.value}" for c in visitor.client.cookies.jar)
    own |= {"cookie": cookies, **headers}
    route, _, query = path.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": route,
        "raw_path": route.encode("utf-8", "replace"),
        "query_string": query.encode("utf-8", "replace"),
        "root_path": "",
        "headers": [(n.encode(), v.encode("latin-1", "replace")) for n, v in own.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
    }
    bodies = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive() -> Mapping[str, Any]:
        return next(bodies, {"type": "http.disconnect"})

    async def send(message: Mapping[str, Any]) -> None:
        messages.append(message)

    await visitor.application(scope, receive, send)  # type: ignore[arg-type]
    import httpx

    start = messages[0]
    content = b"".join(each.get("body", b"") for each in messages[1:])
    plain = [(n, v) for n, v in start["headers"] if n != b"content-length"]
    visitor.answers.append(httpx.Response(start["status"], headers=plain, content=content))


def _damaged_text(text: str, draw: Random) -> str:
    at = draw.randint(0, len(text))
    strange = draw.choice((*WORDS, *STRANGE)).decode("latin-1")
    return text[:at] + strange + text[at + draw.randint(0, 3) :]


async def _upload(visitor: Visitor, draw: Random, totals: Totals) -> int:
    """A job with damaged inputs; how many were damaged."""
    name = draw.choice(readers())
    use = draw.choice(uses(name) or uses("jsonl"))
    inputs, damaged = _inputs(name, use, draw)
    order = {"task": use.task, "lenient": draw.random() < 0.5, "options": _options(use.task, draw)}
    if draw.random() < 0.2:
        order["profile"] = "official"
    answer = await visitor.ask("POST", f"{visitor.path}jobs", json=order)
    if answer.status_code != 201:
        return 1
    path = f"{visitor.path}jobs/{answer.json()['job']}"
    for side, body in inputs.items():
        await visitor.ask("PUT", f"{path}/inputs/{side}", content=body)
    answer = await visitor.ask("POST", f"{path}/begin")
    if answer.status_code == 202:
        state = await visitor.finished(path)
        totals.outcomes.update(part["outcome"] or "made" for part in state["parts"])
        if state["error"]:
            totals.outcomes["error"] += 1
            totals.errors[" ".join(state["error"].split()[:6])] += 1
        await visitor.read(path, state)
    await visitor.ask("DELETE", path)
    return damaged


def _inputs(name: str, use: Any, draw: Random) -> tuple[dict[str, bytes], int]:
    """The bodies of the inputs of a job, and how many were damaged."""
    context = CONTEXTS[use.task]
    side = {"against": "reference", "submission": "submission"}.get(use.role, f"option-{use.role}")
    files = {"submission": of_folder(FIXTURES / context.submission)}
    if context.against:
        files["reference"] = of_folder(FIXTURES / context.against)
    for option, path in context.options.items():
        files[f"option-{option}"] = of_folder(FIXTURES / path)
    files[side] = as_dropped(mutate(seeds(name), draw, alone=True)[0], draw)
    if draw.random() < 0.1 and tasks.load(use.task).metric:
        files["second"] = as_dropped(mutate(seeds(name), draw, alone=True)[0], draw)
    bodies = {each: framed(some) for each, some in files.items()}
    if draw.random() < 0.1:
        bodies[side] = damaged_body(bodies[side], draw)
    return bodies, 1 + ("second" in bodies)


def as_dropped(subject: Files, draw: Random) -> list[tuple[str, bytes]]:
    """A damaged input as a browser gives it: a file, a folder or an archive, under any name."""
    found = [
        (f"{subject.name}/{path}" if path else subject.name, content or b"")
        for path, content in subject.files.items()
    ]
    if draw.random() < 0.2:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for path, content in found:
                archive.writestr(path or "x", content)
        data = packed.getvalue()
        if draw.random() < 0.5:
            at = draw.randrange(len(data))
            data = data[:at] + bytes([draw.randrange(256)]) + data[at + draw.randint(0, 2) :]
        return [("run.zip", data)]
    if draw.random() < 0.3:
        at = draw.randrange(len(found)) if found else 0
        found[at : at + 1] = [(draw.choice(NAMES), found[at][1] if found else b"")]
    return found or [("empty", b"")]


def damaged_body(body: bytes, draw: Random) -> bytes:
    """The body of an upload with one change near its beginning."""
    at = draw.randint(0, min(len(body), 200))
    return body[:at] + draw.choice((*STRANGE, *WORDS)) + body[at + draw.randint(0, 5) :]


def _options(task: str, draw: Random) -> dict[str, str]:
    """Values of options, right and wrong."""
    options = [each for each in offered_options(tasks.load(task)) if not each.is_input]
    if not options or draw.random() < 0.6:
        return {}
    option = draw.choice(options)
    values: Sequence[str] = option.choices or ("yes", "1", "0.5", "both", *TEXTS)
    value = draw.choice(values)
    return {} if "meteor" in value else {option.name: value}


@contextmanager
def watched() -> Iterator[tuple[Path, list[str]]]:
    """A home, a working folder and a folder for temporary files; what is left in them."""
    left: list[str] = []
    before, variables = Path.cwd(), dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        places = {name: Path(folder, name) for name in ("home", "work", "tmp")}
        for place in places.values():
            place.mkdir()
        os.environ |= {"HOME": str(places["home"]), "TMPDIR": str(places["tmp"])}
        tempfile.tempdir = None
        os.chdir(places["work"])
        try:
            yield Path(folder), left
        finally:
            os.chdir(before)
            os.environ.clear()
            os.environ |= variables
            tempfile.tempdir = None
        left += [str(path.relative_to(folder)) for path in Path(folder).rglob("*")]
    left[:] = sorted(set(left) - {"home", "work", "tmp"})


def run(first: int, inputs: int) -> tuple[Totals, list[str]]:
    """Trials from a first number until so many inputs were tried; what was left on the disk."""
    totals = Totals()

    async def trials() -> None:
        with application(limits=ServeLimits(session_jobs=2)) as made:
            visitor = Visitor(made)
            await visitor.enter()
            number = first
            while totals.inputs < inputs:
                begin = time.process_time()
                try:
                    await trial(number, visitor, totals)
                except Exception as error:
                    totals.failures.append((number, f"{type(error).__name__}: {error}"))
                    totals.inputs += 1
                totals.slowest = max(totals.slowest, (time.process_time() - begin, number))
                outside = [p for p in Path(made.sessions.root).iterdir() if not p.is_dir()]
                outside += list(Path.cwd().iterdir()) + list(Path.home().iterdir())
                if outside:
                    totals.failures.append((number, f"written: {outside[:3]}"))
                number += 1
                if number % 200 == 0:
                    print(
                        f"{totals.inputs} inputs, {len(totals.failures)} failures",
                        file=sys.stderr,
                        flush=True,
                    )

    with watched() as (_, left):
        asyncio.run(trials())
    return totals, left


def main() -> None:
    """Run trials; exit code 1 if one fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--inputs", type=int, default=5000)
    parser.add_argument("--first", type=int, default=0, help="first number")
    options = parser.parse_args()
    totals, left = run(options.first, options.inputs)
    for number, reason in totals.failures[:50]:
        print(f"{number}: {reason}")
    print(f"{totals.inputs:,} inputs, {len(totals.failures)} failed, {len(left)} files left")
    print(f"answers {dict(sorted(totals.statuses.items()))}; parts {dict(totals.outcomes)}")
    print(f"errors {dict(totals.errors.most_common(30))}")
    print(f"slowest {totals.slowest[0]:.2f} s CPU, number {totals.slowest[1]}")
    sys.exit(1 if totals.failures or left else 0)


if __name__ == "__main__":
    main()
