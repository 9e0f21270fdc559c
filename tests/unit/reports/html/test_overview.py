"""The first screen of the report of scores, and the heat map of findings."""

from __future__ import annotations

import msgspec
import polars as pl
import pytest

from hlteval.findings import Finding, Findings, Severity
from hlteval.reports.html import make_page, overview
from hlteval.reports.html.alignment import REASON, alignment
from hlteval.reports.html.page import Breakdown, Curves, Page, Section, plain_table
from hlteval.reports.html.scores import HeatMap
from hlteval.results.scores import Scores
from hlteval.results.verdict import Verdict
from hlteval.tasks import load
from tests.unit.reports.html.test_alignment import mentions
from tests.unit.tasks.test_alignments import SCORED, scored


def cited(task: str) -> list[str]:
    return [fact.name for fact in overview.facts(scored(task), load(task)).facts]


def bars(scores: Scores, *, by_label: bool = False) -> list[overview.Outcomes]:
    aligned = alignment(scores)
    assert aligned is not None
    return list(overview.outcomes(aligned, scores.primary, by_label=by_label))


def parts(section: overview.Outcomes) -> dict[str, list[tuple[str, str, int]]]:
    return {
        name: [(part.title, part.kind, part.count) for part in each] for name, each in section.bars
    }


def test_the_headline_has_what_people_cite_and_no_counts() -> None:
    assert cited("lorehlt-edl") == [
        "strong_typed_all_match.fscore (primary)",
        "strong_typed_all_match.precision",
        "strong_typed_all_match.recall",
        "strong_mention_match.fscore",
        "strong_typed_mention_match.fscore",
    ]
    assert cited("bb16-cat") == ["precision (primary)"]
    assert cited("lorehlt-mt") == ["bleu (primary)", "ter", "chrf", "chrf_pp"]
    assert cited("seedev-full") == ["f1 (primary)", "recall", "precision", "ser"]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("task", SCORED)
def test_every_task_has_a_headline_and_a_bar_of_all_rows_that_are_scored(task: str) -> None:
    scores = scored(task)
    headline = overview.facts(scores, load(task)).facts
    assert headline[0].main
    assert len(headline) <= overview.CITED
    aligned = alignment(scores)
    assert aligned is not None
    kinds = {outcome.name: outcome.kind for outcome in aligned.outcomes}
    unscored = [name for name, kind in kinds.items() if kind == "unscored"]
    rows = aligned.counts.filter(~pl.col("outcome").is_in(unscored))
    single = [facet.column for facet in aligned.facets if facet.single]
    (section,) = bars(scores)
    ((_, shown),) = section.bars
    whole = (
        rows.group_by(single).agg(pl.col("count").sum())["count"] if single else rows["count"].sum()
    )
    assert sum(part.count for part in shown) in (whole if single else [whole])


def test_outcomes_are_parts_in_the_order_of_the_task() -> None:
    (section,) = bars(scored("mentions"))
    assert parts(section) == {
        "": [
            ("correct", "correct", 3),
            ("wrong label", "different-1", 1),
            ("wrong boundary", "different-2", 1),
            ("extra", "extra", 1),
        ]
    }
    assert [part.filters for part in section.bars[0][1]][1] == {"outcome": "wrong label"}


def test_what_is_wrong_is_known_where_the_outcome_does_not_say_it() -> None:
    wrong = [
        {"wrong": ["boundary"], "reference": "1-2", "system": "1-3"},
        {"wrong": ["type"], "reference_type": "PER", "system_type": "ORG"},
        {"wrong": ["link"], "reference_entity": "1", "system_entity": "2"},
        {"wrong": ["boundary", "type"], "reference": "1-2", "system": "1-3"},
    ]
    wrong[3] |= {"reference_type": "PER", "system_type": "ORG"}
    scores = mentions(*({"status": "wrong", **row} for row in wrong), {"status": "correct"})
    (section,) = bars(scores)
    assert parts(section)[""] == [
        ("correct", "correct", 1),
        ("wrong: boundary", "different-1", 1),
        ("wrong: type", "different-2", 1),
        ("wrong: entity", "different-3", 1),
        ("wrong: type, boundary", "different-3", 1),
    ]
    assert section.bars[0][1][1].filters == {"outcome": "wrong", "differs in": "boundary"}
    aligned = alignment(scores)
    assert aligned is not None
    assert aligned.rows[REASON].to_list() == ["boundary", "type", "entity", "type, boundary", None]


