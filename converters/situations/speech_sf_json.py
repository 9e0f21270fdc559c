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

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.situations.frame_files import (
    PROPERTIES,
    FrameFile,
    array_hint,
    code_of,
    document_rows,
    explain,
    frame_table,
    is_frame,
)
from hlteval.converters.toolkit.fitting import SITUATION
from hlteval.findings import finding
from hlteval.findings.finding import INVISIBLE, code_point
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, Unreadable, decode, sha256
from hlteval.syntax.json_text import broken_keywords, invalid, schema_errors
from hlteval.syntax.places import Path

SCHEMA = "speech-sf"
_HEADER = b'"hlteval-corpus"'
#: Members of PubAnnotation files and of LoReHLT frames, which are similar.
_OTHERS = re.compile(
    rb'"(?:denotations|sourceid|sourcedb|Place_KB_ID|Justification_ID|SEC)"[ \t\r\n]*:'
)
#: The name of a file of LoReHLT frames.
_LOREHLT = "system_output.json"
_BOM = "\ufeff".encode()


def _member(source: Source) -> Member | None:
    """The file of frames: the only file, or the only one with the suffix .json."""
    if source.kind in {"file", "stdin"}:
        return source.members[0] if source.members else None
    found = [member for member in source.members if member.basename.endswith(".json")]
    return found[0] if len(found) == 1 else None


def sniff(source: Source) -> bool:
    """Whether the source is a single .json file, or begins with an array or an object."""
    member = _member(source)
    if member is None:
        return False
    try:
        head = member.fetch()[:2000].removeprefix(_BOM).lstrip()
    except Unreadable:
        return False
    if _HEADER in head.partition(b"\n")[0] or _OTHERS.search(head) or member.basename == _LOREHLT:
        return False
    return head[:1] in {b"[", b"{"} or member.basename.endswith(".json")


def read(source: Source) -> Iterator[ReadResult]:
    """The frames of the file, as one batch."""
    member = _member(source)
    if member is None:
        yield ReadResult(Corpus(), (finding("SFJ101", file=source.path),))
        return
    try:
        data = member.fetch()
    except Unreadable as reason:
        yield ReadResult(Corpus(), (reason.finding,))
        return
    decoded = decode(data, display=member.display, encoding=member.encoding)
    file = _File(decoded.text or "", member.max_per_code)
    if decoded.text is not None:
        file.take()
        file.unknown_properties("SFJ208", PROPERTIES)
    origin = {"row": 0, "path": source.path, "member": member.name}
    corpus = file.corpus({**origin, "format": FORMAT.name, "sha256": sha256(data)})
    findings = file.findings(member.display)
    yield ReadResult(corpus, (*decoded.findings, *findings), (member,))


class _File(FrameFile):
    """The items of a file of frames, and the problems with them."""

    no_array, no_frame = "SFJ201", "SFJ202"

    def array_hint(self, value: Any) -> str:
        return array_hint(value)

    def invalid(self) -> Iterable[int]:
        return invalid(SCHEMA, self.values)

    def is_frame(self, value: Any) -> bool:
        return is_frame(value)

    def broken(self, value: Any) -> list[tuple[str, Path]]:
        found = broken_keywords(SCHEMA, value)
        return [(code_of(path, keyword), path) for path, keyword in found]

    def violations(self, value: Any) -> Iterator[tuple[str, Path, Mapping[str, object]]]:
        for error in schema_errors(SCHEMA, "frame", value):
            code, values = explain(error)
            yield code, error.path, values

    def corpus(self, origin: Mapping[str, object]) -> Corpus:
        """The frames, and the rejected items."""
        records, frames = [at for at, _ in self.frames()], [value for _, value in self.frames()]
        rows, documents = document_rows(frame["DocumentID"] for frame in frames)
        status = [frame.get("Status") for frame in frames]
        if any(status):
            needs, reliefs = ([_text(of, name) for of in status] for name in ("Need", "Relief"))
        else:
            needs = reliefs = [None] * len(status)
        columns = {
            "label": [frame["Type"] for frame in frames],
            "place": [frame.get("PlaceMention") for frame in frames],
            "status": needs,
            "resolution": reliefs,
            "confidence": [float(frame["TypeConfidence"]) for frame in frames],
        }
        table = frame_table(records, documents, columns)
        self.control_characters(table, [str(row["name"]) for row in rows])
        return Corpus(
            sources=[origin], documents=rows, frames=table, rejected_records=self.rejected_records()
        )

    def control_characters(self, table: pl.DataFrame, names: Sequence[str]) -> None:
        """Report invisible characters in places and identifiers."""
        identifiers = pl.Series(names, dtype=pl.String).str.contains(INVISIBLE)
        odd = pl.col("place").str.contains(INVISIBLE).fill_null(value=False)
        strange = set(identifiers.arg_true())
        found = table.filter(odd | pl.col("document").is_in(list(strange)))
        for record, document in found.select("record", "document").iter_rows():
            name = "DocumentID" if document in strange else "PlaceMention"
            character = re.search(INVISIBLE, self.values[record - 1][name])
            shown = code_point(character[0]) if character else ""
            self.report_at("SFJ209", record - 1, (name,), character=shown)


def _text(status: Any, name: str) -> str | None:
    value = status.get(name) if isinstance(status, dict) else None
    return value if isinstance(value, str) else None


def write(corpora: Iterable[Corpus], path: FilePath, escapes: str = "native") -> None:
    r"""The situation frames of all documents as one array, a frame per line.

    Args:
        corpora: the batches.
        path: the file.
        escapes: `ascii` writes every other character as a `\u` escape.
    """
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write("[")
        first = True
        for corpus in corpora:
            for frame in _objects(corpus):
                text = json.dumps(frame, ensure_ascii=escapes == "ascii")
                stream.write("\n " if first else ",\n ")
                stream.write(text)
                first = False
        stream.write("\n]\n")


def _objects(corpus: Corpus) -> Iterator[dict[str, object]]:
    names_of = corpus.documents.select("name", document="row")
    frames = corpus.frames.filter(pl.col("kind") == SITUATION).join(
        names_of, on="document", maintain_order="left"
    )
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
    """What of its tables no frame can say."""
    frames = corpus.frames.filter(pl.col("kind") == SITUATION)
    half = pl.col("status").is_null() != pl.col("resolution").is_null()
    silent = corpus.documents.join(frames, left_on="row", right_on="document", how="anti")
    return {
        "segments without frames": silent.height,
        "incomplete statuses": frames.filter(half).height,
    }


FORMAT = declaration(__name__)
