"""Readers of the options of CCU: limits, lists of classes, indexes, and mappings of norms."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import partial

import polars as pl

from hlteval.converters import load
from hlteval.representation import Corpus
from hlteval.scoring.ccu.detections import LlrFilter
from hlteval.scoring.ccu.spans import Criterion, criterion
from hlteval.sources import Source
from hlteval.tasks.runtime.options import FileValue, read_rows

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
#: Of windows; counts of shorter ones would leave the integers.
_SHORTEST = 0.001
_STEPS = ("after_read", "after_transforms")


def number(written: str) -> float:
    """A number in plain notation.

    Raises:
        ValueError: for anything else.

    Examples:
        >>> number("-0.5")
        -0.5
    """
    if not _NUMBER.fullmatch(written) or not math.isfinite(float(written)):
        raise ValueError(f"a number is needed, not {written}")
    return float(written)


def amount(written: str, _: Mapping[str, str], least: float = 0) -> float:
    """Seconds or characters, from 0 or another number.

    Raises:
        ValueError: for anything else.
    """
    value = number(written)
    if value < least:
        raise ValueError(f"a number from {least} is needed, not {written}")
    return value


#: Reads seconds or characters of a window, from 0.001.
size = partial(amount, least=_SHORTEST)


def gap(written: str, _: Mapping[str, str]) -> float:
    """The gap below which segments are merged; `none` for one that no gap is below.

    Raises:
        ValueError: for anything but `none` and a number from 0.

    Examples:
        >>> gap("none", {}), gap("1.5", {})
        (-inf, 1.5)
    """
    return -math.inf if written == "none" else amount(written, {})


def overlap(written: Sequence[str], _: Mapping[str, str]) -> tuple[Criterion, ...]:
    """The criteria of correct pairs.

    Raises:
        ValueError: for none, a wrong one, or one that is given twice.
    """
    return tuple(map(criterion, _different(written)))


def deltas(written: Sequence[str], _: Mapping[str, str]) -> tuple[float, ...]:
    """The distances of correct change points.

    Raises:
        ValueError: for none, one that is not a number from 0, or one that is given twice.
    """
    values = tuple(amount(item, {}) for item in _different(written))
    if len(set(values)) < len(values):
        raise ValueError("a delta is given twice")
    return values


def _different(written: Sequence[str]) -> Sequence[str]:
    if not written:
        raise ValueError("at least one value is needed")
    if len(set(written)) < len(written):
        raise ValueError(f"a value is given twice in {','.join(written)}")
    return written


def parts(written: str, _: Mapping[str, str]) -> int:
    """Into how many parts documents are divided.

    Examples:
        >>> parts("1/4", {}), parts("1", {})
        (4, 1)
    """
    return int(written.rpartition("/")[2])


def llr_filter(written: str, _: Mapping[str, str]) -> LlrFilter:
    """Which system instances are scored, by their scores.

    Raises:
        ValueError: if it is not like `after_read:by_value:-0.5`.

    Examples:
        >>> llr_filter("after_read:by_value:-0.5", {}).least
        -0.5
    """
    when, how, least = (*written.split(":", 2), "", "")[:3]
    if when not in _STEPS or how != "by_value":
        raise ValueError(f"{written} is not like after_read:by_value:-0.5")
    return LlrFilter("after_read" if when == "after_read" else "after_transforms", number(least))


def classes(source: Source, _: Mapping[str, str]) -> FileValue:
    """The classes of a list, one per line.

    Args:
        source: the list.
    """
    value, findings, corpus = read_rows(
        load("document-list"), source, _document_names, "classes, one per line"
    )
    # Without any class, there would be neither numbers nor norms that are listed.
    return FileValue(frozenset(value["name"]), findings, None if value.is_empty() else corpus)


def index(source: Source, _: Mapping[str, str]) -> FileValue:
    """The names of the documents of an index.

    The metric selects them itself: in `official`, levels of other documents count for the
    normalization, and files are counted that are not scored.
    """
    value, findings, corpus = read_rows(load("ccu-index"), source, _document_names)
    return FileValue(frozenset(value["name"]), findings, corpus)


def _document_names(corpus: Corpus) -> pl.DataFrame:
    return corpus.documents.select("name")


def mapping(source: Source, _: Mapping[str, str]) -> FileValue:
    """The norms of a system that stand for hidden norms.

    Args:
        source: a submission of NDMAP, or its file `nd.map.tab`.
    """

    def rows(corpus: Corpus) -> pl.DataFrame:
        pairs = corpus.mappings.select(sys_norm="label", ref_norm="target")
        return pairs.unique(maintain_order=True)

    return read_rows(load("ccu-submission"), source, rows, "mapping of norms")
