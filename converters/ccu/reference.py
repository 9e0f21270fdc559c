r"""A reference of CCU: a folder of tables about audio, video and text.

Format:
    `docs/segments.tab` (file_id, segment_id, start, end), `docs/file_info.tab` (file_uid, type,
    length and other columns), `docs/versions_per_file.tab`, `docs/norm_info.tab`,
    `data/norms.tab`, `data/emotions.tab`, `data/valence_arousal.tab`, `data/changepoint.tab`, and
    `index_files/*.index.tab`, of which `*system_input.index.tab` lists the documents. Each is
    separated by tabs, without quoting; its first line names the columns, in any order.

Conventions:
    Positions are seconds, or characters in text. Norms, emotions and levels belong to segments.
    `none` means that an annotator found nothing, `noann` that nobody annotated, `EMPTY_NA` that
    there is no value; rows with `EMPTY_TBD` are unfinished and left out. Older references have
    `impact_scalar` and `comment` for `strength_impact` and `evidence`.

Example lines:
    user_id	file_id	segment_id	norm	status
    14678	M010005QD	M010005QD_0001	001	adhere

Codes raised: CCR1xx.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hlteval.converters.ccu.reference_rows import (
    CHANGES,
    EMOTIONS,
    FILE_INFO,
    INDEX,
    LEVELS,
    NORMS,
    SEGMENTS,
    SYSTEM_INPUT,
    corpus_of,
    kinds,
)
from hlteval.converters.ccu.tables import Kind, Tables, header_of
from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.source_files import locate_lines
from hlteval.findings import FieldRef, Location
from hlteval.sources import Member, Source
from hlteval.syntax.tsv import Table

_NEEDED = (SEGMENTS, FILE_INFO)
ALL = "all"
#: The tables of `data/` by the setting that reads only one of them.
_DATA = {"norms": NORMS, "emotions": EMOTIONS, "levels": LEVELS, "changes": CHANGES}


def kind_of(member: Member) -> Kind | None:
    """The kind of table that a file is by its path; None for other files."""
    folder, _, name = member.name.rpartition("/")
    if folder.rpartition("/")[2] == "index_files" and name.endswith(".index.tab"):
        return kinds()[INDEX]
    return kinds().get(f"{folder.rpartition('/')[2]}/{name}")


def documents(source: Source) -> Mapping[str, tuple[Member, ...]]:
    """The tables of a reference, as one batch."""
    return {"": tuple(member for member in source.members if kind_of(member))}


def sniff(source: Source) -> bool:
    """Whether a table is where a reference has it."""
    found = (kind.name for member in source.members if (kind := kind_of(member)))
    return any(name != INDEX for name in found)


def read(source: Source, annotations: str = ALL) -> Iterator[ReadResult]:
    """The whole reference, or the part of it that one task needs, as one batch.

    Args:
        source: the folder or archive.
        annotations: which table of `data/` is read: `norms`, `emotions`, `levels`, `changes`, or
            `all` of them. The tables of `docs/` and `index_files/` are always read. A document
            that only the others name is not there.
    """
    unread = _unread(annotations)
    tables = Tables(source.path, FORMAT.name)
    seen: dict[str, str] = {}
    for member in sorted(source.members, key=lambda m: (m.name.count("/"), m.name)):
        kind = kind_of(member)
        if kind is None:
            continue
        if kind.name in seen and kind.name != INDEX:
            tables.report_file("CCR120", member.display, table=kind.name, other=seen[kind.name])
            continue
        seen[kind.name] = member.name
        if kind.name not in unread:
            tables.read(member, kind)
    names = [member.name for member in source.members]
    missing = [name for name in _NEEDED if name not in seen]
    if source.findings and not source.members:
        missing.clear()  # nothing was unpacked
    elif not any(name.endswith(SYSTEM_INPUT) for name in names):
        missing.append(f"index_files/*{SYSTEM_INPUT}")
    for name in missing:
        tables.report_file("CCR101", source.path, table=name)
    corpus = corpus_of(tables)
    yield ReadResult(corpus, tuple(tables.findings()), tuple(tables.files.members))


def _unread(annotations: str) -> frozenset[str]:
    """The tables that are not read for some annotations."""
    return frozenset(name for key, name in _DATA.items() if annotations not in {ALL, key})


def files_read(source: Source, annotations: str = ALL) -> tuple[Member, ...]:
    """The files of a reference on which `read` depends; all files of any other source.

    Args:
        source: what a task is scored against.
        annotations: as for `read`.
    """
    if not sniff(source):
        return tuple(source.members)
    unread, kinds_of = _unread(annotations), ((each, kind_of(each)) for each in source.members)
    return tuple(member for member, kind in kinds_of if kind and kind.name not in unread)


def tabular(member: Member, first: str, **_: str) -> Sequence[Table]:
    """The table that a file is by its path."""
    kind = kind_of(member)
    return () if kind is None else (kind.declaration(first),)


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The cells of places of a file."""
    kind = kind_of(member)
    if kind is None:
        return [None] * len(places)
    titles = header_of(member).split("\t")
    named = [FieldRef(place.record, _COLUMNS.get(place.field, place.field)) for place in places]
    return locate_lines(member, named, kind.table(titles).stretch)


#: The columns of tables by those of the representation.
_COLUMNS = {
    "region": "segment_id",
    "annotator": "user_id",
    "several": "multi_speaker",
    "at": "timestamp",
    "direction": "direction_impact",
    "strength": "strength_impact",
}


FORMAT = declaration(__name__)
