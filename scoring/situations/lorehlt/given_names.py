"""Names in the files of options that the reference does not have: of annotators, of documents.

Only all of the reference shows that a name is unknown; the findings are about the files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from hlteval.findings import Finding, Problem, finding
from hlteval.findings.counts import first_names
from hlteval.findings.suggest import closest, closest_files
from hlteval.scoring.situations.lorehlt.frame_rows import ANNOTATED, FRAME
from hlteval.scoring.situations.lorehlt.ranking_options import RankingOptions

#: The annotators of a file, as `annotators.CHOSEN`, with the file, the number and the text of the
#: line of each.
GIVEN = {
    "docid": pl.String,
    "issue": pl.Boolean,
    "chosen": pl.String,
    "file": pl.String,
    "record": pl.Int64,
    "text": pl.String,
}
#: How many names a hint lists.
_NAMED = 5


def unknown_annotators(options: RankingOptions, rows: pl.DataFrame) -> Iterator[Finding]:
    """Find annotators that a document does not have, and documents that the reference lacks.

    Args:
        options: what was chosen.
        rows: of the reference, as `frame_rows.ROWS`.
    """
    given = options.annotators
    if given is None:
        return
    documents = _documents(rows)
    known = {*documents}
    frames = rows.filter(pl.col("part") == FRAME)
    names = dict(
        frames.group_by("docid").agg(pl.col("annotator").drop_nulls().unique().sort()).rows()
    )
    lines = given.select(pl.col(name) for name in GIVEN).rows(named=True)
    strange = [row["docid"] for row in lines if row["docid"] not in known]
    meant = closest_files(strange, documents)
    for row in lines:
        doc, chosen = row["docid"], row["chosen"]
        start = row["text"].rindex("\t") + 1
        if doc not in known:
            hint = _hint(meant.get(doc), "the reference", documents)
            problem = Problem("LSF701", row["record"], 0, len(doc), {"document": doc, "hint": hint})
        elif doc in names and chosen not in names[doc]:
            hint = _hint(closest(chosen, names[doc]), doc, names[doc])
            values = {"given": chosen, "document": doc, "hint": hint}
            problem = Problem("LSF702", row["record"], start, len(row["text"]), values)
        else:
            continue
        yield problem.in_line(row["file"], row["text"]).of("--annotators")


def unknown_documents(options: RankingOptions, rows: pl.DataFrame) -> Iterator[Finding]:
    """Find scored documents that neither the reference nor the list of the test set has.

    Args:
        options: what was chosen.
        rows: of the reference, as `frame_rows.ROWS`.
    """
    documents = _documents(rows)
    scored = {*(options.scored or ())}
    absent = sorted(scored - {*documents, *(options.documents or ())})
    if absent and options.documents is None and len(absent) < len(scored):
        yield finding("LSF704", count=len(absent), document=absent[0]).of("--scored")
        return
    meant = closest_files(absent, documents)
    for name in absent:
        hint = _hint(meant.get(name), "the reference", documents)
        yield finding("LSF703", document=name, hint=hint).of("--scored")


def _documents(rows: pl.DataFrame) -> list[str]:
    return rows.filter(pl.col("part") == ANNOTATED)["docid"].unique().sort().to_list()


def _hint(meant: str | None, owner: str, names: Sequence[str]) -> str:
    """What may be meant, and the names that there are."""
    there = f"{owner} has {first_names(names, _NAMED) or 'none'}"
    return f"did you mean {meant}? {there}" if meant else there
