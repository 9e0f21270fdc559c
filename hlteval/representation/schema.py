"""What a table of the representation is: its columns, and the keys that it has of other tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import polars as pl


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, Polars type, meaning, unit and whether it may be null."""

    name: str
    dtype: pl.DataType | type[pl.DataType]
    meaning: str
    unit: str = ""
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """One table: what a row is, and its columns in order."""

    name: str
    row_is: str
    columns: tuple[Column, ...]
    references: tuple[tuple[str, str], ...] = ()
    """Columns that hold the `row` of another table, with that table's name."""

    @property
    def schema(self) -> dict[str, pl.DataType | type[pl.DataType]]:
        """Column names and Polars types, in order."""
        return {column.name: column.dtype for column in self.columns}

    def empty(self) -> pl.DataFrame:
        """A table of this shape without rows."""
        return pl.DataFrame(schema=self.schema)


_WITHOUT_DOCUMENT = ("rejected_records", "mappings")
"""The tables whose rows may belong to no document."""


def declare(name: str, row_is: str, *columns: Column, placed: bool = True, **refs: str) -> Table:
    """Declare a table; `placed` adds the columns for the place of a row in its file."""
    head: tuple[Column, ...] = (Column("row", pl.Int64, "key of this table"),)
    references = dict(refs)
    if placed:
        head += (
            Column("document", pl.Int64, "row of `documents`", nullable=name in _WITHOUT_DOCUMENT),
            Column("origin", pl.Int64, "row of `sources`"),
            Column(
                "record", pl.Int64, "number of the record in that source", "1-based line or item"
            ),
        )
        references |= {"document": "documents", "origin": "sources"}
    return Table(name, row_is, head + columns, tuple(references.items()))


STREAM = "seconds; characters of text"
_FROM = Column("start", pl.Float64, "where it starts, as written", STREAM, True)
_TO = Column("end", pl.Float64, "where it ends, as written", STREAM, True)
_REGION = Column("region", pl.String, "identifier of the region, as written", nullable=True)
_LLR = Column("llr", pl.Float64, "log likelihood ratio of the system", nullable=True)
_ANNOTATOR = Column("annotator", pl.String, "annotator, as written", nullable=True)

STREAMS = (
    declare(
        "regions",
        "a part of a stream (of text, audio or video) that annotators judge",
        Column("region", pl.String, "identifier as written"),
        _FROM,
        _TO,
    ),
    declare(
        "instances",
        "a norm or an emotion in a stretch of a stream",
        Column("kind", pl.String, "`norm` or `emotion`"),
        Column("label", pl.String, "class as written; in a reference also `none` and `noann`"),
        _FROM,
        _TO,
        Column("status", pl.String, "`adhere` or `violate`, as written", nullable=True),
        _LLR,
        _REGION,
        Column("several", pl.Boolean, "whether several speakers show it", nullable=True),
        _ANNOTATOR,
    ),
    declare(
        "ratings",
        "the level of valence or arousal in a stretch of a stream",
        Column("kind", pl.String, "`valence` or `arousal`"),
        Column("level", pl.Float64, "level; null if not annotated", "1 to 1000", True),
        Column("bin", pl.String, "binned level as written", nullable=True),
        _FROM,
        _TO,
        _REGION,
        _ANNOTATOR,
    ),
    declare(
        "changes",
        "a change point of a stream",
        Column("at", pl.Float64, "where it is", STREAM, True),
        _LLR,
        Column("direction", pl.String, "direction of the impact, as written", nullable=True),
        Column("strength", pl.String, "strength of the impact, as written", nullable=True),
        Column("evidence", pl.String, "comment of the annotator", nullable=True),
        _ANNOTATOR,
    ),
    declare(
        "mappings",
        "a norm of a system that is mapped to a hidden norm",
        Column("label", pl.String, "norm of the system, as written"),
        Column("target", pl.String, "hidden norm of the reference, as written"),
        Column("submission", pl.String, "identifier of the submission, as written", nullable=True),
    ),
    declare(
        "responses",
        "the answer of a speaker to a question after an interaction (the document)",
        Column("condition", pl.String, "condition of the interaction, as written"),
        Column("speaker", pl.String, "speaker, as written"),
        Column("question", pl.Int64, "number of the question"),
        Column("response", pl.String, "answer as written"),
    ),
)
"""Regions, and what annotators and systems say of them."""


SCHEMA_VERSION = 1
"""Raised whenever a table or column changes its name, type or meaning, or one is added that may not
be null."""

FRAGMENTS = pl.List(pl.Struct({"start": pl.Int64, "end": pl.Int64}))


_START = Column("start", pl.Int64, "offset of the first code point", "code points")
_END = Column("end", pl.Int64, "offset after the last code point", "code points")
_LABEL = Column("label", pl.String, "type as written")
_CONFIDENCE = Column("confidence", pl.Float64, "confidence of the system", "0 to 1", nullable=True)

