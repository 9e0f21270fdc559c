"""The environment: full disks, closed descriptors and signals, at commands as users run them.

Each is reported in one line, exit code 2; nothing is half-written, and nothing unfinished is left.
"""

from __future__ import annotations

import io
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from hlteval.cli import main, process

FIXTURES = Path(__file__).parents[2] / "fixtures"
HUB4 = FIXTURES / "hub4" / "valid"
TEMPLATES = str(HUB4 / "system.tpl")
SCORED = FIXTURES / "scores" / "seedev-full"
SCORE = ["score", "seedev-full", "-r", str(SCORED / "reference"), "-s", str(SCORED / "system")]
PRINTING = {
    "version": ["--version"],
    "explain": ["explain", "SEE205"],
    "validate": ["validate", "hub4", TEMPLATES, "--format", "json"],
    "score": SCORE,
    "convert": ["convert", TEMPLATES, "-", "--to", "jsonl"],
}
FULL = Path("/dev/full")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
REASON = {"full": "No space left on device", "closed": "it is closed"}


def run(arguments: Sequence[str], **more: Any) -> subprocess.CompletedProcess[bytes]:
    """A command as a user runs it."""
    command = [sys.executable, "-m", "hlteval", *arguments]
    more = {"stderr": subprocess.PIPE, "stdout": subprocess.PIPE, "timeout": 300} | more
    return subprocess.run(command, check=False, **more)


def closing(*descriptors: int) -> Callable[[], None]:
    """Closes descriptors before the program begins."""
    return lambda: [os.close(descriptor) for descriptor in descriptors] and None


def limited(size: int) -> Callable[[], None]:
    """Lets no file grow over a size: the same as a full disk, but for the words."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("name", "how"),
    [
        *(("version", "full"), ("explain", "closed"), ("validate", "full"), ("score", "closed")),
        *(("convert", "full"), ("convert", "closed")),
    ],
)
def test_standard_output_that_cannot_be_written(name: str, how: str) -> None:
    if how == "full" and not FULL.exists():
        pytest.skip("the system has no /dev/full")
    if how == "full":
        with FULL.open("wb") as full:
            done = run(PRINTING[name], stdout=full)
    else:
        done = run(PRINTING[name], stdout=None, preexec_fn=closing(1))
    assert done.returncode == 2
    message = f"hlteval: cannot write to standard output: {REASON[how]}; the output is"
    assert done.stderr.decode() == f"{message} incomplete\n"


@pytest.mark.parametrize("name", ["explain", "score", "convert"])
def test_a_reader_that_has_had_enough_is_no_error(name: str) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as pipe:
        done = run(PRINTING[name], stdout=pipe)
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_verdict_is_kept_for_a_reader_that_has_had_enough() -> None:
    read, write = os.pipe()
    os.close(read)
    damaged = next((FIXTURES / "speech-sf-json" / "invalid").glob("JSN101*"))
    with os.fdopen(write, "wb") as pipe:
        assert run(["validate", "speech-sf", str(damaged)], stdout=pipe).returncode == 1


def test_results_do_not_depend_on_standard_error() -> None:
    expected = run(SCORE)
    closed = run(SCORE, stderr=None, preexec_fn=closing(2))
    assert (closed.returncode, closed.stdout) == (0, expected.stdout)
    if not FULL.exists():
        pytest.skip("the system has no /dev/full")
    with FULL.open("wb") as full:
        done = run(SCORE, stderr=full)
    assert (done.returncode, done.stdout) == (0, expected.stdout)


def test_standard_input_that_is_closed_is_a_finding() -> None:
    done = run(["validate", "hub4", "-", "--format", "concise"], preexec_fn=closing(0))
    assert done.returncode == 1
    assert done.stdout.decode() == "<stdin>: error[SRC108] cannot be read: it is closed\n"


def test_no_output_gets_the_number_of_a_closed_stream(tmp_path: Path) -> None:
    """Otherwise what is printed would be written into the file."""
    plain, closed = tmp_path / "plain.jsonl", tmp_path / "closed.jsonl"
    run(["convert", TEMPLATES, str(plain)])
    done = run(
        ["convert", TEMPLATES, str(closed)], stdout=None, stderr=None, preexec_fn=closing(0, 1, 2)
    )
    assert done.returncode == 0
    assert closed.read_bytes() == plain.read_bytes()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents that take a moment to write."""
    folder = tmp_path_factory.mktemp("environment") / "corpus"
    folder.mkdir()
    text = "AB binds to CD. " * 40
    mention = "".join(f"T{n + 1}\tProtein {16 * n} {16 * n + 2}\tAB\n" for n in range(40))
    for number in range(150):
        (folder / f"d{number}.txt").write_text(text, "utf-8")
        (folder / f"d{number}.a1").write_text(mention, "utf-8")
        (folder / f"d{number}.a2").write_text("", "utf-8")
    return folder


