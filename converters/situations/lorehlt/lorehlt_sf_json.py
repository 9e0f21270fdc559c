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

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from hlteval.converters import load
from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.situations.frame_files import json_member, locate_items, write_array
from hlteval.converters.situations.lorehlt.items import (
    ENTRY,
    FRAME,
    ISSUE,
    LorehltFile,
    LorehltSchema,
    types,
)
from hlteval.converters.situations.lorehlt.valid_items import read_valid
from hlteval.converters.toolkit.fitting import SITUATION
from hlteval.converters.toolkit.source_files import read_members
from hlteval.findings import FieldRef, Finding, Location, finding
from hlteval.representation import Corpus, align, first_case
from hlteval.sources import Member, Source, Unreadable, decode

# Situation frames and the entity mentions of one submission as one corpus.


#: The tables that a table of entity mentions makes.
_OF_ENTITIES = ("documents", "mentions", "links", "rejected_records")


def join_entities(frames: Corpus, entities: Corpus) -> Corpus:
    """Put the frames and the mentions of the same documents into one numbering.

    Args:
        frames: of a file of frames.
        entities: of tables of entity mentions; their sources follow those of the frames.

    Examples:
        >>> first = Corpus(documents=[{"row": 0, "name": "b"}])
        >>> second = Corpus(documents=[{"row": 0, "name": "a"}, {"row": 1, "name": "b"}])
        >>> join_entities(first, second).documents["name"].to_list()
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
    return json_member(source, NAME)


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
        head = member.reader()(0, _HEAD)
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
    member, tables = frames_member(source), entity_members(source)
    if member is None:
        count = sum(member.basename.endswith(".json") for member in source.members)
        frames = ReadResult(Corpus(), (finding("LSF101", file=source.path, count=count),))
    else:

        def read_items(
            member: Member, data: bytes, origin: dict[str, object]
        ) -> Iterator[tuple[Corpus, Iterable[Finding]]]:
            stripped, corpus = document_ids == "stripped", None
            if member.encoding.lower() in {"utf-8", "utf8"}:
                corpus = read_valid(data, origin, schema, stripped=stripped)
            if corpus is not None:
                yield corpus, ()
                return
            decoded = decode(data, display=member.display, encoding=member.encoding)
            items = LorehltFile(decoded.text or "", LorehltSchema(schema), member.max_per_code)
            if decoded.text is not None:
                items.read()
            corpus = items.tables(origin, stripped=stripped)
            yield corpus, (*decoded.findings, *items.findings(member.display))

        (frames,) = read_members(source.only([member]), FORMAT.name, read_items)
    if not tables:
        yield frames
        return
    (entities,) = load("edl-tab").read(source.only(tables))
    corpus = join_entities(frames.corpus, entities.corpus)
    findings, members = frames.findings + entities.findings, frames.members + entities.members
    yield ReadResult(corpus, findings, members)


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The locations of frames, entries of SEC and their properties; and of entity mentions."""
    if member.basename.endswith(_ENTITIES):
        return load("edl-tab").locate(member, places)
    return locate_items(member, places)


# Writing situation frames as system output: as they are, or those of a reference.


#: A scope of a large group at least, a severity of non-life threatening injury at least.
_GRAVEST = r"^[2-9]"
_STATUS = {"past only": "past", "not current": "not_current"}
_TRUTH = {"true": "true", "urgent": "true", "false": "false", "not urgent": "false"}
#: An entry has what the schema demands: a source and a value that is not 0.
_IS_WRITABLE = pl.col("holder_kb").is_not_null() & (pl.col("value") != 0).fill_null(value=False)
#: The columns of frames of a reference that are one in system output.
_OUTPUT = ("document", "label", "place_kb", "status", "resolution", "urgent")


def write(corpora: Iterable[Corpus], path: Path, urgency: str = "or") -> None:
    """The situation frames of all documents as one array, a frame per line.

    Args:
        corpora: the batches.
        path: the file.
        urgency: whether a frame of a reference is urgent by its scope `or` its severity, or by its
            scope `and` its severity.
    """
    write_array((frame for corpus in corpora for frame in _objects(corpus, urgency)), path)


def _objects(corpus: Corpus, urgency: str) -> Iterator[dict[str, Any]]:
    rows = system_frames(corpus, urgency)
    entries = system_entries(corpus, rows).rename({"first": "frame"})
    frames = rows.filter(pl.col("row") == pl.col("first")).with_columns(
        pl.col("confidence").fill_null(1.0), pl.col("justification").fill_null(""), frame="row"
    )
    for frame in frame_objects(frames, entries):
        for part, name in ((frame, "Confidence"), *((each, "Sentiment") for each in frame["SEC"])):
            if part[name].is_integer():
                part[name] = int(part[name])  # as people write it: -3, not -3.0
        yield frame


