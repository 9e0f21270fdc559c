"""The guard of the page, and sessions that see nothing of each other."""

from __future__ import annotations

import asyncio
import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from fuzz.serving import HOST, PORT, Visitor, application, framed, of_folder
from hlteval.serve.settings import ServeLimits, ServeSettings
from tests.unit.serve.visiting import FLAWED, FRAMES, FULL, visit

ORIGIN = f"http://{HOST}"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": HOST}, 200),
        ({"host": f"localhost:{PORT}"}, 200),
        ({"host": f"[::1]:{PORT}"}, 200),
        ({"host": f"LOCALHOST:{PORT}"}, 200),
        ({"host": "127.0.0.1"}, 421),
        ({"host": f"127.0.0.1:{PORT + 1}"}, 421),
        ({"host": f"evil.example:{PORT}"}, 421),
        ({"host": f"127.0.0.1.evil.example:{PORT}"}, 421),
        ({"host": f"127.0.0.1:{PORT}@evil.example"}, 421),
        ({"host": ""}, 421),
        ({"host": HOST, "origin": "http://evil.example"}, 403),
        ({"host": HOST, "origin": "null"}, 403),
        ({"host": HOST, "sec-fetch-site": "cross-site"}, 403),
        ({"host": HOST, "sec-fetch-site": "same-site"}, 403),
        ({"host": HOST, "sec-fetch-site": "none"}, 200),
        ({"host": HOST, "x-forwarded-host": "evil.example"}, 200),
    ],
)
def test_the_page_is_read_under_its_own_address_only(headers: dict[str, str], status: int) -> None:
    async def steps(visitor: Visitor) -> None:
        del visitor.client.headers["origin"]
        answer = await visitor.ask("GET", visitor.path, headers=headers)
        assert answer.status_code == status

    visit(steps)


ELSEWHERE: tuple[dict[str, str], ...] = (
    {},
    {"origin": "null"},
    {"origin": "http://evil.example"},
    {"origin": f"https://{HOST}"},
    {"origin": f"http://localhost:{PORT}"},
    {"origin": ORIGIN, "sec-fetch-site": "cross-site"},
    {"origin": ORIGIN, "sec-fetch-site": "same-site"},
)
"""The headers of requests that come from other pages."""


def test_nothing_is_changed_from_elsewhere() -> None:
    async def steps(visitor: Visitor) -> None:
        path = await visitor.begin("speech-sf", {"submission": of_folder(FRAMES)})
        await visitor.finished(path)
        del visitor.client.headers["origin"]
        targets = (f"{visitor.path}jobs", path, f"{path}/begin", f"{path}/inputs/reference")
        for headers, method, target in product(ELSEWHERE, ("POST", "PUT", "DELETE"), targets):
            answer = await visitor.ask(method, target, headers=headers, content=b"{}")
            assert answer.status_code == 403, (headers, method, target)
        visitor.client.headers["origin"] = ORIGIN
        assert (await visitor.ask("GET", path)).status_code == 200

    visit(steps)


@pytest.mark.parametrize("token", ["", "x", "token-of-the-test", "token-of-the-tests2", "ü", "\0"])
def test_without_the_token_there_is_no_session(token: str) -> None:
    async def steps(visitor: Visitor) -> None:
        answer = await visitor.enter(token)
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers

    visit(steps)


def test_the_cookie_is_that_of_one_session():
    async def steps(visitor: Visitor) -> None:
        cookie = visitor.answers[0].headers["set-cookie"]
        assert re.fullmatch(
            rf"hlteval=[\w-]{{24}}; HttpOnly; Path={visitor.path}; SameSite=strict", cookie
        )
        assert visitor.path.split("/")[2] not in cookie.partition(";")[0]
        for cookies in ({}, {"hlteval": "x"}, {"hlteval": ""}, {"other": "x"}):
            visitor.client.cookies.clear()
            visitor.client.cookies.update(cookies)
            answer = await visitor.ask("GET", visitor.path)
            assert answer.status_code == 403

    visit(steps)


def test_one_session_sees_nothing_of_another():
    async def steps(visitor: Visitor) -> None:
        path, state = await visitor.done("speech-sf", {"submission": of_folder(FRAMES)})
        other = Visitor(visitor.application)
        await other.enter()
        assert other.path != visitor.path
        moved = path.replace(visitor.path, other.path)
        file = state["parts"][0]["files"][0]["key"]
        for own, status in ((path, 403), (moved, 404)):
            for end in ("", "/parts/findings", f"/files/{file}"):
                assert (await other.ask("GET", own + end)).status_code == status
            assert (await other.ask("POST", f"{own}/begin")).status_code == status
            assert (await other.ask("DELETE", own)).status_code == status
        assert (await visitor.ask("GET", path)).status_code == 200

    visit(steps)


