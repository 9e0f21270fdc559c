"""Valid files of LoReHLT situation frames, read in bulk: the way of nearly all submissions.

A valid file is read by structures instead of dictionaries, which takes a third of the time and a
fraction of the memory. They hold the members and their types; whether the values are allowed is
asked of the schema, once for each different frame. Any other file is read by `items.LorehltFile`,
which finds nothing in a file that this accepts.
"""

from collections.abc import Mapping, Sequence

import msgspec
import polars as pl

from hlteval.converters.situations.lorehlt.items import ENTRY, FRAME, STRIPPED, LorehltSchema
from hlteval.converters.toolkit.fitting import SITUATION
from hlteval.representation import TABLES, Corpus
from hlteval.syntax import json_text


class _Entry(
    msgspec.Struct,
    gc=False,
    forbid_unknown_fields=True,
    rename={column: name for name, column in ENTRY.items()},
):
    value: float
    fear: bool
    anger: bool
    joy: bool
    holder_kb: str


class _Frame(
    msgspec.Struct,
    gc=False,
    forbid_unknown_fields=True,
    omit_defaults=True,  # an explicit null is not valid, and found by its quotation marks
    rename={**{column: name for name, column in FRAME.items()}, "entries": "SEC"},
):
    name: str
    label: str
    place_kb: str
    status: str
    confidence: float
    justification: str
    urgent: bool
    entries: list[_Entry]
    resolution: str | None = None


#: The columns of a frame whose values the schema allows together or not.
_WORDS = ["label", "status", "resolution"]
#: Texts in which invisible characters would be reported.
_TEXTS = ("name", "place_kb", "justification")
_ROW = pl.int_range(pl.len(), dtype=pl.Int64).alias("row")
_ORIGIN = pl.lit(0, pl.Int64).alias("origin")


def read_valid(
    data: bytes, origin: Mapping[str, object], version: str, *, stripped: bool
) -> Corpus | None:
    """Return the corpus of a file in which there is nothing to report; None for any other file.

    Args:
        data: the file.
        origin: its row of `sources`.
        version: of the schema that its items must follow.
        stripped: whether document identifiers are read as the official scorer reads them.
    """
    parts: list[tuple[pl.DataFrame, pl.DataFrame]] = []
    try:
        for items in json_text.typed_items(data, _Frame):
            parts.append(_tables(items, sum(frames.height for frames, _ in parts)))
    except (ValueError, RecursionError):
        return None
    if not parts:
        return None
    frames, sentiments = (pl.concat(tables) for tables in zip(*parts, strict=True))
    names = frames["name"].unique(maintain_order=True)
    changed = stripped and (names.str.strip_chars_end(STRIPPED) != names).any()
    if changed or not _is_allowed(frames, sentiments, version):
        return None
    documents = pl.DataFrame({"name": names}).with_columns(_ROW, _ORIGIN)
    numbers = documents.select("name", document="row")
    frames = frames.join(numbers, on="name", how="left", maintain_order="left").drop("name")
    frames = frames.with_columns(_ROW, _ORIGIN, record=_ROW + 1, kind=pl.lit(SITUATION))
    of_frames = frames.select("document", "record")[sentiments["frame_row"]]
    return Corpus(
        sources=[origin],
        documents=documents,
        frames=frames,
        sentiments=sentiments.hstack(of_frames).with_columns(_ROW, _ORIGIN),
    )


def _tables(items: Sequence[_Frame], first: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the frames and the sentiments of items, of which the first has a number from 0.

    Raises:
        ValueError: if a text may have invisible characters.
    """
    schemas = TABLES["frames"].schema, TABLES["sentiments"].schema
    names = ("name", *_WORDS, "place_kb", "confidence", "justification")
    columns = {name: [getattr(item, name) for item in items] for name in names}
    if not all("".join(columns[name]).isprintable() for name in _TEXTS):
        raise ValueError
    frames = pl.DataFrame(columns, {name: schemas[0].get(name, pl.String) for name in names})
    urgent = pl.Series("urgent", [item.urgent for item in items], pl.Boolean).cast(pl.String)
    frames = frames.with_columns(pl.col("place_kb", "justification").replace("", None), urgent)
    places = [(row, at) for row, item in enumerate(items, first) for at in range(len(item.entries))]
    entries = [entry for item in items for entry in item.entries]
    own = {name: [getattr(entry, name) for entry in entries] for name in ENTRY.values()}
    own |= {"frame_row": [row for row, _ in places], "item": [1 + at for _, at in places]}
    return frames, pl.DataFrame(own, {name: schemas[1][name] for name in own})


def _is_allowed(frames: pl.DataFrame, sentiments: pl.DataFrame, version: str) -> bool:
    """Return whether a version of the schema and the plan allow the values of all frames.

    They are asked once for each combination of words, with every strength of a sentiment and the
    least and the largest confidence.
    """
    entries = [_Entry(value, False, False, False, "") for value in sentiments["value"].unique()]
    limits = frames.select(pl.concat_list(pl.col("confidence").min(), pl.col("confidence").max()))
    samples = [
        _Frame("", label, "", status, limit, "", False, entries, resolution)
        for label, status, resolution in frames.select(_WORDS).unique().iter_rows()
        for limit in limits.item()
    ]
    values = msgspec.to_builtins(samples)
    return not any(LorehltSchema(each).invalid(values) for each in {"plan", version})
