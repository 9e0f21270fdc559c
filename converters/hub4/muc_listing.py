"""A listing of template instances in the style of the Message Understanding Conferences.

Format:
    Instances separated by an empty line: the pointer and `:=`, then the slots. Texts are quoted;
    alternatives are on separate lines, with a slash before all but the first.

Conventions:
    For reading and comparing templates only: the format cannot be read back, since it has no
    extents and no minimal strings.

Example lines:
    <CONTEST-B1-1> :=
        NAME: "bread contest"
            / "contest in Lyon"
        WINNER: "bakers of Cairo"
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import polars as pl

from hlteval.converters.format import Format, ReadResult
from hlteval.converters.hub4.templates import instances, unwritten
from hlteval.converters.toolkit.fitting import TEMPLETTE
from hlteval.findings import FieldRef, Location
from hlteval.representation import FRAGMENTS, Corpus
from hlteval.sources import Member, Source


def sniff(_: Source) -> bool:
    """Never: it is only written."""
    return False


def read(_: Source) -> Iterator[ReadResult]:
    """Nothing: it is only written."""
    yield from ()


def locate(_: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """Nowhere: it is only written."""
    return [None for _ in places]


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """The instances of all documents."""
    nothing = pl.lit(None, FRAGMENTS)
    between = ""
    with path.open("w", encoding="utf-8", newline="") as stream:
        for corpus in corpora:
            quoted = pl.when(pl.col("kind") == "text").then(pl.lit(value=True))
            fills = corpus.fills.with_columns(quoted=quoted, extents=nothing, brackets=nothing)
            for instance in instances(corpus.replace(fills=fills)):
                stream.write(between + instance)
                between = "\n"


FORMAT = Format(
    name="muc-listing",
    title="human-readable listing of template instances, in MUC style",
    suffixes=(".muc",),
    layout="single_file",
    carries=(
        *("sources", "documents", "frames", "fills", "frames.frame", "frames.optional"),
        *("fills.target", "fills.text", "fills.quoted"),
    ),
    known_losses="quotes, which are added to all texts",
    sniff=sniff,
    read=read,
    locate=locate,
    write=write,
    frame_kinds=(TEMPLETTE,),
    count_losses=unwritten,
    reads=False,
)
