r"""ELAN: instances, ratings and changes as annotations on tiers, one XML file per document.

Format:
    EAF as defined in grammars/eaf.rng, one file `<document>.eaf` per document: TIME_SLOTs, and
    TIERs of ALIGNABLE_ANNOTATIONs between two of them. Written as EAF 3.0.

Conventions:
    Times are milliseconds (seconds in the tables); a slot without a time is null. The kind is the
    first word of the linguistic type of a tier, or else of its name: norm, emotion, valence,
    arousal or change; others are instances of the kind of the setting `kind`. A value is the label,
    level (`noann` if not annotated) or direction, and the properties. Overlapping annotations are
    written on several tiers, changes as a millisecond, since annotations of ELAN have a length.
    Annotations that refer to others are not read. A record is an element, counted by start tags
    from 1.

Example lines:
    <TIER LINGUISTIC_TYPE_REF="norm" TIER_ID="norm">
    <ANNOTATION_VALUE>101 | status=adhere | llr=1.5</ANNOTATION_VALUE>

Codes raised: XML1xx, TLN1xx, TLN5xx.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.timelines import notation
from hlteval.converters.timelines.notation import (
    CHANGE,
    INSTANCES,
    NOT_ANNOTATED,
    NUMBER,
    PROPERTIES,
    RATINGS,
    Tracks,
    count_finer,
    count_untimed,
    fits,
    has_length,
    in_text,
    is_timed,
    milliseconds,
    noted,
    placed,
    text,
)
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.source_files import head
from hlteval.findings import FieldRef, Location, Problem
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.xml_elements import Element, Malformed, structure
from hlteval.syntax.xml_places import attributes, escape, locate_elements, located_findings

# Writes a corpus as EAF files.


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
    for row, path in source_files.output_paths(corpus, "elan", SUFFIX).items():
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


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of rows that the files cannot represent."""
    counts = dict(source_files.count_without_file(corpus, "elan", SUFFIX))
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


#: The columns that annotations represent.
_COLUMNS = tuple(
    f"{table}.{name}"
    for table, names in PROPERTIES.items()
    for name in (
        *names,
        *{"instances": (), "ratings": ("level",), "changes": ("direction",)}[table],
        *(("at",) if table == "changes" else ("start", "end")),
    )
)
_TIME = re.compile("[0-9]{1,12}")


class Value(NamedTuple):
    """The value of an annotation: its element, its kind, and whether it may name another."""

    element: Element
    kind: str
    with_kind: bool


#: A problem, and the identifier of its annotation.
Named = tuple[Problem, str | None]


def sniff(source: Source) -> bool:
    """Whether a file has the suffix, or the only file the root element of EAF."""
    return source_files.has_suffix(source, SUFFIX) or "<ANNOTATION_DOCUMENT" in head(source)


def read(source: Source, kind: str = "norm") -> Iterator[ReadResult]:
    """The documents of a source in batches, in the order of their names."""
    return notation.read_tracks(source, FORMAT.name, SUFFIX, partial(_take, kind=kind))


def _take(rows: Tracks, origin: int, name: str, text: str, kind: str) -> None:
    """Add the annotations of a file, and what is wrong in it."""
    member = rows.begin(origin, name)
    problems: list[Named] = []
    try:
        found = structure(text, "eaf", member.encoding)
    except Malformed as reason:
        problems.append((reason.problem, None))
    else:
        problems += [(problem, None) for problem in found.problems]
        problems += _annotations(rows, found.elements, kind)
    rows.findings += located_findings(text, problems, member)


def _annotations(rows: Tracks, elements: Sequence[Element], kind: str) -> Iterator[Named]:
    """Add the annotations of a file; what is wrong with them."""
    times: dict[str, float | None] = {}
    values = {e.parent.ordinal: e for e in elements if e.tag == "ANNOTATION_VALUE" and e.parent}
    dependent = [element for element in elements if element.tag == "REF_ANNOTATION"]
    for element in elements:
        if element.tag == "TIME_SLOT":
            yield from _slot(times, element)
        elif element.tag == "ALIGNABLE_ANNOTATION" and element.ordinal in values:
            tier = element.parent.parent if element.parent else None
            own = _kind(tier.attributes if tier else {})
            value = Value(values[element.ordinal], own or kind, with_kind=not own)
            problems = _annotation(rows, element, value, times)
            yield from ((problem, element.attributes.get("ANNOTATION_ID")) for problem in problems)
    if dependent:
        yield dependent[0].problem("TLN505", count=len(dependent)), None


