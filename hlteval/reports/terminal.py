"""Output to terminals, pipes and files: consoles, progress bars, lines with marked spans, escapes.

What a terminal obeys is never printed: `visible` and its likes replace it, in JSON, Markdown, LaTeX
and cells of spreadsheets too.
"""

import re
import sys
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import StringIO, TextIOWrapper
from itertools import accumulate
from threading import Timer
from typing import Any, NamedTuple, ParamSpec, TextIO

import msgspec
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.text import Text

from hlteval.findings import Excerpt, Span

P = ParamSpec("P")
#: Functions that render a result, by the name of the format: a string is for programs.
Formats = Mapping[str, Callable[P, RenderableType]]

#: Line width in cells without a terminal; constant, so that the output is reproducible.
PIPE_WIDTH = 120
#: Seconds before a progress bar is shown.
DELAY = 1.0


def results(stream: TextIO | None = None) -> Console:
    """The console for results: standard output, or another stream.

    Colours are used in a terminal only, unless NO_COLOR is set.
    """
    return _console(sys.stdout if stream is None else stream)


def remarks(stream: TextIO | None = None) -> Console:
    """The console for everything but results: standard error, or another stream."""
    return _console(sys.stderr if stream is None else stream)


def _console(stream: TextIO, *, plain: bool = False) -> Console:
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")  # the encoding may not be Unicode
    return Console(
        file=stream,
        width=None if stream.isatty() else PIPE_WIDTH,
        color_system=None if plain else "auto",
        force_terminal=False if plain else None,
        highlight=False,
        markup=False,
        emoji=False,
    )


def write(console: Console, report: RenderableType) -> None:
    """Write a report.

    A string, which programs read, is written unchanged in UTF-8, whatever the encoding of the
    terminal. A renderable wraps its own lines, at words; what is longer goes beyond the edge.

    Args:
        console: the console to write to.
        report: the result of a renderer.
    """
    if not isinstance(report, str):
        console.print(report, soft_wrap=True)
        return
    buffer = getattr(console.file, "buffer", None)
    console.file.flush()
    if buffer is None:
        console.file.write(report)
    else:
        buffer.write(report.encode("utf-8", "backslashreplace"))
        buffer.flush()


def render_text(report: RenderableType) -> str:
    r"""A report as the content of a file: like the output in a pipe, without colours.

    Examples:
        >>> from rich.text import Text
        >>> render_text(Text("pass", style="bold"))
        'pass\n'
    """
    stream = StringIO()
    write(_console(stream, plain=True), report)
    return stream.getvalue()


@contextmanager
def progress(
    console: Console, activity: str, *, shown: bool = True
) -> Iterator[Callable[[int, int | None], None]]:
    """Show a progress bar in a terminal if work takes longer than a second.

    The bar disappears at the end of the work.

    Args:
        console: the console for remarks.
        activity: a word for the work, such as "reading".
        shown: whether a bar may be shown: not where results are written meanwhile.

    Yields:
        A function to call after each step, with the work that is done and all of it; None if that
        is unknown.

    Examples:
        >>> with progress(remarks(), "reading") as step:
        ...     step(1, 2)
        ...     step(2, 2)
    """
    if not (shown and console.is_interactive and console.file.isatty()):
        yield lambda _done, _total: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    names = TextColumn("{task.description}", markup=False)
    numbers = TextColumn("{task.fields[steps]}", markup=False)
    columns = (names, BarColumn(), numbers, TimeElapsedColumn())
    bar = Progress(*columns, console=console, transient=True)
    task = bar.add_task(activity, total=None, steps="")

    def step(done: int, total: int | None) -> None:
        steps = (f"{done:,}" if done else "") if total is None else f"{done:,}/{total:,}"
        bar.update(task, completed=done, total=total, steps=steps)

    timer = Timer(DELAY, bar.start)  # also where the first step takes long
    timer.daemon = True
    timer.start()
    try:
        yield step
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


