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

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.hub4.templates import instances
from hlteval.representation import FRAGMENTS, Corpus


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


FORMAT = declaration(__name__)