_DECLARED = (
    declare(
        "sources",
        "an input file",
        Column("path", pl.String, "path as given by the user"),
        Column("member", pl.String, "path inside a folder or archive; for a single file, its name"),
        Column("format", pl.String, "format it was read as"),
        Column("sha256", pl.String, "SHA-256 digest of its bytes, in hexadecimal"),
        placed=False,
    ),
    declare(
        "documents",
        "a source document",
        Column(
            "origin", pl.Int64, "row of `sources`: its text file, or its first file", nullable=True
        ),
        Column("name", pl.String, "document identifier, unique in a corpus"),
        Column("text", pl.String, "complete text", nullable=True),
        Column("language", pl.String, "language as written (`eng`)", nullable=True),
        Column("modality", pl.String, "`text`, `speech`, `audio` or `video`", nullable=True),
        Column("start", pl.Int64, "offset of its text in the file", "code points", True),
        Column("length", pl.Float64, "length of the stream", STREAM, True),
        Column("processed", pl.Boolean, "whether the system could process it", nullable=True),
        Column("message", pl.String, "message of the system about it", nullable=True),
        placed=False,
        origin="sources",
    ),
    declare(
        "segments",
        "a part of a document, such as a sentence",
        Column("name", pl.String, "identifier as written", nullable=True),
        _START,
        _END,
        Column("text", pl.String, "text as written", nullable=True),
        Column(
            "part",
            pl.String,
            "enclosing part of the document (`HEADLINE 1`, `TEXT 2 P 1`)",
            nullable=True,
        ),
    ),
    declare(
        "tokens",
        "a word, a number, or a punctuation mark",
        Column("segment_row", pl.Int64, "row of `segments`", nullable=True),
        Column("name", pl.String, "identifier as written", nullable=True),
        _START,
        _END,
        Column("text", pl.String, "text as written"),
        Column("pos", pl.String, "token class or part of speech (`word`, `punct`)", nullable=True),
        Column("morph", pl.String, "morphology as written", nullable=True),
        segment_row="segments",
    ),
    declare(
        "attributes",
        "a format-specific attribute of a document or of a part of it",
        Column("element", pl.String, "element with the attribute (`DOC`, `SEG`)"),
        Column("name", pl.String, "name of the attribute"),
        Column("value", pl.String, "value as written"),
    ),
    declare(
        "mentions",
        "a labelled span of text",
        Column("mention", pl.String, "identifier as written"),
        _LABEL,
        _START,
        _END,
        Column("fragments", FRAGMENTS, "fragments of a discontinuous span", "code points", True),
        Column("text", pl.String, "text of the span as written", nullable=True),
        Column("entity", pl.String, "entity as written", nullable=True),
        Column("mention_type", pl.String, "mention type (`NAM`, `NOM`)", nullable=True),
        _CONFIDENCE,
        Column(
            "confidence_text",
            pl.String,
            "confidence as written, if not in canonical form",
            nullable=True,
        ),
        Column("annotator", pl.String, "annotator or run, as written", nullable=True),
    ),
    declare(
        "links",
        "an alternative candidate for the entity of a mention",
        Column("mention_row", pl.Int64, "row of `mentions`"),
        Column(
            "rank",
            pl.Int64,
            "rank among the candidates; the entity of the mention itself has rank 1",
            "from 2",
        ),
        Column("entity", pl.String, "entity as written", nullable=True),
        Column("label", pl.String, "type as written", nullable=True),
        _CONFIDENCE,
        mention_row="mentions",
    ),
    declare(
        "groups",
        "the membership of one item in an equivalence",
        Column("group", pl.String, "identifier of the group, unique in its document"),
        Column("kind", pl.String, "kind of group (`Equiv`)"),
        Column("member", pl.String, "identifier of the member as written"),
    ),
    declare(
        "frames",
        "an event, relation, situation or template instance",
        Column(
            "frame", pl.String, "identifier as written; null if the frame has none", nullable=True
        ),
        Column(
            "kind",
            pl.String,
            "`event` or `relation`, from the identifier; `situation`; or `templette`",
        ),
        _LABEL,
        Column("trigger", pl.String, "identifier of the trigger mention", nullable=True),
        Column("place", pl.String, "place of a situation, as written", nullable=True),
        Column(
            "place_kb",
            pl.String,
            "knowledge base entry of the place, as written (`123`, `NIL4`, `1|2` if ambiguous)",
            nullable=True,
        ),
        Column("status", pl.String, "time of a need (`Current`, …)", nullable=True),
        Column("scope", pl.String, "number of people affected, as written", nullable=True),
        Column("severity", pl.String, "degree of harm, as written", nullable=True),
        Column("resolution", pl.String, "degree of relief (`Sufficient`, …)", nullable=True),
        Column("urgent", pl.String, "urgency as written", nullable=True),
        _CONFIDENCE,
        Column(
            "optional", pl.Boolean, "whether the instance is optional for systems", nullable=True
        ),
        Column("justification", pl.String, "segment that justifies it, as written", nullable=True),
        Column("annotator", pl.String, "annotator, as written", nullable=True),
    ),
    declare(
        "sentiments",
        "a sentiment, with its emotions, of someone about a situation",
        Column("frame_row", pl.Int64, "row of `frames`; null if no frame is named", nullable=True),
        Column(
            "target", pl.String, "identifier of the frame, if the record names it", nullable=True
        ),
        Column("item", pl.Int64, "position in the list of its frame", "1-based", True),
        Column(
            "holder", pl.String, "who has it, as written: entity, `author`, `other`", nullable=True
        ),
        Column(
            "holder_kb",
            pl.String,
            "knowledge base entry of the holder, or `author` or `other`, as written",
            nullable=True,
        ),
        Column("value", pl.Float64, "strength and direction", "-3 to 3", True),
        Column("polarity", pl.String, "`positive` or `negative`", nullable=True),
        Column("fear", pl.Boolean, "whether fear is felt; null if not given", nullable=True),
        Column("anger", pl.Boolean, "whether anger is felt; null if not given", nullable=True),
        Column("joy", pl.Boolean, "whether joy is felt; null if not given", nullable=True),
        Column("annotator", pl.String, "annotator, as written", nullable=True),
        frame_row="frames",
    ),
    declare(
        "arguments",
        "an argument of a frame: a role and its filler",
        Column("frame_row", pl.Int64, "row of `frames`"),
        Column("position", pl.Int64, "position among the arguments of its frame", "1-based"),
        Column("role", pl.String, "role as written"),
        Column(
            "target",
            pl.String,
            "identifier of the filler as written; for `Place`, one of several candidate places",
        ),
        frame_row="frames",
    ),
    declare(
        "fills",
        "a fill of a slot of a template instance, or an empty slot",
        Column("frame_row", pl.Int64, "row of `frames`"),
        Column("slot", pl.String, "name of the slot as written"),
        Column("slot_number", pl.Int64, "position of the slot in its instance", "1-based"),
        Column("optional", pl.Boolean, "whether the slot is marked as optional"),
        Column("alternative", pl.Int64, "position of its alternative in the slot", "1-based"),
        Column("position", pl.Int64, "position of the fill in its alternative", "1-based"),
        Column("kind", pl.String, "`pointer`, `text`, or `empty` for a slot without fills"),
        Column("target", pl.String, "instance named by a pointer, as written", nullable=True),
        Column(
            "text",
            pl.String,
            "maximal string: without brackets in a reference, as written in system output",
            nullable=True,
        ),
        Column("quoted", pl.Boolean, "whether the text is quoted", nullable=True),
        Column(
            "extents",
            FRAGMENTS,
            "extents as written: of the maximal string, then of each minimal string",
            "as written",
            True,
        ),
        Column(
            "brackets",
            FRAGMENTS,
            "span of each minimal string in `text`, ordered by start",
            "code points",
            True,
        ),
        frame_row="frames",
    ),
    declare(
        "modifiers",
        "a negation, attribute, normalization or note",
        Column("modifier", pl.String, "identifier as written"),
        _LABEL,
        Column("target", pl.String, "identifier of the modified item as written"),
        Column(
            "value",
            pl.String,
            "referent of a normalization; value of an attribute",
            nullable=True,
        ),
        Column(
            "text",
            pl.String,
            "text of a note; name of the referent of a normalization",
            nullable=True,
        ),
    ),
    declare(
        "entities",
        "a knowledge base entry",
        Column("entity", pl.String, "identifier as written"),
        Column("label", pl.String, "type as written", nullable=True),
        Column("source", pl.String, "source list, as written", nullable=True),
        Column("name", pl.String, "name of the entity", nullable=True),
        placed=False,
    ),
    *STREAMS,
    declare(
        "translations",
        "the text of a segment in a language: the source, a translation by people, or one by a "
        "system",
        Column("segment", pl.String, "identifier of the segment as written"),
        Column("role", pl.String, "`source`, `reference` or `system`"),
        Column(
            "set",
            pl.String,
            "identifier of the reference or of the system, as written",
            nullable=True,
        ),
        Column("language", pl.String, "language as written (`eng`)", nullable=True),
        Column("part", pl.String, "enclosing part of the document (`hl 1`, `p 2`)", nullable=True),
        Column("text", pl.String, "text as written, with its white space"),
    ),
    declare(
        "rejected_records",
        "a record that could not be read",
        Column("code", pl.String, "code of the finding that explains why"),
        Column("kind", pl.String, "intended kind of record"),
        Column("id", pl.String, "identifier, if recognizable", nullable=True),
        Column("label", pl.String, "type, if recognizable", nullable=True),
        Column("text", pl.String, "record as written"),
        Column("column", pl.Int64, "position of the error", "1-based code points"),
        Column("end_column", pl.Int64, "end of the error (exclusive)", "1-based code points"),
        Column("expected", pl.String, "what was expected there"),
    ),
)

TABLES: Mapping[str, Table] = MappingProxyType({table.name: table for table in _DECLARED})
"""Every table of the representation by name, in the order in which they refer to each other."""