PATHS = (
    "../../../../etc/passwd",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "..%5c..%5cetc%5cpasswd",
    "findings/../../order.json",
    "findings.html",
    "findings-json",
    "order.json",
    "%00",
    "/etc/passwd",
    "x" * 9000,
)


def test_only_what_a_job_names_is_sent() -> None:
    async def steps(visitor: Visitor) -> None:
        job, _ = await visitor.done("speech-sf", {"submission": of_folder(FRAMES)})
        for path, folder in product(PATHS, ("parts", "files", "inputs")):
            answer = await visitor.ask("GET", f"{job}/{folder}/{path}")
            if (path, folder) != ("findings-json", "files"):
                assert answer.status_code in {403, 404, 405}, path
            assert b"root:" not in answer.content
        for path in PATHS:
            answer = await visitor.ask("GET", f"{visitor.path}{path}")
            assert answer.status_code in {403, 404}, path
        assert (await visitor.ask("GET", f"{job}/files/findings")).status_code == 404

    visit(steps)


def test_a_link_among_the_results_leads_nowhere(tmp_path: Path):
    async def steps(visitor: Visitor) -> None:
        path, _ = await visitor.done("speech-sf", {"submission": of_folder(FRAMES)})
        (session,) = visitor.application.sessions.sessions.values()
        (job,) = session.jobs.values()
        report = job.folder / "output/findings.html"
        report.unlink()
        (tmp_path / "secret").write_text("secret")
        report.symlink_to(tmp_path / "secret")
        assert (await visitor.ask("GET", f"{path}/parts/findings")).status_code == 404

    visit(steps)


def test_every_answer_has_the_headers_that_keep_it_safe():
    async def steps(visitor: Visitor) -> None:
        path, state = await visitor.done("seedev-full", inputs())
        await visitor.read(path, state)
        await visitor.ask("GET", visitor.path)
        await visitor.ask("GET", "/nowhere")
        await visitor.ask("TRACE", visitor.path)
        await visitor.ask("GET", visitor.path, headers={"host": "evil.example"})
        await visitor.ask("GET", visitor.path, headers={"range": "bytes=0-1"})
        assert {404, 405} <= {answer.status_code for answer in visitor.answers}
        for answer in visitor.answers:
            held = answer.headers
            assert held["cache-control"] == "no-store"
            assert held["referrer-policy"] == "no-referrer"
            assert held["x-content-type-options"] == "nosniff"
            assert held["cross-origin-resource-policy"] == "same-origin"
            assert not [name for name in held if name.startswith("access-control-")]
            policy = held["content-security-policy"]
            assert "sandbox" in policy or "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "'self'" not in policy.partition("script-src")[2].partition(";")[0]
            assert answer.status_code != 206
            assert "server" not in held

    def inputs() -> dict[str, Any]:
        return {"submission": of_folder(FLAWED), "reference": of_folder(FULL)}

    visit(steps)


def test_what_an_organiser_gives_is_not_taken_from_users(tmp_path: Path):
    settings = ServeSettings("seedev-full", str(FULL), "plan")

    async def steps(visitor: Visitor) -> None:
        for order in (
            {"task": "hub4"},
            {"task": "nix"},
            {"task": "seedev-full", "given": {"reference": "/etc"}},
        ):
            answer = await visitor.ask("POST", f"{visitor.path}jobs", json=order)
            assert answer.status_code == (201 if "given" in order else 400)
        path = f"{visitor.path}jobs/{answer.json()['job']}"
        answer = await visitor.ask("PUT", f"{path}/inputs/reference", content=framed([("a", b"")]))
        assert answer.status_code == 404
        await visitor.ask("PUT", f"{path}/inputs/submission", content=framed(of_folder(FULL)))
        await visitor.ask("POST", f"{path}/begin")
        state = await visitor.finished(path)
        assert [part["outcome"] for part in state["parts"]] == ["pass", ""]

    visit(steps, settings)


