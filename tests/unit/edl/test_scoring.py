"""Each way in which the plan and the public scorer differ, in both directions; options; errors."""

from __future__ import annotations

import pytest

from hlteval.scoring.edl.measures import (
    AGGREGATES,
    NAMED,
    PLAN,
    SETS,
    WrongMeasure,
    measure,
    measures,
)
from hlteval.workflows.run.verdicts import Refused
from tests.runs import score

BASIC = (
    ["D1 1 5 E1 1 GPE", "D1 10 14 E1 1 GPE", "D2 1 5 NIL1 1 PER", "D2 10 12 E2 1 ORG"],
    ["D1 1 5 E1 1 GPE", "D1 10 14 E3 1 GPE", "D2 1 5 NIL9 1 ORG", "D2 10 13 E2 1 ORG"],
)


@pytest.fixture
def scored(tmp_path):
    """Scores two sides, given as lines with blanks for tabs."""

    def run(sides, profile="plan", **options):
        paths = []
        for name, lines in zip(("reference", "system"), sides, strict=True):
            path = tmp_path / name
            path.write_text("".join(f"{line.replace(' ', chr(9))}\n" for line in lines), "utf-8")
            paths.append(str(path))
        return score("lorehlt-edl", *paths, profile=profile, options=options)

    return run


def counts(scores, name):
    found = [scores.metrics[f"{name}.{part}"] for part in ("ptp", "fp", "rtp", "fn")]
    return tuple(round(value, 4) if value is not None else None for value in found)


def both(scored, sides, name, **options):
    return tuple(
        counts(scored(sides, profile, measure=name, **options), name)
        for profile in ("plan", "official")
    )


def test_a_ratio_of_nothing_is_undefined_or_0(scored):
    sides = (["D 1 5 E1 1 PER"], ["D 7 9 E1 1 PER"])
    plan, official = (scored(sides, profile, measure="muc") for profile in ("plan", "official"))
    assert plan.metrics["muc.precision"] is plan.metrics["muc.fscore"] is None
    assert official.metrics["muc.precision"] == official.metrics["muc.fscore"] == 0


def test_overlaps_that_the_sweep_misses_among_nested_spans(scored):
    sides = (["d 1 20 E1 1 PER", "d 2 3 E2 1 PER"], ["d 5 6 E1 1 PER"])
    plan, official = both(scored, sides, "overlap-maxmax::span")
    assert plan == (1, 0, 0.1, 1.9)
    assert official == (0, 1, 0, 2)


def test_a_document_of_the_system_alone_counts_by_document_in_the_plan(scored):
    sides = (["D1 1 5 E1 1 PER"], ["D1 1 5 E1 1 PER", "D2 1 5 E1 1 PER"])
    name = "strong_mention_match"
    plan, official = (
        counts(scored(sides, profile, measure=name, by="document"), f"{name};docid=<micro>")
        for profile in ("plan", "official")
    )
    assert plan == (1, 1, 1, 0)
    assert official == (1, 0, 1, 0)


def test_the_mean_over_groups_leaves_out_what_is_undefined_in_the_plan(scored):
    sides = (["D1 1 5 E1 1 PER", "D2 1 5 E1 1 PER"], ["D1 1 5 E1 1 PER"])
    name = "strong_mention_match;docid=<macro>"
    plan, official = (scored(sides, profile, measure=name) for profile in ("plan", "official"))
    assert plan.metrics[f"{name}.precision"] == 1
    assert official.metrics[f"{name}.precision"] == 0.5


@pytest.mark.parametrize("group", ["docid", "type", "language"])
def test_a_mean_over_any_groups_is_given(scored, group):
    sides = (["ENG_1 1 5 E1 1 PER", "SIN_2 1 5 E1 1 ORG"], ["ENG_1 1 5 E1 1 PER"])
    name = f"strong_mention_match;{group}=<micro>"
    metrics = scored(sides, "plan", measure=name).metrics
    assert metrics[f"{name}.recall"] == 0.5
    assert metrics[f"{name}.precision"] == 1


