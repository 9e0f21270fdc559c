r"""A submission of CCU: a folder or archive with a table for each document, and their index.

Format:
    `system_output.index.tab` (file_id, is_processed, message, file_path) and the files that it
    names. Their columns are those of their task: file_id, norm, start, end, status, llr (ND);
    file_id, segment_id, norm, status, llr (open ND); file_id, emotion, start, end, llr (ED);
    file_id, start, end, valence_continuous (VD) or arousal_continuous (AD); file_id, timestamp,
    llr (CD), with direction_impact and strength_impact if the system has them. A mapping of norms
    (NDMAP) is the file `nd.map.tab` with sys_norm, ref_norm, sub_id. All are separated by tabs,
    without quoting; the first line names the columns, in any order.

Conventions:
    Positions are seconds, or characters in text, as written. A file with only a header means that
    nothing was found, or that the document was not processed. Paths of the index start at its
    folder, with or without the name of this folder. One table without an index is read, too.

Example lines:
    file_id	norm	start	end	status	llr
    M012345QD	001	12	40	adhere	0.75

Codes raised: CCS1xx.
"""

import posixpath
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import polars as pl

from hlteval.converters.ccu.tables import READ_PLACE, Tables, header_of, kinds_of, words_of
from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.source_files import locate_lines
from hlteval.findings import FieldRef, Location, Problem
from hlteval.findings.suggest import hints
from hlteval.grammars import vocabulary
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.tsv import Table

# The tables of a submission of CCU, by task.


ND, ND_OPEN, ED, VD, AD, CD, NDMAP = "nd", "nd-open", "ed", "vd", "ad", "cd", "ndmap"
INDEX = "index"
INDEX_FILE, MAP_FILE = "system_output.index.tab", "nd.map.tab"
AUTO = "auto"
#: The tables of a submission by task, and the index.
kinds = partial(kinds_of, "submission")


def task_of_header(header: str) -> str:
    r"""The task of a header, also of a damaged one; empty for other lines.

    Examples:
        >>> task_of_header("FILE_ID,NORM,START,END,STATUS,LLR")
        'nd'
        >>> task_of_header("user_id\tfile_id\tsegment_id\tnorm\tstatus")
        ''
    """
    found = set(words_of(header))
    if "user_id" in found:  # a table of a reference
        return ""
    tables = vocabulary("ccu")["recognised"]
    return next((task for task, *columns in tables if found.issuperset(columns)), "")


_KEY = ("document", "origin", "record")
_LABELLED = ("label", "start", "end", "status", "llr", "region")
_ROW = pl.int_range(pl.len(), dtype=pl.Int64).alias("row")


def corpus_of(tables: Tables, listed: pl.DataFrame, files: pl.DataFrame) -> Corpus:
    """The corpus of the files of a submission.

    Args:
        tables: the files.
        listed: the rows of the index.
        files: of each file its `origin`, and its `file_id` by the index or else by its name.
    """
    rows = {task: tables.take_rows(kind) for task, kind in kinds().items() if task != INDEX}
    mappings = rows.pop(NDMAP)
    named = pl.concat(own.select("origin", "file_id") for own in rows.values())
    listed, files = _in_capitals(tables, listed, files, named)
    documents = _documents(listed, files, named)
    numbers = documents.select("processed", document="row", file_id="name")
    keyed = {task: _with_documents(tables, own, files, numbers) for task, own in rows.items()}
    # the path of each document in the index
    index = listed.join(numbers, on="file_id", how="inner", maintain_order="left")
    element, path = pl.lit("index").alias("element"), pl.col("path").fill_null("").alias("value")
    labelled, rated = _with_kinds(keyed, ND, ND_OPEN, ED), _with_kinds(keyed, VD, AD)
    return Corpus(
        sources=tables.files.sources,
        documents=documents,
        instances=labelled.select(_ROW, *_KEY, "kind", *_LABELLED),
        ratings=rated.select(_ROW, *_KEY, "level", "start", "end", "kind"),
        changes=keyed[CD].select(_ROW, *_KEY, "at", "llr", "direction", "strength"),
        mappings=mappings.select(_ROW, *_KEY[1:], "label", "target", "submission"),
        attributes=index.select(_ROW, *_KEY, element, path, name=pl.lit(INDEX_FILE)),
        rejected_records=tables.rejected_records(),
    )


