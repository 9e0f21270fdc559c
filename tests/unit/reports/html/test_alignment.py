"""The section of an alignment: what it has of each row, and each context once."""

from __future__ import annotations

import json

import msgspec
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.reports.html import alignment as module
from hlteval.reports.html.alignment import Alignment, Errors, alignment, error_cards, mark, plain
from hlteval.reports.html.overview import outcomes
from hlteval.reports.html.page import as_json
from hlteval.results.scores import Scores
from hlteval.results.verdict import Verdict
from hlteval.scoring.edl.errors import ALIGNMENT
from hlteval.scoring.metric import TEXTS, Evidence
from hlteval.tasks import load
from hlteval.workflows.run.request import Intervals
from tests.cli.test_widths import SIDES
from tests.effort import tries
from tests.runs import compare
from tests.unit.tasks.test_alignments import scored


def section(task: str) -> Alignment:
    found = alignment(scored(task))
    assert found is not None
    return found


def mentions(*rows: dict[str, object], text: str | None = None) -> Scores:
    """Scores of lorehlt-edl with some rows of the alignment, all of the document `d`."""
    filled = [{"document": "d", "wrong": [], **row} for row in rows]
    table = pl.DataFrame(filled, schema=dict(ALIGNMENT))
    texts = pl.DataFrame([("d", text, None)], schema=dict(TEXTS), orient="row")
    return Scores(
        task="lorehlt-edl",
        profile="plan",
        signature="s",
        primary="f1",
        metrics={},
        intervals={},
        tables={"alignment": table},
        verdict=Verdict("lorehlt-edl", "plan", passed=True),
        evidence=Evidence(texts) if text is not None else None,
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("task", sorted(SIDES))
def test_every_column_has_a_value_of_every_row(task: str) -> None:
    data = json.loads(as_json(section(task).data()))
    rows = data["rows"]
    columns = [data["outcome"], data["document"], *data["details"], *data["facets"]]
    columns += [data["label"]] if data["label"] else []
    columns += [cell[side] for cell in data["cells"] for side in ("reference", "system")]
    assert rows
    for column in columns:
        assert column is None or len(column.get("values", column.get("at"))) == rows
    assert len(data["context"]) == rows
    assert {number for number in data["context"] if number is not None} == {
        *range(sum(len(json.loads(chunk)) for chunk in data["contexts"]))
    }


def test_a_side_without_a_partner_has_nothing() -> None:
    cells = {cell.title: cell for cell in section("lorehlt-sf").cells}
    outcomes = section("lorehlt-sf").rows["outcome"].to_list()
    at = outcomes.index("spurious")
    ours, theirs = (cells["type"].sides[side] for side in ("reference", "system"))
    assert ours is not None and theirs is not None
    assert (ours[at], theirs[at]) == (None, "infra")


def test_nil_identifiers_of_two_sides_do_not_differ() -> None:
    cells = {cell.title: cell for cell in section("lorehlt-edl").cells}
    assert not cells["entity"].differs.any()
    assert cells["mention"].differs.arg_true().to_list() == [2, 3]


def test_what_is_wrong_in_a_situation_is_marked() -> None:
    cells = {cell.title: cell for cell in section("speech-sf").cells}
    assert cells["place"].differs.sum() == 1


def test_errors_are_counted_by_what_outcomes_mean() -> None:
    rows = [{"status": status} for status in ("correct", "wrong", "missing", "extra", "extra")]
    found = alignment(mentions(*rows))
    assert found is not None and found.errors == 4


def test_errors_are_kept_where_there_are_too_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 3)
    statuses = ["correct", "extra", "correct", "correct", "missing"]
    found = alignment(mentions(*({"status": status} for status in statuses)))
    assert found is not None
    assert found.rows["outcome"].to_list() == ["correct", "extra", "missing"]
    assert found.left_out == 2
    assert "2 of 5 rows are left out" in found.intro


def test_the_text_around_both_sides_is_one_context() -> None:
    text = "In Osh, Daniel Omar of the UN met Mr Omar."
    row = {"status": "wrong", "wrong": ["boundary"], "reference": "27-28", "system": "23-28"}
    found = alignment(mentions(row, row, text=text))
    assert found is not None
    assert found.context == [0, 0]
    assert found.contexts == [
        (("In Osh, Daniel Omar of ", 0, "the ", 2, "UN", 3, " met Mr Omar.", 0),)
    ]


def test_places_outside_the_text_have_no_context() -> None:
    found = alignment(mentions({"status": "extra", "system": "90-95"}, text="Osh."))
    assert found is not None and found.context == [None]


def test_texts_that_differ_have_a_context_each() -> None:
    scores = mentions({"status": "wrong", "reference": "4-6", "system": "2-4"})
    texts = pl.DataFrame([("d", "the rye", "a rye")], schema=dict(TEXTS), orient="row")
    found = alignment(msgspec.structs.replace(scores, evidence=Evidence(texts)))
    assert found is not None and found.context == [0]
    assert found.contexts == [(("the ", 0, "rye", 1), ("a ", 0, "rye", 2))]


def test_a_hundred_thousand_rows() -> None:
    scores = mentions({"status": "extra", "system": "1-2", "system_text": "x"})
    many = pl.concat([scores.tables["alignment"]] * 100_000)
    found = alignment(msgspec.structs.replace(scores, tables={"alignment": many}))
    assert found is not None
    assert found.rows.height == 100_000
    assert len(as_json(found.data())) < 4_000_000


