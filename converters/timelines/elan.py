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

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import count

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.timelines import notation
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.rows import DocumentRows, read_rows
from hlteval.converters.toolkit.source_files import head
from hlteval.findings import FieldRef, Location, Problem
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.xml_elements import Element, examine
from hlteval.syntax.xml_places import Named, attributes, escape, locate_elements, located_findings

SUFFIX = ".eaf"
TABLES = ("instances", "ratings", "changes")
_KINDS = tuple(notation.TABLE_OF)
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
#: The end of each file: all kinds as linguistic types.
_TYPES = "".join(
    f'<LINGUISTIC_TYPE GRAPHIC_REFERENCES="false" LINGUISTIC_TYPE_ID="{kind}"'
    ' TIME_ALIGNABLE="true"/>\n'
    for kind in _KINDS
)

_TIME = re.compile("[0-9]{1,12}")


def sniff(source: Source) -> bool:
    """Whether a file has the suffix, or the only file the root element of EAF."""
    return source_files.has_suffix(source, SUFFIX) or "<ANNOTATION_DOCUMENT" in head(source)


def read(source: Source, kind: str = "norm") -> Iterator[ReadResult]:
    """The documents of a source in batches, in the order of their names."""
    return read_rows(source, FORMAT.name, SUFFIX, partial(_take, kind=kind))


def _take(rows: DocumentRows, origin: int, name: str, text: str, kind: str) -> None:
    """Add the annotations of a file, and what is wrong in it."""
    member = rows.files.members[origin]
    rows.begin(origin, name)
    found = examine(text, "eaf", member.encoding)
    problems: list[Named] = [(problem, None) for problem in found.problems]
    problems += _annotations(rows, found.elements, kind)
    rows.findings += located_findings(text, problems, member)


def _annotations(rows: DocumentRows, elements: Sequence[Element], kind: str) -> Iterator[Named]:
    """Add the annotations of a file; what is wrong with them."""
    times: dict[str, float | None] = {}
    values = {e.parent.ordinal: e for e in elements if e.tag == "ANNOTATION_VALUE" and e.parent}
    dependent = [element for element in elements if element.tag == "REF_ANNOTATION"]
    for element in elements:
        if element.tag == "TIME_SLOT":
            slot, value = (element.attributes.get(key) for key in ("TIME_SLOT_ID", "TIME_VALUE"))
            if value is not None and not _TIME.fullmatch(value):
                yield element.problem("TLN501", "TIME_VALUE", given=value[:40] or "(empty)"), slot
            elif slot is not None:
                times[slot] = None if value is None else int(value) / 1000
        elif element.tag == "ALIGNABLE_ANNOTATION" and element.ordinal in values:
            for problem in _annotation(rows, element, values[element.ordinal], times, kind):
                yield problem, element.attributes.get("ANNOTATION_ID")
    if dependent:
        yield dependent[0].problem("TLN505", count=len(dependent)), None


def _annotation(
    rows: DocumentRows,
    element: Element,
    value: Element,
    times: Mapping[str, float | None],
    default: str,
) -> Iterator[Problem]:
    """Add the instance, rating or change of an annotation; what is wrong with it.

    Args:
        rows: those of the file.
        element: the annotation.
        value: its value.
        times: the seconds of the time slots before it.
        default: the kind on tiers without one.
    """
    tier = element.parent.parent if element.parent else None
    kind = _kind(tier.attributes if tier else {})
    slots = {key: element.attributes.get(key, "") for key in ("TIME_SLOT_REF1", "TIME_SLOT_REF2")}
    start, end = (times.get(slot) for slot in slots.values())
    unknown = [(key, slot[:40]) for key, slot in slots.items() if slot not in times]
    problems = [element.problem("TLN502", key, given=slot) for key, slot in unknown]
    if start is not None and end is not None and start > end:
        problems.append(element.problem("TLN503", "TIME_SLOT_REF2", start=start, end=end))
    for problem in problems:
        rows.add("rejected_records", problem.rejection("instance", value.text))
        yield problem
    if problems:
        return
    table = notation.TABLE_OF.get(kind, "instances")
    note = notation.parse(value.text, table, with_kind=not kind)
    for problem in note.problems:
        yield value.problem(problem.code, "text", **problem.values)
    own = {"record": element.ordinal, **note.values}
    if table == "instances":
        notation.add_instance(rows, element.ordinal, note, kind or default, start=start, end=end)
    elif table == "changes" and note.main:
        direction = None if note.main == notation.CHANGE else note.main
        rows.add(table, {**own, "at": start, "direction": direction})
    elif note.main == notation.NOT_ANNOTATED or re.fullmatch(notation.NUMBER, note.main):
        level = None if note.main == notation.NOT_ANNOTATED else float(note.main)
        rows.add(table, {**own, "kind": kind, "level": level, "start": start, "end": end})
    elif note.main:
        problem = value.problem("TLN504", "text", given=note.main[:40], kind=kind)
        rows.add("rejected_records", problem.rejection("instance", value.text))
        yield problem