def tree(folder: Path) -> dict[str, bytes]:
    """The files of a folder, at any depth, with their content."""
    files = sorted(path for path in folder.rglob("*") if not path.is_dir())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def writing(corpus: Path) -> dict[str, list[str]]:
    """Commands that write to `out`, `out.jsonl` or `out.json`."""
    events = ["score", "seedev-full", "-r", str(corpus), "-s", str(corpus)]
    return {
        "file": ["convert", str(corpus), "out.jsonl", "--force"],
        "folder": ["convert", str(corpus), "out", "--to", "brat", "--force"],
        "scores": [*events, "-o", "out"],
        "report": [*events, "--output-file", "json=out.json"],
        "pack": ["pack", "seedev-full", str(corpus), "--against", str(corpus), "-o", "run.zip"],
        "demo": ["demo", "demo"],
        "scores and report": [*events, "-o", "out", "--report", "out.html"],
    }


NAMES = ("file", "folder", "scores", "report", "pack", "demo", "scores and report")


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", NAMES)
def test_a_full_disk_changes_nothing(name: str, corpus: Path, tmp_path: Path) -> None:
    """A file that may not grow over some bytes stands for a full disk."""
    (tmp_path / "out.jsonl").write_bytes(b"earlier")
    (tmp_path / "out.json").write_bytes(b"earlier")
    before = tree(tmp_path)
    done = run(writing(corpus)[name], cwd=tmp_path, preexec_fn=limited(600))
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("hlteval: cannot write ")
    assert "File too large; what was there before is unchanged" in line
    assert ".part" not in line.replace("no part of a file", "")
    assert tree(tmp_path) == before


@pytest.mark.parametrize("size", [4000, 100_000])
def test_scores_and_report_are_written_together(size: int, corpus: Path, tmp_path: Path) -> None:
    """The tables fit, and the report does not: neither is there."""
    command = ["score", "seedev-full", "-r", str(corpus), "-s", str(corpus), "-o", "out"]
    done = run(
        [*command, "--report", "out.html", "--output-file", "json=out.json"],
        cwd=tmp_path,
        preexec_fn=limited(size),
    )
    assert (done.returncode, done.stdout) == (2, b""), done.stderr
    assert tree(tmp_path) == {}


@pytest.mark.thorough
def test_the_demonstration_keeps_files_that_exist(tmp_path: Path) -> None:
    own = tmp_path / "demo" / "system"
    own.mkdir(parents=True)
    (own / "demo-1.a2").write_text("mine")
    (own / "notes.txt").write_text("mine, too")
    full = run(["demo", "demo"], cwd=tmp_path, preexec_fn=limited(600))
    assert full.returncode == 2
    assert set(tree(tmp_path)) == {"demo/system/demo-1.a2", "demo/system/notes.txt"}
    run(["demo", "demo"], cwd=tmp_path)
    assert (own / "demo-1.a2").read_text() == "mine"
    assert (own / "notes.txt").read_text() == "mine, too"
    assert (tmp_path / "demo" / "reference" / "demo-1.txt").is_file()