def test_a_span_in_two_clusters_counts_once_for_each_in_ceaf(scored):
    sides = (["d 1 5 E1", "d 7 9 NIL1"], ["d 1 5 E1", "d 1 5 NIL1", "d 7 9 NIL1"])
    plan, official = both(scored, sides, "mention_ceaf")
    assert plan == (2, 1, 2, 0)
    assert official == (2, 3, 2, 0)
    plan, official = both(scored, sides[::-1], "mention_ceaf")
    assert plan == (2, 0, 2, 1)
    assert official == (2, 0, 2, 0)  # of the three memberships, its matrix holds two


def test_a_span_in_two_clusters_is_in_the_last_by_name_or_in_the_file(scored):
    gold = ["d 1 5 A", "d 7 9 A", "d 11 12 B"]
    for system in (
        ["d 1 5 B", "d 7 9 B", "d 1 5 C", "d 11 12 C"],
        ["d 1 5 C", "d 7 9 B", "d 1 5 B", "d 11 12 C"],
    ):
        plan, _ = both(scored, (gold, system), "b_cubed")
        assert plan == (2, 1, 2, 1)
    first = both(scored, (gold, ["d 1 5 B", "d 7 9 B", "d 1 5 C", "d 11 12 C"]), "b_cubed")[1]
    other = both(scored, (gold, ["d 1 5 C", "d 11 12 C", "d 1 5 B", "d 7 9 B"]), "b_cubed")[1]
    assert first != other
    notes = scored((gold, ["d 1 5 B", "d 1 5 C"])).notes
    assert any("1 span is in several clusters" in note for note in notes)


def test_mentions_without_an_identifier_are_nils_in_the_plan_only(scored):
    plan, official = both(scored, (["d 1 5"], ["d 1 5"]), "strong_nil_match")
    assert plan == (1, 0, 1, 0)
    assert official == (0, 0, 0, 0)


def test_an_item_that_the_other_side_lacks_is_looked_up_among_those_without_identifier(scored):
    sides = (["d 1 5", "d 7 9"], ["d 1 5", "d 7 9 E1"])
    plan, official = both(scored, sides, "b_cubed_plus")
    assert plan == (1, 1, 0.5, 1.5)
    assert official == (1, 1, 1, 1)


def test_of_annotations_of_one_span_only_one_is_the_first_officially(scored):
    sides = (["d 1 5 E1 1 PER", "d 1 5 E1 1 ORG"], ["d 1 5 E1 1 ORG", "d 1 5 E1 1 PER"])
    plan, official = both(scored, sides, "sets:is_first:span+type")
    assert plan == (2, 0, 2, 0)
    assert official == (0, 1, 0, 1)


def test_blanc_is_ours(scored):
    plan, official = (scored(BASIC, profile, measure="blanc") for profile in ("plan", "official"))
    assert plan.metrics["blanc.fscore"] is not None
    assert official.metrics["blanc.fscore"] is None


def test_spans_that_end_before_they_start_overlap_nothing(scored):
    sides = (["d 5 1 E1 1 PER", "d 7 9 E1 1 PER"], ["d 1 9 E1 1 PER"])
    plan, official = (
        scored(sides, profile, measure="overlap-summax::span") for profile in ("plan", "official")
    )
    assert counts(plan, "overlap-summax::span") == (0.3333, 0.6667, 1, 1)
    assert official.metrics["overlap-summax::span.fscore"] is None
    assert any("1 mention ends before it starts" in note for note in plan.notes)


def test_a_mention_of_one_unit_does_not_end_before_it_starts(scored):
    sides = (["d 5 5 E1 1 PER"], ["d 5 5 E1 1 PER"])
    assert not [note for note in scored(sides).notes if "ends before it starts" in note]


