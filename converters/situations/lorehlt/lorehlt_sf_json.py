r"""LoReHLT situation frames: system output as one JSON array.

Format:
    An array of objects as defined in grammars/lorehlt-sf.schema.json: `DocumentID`, `Type`,
    `Place_KB_ID`, `Status`, `Confidence`, `Urgent`, `SEC`, for needs `Resolution`, and optionally
    `Justification_ID` (or `Justification`, as in the example of the plan). Each entry of `SEC` has
    `Sentiment`, `Emotion_Fear`, `Emotion_Anger`, `Emotion_Joy` and `Source`.

Conventions:
    A record is an item of the array, counted from 1. An empty `Place_KB_ID` means no place. A
    folder or archive may also hold the table of entity mentions to which sources refer: it is read
    as `edl-tab`. The setting `schema` selects the version of the schema; of frames that a published
    version accepts and the plan does not, a warning lists the difference. Frames of a reference
    are written as the system output that agrees with it: confidence 1, `Urgent` from scope and
    severity, one frame for all annotators that agree.

Example line:
    {"DocumentID": "ENG_NW_1", "Type": "search", "Place_KB_ID": "99324", "Status": "current",
     "Confidence": 0.9, "Justification_ID": "segment-8", "Resolution": "insufficient",
     "Urgent": false, "SEC": [{"Sentiment": -3, "Emotion_Fear": true, "Emotion_Anger": false,
     "Emotion_Joy": false, "Source": "author"}]}

Codes raised: JSNxxx, for invalid JSON; LSF101 and LSF2xx; for the table of entity mentions those of
edl-tab.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import polars as pl

from hlteval.converters import load
from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.situations.frame_files import located_items
from hlteval.converters.situations.lorehlt.items import LorehltFile
from hlteval.findings import FieldRef, Location, finding
from hlteval.representation import Corpus, align
from hlteval.sources import Member, Source, Unreadable, decode, sha256

# Situation frames and the entity mentions of one submission as one corpus.


#: The tables that a table of entity mentions makes.
_OF_ENTITIES = ("documents", "mentions", "links", "rejected_records")


def joined(frames: Corpus, entities: Corpus) -> Corpus:
    """The frames and the mentions of the same documents, in one numbering.

    Args:
        frames: of a file of frames.
        entities: of tables of entity mentions; their sources follow those of the frames.

    Examples:
        >>> first = Corpus(documents=[{"row": 0, "name": "b"}])
        >>> second = Corpus(documents=[{"row": 0, "name": "a"}, {"row": 1, "name": "b"}])
        >>> joined(first, second).documents["name"].to_list()
        ['a', 'b']
    """
    frames, entities = align(frames, entities)
    shift = frames.sources.height
    every = dict(entities.tables())
    tables = {name: every[name].with_columns(pl.col("origin") + shift) for name in _OF_ENTITIES}
    documents = pl.concat([frames.documents, tables["documents"]])
    rejected = [frames.rejected_records, tables["rejected_records"]]
    return frames.replace(
        sources=pl.concat([frames.sources, entities.sources.with_columns(pl.col("row") + shift)]),
        documents=documents.unique("row", keep="first", maintain_order=True).sort("row"),
        mentions=tables["mentions"],
        links=tables["links"],
        rejected_records=pl.concat(rejected).with_columns(row=pl.int_range(pl.len())),
    )


#: The name of the file in a submission.
NAME = "system_output.json"
_ENTITIES = ".tab"
#: Members that only these frames have.
_OWN_MEMBER = re.compile(rb'"(?:Place_KB_ID|Justification_ID|SEC)"[ \t\r\n]*:')
_HEAD = 4000


def frames_member(source: Source) -> Member | None:
    """The file of frames: the only one, the one of that name, or the only one ending in .json."""
    if source.kind in {"file", "stdin"}:
        return source.members[0] if source.members else None
    found = [member for member in source.members if member.basename.endswith(".json")]
    named = [member for member in found if member.basename == NAME]
    chosen = named or found
    return chosen[0] if len(chosen) == 1 else None


def entity_members(source: Source) -> tuple[Member, ...]:
    """The files of entity mentions of a folder or archive."""
    if source.kind in {"file", "stdin"}:
        return ()
    return tuple(member for member in source.members if member.basename.endswith(_ENTITIES))


def members(source: Source) -> tuple[Member, ...]:
    """The files that are read."""
    frames = frames_member(source)
    return (*([frames] if frames else []), *entity_members(source))


def sniff(source: Source) -> bool:
    """Whether the file of frames has a member that only these frames have, or is named so."""
    member = frames_member(source)
    if member is None:
        return False
    try:
        head = member.fetch()[:_HEAD]
    except Unreadable:
        return False
    is_json = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in {b"[", b"{"}
    return is_json and (bool(_OWN_MEMBER.search(head)) or member.basename == NAME)


def read(
    source: Source, schema: str = "plan", document_ids: str = "as-written"
) -> Iterator[ReadResult]:
    """The frames of the file, as one batch, with the entity mentions beside them.

    Args:
        source: the files.
        schema: the version of the schema that items must follow.
        document_ids: `stripped` removes all characters `.`, `t` and `x` from the end of document
            identifiers, as the official scorer does.
    """
    frames = _read_frames(source, schema, document_ids)
    tables = entity_members(source)
    if not tables:
        yield frames
        return
    (entities,) = load("edl-tab").read(source.only(tables))
    corpus = joined(frames.corpus, entities.corpus)
    findings, members = frames.findings + entities.findings, frames.members + entities.members
    yield ReadResult(corpus, findings, members)


def _read_frames(source: Source, schema: str, document_ids: str) -> ReadResult:
    member = frames_member(source)
    if member is None:
        found = sum(member.basename.endswith(".json") for member in source.members)
        return ReadResult(Corpus(), (finding("LSF101", file=source.path, count=found),))
    try:
        data = member.fetch()
    except Unreadable as reason:
        return ReadResult(Corpus(), (reason.finding,))
    decoded = decode(data, display=member.display, encoding=member.encoding)
    file = LorehltFile(decoded.text or "", schema, member.max_per_code)
    if decoded.text is not None:
        file.read()
    names = {"path": source.path, "member": member.name or member.basename}
    origin = {"row": 0, **names, "format": FORMAT.name, "sha256": sha256(data)}
    corpus = file.corpus(origin, stripped=document_ids == "stripped")
    return ReadResult(corpus, (*decoded.findings, *file.findings(member.display)), (member,))


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The locations of frames, entries of SEC and their properties; and of entity mentions."""
    if member.basename.endswith(_ENTITIES):
        return load("edl-tab").locate(member, places)
    return located_items(member, places)


FORMAT = declaration(__name__)
