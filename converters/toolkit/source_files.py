"""What formats share that have a file per document."""

import os
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path, PurePath
from typing import NamedTuple

import polars as pl

from hlteval.converters.format import ReadResult
from hlteval.findings import (
    Bounded,
    FieldRef,
    Finding,
    Location,
    Problem,
    Span,
    excerpt,
    findings_of,
)
from hlteval.representation import TABLES, Corpus
from hlteval.sources import (
    LIMITS,
    Member,
    Source,
    TooManyFiles,
    Unreadable,
    decode,
    is_file_path,
    sha256,
    stays_inside,
)
from hlteval.syntax.tsv import SLICE, Lines, ParsedTable, Table

#: Gives the files of a source that a format reads.
FindMembers = Callable[[Source], Sequence[Member]]
#: The maximum number of documents in a batch.
BATCH = 500
#: Bytes that complete a batch; larger batches cost memory and are not faster.
_BYTES = 8_000_000
#: Bytes of a file that are written at once.
_BUFFER = 8192


def documents(source: Source, suffix: str) -> Mapping[str, tuple[Member, ...]]:
    """The files of each document by its name, which is theirs without the suffix.

    A source that is a single file may have any suffix.
    """
    found: dict[str, list[Member]] = {}
    for member in with_suffix(source, suffix):
        found.setdefault(stem(member, suffix), []).append(member)
    return {name: tuple(found[name]) for name in sorted(found)}


def with_suffix(source: Source, suffix: str) -> tuple[Member, ...]:
    """A single file, whatever its name is; of several files, those with a suffix."""
    if source.kind in {"file", "stdin"}:
        return source.members
    return tuple(member for member in source.members if member.basename.endswith(suffix))


def stem(member: Member, suffix: str) -> str:
    """The name of a file's document: without the suffix of its format, or without the end of that.

    Examples:
        >>> stem(Member("ltf/d1.xml", "", 0, bytes), ".ltf.xml")
        'd1'
    """
    name = member.basename
    for end in (suffix, f".{suffix.rpartition('.')[2]}"):
        if name.endswith(end) and name != end:
            return member.document(name.removesuffix(end))
    return member.document(name)


def has_suffix(source: Source, suffix: str | tuple[str, ...]) -> bool:
    """Whether the name of a file of a source ends in a suffix, or in one of several."""
    return any(member.basename.endswith(suffix) for member in source.members)


def has_beginning(source: Source, pattern: str, members: FindMembers | None) -> bool:
    """Whether a pattern is found at the beginning of the first file of a format."""
    files = members(source) if members else source.members
    return re.search(pattern, head_of_first(files)) is not None


#: Gives the files of each document of a source by its name.
FindDocuments = Callable[[Source], Mapping[str, tuple[Member, ...]]]


class FileBatch:
    """The files of a batch of documents.

    Attributes:
        form: the name of the format.
        texts: row of `sources`, document name and text of each file that could be decoded.
        members: the files by their row of `sources`.
        findings: the findings in the files as such.
    """

    def __init__(self, path: str, form: str) -> None:
        self.path, self.form = path, form
        self.rows: list[tuple[object, ...]] = []
        self.texts: list[tuple[int, str, str]] = []
        self.members: list[Member] = []
        self.findings: list[Finding] = []

    @property
    def sources(self) -> pl.DataFrame:
        """The table of sources."""
        columns = ("row", "path", "member", "format", "sha256")
        schema = {name: TABLES["sources"].schema[name] for name in columns}
        return pl.DataFrame(self.rows, schema=schema, orient="row")

    def qualify_names(self, documents: pl.DataFrame) -> pl.DataFrame:
        """Documents whose files name them, with the folder where files are qualified by it.

        Args:
            documents: with the columns `origin` and `name`.
        """
        if not any(member.qualified for member in self.members):
            return documents
        own = documents.select("origin", "name").iter_rows()
        names = [self.members[origin].document(name) for origin, name in own]
        return documents.with_columns(name=pl.Series(names, dtype=pl.String))

    def add(self, name: str, member: Member) -> int:
        """Add a file of a document and give its size in bytes."""
        try:
            data = member.fetch()
        except Unreadable as reason:
            self.findings.append(reason.finding)
            return 0
        decoded = decode(data, display=member.display, encoding=member.encoding)
        self.findings += decoded.findings
        origin = len(self.rows)
        written = member.name or member.basename
        self.rows.append((origin, self.path, written, self.form, sha256(data)))
        self.members.append(member)
        if decoded.text is not None:
            self.texts.append((origin, name, decoded.text))
        return len(data)

    def open(self, member: Member) -> str | None:
        """Add a file and take its text; None if it cannot be read, with a finding."""
        self.add("", member)
        return self.texts.pop()[-1] if self.texts else None


