"""The public scorer of LoReHLT 2019 situation frames, file by file to the last digit."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import polars as pl
import pytest

from hlteval.scoring.similarity import resolve_places
from hlteval.scoring.situations.lorehlt.frame_rows import SENTIMENT, conform
from hlteval.scoring.situations.lorehlt.frames import CLASSES, SITUATION_CLASSES, mean
from hlteval.scoring.situations.lorehlt.metric import SituationRanking
from hlteval.scoring.situations.lorehlt.official_frames import (
    OFFICIAL_GAINS,
    OfficialRanking,
    official_averages,
    with_first_places,
)
from hlteval.scoring.situations.lorehlt.ranking import Ranking, RankingOptions, situations
from tests.conformance.situations import lorehlt_cases as cases

PLAN_PLACES = partial(resolve_places, key=["docid", "type"])

SYNTHETIC = {"h1": {}, "h2": {"gravity": "numeric", "dcg": "method1"}}
SENTIMENTS = [
    f"{case}/{system}"
    for case in ("SEC_test1", "SEC_test2")
    for system in ("diff_nil_sf", "perfect_submission")
]
TITLES = dict(
    zip(
        CLASSES,
        (
            "Type",
            "TypePlace",
            "TypePlaceStatus",
            "TypePlaceStatusUrgency",
            "TypePlaceStatusResolution",
            "TypePlaceStatusUrgencyResolution",
        ),
        strict=True,
    )
)


ANY_SENTIMENT = conform(
    pl.DataFrame(
        {
            "docid": "",
            "scored": True,
            "system": False,
            "part": SENTIMENT,
            "frame_id": "",
            "fear": True,
        }
    )
)
"""The scorer of 2018 reads no sentiments; that of 2019 stops at an annotation without any."""


@cache
def synthetic(shared: Path, case: str, profile: str = "official"):
    folder = shared / "cases/lorehlt-sf" / f"synthetic-{case}"
    options = RankingOptions(
        system_name="HELDOUT",
        system_edl=cases.mentions(folder / "sys_edl.tab"),
        reference_edl=cases.mentions(folder / "ref_edl.tab"),
        **SYNTHETIC[case],
    )
    return counted(folder / "ref", folder / "system_output.json", profile, options)


@cache
def sentiments(shared: Path, case: str, profile: str = "official"):
    name, system = case.split("/")
    folder = shared / "cases/lorehlt-sf" / name
    data = folder / "setE/data/annotation/eng"
    options = RankingOptions(
        system_name="TEST",
        system_edl=cases.mentions(folder / "diff_nil_edl.tab"),
        reference_edl=cases.mentions(data / "sec_test_eng_edl.tab"),
    )
    return counted(data / "situation_frame", folder / f"{system}.json", profile, options)


def counted(
    reference: Path, system: Path, profile: str, options: RankingOptions, schema: str = "2019-v1"
):
    metric = SituationRanking(profile, options)
    rows, _ = metric.statistics(cases.reference(reference), cases.system(system, schema))
    return metric, metric.total([rows, *([ANY_SENTIMENT] if schema == "2018-v2" else [])])


def files(folder: Path, prefix: str) -> dict[str, str]:
    return {
        path.name.removeprefix(prefix): path.read_text("utf-8") for path in folder.glob("*.txt")
    }


@pytest.mark.parametrize("case", SYNTHETIC)
def test_official_writes_the_files_of_the_public_scorer(shared, case):
    metric, total = synthetic(shared, case)
    expected = files(shared / f"cases/lorehlt-sf/synthetic-{case}/out", "P_")
    written = metric.official_files(total)
    assert {name: written[name] for name in expected} == expected


@pytest.mark.parametrize("case", SENTIMENTS)
def test_official_writes_the_files_of_sentiments(shared, case):
    metric, total = sentiments(shared, case)
    name, system = case.split("/")
    expected = files(shared / "cases/lorehlt-sf" / name / f"expected19_{system}", "PFX")
    written = metric.official_files(total)
    assert len(expected) == 12
    assert written == expected


@pytest.mark.parametrize("case", SYNTHETIC)
def test_standard_ndcg_is_between_the_other_tie_breaks(shared, case):
    metric, total = synthetic(shared, case)
    table = metric.score(total)[1]["ndcg"]
    assert (table["vindictive"] <= table["standard"] + 1e-12).all()
    assert (table["standard"] <= table["forgiving"] + 1e-12).all()


@pytest.mark.parametrize("case", SYNTHETIC)
def test_official_has_the_situations_of_the_public_scorer(shared, case):
    metric, total = synthetic(shared, case)
    extra = json.loads((shared / f"cases/lorehlt-sf/synthetic-{case}/extra.json").read_text())
    ranking = metric.scores(total).main_ranking
    rows = ranking.reference.select("place", "type", "gravity", "frames", "gain").rows()
    assert rows == [tuple(row) for row in extra["reference_situations"]]
    system = ranking.system.filter(pl.col("frames") > 0)
    expected = {tuple(row[:2]): tuple(row[2:]) for row in extra["system_situations"] if row[0]}
    rows = system.select("place", "type", "gravity", "frames").rows()
    assert {row[:2]: row[2:] for row in rows} == expected


@pytest.mark.parametrize("case", SYNTHETIC)
@pytest.mark.parametrize("name", CLASSES)
def test_official_counts_the_frames_of_the_public_scorer(shared, case, name):
    metric, total = synthetic(shared, case)
    extra = json.loads((shared / f"cases/lorehlt-sf/synthetic-{case}/extra.json").read_text())
    expected = extra["pr"][TITLES[name]]
    matches = metric.scores(total).matches[name]
    sums = matches.counts().select(pl.col("right", "false", "expected").sum()).row(0)
    assert sums == (expected["tp"], expected["fp"], expected["tp"] + expected["fn"])
    assert matches.area() == expected["AP"]


def test_plan_resolves_the_sources_of_sentiments(shared):
    """The public scorer has the same number with and without tables of mentions."""
    metric, total = sentiments(shared, "SEC_test1/diff_nil_sf", "plan")
    with_tables = metric.score(total)[0]["sec_f1.polarity"]
    alone = SituationRanking("plan").score(total)[0]["sec_f1.polarity"]
    assert with_tables > alone


@pytest.mark.parametrize("case", [case for case in SENTIMENTS if "perfect" in case])
def test_plan_gives_perfect_sentiments_where_they_are(shared, case):
    """Its NIL sources are those of the annotation, which is the EDL output that it refers to."""
    metric, total = sentiments(shared, case, "plan")
    gold = metric.options.reference_edl
    own = SituationRanking("plan", replace(metric.options, system_edl=gold))
    values = own.score(total)[0]
    assert {values[name] for name in values if name.startswith("sec_")} == {1.0, None}
    assert values["ndcg.standard"] == values["frame_f1.type,place,status"] == 1.0


OLDER = [
    f"{name}/{number}"
    for name in ("Test_MAPMAR", "Test_MAPMAR_UrgentUnresolved")
    for number in range(1, 7)
]
OLDER += [f"Test_nDCG{number}/1" for number in ("", 2, 3)]


@pytest.mark.parametrize("case", OLDER)
def test_official_has_the_averages_of_2018_over_all_annotators(shared, case):
    """The 2018 scorer takes the frames of all annotators; it had no other annotation to draw."""
    name, number = case.split("/")
    folder = shared / "cases/lorehlt-sf" / name
    metric, total = counted(
        folder, folder / f"system_test{number}.json", "official", RankingOptions(), "2018-v2"
    )
    both = metric.scores(total).combined
    expected = (folder / f"expected18_system_test{number}" / "DiagnosticScores.txt").read_text()
    lines = []
    for title, own in zip(
        ("", "+Status", "+Status+Urgency", "+Status+Resolution"), SITUATION_CLASSES, strict=False
    ):
        table = official_averages(both.reference, both.system, own)
        lines.append(f"EqClass_Type+Place{title}_MAP: {mean(table['average_precision'])}")
        lines.append(f"EqClass_Type+Place{title}_MAR: {mean(table['recall'])}")
    assert lines == expected.splitlines()[1:9]


@pytest.mark.parametrize("case", ["Test_nDCG", "Test_nDCG2", "Test_nDCG3"])
@pytest.mark.parametrize("ties", ["standard", "vindictive", "forgiving"])
def test_official_has_the_ndcg_of_2018(shared, case, ties):
    folder = shared / "cases/lorehlt-sf" / case
    metric, total = counted(
        folder, folder / "system_test1.json", "official", RankingOptions(system_name="T"), "2018-v2"
    )
    name = f"{ties}_nDCG_Scores.txt"
    expected = (folder / "expected18_system_test1" / name).read_text()
    assert metric.official_files(total)[name] == expected
    precisions = (folder / "expected18_system_test1" / "precisionN.txt").read_text()
    assert metric.official_files(total)["precisionN.txt"] == precisions


def unit(shared, name: str) -> dict:
    return json.loads((shared / f"cases/lorehlt-sf/unit/{name}.json").read_text())


FLAGS = {"urgent": pl.Boolean, "unresolved": pl.Boolean, "current": pl.Boolean}
AVERAGES = {
    "type,place": {1: (1, 1), 2: (1, 1), 3: (1, 1)},
    "type,place,status": {1: (1, 1), 2: (2 / 3, 1 / 2), 3: (1, 1)},
    "type,place,status,urgent": {1: (1, 1), 2: (1 / 3, 1 / 3), 3: (0.78333, 0.83333)},
    "type,place,status,resolution": {1: (1, 1), 2: (2 / 3, 1 / 2), 3: (2 / 3, 1 / 2)},
    "type,place,status,urgent,resolution": {
        1: (1, 1),
        2: (1 / 3, 1 / 3),
        3: (1 / 3, 1 / 3),
        4: (0.78333, 0.83333),
    },
    "grave:type,place,status,urgent,resolution": {4: (1, 1)},
}
SYSTEM = {"DocumentID": "docid", "Place_KB_ID": "place", "Type": "type", "Confidence": "confidence"}


@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name, rows in AVERAGES.items() for number in rows]
)
def test_averages_of_the_public_tests(shared, name, number):
    data = unit(shared, "mapmar")
    gold, own = (
        pl.DataFrame(data[table]).rename(names).cast(FLAGS)
        for table, names in (
            ("referenceTable", {"doc_id": "docid", "kb_id": "place"}),
            (f"systemTable{number}", SYSTEM),
        )
    )
    table = official_averages(gold, own, name)
    values = mean(table["average_precision"]), mean(table["recall"])
    assert values == pytest.approx(AVERAGES[name][number], abs=1e-5)


def ranked(data: dict, system: str) -> Ranking:
    gold = pl.DataFrame(data["myref"]).select(
        "type", "gravity", place="kb_id", frames="frame_count"
    )
    own = pl.DataFrame(data[system]).select("gravity", place="Place_KB_ID", type=pl.col("Type"))
    table = situations(own.filter(pl.col("place") != ""), 1)
    assert OFFICIAL_GAINS == (10, 5, 1, None, 3, 2)
    return OfficialRanking.of(gold, table, OFFICIAL_GAINS, "method0")


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("ties", ["forgiving", "vindictive"])
def test_ndcg_of_the_public_tests(shared, number, ties):
    data = unit(shared, "ndcg")
    values = ranked(data, f"mysys{number}").ndcg(ties)
    assert values.tolist() == pytest.approx(data[f"myndcg{ties}{number}"], abs=1e-9)


def test_precision_of_the_public_tests(shared):
    assert ranked(unit(shared, "precisionN"), "mysys1").precisions[:2].tolist() == [1.0, 0.5]


@pytest.mark.parametrize("resolved", [with_first_places, PLAN_PLACES])
def test_ambiguous_places_of_the_public_tests(shared, resolved):
    data = unit(shared, "correctkbids")
    own = pl.DataFrame(data["systemTable"]).select(
        docid="DocumentID", type="Type", place="Place_KB_ID"
    )
    gold = pl.DataFrame(data["reference"]).select("type", docid="doc_id", place="kb_id")
    places = resolved(own, gold)["place"].to_list()
    assert places == ["7690208", "11399531", "11186696|384272"]
