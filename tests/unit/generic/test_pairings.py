"""Each way to compare, pair and credit mentions beside brute force on small inputs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.representation import Corpus
from hlteval.scoring.generic.mentions import Mentions, Options
from hlteval.tasks.generic.declaration import read_declaration
from tests.effort import tries

TEXT = "Ann, Lee-of A"
WORDS = [match.span() for match in re.finditer(r"\w+", TEXT)]
PARENTS = {"City": "Place", "Place": "Thing", "Town": "Place"}
LABELS = ("City", "Place", "Thing", "Town")
SHARES = ("overlap", "iou", "contains")
KEYS = ("exact", "tokens", "end", "none")
PAIRINGS = ("optimal", "greedy-file-order", "greedy-score")
WAYS = [
    *product(SHARES, ("equal", "none", "ancestor"), PAIRINGS, ("full", "half", "iou")),
    *product(KEYS, ("equal", "none", "ancestor"), PAIRINGS, ("full",)),
]
#: Label, start, end and score.
Span = tuple[str, int, int, float]
SPANS = st.lists(
    st.tuples(
        st.sampled_from(LABELS), st.integers(0, 9), st.integers(1, 4), st.sampled_from([0.1, 0.5])
    ).map(lambda span: (span[0], span[1], span[1] + span[2], span[3])),
    max_size=4,
    unique_by=lambda span: span[:3],
)


def corpus(spans: list[Span]) -> Corpus:
    rows = [
        {"row": at, "document": 0, "origin": 0, "record": at + 1, "mention": f"T{at}"}
        | {"label": label, "start": start, "end": end, "confidence": score}
        for at, (label, start, end, score) in enumerate(spans)
    ]
    return Corpus(documents=[{"row": 0, "name": "d", "text": TEXT}], mentions=rows)


def above(label: str) -> set[str]:
    return {label, *(above(PARENTS[label]) if label in PARENTS else ())}


def shared(one: Span, other: Span) -> tuple[int, float]:
    common = max(0, min(one[2], other[2]) - max(one[1], other[1]))
    return common, common / (one[2] - one[1] + other[2] - other[1] - common)


def words(span: Span) -> tuple[int, int]:
    touched = [word for word in WORDS if word[0] < span[2] and span[1] < word[1]]
    return (touched[0][0], touched[-1][1]) if touched else span[1:3]


def fit(ours: Span, theirs: Span, options: Options) -> bool:
    """Whether a mention of the reference and one of the system correspond."""
    if options.label == "equal" and ours[0] != theirs[0]:
        return False
    if options.label == "ancestor" and theirs[0] not in above(ours[0]):
        return False
    common, union = shared(ours, theirs)
    share, least = common / (ours[2] - ours[1]), options.threshold
    return {
        "exact": ours[1:3] == theirs[1:3],
        "tokens": words(ours) == words(theirs),
        "end": ours[2] == theirs[2],
        "overlap": common > 0 and share >= (least or 0),
        "iou": union >= (0.5 if least is None else least),
        "contains": common > 0 and common in {ours[2] - ours[1], theirs[2] - theirs[1]},
        "none": True,
    }[options.span]


def credit(ours: Span, theirs: Span, options: Options) -> float:
    if options.credit == "full" or ours[1:3] == theirs[1:3]:
        return 1.0
    return 0.5 if options.credit == "half" else shared(ours, theirs)[1]


def pairings(free: list[int], fits: list[list[int]]) -> Iterator[list[tuple[int, int]]]:
    """All one-to-one pairings of mentions with what fits them."""
    if not fits:
        yield []
        return
    at = len(fits) - 1
    yield from pairings(free, fits[:-1])
    for other in fits[-1]:
        if other in free:
            rest = [one for one in free if one != other]
            yield from ([*pairs, (at, other)] for pairs in pairings(rest, fits[:-1]))


def greedy(ours: list[Span], theirs: list[Span], options: Options) -> list[tuple[int, int]]:
    by_score = options.pairing == "greedy-score"
    order = range(len(theirs))
    order = sorted(order, key=lambda at: -theirs[at][3]) if by_score else [*order]
    pairs, free = [], [*range(len(ours))]
    for at in order:
        fits = [one for one in free if fit(ours[one], theirs[at], options)]
        if by_score and options.span in SHARES:
            fits.sort(key=lambda one: -shared(ours[one], theirs[at])[1])
        elif by_score and options.label == "ancestor":
            fits.sort(key=lambda one: ours[one][:3] != theirs[at][:3])
        if fits:
            pairs.append((fits[0], at))
            free.remove(fits[0])
    return pairs


def counted(ours: list[Span], theirs: list[Span], options: Options) -> dict[str, Counter[str]]:
    """The credit by label of either side."""
    metric = Mentions("plan", options)
    counts, _ = metric.statistics(corpus(ours), corpus(theirs), alignment=True)
    rows = counts.drop_nulls("label").to_dicts()
    return {
        side: Counter({row["label"]: row[side] / metric.unit for row in rows if row[side]})
        for side in ("met", "found")
    }


@settings(max_examples=tries(90), deadline=None)
@given(
    way=st.sampled_from(WAYS),
    ours=SPANS,
    theirs=SPANS,
    threshold=st.sampled_from([None, 0.25, 0.5, 0.75]),
)
def test_pairs_are_those_of_brute_force(way: Any, ours: Any, theirs: Any, threshold: Any) -> None:
    span, label, pairing, part = way
    options = Options(
        span=span,
        label=label,
        pairing=pairing,
        credit=part,
        parents=PARENTS,
        threshold=threshold if span in {"overlap", "iou"} else None,
    )
    found = counted(ours, theirs, options)
    if pairing == "optimal":
        fits = [[at for at, one in enumerate(theirs) if fit(own, one, options)] for own in ours]
        every = pairings([*range(len(theirs))], fits)
        best = max(sum(credit(ours[a], theirs[b], options) for a, b in pairs) for pairs in every)
        for side in found.values():
            assert sum(side.values()) == pytest.approx(best, abs=1e-8)
        assert counted(ours[::-1], theirs[::-1], options) == found  # whatever the order of lines
        return
    pairs = greedy(ours, theirs, options)
    for side, spans, at in (("met", ours, 0), ("found", theirs, 1)):
        wanted: Counter[str] = Counter()
        for pair in pairs:
            wanted[spans[pair[at]][0]] += credit(ours[pair[0]], theirs[pair[1]], options)
        assert found[side] == pytest.approx(wanted, abs=1e-8)


@settings(max_examples=tries(60), deadline=None)
@given(ours=SPANS, theirs=SPANS)
def test_what_is_left_is_paired_as_well_as_possible(ours: list[Span], theirs: list[Span]) -> None:
    """After equal mentions: the most equal spans, then equal labels, then shared characters."""
    metric = Mentions()
    counts, _ = metric.statistics(corpus(ours), corpus(theirs))
    equal = {one[:3] for one in ours} & {one[:3] for one in theirs}
    left, right = ([one for one in side if one[:3] not in equal] for side in (ours, theirs))
    fits = [[at for at, one in enumerate(right) if shared(own, one)[0]] for own in left]

    def merits(pairs: list[tuple[int, int]]) -> tuple[int, int, int]:
        both = [(left[a], right[b]) for a, b in pairs]
        same = (sum(a[1:3] == b[1:3] for a, b in both), sum(a[0] == b[0] for a, b in both))
        return (*same, sum(shared(a, b)[0] for a, b in both))

    every = [*pairings([*range(len(right))], fits)]
    most = max(map(merits, every))
    sizes = {len(pairs) for pairs in every if merits(pairs) == most}
    found = counts.filter(pl.col("label").is_null()).row(0, named=True)
    whole = len(equal)
    assert found["exact.correct"] == whole + most[0]
    assert found["ent_type.correct"] == whole + most[1]
    assert found["strict.correct"] == whole
    assert found["partial.partial"] + most[0] in sizes
    assert found["strict.missed"] + whole + found["strict.incorrect"] == len(ours)


def test_equal_mentions_are_paired_first() -> None:
    ours: list[Span] = [("City", 0, 4, 1), ("City", 2, 4, 1)]
    metric = Mentions("plan", Options(span="end"))
    _, rows = metric.statistics(corpus(ours), corpus(ours[1:]))
    assert rows is not None
    assert rows.select("reference_start", "outcome").rows() == [(0, "missing"), (2, "correct")]


def test_words_of_a_system_without_texts_are_those_of_the_reference() -> None:
    metric = Mentions("plan", Options(span="tokens"))
    system = corpus([("City", 0, 4, 1)])  # with a comma
    system = Corpus(documents=[{"row": 0, "name": "d"}], mentions=system.mentions.to_dicts())
    counts, _ = metric.statistics(corpus([("City", 0, 3, 1)]), system)
    assert counts["met"].sum() == 1


@pytest.mark.parametrize(
    ("match", "key"),
    [
        ('span = "contains"\nthreshold = 0.5', "threshold"),
        ('span = "tokens"\nthreshold = 0.5', "threshold"),
        ('span = "tokens"\ncredit = "half"', "credit"),
        ('span = "end"\ncredit = "iou"', "credit"),
        ('span = "overlap"\npairing = "set"', "pairing"),
        ('pairing = "optimal"', "pairing"),
        ('label = "ancestor"', "label"),
        ('span = "contains"\ncredit = "iou"', ""),
        ('span = "exact"\nlabel = "none"\npairing = "greedy-score"', ""),
    ],
)
def test_what_decides_nothing_about_pairs_is_said(match: str, key: str, tmp_path: Path) -> None:
    path = tmp_path / "own.task.toml"
    path.write_text(f'[task]\nunit = "mentions"\n[match]\n{match}\n', "utf-8")
    findings = read_declaration(str(path)).findings
    assert [item.message.split()[0] for item in findings] == [key] * bool(key)
    assert {item.code for item in findings} <= {"TSK109"}
