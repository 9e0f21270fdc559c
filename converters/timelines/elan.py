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
from pathlib import Path
from typing import NamedTuple

from hlteval.converters.format import Format, ReadResult
from hlteval.converters.timelines import tracks
from hlteval.converters.timelines.elan_files import SUFFIX, TABLES, as_files, lost
from hlteval.converters.timelines.notation import (
    CHANGE,
    INSTANCES,
    KIND,
    NOT_ANNOTATED,
    NUMBER,
    PROPERTIES,
    RATINGS,
    noted,
)
from hlteval.converters.timelines.tracks import Tracks
from hlteval.converters.toolkit import per_document
from hlteval.converters.toolkit.single_file import head
from hlteval.findings import FieldRef, Location, Problem
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.xml_elements import Element, Malformed, structure
from hlteval.syntax.xml_places import locate_elements, located_findings

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


def documents(source: Source) -> Mapping[str, tuple[Member, ...]]:
    """The file of each document, by its name without `.eaf`."""
    return per_document.documents(source, SUFFIX)


def sniff(source: Source) -> bool:
    """Whether a file has the suffix, or the only file the root element of EAF."""
    return per_document.has_suffix(source, SUFFIX) or "<ANNOTATION_DOCUMENT" in head(source)


def read(source: Source, kind: str = "norm") -> Iterator[ReadResult]:
    """The documents of a source in batches, in the order of their names."""
    return tracks.read_tracks(source, FORMAT.name, SUFFIX, partial(_take, kind=kind))


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


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """The annotations as a folder of files, with the names of the original files of this format."""
    per_document.write_files((file for corpus in corpora for file in as_files(corpus)), path)


FORMAT = Format(
    name="elan",
    title="ELAN: instances, ratings and changes on tiers, one XML file per document",
    suffixes=(SUFFIX,),
    layout="per_document",
    separable=True,
    words={
        "instances": "instance",
        "ratings": "rating",
        "changes": "change",
        "rejected_records": "unreadable annotation",
        **{column: column.partition(".")[2] for column in _COLUMNS},
        "changes.at": "value of at",
        "instances.several": "value of several",
    },
    carries=("sources", "documents", *TABLES, *_COLUMNS),
    sniff=sniff,
    documents=documents,
    read=read,
    codes=("TLN1", "TLN5", "XML"),
    locate=locate,
    write=write,
    count_losses=lost,
    known_losses="media, languages, vocabularies and links; names of tiers and annotations",
    settings=(KIND,),
)