ALTERNATIVES = (["d 1 5 E1|E2 1 PER", "d 7 9 E1 1 PER"], ["d 1 5 E2 1 PER", "d 7 9 E1 1 PER"])


def test_alternatives_are_tried_at_their_span_first_in_the_plan(scored):
    name = "strong_link_match"
    assert both(scored, ALTERNATIVES, name, alternatives="eid") == ((2, 0, 2, 0), (1, 1, 1, 1))
    assert both(scored, ALTERNATIVES, name) == ((1, 1, 1, 1), (1, 1, 1, 1))


def test_alternatives_may_have_to_agree_in_type(scored):
    sides = (["d 1 5 E1 1 PER E2 1 ORG"], ["d 1 5 E2 1 PER"])
    found = [
        counts(scored(sides, measure="strong_link_match", alternatives=how), "strong_link_match")
        for how in ("eid", "fields")
    ]
    assert found == [(1, 0, 1, 0), (0, 1, 0, 1)]


def test_alternatives_in_a_table_of_mentions_without_the_option(tmp_path):
    line = "R\tm1\tOsh\tD:1-3\t{}\tGPE\tNAM\t1.0\n"
    paths = [tmp_path / "gold.tab", tmp_path / "system.tab"]
    paths[0].write_text(line.replace("{}", "7|8"), "utf-8")
    paths[1].write_text(line.replace("{}", "7"), "utf-8")
    name = "strong_link_match"
    found = [
        counts(
            score("lorehlt-edl", *map(str, paths), profile=profile, options={"measure": name}), name
        )
        for profile in ("plan", "official")
    ]
    assert found == [(1, 0, 1, 0), (0, 1, 0, 1)]


def test_the_public_scorer_tries_alternatives_of_a_table_where_it_is_asked_to(tmp_path):
    line = "R\tm1\tOsh\tD:1-3\t{}\tGPE\tNAM\t1.0\n"
    paths = [tmp_path / "gold.tab", tmp_path / "system.tab"]
    paths[0].write_text(line.replace("{}", "7|8"), "utf-8")
    paths[1].write_text(line.replace("{}", "8"), "utf-8")
    options = {"measure": "strong_link_match", "alternatives": "eid"}
    scores = score("lorehlt-edl", *map(str, paths), profile="official", options=options)
    assert counts(scores, "strong_link_match") == (1, 0, 1, 0)


def weights(tmp_path, *lines):
    path = tmp_path / "weights"
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return str(path)


def test_weights_of_types(scored, tmp_path):
    path = weights(tmp_path, "PER\tORG\t0.25", "PER\tORG\t0.5", "GPE\tGPE\t0.9")
    name = "strong_typed_mention_match"
    plan, official = both(scored, BASIC, name, type_weights=path)
    assert plan == official == (2.3, 1.5, 2.3, 1.5)
    scores = scored(BASIC, "official", measure=f"{name} mention_ceaf", type_weights=path)
    assert scores.metrics["mention_ceaf.fscore"] is None
    assert scores.metrics[f"{name}.ptp"] == pytest.approx(2.3)


def test_weights_where_a_key_stands_with_several_types(scored, tmp_path):
    path = weights(tmp_path, "PER\tORG\t0.5")
    sides = (["d 1 5 E 1 PER", "d 1 5 E 1 GPE"], ["d 1 5 E 1 ORG", "d 1 5 E 1 GPE"])
    plan, official = both(scored, sides, "strong_typed_mention_match", type_weights=path)
    assert plan == (1.5, 0.5, 1.5, 0.5)
    assert official == (None, None, None, None)


def test_zones_that_are_not_scored(scored, tmp_path):
    path = weights(tmp_path, "D1\t5\t9", "D2\t11\t11")
    found = counts(
        scored(BASIC, measure="strong_mention_match", exclude=path), "strong_mention_match"
    )
    # D1:1-5 ends in a zone; D2:10-12 holds one and stays, as does D2:10-13
    assert found == (2, 1, 2, 1)


