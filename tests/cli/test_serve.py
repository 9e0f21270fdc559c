"""`hlteval serve` on the command line: what is checked before it serves, and how it ends."""

from __future__ import annotations

import http.client
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from hlteval.serve.settings import ServeSettings
from tests.cli.conftest import Invoke

FIXTURES = Path(__file__).parents[2] / "fixtures"
FULL = str(FIXTURES / "standoff/valid/full")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[ServeSettings, dict[str, Any]]]:
    """The settings of servers that would have been started."""
    found: list[tuple[ServeSettings, dict[str, Any]]] = []

    def serve(settings: ServeSettings, **more: Any) -> None:
        more["ready"]("http://127.0.0.1:1/?token=x", Path("open.html"))
        found.append((settings, more))

    monkeypatch.setattr("hlteval.serve.server.serve", serve)
    return found


def test_without_arguments_users_choose(invoke: Invoke, started, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = invoke("serve")
    assert result.exit_code == 0
    assert result.stdout == "http://127.0.0.1:1/?token=x\n"
    assert "Ctrl-C" in result.stderr
    ((settings, more),) = started
    assert settings == ServeSettings()
    assert more["port"] == 0


def test_what_an_organiser_gives(invoke: Invoke, started, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    corpus = str(FIXTURES / "hub4/valid/corpus.sgml")
    reference = str(FIXTURES / "hub4/valid/reference.tpl")
    options = ["--option", f"corpus={corpus}", "--option", "mode=both", "--port", "8123"]
    result = invoke("serve", "hub4", "-r", reference, *options, "--jobs", "1")
    assert result.exit_code == 0, result.output
    ((settings, more),) = started
    assert settings.files == {"reference": Path(reference), "option-corpus": Path(corpus)}
    assert settings.values == {"mode": "both"}
    assert (more["port"], more["limits"].jobs) == (8123, 1)


def test_defaults_of_the_folder(invoke: Invoke, started, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hlteval.toml").write_text(
        f"task = 'seedev-full'\nreference = '{FULL}'\nprofile = 'official'\n"
    )
    assert invoke("serve").exit_code == 0
    assert invoke("serve", "--profile", "plan").exit_code == 0
    assert invoke("serve", "--defaults", "none").exit_code == 0
    assert invoke("serve", "hub4").exit_code == 0
    found = [(each.task, bool(each.reference), each.profile) for each, _ in started]
    assert found == [
        ("seedev-full", True, "official"),
        ("seedev-full", True, "plan"),
        ("", False, ""),
        ("hub4", False, ""),
    ]
    (tmp_path / "hlteval.toml").write_text("tasks = 'hub4'\n")
    assert invoke("serve").exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (("hub5",), 2, "unknown task hub5; did you mean hub4?"),
        (("hub4", "-r", "nowhere"), 2, "no such file or folder: nowhere"),
        (("-r", "nowhere"), 2, "need the name of a task"),
        (("--option", "mode=both"), 2, "need the name of a task"),
        (("hub4", "--option", "mode"), 2, "use NAME=VALUE"),
        (("hub4", "--option", "mode=odd"), 2, "invalid value odd of --mode"),
        (("hub4", "--option", "modes=both"), 2, "unknown option modes of hub4"),
        (("lorehlt-mt", "--option", "meteor-jar=x.jar"), 2, "names a program"),
        (("hub4", "--profile", "official"), 2, "no profile official"),
        (("ccu-ta2", "-r", FULL), 2, "ccu-ta2 has no reference"),
        (("--port", "70000"), 2, "70000"),
        (("--encoding", "nix"), 2, "nix"),
        (("seedev-full", "-r", str(FIXTURES / "seedev/invalid/SEE205-entity-type")), 1, "REF106"),
    ],
)
def test_nothing_is_served_with_an_error(
    invoke: Invoke, started, tmp_path, monkeypatch, arguments, code, reason
):
    monkeypatch.chdir(tmp_path)
    result = invoke("serve", *arguments)
    assert result.exit_code == code
    assert reason in " ".join(result.output.split())
    assert not started


def test_a_missing_library_is_named(invoke: Invoke, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("hlteval.serve.server.find_spec", lambda _: None)
    result = invoke("serve")
    assert result.exit_code == 2
    assert "pip install 'hlteval[serve]'" in result.output


def test_a_port_that_is_taken_is_reported(invoke: Invoke, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        result = invoke("serve", "--port", str(port))
    assert result.exit_code == 2
    assert f"cannot use port {port}" in result.output


def test_ctrl_c_ends_it_quietly_and_nothing_is_left(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with subprocess.Popen(
        [sys.executable, "-m", "hlteval", "serve", "--no-browser"],
        cwd=tmp_path,
        env={"PATH": "", "TMPDIR": str(scratch), "PYTHONPATH": ":".join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        assert process.stdout
        address = process.stdout.readline().strip()
        port = int(address.rpartition(":")[2].partition("/")[0])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", f"/{address.partition('/?')[1][1:]}{address.partition('/?')[2]}")
        assert connection.getresponse().status == 200
        assert list(scratch.iterdir())
        for _ in range(2):  # impatient people press it twice
            process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
        connection.close()
    assert (out, process.returncode) == ("", 0)
    assert errors.splitlines() == [
        "note: open this address in a browser on this machine; Ctrl-C stops the server"
    ]
    assert list(scratch.iterdir()) == []


def test_the_files_of_a_server_that_was_killed_are_removed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock shows which folders have a server; other users' and unlocked ones are left."""
    from hlteval.serve.server import _folder
    from hlteval.workflows.evaluation.pipeline import lock_folder

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    orphan, running, starting = (tmp_path / f"hlteval-serve-{n}" for n in ("a", "b", "c"))
    for folder in (orphan, running, starting):
        (folder / "sessions" / "1").mkdir(parents=True)
        (folder / "sessions" / "1" / "000001").write_text("an upload")
    with lock_folder(orphan):
        pass
    with lock_folder(running), _folder() as own:
        assert {path.name for path in tmp_path.iterdir()} == {
            running.name, starting.name, own.name,
        }  # fmt: skip
    assert not own.exists()