def batches(
    source: Source, form: str, suffix: str, find: FindDocuments | None = None
) -> Iterator[FileBatch]:
    """The files of a source, at most `BATCH` documents or some megabytes at a time."""
    files, size, count = FileBatch(source.path, form), 0, 0
    listed = find(source) if find else documents(source, suffix)
    for name, members in listed.items():
        size += sum(files.add(name, member) for member in members)
        count += 1
        if count >= BATCH or size >= _BYTES:
            yield files
            files, size, count = FileBatch(source.path, form), 0, 0
    if count:
        yield files


def write_files(files: Iterable[tuple[str, str | Iterable[str]]], folder: Path) -> None:
    """Write files by name, each with its content or the pieces of it, in a folder that is made.

    Raises:
        TooManyFiles: if no command could read the folder; some of them are written then.
    """
    made = set[str]()
    folder.mkdir(parents=True, exist_ok=True)
    begin = os.path.join(folder, "")  # noqa: PTH118 - there may be 100,000 paths, and few folders
    for number, (name, content) in enumerate(files, start=1):
        if number > LIMITS.files:
            raise TooManyFiles
        if (parent := name.rpartition("/")[0]) not in made:
            (folder / parent).mkdir(parents=True, exist_ok=True)
            made.add(parent)
        with open(begin + name, "wb", buffering=_BUFFER) as stream:  # noqa: PTH123
            pieces = [content] if isinstance(content, str) else content
            stream.writelines(map(str.encode, pieces))


