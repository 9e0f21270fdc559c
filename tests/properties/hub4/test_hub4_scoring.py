"""What holds for all templettes: the mapping, its points, and how texts are aligned and worded."""

from __future__ import annotations

import random
import re
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from hlteval.representation import Corpus, of_documents
from hlteval.representation.global_map import GlobalMap, Rule
from hlteval.scoring.hub4 import metric, word_alignment
from hlteval.scoring.hub4.instance_sets import MODES, Options
from hlteval.scoring.hub4.mapping import POINTS, tokens_match
from hlteval.scoring.hub4.metric import TempletteMatch, greedy_losses
from hlteval.scoring.hub4.normalizer import SpellingFilter, TextNormalizer
from hlteval.scoring.hub4.text_columns import Scale, Text, in_columns
from hlteval.scoring.hub4.word_alignment import (
    DOCUMENT,
    SCLITE,
    Alignment,
    Costs,
    Lexicon,
    alignments,
)
from tests.effort import tries

FEW = settings(max_examples=2, deadline=None, phases=[Phase.explicit, Phase.generate])
"""Seeds cannot be made simpler, so nothing is tried to."""
SOME = settings(max_examples=tries(60), deadline=None)
SEEDS = st.integers(0, 2**32)
WORDS = ("a", "b", "a b", "b a", "c")
POINTING = {"TEMPLATE": ("EVENT", ("A", "B")), "A": ("OF", ("B",))}
"""Slots of pointers by type, and what they may point to."""


Points = tuple[int, int, int, int]
NONE: Points = (0, 0, 0, 0)


class Fill(NamedTuple):
    """A text with its extent and minimal strings (text and extent), or a pointer."""

    text: str = ""
    extent: tuple[int, int] = (0, 0)
    minimal: tuple[tuple[str, tuple[int, int]], ...] = ()
    target: str | None = None


class Slot(NamedTuple):
    """A slot: alternatives of fills, and whether it is marked optional."""

    alternatives: tuple[tuple[Fill, ...], ...]
    optional: bool = False


class Instance(NamedTuple):
    """An instance: its pointer, type and slots by name."""

    pointer: str
    type: str
    slots: dict[str, Slot]
    optional: bool = False


def plus(*points: Points) -> Points:
    return tuple(map(sum, zip(NONE, *points, strict=True)))


def f_measure(points: Points) -> Fraction:
    cor, inc, mis, spu = points
    both = 2 * (cor + inc) + mis + spu
    return Fraction(2 * cor, both) if both else Fraction(0)


