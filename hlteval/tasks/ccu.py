"""Readers of the options of CCU: limits, lists of classes, indexes, and mappings of norms."""

import math
import re
from collections.abc import Collection, Mapping, Sequence

import polars as pl

from hlteval.converters import load
from hlteval.findings import Finding
from hlteval.representation import Corpus
from hlteval.scoring.ccu.detections import LlrFilter
from hlteval.scoring.ccu.spans import Criterion, criterion
from hlteval.sources import Source
from hlteval.tasks.option_files import FileValue, read_rows

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
#: Values that the official validator takes for numbers, at the end of a message.
_NAN = re.compile(r"^llr .*: (?:nothing|[+-]?(?:nan|na|n/a|null|none|<na>|inf|infinity))$", re.I)
_SHORT = re.compile(r"expected ([0-9]+) cells, found ([0-9]+)")
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


def refuses(finding: Finding, *, refused: Collection[str], short_lines: bool = False) -> bool:
    """Whether the official validator refuses a submission for a finding.

    Args:
        finding: about a submission or an annotation.
        refused: codes of findings that need not block, but for which it refuses.
        short_lines: whether the last column of the table may be missing in a line.
    """
    if _is_missing(finding, short_lines):
        return False
    return finding.code in refused or finding.blocking


def ignores(finding: Finding, *, stops_at: Collection[str], short_lines: bool = False) -> bool:
    """Whether the official scorer goes on in spite of a finding: it does not validate.

    Args:
        finding: about a submission or an annotation.
        stops_at: codes of findings about records for which it stops all the same.
        short_lines: whether the last column of the table may be missing in a line.
    """
    of_values = finding.code.startswith("CCU") and finding.code not in stops_at
    return of_values or _is_missing(finding, short_lines)


def _is_missing(finding: Finding, short_lines: bool) -> bool:
    """Whether a finding is about a cell without a value that the software reads.

    A score may be missing or infinite; a line of a mapping without a norm of the system maps none.
    """
    match finding.code:
        case "CCS107":  # no number
            return _NAN.search(finding.message) is not None
        case "CCS108":  # no name
            return finding.message.startswith("sys_norm ") and finding.message.endswith(": nothing")
        case "CCS105" if short_lines and (short := _SHORT.search(finding.message)):
            return int(short[1]) == int(short[2]) + 1
    return False


def submissions_mapped(corpus: Corpus) -> tuple[str, ...]:
    """The submissions of norms that a mapping names."""
    return tuple(corpus.mappings["submission"].drop_nulls().unique().sort())