@pytest.mark.parametrize(
    "options",
    [
        {"corpus": "/etc/passwd"},
        {"options": "/etc/passwd"},
        {"nix": "1"},
        {"beta": "1\0"},
        {"beta": "1" * 501},
    ],
)
def test_no_option_names_a_file_of_the_machine(options: dict[str, str]) -> None:
    async def steps(visitor: Visitor) -> None:
        order = {"task": "hub4", "options": options}
        answer = await visitor.ask("POST", f"{visitor.path}jobs", json=order)
        assert answer.status_code == 400
        order = {"task": "lorehlt-mt", "options": {"meteor_jar": "/tmp/evil.jar"}}
        assert (await visitor.ask("POST", f"{visitor.path}jobs", json=order)).status_code == 400

    visit(steps)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\n",
        b"{}",
        b"x" * 9000,
        b'{"name": "a", "size": 3}\nab',
        b'{"name": "a", "size": -1}\n',
        b'{"name": "a", "size": 99999999999999999999}\n',
        b'{"name": "a", "size": 2000000000}\n',
        b'{"name": "a", "size": 1, "more": 1}\nx',
        b'{"name": 1, "size": 1}\nx',
        b'{"name": "\xff", "size": 1}\nx',
        b"[" * 8000 + b"\n",
        framed([("a", b"x"), ("b", b"y")]) + b'{"name": "c", "size": 9}\nz',
    ],
)
def test_a_body_of_another_form_is_refused_and_can_be_sent_again(body: bytes) -> None:
    async def steps(visitor: Visitor) -> None:
        order = {"task": "speech-sf"}
        answer = await visitor.ask("POST", f"{visitor.path}jobs", json=order)
        path = f"{visitor.path}jobs/{answer.json()['job']}"
        answer = await visitor.ask("PUT", f"{path}/inputs/submission", content=body)
        assert answer.status_code in {400, 413}
        assert answer.json()["error"]
        answer = await visitor.ask("POST", f"{path}/begin")
        assert answer.status_code == 400
        assert visitor.application.sessions.used == 0
        again = framed(of_folder(FRAMES))
        answer = await visitor.ask("PUT", f"{path}/inputs/submission", content=again)
        assert answer.status_code == 200

    visit(steps)


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"task": 1}', b"[" * 60_000, b"\xff", b"{}"])
def test_what_is_no_order_is_refused(body: bytes) -> None:
    async def steps(visitor: Visitor) -> None:
        answer = await visitor.ask("POST", f"{visitor.path}jobs", content=body)
        assert answer.status_code == 400

    visit(steps)


def test_uploads_jobs_and_sessions_are_bounded():
    limits = ServeLimits(sessions=2, session_jobs=2, bytes=20_000)

    async def steps(visitor: Visitor) -> None:
        files = framed([("a.json", b"x" * 9_000)])
        for status in (200, 507):
            answer = await visitor.ask("POST", f"{visitor.path}jobs", json={"task": "speech-sf"})
            path = f"{visitor.path}jobs/{answer.json()['job']}"
            answer = await visitor.ask("PUT", f"{path}/inputs/submission", content=files)
            assert answer.status_code == status
        await visitor.ask("POST", f"{visitor.path}jobs", json={"task": "speech-sf"})
        (session,) = visitor.application.sessions.sessions.values()
        assert len(session.jobs) == 2
        assert len(list(visitor.application.sessions.root.iterdir())) == 2
        others = [Visitor(visitor.application) for _ in range(3)]
        assert [(await other.enter()).status_code for other in others] == [200] * 3
        assert len(visitor.application.sessions.sessions) == 2
        assert (await visitor.ask("GET", visitor.path)).status_code == 200

    visit(steps, limits=limits)


def test_what_nobody_asks_about_expires():
    async def steps(visitor: Visitor) -> None:
        sessions = visitor.application.sessions
        await visitor.done("speech-sf", {"submission": of_folder(FRAMES)})
        sessions.clock = lambda: 10**9
        await sessions.expire()
        assert not sessions.sessions
        assert not list(sessions.root.iterdir())
        assert (await visitor.ask("GET", visitor.path)).status_code == 403

    visit(steps)


def test_an_internal_error_shows_nothing_of_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    notices: list[str] = []

    def broken(*_: Any, **__: Any) -> None:
        raise AttributeError("secret")

    monkeypatch.setattr("hlteval.serve.work.validate", broken)

    async def steps(visitor: Visitor) -> None:
        visitor.application.notify = notices.append
        _, state = await visitor.done("speech-sf", {"submission": of_folder(FRAMES)})
        assert state["error"].startswith("Internal error (AttributeError)")
        monkeypatch.setattr(visitor.application.sessions, "find", broken)
        answer = await visitor.ask("GET", visitor.path)
        assert (answer.status_code, answer.text) == (
            500,
            '{"error":"Internal error of the server."}',
        )
        monkeypatch.undo()
        assert "secret" not in "".join(each.text for each in visitor.answers)

    visit(steps)
    assert notices[1:] == ["internal error of the server: AttributeError"]
    assert notices[0].startswith("internal error in a job: AttributeError at test_security.py:")


def test_a_page_has_nothing_but_its_own_script():
    async def steps(visitor: Visitor) -> None:
        answer = await visitor.ask("GET", visitor.path)
        assert "http" not in re.sub(r"<script.*?</script>", "", answer.text, flags=re.S)
        data = json.loads(re.findall(r'id="data">(.*?)</script>', answer.text)[0])
        assert {task["name"] for task in data["tasks"]} >= {"hub4", "ccu-ta2"}
        shown = {o["name"] for task in data["tasks"] for o in task["options"]}
        assert not shown & {"meteor_jar", "options"}

    visit(steps)
    with application() as made:
        asyncio.run(made.sessions.close())
