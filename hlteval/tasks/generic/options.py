"""Readers of the options of tasks that anybody can declare."""

from collections.abc import Mapping, Sequence

import polars as pl

from hlteval.converters import load
from hlteval.representation import Corpus
from hlteval.sources import Source
from hlteval.tasks.option_files import FileValue, read_rows
from hlteval.tasks.options import to_number
from hlteval.tasks.task import WrongOption


def stretches(source: Source, _: Mapping[str, str]) -> FileValue:
    """The stretches of a UEM file: `name` of a document, `start` and `end` in seconds."""

    def rows(corpus: Corpus) -> pl.DataFrame:
        names = corpus.documents.select("name", document="row")
        regions = corpus.regions.select("document", "start", "end")
        named = regions.join(names, on="document", maintain_order="left")
        return named.select("name", "start", "end")

    return read_rows(load("uem"), source, rows)


def seconds(written: str, _: Mapping[str, str]) -> float:
    """Seconds from 0 on.

    Raises:
        WrongOption: for anything else.

    Examples:
        >>> seconds("0.5", {})
        0.5
    """
    value = to_number(written)
    if not value >= 0:
        raise WrongOption(f"a number of seconds is needed, not {written}")
    return value


def step_weight(written: str, _: Mapping[str, str]) -> float:
    """The weight of a step in an ontology, between 0 and 1.

    Raises:
        WrongOption: for anything else.

    Examples:
        >>> step_weight("0.65", {})
        0.65
    """
    value = to_number(written)
    if not 0 < value < 1:
        raise WrongOption(f"a weight is a number between 0 and 1, not {written}")
    return value


def thresholds(written: Sequence[str], _: Mapping[str, str]) -> tuple[float, ...]:
    """Thresholds of IoU, above 0 and at most 1, each once.

    Raises:
        WrongOption: for anything else.

    Examples:
        >>> thresholds(["0.5", "0.75"], {})
        (0.5, 0.75)
    """
    values = tuple(dict.fromkeys(map(to_number, written)))
    if not values or not all(0 < value <= 1 for value in values):
        given = ",".join(written)
        raise WrongOption(f"a threshold is above 0 and at most 1, not {given or 'nothing'}")
    return values


def segment_primary(options: Mapping[str, str]) -> str:
    """The metric that ranks segments: the first measure of an option, empty without one.

    Examples:
        >>> segment_primary({}), segment_primary({"measures": "jer,der"})
        ('', 'jer')
    """
    return options.get("measures", "").replace(" ", "").partition(",")[0]


def label_primary(options: Mapping[str, str]) -> str:
    """The metric that ranks the labels of the kind that an option selects, empty without one.

    Examples:
        >>> label_primary({}), label_primary({"kind": "numbers"})
        ('', 'pearson')
    """
    return {"numbers": "pearson", "names": "macro.f1"}.get(options.get("kind", ""), "")


def measures(
    written: Sequence[str], _: Mapping[str, str], *, known: Sequence[str]
) -> tuple[str, ...]:
    """Names of measures, each once.

    Args:
        written: the names.
        known: the names that there are.

    Raises:
        WrongOption: for none, or an unknown one.

    Examples:
        >>> measures(["muc", "muc"], {}, known=["muc", "blanc"])
        ('muc',)
    """
    unknown = [name for name in written if name not in known]
    if unknown or not written:
        wrong = f", not {', '.join(unknown)}" if unknown else ""
        raise WrongOption(f"use some of {', '.join(known)}{wrong}")
    return tuple(dict.fromkeys(written))