SPANS = st.lists(st.tuples(st.integers(-5, 250), st.integers(-5, 250)), max_size=3)


@settings(max_examples=tries(25))
@given(st.text("ab \n", max_size=200), SPANS, SPANS)
def test_what_is_marked_is_what_the_text_has_there(
    text: str, ours: list[tuple[int, int]], theirs: list[tuple[int, int]]
) -> None:
    text = plain(text)
    parts = mark(text, ours, theirs)
    shown = [(str(part), side) for part, side in zip(parts[::2], parts[1::2], strict=True)]
    for side, spans in ((1, ours), (2, theirs)):
        covered = {at for start, end in spans for at in range(max(start, 0), min(end, len(text)))}
        marks = "".join(part for part, who in shown if int(who) & side)
        assert marks.replace(" ", "") == "".join(
            text[at] for at in sorted(covered) if not text[at].isspace()
        )
    assert "\n" not in "".join(part for part, _ in shown)


def cards_of(task: str, *systems: str, **options: str) -> Errors:
    """The cards of a comparison of systems of which the last is the reference."""
    reference = SIDES[task][0]
    paths = [*systems, reference]
    comparison = compare(task, reference, paths, intervals=Intervals(9), options=options)
    assert comparison.errors is not None
    info = load(task).alignment_info
    assert info is not None
    return error_cards(info, comparison.errors)


def test_cards_of_systems_have_the_sides_of_each() -> None:
    cards = cards_of("lorehlt-edl", SIDES["lorehlt-edl"][1])
    data = json.loads(as_json(cards.data()))
    assert [system["title"] for system in data["systems"]] == ["reference", "system"]
    assert cards.rows["outcome"].to_list() == [
        *("both right", "both right", "only reference right", "only reference right"),
        *("extra only in system", "only reference right"),
    ]
    mention = cards.cells[0]
    ours, first, second = (mention.sides[side] for side in ("reference", "system 0", "system 1"))
    assert ours is not None and first is not None and second is not None
    assert ours.to_list() == ["Osh", "Daniel Omar", "UN", "Omar", None, "Naryn"]
    assert first.to_list() == ["Osh", "Daniel Omar", "UN", "Omar", None, "Naryn"]
    assert second.to_list() == ["Osh", "Daniel Omar", "the UN", "Mr Omar", "near", None]
    assert data["cells"][0]["differs"] == {"system 0": [], "system 1": [2, 3]}
    assert cards.became[1].to_list() == ["correct", "correct", "wrong", "wrong", "extra", "missing"]


def test_the_text_around_items_has_the_places_of_all_systems() -> None:
    cards = cards_of("seedev-full", SIDES["seedev-full"][1])
    at = cards.rows["outcome"].to_list().index("extra only in system")
    number = cards.context[at]
    assert number is not None
    assert {2} <= {*cards.contexts[number][0][1::2]} <= {0, 2}


def test_of_many_items_those_on_which_systems_differ_are_kept(monkeypatch) -> None:
    monkeypatch.setattr(module, "MOST_ITEMS", 4)
    cards = cards_of("lorehlt-edl", SIDES["lorehlt-edl"][1])
    assert "2 of 6 items are left out, first those that are right." in cards.intro
    assert "both right" not in cards.rows["outcome"].to_list()
    assert cards.left_out == 2
    assert len(cards.context) == 4


def test_of_many_systems_the_best_have_cards(monkeypatch) -> None:
    monkeypatch.setattr(module, "MOST_SYSTEMS", 1)
    cards = cards_of("lorehlt-edl", SIDES["lorehlt-edl"][1])
    assert "These are the best 1 of 2 systems." in cards.intro
    mention = cards.cells[0].sides["system 0"]
    assert mention is not None  # the extra mention of the other system has no card
    assert mention.to_list() == ["Osh", "Daniel Omar", "UN", "Omar", "Naryn"]


def test_bars_of_results_select_their_cards() -> None:
    cards = cards_of("lorehlt-edl", SIDES["lorehlt-edl"][1])
    whole, by_label = outcomes(cards, "", by_label=True)
    ((_, parts),) = whole.bars
    assert [(part.title, part.kind, part.count, dict(part.filters)) for part in parts] == [
        ("both right", "correct", 2, {"outcome": "both right"}),
        ("only reference right", "different-1", 3, {"outcome": "only reference right"}),
        ("extra only in system", "extra", 1, {"outcome": "extra only in system"}),
    ]
    assert {name for name, _ in by_label.bars} == {"GPE", "LOC", "ORG", "PER"}
    assert by_label.bars[0][1][-1].filters["type"] == by_label.bars[0][0]


def test_cards_of_systems_are_a_table_without_scripts() -> None:
    cards = cards_of("lorehlt-edl", SIDES["lorehlt-edl"][1])
    (table,) = cards.plain_tables()
    assert table.header[:6] == [
        *("outcome", "document", "type", "mention, reference", "mention, reference"),
        "mention, system",
    ]
    assert table.height == 6
    first = dict(zip(table.header, table.rows[0], strict=True))
    assert (first["outcome"], first["mention, system"]) == ("only reference right", "the UN")