def test_rows_that_say_the_same_again_count_once_by_the_metric_that_ranks() -> None:
    (section,) = bars(scored("speech-sf"))
    assert parts(section)[""] == [("matched", "correct", 3), ("false positive", "extra", 1)]
    assert section.bars[0][1][0].filters == {"outcome": "matched", "layer": "Type"}


def test_rows_that_the_page_leaves_out_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hlteval.reports.html.alignment.MOST", 3)
    statuses = ["correct", "extra", "correct", "correct", "missing"]
    (section,) = bars(mentions(*({"status": status} for status in statuses)))
    assert [(name, count) for name, _, count in parts(section)[""]] == [
        ("correct", 3), ("missing", 1), ("extra", 1),
    ]  # fmt: skip


def test_labels_with_the_most_errors_are_first() -> None:
    rows = [("PER", "correct"), ("ORG", "missing"), ("PER", "extra"), ("ORG", "missing")]
    scores = mentions(*({"status": status, "reference_type": label} for label, status in rows))
    _, labels = bars(scores, by_label=True)
    assert parts(labels) == {
        "ORG": [("missing", "missing", 2)],
        "PER": [("correct", "correct", 1), ("extra", "extra", 1)],
    }
    assert labels.bars[0][1][0].filters == {"outcome": "missing", "type": "ORG"}


def labels(task: str) -> Breakdown | None:
    return overview.label_scores(scored(task), load(task), alignment(scored(task)))


def test_values_of_labels_are_those_of_the_metric_that_ranks_the_worst_first() -> None:
    found = labels("hub4")
    assert found is not None
    (name,) = found.measures
    assert name == "both.f"
    assert found.items[:2] == ["CONTEST.LOSER", "CONTEST.WINNER"]
    assert "all" not in found.items
    assert list(found.measures[name]) == sorted(value or 0 for value in found.measures[name])
    assert found.overall == {"both.f": (scored("hub4").metrics["both.f"], None)}


def test_labels_of_another_measure_have_no_value_of_all() -> None:
    found = labels("ccu-nd")
    assert found is not None and [*found.measures] == ["ap"] and found.overall == {}
    assert labels("lorehlt-edl") is None


def test_averages_over_labels_are_the_value_of_all_labels() -> None:
    found = labels("relations")
    assert found is not None
    assert [*found.measures] == ["f1"]
    assert found.overall == {"f1": (scored("relations").metrics["micro.f1"], None)}


def test_the_metric_that_ranks_may_be_that_of_one_label() -> None:
    found = labels("ccu-ta2")
    assert found is not None
    assert [*found.measures] == ["agreement"]
    assert "Operation 1" in found.items
    assert found.overall == {}


def test_an_outcome_with_the_name_of_the_label_needs_no_reason() -> None:
    (section,) = bars(scored("labels"))
    assert parts(section)[""] == [("correct", "correct", 2), ("wrong label", "different-1", 2)]


def test_labels_have_the_intervals_of_their_metrics() -> None:
    intervals = {"ap.101": (0.25, 0.75)}
    scores = msgspec.structs.replace(scored("ccu-nd"), intervals=intervals)
    found = overview.label_scores(scores, load("ccu-nd"), alignment(scores))
    assert found is not None
    ends = dict(zip(found.items, found.intervals["ap"], strict=True))
    assert ends.pop("101") == (0.25, 0.75)
    assert {*ends.values()} == {None}


