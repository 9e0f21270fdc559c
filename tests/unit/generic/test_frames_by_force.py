"""Relations and events in all modes beside brute force, on random small documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.scoring.generic.events import ACE, Events
from hlteval.scoring.generic.events import Options as EventOptions
from hlteval.scoring.generic.relations import Options, Relations
from hlteval.scoring.metric import Metric
from tests.effort import tries
from tests.unit.generic.test_spans_and_frames import corpus

MODES = ("span+label", "span", "end", "end+label", "overlap")
LABELS = ("Works", "Knows")
ROLES = ("Arg1", "Arg2", "Arg3")
#: Label, start and end.
Mention = tuple[str, int, int]
#: Identifier, label, trigger, and fillers by role.
Frame = tuple[str, str, str, dict[str, str]]
Side = tuple[list[Mention], list[Frame]]

MENTIONS = st.lists(
    st.tuples(st.sampled_from("AB"), st.integers(0, 4), st.integers(1, 3)).map(
        lambda one: (one[0], one[1], one[1] + one[2])
    ),
    min_size=2,
    max_size=5,
)


@st.composite
def sides(draw: Any, *, events: bool = False) -> tuple[Side, Side]:
    """Two sides, whose mentions may differ; arguments of events may be earlier events."""
    return draw(side(events=events)), draw(side(events=events))


@st.composite
def side(draw: Any, *, events: bool) -> Side:
    mentions = draw(MENTIONS)
    names = st.sampled_from([f"T{n}" for n in range(1, len(mentions) + 1)])
    frames: list[Frame] = []
    for number in range(1, draw(st.integers(0, 4)) + 1):
        if events:
            inner = [frame[0] for frame in frames]
            fillers = st.sampled_from(inner) | names if inner else names
            roles = draw(st.lists(st.sampled_from(["Who", "Who2", "What"]), unique=True))
            kind = "E"
        else:
            fillers, kind = names, "R"
            roles = [*ROLES[:2], *draw(st.sampled_from([(), ROLES[2:]]))]
        trigger = draw(names) if events else ""
        label = draw(st.sampled_from(LABELS))
        frames.append((f"{kind}{number}", label, trigger, {role: draw(fillers) for role in roles}))
    return mentions, frames


def reduced(mention: Mention, mode: str) -> tuple[object, ...]:
    """What of a mention must be equal."""
    label, start, end = mention
    parts = {"span": (start, end), "end": (end,), "end+label": (end, label)}
    return parts.get(mode, (start, end, label))


def key(frame: Frame, mine: Side, options: Any, *, with_label: bool = True) -> object:
    """A value that is equal for equal frames."""
    mentions, frames = mine
    _, label, trigger, fillers = frame
    own = {one[0]: one for one in frames}

    def value(target: str) -> object:
        if target in own:
            return key(own[target], mine, options)
        return reduced(mentions[int(target[1:]) - 1], options.arguments)

    def name(role: str) -> str:
        if label in options.symmetric:
            return ""
        return role.rstrip("0123456789") if frame[0].startswith("E") else role

    arguments = sorted(
        (name(role), repr(value(target)))
        for role, target in fillers.items()
        if name(role) not in options.optional and role not in options.optional
    )
    return (label, trigger and repr(value(trigger)), tuple(arguments))


def one_to_one(
    ours: Sequence[Frame], theirs: Sequence[Frame], fit: Any, used: frozenset[int] = frozenset()
) -> Iterator[int]:
    """The sizes of all one-to-one pairings."""
    if not ours:
        yield 0
        return
    yield from one_to_one(ours[1:], theirs, fit, used)
    for at, other in enumerate(theirs):
        if at not in used and fit(ours[0], other):
            for size in one_to_one(ours[1:], theirs, fit, used | {at}):
                yield size + 1


def touches(ours: Side, theirs: Side, options: Any) -> Any:
    """Whether relations have a label, and arguments that overlap and have labels."""

    def alike(one: str, other: str) -> bool:
        a, b = (mine[0][int(target[1:]) - 1] for mine, target in ((ours, one), (theirs, other)))
        return a[0] == b[0] and min(a[2], b[2]) > max(a[1], b[1])

    def fit(one: Frame, other: Frame) -> bool:
        if one[1] != other[1]:
            return False
        left, right = (
            {role: t for role, t in frame[3].items() if role not in options.optional}
            for frame in (one, other)
        )
        if len(left) != len(right):
            return False
        if one[1] not in options.symmetric:
            return left.keys() == right.keys() and all(alike(left[r], right[r]) for r in left)
        return len(left) in one_to_one_targets([*left.values()], [*right.values()], alike)

    return fit


def one_to_one_targets(ours: list[Any], theirs: list[Any], alike: Any) -> set[int]:
    return {*one_to_one(ours, theirs, alike)}


def distinct(mine: Side, options: Any) -> dict[object, Frame]:
    """The different frames of a side."""
    found: dict[object, Frame] = {}
    for frame in mine[1]:
        found.setdefault(key(frame, mine, options), frame)
    return found


def counts(metric: Metric, ours: Side, theirs: Side) -> dict[str, int]:
    rows, _ = metric.statistics(corpus(*ours), corpus(*theirs))
    return rows.drop("document", "label").sum().row(0, named=True)


OPTIONS = st.fixed_dictionaries(
    {
        "arguments": st.sampled_from(MODES),
        "symmetric": st.sampled_from([(), ("Knows",)]),
        "optional": st.sampled_from([(), ("Arg3",)]),
    }
)


@given(both=sides(), chosen=OPTIONS)
@settings(max_examples=tries(60), deadline=None)
def test_relations_are_those_of_brute_force(both: tuple[Side, Side], chosen: Any) -> None:
    options = Options(**chosen)
    ours, theirs = both
    left, right = (distinct(mine, options) for mine in both)
    expected = len(left.keys() & right.keys())
    if options.arguments == "overlap":
        fit = touches(ours, theirs, options)
        expected = max(one_to_one([*left.values()], [*right.values()], fit))
    found = counts(Relations("plan", options), ours, theirs)
    assert (found["expected"], found["predicted"]) == (len(left), len(right))
    assert found["met"] == found["found"] == expected
    entities = [{*mentions} for mentions, _ in both]
    assert found["entities.expected"] == len(entities[0])
    assert found["entities.right"] == len(entities[0] & entities[1])


@given(
    both=sides(events=True),
    arguments=st.sampled_from(MODES),
    optional=st.sampled_from([(), ("What",)]),
)
@settings(max_examples=tries(60), deadline=None)
def test_events_are_those_of_brute_force(
    both: tuple[Side, Side], arguments: Any, optional: Any
) -> None:
    options = EventOptions(arguments=arguments, optional=optional)
    left, right = (distinct(mine, options) for mine in both)
    expected = len(left.keys() & right.keys())
    if options.arguments == "overlap":
        fit = touching_events(*both, options)
        expected = max(one_to_one([*left.values()], [*right.values()], fit))
    found = counts(Events("plan", options), *both)
    assert (found["expected"], found["predicted"]) == (len(left), len(right))
    assert found["met"] == expected
    parts = [Counter(part for part, _ in units(mine, options)) for mine in both]
    common = Counter(part for part, _ in units(both[0], options) & units(both[1], options))
    for part in ACE:
        numbers = (parts[0][part], parts[1][part], common[part])
        assert tuple(found[f"{part}.{n}"] for n in ("expected", "predicted", "right")) == numbers


def touching_events(ours: Side, theirs: Side, options: Any) -> Any:
    """Whether events have a label, triggers that overlap, and arguments in the same roles.

    Mentions of arguments overlap, and events are equal.
    """
    events = [{frame[0]: frame for frame in mine[1]} for mine in (ours, theirs)]

    def alike(one: tuple[str, str], other: tuple[str, str]) -> bool:
        if one[0] != other[0] or (one[1] in events[0]) != (other[1] in events[1]):
            return False
        if one[1] in events[0]:
            keys = (key(events[n][t], m, options) for n, m, t in
                    ((0, ours, one[1]), (1, theirs, other[1])))  # fmt: skip
            return len({*keys}) == 1
        a, b = (m[0][int(t[1:]) - 1] for m, t in ((ours, one[1]), (theirs, other[1])))
        return a[0] == b[0] and min(a[2], b[2]) > max(a[1], b[1])

    def fit(one: Frame, other: Frame) -> bool:
        left, right = (
            [("", frame[2])] + [(role.rstrip("2"), t) for role, t in frame[3].items()]
            for frame in (one, other)
        )
        left, right = (
            [pair for pair in side if pair[0] not in options.optional] for side in (left, right)
        )
        whole = len(left) == len(right) and len(left) in one_to_one_targets(left, right, alike)
        return one[1] == other[1] and whole

    return fit


def units(mine: Side, options: Any) -> set[tuple[str, object]]:
    """The triggers and arguments of a side, as ACE counts them."""
    mentions, frames = mine
    own = {one[0]: one for one in frames}

    def span(target: str) -> tuple[int, int]:
        named = own[target][2] if target in own else target
        return mentions[int(named[1:]) - 1][1:]

    found: set[tuple[str, object]] = set()
    for _, label, trigger, fillers in frames:
        found |= {(ACE[0], span(trigger)), (ACE[1], (span(trigger), label))}
        for written, target in fillers.items():
            role = written.rstrip("0123456789")
            if role not in options.optional:
                found |= {(ACE[2], (span(target), label)), (ACE[3], (span(target), label, role))}
    return found


@pytest.mark.parametrize("arguments", MODES)
def test_arguments_that_are_relations_are_compared_by_their_own(arguments: Any) -> None:
    mentions = [("A", 0, 2), ("B", 3, 5)]
    inner = ("R1", "Works", "", {"Arg1": "T1", "Arg2": "T2"})
    outer = ("R2", "Knows", "", {"Arg1": "T1", "Arg2": "R1"})
    other = ("R1", "Works", "", {"Arg1": "T2", "Arg2": "T1"})
    metric = Relations("plan", Options(arguments=arguments))
    same = counts(metric, (mentions, [inner, outer]), (mentions, [outer, inner]))
    changed = counts(metric, (mentions, [inner, outer]), (mentions, [other, outer]))
    assert (same["met"], changed["met"]) == (2, 0)


def test_each_argument_needs_a_partner_of_its_own() -> None:
    """Two arguments overlap the first of the other side only, the third the two others."""
    mentions = [("A", 0, 1), ("A", 1, 2), ("A", 4, 8), ("A", 0, 2), ("A", 4, 5), ("A", 6, 8)]
    sides_of = [
        (mentions, [("R1", "Knows", "", dict(zip(ROLES, names, strict=True)))])
        for names in (("T1", "T2", "T3"), ("T4", "T5", "T6"), ("T4", "T2", "T5"))
    ]
    metric = Relations("plan", Options(arguments="overlap", symmetric=("Knows",)))
    assert counts(metric, sides_of[0], sides_of[1])["met"] == 0
    assert counts(metric, sides_of[0], sides_of[2])["met"] == 1