def _slot(times: dict[str, float | None], element: Element) -> Iterator[Named]:
    """Add a time slot."""
    name, value = (element.attributes.get(key) for key in ("TIME_SLOT_ID", "TIME_VALUE"))
    if value is not None and not _TIME.fullmatch(value):
        yield element.problem("TLN501", "TIME_VALUE", given=value[:40] or "(empty)"), name
    elif name is not None:
        times[name] = None if value is None else int(value) / 1000


def _kind(tier: Mapping[str, str]) -> str:
    """The kind of a tier; empty if neither its linguistic type nor its name is one.

    Examples:
        >>> _kind({"LINGUISTIC_TYPE_REF": "default-lt", "TIER_ID": "Emotion 2"})
        'emotion'
    """
    words = (tier.get(name, "").lower().split() for name in ("LINGUISTIC_TYPE_REF", "TIER_ID"))
    return next((w[0] for w in words if w and w[0] in {*INSTANCES, *RATINGS, CHANGE}), "")


def _annotation(
    rows: Tracks, element: Element, value: Value, times: Mapping[str, float | None]
) -> Iterator[Problem]:
    """Add an annotation; what is wrong with it."""
    slots = [element.attributes.get(f"TIME_SLOT_REF{at}", "") for at in (1, 2)]
    unknown = [at for at, slot in enumerate(slots, start=1) if slot not in times]
    for at in unknown:
        problem = element.problem("TLN502", f"TIME_SLOT_REF{at}", given=slots[at - 1][:40])
        rows.reject(problem, value.element.text)
        yield problem
    if unknown:
        return
    start, end = (times[slot] for slot in slots)
    if start is not None and end is not None and start > end:
        problem = element.problem("TLN503", "TIME_SLOT_REF2", start=start, end=end)
        rows.reject(problem, value.element.text)
        yield problem
        return
    yield from _value(rows, element.ordinal, value, (start, end))


def _value(
    rows: Tracks, record: int, value: Value, times: tuple[float | None, float | None]
) -> Iterator[Problem]:
    """Add what the value of an annotation says; what is wrong with it."""
    element, kind, with_kind = value
    table = {CHANGE: "changes", **dict.fromkeys(RATINGS, "ratings")}.get(kind, "instances")
    note = noted(element.text, table, with_kind=with_kind)
    for problem in note.problems:
        yield element.problem(problem.code, "text", **problem.values)
    if table == "instances":
        rows.add_instance(record, note, kind, start=times[0], end=times[1])
    elif table == "changes" and note.main:
        direction = None if note.main == CHANGE else note.main
        rows.add(table, record, at=times[0], direction=direction, **note.values)
    elif note.main == NOT_ANNOTATED or re.fullmatch(NUMBER, note.main):
        level = None if note.main == NOT_ANNOTATED else float(note.main)
        place = {"start": times[0], "end": times[1]}
        rows.add(table, record, kind=kind, level=level, **place, **note.values)
    elif note.main:
        problem = element.problem("TLN504", "text", given=note.main[:40], kind=kind)
        rows.reject(problem, element.text)
        yield problem


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The locations of annotations: of a time its reference, of anything else the value."""
    times = {"start": "TIME_SLOT_REF1", "at": "TIME_SLOT_REF1", "end": "TIME_SLOT_REF2"}
    moved = [
        FieldRef(place.record, times[place.field])
        if place.field in times
        else FieldRef(place.record + bool(place.field), "text" if place.field else "")
        for place in places
    ]
    return locate_elements(member, moved)


FORMAT = declaration(__name__)