LEFT_TO_RIGHT = "\u200e"
_NON_JOINER, _JOINER, _EMOJI_STYLE = "\u200c", "\u200d", "\ufe0f"
_WIDE_SPACE = "\u3000"
_REPLACEMENTS = {"\t": "→", "\n": "\\n", "\r": "\\r"}
_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})
_MIN_WIDTH = 20


class Piece(NamedTuple):
    """The display of one character as a reader perceives it.

    Attributes:
        text: the text that is displayed.
        cells: its width in cells.
        begin: the index of its first code point in the line.
        literal: whether `text` is the data itself and not a replacement.
    """

    text: str
    cells: int
    begin: int
    literal: bool


class MarkedLine(NamedTuple):
    """The display of a line with a marked span.

    Attributes:
        pieces: the pieces of the line.
        column: the number of cells before the span.
        width: the width of the span in cells, at least 1.
    """

    pieces: tuple[Piece, ...]
    column: int
    width: int

    @property
    def text(self) -> str:
        """The text of the line."""
        return "".join(piece.text for piece in self.pieces)


def visible(text: str) -> str:
    r"""A text on one line, with replacements for all invisible characters.

    Examples:
        >>> visible("a\tb\x1b[2J\u202ec")
        'a→b\\x1b[2J\\u202ec'
    """
    if text.isprintable():
        return text
    return "".join(_display(text, index) for index in range(len(text)))


def isolate_bidi(text: str) -> str:
    """The visible text, with left-to-right marks if it could reorder the text next to it."""
    display = visible(text)
    return f"{LEFT_TO_RIGHT}{display}{LEFT_TO_RIGHT}" if has_rtl(display) else display


def has_rtl(text: str) -> bool:
    """Whether a terminal may show a part of the text from right to left.

    Examples:
        >>> has_rtl("שלום"), has_rtl("東京")
        (True, False)
    """
    return not text.isascii() and any(unicodedata.bidirectional(c) in _RIGHT_TO_LEFT for c in text)


def pieces(text: str) -> list[Piece]:
    r"""The pieces of a line: base characters with their marks, and replacements.

    Examples:
        >>> [(piece.text, piece.cells) for piece in pieces("a\t東\u0301")]
        [('a', 1), ('→', 1), ('東́', 2)]
    """
    if text.isascii() and text.isprintable():
        return [Piece(character, 1, index, True) for index, character in enumerate(text)]
    result: list[Piece] = []
    for index, character in enumerate(text):
        display = _display(text, index)
        literal = display == character
        narrow = literal and not cell_len(character)
        base = result[-1] if result and result[-1].literal else None
        if base and literal and (narrow or text[index - 1] == _JOINER):
            joined = base.text + display
            result[-1] = Piece(joined, cell_len(joined), base.begin, True)
        else:
            display = "◌" + display if narrow else display
            result.append(Piece(display, cell_len(display), index, literal))
    return result


