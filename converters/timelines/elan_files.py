"""Writes a corpus as EAF files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import polars as pl

from hlteval.converters.timelines.notation import CHANGE, INSTANCES, RATINGS, fits, text
from hlteval.converters.timelines.seconds import (
    count_finer,
    count_untimed,
    has_length,
    in_text,
    is_timed,
    milliseconds,
    placed,
)
from hlteval.converters.toolkit import per_document
from hlteval.representation import Corpus
from hlteval.syntax.xml_places import attributes, escape

SUFFIX = ".eaf"
TABLES = ("instances", "ratings", "changes")
_KINDS = (*INSTANCES, *RATINGS, CHANGE)
_ROOT = (
    ("AUTHOR", "hlteval"),
    ("DATE", "1970-01-01T00:00:00+00:00"),  # the same file every time
    ("FORMAT", "3.0"),
    ("VERSION", "3.0"),
    ("xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance"),
    ("xsi:noNamespaceSchemaLocation", "http://www.mpi.nl/tools/elan/EAFv3.0.xsd"),
)
_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    f"<ANNOTATION_DOCUMENT{attributes(_ROOT)}>\n"
    '<HEADER MEDIA_FILE="" TIME_UNITS="milliseconds"/>\n'
)

#: The kind, the first and the last millisecond, and the value.
Annotation = tuple[str, int, int, str]


def as_files(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """The name and content of every file, also of documents without annotations."""
    rows = pl.concat([_lines(corpus, table) for table in TABLES])
    found: dict[int, list[Annotation]] = {}
    for document, *annotation in rows.iter_rows():
        found.setdefault(document, []).append((*annotation,))
    for row, path in per_document.output_paths(corpus, "elan", SUFFIX).items():
        yield path, _file(found.get(row, []))


def _written(corpus: Corpus, table: str) -> pl.DataFrame:
    rows = placed(corpus, table).filter(~in_text(), is_timed(), fits(table))
    return rows if table == "changes" else rows.filter(has_length())


def _lines(corpus: Corpus, table: str) -> pl.DataFrame:
    """The annotations of a table: `document` and the parts of `Annotation`."""
    kind = pl.lit(CHANGE) if table == "changes" else pl.col("kind")
    length = 1 if table == "changes" else 0
    return _written(corpus, table).select(
        "document",
        kind.alias("kind"),
        milliseconds("start").alias("start"),
        (milliseconds("end") + length).alias("end"),
        text(table),
    )


def _file(annotations: Iterable[Annotation]) -> str:
    """The content of a file."""
    tiers = _tiers(annotations)
    every = [item for listed in tiers.values() for item in listed]
    times = sorted({time for _, start, end, _ in every for time in (start, end)})
    slots = {time: f"ts{number}" for number, time in enumerate(times, start=1)}
    order = "".join(
        f'<TIME_SLOT TIME_SLOT_ID="{slot}" TIME_VALUE="{time}"/>\n' for time, slot in slots.items()
    )
    body, number = "", 0
    for name, listed in tiers.items():
        body += f'<TIER LINGUISTIC_TYPE_REF="{listed[0][0]}" TIER_ID="{name}">\n'
        for _, start, end, value in listed:
            number += 1
            body += (
                f'<ANNOTATION>\n<ALIGNABLE_ANNOTATION ANNOTATION_ID="a{number}"'
                f' TIME_SLOT_REF1="{slots[start]}" TIME_SLOT_REF2="{slots[end]}">\n'
                f"<ANNOTATION_VALUE>{escape(value)}</ANNOTATION_VALUE>\n"
                "</ALIGNABLE_ANNOTATION>\n</ANNOTATION>\n"
            )
        body += "</TIER>\n"
    types = "".join(
        f'<LINGUISTIC_TYPE GRAPHIC_REFERENCES="false" LINGUISTIC_TYPE_ID="{kind}"'
        ' TIME_ALIGNABLE="true"/>\n'
        for kind in _KINDS
    )
    return f"{_HEAD}<TIME_ORDER>\n{order}</TIME_ORDER>\n{body}{types}</ANNOTATION_DOCUMENT>\n"


def _tiers(annotations: Iterable[Annotation]) -> dict[str, list[Annotation]]:
    """The annotations by the name of their tier; those of one tier do not overlap.

    Examples:
        >>> _tiers([("norm", 0, 5, "101"), ("norm", 3, 9, "102"), ("norm", 5, 7, "103")]).keys()
        dict_keys(['norm', 'norm 2'])
    """
    tiers: dict[str, list[Annotation]] = {}
    ordered = sorted(annotations, key=lambda item: (_KINDS.index(item[0]), item[1]))
    for item in ordered:
        number, name = 1, item[0]
        while name in tiers and tiers[name][-1][2] > item[1]:
            number += 1
            name = f"{item[0]} {number}"
        tiers.setdefault(name, []).append(item)
    return tiers


def lost(corpus: Corpus) -> Mapping[str, int]:
    """The counts of rows that the files cannot represent."""
    counts = dict(per_document.count_without_file(corpus, "elan", SUFFIX))
    for table in TABLES:
        timed = placed(corpus, table).filter(~in_text(), is_timed())
        fitting = timed.filter(fits(table))
        written = _written(corpus, table)
        counts |= count_untimed(corpus, table)
        counts |= {
            f"{table} that do not fit a line of text": timed.height - fitting.height,
            f"{table} shorter than a millisecond": fitting.height - written.height,
            f"{table} whose times are rounded to milliseconds": count_finer(written),
        }
    return counts
