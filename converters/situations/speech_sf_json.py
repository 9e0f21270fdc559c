r"""Speech Situation Frames (v1.5): system output as one JSON array.

Format:
    An array of objects as defined in grammars/speech-sf.schema.json: `DocumentID`, `Type` and
    `TypeConfidence`, and optionally `PlaceMention` and `Status` (`Need`, `Relief`).

Conventions:
    A record is an item of the array, counted from 1. `\u` escapes and native script are
    equivalent. A reference without confidences is written with a confidence of 1.

Example line:
    {"DocumentID": "CHN_EVAL_096_004", "Type": "Medical Assistance", "TypeConfidence": 0.55}

Codes raised: JSNxxx, for invalid JSON; SFJxxx, for schema violations.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.situations import frame_files
from hlteval.converters.situations.types import type_hint
from hlteval.converters.toolkit.fitting import SITUATION
from hlteval.converters.toolkit.source_files import File, read_files
from hlteval.findings import Finding, finding
from hlteval.representation import Corpus
from hlteval.sources import Source, Unreadable
from hlteval.syntax.json_text import WANTED

_HEADER = b'"hlteval-corpus"'
#: Members of LoReHLT frames, of PubAnnotation files, and of those of annotation tools.
_OTHERS = re.compile(
    rb'"(?:denotations|sourceid|sourcedb|Place_KB_ID|Justification_ID|SEC|from_name|completed_by'
    rb"|annotation_id|total_annotations|start_offset|Comments|annotation_approver|_input_hash"
    rb"|_task_hash|_annotator_id|token_start|answer|ents|sents|paragraphs|passages"
    rb'|%TYPES|%FEATURE_STRUCTURES|%VIEWS)"[ \t\r\n]*:'
    rb'|"labels?"[ \t\r\n]*:[ \t\r\n]*\[[ \t\r\n]*\[[ \t\r\n]*[0-9]'
)
#: Members of frames, also if they are misspelt.
_OWN = re.compile(rb"(?i)document_?id|type_?confidence|place_?mention")
#: The name of a file of LoReHLT frames.
_LOREHLT = "system_output.json"
_BOM = "\ufeff".encode()
_AS_FRAME = "write it as a frame in curly brackets"
_STATUS = "write an object with Need and Relief, each one of its values, or leave Status out"
_BRACKETS = "remove the square brackets around the frames inside the array"


class SpeechSchema(frame_files.FrameSchema):
    """The schema of Speech Situation Frames."""

    name = "speech-sf"
    properties = ("DocumentID", "PlaceMention", "Status", "Type", "TypeConfidence")
    inner_properties = properties
    texts = ("DocumentID", "Type", "PlaceMention")
    confidence = "TypeConfidence"

    def type_hint(self, name: str, wanted: str, given: object) -> str:
        """The fix of a value of another type."""
        if name in {"Need", "Relief", "Status"}:
            return _STATUS
        if wanted == "number":
            return frame_files.number_hint(given, "from 0 to 1", ", such as 0.5")
        if not name:
            has_frames = isinstance(given, list) and any(isinstance(item, dict) for item in given)
            return _BRACKETS if has_frames else _AS_FRAME
        if given is None:
            optional = name == "PlaceMention"
            return "leave the property out" if optional else f"write the {name} of the frame"
        return frame_files.text_hint(name, given) or f"write {WANTED[wanted]}"

    def value_hint(self, name: str, given: Any) -> str:
        """The fix of an unknown type."""
        return type_hint(str(given)) if name == "Type" else ""


def sniff(source: Source) -> bool:
    """Whether the source is a .json file, an array or an object, with frames or no members."""
    member = frame_files.json_member(source)
    if member is None:
        return False
    try:
        head = member.fetch()[:4000].removeprefix(_BOM).lstrip()
    except Unreadable:
        return False
    if _HEADER in head.partition(b"\n")[0] or _OTHERS.search(head) or member.basename == _LOREHLT:
        return False
    is_json = head[:1] in {b"[", b"{"} or member.basename.endswith(".json")
    return is_json and (b":" not in head or _OWN.search(head) is not None)


def read(source: Source) -> Iterator[ReadResult]:
    """The frames of the file, as one batch."""
    member = frame_files.json_member(source)
    if member is None:
        yield ReadResult(Corpus(), (finding("SFJ101", file=source.path),))
        return
    yield from read_files(source.only([member]), FORMAT.name, _read)


def _read(file: File) -> tuple[Corpus, Iterable[Finding]]:
    items = frame_files.FrameFile(file.text or "", SpeechSchema(), file.member.max_per_code)
    if file.text is not None:
        items.take()
        items.unknown_properties("SFJ208")
    items.invisible_characters("SFJ209", ("DocumentID", "PlaceMention"))
    frames = [frame for _, frame in items.frames()]
    given = (frame.get("Status") for frame in frames)
    statuses = [status if isinstance(status, dict) else {} for status in given]
    needs, reliefs = (
        [text if isinstance(text := status.get(name), str) else None for status in statuses]
        for name in ("Need", "Relief")
    )
    columns = {
        "label": [frame["Type"] for frame in frames],
        "place": [frame.get("PlaceMention") for frame in frames],
        "status": needs,
        "resolution": reliefs,
        "confidence": [float(frame["TypeConfidence"]) for frame in frames],
    }
    origin = {**file.origin, "member": file.member.name}  # a single file has no name in its source
    corpus = items.corpus(origin, (frame["DocumentID"] for frame in frames), columns)
    return corpus, items.findings(file.member.display)


def write(corpora: Iterable[Corpus], path: Path, escapes: str = "native") -> None:
    r"""The situation frames of all documents as one array, a frame per line.

    Args:
        corpora: the batches.
        path: the file.
        escapes: `ascii` writes every other character as a `\u` escape.
    """
    objects = (frame for corpus in corpora for frame in _objects(corpus))
    frame_files.write_array(objects, path, escapes=escapes == "ascii")


def _objects(corpus: Corpus) -> Iterator[dict[str, object]]:
    names_of = corpus.documents.select("name", document="row")
    situations = corpus.frames.filter(pl.col("kind") == SITUATION)
    frames = situations.join(names_of, on="document", maintain_order="left")
    columns = ("name", "place", "status", "resolution", "label", "confidence")
    for name, place, need, relief, label, confidence in frames.select(columns).iter_rows():
        frame: dict[str, object] = {"DocumentID": name}
        if place is not None:
            frame["PlaceMention"] = place
        if need is not None and relief is not None:
            frame["Status"] = {"Need": need, "Relief": relief}
        sure = 1.0 if confidence is None else confidence
        yield frame | {"Type": label, "TypeConfidence": int(sure) if sure in {0, 1} else sure}


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """Count what no frame can represent."""
    frames = corpus.frames.filter(pl.col("kind") == SITUATION)
    half = pl.col("status").is_null() != pl.col("resolution").is_null()
    return {"incomplete statuses": frames.filter(half).height}


FORMAT = declaration(__name__)
