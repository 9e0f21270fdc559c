"""The cases of LoReHLT situation frames, read into corpora."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import polars as pl

from hlteval.representation import Corpus

Row = dict[str, Any]
NA = {"", "none"}


def _table(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def _value(row: Row, name: str) -> str | None:
    value = row.get(name)
    return None if value is None or value in NA else value


def reference(folder: Path) -> Corpus:
    """The reference of a folder with needs, issues, sentiments and speech."""
    numbers: dict[str, int] = {}
    modality: dict[str, str] = {}
    frames: list[Row] = []
    sentiments: list[Row] = []

    def document(name: str, kind: str = "text") -> int:
        modality.setdefault(name, kind)
        return numbers.setdefault(name, len(numbers))

    for kind in ("need", "issue"):
        for path in sorted((folder / f"{kind}s").glob("*.tab")):
            for record, row in enumerate(_table(path), start=1):
                frames.append(
                    {
                        "row": len(frames), "document": document(row["doc_id"]), "origin": 0,
                        "record": record, "kind": "situation", "label": row[f"{kind}_type"],
                        "frame": row["frame_id"], "place": _value(row, "place_id"),
                        "place_kb": _value(row, "kb_id"), "status": row.get(f"{kind}_status"),
                        "scope": row.get("scope"), "severity": row.get("severity"),
                        "resolution": _value(row, "resolution_status"),
                        "annotator": row["user_id"],
                    }
                )  # fmt: skip
    for path in sorted((folder / "speech").glob("*.tab")):
        for record, row in enumerate(_table(path), start=1):
            if row["situation_type"] == "out-of-domain":
                continue
            frames.append(
                {
                    "row": len(frames), "document": document(row["situation_id"], "speech"),
                    "origin": 0, "record": record, "kind": "situation",
                    "label": row["situation_type"], "frame": row["file_id"],
                    "place_kb": _value(row, "place_id"), "status": row["situation_status"],
                    "scope": row["scope"], "severity": row["severity"],
                    "resolution": row["resolution_status"],
                }
            )  # fmt: skip
    known = {(row["document"], row["frame"]): row["row"] for row in reversed(frames)}
    for path in sorted((folder / "sentiments").glob("*.tab")):
        for record, row in enumerate(_table(path), start=1):
            number = document(row["doc_id"])
            emotions = (_value(row, "emotion_value") or "").split(",")
            sentiments.append(
                {
                    "row": len(sentiments), "document": number, "origin": 0, "record": record,
                    "frame_row": known.get((number, row["target"])), "target": row["target"],
                    "holder": row["source"], "holder_kb": _value(row, "kb_id"),
                    "value": float(row["sentiment_value"]), "polarity": row["polarity"],
                    "fear": "fear" in emotions, "anger": "anger" in emotions,
                    "joy": "joyhappiness" in emotions, "annotator": row["user_id"],
                }
            )  # fmt: skip
    documents = [
        {"row": row, "name": name, "modality": modality[name]} for name, row in numbers.items()
    ]
    return Corpus(documents=documents, frames=frames, sentiments=sentiments)


def system(path: Path) -> Corpus:
    """The submission of a JSON file."""
    numbers: dict[str, int] = {}
    frames: list[Row] = []
    sentiments: list[Row] = []
    for record, item in enumerate(json.loads(path.read_text("utf-8")), start=1):
        number = numbers.setdefault(item["DocumentID"], len(numbers))
        frames.append(
            {
                "row": len(frames), "document": number, "origin": 0, "record": record,
                "kind": "situation", "label": item["Type"], "place_kb": item["Place_KB_ID"] or None,
                "status": item.get("Status"), "resolution": item.get("Resolution"),
                "urgent": {True: "true", False: "false"}.get(item.get("Urgent")),
                "confidence": float(item["Confidence"]),
            }
        )  # fmt: skip
        for place, sec in enumerate(item.get("SEC") or [], start=1):
            sentiments.append(
                {
                    "row": len(sentiments), "document": number, "origin": 0, "record": record,
                    "frame_row": len(frames) - 1, "item": place, "holder_kb": sec["Source"],
                    "value": float(sec["Sentiment"]), "fear": sec.get("Emotion_Fear"),
                    "anger": sec.get("Emotion_Anger"), "joy": sec.get("Emotion_Joy"),
                }
            )  # fmt: skip
    documents = [{"row": row, "name": name} for name, row in numbers.items()]
    return Corpus(documents=documents, frames=frames, sentiments=sentiments)


def mentions(path: Path, *, header: bool) -> pl.DataFrame:
    """The mentions of a table of entity discovery and linking."""
    rows = []
    for line in path.read_text("utf-8").splitlines()[int(header) :]:
        fields = line.split("\t")
        name, _, extent = fields[3].rpartition(":")
        start, _, end = extent.partition("-")
        rows.append((name, int(start), int(end) + 1, fields[4]))
    return pl.DataFrame(rows, schema=["docid", "start", "end", "entity"], orient="row")
