r"""LoReHLT annotation of situation frames: a folder of tables per document.

Format:
    Folders `needs`, `issues`, `sentiments`, `mentions` and `speech` with tab-separated tables:
    `needs/<document>.needs.tab`, `issues/<document>.issues.tab`,
    `sentiments/<document>.sentiment.tab`, `mentions/<document>.entity.tab`, and tables of speech
    with any names. The first line of a table names its columns, in any order; those that are not
    listed in docs/lorehlt-sf.md are ignored. There is no quoting. Any folder or table may be
    missing, and a table may have no lines.

Conventions:
    `none`, an empty cell and `NA` mean no value. A frame has the row of its table; a document may
    have several annotators. In tables of speech, `situation_id` is the document, `file_id` the
    frame, and rows of the type `out-of-domain` are not frames. Offsets of mentions are 0-based and
    inclusive. `proxy_status`, `reported_by`, `resolved_by`, `description` and `urgency_status` of
    frames and `mention_status` of mentions are attributes of their records. So is what the public
    scorer reads in a way of its own: cells with `none`; and of files, columns of numbers, and what
    is missing (rows, annotators).

Example lines:
    user_id	doc_id	sentiment_value	polarity	emotion_value	source	target	kb_id
    314	ENG_D1	-1.5	negative	fear,anger	Ent-ENG_D1-283	Frame-257	NIL12

Codes raised: LSF5xx.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from hlteval.converters.format import Format, ReadResult
from hlteval.converters.situations.lorehlt_reference_files import Files, documents, folder_of, sniff
from hlteval.converters.situations.lorehlt_reference_rows import corpus_of
from hlteval.converters.situations.lorehlt_reference_writing import count_losses, write
from hlteval.converters.situations.lorehlt_tables import kind_of_header, kinds
from hlteval.converters.toolkit.frame_kinds import SITUATION
from hlteval.converters.toolkit.single_file import beginning, locate_lines
from hlteval.findings import FieldRef, Location
from hlteval.sources import Member, Source
from hlteval.syntax.tsv import Table

#: Documents in a batch; a batch costs the same for few files as for many.
BATCH = 4000


def read(source: Source) -> Iterator[ReadResult]:
    """The documents in batches, in the order of the names of their files."""
    named = iter(documents(source).values())
    while batch := list(islice(named, BATCH)):
        files = Files(source.path, FORMAT.name)
        for members in batch:
            for member in members:
                files.add(member)
        corpus = corpus_of(files)
        found = (item for group in files.groups.values() for item in group.findings())
        yield ReadResult(corpus, (*files.findings, *found), tuple(files.members))


def tabular(member: Member, first: str) -> Sequence[Table]:  # noqa: ARG001
    """The table that a file is by its folder; any where it is in none."""
    own = kinds().get(folder_of(member))
    return [kind.declared for kind in ([own] if own else kinds().values())]


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The cells of places of a file."""
    header = beginning(member, 100_000).partition("\n")[0].rstrip("\r")
    kind = kind_of_header(header)
    if kind is None:
        return [None] * len(places)
    return locate_lines(member, places, kind.table(header).stretch)


FORMAT = Format(
    name="lorehlt-sf-reference",
    title="LoReHLT annotation of situation frames: a folder of tables per document",
    suffixes=(".needs.tab", ".issues.tab", ".sentiment.tab", ".entity.tab", ".speech.tab"),
    layout="per_document",
    words={
        "frames": "row of needs, issues or speech",
        "sentiments": "row of sentiments",
        "mentions": "row of mentions",
        "attributes": "other column of a row",
        "frames.frame": "frame_id",
        "frames.place": "place_id",
        "frames.place_kb": "kb_id",
        "frames.status": "status",
        "frames.scope": "scope",
        "frames.severity": "severity",
        "frames.resolution": "resolution_status",
        "frames.annotator": "user_id",
        "sentiments.target": "target",
        "sentiments.holder": "source",
        "sentiments.holder_kb": "kb_id of a source",
        "sentiments.value": "sentiment_value",
        "sentiments.polarity": "polarity",
        "sentiments.fear": "emotion_value",
        "sentiments.anger": "emotion_value",
        "sentiments.joy": "emotion_value",
        "sentiments.annotator": "user_id of a sentiment",
        "mentions.text": "mention_text",
        "mentions.entity": "entity_id",
        "documents.modality": "modality",
        "rejected_records": "unreadable row",
    },
    carries=(
        *("sources", "documents", "frames", "sentiments", "mentions", "attributes"),
        "documents.modality",
        *("frames.frame", "frames.place", "frames.place_kb", "frames.status", "frames.scope"),
        *("frames.severity", "frames.resolution", "frames.annotator"),
        *("sentiments.target", "sentiments.holder", "sentiments.holder_kb", "sentiments.value"),
        *("sentiments.polarity", "sentiments.fear", "sentiments.anger", "sentiments.joy"),
        *("sentiments.annotator", "mentions.text", "mentions.entity"),
    ),
    known_losses="rows of the type out-of-domain; the spelling of missing values; unknown columns; "
    "the order of columns and of rows of several tables",
    tabular=tabular,
    sniff=sniff,
    documents=documents,
    read=read,
    codes=(*(f"LSF{number}" for number in range(501, 509)), "LSF513", "LSF514"),
    locate=locate,
    write=write,
    frame_kinds=(SITUATION,),
    evaluation="lorehlt-sf",
    count_losses=count_losses,
)
