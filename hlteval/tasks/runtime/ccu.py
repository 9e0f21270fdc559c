"""Readers of the options of CCU detection: limits, lists of classes, and mappings of norms."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from hlteval.converters import load
from hlteval.findings import Finding, finding
from hlteval.representation import Corpus
from hlteval.scoring.ccu.criteria import Criterion, criterion
from hlteval.scoring.ccu.detection_options import LlrFilter
from hlteval.sources import Source
from hlteval.tasks.runtime.options import FileValue

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SHORTEST = 0.001
"""Of windows; counts of shorter ones would leave the integers."""
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


def amount(written: str, _: Mapping[str, str]) -> float:
    """Seconds or characters, from 0.

    Raises:
        ValueError: for anything else.
    """
    value = number(written)
    if value < 0:
        raise ValueError(f"a number from 0 is needed, not {written}")
    return value


def size(written: str, _: Mapping[str, str]) -> float:
    """Seconds or characters of a window, from 0.001.

    Raises:
        ValueError: for anything else.
    """
    value = number(written)
    if value < _SHORTEST:
        raise ValueError(f"a number from {_SHORTEST} is needed, not {written}")
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


def votes(written: str, _: Mapping[str, str]) -> int:
    """How many annotators must agree.

    Raises:
        ValueError: for anything but a positive integer.
    """
    if not (written.isascii() and written.isdecimal() and int(written)):
        raise ValueError(f"a positive integer is needed, not {written}")
    return int(written)


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
    corpus, findings = _read("document-list", source)
    if corpus.documents.is_empty() and not findings:
        # Without any class, there would be neither numbers nor norms that are listed.
        findings.append(finding("OPT109", file=source.path, title="classes, one per line"))
        return FileValue(frozenset(), findings)
    return FileValue(frozenset(corpus.documents["name"].to_list()), findings, corpus)


def _read(form: str, source: Source) -> tuple[Corpus, list[Finding]]:
    results = list(load(form).read(source))
    corpus = Corpus.concat(result.corpus for result in results)
    return corpus, [item for result in results for item in result.findings]


def mapping(source: Source, _: Mapping[str, str]) -> FileValue:
    """The norms of a system that stand for hidden norms.

    Args:
        source: a submission of NDMAP, or its file `nd.map.tab`.
    """
    corpus, findings = _read("ccu-submission", source)
    if corpus.mappings.is_empty() and not findings:
        findings.append(finding("OPT109", file=source.path, title="mapping of norms"))
    rows = corpus.mappings.select(sys_norm="label", ref_norm="target").unique(maintain_order=True)
    return FileValue(rows, findings, corpus)