def test_where_less_is_better_the_highest_is_the_worst() -> None:
    documents = {"document": ["a", "b", "c"], "ser": [0.5, 1.5, None]}
    scores = msgspec.structs.replace(
        scored("bb19-norm-ner"), primary="ser", by_document=pl.DataFrame(documents)
    )
    task = load("bb19-norm-ner")
    found = overview.document_scores(scores, task)
    assert found is not None and found.items == ["b", "a"]
    section = overview.worst_first(found, 3, task)
    assert section.title == "ser by document, highest first"
    assert section.intro == "b has the highest value, 1.5000. Undefined for 1 of 3."
    bounded = msgspec.structs.replace(scores, intervals={"ser": (0.25, 0.75)})
    found = overview.document_scores(bounded, task)
    assert found is not None
    assert found.overall == {"ser": (scores.metrics["ser"], (0.25, 0.75))}
    assert overview.worst_first(found, 3, task).intro.endswith("The band is the interval of all.")


def test_of_many_items_the_worst_are_shown() -> None:
    size = overview.WORST + 2
    found = Breakdown(
        "label", [f"l{n}" for n in range(size)], {"f1": [n / size for n in range(size)]}
    )
    section = overview.worst_first(found, size, load("seedev-full"))
    assert len(section.breakdowns[0].items) == overview.WORST
    assert "The 10 lowest of 12; all of them are under Breakdown." in section.intro
    same = Breakdown("label", ["a", "b"], {"f1": [1.0, 1.0]})
    assert overview.worst_first(same, 2, load("seedev-full")).intro.startswith("All of them have")


def finding(code: str, file: str | None, number: int) -> Finding:
    return Finding(
        code=code, name="n", severity=Severity.ERROR, blocking=False, message=str(number), file=file
    )


def heat_maps(*counts: tuple[str, str | None, int]) -> list[HeatMap]:
    found = Findings(finding(code, file, n) for code, file, size in counts for n in range(size))
    page = make_page(Verdict("seedev-full", "plan", passed=False, findings=found))
    assert isinstance(page, Page)
    every: list[Section] = [section for tab in page.tabs for section in tab.sections]
    return [section for section in every if isinstance(section, HeatMap)]


def test_more_than_twenty_findings_of_several_files_have_a_heat_map() -> None:
    assert heat_maps(("STD302", "a", 19), ("STD101", "b", 1)) == []
    assert heat_maps(("STD302", "a", 30), ("STD101", "a", 1)) == []
    (section,) = heat_maps(("STD101", "x/a", 1), ("STD302", "x/b", 15), ("STD302", None, 5))
    assert [code for code, _ in section.codes] == ["STD302", "STD101"]
    assert [(row.name, row.count) for row in section.rows] == [
        ("b", 15),
        ("(no file)", 5),
        ("a", 1),
    ]
    assert [row.cells for row in section.rows] == [
        [(15, 5), (0, 0)],
        [(5, 4), (0, 0)],  # log(6) / log(16) of five shades
        [(0, 0), (1, 2)],
    ]


def test_a_heat_map_says_which_files_it_lacks() -> None:
    many = [("STD302", f"{number:02}", 2) for number in range(23)]
    (section,) = heat_maps(*many)
    assert len(section.rows) == 20
    assert section.intro.startswith("3 more files have fewer findings. ")


def test_a_plain_table_has_the_first_rows_as_people_read_them() -> None:
    frame = pl.DataFrame({"f1": [0.5] * 101, "tp": range(101), "names": [["a", "b"]] * 101})
    table = plain_table(frame, title="t")
    assert table.header == ["f1", "tp", "names"]
    assert (table.rows[1], len(table.rows), table.height) == (["0.5000", "1", "a, b"], 100, 101)


def test_curves_are_tables_of_eleven_points_without_scripts() -> None:
    steps = [number / 100 for number in range(101)]
    long = pl.DataFrame({"recall": steps, "precision": [1 - step for step in steps]})
    (table,) = Curves(lines=[("a", long), ("b", long.head(2))]).plain_tables()
    assert table.header == ["curve", "recall", "precision"]
    assert table.rows[1] == ["a", "0.1000", "0.9000"]
    assert table.rows[10:] == [
        ["a", "1.0000", "0.0000"],
        ["b", "0.0000", "1.0000"],
        ["b", "0.0100", "0.9900"],
    ]