def test_a_disk_that_is_full(corpus: Path, tmp_path: Path) -> None:
    """The same on a real one, where that can be had."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    try:
        done = subprocess.run(mount, check=False, capture_output=True)
    except FileNotFoundError:
        pytest.skip("the system has no mount")
    if done.returncode:
        pytest.skip(f"no disk can be mounted: {done.stderr.decode().strip()}")
    try:
        for name in ("file", "folder"):
            done = run(writing(corpus)[name], cwd=disk)
            assert done.returncode == 2
            assert b": No space left on device; what was there before" in done.stderr
            assert not tree(disk)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_for_temporary_files(tmp_path: Path) -> None:
    content = Path(TEMPLATES).read_bytes() * 40
    done = run(["validate", "hub4", "-"], input=content, preexec_fn=limited(600))
    assert done.returncode == 2
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("hlteval: cannot write temporary files to ")
    assert line.endswith("; nothing was changed; set TMPDIR to another disk")


@pytest.fixture
def refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[list[str]], str]:
    """Calls a command in this process, which must end with exit code 2; what it says."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("hlteval.cli.process.handle_signals", lambda: None)  # which handles signals

    def call(command: list[str]) -> str:
        monkeypatch.setattr("sys.argv", ["hlteval", *command])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        return capsys.readouterr().err

    return call


@pytest.mark.parametrize("kind", ["convert", "output-file", "scores", "fix"])
def test_an_output_that_is_a_loop_of_links(
    kind: str, refused: Callable[[list[str]], str], tmp_path: Path
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    command = {
        "convert": ["convert", TEMPLATES, "loop", "--to", "jsonl", "--force"],
        "output-file": [*SCORE, "--output-file", "json=loop"],
        "scores": [*SCORE, "-o", "loop"],
        "fix": ["validate", "hub4", TEMPLATES, "--fix", "loop"],
    }[kind]
    error = refused(command)
    assert "loop is neither a file nor a folder" in error or "loop exists" in error
    assert (tmp_path / "loop").readlink() == Path("loop")


@pytest.mark.parametrize("kind", ["convert", "output-file", "scores", "fix", "pack"])
def test_an_output_whose_name_is_too_long(
    kind: str, refused: Callable[[list[str]], str], tmp_path: Path
) -> None:
    long = "a" * 300
    command = {
        "convert": ["convert", TEMPLATES, long, "--to", "jsonl"],
        "output-file": [*SCORE, "--output-file", f"json={long}"],
        "scores": [*SCORE, "-o", long],
        "fix": ["validate", "hub4", TEMPLATES, "--fix", long],
        "pack": ["pack", "hub4", TEMPLATES, "-o", long],
    }[kind]
    assert ": File name too long; choose another name" in refused(command)
    assert not tree(tmp_path)


def wait_for_handlers(process: subprocess.Popen[bytes]) -> None:
    """Until the program has begun: before that, Python itself reports a signal."""
    status = Path(f"/proc/{process.pid}/status")
    if not status.exists():
        time.sleep(1.0)
    while process.poll() is None and status.exists():
        caught = int(status.read_text().partition("SigCgt:")[2].split()[0], 16)
        if caught >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.002)