def _in_capitals(
    tables: Tables, listed: pl.DataFrame, files: pl.DataFrame, named: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The index and the files, with documents in capitals if all rows of their files have them so.

    The index is wrong then, not each row.
    """
    one = named.select("origin", right="file_id").unique().filter(pl.len().over("origin") == 1)
    pairs = files.filter("listed").join(one, on="origin").select("file_id", "right")
    written, right = pl.col("file_id"), pl.col("right")
    is_wrong = (written != right) & (written.str.to_uppercase() == right)
    wrong = pairs.filter(is_wrong, ~right.is_in(listed["file_id"].to_list()))
    found = listed.join(wrong, on="file_id", maintain_order="left")
    tables.problems("CCS133", found.select(*READ_PLACE, "file_id", "right"), "file_id")
    corrected = written.replace(wrong["file_id"], wrong["right"])
    return listed.with_columns(corrected), files.with_columns(corrected)


def _documents(listed: pl.DataFrame, files: pl.DataFrame, named: pl.DataFrame) -> pl.DataFrame:
    """The documents of the index; without one, those of the rows and of files without rows."""
    if listed.height:
        own = files.select("file_id", file="origin")
        joined = listed.join(own, on="file_id", how="left", maintain_order="left")
        written = pl.col("is_processed").str.to_lowercase()
        known = pl.when(written.is_in(["true", "false"])).then(written == "true")
        origin = pl.coalesce("file", "origin").alias("origin")
        return joined.select(_ROW, origin, "message", name="file_id", processed=known)
    silent = files.join(named, on="origin", how="anti").select("origin", "file_id")
    names = pl.concat([named, silent]).sort("origin", maintain_order=True)
    unique = names.unique("file_id", keep="first", maintain_order=True)
    return unique.select(_ROW, "origin", name="file_id", processed=pl.lit(None, pl.Boolean))


def _with_documents(
    tables: Tables, rows: pl.DataFrame, files: pl.DataFrame, numbers: pl.DataFrame
) -> pl.DataFrame:
    """Rows with their documents; those of other documents than that of their file are rejected."""
    if rows.is_empty():
        return rows.with_columns(document=pl.lit(None, pl.Int64))
    expected = files.filter("listed").select("origin", expected="file_id")
    placed = rows.join(expected, on="origin", how="left", maintain_order="left")
    placed = placed.join(numbers, on="file_id", how="left", maintain_order="left")
    is_other = (pl.col("file_id") != pl.col("expected")).fill_null(value=False)
    other = placed.filter(is_other)
    tables.problems("CCS126", other.select(*READ_PLACE, "file_id", "expected"), "file_id")
    tables.reject("CCS126", other)
    is_processed = pl.col("processed").fill_null(value=True)
    silent = placed.filter(~is_other, ~is_processed)
    counted = silent.select(*READ_PLACE, "file_id", count=pl.len().over("origin"))
    tables.problems("CCS127", counted.unique("origin", keep="first", maintain_order=True))
    tables.reject("CCS127", silent)
    return placed.filter(~is_other, is_processed)


def _with_kinds(keyed: Mapping[str, pl.DataFrame], *tasks: str) -> pl.DataFrame:
    """The rows of some tasks, each with its `kind`; what a table does not have is null."""
    rows = (keyed[task].with_columns(kind=pl.lit(kinds()[task].kind)) for task in tasks)
    return pl.concat(rows, how="diagonal")


# Where the files of a submission of CCU are: its folder, its index and what that names.


SUFFIX = ".tab"


@dataclass(frozen=True)
class Layout:
    """The files of a submission.

    Attributes:
        index: the index; None if there is none.
        others: further indexes.
        tables: all other tables.
        files: all files by name, for paths of the index.
        folder: the folder of the index inside the source, empty for the source itself.
        name: the name of this folder.
        single: whether the source is a single file.
    """

    index: Member | None
    others: Sequence[Member]
    tables: Sequence[Member]
    files: Mapping[str, Member]
    folder: str
    name: str
    single: bool

    def resolve(self, path: str) -> str | None:
        """The member that a path of the index names, as it is if there is none; None if outside.

        A path is relative to the folder of the index. What comes before the name of this folder is
        passed over.
        """
        if path.startswith(("/", "\\")) or path[1:2] == ":":
            return None
        plain = posixpath.normpath(path.replace("\\", "/"))
        if plain == ".." or plain.startswith("../"):
            return None
        inside = posixpath.join(self.folder, plain)
        after = f"/{plain}".rpartition(f"/{self.name}/")[2] if self.name else plain
        candidates = (inside, posixpath.join(self.folder, after))
        return next((name for name in candidates if name in self.files), inside)

    def belongs_to_another(self, member: Member) -> bool:
        """Whether a file is in the folder of another index."""
        folders = [posixpath.dirname(other.name) for other in self.others]
        return any(member.name.startswith(f"{folder}/") for folder in folders)

    @cached_property
    def sheets(self) -> Mapping[str, str]:
        """The only file with another suffix than tables have, by its name without suffix."""
        others = [name for name in self.files if not name.endswith(SUFFIX)]
        stems = [posixpath.splitext(name)[0] for name in others]
        times = Counter(stems)
        return {stem: name for stem, name in zip(stems, others, strict=True) if times[stem] == 1}

    def inside(self, member: str) -> str:
        """The path of a member from the folder of the index."""
        return member.removeprefix(f"{self.folder}/") if self.folder else member


def layout(source: Source) -> Layout:
    """The files of a submission: a folder, an archive or a single table."""
    if source.kind in {"file", "stdin"}:
        # A file that cannot be read is not a member.
        if [member.basename for member in source.members] == [INDEX_FILE]:
            return Layout(source.members[0], (), (), {}, "", "", single=True)
        return Layout(None, (), source.members, {}, "", "", single=True)
    tables = [member for member in source.members if member.basename.endswith(SUFFIX)]
    indexes = [member for member in tables if member.basename == INDEX_FILE]
    indexes.sort(key=lambda member: (member.name.count("/"), member.name))
    first = indexes[0] if indexes else None
    folder = posixpath.dirname(first.name) if first else ""
    name = posixpath.basename(folder or posixpath.normpath(source.path))
    others = [member for member in tables if member.basename != INDEX_FILE]
    files = {member.name: member for member in source.members if member not in indexes}
    return Layout(first, indexes[1:], others, files, folder, name, single=False)


def stem(member: Member) -> str:
    """The document that a file is named after.

    Examples:
        >>> stem(Member("out/D1.tab", "", 0, bytes))
        'D1'
    """
    return member.basename.removesuffix(SUFFIX)


# The index of a submission of CCU: its documents, their files, and what is wrong with both.


def read_index(tables: Tables, layout: Layout) -> pl.DataFrame:
    """The rows of the index, each with the `member` that its path names, null if there is none.

    Args:
        tables: to which its file is added.
        layout: the files of the submission.
    """
    kind = kinds()[INDEX]
    for other in layout.others:
        tables.report_file("CCS120", other.display, other=layout.index.name if layout.index else "")
    if layout.index is not None:
        tables.read(layout.index, kind)
    rows = tables.take_rows(kind)
    tables.reject("CCS122", tables.report_repeated("CCS122", rows, "file_id"))
    kept = rows.unique("file_id", keep="first", maintain_order=True)
    return _with_members(tables, layout, kept)


def _with_members(tables: Tables, layout: Layout, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of the index with the files that they name; each file belongs to one document."""
    tables.problems("CCS130", rows.filter(pl.col("path").is_null()).select(*READ_PLACE, "file_id"))
    found = [layout.resolve(path) if path else "" for path in rows["path"]]
    resolved = rows.with_columns(member=pl.Series(found, dtype=pl.String))
    wrong = resolved.filter(pl.col("member").is_null()).select(*READ_PLACE, "file_id", "path")
    tables.problems("CCS124", wrong, "path")
    is_there = pl.col("member").is_in(list(layout.files))
    missing = resolved.filter(~is_there, pl.col("member") != "")
    unnamed = {member.name for member in layout.tables}
    free = sorted(map(layout.inside, unnamed - set(found)))
    meant = hints(missing["path"], free, "add the file")
    meant |= {
        path: f"write {layout.inside(sheet)} as tab-separated text, as {path}"
        for path, member in missing.select("path", "member").iter_rows()
        if (sheet := layout.sheets.get(member.removesuffix(SUFFIX)))
    }
    hint = pl.Series([*map(meant.get, missing["path"])], dtype=pl.String)
    if not layout.single:
        shown = missing.select(*READ_PLACE, "file_id", "path", hint=hint)
        tables.problems("CCS123", shown, "path")
    there = resolved.filter(is_there)
    # paths that begin above the folder of the index
    inside = pl.Series([*map(layout.inside, there["member"])], dtype=pl.String)
    plain = pl.col("path").str.replace(r"^(?:\./)+", "")
    above = there.with_columns(inside=inside).filter(plain != pl.col("inside"))
    tables.problems("CCS132", above.select(*READ_PLACE, "path", "inside"), "path")
    placed = resolved.with_columns(member=pl.when(is_there).then("member"))
    first = pl.col("file_id").first().over("member")
    placed = placed.with_columns(other=first)
    is_first = pl.col("file_id") == pl.col("other")
    shared = placed.filter(pl.col("member").is_not_null(), ~is_first)
    tables.problems("CCS131", shared.select(*READ_PLACE, "path", "other"), "path")
    return placed.with_columns(member=pl.when(is_first).then("member"))


#: The number of files that are looked at to recognise the format.
_FIRST = 3


def documents(source: Source) -> Mapping[str, tuple[Member, ...]]:
    """The tables of a submission, as one batch."""
    if source.kind in {"file", "stdin"}:
        return {"": source.members}
    tables = tuple(m for m in source.members if m.basename.endswith(SUFFIX))
    if any(member.basename in {INDEX_FILE, MAP_FILE} for member in tables):
        return {"": tables}
    renamed = (find_misnamed(source.members, task) for task in (AUTO, NDMAP))
    others = (m for m in renamed if m is not None and not m.basename.endswith(SUFFIX))
    return {"": (*tables, *others)}


def find_misnamed(members: Sequence[Member], task: str) -> Member | None:
    """The index under another name, or of NDMAP the mapping; None if there is one by its name.

    Args:
        members: all files; tables come first.
        task: the task of the submission.
    """
    wanted, name = (NDMAP, MAP_FILE) if task == NDMAP else (INDEX, INDEX_FILE)
    if any(member.basename == name for member in members):
        return None
    ordered = sorted(members, key=lambda member: not member.basename.endswith(SUFFIX))
    return next((m for m in ordered if task_of_header(header_of(m)) == wanted), None)


def sniff(source: Source) -> bool:
    """Whether it has an index or a mapping by name, or one of the first tables is of a task."""
    found = documents(source)[""]
    if any(member.basename in {INDEX_FILE, MAP_FILE} for member in found):
        return True
    return any(task_of_header(header_of(member)) for member in found[:_FIRST])


class _Reader:
    """A submission while it is read."""

    def __init__(self, source: Source, task: str) -> None:
        self.source, self.task = source, task
        self.tables = Tables(source.path, FORMAT.name)
        self.layout: Layout = layout(source)
        self.files: list[tuple[int, str, bool]] = []

    def result(self) -> ReadResult:
        """Everything in it."""
        # A mapping has no index: one that lies beside it names nothing that is read.
        held = replace(self.layout, index=None, others=()) if self.task == NDMAP else self.layout
        listed = read_index(self.tables, held)
        named = {path: name for name, path in listed.select("file_id", "member").iter_rows()}
        if listed.is_empty():
            self._without_index()
        for path, name in named.items():
            if path:
                self._read(self.layout.files[path], name, listed=True)
        known = set(listed["file_id"])
        for member in self.layout.tables:
            if member.name in named:
                continue
            if member.basename == MAP_FILE:
                self._read(member, "", listed=False)
            elif listed.height and not self.layout.belongs_to_another(member):
                document = stem(member)
                fix = f"add the document {document} to the index"
                fix = f"write its path in the line of {document}" if document in known else fix
                hint = f"{fix}, or remove the file"
                self.tables.report_file("CCS125", member.display, hint=hint)
        schema = {"origin": pl.Int64, "file_id": pl.String, "listed": pl.Boolean}
        files = pl.DataFrame(self.files, schema=schema, orient="row")
        corpus = corpus_of(self.tables, listed, files)
        return ReadResult(corpus, tuple(self.tables.findings()), tuple(self.tables.files.members))

    def _without_index(self) -> None:
        """All tables as those of the documents in their rows."""
        outputs = [m for m in self.layout.tables if m.basename != MAP_FILE]
        is_refused = not self.source.members and self.source.findings
        is_mapping_only = self.layout.tables and not outputs
        renamed = None if is_refused or is_mapping_only else self._report_missing()
        for member in outputs:
            if member is not renamed:
                self._read(member, stem(member), listed=False)
        if renamed is not None and self.task == NDMAP:
            self._read(renamed, stem(renamed), listed=False)

    def _report_missing(self) -> Member | None:
        """Report that there is no index or no mapping; the file that has another name, if any."""
        task, name = (NDMAP, MAP_FILE) if self.task == NDMAP else (INDEX, INDEX_FILE)
        names = {member.basename for member in self.source.members}
        renamed = find_misnamed(self.source.members, self.task)
        if name in names or (self.layout.single and (task == NDMAP or renamed is None)):
            return None
        if renamed is not None:
            hint = f"rename {renamed.basename} to {name}"
            self.tables.report_file("CCS101", renamed.display, name=name, hint=hint)
        elif INDEX_FILE not in names:
            headings = ", ".join(kinds()[task].headings)
            lines = ", one line for each input document" if task == INDEX else ""
            hint = f"add it: {headings}{lines}"
            self.tables.report_file("CCS101", self.source.path, name=name, hint=hint)
        return renamed

    def _read(self, member: Member, name: str, *, listed: bool) -> None:
        """Read a file as that of a document."""
        fetched = self.tables.fetch(member)
        if fetched is None:
            return
        origin, text = fetched
        header = text.partition("\n")[0].removesuffix("\r")
        task = self._task(member, header)
        if name and task != NDMAP:
            self.files.append((origin, name, listed))
        if task:
            self.tables.take(member, kinds()[task], origin, text)
            self._check_bytes(member, text)

    def _task(self, member: Member, header: str) -> str:
        """The task of a file; empty if it is not read."""
        found = task_of_header(header)
        if member.basename == MAP_FILE:
            return NDMAP
        if self.task == AUTO and found and found not in {INDEX, NDMAP}:
            self.task = found
        if self.task != AUTO and (not found or kinds()[self.task].missing(header.split("\t"))):
            return self._other(member, header, found)
        if not found or found == INDEX:
            hint = "begin with the header of the task, such as: file_id norm start end status llr"
            problem = Problem("CCS129", 1, 0, len(header), {"hint": hint})
            self.tables.report_at(member, header, problem)
            return ""
        return self.task if self.task != AUTO else found

    def _other(self, member: Member, header: str, found: str) -> str:
        """The task of a file whose header is not that of the submission."""
        if found in {"", INDEX, self.task} or kinds()[found].missing(header.split("\t")):
            return self.task  # its header is wrong
        values = {"table": kinds()[found].name, "other": kinds()[self.task].name}
        self.tables.report_at(member, header, Problem("CCS128", 1, 0, len(header), values))
        return ""

    def _check_bytes(self, member: Member, text: str) -> None:
        """Warn of line ends and characters that the plan does not allow."""
        if "\r\n" in text:
            self.tables.report_file("CCS111", member.display)
        if text.isascii():
            return
        lines = text.split("\n")
        records = [number for number, line in enumerate(lines, 1) if not line.isascii()]
        line = lines[records[0] - 1].removesuffix("\r")
        at = next(at for at, character in enumerate(line) if not character.isascii())
        values = {"count": len(records), "given": line[at]}
        self.tables.report_at(member, line, Problem("CCS112", records[0], at, at + 1, values))


def read(source: Source, task: str = AUTO) -> Iterator[ReadResult]:
    """The whole submission, as one batch.

    Args:
        source: a folder, an archive or a single table.
        task: the task of its tables, by which headers are judged; `auto` for that of the first.
    """
    yield _Reader(source, task).result()


def tabular(member: Member, first: str, task: str = AUTO) -> Sequence[Table]:
    """The tables that a file may be: the index and the mapping by name, others by their header."""
    if member.basename in {INDEX_FILE, MAP_FILE}:
        return (kinds()[INDEX if member.basename == INDEX_FILE else NDMAP].declaration(),)
    meant = task_of_header(first) or (task if task != AUTO else "")
    return [kind.declaration() for name, kind in kinds().items() if meant in {"", name}]


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The cells of places of a file."""
    header = header_of(member)
    if task := task_of_header(header):
        table = kinds()[task].table(header.split("\t"))
        return locate_lines(member, places, table.stretch)
    return locate_lines(member, places)


FORMAT = declaration(__name__)
