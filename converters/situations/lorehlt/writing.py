"""Writing situation frames as LoReHLT system output: as they are, or those of a reference."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import polars as pl

from hlteval.converters.situations.lorehlt.items import ISSUE, types
from hlteval.converters.toolkit.fitting import SITUATION
from hlteval.representation import Corpus

#: A scope of a large group at least, a severity of non-life threatening injury at least.
_GRAVEST = r"^[2-9]"
_STATUS = {"past only": "past", "not current": "not_current"}
_TRUTH = {"true": "true", "urgent": "true", "false": "false", "not urgent": "false"}
_PROPERTIES = ("row", "name", "label", "place_kb", "status", "confidence", "justification")
_OUTPUT = ("document", "label", "place_kb", "status", "resolution", "urgent")
_ENTRY = ("holder_kb", "value", "fear", "anger", "joy")


def write(corpora: Iterable[Corpus], path: Path, urgency: str = "or") -> None:
    """The situation frames of all documents as one array, a frame per line.

    Args:
        corpora: the batches.
        path: the file.
        urgency: whether a frame of a reference is urgent by its scope `or` its severity, or by its
            scope `and` its severity.
    """
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write("[")
        first = True
        for corpus in corpora:
            for frame in _objects(corpus, urgency):
                stream.write("\n " if first else ",\n ")
                stream.write(json.dumps(frame, ensure_ascii=False))
                first = False
        stream.write("\n]\n")


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
    written = rows.with_columns(
        status=pl.when(gold).then(_status(issue)).otherwise("status"),
        resolution=pl.when(gold).then(_resolution(issue)).otherwise("resolution"),
        urgent=pl.coalesce(_truth(), _urgent(urgency)),
    )
    # Equal frames of one annotator are as many frames of the output.
    numbered = written.with_columns(
        ordinal=pl.int_range(pl.len()).over(*_OUTPUT, "annotator", "confidence")
    )
    first = pl.col("row").first().over(*_OUTPUT, "ordinal", "confidence")
    return numbered.with_columns(first=pl.when(gold).then(first).otherwise("row"))


def _status(issue: pl.Expr) -> pl.Expr:
    status = pl.col("status").str.to_lowercase().replace(_STATUS)
    other = issue & status.is_in(["past", "future"])
    return pl.when(other).then(pl.lit("not_current")).otherwise(status)


def _resolution(issue: pl.Expr) -> pl.Expr:
    sufficient = pl.col("resolution").str.to_lowercase().eq_missing(pl.lit("sufficient"))
    text = pl.when(sufficient).then(pl.lit("sufficient")).otherwise(pl.lit("insufficient"))
    return pl.when(~issue).then(text)


def _truth() -> pl.Expr:
    """The urgency that is written, for the words of other formats too; others are false."""
    urgent = pl.col("urgent").str.to_lowercase()
    known = urgent.replace_strict(_TRUTH, default="false", return_dtype=pl.String)
    return pl.when(urgent.is_not_null()).then(known)


def _urgent(urgency: str) -> pl.Expr:
    scope, severity = (
        pl.col(column).str.contains(_GRAVEST).fill_null(value=False)
        for column in ("scope", "severity")
    )
    urgent = scope & severity if urgency == "and" else scope | severity
    return pl.when(urgent).then(pl.lit("true")).otherwise(pl.lit("false"))


def system_entries(corpus: Corpus, frames: pl.DataFrame) -> pl.DataFrame:
    """The sentiments of frames that a system can give, by frame and position.

    Args:
        corpus: the sentiments.
        frames: as `system_frames` gives them; equal sentiments of frames that are one are one.
    """
    first = frames.select("first", frame_row="row", gold=pl.col("confidence").is_null())
    known = corpus.sentiments.filter(_writable())
    rows = known.join(first, on="frame_row", maintain_order="left")
    alike = pl.struct("first", *_ENTRY).is_first_distinct()
    kept = rows.filter(~pl.col("gold") | alike)
    return kept.sort("first", "item", "row", nulls_last=True)


def _writable() -> pl.Expr:
    """Whether an entry has what the schema demands: a source and a value that is not 0."""
    return pl.col("holder_kb").is_not_null() & (pl.col("value") != 0).fill_null(value=False)


def _objects(corpus: Corpus, urgency: str) -> Iterator[dict[str, object]]:
    frames = system_frames(corpus, urgency)
    entries: dict[int, list[dict[str, object]]] = {}
    chosen = system_entries(corpus, frames).select("first", *_ENTRY)
    for row, *values in chosen.iter_rows():
        entries.setdefault(row, []).append(_entry(*values))
    kept = frames.filter(pl.col("row") == pl.col("first"))
    columns = (*_PROPERTIES, "resolution", "urgent")
    for row, name, label, place, status, sure, segment, resolution, urgent in kept.select(
        columns
    ).iter_rows():
        frame: dict[str, object] = {"DocumentID": name, "Type": label, "Place_KB_ID": place or ""}
        if status is not None:
            frame["Status"] = status
        frame["Confidence"] = _number(1.0 if sure is None else sure)
        frame["Justification_ID"] = segment or ""
        if resolution is not None:
            frame["Resolution"] = resolution
        yield {**frame, "Urgent": urgent.lower() == "true", "SEC": entries.get(row, [])}


def _number(value: float) -> float:
    """A number as people write it: -3, not -3.0."""
    return int(value) if value.is_integer() else value


def _entry(
    source: str, value: float, fear: bool | None, anger: bool | None, joy: bool | None
) -> dict[str, object]:
    felt = {"Emotion_Fear": fear, "Emotion_Anger": anger, "Emotion_Joy": joy}
    known = {name: given for name, given in felt.items() if given is not None}
    return {"Sentiment": _number(value), **known, "Source": source}


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """What of its tables no frame can represent, and what is filled."""
    frames = system_frames(corpus)
    silent = corpus.documents.join(frames, left_on="row", right_on="document", how="anti")
    placed = corpus.sentiments.drop_nulls("frame_row")
    urgent = corpus.frames["urgent"].is_null() & corpus.frames["confidence"].is_not_null()
    known = corpus.frames["urgent"].drop_nulls().str.to_lowercase().is_in(list(_TRUTH))
    return {
        "documents without frames": silent.height,
        "frames that agree with those of another annotator": frames.filter(
            pl.col("row") != pl.col("first")
        ).height,
        "missing urgencies, written as false": int(urgent.sum()),
        "other urgencies than true and false, written as false": int((~known).sum()),
        "sentiments of no frame": corpus.sentiments.height - placed.height,
        "sentiments without a source or a value": placed.filter(~_writable()).height,
    }
