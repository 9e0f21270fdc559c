"""What goes to a terminal and what goes to a pipe."""

from __future__ import annotations

from io import BytesIO, StringIO, TextIOWrapper
from time import sleep

import pytest
from rich.text import Text

from hlteval.reports import terminal
from hlteval.reports.terminal import PIPE_WIDTH, progress, remarks, results, write


class Screen(StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def test_a_terminal_gets_colours():
    screen = Screen()
    write(results(screen), Text("wrong", style="red"))
    assert screen.getvalue() == "\x1b[31mwrong\x1b[0m\n"


def test_no_colour_where_it_is_not_wanted(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    screen = Screen()
    write(results(screen), Text("wrong", style="red"))
    assert screen.getvalue() == "wrong\n"


def test_a_pipe_gets_neither_colours_nor_folded_lines(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    pipe = StringIO()
    write(results(pipe), Text("word " * 60, style="red"))
    assert pipe.getvalue() == "word " * 60 + "\n"
    assert results(pipe).width == PIPE_WIDTH


def test_data_is_not_markup():
    pipe = StringIO()
    results(pipe).print("[bold]:smile: 12[/bold]")
    assert pipe.getvalue() == "[bold]:smile: 12[/bold]\n"


def test_standard_streams_are_the_default(capsys):
    write(results(), "result\n")
    write(remarks(), Text("remark"))
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("result\n", "remark\n")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_strings_are_utf8_whatever_the_terminal_takes(encoding):
    raw = BytesIO()
    stream = TextIOWrapper(raw, encoding=encoding)
    console = results(stream)
    write(console, Text("é"))
    write(console, '{"a":"東京"}\n')
    lines = raw.getvalue().splitlines()
    assert lines[1] == '{"a":"東京"}'.encode()
    assert lines[0] == {"ascii": b"\\xe9", "latin-1": b"\xe9", "utf-8": b"\xc3\xa9"}[encoding]


def test_what_a_terminal_cannot_show_is_written_out():
    raw = BytesIO()
    stream = TextIOWrapper(raw, encoding="ascii")
    write(results(stream), Text("→ 東"))
    assert raw.getvalue() == b"\\u2192 \\u6771\n"


def work(stream: StringIO, total: int | None = 3000) -> str:
    with progress(remarks(stream), "reading [bold]") as step:
        sleep(0.3 if terminal.DELAY == 0 else 0)  # the bar starts in a thread
        for done in range(1, 4):
            step(1000 * done, total)
    return stream.getvalue()


def test_progress_shows_nothing_in_a_pipe(monkeypatch):
    monkeypatch.setattr(terminal, "DELAY", 0)
    assert work(StringIO()) == ""


def test_progress_shows_nothing_of_short_work():
    assert "reading" not in work(Screen())


def test_progress_shows_nothing_beside_results(monkeypatch):
    monkeypatch.setattr(terminal, "DELAY", 0)
    screen = Screen()
    with progress(remarks(screen), "reading", shown=False) as step:
        sleep(0.3)
        step(1, 2)
    assert screen.getvalue() == ""


def test_progress_shows_long_work_in_a_terminal_and_clears_it(monkeypatch):
    monkeypatch.setattr(terminal, "DELAY", 0)
    shown = work(Screen())
    assert "reading [bold]" in shown
    assert "3,000/3,000" in shown
    assert shown.endswith("\x1b[2K")


def test_progress_ends_with_an_error(monkeypatch):
    monkeypatch.setattr(terminal, "DELAY", 0)
    screen = Screen()
    with pytest.raises(RuntimeError), progress(remarks(screen), "reading") as step:
        sleep(0.3)
        step(1, None)
        raise RuntimeError
    assert screen.getvalue().rpartition("\x1b[?25")[2].startswith("h")
