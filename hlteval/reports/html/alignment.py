"""The alignment of a report: reference above system, what differs, and the text around it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import polars as pl

from hlteval.findings.counts import filled
from hlteval.reports.html.alignment_cells import SIDES, Cell, Items, cells, with_places
from hlteval.reports.html.columns import column, packed
from hlteval.reports.html.contexts import Contexts, Parts, Span, beginning, marked, plain
from hlteval.reports.html.embedding import as_json
from hlteval.reports.html.sections import TABLES, Column, Section
from hlteval.results.scores import Scores
from hlteval.scoring.evidence import Evidence
from hlteval.tasks import load
from hlteval.tasks.alignment import ERRORS, AlignmentInfo, OutcomeInfo, PlaceInfo

MOST = 100_000
"""Rows of a report; of more, errors are kept first."""
CHUNK = 500
"""Contexts that a browser decodes together, when it shows one of them."""


@dataclass(frozen=True)
class Alignment(Section):
    """The rows of an alignment.

    Attributes:
        rows: `outcome`, `document`, `label`, and what they are filtered by and say besides.
        outcomes: what can become of a row.
        label: what the type of a row is called; empty if rows have none.
        cells: what both sides have.
        facets: what else rows are filtered by: column, title, and whether one value is shown.
        details: the columns about the pair, and their titles.
        context: the number of the context of each row.
        contexts: the contexts.
        left_out: rows that the page does not have.
    """

    rows: pl.DataFrame = field(default_factory=pl.DataFrame)
    outcomes: Sequence[OutcomeInfo] = ()
    label: str = ""
    cells: Sequence[Cell] = ()
    facets: Sequence[tuple[str, str, bool]] = ()
    details: Mapping[str, str] = field(default_factory=dict)
    context: Sequence[int | None] = ()
    contexts: Sequence[tuple[Parts, ...]] = ()
    left_out: int = 0

    kind: ClassVar[str] = "alignment"
    scripts: ClassVar[tuple[str, ...]] = (*TABLES, "assets/alignment.js")

    @property
    def errors(self) -> int:
        """How many rows are errors."""
        wrong = [outcome.name for outcome in self.outcomes if outcome.kind in ERRORS]
        return int(self.rows["outcome"].is_in(wrong).sum())

    def data(self) -> Any:
        """The rows by column, each context once."""
        rows = self.rows
        return {
            "title": self.title,
            "rows": rows.height,
            "outcomes": [_outcome(outcome) for outcome in self.outcomes],
            "outcome": _column(rows["outcome"], "outcome"),
            "document": _column(rows["document"], "document"),
            "label": _column(rows["label"], self.label) if self.label else None,
            "facets": [
                {**_column(rows[name], title), "single": single}
                for name, title, single in self.facets
            ],
            "cells": [_cell(cell) for cell in self.cells],
            "details": [_column(rows[name], title) for name, title in self.details.items()],
            "contexts": [
                as_json(self.contexts[at : at + CHUNK])
                for at in range(0, len(self.contexts), CHUNK)
            ],
            "chunk": CHUNK,
            "context": self.context,
        }


def alignment(scores: Scores) -> Alignment | None:
    """The section of an alignment, as the task declares that people read it.

    Returns:
        None if the scores have no alignment.

    Examples:
        >>> import hlteval
        >>> row = {"document": "d1", "mention": "m1", "label": "PER", "start": 0, "end": 4}
        >>> mentions = pl.DataFrame([row | {"entity": "NIL1", "mention_type": "NAM"}])
        >>> scores = hlteval.score("lorehlt-edl", mentions, mentions, lenient=True)
        >>> section = alignment(scores)
        >>> section.rows["outcome"].to_list(), section.errors
        (['correct'], 0)
    """
    info = load(scores.task).alignment_info
    if info is None or info.table not in scores.tables or scores.tables[info.table].is_empty():
        return None
    every = _readable(info, scores.tables)
    rows = with_places(_kept(every, info), info)
    evidence = scores.evidence or Evidence()
    items = Items(evidence.marks)
    contexts = Contexts()
    numbers = [contexts.add(*texts) for texts in _texts(rows, info, evidence, items)]
    facets = [each for each in info.facets if rows[each.column].n_unique() > 1]
    return Alignment(
        title="Alignment",
        intro=_intro(rows.height, every.height),
        rows=rows.with_columns(
            document=info.document,
            label=pl.coalesce(info.label) if info.label else pl.lit(""),
        ),
        outcomes=[*info.outcomes, *_undeclared(rows, info)],
        label=info.label_title if info.label and _several(rows, info.label) else "",
        cells=[cell for cell in cells(rows, info, items) if not cell.empty],
        facets=[(each.column, each.title, each.single) for each in facets],
        details={
            name: title
            for name, title in _details(info, scores.tables).items()
            if rows[name].null_count() < rows.height
        },
        context=numbers,
        contexts=contexts.values,
        left_out=every.height - rows.height,
    )


def _readable(info: AlignmentInfo, tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """The rows that people read, with what another table says of them."""
    rows = info.rows(tables[info.table]) if info.rows else tables[info.table]
    if info.joined is None or info.joined[0] not in tables:
        return rows
    other = tables[info.joined[0]].unique(info.joined[1], keep="first", maintain_order=True)
    return rows.join(other, on=info.joined[1], how="left", maintain_order="left")


def _details(info: AlignmentInfo, tables: Mapping[str, pl.DataFrame]) -> dict[str, str]:
    if info.joined is None or info.joined[0] not in tables:
        return dict(info.details)
    name, key = info.joined
    more = (each for each in tables[name].columns if each not in key)
    return {**info.details, **{each: each for each in more}}


def _kept(rows: pl.DataFrame, info: AlignmentInfo) -> pl.DataFrame:
    """At most `MOST` rows in their order, errors before others."""
    if rows.height <= MOST:
        return rows
    wrong = [outcome.name for outcome in info.outcomes if outcome.kind in ERRORS]
    numbered = rows.with_row_index("_row").sort(
        ~pl.col("outcome").is_in(wrong), maintain_order=True
    )
    return numbered.head(MOST).sort("_row").drop("_row")


def _intro(shown: int, every: int) -> str:
    text = "Each row has the reference above the system; what differs is marked."
    if shown == every:
        return text
    left = "{left:,} of {every:,} rows {left|is|are} left out, errors last."
    return f"{text} {filled(left, {'left': every - shown, 'every': every})}"


def _undeclared(rows: pl.DataFrame, info: AlignmentInfo) -> Iterator[OutcomeInfo]:
    known = {outcome.name for outcome in info.outcomes}
    for name in rows["outcome"].drop_nulls().unique().sort():
        if name not in known:
            yield OutcomeInfo(name, "unscored")


def _several(rows: pl.DataFrame, columns: Sequence[str]) -> bool:
    return bool(rows.select(pl.coalesce(columns).n_unique() > 1).item())


def _texts(
    rows: pl.DataFrame, info: AlignmentInfo, evidence: Evidence, items: Items
) -> Iterator[tuple[Parts, ...]]:
    """The context of each row: one text, or one of each side where these differ."""
    texts = {
        name: (plain(ours), None if theirs is None else plain(theirs))
        for name, ours, theirs in evidence.texts.iter_rows()
    }
    spans = [_spans(rows, info, side, items) for side in SIDES]
    for document, ours, theirs in zip(rows[info.document], *spans, strict=True):
        reference, system = texts.get(document, (None, None))
        if reference is None:
            yield ()
        elif system is not None:
            yield marked(reference, ours), marked(system, (), theirs)
        elif info.shows_documents:
            yield (beginning(reference),)
        else:
            yield (marked(reference, ours, theirs),)


def _spans(
    rows: pl.DataFrame, info: AlignmentInfo, side: str, items: Items
) -> Iterator[list[Span]]:
    """The places of a side in the text, of each row."""
    if info.items:
        name = info.items[SIDES.index(side)]
        for document, item in zip(rows[info.document], rows[name], strict=True):
            yield items.spans(document, side, item) if item else []
    elif info.places:
        yield from _offsets(rows, getattr(info.places, side), info.places)
    else:
        yield from ([] for _ in range(rows.height))


def _offsets(rows: pl.DataFrame, columns: tuple[str, str], info: PlaceInfo) -> Iterator[list[Span]]:
    """The places of a side in texts; none in audio and video."""
    genres = rows[info.genre] if info.genre else pl.Series(["text"]).new_from_index(0, rows.height)
    for genre, start, end in zip(genres, *(rows[name] for name in columns), strict=True):
        if start is None or genre in ("audio", "video"):
            yield []
        else:
            last = start + 1 if end is None else end + info.inclusive
            yield [(int(start), int(last))]


def _outcome(outcome: OutcomeInfo) -> dict[str, str]:
    return {
        "name": outcome.name,
        "title": outcome.title or outcome.name,
        "kind": outcome.kind,
    }


def _column(values: pl.Series, title: str) -> dict[str, Any]:
    """A column by itself; lists are joined."""
    if isinstance(values.dtype, pl.List):
        values = values.cast(pl.List(pl.String)).list.join(", ")
    kind = column(values.name, values.dtype).kind
    return packed(values.to_frame(), (Column(values.name, title, kind),))[0]


def _cell(cell: Cell) -> dict[str, Any]:
    sides = {
        name: None if side is None else packed(side.alias(name).to_frame())[0]
        for name, side in zip(SIDES, (cell.reference, cell.system), strict=True)
    }
    differs = cell.differs.arg_true().to_list()
    return {"title": cell.title, "kind": cell.kind, "differs": differs, **sides}