def enclosed(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
    return outer[0] <= inner[0] <= outer[1] and outer[0] <= inner[1] <= outer[1]


def overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    (a, b), (c, d) = one, other
    return a <= c <= b or a <= d <= b or c <= a <= d or c <= b <= d


class Literal:
    """The mapping of two instance sets in one mode."""

    def __init__(self, reference: list[Instance], system: list[Instance], mode: str, zero_f: str):
        self.mode, self.zero_f = mode, zero_f
        self.weight = 2 if mode == "both" else 1
        self.mapped: dict[str, str] = {}
        self.gone: set[str] = set()
        self.tied = False
        self.groups: list[tuple[int, int]] = []
        self.pairs: list[tuple[Instance, Instance]] = []
        for kind in bottom_up(reference + system):
            ours = [item for item in reference if item.type == kind]
            theirs = [item for item in system if item.type == kind]
            self.map_type(ours, theirs)
            self.gone |= {
                our.pointer for our in ours if our.optional and our.pointer not in self.mapped
            }
        left = [
            item for item in reference if item.pointer not in {a.pointer for a, _ in self.pairs}
        ]
        over = [item for item in system if item.pointer not in {b.pointer for _, b in self.pairs}]
        self.points = plus(
            *(self.of_pair(a, b) for a, b in self.pairs),
            *(self.of_pair(item, None) for item in left if not item.optional),
            *(self.of_pair(None, item) for item in over),
        )

    def map_type(self, ours: list[Instance], theirs: list[Instance]) -> None:
        pairs = list(product(range(len(ours)), range(len(theirs))))
        points = {(i, j): self.of_pair(ours[i], theirs[j]) for i, j in pairs}
        values = [f_measure(points[pair]) for pair in pairs]
        self.tied |= len(set(values)) < len(values)
        allowed = [
            (i, j)
            for i, j in pairs
            if f_measure(points[i, j]) > 0
            or ours[i].type == "TEMPLATE"
            or self.zero_f == "map"
            or (self.zero_f == "skip-optional" and not ours[i].optional)
        ]
        chosen = general_greedy(allowed, lambda i, j: (-f_measure(points[i, j]), ours[i].optional))
        for i, j in chosen:
            self.pairs.append((ours[i], theirs[j]))
            self.mapped[ours[i].pointer] = theirs[j].pointer
        self.groups.append((sum(points[pair][0] for pair in chosen), best(points, ours, theirs)))

    def of_pair(self, ours: Instance | None, theirs: Instance | None) -> Points:
        left, right = ours.slots if ours else {}, theirs.slots if theirs else {}
        return plus(*(self.of_slot(left.get(name), right.get(name)) for name in {**left, **right}))

    def of_slot(self, ours: Slot | None, theirs: Slot | None) -> Points:
        answer = theirs.alternatives[0] if theirs else ()
        kept = [
            tuple(fill for fill in fills if fill.target not in self.gone)
            for fills in (ours.alternatives if ours else ())
        ]
        kept = [fills for fills in kept if fills]
        if not kept:
            return (0, 0, 0, sum(map(self.worth, answer)))
        if not answer:
            cheapest = min(sum(map(self.worth, fills)) for fills in kept)
            return (0, 0, 0 if ours.optional else cheapest, 0)
        chosen: Points | None = None
        for fills in kept:
            points = self.of_fills(fills, answer, ours.optional)
            if chosen is None or f_measure(points) > f_measure(chosen):
                chosen = points
            elif f_measure(points) == f_measure(chosen):
                pos, act = sum(points[:3]), points[0] + points[1] + points[3]
                chosen = points if act <= pos < sum(chosen[:3]) else chosen
        return chosen

    def of_fills(self, ours: tuple[Fill, ...], theirs: tuple[Fill, ...], optional: bool) -> Points:
        pairs = [
            (i, j)
            for i, j in product(range(len(ours)), range(len(theirs)))
            if (ours[i].target is None) == (theirs[j].target is None)
        ]
        points = {(i, j): self.of_single(ours[i], theirs[j]) for i, j in pairs}
        chosen = general_greedy(pairs, lambda i, j: -f_measure(points[i, j]))
        left = [fill for i, fill in enumerate(ours) if i not in {a for a, _ in chosen}]
        over = [fill for j, fill in enumerate(theirs) if j not in {b for _, b in chosen}]
        missing = sum(self.worth(f) for f in left if not (optional and f.target is not None))
        return plus(*(points[pair] for pair in chosen), (0, 0, missing, sum(map(self.worth, over))))

    def of_single(self, ours: Fill, theirs: Fill) -> Points:
        if ours.target is not None:
            right = self.mapped.get(ours.target, "") == theirs.target
            return (int(right), int(not right), 0, 0)
        minimal = ours.minimal or ((ours.text, ours.extent),)
        content = theirs.text in ours.text and any(text in theirs.text for text, _ in minimal)
        extent = enclosed(theirs.extent, ours.extent) and any(
            overlap(theirs.extent, one) for _, one in minimal
        )
        tests = {"content": [content], "extent": [extent], "both": [content, extent]}[self.mode]
        return (sum(tests), len(tests) - sum(tests), 0, 0)

    def worth(self, fill: Fill) -> int:
        return self.weight if fill.target is None else 1


def general_greedy(pairs, key) -> list[tuple[int, int]]:
    """The general greedy mapping algorithm: take the best pair, strike out, repeat."""
    left, chosen = list(pairs), []
    while left:
        best_pair = min(left, key=lambda pair: (key(*pair), pair))
        chosen.append(best_pair)
        left = [p for p in left if p[0] != best_pair[0] and p[1] != best_pair[1]]
    return chosen


def best(points, ours, theirs) -> int:
    """The most correct points of any one-to-one mapping, by trying all."""

    def most(i: int, free: frozenset[int]) -> int:
        if i == len(ours):
            return 0
        tried = [points[i, j][0] + most(i + 1, free - {j}) for j in free]
        return max([most(i + 1, free), *tried])

    return most(0, frozenset(range(len(theirs))))


def bottom_up(instances: list[Instance]) -> list[str]:
    """The types, those that are pointed to first; there are no circles."""
    types = {instance.pointer: instance.type for instance in instances}
    left = set(types.values())
    order = []
    while left:
        ready = {
            kind
            for kind in left
            if not any(
                types.get(fill.target) in left
                for instance in instances
                if instance.type == kind
                for slot in instance.slots.values()
                for fills in slot.alternatives
                for fill in fills
                if fill.target is not None
            )
        }
        order += sorted(ready)
        left -= ready
    return order


def a_text(chance: random.Random, reference: bool) -> Fill:
    text, start = chance.choice(WORDS), chance.randrange(7)
    minimal = ()
    if reference and chance.random() < 0.5:
        place = chance.choice([i for i, character in enumerate(text) if character != " "])
        minimal = ((text[place], (start + place, start + place + 1)),)
    return Fill(text, (start, start + len(text)), minimal)


def a_side(chance: random.Random, reference: bool) -> list[Instance]:
    """The instances of one side of a document, in any order."""
    counts = {"B": 3, "A": 2, "TEMPLATE": 1}
    names = {kind: range(chance.randint(0, most)) for kind, most in counts.items()}
    instances = []
    for kind, numbers in names.items():
        for number in numbers:
            slots = {
                name: Slot(
                    tuple(
                        tuple(a_text(chance, reference) for _ in range(chance.randint(1, 2)))
                        for _ in range(chance.randint(1, 3) if reference else 1)
                    ),
                    reference and chance.random() < 0.3,
                )
                for name in chance.sample("XY", chance.randint(0, 2))
            }
            slot, kinds = POINTING.get(kind, ("", ()))
            known = [f"{other}-d-{n}" for other in kinds for n in names[other]] + ["B-d-9"]
            fills = tuple(Fill(target=item) for item in chance.sample(known, min(len(known), 3)))
            if kinds and chance.random() < 0.8:
                slots[slot] = Slot((fills,), reference and chance.random() < 0.3)
            optional = reference and kind != "TEMPLATE" and chance.random() < 0.4
            instances.append(Instance(f"{kind}-d-{number}", kind, slots, optional))
    return chance.sample(instances, len(instances))


def some_documents(seed: int, count: int = 40) -> list[tuple[list[Instance], list[Instance]]]:
    """Documents with a reference and a system each: many at once, as each run has its cost."""
    chance = random.Random(seed)
    return [(a_side(chance, True), a_side(chance, False)) for _ in range(count)]


def corpus(*documents: list[Instance], step: int = 0) -> Corpus:
    """Documents as tables, the extents of each so many places after those of the one before."""
    frames: list[dict[str, Any]] = []
    fills: list[dict[str, Any]] = []
    for document, instances in enumerate(documents):
        place = {"document": document, "origin": 0}
        for instance in instances:
            frame = {"row": len(frames), **place, "record": len(frames) + 1}
            frame |= {"kind": "templette", "frame": instance.pointer, "label": instance.type}
            frames.append({**frame, "optional": instance.optional})
            for number, (name, slot) in enumerate(instance.slots.items(), start=1):
                for alternative, listed in enumerate(slot.alternatives, start=1):
                    for position, fill in enumerate(listed, start=1):
                        row = {"row": len(fills), **place, "record": 1, "frame_row": frame["row"]}
                        row |= {"slot": name, "slot_number": number, "optional": slot.optional}
                        row |= {"alternative": alternative, "position": position}
                        fills.append({**row, **written(fill, document * step)})
    return Corpus(
        documents=[{"row": n, "name": f"d{n}"} for n in range(len(documents))],
        frames=frames,
        fills=fills,
    )


def written(fill: Fill, offset: int) -> dict[str, Any]:
    if fill.target is not None:
        return {"kind": "pointer", "target": fill.target}
    start = fill.extent[0]
    extents = [fill.extent, *(extent for _, extent in fill.minimal)]
    brackets = [(a - start, b - start) for _, (a, b) in fill.minimal]
    said = {"extents": [(a + offset, b + offset) for a, b in extents], "brackets": brackets}
    listed = {k: [{"start": a, "end": b} for a, b in v] for k, v in said.items()}
    return {"kind": "text", "text": fill.text, **listed}


def corpora(documents: list[tuple[list[Instance], list[Instance]]]) -> tuple[Corpus, Corpus]:
    ours, theirs = zip(*documents, strict=True)
    return corpus(*ours), corpus(*theirs)


def points(match: TempletteMatch, *sides: Corpus) -> dict[tuple[str, str], tuple[int, ...]]:
    """The points by mode and document, where there are any."""
    counts = match.statistics(*sides, alignment=False)[0].drop_nulls("slot")
    names = pl.coalesce("document", "document_system").alias("name")
    rows = counts.group_by("mode", names).agg(pl.col(*POINTS).sum())
    return {(mode, name): tuple(found) for mode, name, *found in rows.iter_rows() if any(found)}


@FEW
@given(SEEDS, st.sampled_from(["map", "skip-optional", "skip"]))
def test_points_are_those_of_the_procedure_taken_literally(seed, zero_f):
    documents = some_documents(seed)
    found = points(
        TempletteMatch(options=Options(zero_f=zero_f, premodifiers=())), *corpora(documents)
    )
    for number, (reference, system) in enumerate(documents):
        for mode in MODES:
            wanted = Literal(reference, system, mode, zero_f).points
            assert found.get((mode, f"d{number}"), (0,) * 6)[:4] == wanted


@pytest.mark.thorough
@FEW
@given(SEEDS, st.sampled_from([1, 3]))
def test_nothing_shows_how_many_sets_are_mapped_together(seed, size):
    reference, system = corpora(some_documents(seed, 7))
    names = [f"d{number}" for number in range(7)]
    sides = (
        of_documents(reference, pl.Series(names[2:])),
        of_documents(system, pl.Series(names[:5])),
    )
    match = TempletteMatch(options=Options(premodifiers=()))
    for both in ((reference, system), sides):
        whole, mapped = match.statistics(*both)
        with patch.object(metric, "SETS", size):
            counts, rows = match.statistics(*both)
        assert mapped is not None
        assert rows is not None
        assert rows.equals(mapped)
        assert counts.sort(pl.all()).equals(whole.sort(pl.all()))
        assert match.notes(counts) == match.notes(whole)
        (metrics, tables), (values, others) = match.score(whole), match.score(counts)
        assert values == metrics
        assert others.keys() == tables.keys()
        assert all(others[name].equals(table) for name, table in tables.items())


@FEW
@given(SEEDS)
def test_the_greedy_mapping_has_no_more_correct_points_than_the_best(seed):
    documents = some_documents(seed)
    counts, _ = TempletteMatch(options=Options(premodifiers=())).statistics(
        *corpora(documents), alignment=False
    )
    lost = counts.filter(pl.col("slot").is_null())
    for mode in MODES:
        literal = [Literal(*pair, mode, "map").groups for pair in documents]
        assert all(greedy <= best for groups in literal for greedy, best in groups)
        wanted = sorted(pair for groups in literal for pair in groups if pair[0] < pair[1])
        rows = lost.filter(pl.col("mode") == mode).select("greedy", "best").rows()
        assert sorted(rows) == wanted


@FEW
@given(SEEDS)
def test_the_mapping_is_one_to_one_and_keeps_to_levels(seed):
    documents = some_documents(seed, 20)
    _, mapping = TempletteMatch().statistics(*corpora(documents))
    assert mapping is not None
    for mode in MODES:
        rows = mapping.filter(pl.col("mode") == mode)
        instances = rows.filter(pl.col("level") == "instance")
        for side, name in enumerate(("reference", "system")):
            given_side = [item.pointer for pair in documents for item in pair[side]]
            assert sorted(instances[name].drop_nulls()) == sorted(given_side)
        both = instances.drop_nulls(["reference", "system"])
        assert all(
            ours.split("-")[0] == theirs.split("-")[0]
            for ours, theirs in both.select("reference", "system").iter_rows()
        )
        levels = rows.filter(pl.col("level") != "alternative").group_by("level")
        assert levels.agg(pl.col(*POINTS).sum()).drop("level").unique().height == 1


@FEW
@given(SEEDS)
def test_without_ties_the_order_of_instances_says_nothing(seed):
    documents = [
        pair
        for pair in some_documents(seed, 60)
        if not any(Literal(*pair, mode, "map").tied for mode in MODES)
    ]
    assume(documents)
    chance = random.Random(seed)
    shuffled = [tuple(chance.sample(side, len(side)) for side in pair) for pair in documents]
    match = TempletteMatch(options=Options(premodifiers=()))
    assert points(match, *corpora(shuffled)) == points(match, *corpora(documents))


@settings(FEW, max_examples=2)
@given(SEEDS)
def test_documents_add_up_whatever_is_scored_together(seed):
    documents = some_documents(seed, 4)
    match = TempletteMatch()
    together = points(match, *corpora(documents))
    for size in (1, 3):
        batches = [documents[at : at + size] for at in range(0, len(documents), size)]
        counts = [points(match, *corpora(batch)) for batch in batches]
        renamed = {
            (mode, f"d{number * size + int(name[1:])}"): found
            for number, each in enumerate(counts)
            for (mode, name), found in each.items()
        }
        assert renamed == together


def has_text(side: list[Instance]) -> bool:
    slots = [slot for item in side for slot in item.slots.values()]
    return any(fill.target is None for slot in slots for fill in slot.alternatives[0])


@FEW
@given(SEEDS)
def test_unsegmented_text_gives_the_same_where_sets_keep_to_documents(seed):
    documents = [pair for pair in some_documents(seed, 30) if pair[0] and has_text(pair[1])]
    reference, system = corpora(documents)
    starts = {f"d{number}": 100 * number for number in range(len(documents))}
    texts = {name: Text("x" * 20, start) for name, start in starts.items()}
    moved = corpus(*(pair[1] for pair in documents), step=100)
    renamed = moved.documents.with_columns(name="other " + pl.col("name"))
    match = TempletteMatch(options=Options(unsegmented=True, corpus=lambda: texts))
    found = points(match, reference, moved.replace(documents=renamed))
    assert found == points(TempletteMatch(), reference, system)


TOKENS = st.lists(st.sampled_from(["x", "y", "uh", "h-"]), max_size=5)


def without_some(words: list[str]) -> list[list[str]]:
    """The words with each choice of what is optional left out."""
    spare = [place for place, word in enumerate(words) if word in {"uh", "h-"}]
    return [
        [word for place, word in enumerate(words) if place not in gone]
        for size in range(len(spare) + 1)
        for gone in combinations(spare, size)
    ]


def together(part: list[str], whole: list[str]) -> bool:
    return any(whole[at : at + len(part)] == part for at in range(len(whole) + 1))


@SOME
@given(TOKENS, TOKENS)
def test_tokens_match_if_they_do_for_some_choice_of_what_is_left_out(reference, system):
    choices = without_some(reference)
    sides = system, reference, ["uh"]
    assert tokens_match(*sides, inside=True) == any(together(system, words) for words in choices)
    assert tokens_match(*sides, inside=False) == any(together(words, system) for words in choices)


def by_the_whole_table(reference: list[str], system: list[str], costs: Costs) -> list[int]:
    """The steps of the best path, with every cell filled: pair, insertion, deletion."""
    deleting, pairing = costs.of_deletions(reference), costs.of_pairs(reference, system)
    table: dict[tuple[int, int], tuple[int, int]] = {(0, 0): (0, -1)}
    for i in range(len(reference) + 1):
        for j in range(len(system) + 1):
            ways = []
            if i and j:
                ways.append((table[i - 1, j - 1][0] + int(pairing[i - 1, j - 1]), 0))
            if j:
                ways.append((table[i, j - 1][0] + costs.insertion, 1))
            if i:
                ways.append((table[i - 1, j][0] + deleting[i - 1], 2))
            if ways:
                table[i, j] = min(ways)
    steps, i, j = [], len(reference), len(system)
    while i or j:
        step = table[i, j][1]
        steps.append(step)
        i, j = i - (step != 1), j - (step != 2)
    return steps[::-1]


def aligned(reference: list[str], system: list[str], costs: Costs = DOCUMENT) -> Alignment:
    """The alignment of a pair of texts."""
    return alignments([(reference, system)], costs)[0]


ALIGNED = st.lists(st.sampled_from(["a", "b", "c", "a-", "b-"]), max_size=9)


@settings(max_examples=tries(100), deadline=None)
@given(ALIGNED, ALIGNED, st.sampled_from([SCLITE, DOCUMENT]), st.integers(1, 3))
def test_bands_give_the_alignment_of_the_whole_table(reference, system, costs, narrowest):
    with patch.object(word_alignment, "NARROWEST", narrowest):
        found = aligned(reference, system, costs)
    steps = by_the_whole_table(reference, system, costs)
    assert found.columns == len(steps)
    assert found.reference.tolist() == [at for at, step in enumerate(steps) if step != 1]
    assert found.system.tolist() == [at for at, step in enumerate(steps) if step != 2]


def test_words_that_are_spelt_alike_go_together_where_costs_are_equal():
    words = ["boris", "yeltsin's", "latest", "illness"]
    found = aligned(words, ["boris", "yells", "in", "latest", "illness"])
    assert (found.reference.tolist(), found.system.tolist()) == ([0, 1, 3, 4], [0, 1, 2, 3, 4])
    found = aligned(words, ["boris", "yells", "in", "latest", "illness"], SCLITE)
    assert found.reference.tolist() == [0, 2, 3, 4]


def test_texts_with_nothing_in_them_are_aligned():
    assert aligned([], ["a"]).columns == aligned(["a"], []).columns == 1
    assert aligned([], []).columns == 0


def test_a_long_text_is_aligned_as_it_was_changed():
    chance = random.Random(5)
    words = [f"w{place}" for place in range(4000)]
    changed = [word for word in words if chance.random() > 0.02]
    found = aligned(words, changed)
    columns = dict(zip(words, found.reference.tolist(), strict=True))
    assert [columns[word] for word in changed] == found.system.tolist()


RULES = st.lists(
    st.builds(
        Rule,
        st.text("AB ", min_size=1, max_size=3),
        st.text("ABC ", max_size=3),
        st.sampled_from(["", " ", "A"]),
        st.sampled_from(["", " ", "B"]),
    ),
    max_size=4,
)


def filtered(rules: list[Rule], text: str) -> str:
    """The filter, literally: at each place the first rule that fits, else a character."""
    out, place = "", 0
    while place < len(text):
        for rule in rules:
            before = place - len(rule.left)
            if before >= 0 and text[before:].startswith(rule.left + rule.source + rule.right):
                out += rule.target
                place += len(rule.source)
                break
        else:
            out += text[place]
            place += 1
    return out


@SOME
@given(RULES, st.lists(st.text("AB", min_size=1, max_size=4), max_size=5))
def test_a_global_map_is_applied_as_the_filter_does(rules, words):
    spelling = SpellingFilter(GlobalMap(tuple(rules)))
    given_text = " ".join(words)
    expected = filtered(rules, f" {given_text} ").split()
    found = spelling.words(words)
    assert [word.text for word in found] == expected
    origins = [place for word in found for place in (word.first, word.last)]
    assert origins == sorted(origins) or any(" " in rule.source for rule in rules)
    assert all(0 <= place < len(words) for place in origins) or not words


PHRASES = st.lists(st.sampled_from(["the", "And", "a", "cup", "of."]), min_size=1, max_size=5)


@SOME
@given(PHRASES, st.integers(1, 3), st.booleans())
def test_premodifiers_leave_something_and_the_shift_is_what_was_taken(words, blanks, anywhere):
    text = (" " * blanks).join(words)
    wording = TextNormalizer(premodifiers=("and", "a", "the"), whiteout=".", anywhere=anywhere)
    worded = wording.normalize(text)
    kept = worded.content.split()
    assert kept
    assert kept == words or len(kept) < len(words) or "of." in words
    taken = text[: worded.shift].split()
    assert all(word.lower() in {"and", "a", "the"} for word in taken)
    if not anywhere:
        assert taken == words[: len(words) - len(kept)]
        assert re.sub(r"\.", "", words[len(taken)]) == kept[0]


STACK = st.lists(st.tuples(ALIGNED, ALIGNED), max_size=5)
LEXICON = Lexicon.of([("a", ["AA"]), ("a", ["EY"]), ("b", ["B", "IY"]), ("c", ["S", "IY"])])


@settings(max_examples=tries(50), deadline=None)
@given(STACK, st.sampled_from([SCLITE, DOCUMENT, LEXICON.costs()]), st.integers(1, 200))
def test_stacked_documents_are_aligned_as_each_is_alone(texts, costs, cells):
    kept = word_alignment.STACK_CELLS, word_alignment.STACK_TEXTS
    word_alignment.STACK_CELLS, word_alignment.STACK_TEXTS = cells, 3
    try:
        found = alignments(texts, costs)
    finally:
        word_alignment.STACK_CELLS, word_alignment.STACK_TEXTS = kept
    for (reference, system), alignment in zip(texts, found, strict=True):
        steps = by_the_whole_table(reference, system, costs)
        assert alignment.columns == len(steps)
        assert alignment.reference.tolist() == [at for at, step in enumerate(steps) if step != 1]
        assert alignment.system.tolist() == [at for at, step in enumerate(steps) if step != 2]


OFFSETS = st.lists(st.integers(0, 9), max_size=4).map(sorted)
EXTENTS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.none() | st.integers(-2, 12) | st.just(2**62),
        st.none() | st.integers(-2, 12) | st.just(-(2**62)),
    )
)


