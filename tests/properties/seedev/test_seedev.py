"""SeeDev: scores against the definitions worked out by hand, and what must not change them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from hlteval.converters.standoff.bionlp import FORMAT
from hlteval.representation import Corpus
from hlteval.scoring.seedev.event_pairs import UNIT
from hlteval.sources import Member, Source
from hlteval.tasks import load
from tests.effort import tries
from tests.runs import score

# Every document has the same entities, so that events often have something in common.
ENTITIES = {
    "T1": "Protein",
    "T2": "Protein",
    "T3": "Tissue",
    "T4": "Tissue",
    "T5": "Gene",
    "T6": "Pathway",
    "T7": "Genotype",
    "T8": "Genotype",
    "T9": "Development_Phase",
    "T10": "Hormone",
}
PROTEINS, TISSUES, GENOTYPES = ("T1", "T2"), ("T3", "T4"), ("T7", "T8")
CORES = {
    "Binding": (("Functional_Molecule", PROTEINS), ("Molecule", (*PROTEINS, "T5"))),
    "Localization": (("Functional_Molecule", PROTEINS), ("Target_Tissue", TISSUES)),
    "Functional_Equivalence": (("Element1", PROTEINS), ("Element2", PROTEINS)),
    "Regulation_Of_Process": (("Agent", (*TISSUES, "E1", "E2")), ("Process", ("T6",))),
}
CONDITIONS = {
    "Tissue": TISSUES,
    "Organism_Genotype": GENOTYPES,
    "Developmental_Stage": ("T9", "T99"),
    "Hormone": ("T10",),
    "Prerequisite_Event": ("E1", "E2", "E3"),
}
BINARY = {
    "Binds_To": CORES["Binding"],
    "Is_Localized_In": CORES["Localization"],
    "Is_Functionally_Equivalent_To": CORES["Functional_Equivalence"],
    "Has_Sequence_Identical_To": CORES["Functional_Equivalence"],
    "Is_Linked_To": (("Agent1", (*TISSUES, "T1")), ("Agent2", (*TISSUES, "T1"))),
}
COMMUTE = {
    "Functional_Equivalence",
    "Is_Functionally_Equivalent_To",
    "Has_Sequence_Identical_To",
    "Is_Linked_To",
}


@dataclass(frozen=True)
class Event:
    name: str
    label: str
    core: tuple[tuple[str, str], ...]
    conditions: tuple[tuple[str, str], ...] = ()
    negated: bool = False

    def lines(self, number: int) -> Iterator[str]:
        arguments = " ".join(f"{role}:{target}" for role, target in self.core + self.conditions)
        yield f"{self.name}\t{self.label} {arguments}"
        if self.negated:
            yield f"M{number}\tNegation Annotation:{self.name}"


@dataclass(frozen=True)
class Document:
    name: str
    reference: tuple[Event, ...]
    system: tuple[Event, ...]
    equivalent: tuple[str, ...] = ()


@st.composite
def events(draw: st.DrawFn, task: str) -> tuple[Event, ...]:
    made: list[Event] = []
    for number in range(1, draw(st.integers(0, 4)) + 1):
        label, roles = draw(st.sampled_from(list((CORES if task == "full" else BINARY).items())))
        # An event may be an agent once it is there: so no event depends on itself.
        known = {f"E{earlier}" for earlier in range(1, number)}
        core = tuple(
            (role, draw(st.sampled_from([t for t in targets if t[0] != "E" or t in known])))
            for role, targets in roles
        )
        conditions: tuple[tuple[str, str], ...] = ()
        if task == "full":
            chosen = draw(st.lists(st.sampled_from(list(CONDITIONS)), max_size=3, unique=True))
            conditions = tuple((role, draw(st.sampled_from(CONDITIONS[role]))) for role in chosen)
        negated = task == "full" and draw(st.integers(0, 3)) == 0
        made.append(Event(f"E{number}", label, core, conditions, negated))
    return tuple(made)


def documents(
    task: str, *, equivalences: bool = False, least: int = 1
) -> st.SearchStrategy[list[Document]]:
    """Documents, each an example: a call of the scorer takes long, one more document does not."""
    groups = st.sampled_from([(), (), ("T1", "T2"), ("T3", "T4")] if equivalences else [()])
    listed = st.lists(st.tuples(events(task), events(task), groups), min_size=least, max_size=8)
    return listed.map(
        lambda made: [Document(f"d{at}", *sides) for at, sides in enumerate(made)]  # type: ignore[arg-type]
    )


def files(document: Document, draw: random.Random | None = None) -> dict[str, str]:
    """The files of a document; with `draw`, their lines in any order."""
    sides = {
        side: [line for n, event in enumerate(made, 1) for line in event.lines(n)]
        for side, made in (("a2", document.reference), ("system", document.system))
    }
    if document.equivalent:
        sides["a2"].append(f"*\tEquiv {' '.join(document.equivalent)}")
    sides["a1"] = [f"{name}\t{label} 0 1\tx" for name, label in ENTITIES.items()]
    for lines in sides.values():
        if draw:
            draw.shuffle(lines)
    return {name: "".join(f"{line}\n" for line in lines) for name, lines in sides.items()}


def corpus(named: dict[str, str]) -> Corpus:
    members = tuple(
        Member(name, name, len(text), text.encode) for name, text in sorted(named.items())
    )
    return Corpus.concat(r.corpus for r in FORMAT.read(Source("corpus", "folder", members)))


def corpora(listed: Sequence[Document], draw: random.Random | None = None) -> tuple[Corpus, Corpus]:
    reference, system = {}, {}
    for document in listed:
        made = files(document, draw)
        reference |= {f"{document.name}.{suffix}": made[suffix] for suffix in ("a1", "a2")}
        reference[f"{document.name}.txt"] = "x"
        system[f"{document.name}.a2"] = made["system"]
    return corpus(reference), corpus(system)


Counts = dict[str, tuple[int, int, int, int]]


def counted(
    task: str, profile: str, listed: Sequence[Document], draw: random.Random | None = None
) -> Counts:
    """References, predictions, pairs and summed similarity of the main scoring, by document."""
    metric = load(f"seedev-{task}").scorer(profile)
    counts, _ = metric.statistics(*corpora(listed, draw))
    overall = {"full": "Main scoring", "binary": "All Relations"}[task]
    main = counts.filter(evaluation="Standard pairing", scoring=overall)
    found = main.select("document", "references", "predictions", "pairs", "matched")
    by_name = {name: tuple(row) for name, *row in found.iter_rows()}
    return {document.name: by_name.get(document.name, (0, 0, 0, 0)) for document in listed}  # type: ignore[misc]


def metrics(task: str, profile: str, listed: Sequence[Document]) -> dict[str, float | None]:
    metric = load(f"seedev-{task}").scorer(profile)
    counts, _ = metric.statistics(*corpora(listed))
    return metric.score(metric.total([counts]))[0]


class ByDefinition:
    """The similarity of two events of one document, step by step as it is described."""

    def __init__(self, document: Document, *, official: bool) -> None:
        self.document, self.official = document, official
        self.dangling = count()
        self.ours = {event.name: event for event in document.reference}
        self.theirs = {event.name: event for event in document.system}

    def same(self, target: str, side: str) -> object:
        """Equal where two fillers are the same."""
        known = self.ours if side == "reference" else self.theirs
        if target in ENTITIES:
            group = () if self.official else self.document.equivalent
            return group[0] if target in group else target
        if target not in known:
            return next(self.dangling)  # leads nowhere: like nothing else
        event = known[target]
        if self.official:
            return (event.label, tuple(sorted(role for role, _ in event.core)))
        return self.content(event, side)

    def thing(self, target: str, side: str) -> object:
        """Equal where two fillers are counted as one."""
        if self.official and target not in ENTITIES:
            return (side, target) if target[0] == "E" else next(self.dangling)
        return self.same(target, side)

    def content(self, event: Event, side: str) -> object:
        said = [
            ("" if event.label in COMMUTE else role, self.same(target, side))
            for role, target in event.core
        ]
        return event.label, tuple(sorted(said, key=repr))

    def similarity(self, ours: Event, theirs: Event) -> Fraction:
        if self.official:
            shapes = [(e.label, {role for role, _ in e.core}) for e in (ours, theirs)]
            alike = shapes[0] == shapes[1]
        else:
            alike = self.content(ours, "reference") == self.content(theirs, "system")
        if not alike:
            return Fraction(0)
        left, right = dict(ours.conditions), dict(theirs.conditions)
        errors, union = 0, set()
        for role in CONDITIONS:
            if role in left and role in right:
                a, b = self.same(left[role], "reference"), self.same(right[role], "system")
                errors += 2 * (a != b)
                if not self.official:
                    union |= {a, b}
            elif role in left or role in right:
                errors += 1
                if not self.official:
                    union.add(
                        self.same(left[role], "reference")
                        if role in left
                        else self.same(right[role], "system")
                    )
        if self.official:
            union = {self.thing(target, "reference") for target in left.values()}
            union |= {self.thing(target, "system") for target in right.values()}
        optional = 1 - Fraction(errors, len(union)) if union else Fraction(1)
        return optional / (1 if ours.negated == theirs.negated else 2)

    def candidates(self) -> dict[tuple[int, int], Fraction]:
        similar = {
            (i, j): self.similarity(ours, theirs)
            for i, ours in enumerate(self.document.reference)
            for j, theirs in enumerate(self.document.system)
        }
        return {pair: value for pair, value in similar.items() if value > 0}


def best(candidates: dict[tuple[int, int], Fraction]) -> tuple[Fraction, int]:
    """The greatest sum of any pairing, and of these the greatest number of pairs."""
    if not candidates:
        return Fraction(0), 0
    (i, j), value = next(iter(candidates.items()))
    without = best({pair: v for pair, v in candidates.items() if pair != (i, j)})
    rest, pairs = best({(a, b): v for (a, b), v in candidates.items() if a != i and b != j})
    return max(without, (value + rest, pairs + 1))


def reciprocal(candidates: dict[tuple[int, int], Fraction]) -> tuple[Fraction, int]:
    """The sum and the number of pairs where the heaviest, then the first, is always taken."""
    total, pairs, left = Fraction(0), 0, dict(candidates)
    while left:
        i, j = min(left, key=lambda pair: (-left[pair], pair))
        total, pairs = total + left[i, j], pairs + 1
        left = {(a, b): v for (a, b), v in left.items() if a != i and b != j}
    return total, pairs


def defined(document: Document, *, official: bool) -> tuple[int, int, int, int]:
    candidates = ByDefinition(document, official=official).candidates()
    matched, pairs = (reciprocal if official else best)(candidates)
    return len(document.reference), len(document.system), pairs, int(matched * UNIT)


def equivalence(*targets: str, negated: bool = False) -> tuple[Event, ...]:
    """An event whose arguments may change places."""
    core = tuple(zip(("Element1", "Element2"), targets, strict=True))
    return (Event("E1", "Functional_Equivalence", core, negated=negated),)


TURNED = [
    Document("d0", equivalence("T1", "T2"), equivalence("T2", "T1")),
    Document("d1", equivalence("T1", "T2"), equivalence("T1", "T2", negated=True)),
]
"""What is seldom drawn: arguments in another order, and a negation on one side only."""


@pytest.mark.parametrize("profile", ["plan", "official"])
def test_full_is_scored_as_defined(profile: str) -> None:
    @example(TURNED)
    @given(documents("full", equivalences=True, least=5))
    @settings(max_examples=tries(8), deadline=None)
    def hold(listed: list[Document]) -> None:
        expected = {d.name: defined(d, official=profile == "official") for d in listed}
        assert counted("full", profile, listed) == expected

    hold()


def multiset(document: Document, side: str, *, merged: bool) -> Counter[object]:
    keys: list[object] = []
    for event in document.reference if side == "reference" else document.system:
        label = event.label
        if merged and label == "Has_Sequence_Identical_To":
            label = "Is_Functionally_Equivalent_To"
        said = [
            (
                "" if label in COMMUTE else role,
                document.equivalent[0] if target in document.equivalent else target,
            )
            for role, target in event.core
        ]
        keys.append((label, tuple(sorted(said))))
    return Counter(keys)


@pytest.mark.parametrize("profile", ["plan", "official"])
def test_binary_is_scored_as_defined(profile: str) -> None:
    @given(documents("binary", equivalences=True, least=5))
    @settings(max_examples=tries(8), deadline=None)
    def hold(listed: list[Document]) -> None:
        expected = {}
        for document in listed:
            ours, theirs = (
                multiset(document, side, merged=profile == "official")
                for side in ("reference", "system")
            )
            pairs = (ours & theirs).total()
            expected[document.name] = (ours.total(), theirs.total(), pairs, pairs * UNIT)
        assert counted("binary", profile, listed) == expected

    hold()


def renamed(document: Document, draw: random.Random) -> Document:
    """The same events under other identifiers, each side by itself."""

    def rename(made: tuple[Event, ...]) -> tuple[Event, ...]:
        numbers = draw.sample(range(1, 99), len(made))
        names = {event.name: f"E{n}" for event, n in zip(made, numbers, strict=True)}
        # What leads nowhere goes on to lead nowhere.
        names |= {f"E{n}": f"E{1000 + n}" for n in range(1, 4) if f"E{n}" not in names}
        return tuple(
            replace(
                event,
                name=names[event.name],
                core=tuple((role, names.get(t, t)) for role, t in event.core),
                conditions=tuple((role, names.get(t, t)) for role, t in event.conditions),
            )
            for event in made
        )

    return replace(document, reference=rename(document.reference), system=rename(document.system))


CASES = [("full", "plan"), ("full", "official"), ("binary", "plan"), ("binary", "official")]


@pytest.mark.parametrize(("task", "profile"), CASES)
def test_the_names_of_events_do_not_matter(task: str, profile: str) -> None:
    @given(documents(task, least=4), st.randoms(use_true_random=False))
    @settings(max_examples=3, deadline=None)
    def hold(listed: list[Document], draw: random.Random) -> None:
        other = [renamed(document, draw) for document in listed]
        assert counted(task, profile, other) == counted(task, profile, listed)

    hold()


# Ties of the greedy pairing of full are taken in the order of the lines: there it may matter.
@pytest.mark.parametrize(("task", "profile"), [case for case in CASES if case != CASES[1]])
def test_the_order_of_lines_does_not_matter(task: str, profile: str) -> None:
    @given(documents(task, equivalences=True, least=4), st.randoms(use_true_random=False))
    @settings(max_examples=3, deadline=None)
    def hold(listed: list[Document], draw: random.Random) -> None:
        assert counted(task, profile, listed, draw) == counted(task, profile, listed)

    hold()


@pytest.mark.parametrize(("task", "profile"), CASES)
def test_documents_are_scored_each_by_itself(task: str, profile: str) -> None:
    @given(documents(task, equivalences=True, least=4))
    @settings(max_examples=3, deadline=None)
    def hold(listed: list[Document]) -> None:
        together = counted(task, profile, listed)
        names = [document.name for document in listed]
        turned = dict(zip(names, names[::-1], strict=True))
        other = counted(task, profile, [replace(d, name=turned[d.name]) for d in listed])
        assert {name: other[turned[name]] for name in names} == together
        assert counted(task, profile, listed[:1]) == {names[0]: together[names[0]]}

    hold()


Change = Callable[[Document], Document]


def swapped(document: Document) -> Document:
    return replace(document, reference=document.system, system=document.reference)


def perfect(document: Document) -> Document:
    return replace(document, system=document.reference)


def with_wrong(document: Document) -> Document:
    """With one more prediction, like no event of the reference."""
    wrong = Event("E9", "Interaction", (("Agent", "T10"), ("Target", "T6")))
    return replace(document, system=(*document.system, wrong))


def with_right(document: Document) -> Document:
    """With one more prediction, a copy of the first event of the reference."""
    copies = [replace(event, name="E9") for event in document.reference[:1]]
    return replace(document, system=(*document.system, *copies))


@given(documents("full", least=3))
@settings(max_examples=tries(5), deadline=None)
def test_exchanging_the_sides_exchanges_recall_and_precision(listed: list[Document]) -> None:
    one, two = (metrics("full", "plan", d) for d in (listed, list(map(swapped, listed))))
    for left, right in (("recall", "precision"), ("insertions", "deletions"), ("f1", "f1")):
        assert one[left] == two[right]
        assert one[right] == two[left]
    assert (one["references"], one["matches"]) == (two["predictions"], two["matches"])


@given(documents("binary", least=3))
@settings(max_examples=4, deadline=None)
def test_exchanging_the_sides_of_binary_too(listed: list[Document]) -> None:
    one, two = (metrics("binary", "plan", d) for d in (listed, list(map(swapped, listed))))
    assert (one["recall"], one["precision"]) == (two["precision"], two["recall"])


@pytest.mark.parametrize(("task", "profile"), CASES)
def test_scores_keep_within_bounds(task: str, profile: str) -> None:
    @given(documents(task, equivalences=True))
    @settings(max_examples=4, deadline=None)
    def hold(listed: list[Document]) -> None:
        found = metrics(task, profile, listed)
        assert all(0 <= (found[name] or 0) <= 1 for name in ("f1", "recall", "precision"))
        assert found["ser"] is None or found["ser"] >= 0
        matches, references, predictions = (
            found[name] or 0 for name in ("matches", "references", "predictions")
        )
        assert 0 <= matches <= min(references, predictions)
        for name, whole in (("recall", references), ("precision", predictions)):
            assert found[name] == (pytest.approx(matches / whole) if whole else None)

    hold()


@pytest.mark.parametrize("task", ["full", "binary"])
def test_perfect_predictions_are_perfect(task: str) -> None:
    @given(documents(task, equivalences=True))
    @settings(max_examples=tries(5), deadline=None)
    def hold(listed: list[Document]) -> None:
        # An argument that leads nowhere is never right, not even where the reference has it.
        listed = [d for d in map(perfect, listed) if "T99" not in repr(d) and not dangling(d)]
        found = metrics(task, "plan", listed)
        assume(found["references"])
        assert (found["f1"], found["recall"], found["precision"], found["ser"]) == (1, 1, 1, 0)

    hold()


def dangling(document: Document) -> bool:
    names = {event.name for event in document.reference}
    targets = {t for event in document.reference for _, t in event.core + event.conditions}
    return any(target.startswith("E") and target not in names for target in targets)


@given(documents("full", equivalences=True, least=4))
@settings(max_examples=tries(6), deadline=None)
def test_one_more_prediction_does_what_it_should(listed: list[Document]) -> None:
    before = counted("full", "plan", listed)
    wrong = counted("full", "plan", list(map(with_wrong, listed)))
    right = counted("full", "plan", list(map(with_right, listed)))
    for document in listed:
        references, predictions, pairs, matched = before[document.name]
        assert wrong[document.name] == (references, predictions + 1, pairs, matched)
        assert right[document.name][3] >= matched


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("task", "profile"), CASES)
def test_batches_do_not_matter(task: str, profile: str, tmp_path: Path) -> None:
    """Twelve documents, of which the submission lacks two and has one of its own."""
    draw = random.Random(3)
    listed = [Document(f"d{at:02}", *sample(task, draw)) for at in range(12)]
    for document in listed:
        made = files(document)
        for folder, suffixes in (("reference", ("a1", "a2")), ("system", ("system",))):
            (tmp_path / folder).mkdir(exist_ok=True)
            for suffix in suffixes:
                name = f"{document.name}.{suffix.replace('system', 'a2')}"
                (tmp_path / folder / name).write_text(made[suffix], "utf-8")
        (tmp_path / "reference" / f"{document.name}.txt").write_text("x", "utf-8")
    for name in ("d03", "d07"):
        (tmp_path / "system" / f"{name}.a2").unlink()
    (tmp_path / "system" / "d99.a2").write_text(files(listed[0])["system"], "utf-8")
    paths = (str(tmp_path / "reference"), str(tmp_path / "system"))
    each = [
        score(f"seedev-{task}", *paths, profile=profile, lenient=True, batch=size)
        for size in (2, 7, 500)
    ]
    first = each[0].to_dict()
    assert first["metrics"]["matches"] > 3
    for other in each[1:]:
        assert other.to_dict() == first
        assert other.verdict == each[0].verdict


def sample(task: str, draw: random.Random) -> tuple[tuple[Event, ...], tuple[Event, ...]]:
    """Events of both sides, drawn so that about half of them have a partner."""
    cores = CORES if task == "full" else BINARY
    made = []
    for number in range(1, 9):
        label, roles = draw.choice(list(cores.items()))
        core = tuple(
            (role, draw.choice([t for t in targets if t[0] != "E"])) for role, targets in roles
        )
        chosen = draw.sample(list(CONDITIONS), draw.randint(0, 3)) if task == "full" else []
        conditions = tuple((role, draw.choice(CONDITIONS[role])) for role in chosen)
        made.append(Event(f"E{number}", label, core, conditions))
    halves = (draw.sample(made, 6), draw.sample(made, 6))
    return tuple(halves[0]), tuple(halves[1])