def _kind(tier: Mapping[str, str]) -> str:
    """The kind of a tier; empty if neither its linguistic type nor its name is one.

    Examples:
        >>> _kind({"LINGUISTIC_TYPE_REF": "default-lt", "TIER_ID": "Emotion 2"})
        'emotion'
    """
    words = (tier.get(name, "").lower().split() for name in ("LINGUISTIC_TYPE_REF", "TIER_ID"))
    return next((first for first, *_ in filter(None, words) if first in _KINDS), "")


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The locations of annotations: of a time its reference, of anything else the value."""
    own = {"": "", "start": "TIME_SLOT_REF1", "at": "TIME_SLOT_REF1", "end": "TIME_SLOT_REF2"}
    moved = [
        FieldRef(place.record + (place.field not in own), own.get(place.field, "text"))
        for place in places
    ]
    return locate_elements(member, moved)


def as_files(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """The name and content of every file, also of documents without annotations."""
    annotations: dict[int, list[notation.Stretch]] = {}
    for table in TABLES:
        rows = notation.rows_in_seconds(corpus, table).filter(notation.fits(table))
        length = 0
        if table == "changes":
            rows, length = rows.with_columns(kind=pl.lit(notation.CHANGE)), 1
        else:
            rows = rows.filter(notation.has_length())
        start, end = notation.milliseconds("start"), notation.milliseconds("end") + length
        values = rows.select("document", "kind", start, end, notation.text(table))
        for document, *annotation in values.iter_rows():
            annotations.setdefault(document, []).append((*annotation,))
    for row, path in source_files.output_paths(corpus, "elan", SUFFIX).items():
        yield path, _file(annotations.get(row, []))


def _file(annotations: Sequence[notation.Stretch]) -> str:
    """The content of a file."""
    tiers = notation.tiers(annotations)
    every = [item for listed in tiers.values() for item in listed]
    times = sorted({time for _, start, end, _ in every for time in (start, end)})
    slots = {time: f"ts{number}" for number, time in enumerate(times, start=1)}
    parts = [_HEAD, "<TIME_ORDER>\n"]
    for time, slot in slots.items():
        parts.append(f'<TIME_SLOT TIME_SLOT_ID="{slot}" TIME_VALUE="{time}"/>\n')
    parts.append("</TIME_ORDER>\n")
    numbers = count(1)
    for name, listed in tiers.items():
        parts.append(f'<TIER LINGUISTIC_TYPE_REF="{listed[0][0]}" TIER_ID="{name}">\n')
        parts += (
            f'<ANNOTATION>\n<ALIGNABLE_ANNOTATION ANNOTATION_ID="a{next(numbers)}"'
            f' TIME_SLOT_REF1="{slots[start]}" TIME_SLOT_REF2="{slots[end]}">\n'
            f"<ANNOTATION_VALUE>{escape(value)}</ANNOTATION_VALUE>\n"
            "</ALIGNABLE_ANNOTATION>\n</ANNOTATION>\n"
            for _, start, end, value in listed
        )
        parts.append("</TIER>\n")
    return "".join([*parts, _TYPES, "</ANNOTATION_DOCUMENT>\n"])


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of rows that the files cannot represent."""
    counts = dict(source_files.count_without_file(corpus, "elan", SUFFIX))
    for table in TABLES:
        rows = notation.rows_in_seconds(corpus, table)
        fitting = rows.filter(notation.fits(table))
        counts |= notation.count_untimed(corpus, table)
        counts[f"{table} that do not fit a line of text"] = rows.height - fitting.height
        counts |= notation.count_rounded(table, fitting)
    return counts


FORMAT = declaration(__name__)
