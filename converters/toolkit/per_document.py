"""What formats share that have a file per document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePath

import polars as pl

from hlteval.findings import Finding
from hlteval.representation import TABLES, Corpus
from hlteval.sources import Member, Source, Unreadable, decode, is_file_path, sha256, stays_inside

#: The maximum number of documents in a batch.
BATCH = 500
#: Bytes that complete a batch; larger batches cost memory and are not faster.
_BYTES = 8_000_000


def documents(source: Source, suffix: str) -> Mapping[str, tuple[Member, ...]]:
    """The files of each document by its name, which is theirs without the suffix.

    A source that is a single file may have any suffix.
    """
    members = [member for member in source.members if member.basename.endswith(suffix)]
    if source.kind in {"file", "stdin"}:
        members = list(source.members)
    found: dict[str, list[Member]] = {}
    for member in members:
        found.setdefault(stem(member, suffix), []).append(member)
    return {name: tuple(found[name]) for name in sorted(found)}


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


def has_suffix(source: Source, suffix: str) -> bool:
    """Whether the name of a file of a source ends in a suffix."""
    return any(member.basename.endswith(suffix) for member in source.members)


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

    def named(self, documents: pl.DataFrame) -> pl.DataFrame:
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


def batches(source: Source, form: str, suffix: str) -> Iterator[FileBatch]:
    """The files of a source, at most `BATCH` documents or some megabytes at a time."""
    files, size, count = FileBatch(source.path, form), 0, 0
    for name, members in documents(source, suffix).items():
        size += sum(files.add(name, member) for member in members)
        count += 1
        if count >= BATCH or size >= _BYTES:
            yield files
            files, size, count = FileBatch(source.path, form), 0, 0
    if count:
        yield files


def write_files(files: Iterable[tuple[str, str]], folder: Path) -> None:
    """Write files by name, each with its content, in a folder that is made."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, "utf-8", newline="")


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
    """
    members = original_files(corpus, form)
    if not shared:
        several = corpus.documents.filter(pl.col("origin").is_duplicated())["origin"]
        members = {row: path for row, path in members.items() if row not in set(several)}
    rows = corpus.documents.select("row", "origin", "name").iter_rows()
    paths = {
        row: members.get(origin, f"{name}{suffix}")
        for row, origin, name in rows
        if is_file_path(name)
    }
    return without_clashes(paths, shared=shared)


def without_clashes(paths: Mapping[int, str], *, shared: bool = False) -> dict[int, str]:
    """The paths that can be written together, each once unless it is shared.

    Examples:
        >>> without_clashes({0: "d1", 1: "d1", 2: "d2/x", 3: "d2"})
        {0: 'd1', 2: 'd2/x'}
    """
    folders = {str(folder) for path in set(paths.values()) for folder in PurePath(path).parents}
    taken: set[str] = set()
    kept = {}
    for row, path in paths.items():
        if path not in folders and (shared or path not in taken):
            kept[row] = path
            taken.add(path)
    return kept


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