@settings(max_examples=tries(50), deadline=None)
@given(st.lists(OFFSETS, min_size=3, max_size=3), EXTENTS)
def test_extents_become_the_columns_of_the_words_that_they_touch(offsets, extents):
    scales = {
        document: Scale(np.array(starts, int), np.array(starts, int) + 1, np.arange(len(starts)))
        for document, starts in enumerate(offsets)
    }
    rows = pl.DataFrame(extents, ["document", "start", "end"], orient="row").cast(pl.Int64)
    found = in_columns(rows.with_columns(other="start"), scales, ["other"])
    assert found["document"].to_list() == rows["document"].to_list()
    assert found["other"].to_list() == found["start"].to_list()
    for (document, start, end), row in zip(extents, found.iter_rows(named=True), strict=True):
        expected: tuple[int | None, int | None] = (None, None)
        if document in scales and start is not None and end is not None:
            starts = offsets[document]
            last = max(len(starts) - 1, 0)
            first = min(sum(offset + 1 <= start for offset in starts), last)
            final = min(max(sum(offset < end for offset in starts) - 1, 0), last)
            expected = (first, max(first, final))
        assert (row["start"], row["end"]) == expected


TABLE = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 5), min_size=width, max_size=width), min_size=1, max_size=4
    )
)


@settings(max_examples=tries(50), deadline=None)
@given(TABLE)
def test_the_best_mapping_has_the_points_of_the_best_permutation(table):
    tall = table if len(table) >= len(table[0]) else [*zip(*table, strict=True)]
    best = max(
        sum(tall[row][column] for column, row in enumerate(rows))
        for rows in permutations(range(len(tall)), len(tall[0]))
    )
    pairs = [(r, c, cor) for r, row in enumerate(table) for c, cor in enumerate(row) if cor]
    scored = pl.DataFrame(pairs, ["reference", "system", "cor"], orient="row")
    scored = scored.with_columns(set=0, type=pl.lit("B"), rank=0)
    found = greedy_losses(scored, scored.clear())["best"].to_list()
    assert found == [best] * bool(pairs)