def write_pieces(
    corpora: Iterable[Corpus], path: Path, *, as_text: Callable[..., Iterable[str]], **settings: str
) -> None:
    """Write the text of batches to a file, with the settings of a format."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        for corpus in corpora:
            stream.writelines(as_text(corpus, **settings))


def output_paths(
    corpus: Corpus, form: str, suffix: str, *, shared: bool = False
) -> Mapping[int, str]:
    """The file of each document whose name can be that of a file, by row.

    A document that was read from a file of this format has that file again. Where two documents
    would have the same file, or one a file where another has a folder, the later one has none.

    Args:
        corpus: the documents.
        form: the name of the format.
        suffix: of its files.
        shared: whether a file can hold several documents.

    Raises:
        TooManyFiles: as `write_files` does, before anything is written.
    """
    members = original_files(corpus, form)
    if not shared:
        several = corpus.documents.filter(pl.col("origin").is_duplicated())["origin"]
        members = {row: path for row, path in members.items() if row not in set(several)}
    rows = corpus.documents.select("row", "origin", "name").iter_rows()
    files = ((row, members.get(at, name + suffix)) for row, at, name in rows if is_file_path(name))
    paths = without_clashes(dict(files), shared=shared)
    if len(paths) > LIMITS.files and len({*paths.values()}) > LIMITS.files:
        raise TooManyFiles
    return paths


def without_clashes(paths: Mapping[int, str], *, shared: bool = False) -> dict[int, str]:
    """The paths that can be written together, each once unless it is shared.

    Examples:
        >>> without_clashes({0: "d1", 1: "d1", 2: "d2/x", 3: "d2"})
        {0: 'd1', 2: 'd2/x'}
    """
    folders, taken = folders_of(set(paths.values())), set[str]()
    kept = {}
    for row, path in paths.items():
        if path not in folders and (shared or path not in taken):
            kept[row] = path
            taken.add(path)
    return kept


def folders_of(paths: Iterable[str]) -> set[str]:
    """The folders that relative paths lead through.

    Examples:
        >>> sorted(folders_of(["a/b/d1", "d2"]))
        ['a', 'a/b']
    """
    folders = {folder for path in paths if "/" in path for folder in PurePath(path).parents}
    return {str(folder) for folder in folders} - {"."}


def count_without_file(
    corpus: Corpus, form: str, suffix: str, *, shared: bool = False
) -> Mapping[str, int]:
    """The counts of documents that have no file, as losses; see `output_paths`."""
    nameless = count_nameless(corpus)
    placed = len(output_paths(corpus, form, suffix, shared=shared))
    others = corpus.documents.height - sum(nameless.values()) - placed
    return {**nameless, "documents whose file another document has": others}


#: What no text file can hold: a null character, and a first character that is a byte order mark.
UNWRITABLE_TEXT = "\x00|^\ufeff"


def count_unwritable_texts(texts: pl.Series) -> Mapping[str, int]:
    """The count of texts that no text file can hold, as a loss."""
    count = int(texts.str.contains(UNWRITABLE_TEXT).sum())
    return {"texts with null characters or an initial byte order mark": count}


def original_files(corpus: Corpus, form: str) -> Mapping[int, str]:
    """The files of a format that a corpus was read from, by row of `sources`.

    Paths that lead out of the folder are left out, and those that files of several inputs have.
    """
    files = corpus.sources.filter(pl.col("format") == form, pl.col("member").is_unique())
    rows = files.select("row", "member").iter_rows()
    return {row: member for row, member in rows if stays_inside(member)}


def count_nameless(corpus: Corpus) -> Mapping[str, int]:
    """The count of documents whose name cannot be that of a file, as a loss."""
    count = sum(not is_file_path(name) for name in corpus.documents["name"])
    return {"documents whose name is not a valid file name": count}


# What formats share that are a single file: how it begins, how it is read, where its lines are.


#: Gives the place of a field in a line: first code point, and one past the last, 0-based.
SpanOf = Callable[[str, str], tuple[int, int]]


class File(NamedTuple):
    """A file and its text.

    Attributes:
        member: the file.
        text: its text; None where it cannot be decoded, which is reported already.
        origin: its row of the table `sources`.
        names: the names of documents of other files that are read with it, for `unique_name`.
    """

    member: Member
    text: str | None
    origin: dict[str, object]
    names: dict[str, int]


def head(source: Source, size: int = 4000) -> str:
    """The beginning of a source that is a single file; empty for other sources.

    Args:
        source: the source.
        size: the number of bytes; a byte order mark is left out.
    """
    return head_of_first(source.members if source.kind in {"file", "stdin"} else (), size)


def head_of_first(members: Sequence[Member], size: int = 4000) -> str:
    """The beginning of the first of some files; empty without files. See `beginning`."""
    return beginning(members[0], size) if members else ""


def beginning(member: Member, size: int = 4000) -> str:
    """The beginning of a file; empty where it cannot be read.

    Args:
        member: the file.
        size: the number of bytes; a byte order mark is left out.
    """
    try:
        begin = member.reader()(0, size)
    except Unreadable:
        return ""
    return begin.decode("utf-8", "replace").removeprefix("\ufeff")


def unique_name(name: str, names: dict[str, int]) -> str:
    """A unique name for a document: its own, or its own with a number.

    Args:
        name: the name as written.
        names: the names in use, and how often each was written; the new one is added.

    Examples:
        >>> names = {}
        >>> [unique_name("d1", names) for _ in range(3)]
        ['d1', 'd1 (2)', 'd1 (3)']
    """
    if name not in names:
        names[name] = 1
        return name
    unique, count = name, names[name]
    while unique in names:
        count += 1
        unique = f"{name} ({count})"
    names[name], names[unique] = count, 1
    return unique


def read_members(
    source: Source,
    form: str,
    read: Callable[[Member, bytes, dict[str, object]], Iterable[tuple[Corpus, Iterable[Finding]]]],
) -> Iterator[ReadResult]:
    """The results of reading the bytes of each file of a source.

    Args:
        source: the files.
        form: the name of the format.
        read: gives the corpora of a file, each with findings, from its bytes and its row of the
            table `sources`.
    """
    for member in source.members:
        try:
            data = member.fetch()
        except Unreadable as reason:
            yield ReadResult(Corpus(), (reason.finding,), (member,))
            continue
        names = {"path": source.path, "member": member.name or member.basename}
        origin: dict[str, object] = {"row": 0, **names, "format": form, "sha256": sha256(data)}
        for corpus, findings in read(member, data, origin):
            yield ReadResult(corpus, tuple(findings), (member,))


def read_files(
    source: Source,
    form: str,
    read: Callable[..., tuple[Corpus, Iterable[Finding]]],
    members: FindMembers | None = None,
    **settings: str,
) -> Iterator[ReadResult]:
    """The result of reading the text of each file of a source.

    Args:
        source: the files.
        form: the name of the format.
        read: gives the corpus of a `File` and the findings in it.
        members: gives the files that are read; all by default.
        settings: those of the format, for `read`.
    """
    names = dict[str, int]()

    def read_text(
        member: Member, data: bytes, origin: dict[str, object]
    ) -> Iterator[tuple[Corpus, Iterable[Finding]]]:
        decoded = decode(data, display=member.display, encoding=member.encoding)
        corpus, findings = read(File(member, decoded.text, origin, names), **settings)
        yield corpus, (*decoded.findings, *findings)

    return read_members(source.only(members(source)) if members else source, form, read_text)


def whole_line(line: str, _: str) -> tuple[int, int]:
    """The place of a field that is a whole line."""
    return 0, len(line)


def cell_stretch(
    line: str, at: int | None, separator: str = "\t", *, quoted: bool = False
) -> tuple[int, int]:
    r"""The place of a cell in its line; the whole line if it has no such cell.

    Args:
        line: the line.
        at: the number of the cell from 0, or from -1 at the end; None for no cell.
        separator: the character between cells; of spaces, one or more.
        quoted: whether cells may be in double quotes.

    Examples:
        >>> cell_stretch("ab\t\tc", 2), cell_stretch("ab  c ", -1, " "), cell_stretch("ab", 1)
        ((4, 5), (4, 5), (0, 2))
    """
    begin = line
    if at is not None and at >= 0 and not quoted and separator != " ":
        # A line may have very many cells after it, and a problem in each of them.
        begin = separator.join(line.split(separator, at + 1)[: at + 1])
    spans = cell_spans(begin, separator, quoted=quoted)
    inside = at is not None and -len(spans) <= at < len(spans)
    return spans[at or 0] if inside else (0, len(line))


def cell_spans(line: str, separator: str, *, quoted: bool) -> list[tuple[int, int]]:
    r"""The places of the cells of a line. See `cell_stretch`.

    Examples:
        >>> cell_spans('M01,"a,""b",,3', ",", quoted=True)
        [(0, 3), (4, 11), (12, 12), (13, 14)]
    """
    begin, other = rf"(?:^|(?<={separator}))", f"[^{separator}]"
    pattern = rf'{begin}(?:"(?:[^"]|"")*"|{other}*)' if quoted else f"{other}+"
    spans = (
        [cell.span() for cell in re.finditer(pattern, line)] if quoted or separator == " " else []
    )
    if not spans:
        ends = accumulate((len(cell) + 1 for cell in line.split(separator)), initial=0)
        spans = [(start, end - 1) for start, end in pairwise(ends)]
    return spans


def findings_in_lines(
    problems: Iterable[Problem],
    lines: Lines | Sequence[str],
    member: Member,
    span_of: SpanOf = whole_line,
) -> list[Finding]:
    """The findings of problems in lines.

    Args:
        problems: the problems; those with a field are where this is, those of no record anywhere.
        lines: the lines of the file.
        member: the file.
        span_of: gives the place of a field in its line.
    """

    def finding(record: int, problem: Problem) -> Finding:
        if not record:
            return problem.finding(member.display, None, None)
        line = lines[record - 1]
        if problem.field:
            start, end = span_of(line, problem.field)
            problem = problem._replace(start=start, end=end, field="")
        return problem.in_line(member.display, line)

    return findings_of(((each.record, each) for each in problems), finding, member.max_per_code)


def locate_lines(
    member: Member, places: Sequence[FieldRef], span_of: SpanOf = whole_line
) -> list[Location | None]:
    """The locations of fields in a file whose records are its lines; None for missing lines.

    Args:
        member: the file; one that is not a text has no lines.
        places: the fields.
        span_of: gives the place of a field in its line.
    """
    text = decode(member.fetch(), display=member.display, encoding=member.encoding).text
    return [None] * len(places) if text is None else locate_in_text(text, places, span_of)


def locate_nowhere(_: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """None for each field: the locations in files that have no places of text."""
    return [None for _ in places]


def locate_in_text(
    text: str, places: Sequence[FieldRef], span_of: SpanOf = whole_line
) -> list[Location | None]:
    """The locations of fields in a text whose records are its lines; None for missing lines.

    Args:
        text: the text of a file.
        places: the fields.
        span_of: gives the place of a field in its line.
    """
    found = _lines_of(text, {place.record for place in places})
    lines = ((place, found.get(place.record)) for place in places)
    return [None if line is None else locate_in_line(line, at, span_of) for at, line in lines]


def _lines_of(text: str, records: Collection[int]) -> dict[int, str]:
    """Some lines of a text by their numbers, as far as they are there."""
    if len(text) <= SLICE:  # thousands of small files are split in a moment
        every = text.split("\n")
        return {at: every[at - 1].removesuffix("\r") for at in records if 1 <= at <= len(every)}
    lines = Lines(text)
    known = sorted(record for record in records if 1 <= record <= len(lines))
    found = dict(zip(known, lines.gather([record - 1 for record in known]), strict=True))
    if text.endswith("\n"):
        found[len(lines) + 1] = ""  # after the last line break
    return found


def located_cells(
    member: Member, places: Sequence[FieldRef], table: Table
) -> list[Location | None]:
    """The locations of cells of a table; None for a line that is not there.

    Args:
        member: the file.
        places: what is looked for; fields are names of columns or their headings.
        table: the declaration of the file.
    """
    first = beginning(member, 100_000).partition("\n")[0].removesuffix("\r")
    return locate_lines(member, places, (table.ordered_by(first) or table).stretch)


def locate_in_line(line: str, place: FieldRef, span_of: SpanOf) -> Location:
    """The location of a place in its line."""
    start, end = span_of(line, place.field)
    span = Span(place.record, start + 1, end + 1)
    return Location(span, excerpt(line, span))


# Many small tables of one header, read as one: a table costs the same for few as for many.


@dataclass
class JoinedTables:
    """The files of one header: their lines are read as one table.

    Attributes:
        table: the declaration of their lines, which has no header.
        origins: the row of `sources` of each file.
        members: each file.
        bodies: the lines after the header of each.
        first: the number of the first line after the header in its file.
    """

    table: Table
    origins: list[int] = field(default_factory=list)
    members: list[Member] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    first: int = 2

    def add(self, origin: int, member: Member, body: str) -> None:
        """Add a file without its header."""
        if body:
            self.origins.append(origin)
            self.members.append(member)
            self.bodies.append(body if body.endswith("\n") else f"{body}\n")

    @cached_property
    def parsed(self) -> ParsedTable:
        """All lines as one table; the texts are not needed after that."""
        text = "".join(self.bodies)
        self._ends  # noqa: B018 - counted while the texts are there
        self.bodies.clear()
        return self.table.read(text)

    @cached_property
    def _ends(self) -> list[int]:
        """The number of lines up to the end of each file."""
        return list(accumulate(body.count("\n") for body in self.bodies))

    def place(self, line: int) -> tuple[int, int]:
        """The index of the file that a line of the joined table is in, and its number there."""
        at = bisect_right(self._ends, line - 1)
        return at, line - (self._ends[at - 1] if at else 0) + self.first - 1

    @property
    def rows(self) -> pl.DataFrame:
        """The rows with `origin`, `record` as the number of the line in its file, and `line`."""
        parsed = self.parsed.rows.rename({"record": "line"})
        if len(self.origins) == 1:
            record = pl.col("line") + (self.first - 1)
            return parsed.with_columns(origin=pl.lit(self.origins[0], pl.Int64), record=record)
        begins = [0, *self._ends][: len(self.origins)]
        schema = dict.fromkeys(("origin", "begin"), pl.Int64)
        files = pl.DataFrame({"origin": self.origins, "begin": begins}, schema)
        before = parsed.with_columns(before=pl.col("line") - 1)
        joined = before.join_asof(files, left_on="before", right_on="begin", coalesce=False)
        record = pl.col("line") - pl.col("begin") + self.first - 1
        return joined.with_columns(record=record).drop("before", "begin")

    def take_rows(self) -> pl.DataFrame:
        """The rows, which are not kept: there are none after that."""
        rows = self.rows
        self.parsed = replace(self.parsed, rows=self.parsed.rows.clear())
        return rows

    def problem(self, code: str, line: int, *columns: str, **values: object) -> tuple[int, Problem]:
        """A problem of cells of a line; of the whole line without columns.

        Args:
            code: of the problem.
            line: the number of the line in the joined table.
            columns: the names of the columns concerned.
            values: of the message.
        """
        text = self.parsed.lines[line - 1]
        places = [self.parsed.table.stretch(text, name) for name in columns or ("",)]
        start, end = min(place[0] for place in places), max(place[1] for place in places)
        return line, Problem(code, line, start, end, values)

    def findings(self, *more: tuple[int, Problem]) -> Iterator[Finding]:
        """The findings of all problems, and of more, each in its file."""
        files: dict[int, Bounded] = {}
        for line, problem in (*self.parsed.wrong, *more):
            at, record = self.place(line)
            found = files.setdefault(at, Bounded(self.members[at].max_per_code))
            found.add(problem.code, record, self._finding, (line, problem))
        for each in files.values():
            yield from each.findings

    def _finding(self, record: int, given: tuple[int, Problem]) -> Finding:
        line, problem = given
        display = self.members[self.place(line)[0]].display
        return problem._replace(record=record).in_line(display, self.parsed.lines[line - 1])

    def rejected_records(
        self, kind: str, *more: tuple[int, Problem], first: int = 0
    ) -> Iterator[dict[str, object]]:
        """The lines without a row, and more, as rows of `rejected_records`.

        Args:
            kind: what a line should be.
            more: the number of a line of the joined table, and why it has no row.
            first: the key of the first row.
        """
        for row, (line, problem) in enumerate((*self.parsed.rejected, *more), start=first):
            at, record = self.place(line)
            text = self.parsed.lines[line - 1]
            moved = problem._replace(record=record)
            yield {**moved.rejection(kind, text), "row": row, "origin": self.origins[at]}
