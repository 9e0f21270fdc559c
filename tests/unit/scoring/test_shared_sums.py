"""What systems, draws and pairs share gives what each of them gives by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import hlteval
from benchmarks.generators import generator
from hlteval import tasks
from hlteval.scoring.edl.metric import LinkMatch
from hlteval.scoring.hub4.metric import TempletteMatch
from hlteval.scoring.intervals import deletions, groups
from hlteval.scoring.metric import AdditiveMetric, Metric, Replicates, Sums, columns_of
from hlteval.scoring.resampling import Pair, Sample, Swaps, draws, over, resample
from hlteval.workflows.run import batches
from tests.unit.scoring.counts_only import CountsOnly

DEMO = Path(__file__).parents[3] / "hlteval" / "demo"
Rows = dict[str, tuple[float, float]]


@dataclass(frozen=True)
class Share(CountsOnly, AdditiveMetric):
    """The share of what is right, of sums of two columns."""

    def document_sums(self, counts: pl.DataFrame, documents: Sequence[str]) -> Sums:
        return {"": columns_of(counts, ["right", "all"], documents)}

    def values_of(self, sums: Sums) -> Replicates:
        return {"share": sums[""][:, 0] / sums[""][:, 1]}


@dataclass(frozen=True)
class Alone(Share):
    """The same, of which nobody knows that it is computed from sums."""

    def document_sums(self, counts: pl.DataFrame, documents: Sequence[str]) -> Sums:
        return None  # type: ignore[return-value]

    def replicates(
        self, counts: pl.DataFrame, documents: Sequence[str], weights: np.ndarray
    ) -> Replicates:
        sums = Share.document_sums(self, counts, documents)
        return self.values_of({"": weights @ sums[""]})


def counted(rows: Rows) -> pl.DataFrame:
    values = [(name, *own) for name, own in rows.items()]
    schema = {"document": pl.String, "right": pl.Float64, "all": pl.Float64}
    return pl.DataFrame(values, schema, orient="row")


def share(rows: Iterable[tuple[float, float]]) -> float:
    both = [*rows]
    return sum(right for right, _ in both) / sum(size for _, size in both)


FIRST: Rows = {"a": (3, 4), "b": (1, 5), "c": (2, 3), "d": (2, 2), "e": (7, 9)}
WHOLE: Rows = {"a": (1, 4), "b": (2, 5), "c": (1, 3), "d": (2, 2), "f": (1, 2)}
FRACTIONS: Rows = {"a": (1.1, 4), "b": (2.7, 5), "c": (0.1, 3), "d": (2, 2), "f": (1.3, 2)}


def swapped_share(first: Rows, second: Rows, names: Sequence[str], swaps: Sequence[int]) -> float:
    """The difference when the systems change places in some documents."""
    sides: tuple[list[tuple[float, float]], ...] = ([], [])
    for name, swap in zip(names, swaps, strict=True):
        both = [side.get(name, (0, 0)) for side in (first, second)]
        for side, own in zip(sides, both[::-1] if swap else both, strict=True):
            side.append(own)
    return share(sides[0]) - share(sides[1])


@pytest.mark.parametrize("metric", [Share(), Alone()], ids=["sums", "one by one"])
@pytest.mark.parametrize("second", [WHOLE, FRACTIONS], ids=["whole", "fractions"])
def test_permutations_are_those_of_each_way_by_itself(metric: Share, second: Rows) -> None:
    names = sorted({*FIRST, *second})
    pair = Pair.of(metric, counted(FIRST), counted(second))
    assert pair.differing == (0, 1, 2, 4, 5)  # not the one that is the same
    found = pair.permutation(32, seed=0)
    ways = [(0, *swaps[:2], 0, *swaps[2:]) for swaps in product((0, 1), repeat=4)]
    expected = [swapped_share(FIRST, second, names, way) for way in ways]
    assert sorted(found.differences["share"]) == pytest.approx(sorted(expected))
    drawn = pair.permutation(31, seed=5)
    swaps = np.random.default_rng(5).integers(0, 2, (31, 6))
    expected = [swapped_share(FIRST, second, names, way) for way in swaps.tolist()]
    assert drawn.differences["share"].tolist() == pytest.approx(expected)
    assert not drawn.exact


def test_pairs_that_share_draws_have_those_that_they_have_alone() -> None:
    systems = [FIRST, WHOLE, FRACTIONS, {"a": (1, 4), "c": (3, 3)}]
    names = tuple(sorted({name for rows in systems for name in rows}))
    samples = [Sample(Share(), counted(rows), names) for rows in systems]
    for one, other in combinations(samples, 2):
        documents = tuple(sorted({*one.own_documents, *other.own_documents}))
        mine, yours = (sample.within(documents) for sample in (one, other))
        swaps = Swaps([mine, yours, samples[0].within(documents)], 6, seed=3)
        shared = Pair(mine, yours).permutation(6, 3, swaps)
        alone = Pair.of(Share(), one.counts, other.counts).permutation(6, seed=3)
        assert shared.differences["share"].tolist() == alone.differences["share"].tolist()
        assert shared.differing == alone.differing


def test_resamples_of_several_systems_are_those_of_each_and_of_every_draw() -> None:
    names = ("a", "b", "c", "d", "e", "f")
    systems = (FIRST, WHOLE, FRACTIONS)
    together = resample([Sample(Share(), counted(rows), names) for rows in systems], 50, seed=1)
    (weights,) = draws(6, 50, seed=1)
    for rows, found in zip(systems, together, strict=True):
        values = found["share"].tolist()
        assert values == over(Share(), counted(rows), names, 50, seed=1)["share"].tolist()
        expected = [
            share(rows.get(name, (0, 0)) for name in np.repeat(names, times)) for times in weights
        ]
        assert values == pytest.approx(expected)


SCORED = [name for name in tasks.BUILTIN if tasks.load(name).metric]
#: Metrics that programs compute that are not there, or of nothing but the number of segments.
LEFT_OUT = {"lorehlt-mt": ("meteor", "ter")}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("task", SCORED)
@pytest.mark.parametrize("profile", ["plan", "official"])
def test_documents_by_themselves_and_groups_are_scored_as_one_by_one(
    task: str, profile: str
) -> None:
    """To the last digit where counts do not add, since wins and intervals depend on it."""
    declared = tasks.load(task)
    if profile not in declared.profiles:
        pytest.skip("the task has one profile")
    metric = declared.scorer(profile)
    counts, _ = metric.statistics(*generator(task)(9, 4, 1), alignment=False)
    names = metric.documents(counts)
    kept = (np.eye(len(names), dtype=np.int64), deletions(groups(len(names), 1, 4)))
    for part in metric.decompose([declared.ranking(profile, {})]):
        rows = part.total([counts]) if not part.additive else counts
        for weights in kept:
            found = part.replicates(counts, names, weights)
            if weights is kept[0]:
                found = part.alone(counts, names)
            expected = Metric.replicates(part, rows, names, weights)
            for name, values in found.items():
                if part.additive:
                    assert values == pytest.approx(expected[name], nan_ok=True), name
                else:
                    assert np.array_equal(values, expected[name], equal_nan=True), name


def calls(monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> Counter[str]:
    """Count the calls of a function or method from now on."""
    seen: Counter[str] = Counter()
    original: Callable[..., object] = getattr(owner, name)

    def counting(*arguments: object, **named: object) -> object:
        seen[name] += 1
        return original(*arguments, **named)

    monkeypatch.setattr(owner, name, counting)
    return seen


def test_a_system_is_counted_once_for_all_metrics_and_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = [f"comparison/{name}.tpl" for name in ("reference", "careful", "bold")]
    reference, *paths = (str(DEMO / file) for file in files)
    seen = [calls(monkeypatch, TempletteMatch, name) for name in ("statistics", "document_sums")]
    read = calls(monkeypatch, batches, "_join")
    board = hlteval.leaderboard("hub4", reference, paths, bootstrap=2000)
    assert len(board.systems) == len(paths) == 2
    assert len(board.metrics) > 2
    assert seen == [{"statistics": 2}, {"document_sums": 2}]
    assert read["_join"] == 2 + 1


def test_annotations_are_numbered_once_and_the_reference_is_read_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reference, system = (str(DEMO / "entities" / f"{name}.tab") for name in ("reference", "system"))
    encoded = calls(monkeypatch, LinkMatch, "_best_candidates")
    read = calls(monkeypatch, batches, "_join")
    hlteval.compare("lorehlt-edl", reference, {"a": system, "b": reference}, alignment=False)
    assert encoded["_best_candidates"] == 2 + 1  # and of nothing, to learn what is computed
    assert read["_join"] == 2 + 1