@pytest.mark.parametrize(
    ("option", "lines", "code"),
    [
        ("type_weights", ["PER\tORG"], "OPT101"),
        ("type_weights", ["PER\tORG\tx"], "OPT102"),
        ("type_weights", ["PER\tORG\t-1"], "OPT103"),
        ("exclude", ["", "D1\t1\t5.0"], "OPT104"),
    ],
)
def test_tables_of_options_are_checked(scored, tmp_path, option, lines, code):
    with pytest.raises(Refused) as refused:
        scored(BASIC, **{option: weights(tmp_path, *lines)})
    (wrong,) = [item for item in refused.value.verdict.findings if item.side != "submission"]
    assert (wrong.code, wrong.side) == (code, f"--{option.replace('_', '-')}")
    assert wrong.span.line == len(lines)


def test_types_may_include_the_mention_type(tmp_path):
    lines = [f"R\tm1\tOsh\tD:1-3\t7\tGPE\t{kind}\t1.0\n" for kind in ("NAM", "NOM")]
    paths = []
    for line in lines:
        paths.append(str(tmp_path / f"{len(paths)}.tab"))
        (tmp_path / f"{len(paths) - 1}.tab").write_text(line, "utf-8")
    name = "strong_typed_mention_match"
    found = [
        counts(score("lorehlt-edl", *paths, options={"measure": name, "conversion": item}), name)[0]
        for item in ("pipeline", "tac15")
    ]
    assert found == [1, 0]


def table(path, *lines):
    """Writes mentions of one extent: entity, type, mention type and confidence of each."""
    rows = [f"R\tm{n}\tOsh\tD:1-3\t{line.replace(' ', chr(9))}\n" for n, line in enumerate(lines)]
    path.write_text("".join(rows), "utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("7 GPE NAM 0.5", "8 GPE NAM 1.0"), (1, 0, 1, 0)),
        (("8 GPE NAM 0.5", "7 GPE NAM 1.0"), (0, 1, 0, 1)),
        # of two that are equally sure, the first counts
        (("8 GPE NAM 0.5", "7 GPE NAM 0.5"), (1, 0, 1, 0)),
        (("8 GPE NOM 0.5", "8 GPE NAM 0.4", "8 GPE NAM 0.3"), (0, 1, 0, 1)),
    ],
)
def test_mentions_of_one_extent_are_candidates_of_one_annotation_officially(
    lines, expected, tmp_path
):
    paths = table(tmp_path / "gold.tab", *lines), table(tmp_path / "sys.tab", "8 GPE NAM 1.0")
    name = "strong_typed_link_match"
    options = {"measure": name, "conversion": "tac15"}
    plan, official = (
        counts(score("lorehlt-edl", *paths, profile=profile, options=options), name)
        for profile in ("plan", "official")
    )
    assert official == expected
    # in the plan all of them count, each different one once
    assert plan == (1, 0, 1, 1)
    # the system's are candidates as well: of one annotation only the first is wrong or right
    turned = counts(score("lorehlt-edl", *paths[::-1], profile="official", options=options), name)
    assert turned == expected


def test_one_of_the_candidates_of_an_extent_may_be_selected(tmp_path):
    paths = (
        table(tmp_path / "gold.tab", "7 GPE NAM 1.0", "8 ORG NAM 0.5"),
        table(tmp_path / "sys.tab", "8 GPE NAM 1.0"),
    )
    found, name = [], "strong_link_match"
    for how in ("eid", "fields"):
        options = {"measure": name, "conversion": "tac15", "alternatives": how}
        scores = score("lorehlt-edl", *paths, profile="official", options=options)
        found.append(counts(scores, name))
    # 8 is an ORG in the reference
    assert found == [(1, 0, 1, 0), (0, 1, 0, 1)]