def draw(excerpt: Excerpt, span: Span, width: int) -> MarkedLine:
    """A window of a line with a marked span.

    Args:
        excerpt: the excerpt of the line; the span is clipped to it.
        span: the span to mark; of an empty span, its first column is marked.
        width: maximum width of the window in cells; at least 20 are used.

    Examples:
        >>> draw(Excerpt("T1 東京 x"), Span(1, 4, 6), 80)[1:]
        (3, 4)
    """
    line = pieces(excerpt.text)
    first = end = len(line)  # of the pieces that overlap the span, none for an empty span
    begin = max(0, span.column - 1 - excerpt.offset)
    if begin < len(excerpt.text):
        begins = [piece.begin for piece in line]
        first = bisect_right(begins, begin) - 1
        end = max(first, bisect_left(begins, span.end_column - 1 - excerpt.offset))
    # The window is the range of the pieces that fit the width, with a cell for each ellipsis.
    edges = list(accumulate((piece.cells for piece in line), initial=0))
    width, left, right = max(width, _MIN_WIDTH), 0, len(line)
    if edges[-1] + bool(excerpt.offset) + excerpt.cut > width:
        inner = width - 2
        start = max(0, min(edges[first] - inner // 4, edges[-1] - inner))
        left = next(index for index, edge in enumerate(edges) if edge >= start)
        right = max(index for index, edge in enumerate(edges) if edge <= edges[left] + inner)
    end = max(first, min(end, right))
    before = [Piece("…", 1, left, False)] if left or excerpt.offset else []
    after = [Piece("…", 1, right, False)] if right < len(line) or excerpt.cut else []
    window = line[left:right]
    if any(piece.literal and has_rtl(piece.text) for piece in window):
        window = _isolate_pieces(window, first - left, end - left)
    column = edges[first] - edges[left] + len(before)
    return MarkedLine((*before, *window, *after), column, max(1, edges[end] - edges[first]))


def _isolate_pieces(line: list[Piece], first: int, end: int) -> list[Piece]:
    """The pieces with left-to-right marks around replacements and around the marked span."""
    borders = {0, first, end, len(line)}
    for index, piece in enumerate(line):
        if not piece.literal:
            borders |= {index, index + 1}
    result = []
    for index in range(len(line) + 1):
        if index in borders:
            result.append(Piece(LEFT_TO_RIGHT, 0, index, False))
        result.extend(line[index : index + 1])
    return result


def _display(text: str, index: int) -> str:
    """The character at an index, or its replacement."""
    character = text[index]
    if character.isprintable() or character == _WIDE_SPACE or _is_shaping(text, index):
        return character
    if character in _REPLACEMENTS:
        return _REPLACEMENTS[character]
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:  # Python's surrogate for a byte that is not UTF-8
        number -= 0xDC00
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _is_shaping(text: str, index: int) -> bool:
    """Whether a joiner is between letters or emoji that it shapes; elsewhere it is invisible."""
    if index == 0:
        return False
    before, after = text[index - 1], text[index + 1 : index + 2]
    if text[index] == _NON_JOINER:
        return unicodedata.category(before)[0] in "LM" and before > "\u0300"
    return (
        text[index] == _JOINER
        and (before == _EMOJI_STYLE or unicodedata.category(before) in {"So", "Sk"})
        and unicodedata.category(after or " ") == "So"
    )


def wrap(text: str, width: int, first: int = 0) -> list[str]:
    r"""The lines of a text, wrapped at spaces; a longer word has a line of its own.

    Nothing but spaces is a place to wrap: paths, identifiers and numbers are never broken.

    Args:
        text: the text, on one line.
        width: width of the lines in cells.
        first: the cells of the first line that are taken.

    Examples:
        >>> wrap("see docs/very-long-name.md for 東京", 14)
        ['see', 'docs/very-long-name.md', 'for 東京']
        >>> wrap("2 of 3", 6, first=5)
        ['2', 'of 3']
    """
    lines: list[str] = []
    line, room = "", width - first
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if line and cell_len(longer) > room:
            lines.append(line)
            line, room = word, width
        else:
            line = longer
    return [*lines, line]


def indent_wrapped(text: str, width: int | None, first: int = 0, indent: str = "  ") -> str:
    r"""A text with line breaks, and with indents after them.

    Args:
        text: the text, on one line.
        width: width of the terminal in cells; None in a pipe, where nothing is wrapped.
        first: the cells before it in its first line.
        indent: what later lines begin with.

    Examples:
        >>> indent_wrapped("2 errors in 1 file", 16, first=len("fail: "))
        '2 errors\n  in 1 file'
    """
    if width is None:
        return text
    inner = width - len(indent)
    return f"\n{indent}".join(wrap(text, inner, first - len(indent)))


class Prose(msgspec.Struct, frozen=True):
    """A sentence, such as a note, a title or a hint.

    Attributes:
        text: the sentence; what a terminal should not receive is replaced.
        style: of all of it.
        indent: what the lines after the first begin with.
    """

    text: str
    style: str = ""
    indent: str = "  "

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        width = options.max_width if console.is_terminal else None
        text = indent_wrapped(isolate_bidi(self.text), width, 0, self.indent)
        yield Text(text, style=self.style)


def note(text: str) -> Prose:
    """A remark on how to read a result."""
    return Prose(f"note: {text}", "yellow", " " * len("note: "))


def frame_text(
    head: str, parts: Iterable[RenderableType], notes: Iterable[str], signature: str
) -> Group:
    """A result as text: a line about it, its parts, notes and its signature."""
    last = Text(visible(signature), style="dim")
    return Group(Prose(head, "bold"), *parts, *map(note, notes), last)


def warning(text: str) -> Prose:
    """A remark on what makes a result meaningless."""
    return Prose(f"WARNING: {text}", "bold red", " " * len("WARNING: "))


#: DEL, C1 controls, line separators, directional marks and the byte order mark, in UTF-8.
_UNSAFE = re.compile(
    b"\x7f|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]|\xef\xbb\xbf"
)

_MARKDOWN = re.compile(r"\\(?=[!-/:-@\[-`{-~])|[`*|~]|(?<!\w)_|_(?!\w)|\](?=[(\[])")
_FORMULA = re.compile(r"[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(?:[0-9.]+(?:e[+-]?[0-9]+)?|inf|nan)|[-+]")


def escape_json(encoded: bytes) -> bytes:
    r"""JSON with escapes for characters that move the cursor, reorder a line or break it.

    JSON itself escapes only the controls of ASCII below the space.

    Examples:
        >>> print(escape_json('["\x9b2J"]'.encode()).decode())
        ["\u009b2J"]
    """
    if encoded.isascii() and b"\x7f" not in encoded:
        return encoded
    return _UNSAFE.sub(lambda found: b"\\u%04x" % ord(found[0].decode()), encoded)


def printable(value: Any) -> Any:
    r"""A value of plain types with lone surrogates as escapes, e.g. `\udcff`.

    Names of files that are not UTF-8 have such characters, and JSON cannot represent them.
    """
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {printable(name): printable(item) for name, item in value.items()}
    return [printable(item) for item in value] if isinstance(value, list | tuple) else value


def json_text(value: object) -> str:
    r"""A value of plain types as JSON, on a line of its own.

    Examples:
        >>> json_text({"value": None})
        '{"value":null}\n'
    """
    return escape_json(msgspec.json.encode(printable(value))).decode() + "\n"


def in_markdown(text: str) -> str:
    r"""A text in Markdown that is shown as it is.

    Measures, numbers and intervals have nothing to escape.

    Examples:
        >>> print(in_markdown("a|b <b>_x_ [0.1, 0.2] ceaf_m [a](b)"))
        a\|b &lt;b>\_x\_ [0.1, 0.2] ceaf_m [a\](b)
    """
    return _MARKDOWN.sub(r"\\\g<0>", text.replace("&", "&amp;").replace("<", "&lt;"))


def in_cells(text: str) -> str:
    """A cell of a table for spreadsheets, which take names that begin with `=` for formulas.

    Examples:
        >>> in_cells("=cmd|' /C calc'!A0"), in_cells("-0.5"), in_cells("@run")
        ("'=cmd|' /C calc'!A0", '-0.5', "'@run")
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


#: Characters that LaTeX obeys, or prints as others in its first encoding of fonts.
_TEX: Mapping[int, str] = {
    **{ord(sign): f"\\{sign}" for sign in "_&%#${}"},
    ord("\\"): r"\textbackslash{}",
    ord("~"): r"\textasciitilde{}",
    ord("^"): r"\textasciicircum{}",
    ord("<"): r"\textless{}",
    ord(">"): r"\textgreater{}",
    ord("|"): r"\textbar{}",
}


def in_latex(text: str) -> str:
    r"""A text in LaTeX that is printed as it is.

    Examples:
        >>> print(in_latex("a_b {50 %} <c"))
        a\_b \{50 \%\} \textless{}c
    """
    return text.translate(_TEX)
