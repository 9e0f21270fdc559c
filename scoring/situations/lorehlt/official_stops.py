"""Where the public scorer stops with an error, so that it gives no number, or only some of them.

It reads the reference and the submission, counts sentiments (unless they are switched off), ranks
situations, averages over them, and compares frames; where it stops, all that would follow is
missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from hlteval.scoring.situations.lorehlt.frame_rows import ANNOTATED, FRAME, SENTIMENT, is_nil, side
from hlteval.scoring.situations.lorehlt.frame_sides import EMOTIONS, Annotations
from hlteval.scoring.situations.lorehlt.official_sides import (
    TABLES,
    of_chosen,
    read_reference,
    sentiment_rates,
)

_GRAVE_EMOTIONS = ("fear", "anger")
_NO_LIST = "the SEC of a frame of the submission is not a list of objects"
_LACKS = {
    "rows": "a table of needs or issues has no rows",
    "user_id": "a table of needs or issues has no column user_id",
}


class Stops(NamedTuple):
    """Why parts of the numbers are missing; each is empty where they are not.

    Attributes:
        reading: it stops at the reference or the submission: there is no number at all.
        ranking: there are only the numbers of sentiments.
        numeric: there is no number with the gravity of sentiments.
        sentiments: there is no number of sentiments.
    """

    reading: str = ""
    ranking: str = ""
    numeric: str = ""
    sentiments: str = ""


def stops(annotations: Annotations) -> Stops:
    """Where the public scorer stops."""
    reading = next(_reading(annotations), "")
    if reading:
        return Stops(reading, "", reading, reading)
    ranking = ""
    if annotations.drawn.reference["place"].is_null().all():
        ranking = "the reference has no frame with a knowledge base entry in a scored document"
    return Stops(
        ranking=ranking,
        numeric=next(_numeric(annotations), ""),
        sentiments=next(_sentiments(annotations), ""),
    )


def _reading(annotations: Annotations) -> Iterator[str]:
    """Why it cannot read the reference and the submission."""
    rows = annotations.rows
    documents = rows.filter(pl.col("part") == ANNOTATED)
    if (documents["file"] == TABLES).any():
        yield from _tables(rows, documents)
    if side(rows, FRAME, system=True).is_empty():
        yield "the submission has no frames"
    if annotations.options.no_nil:
        frames = of_chosen(read_reference(annotations.annotation))
        unknown = frames["place"].is_null() | frames["place"].str.starts_with("#")
        if unknown.any():
            yield "without NIL, a frame of the reference has no entry, or a number that is no text"
    places = annotations.drawn.reference["place"].drop_nulls()
    # it looks for ambiguous entries for each frame of the system
    if annotations.system.height and places.len() and places.str.starts_with("#").all():
        yield "all entries of the scored reference are numbers in tables of speech"


def _tables(rows: pl.DataFrame, documents: pl.DataFrame) -> Iterator[str]:
    """Why it cannot read the tables of the annotation, whatever documents are scored."""
    lacking = documents["nones"].str.split(",").explode(empty_as_null=False, keep_nulls=False)
    yield from (reason for name, reason in _LACKS.items() if (lacking == name).any())
    spoken = documents.filter(pl.col("modality") == "speech").height
    frames = side(rows, FRAME, system=False)
    speech = pl.col("modality") == "speech"
    if spoken and frames.filter(speech).is_empty():
        yield "all speech of the reference is out of domain"
    text = frames.filter(~speech.fill_null(value=False))
    if text.is_empty():
        yield "the reference has no table of needs or issues"
    felt = side(rows, SENTIMENT, system=False)
    if text.height and of_chosen(read_reference(text)).is_empty():
        yield "no need or issue of the reference has a place"
    if felt["frame_id"].is_null().all():
        yield "no sentiment of the reference has a target"


def _numeric(annotations: Annotations) -> Iterator[str]:
    """Why it cannot make frames graver by their sentiments: all frames, whatever is scored."""
    rows = annotations.rows
    if side(rows, FRAME, system=True)["nones"].is_not_null().any():
        yield _NO_LIST
    felt = side(rows, SENTIMENT, system=True)
    for emotion in _GRAVE_EMOTIONS:
        if felt[emotion].is_null().any():
            yield f"a sentiment of the submission has no Emotion_{emotion.title()}"


def _sentiments(annotations: Annotations) -> Iterator[str]:
    """Why it cannot count sentiments."""
    both = annotations.drawn
    mentions = annotations.mentions
    if mentions is not None:
        own = mentions[0]
        if own.select((~is_nil("entity").fill_null(value=False)).all()).item():
            yield "the EDL output of the submission has no NIL entity"
    reference, system = both.sentiments
    if reference.is_empty():
        return
    felt = side(annotations.rows, SENTIMENT, system=False)
    if not felt.select(pl.any_horizontal(pl.col(EMOTIONS).any())).item():
        yield "no sentiment of the reference has an emotion"
    if both.system["nones"].is_not_null().any():
        yield _NO_LIST
    if not sentiment_rates(reference, system, "type,place")["polarity"].precision > 0:
        return  # it looks at the emotions of right sentiments only
    for emotion in EMOTIONS:
        if system[emotion].is_null().all():
            yield f"no sentiment of the submission has an Emotion_{emotion.title()}"