def test_annotations_of_the_scorer_s_own_files_are_not_converted(scored):
    sides = (["d 1 5 E1 0.5 PER", "d 1 5 E2 1 PER"], ["d 1 5 E2 1 PER"])
    plan, official = both(scored, sides, "strong_link_match", conversion="tac15")
    assert plan == official == (1, 0, 1, 1)


def test_there_are_no_scores_by_type_where_only_some_mentions_of_the_reference_have_one(scored):
    sides = (["d 1 5 E1 1 PER", "d 7 9 E2"], ["d 1 5 E1 1 PER"])
    plan, official = (
        scored(sides, profile, measure="muc strong_link_match", by="type")
        for profile in ("plan", "official")
    )
    # of PER all is right, of the mention without a type nothing
    assert plan.metrics["strong_link_match;type=<macro>.recall"] == 0.5
    for scores, name in ((plan, "plan"), (official, "official")):
        assert counts(scores, "strong_link_match") == (1, 0, 1, 1), name
    for name in ("muc", "strong_link_match"):
        assert counts(official, f"{name};type=<micro>") == (None,) * 4
        assert official.metrics[f"{name};type=<macro>.fscore"] is None
    assert official.tables["groups"]["ptp"].to_list() == [None] * 4
    assert any("no scores by type" in note for note in official.notes)


@pytest.mark.parametrize(
    "sides",
    [
        (["d 1 5 E1", "d 7 9 E2"], ["d 1 5 E1 1 PER"]),
        (["d 1 5 E1 1 PER"], ["d 1 5 E1 1 PER", "d 7 9 E2"]),
    ],
    ids=["none", "the system's"],
)
def test_there_are_scores_by_type_where_the_reference_can_be_sorted(sides, scored):
    scores = scored(sides, "official", measure="strong_link_match", by="type")
    assert scores.metrics["strong_link_match;type=<micro>.recall"] is not None
    assert not [note for note in scores.notes if "by type" in note]


def test_shares_of_clusters_are_added_in_the_order_of_the_reference(scored):
    """Of three clusters one of two mentions is found, 2 · 1 / (2 + 1) each; two are found whole."""
    found = []
    for names in ("AABBCCVW", "VWAABBCC"):
        gold = [f"d {at} {at} {name} 1 PER" for at, name in enumerate(names)]
        system = [line for at, line in enumerate(gold) if names.index(names[at]) == at]
        found.append(
            [
                scored((gold, system), profile, measure="entity_ceaf").metrics["entity_ceaf.ptp"]
                for profile in ("plan", "official")
            ]
        )
    # 2/3 + 2/3 + 2/3 + 1 + 1 and 1 + 1 + 2/3 + 2/3 + 2/3; in the plan 6/3 + 2
    assert found == [[4, 4], [4, 3.9999999999999996]]


def test_shares_of_spans_are_added_in_the_order_of_the_annotations(scored):
    sides = (["d 1 2", "d 5 5", "d 8 8"], ["d 1 3", "d 5 6", "d 8 10"])
    found = [
        scored(sides, profile, measure="overlap-maxmax::span").metrics["overlap-maxmax::span.ptp"]
        for profile in ("plan", "official")
    ]
    # 1/2 + 3/3 and 2/3 + 1/2 + 1/3
    assert found == [1.5, 1.4999999999999998]


def test_measures_are_shown_by_group(scored):
    groups = scored(BASIC, measure="muc", by="type").tables["groups"]
    assert groups["measure"].to_list() == ['muc;type="GPE"', 'muc;type="ORG"', 'muc;type="PER"']
    languages = scored(
        (["ENG_a 1 5 E1", "IL9_b 1 5 E1"], ["ENG_a 1 5 E1"]), measure="muc", by="language"
    )
    assert languages.tables["groups"]["group"].to_list() == ["ENG", "IL9"]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("muk", "did you mean muc"),
        ("nonsense", "aggregate:filter:key"),
        ("sets:span", "1 colon, not 2"),
        ("sets:is_first:span:type", "3 colons, not 2"),
        ("set::span", "unknown aggregate set; use one of sets, overlap-maxmax"),
        ("sets:first:span", "unknown filter first; use one of is_first"),
        ("sets::span+kind", "unknown field kind; use one of span"),
        ("sets::", "unknown field “”"),
        ("overlap-maxmax::type", "the key of an overlap measure must include span"),
        ("muc;place=<micro>", "unknown grouping place"),
    ],
)
def test_what_names_no_measure_is_told_precisely(said, reason):
    with pytest.raises(WrongMeasure, match=reason):
        measure(said)


