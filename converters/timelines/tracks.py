"""What the formats share that have a file of labels per document: their rows, and their losses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from hlteval.converters.format import ReadResult
from hlteval.converters.timelines.notation import Note, fits
from hlteval.converters.timelines.seconds import count_untimed, in_text, is_timed, placed
from hlteval.converters.toolkit import per_document
from hlteval.converters.toolkit.keyed import keyed
from hlteval.converters.toolkit.per_document import FileBatch
from hlteval.findings import Finding, Problem
from hlteval.representation import TABLES, Corpus
from hlteval.sources import Member, Source

_PLACE = ("document", "origin", "record")


class Tracks:
    """The rows of the files of a batch.

    Attributes:
        files: the files.
        findings: what is wrong in them.
    """

    def __init__(self, files: FileBatch) -> None:
        self.files = files
        self.findings: list[Finding] = []
        self.rows: dict[str, list[dict[str, Any]]] = {}
        self.documents: dict[str, int] = {}
        self.place = (0, 0)

    def begin(self, origin: int, name: str) -> Member:
        """Begin a file; it is returned."""
        if name not in self.documents:
            self.documents[name] = len(self.documents)
            self.rows.setdefault("documents", []).append({"origin": origin, "name": name})
        self.place = (self.documents[name], origin)
        return self.files.members[origin]

    def add(self, table: str, record: int, **values: object) -> None:
        """Add a row of the file that was begun last."""
        document, origin = self.place
        placed = {"document": document, "origin": origin, "record": record}
        self.rows.setdefault(table, []).append({**placed, **values})

    def add_instance(self, record: int, note: Note, kind: str, **times: float | None) -> None:
        """Add the instance of a label, if it has one."""
        if note.main:
            values = {"kind": note.kind or kind, "label": note.main, **note.values}
            self.add("instances", record, **values, **times)

    def reject(self, problem: Problem, text: str) -> None:
        """Add a record that cannot be read."""
        row = problem.rejection("instance", text)
        self.add("rejected_records", int(str(row.pop("record"))), **row)

    def corpus(self) -> Corpus:
        """The tables."""
        tables = {name: _table(name, rows) for name, rows in self.rows.items()}
        return Corpus(sources=self.files.sources, **tables)


def _table(name: str, rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    columns = [column for column in TABLES[name].schema if column != "row"]
    used = {column for row in rows for column in row}
    columns = [column for column in columns if column in used]
    return keyed(name, [tuple(row.get(column) for column in columns) for row in rows], columns)


def read_tracks(
    source: Source, form: str, suffix: str, take: Callable[[Tracks, int, str, str], None]
) -> Iterator[ReadResult]:
    """The documents of a source in batches, in the order of their names.

    Args:
        source: the files.
        form: the name of the format.
        suffix: of its files.
        take: adds a file: its row of `sources`, the name of its document, and its text.
    """
    for files in per_document.batches(source, form, suffix):
        tracks = Tracks(files)
        for file in files.texts:
            take(tracks, *file)
        findings = (*files.findings, *tracks.findings)
        yield ReadResult(tracks.corpus(), findings, tuple(files.members))


def written(corpus: Corpus, condition: pl.Expr) -> pl.DataFrame:
    """The instances that labels of a condition can represent, with `text`-making columns."""
    return placed(corpus, "instances").filter(~in_text(), is_timed(), fits("instances"), condition)


def files(
    corpus: Corpus, form: str, suffix: str, lines: pl.DataFrame, head: str = ""
) -> Iterator[tuple[str, str]]:
    """The name and the content of the file of each document.

    Args:
        corpus: the documents.
        form: the name of the format.
        suffix: of its files.
        lines: `document` and `line`, in order.
        head: what each file begins with.
    """
    contents = dict(
        lines.group_by("document", maintain_order=True).agg(pl.col("line").str.join("")).iter_rows()
    )
    for row, path in per_document.output_paths(corpus, form, suffix).items():
        yield path, head + contents.get(row, "")


def count_losses(corpus: Corpus, form: str, suffix: str) -> Mapping[str, int]:
    """The counts of what labels cannot represent, apart from lengths and fractions."""
    timed = placed(corpus, "instances").filter(~in_text(), is_timed())
    return {
        **per_document.count_without_file(corpus, form, suffix),
        **count_untimed(corpus, "instances"),
        "instances that do not fit a line of text": timed.filter(~fits("instances")).height,
    }


#: What these formats call what labels hold.
WORDS: Mapping[str, str] = {
    "instances": "label",
    "instances.start": "start",
    "instances.end": "end",
    "instances.status": "status",
    "instances.llr": "llr",
    "instances.region": "region",
    "instances.several": "mark of several speakers",
    "instances.annotator": "annotator",
    "rejected_records": "unreadable line",
}
#: What labels represent.
CARRIES = (
    *("sources", "documents", "instances", "instances.start", "instances.end"),
    *("instances.status", "instances.llr", "instances.region", "instances.several"),
    "instances.annotator",
)