def interrupted(
    command: Sequence[str], folder: Path, number: int, seconds: float | None
) -> tuple[int, bytes]:
    """Send a signal to a command after some seconds, or when it begins to write for None."""
    before = set(folder.iterdir())
    process = subprocess.Popen(
        [sys.executable, "-m", "hlteval", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=os.environ | {"POLARS_MAX_THREADS": "1"},
    )
    wait_for_handlers(process)
    if seconds is None:
        while process.poll() is None and before.issuperset(folder.iterdir()):
            time.sleep(0.001)
    else:
        time.sleep(seconds)
    process.send_signal(number)
    _, errors = process.communicate(timeout=300)
    return process.returncode, errors


# Polars, too, handles SIGINT; the others are handled alike.
SENT = [
    *((signal.SIGINT, name) for name in NAMES[:4]),
    *((signal.SIGTERM, name) for name in NAMES[1:3]),
    (signal.SIGHUP, "file"),
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("number", "name"), SENT, ids=lambda value: getattr(value, "name", value))
def test_a_signal_leaves_nothing_unfinished(
    name: str, number: signal.Signals, corpus: Path, tmp_path: Path
) -> None:
    code, errors = interrupted(writing(corpus)[name], tmp_path, number, None)
    assert code in (-number, 0)  # 0 if it was faster
    assert errors == b"" or not code
    assert not [name for name in tree(tmp_path) if ".part" in name]


FAILING_WHILE_WRITING = """
import ctypes
from hlteval.cli import main
from hlteval.reports import scores

def fail(_, folder):
    folder.mkdir()
    strike = ctypes.CDLL(None)["raise"]
    list(map(strike, map((2).__floordiv__, [1, 0])))

scores.write_tables = fail
main()
"""
"""SIGINT (2 // 1) and an error (2 // 0) in one instruction."""


@pytest.mark.skipif(os.name != "posix", reason="signals of the C library")
def test_a_signal_that_is_seen_while_an_error_comes_leaves_nothing(tmp_path: Path) -> None:
    """As where Polars raises an error for SIGINT, and the first cleaning is what is interrupted."""
    command = [sys.executable, "-c", FAILING_WHILE_WRITING, *SCORE, "-o", "out"]
    done = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, b"")
    assert not list(tmp_path.iterdir())


def test_a_pipe_of_windows_gets_the_bytes_that_others_get() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="cp1252", newline="\r\n")
    process.write_as_everywhere(stream)
    stream.write("Ош → Osh\n")
    stream.flush()
    assert raw.getvalue() == "Ош → Osh\n".encode()
    replaced = io.StringIO()
    process.write_as_everywhere(replaced)  # a program has put it there: it stays
    assert replaced.newlines is None


WHILE_POLARS_STARTS = """
import signal, time
from hlteval.cli import process

process.handle_signals()
code = "import signal; signal.raise_signal(signal.SIGTERM); finished = True"
module = {"__name__": "polars.module"}
exec(compile(code, "module.py", "exec"), module)
assert module["finished"]
try:
    time.sleep(60)
except process.Interrupted as caught:
    print(caught)
"""


@pytest.mark.skipif(os.name != "posix", reason="timers of signals")
def test_a_signal_waits_until_polars_is_imported() -> None:
    """Polars' own code panics, and says so, if it is interrupted at its start."""
    command = [sys.executable, "-c", WHILE_POLARS_STARTS]
    done = subprocess.run(command, check=False, capture_output=True, timeout=50)
    assert (done.stdout, done.stderr) == (b"SIGTERM\n", b"")


@pytest.mark.sampled(6)
@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_a_signal_at_any_moment_prints_nothing(
    number: signal.Signals, corpus: Path, tmp_path: Path
) -> None:
    """No traceback, and no "Exception ignored in ..."."""
    draw = random.Random(number.value)
    seconds = draw.uniform(0.0, 2.0)
    code, errors = interrupted(writing(corpus)["folder"], tmp_path, number, seconds)
    assert code in (-number, 0), errors
    assert errors == b"" or not code
    assert not [name for name in tree(tmp_path) if ".part" in name]


def test_a_signal_that_the_caller_ignores_is_ignored(corpus: Path, tmp_path: Path) -> None:
    """As `nohup` does."""
    done = subprocess.run(
        [sys.executable, "-m", "hlteval", *writing(corpus)["file"]],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN) and None,
    )
    assert done.returncode == 0


@pytest.mark.parametrize(("given", "threads"), [({}, 1), ({"POLARS_MAX_THREADS": "2"}, 2)])
def test_a_command_uses_one_thread_unless_told_otherwise(
    given: dict[str, str], threads: int
) -> None:
    program = (
        "import sys; sys.argv = ['hlteval', '--version']\n"
        "from hlteval.cli import main\n"
        "try: main()\n"
        "except SystemExit: import polars; print(polars.thread_pool_size())"
    )
    own = {key: value for key, value in os.environ.items() if key != "POLARS_MAX_THREADS"}
    printed = subprocess.check_output([sys.executable, "-c", program], env=own | given, text=True)
    assert printed.splitlines()[-1] == str(threads)