def frame_objects(frames: pl.DataFrame, entries: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """The frames as objects of JSON; what has no value is left out, but for the place.

    Args:
        frames: with the columns of `FRAME`, and the number of each as `frame`.
        entries: of SEC in order, with the columns of `ENTRY` and the number of their `frame`.
    """
    lists: dict[int, list[dict[str, object]]] = {}
    for number, *values in entries.select("frame", *ENTRY.values()).iter_rows():
        entry = {name: v for name, v in zip(ENTRY, values, strict=True) if v is not None}
        lists.setdefault(number, []).append(entry)
    is_urgent = pl.col("urgent").str.to_lowercase() == "true"
    rows = frames.with_columns(pl.col("place_kb").fill_null(""), urgent=is_urgent)
    for number, *values in rows.select("frame", *FRAME.values()).iter_rows():
        frame = {name: v for name, v in zip(FRAME, values, strict=True) if v is not None}
        yield {**frame, "SEC": lists.get(number, [])}


def system_frames(corpus: Corpus, urgency: str = "or") -> pl.DataFrame:
    """The frames as a system gives them, with the names of their documents as `name`.

    Frames with a confidence are those of a system and stay as they are. Those of a reference get
    the values of system output (16.1 of the plan): what is not known to be sufficient is
    insufficient, an issue has no resolution and is current or not, and `urgent` follows from scope
    and severity (16.2.2).

    Args:
        corpus: the frames.
        urgency: see `write`.

    Returns:
        The frames in their order, with the column `first`: the row of the frame of a reference that
        says the same of the same document, that of its first annotator.
    """
    names = corpus.documents.select("name", document="row")
    frames = corpus.frames.filter(pl.col("kind") == SITUATION)
    rows = frames.join(names, on="document", how="left", maintain_order="left")
    gold, issue = pl.col("confidence").is_null(), pl.col("label").is_in(types(ISSUE))
    status = pl.col("status").str.to_lowercase().replace(_STATUS)
    other = issue & status.is_in(["past", "future"])
    sufficient = pl.col("resolution").str.to_lowercase().eq_missing(pl.lit("sufficient"))
    resolution = first_case((sufficient, "sufficient"), otherwise="insufficient")
    grave = pl.col("scope", "severity").str.contains(_GRAVEST).fill_null(value=False)
    urgent = pl.all_horizontal(grave) if urgency == "and" else pl.any_horizontal(grave)
    # words of other formats are known, all others are false
    word = pl.col("urgent").str.to_lowercase()
    truth = word.replace_strict(_TRUTH, default="false", return_dtype=pl.String)
    of_system = pl.when(~gold)
    output = rows.with_columns(
        status=of_system.then("status").when(other).then(pl.lit("not_current")).otherwise(status),
        resolution=of_system.then("resolution").when(~issue).then(resolution),
        urgent=first_case((word.is_not_null(), truth), (urgent, "true"), otherwise="false"),
    )
    # Equal frames of one annotator are as many frames of the output.
    ordinal = pl.int_range(pl.len()).over(*_OUTPUT, "annotator", "confidence")
    numbered = output.with_columns(ordinal=ordinal)
    first = pl.col("row").first().over(*_OUTPUT, "ordinal", "confidence")
    return numbered.with_columns(first=pl.when(gold).then(first).otherwise("row"))


def system_entries(corpus: Corpus, frames: pl.DataFrame) -> pl.DataFrame:
    """The sentiments of frames that a system can give, by frame and position.

    Args:
        corpus: the sentiments.
        frames: as `system_frames` gives them; equal sentiments of frames that are one are one.
    """
    first = frames.select("first", frame_row="row", gold=pl.col("confidence").is_null())
    known = corpus.sentiments.filter(_IS_WRITABLE)
    rows = known.join(first, on="frame_row", maintain_order="left")
    alike = pl.struct("first", *ENTRY.values()).is_first_distinct()
    kept = rows.filter(~pl.col("gold") | alike)
    return kept.sort("first", "item", "row", nulls_last=True)


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """Count what no frame can represent, and what is filled."""
    frames = system_frames(corpus)
    again, placed = frames["row"] != frames["first"], corpus.sentiments.drop_nulls("frame_row")
    urgent = corpus.frames["urgent"].is_null() & corpus.frames["confidence"].is_not_null()
    known = corpus.frames["urgent"].drop_nulls().str.to_lowercase().is_in(list(_TRUTH))
    return {
        "frames that agree with those of another annotator": int(again.sum()),
        "missing urgencies, written as false": int(urgent.sum()),
        "other urgencies than true and false, written as false": int((~known).sum()),
        "sentiments of no frame": corpus.sentiments.height - placed.height,
        "sentiments without a source or a value": placed.filter(~_IS_WRITABLE).height,
    }


FORMAT = declaration(__name__)
