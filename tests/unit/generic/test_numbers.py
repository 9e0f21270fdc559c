"""Labels that are numbers: scipy and a computation by force beside ours, and scores of files."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hlteval import compare, score
from hlteval.converters import load
from hlteval.representation import Corpus
from hlteval.scoring.generic.labels import Options
from hlteval.scoring.generic.numbers import Numbers, RankCorrelation, average_ranks, correlation
from hlteval.scoring.metric import weigh
from hlteval.sources import open_source
from hlteval.tasks.generic.declaration import NUMBERS
from hlteval.workflows.convert.inputs import detect_format
from tests.effort import tries

HEADER = "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\tscore\n"
#: Some are equal; others differ little from their mean, or by many powers of ten.
NUMBER = st.one_of(
    st.sampled_from([0.0, 1.0, 2.5, 5.0]),
    st.floats(-1e6, 1e6, allow_subnormal=False),
    st.floats(2000, 2001).map(lambda number: round(number, 3)),
)
PAIRS = st.lists(st.tuples(NUMBER, NUMBER), max_size=12)


def corpus(labels: Sequence[object]) -> Corpus:
    rows = [
        {"row": at, "document": at, "origin": 0, "record": 1, "kind": "label", "label": str(label)}
        for at, label in enumerate(labels)
        if label is not None
    ]
    documents = [{"row": at, "name": f"d{at:02}"} for at in range(len(labels))]
    return Corpus(documents=documents, instances=rows)


def numbers(reference: Sequence[object], system: Sequence[object], **options: object):
    metric = Numbers("plan", Options(kind="numbers", **options))
    counts, _ = metric.statistics(corpus(reference), corpus(system), alignment=False)
    values, _ = metric.score(total := metric.total([counts]))
    return metric, counts, {n: np.nan if v is None else v for n, v in values.items()}, total


@given(pairs=PAIRS)
@settings(max_examples=tries(80), deadline=None)
def test_values_are_those_of_scipy(pairs: list[tuple[float, float]]) -> None:
    x, y = np.array(pairs).reshape(-1, 2).T
    found = numbers(x.tolist(), y.tolist())[2]
    wanted = {"mse": np.nan, "mae": np.nan, "pearson": np.nan, "spearman": np.nan}
    if len(x):
        wanted |= {"mse": np.mean((x - y) ** 2), "mae": np.mean(np.abs(x - y))}
    if len(x) > 1 and np.ptp(x) and np.ptp(y):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nearly constant
            wanted["pearson"] = stats.pearsonr(x, y).statistic
            wanted["spearman"] = stats.spearmanr(x, y).statistic
    assert found == pytest.approx(wanted, rel=1e-9, abs=1e-7, nan_ok=True)
    by_force = [(x < each).sum() + ((x == each).sum() + 1) / 2 for each in x]
    assert average_ranks(x, np.ones(len(x))).tolist() == by_force


@given(
    rows=st.lists(st.tuples(NUMBER, NUMBER, st.integers(0, 3)), min_size=2, max_size=8),
    limits=st.sampled_from([(), (0.0, 5.0), (0.0, np.inf), (-np.inf, np.inf)]),
)
@settings(max_examples=tries(40), deadline=None)
def test_replicates_are_documents_that_are_repeated(
    rows: list[tuple[float, float, int]], limits: tuple[float, ...]
) -> None:
    x, y, times = np.array(rows).T
    metric, counts, *_ = numbers(x.tolist(), y.tolist(), range=limits)
    documents = metric.documents(counts)
    weights = np.array([times, np.ones_like(times)], dtype=np.int64)
    found = metric.values_of(weigh(weights, metric.document_sums(counts, documents)))
    ranks = RankCorrelation("plan", metric).replicates(counts, documents, weights)["spearman"]
    for at, row in enumerate(weights):
        again, other = np.repeat(x, row), np.repeat(y, row)
        wanted = numbers(again.tolist(), other.tolist())[2]
        assert ranks[at] == pytest.approx(wanted["spearman"], nan_ok=True)
        own = {name: found[name][at] for name in ("mse", "mae")}
        assert own == pytest.approx({name: wanted[name] for name in own}, nan_ok=True)
        spread = [np.ptp(side) / (1 + np.abs(side).max()) for side in (again, other) if len(side)]
        if min(spread, default=0) > 1e-3:  # sums of squares keep fewer digits than deviations
            assert found["pearson"][at] == pytest.approx(wanted["pearson"], abs=1e-6)


def test_the_range_keeps_the_digits_of_large_numbers() -> None:
    x, y = [1e9 + at for at in range(12)], [1e9 + (at * 7) % 12 for at in range(12)]
    metric, counts, values, _ = numbers(x, y, range=(1e9, 1e9 + 12))
    sums = metric.document_sums(counts, metric.documents(counts))
    (found,) = metric.values_of(weigh(np.ones((1, 12), dtype=np.int64), sums))["pearson"]
    assert found == pytest.approx(values["pearson"], abs=1e-12)
    assert values["pearson"] == pytest.approx(
        correlation(np.arange(12.0), np.array(y), np.ones(12))
    )


@pytest.mark.parametrize("label", ["high", "nan", "inf", "-inf", "1e101", "3,5", "", None])
def test_documents_without_a_number_are_left_out(label: str | None) -> None:
    metric, _, values, total = numbers(["1", "2", "4", "3"], ["1", "2", "3", label])
    assert values == pytest.approx(
        {"pearson": 3 / np.sqrt(14 / 3 * 2), "spearman": 1, "mse": 1 / 3, "mae": 1 / 3}
    )
    assert metric.notes(total) == ("1 document without a number of the system left out",)
    _, _, reverse, _ = numbers(["1", "2", "3", label], ["1", "2", "4", "3"])
    assert reverse == pytest.approx(values)


def test_correlation_with_equal_numbers_is_undefined() -> None:
    metric, _, values, total = numbers(["1", "2", "4"], ["0.1", "0.1", "0.10"])
    assert np.isnan(values["pearson"])
    assert np.isnan(values["spearman"])
    assert values["mae"] == pytest.approx((0.9 + 1.9 + 3.9) / 3)
    assert metric.notes(total) == ("correlation is undefined: all numbers of the system are equal",)
    assert numbers(["1"], ["1"])[2] == pytest.approx(
        {"pearson": np.nan, "spearman": np.nan, "mse": 0, "mae": 0}, nan_ok=True
    )


def test_measures_maps_and_ignored_labels() -> None:
    options = {"also": ("mae",), "ignore": ("-",), "map": {"low": "1"}}
    *_, found, _ = numbers(["low", "2", "-"], ["1", "low", "3"], **options)
    assert found == {"mae": 0.5}


def glue(folder: Path, gold: Sequence[float], *systems: Sequence[float]) -> list[str]:
    """A table of STS-B, and submissions to it."""
    rows = "".join(f'{at}\tmain\tx\t2012\t0\tnone\tnone\tA "b.\tC.\t{n:.3f}\n'
                   for at, n in enumerate(gold))  # fmt: skip
    (folder / "dev.tsv").write_text(HEADER + rows)
    paths = [str(folder / "dev.tsv")]
    for number, own in enumerate(systems):
        rows = "".join(f"{at}\t{n}\n" for at, n in enumerate(own))
        (folder / f"STS-B{number}.tsv").write_text(f"index\tprediction\n{rows}")
        paths.append(str(folder / f"STS-B{number}.tsv"))
    return paths


@pytest.fixture
def sides(tmp_path: Path) -> list[str]:
    random = np.random.default_rng(3)
    gold = random.uniform(0, 5, 40).round(1)
    return glue(tmp_path, gold, *(gold + random.normal(0, noise, 40) for noise in (0.4, 2.0)))


def declare(folder: Path, text: str = "") -> str:
    path = folder / "own.task.toml"
    path.write_text(f'[task]\nunit = "labels"\n[labels]\nkind = "numbers"\n{text}')
    return str(path)


def test_intervals_differences_and_documents(sides: list[str], tmp_path: Path) -> None:
    task = declare(tmp_path, '[scores]\nprimary = "spearman"\nby = ["document"]\n')
    found = score(task, sides[0], sides[1], bootstrap=200)
    assert found.primary == "spearman"
    assert list(found.metrics) == list(NUMBERS)
    for name, value in found.metrics.items():
        least, most = found.intervals[name]
        assert least < value < most
    alone = found.tables["by_document"]
    assert alone["mae"].mean() == pytest.approx(found.metrics["mae"])
    assert alone["spearman"].null_count() == alone.height
    both = compare(task, sides[0], sides[1:])
    (difference,) = both.differences
    better, worse = (score(task, sides[0], side).metrics["spearman"] for side in sides[1:])
    assert difference.difference == pytest.approx(better - worse)
    assert difference.probability is not None
    assert difference.probability < 0.05


def test_the_option_selects_numbers(sides: list[str]) -> None:
    found = score("labels", sides[0], sides[1], options={"kind": "numbers"})
    assert (found.primary, list(found.metrics)) == ("pearson", list(NUMBERS))
    assert "kind:numbers" in found.signature


def test_a_declared_primary_metric_of_segments_ranks(tmp_path: Path) -> None:
    folder = Path(__file__).parents[3] / "fixtures" / "segments" / "valid"
    task = tmp_path / "own.task.toml"
    task.write_text('[task]\nunit = "segments"\n[scores]\nprimary = "jer"\n')
    paths = [str(next(folder.glob(f"{side}*"))) for side in ("reference", "submission")]
    assert score(str(task), *paths).primary == "jer"
    assert score(str(task), *paths, options={"measures": "purity"}).primary == "purity"


@pytest.mark.parametrize(
    ("header", "row", "table"),
    [
        (HEADER.strip(), '0\tmain\tx\t2012\t0\tnone\tnone\tA "b.\tC.\t3.8', "sts-b"),
        ("index\tsentence1\tsentence2\tlabel", "0\tA\tB\tentailment", "rte"),
        ("index\tquestion\tsentence\tlabel", "0\tA\tB\tnot_entailment", "qnli"),
        ("sentence\tlabel", "a film\t1", "sst-2"),
        ("Quality\t#1 ID\t#2 ID\t#1 String\t#2 String", "1\t702876\t702977\tA\tB", "mrpc"),
        ("id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate", "7\t1\t2\tA\tB\t0", "qqp"),
        ("index\tprediction", "0\t3.8", ""),
    ],
)
def test_tables_of_glue_are_found_by_their_headers(
    header: str, row: str, table: str, tmp_path: Path
) -> None:
    path = tmp_path / "dev.tsv"
    path.write_text(f"{header}\n{row}\n")
    form = detect_format(open_source(str(path)))
    assert form.name == "label-table"
    (result,) = form.with_settings({"glue": table}).read(open_source(str(path)))
    assert result.findings == ()
    label = row.split("\t")[0 if table == "mrpc" else -1]
    assert result.corpus.instances["label"].to_list() == [label]


@pytest.mark.parametrize("header", ["index\tscore", "sentence1\tscore", "a\tb", "Quality\tx"])
def test_other_tables_are_not_found(header: str, tmp_path: Path) -> None:
    path = tmp_path / "dev.tsv"
    path.write_text(f"{header}\n0\t3.8\n")
    assert not load("label-table").sniff(open_source(str(path)))