def test_every_name_and_group_of_the_notation_can_be_said():
    assert {item.aggregate for item in measures([*NAMED, *SETS])} <= set(AGGREGATES)
    assert len(measures(["all"])) == 19
    assert measure("overlap-sumsum-micro::span").aggregate == "overlap-sumsum"
    assert measure("sets:None:span") == measures(["sets:None:span", "sets:None:span"])[0]


def test_the_names_that_the_plan_prints_can_be_said():
    """As section 17.3 prints them, a misprint among them, in its order."""
    printed = ["strong_mention_match", "strong_typed_mentin_match"]
    printed += [f"overlap_{x}{y}_micro" for x in ("max", "sum") for y in ("max", "sum")]
    printed += ["strong_typed_all_match", "strong_typed_link_match", "strong_typed_nil_match"]
    printed += ["entity_match", "Mention_ceaf", "Typed_mention_ceaf", "Typed_mention_ceaf_plus"]
    printed += ["mention_ceaf;docid=<micro>", "mention_ceaf:is_first:span"]
    assert [measure.name for measure in measures(printed)] == list(PLAN)
    assert measures(["overlap_maxsum_micro"])[0].aggregate == "overlap-maxsum"


def test_what_went_wrong_is_told_for_each_mention(scored):
    scores = scored(BASIC)
    rows = scores.tables["alignment"].select("document", "status", "wrong").rows()
    assert rows == [
        ("D1", "correct", []),
        ("D1", "wrong", ["link"]),
        ("D2", "wrong", ["type"]),
        ("D2", "wrong", ["boundary"]),
    ]
    assert "wrong link  10-14 GPE E1 | 10-14 GPE E3" in scores.files["errors.txt"]
    errors = scores.tables["errors"].filter(document="D1").row(0, named=True)
    assert (errors["correct"], errors["wrong"], errors["wrong_link"]) == (1, 1, 1)


def test_what_went_wrong_is_told_for_each_cluster(scored):
    sides = (
        ["d 1 2 A", "d 3 4 A", "d 5 6 B", "d 7 8 C", "d 9 9 D"],
        ["d 1 2 K", "d 3 4 L", "d 5 6 L", "d 9 9 M", "d 11 12 N"],
    )
    clusters = scored(sides).tables["clusters"]
    found = {row["reference"] or row["system"]: row["status"] for row in clusters.to_dicts()}
    assert found == {"A": "split", "B": "merged", "C": "missing", "D": "correct", "N": "extra"}


def test_mentions_are_paired_with_what_agrees_most_with_them(scored):
    sides = (
        ["d 1 5 E1 1 PER", "d 1 5 E2 1 ORG", "d 7 9 E3 1 PER", "d 20 25 E4 1 PER"],
        ["d 1 5 E2 1 PER", "d 1 5 E1 1 PER", "d 8 12 E3 1 ORG", "d 30 31 E4 1 PER"],
    )
    rows = scored(sides).tables["alignment"].to_dicts()
    told = [(row["status"], row["wrong"], row["reference"], row["system"]) for row in rows]
    assert told == [
        ("correct", [], "1-5", "1-5"),
        ("wrong", ["type"], "1-5", "1-5"),
        ("wrong", ["type", "boundary"], "7-9", "8-12"),
        ("missing", [], "20-25", None),
        ("extra", [], None, "30-31"),
    ]
