"""Scoring runs: numbers worked out by hand, signatures, and what is refused."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import msgspec
import polars as pl
import pytest

from hlteval.reports import scores as score_formats
from hlteval.reports.scores import markdown, tsv
from hlteval.scoring.metric import scorings
from hlteval.scoring.seedev.metric import EventMatch
from hlteval.tasks import load
from hlteval.tasks import seedev as seedev_metrics
from hlteval.tasks.task import StatisticInfo
from hlteval.workflows.run.request import Intervals
from hlteval.workflows.run.verdicts import Refused, expand_folders
from tests.runs import score

FIXTURES = Path(__file__).parents[3] / "fixtures"
EXAMPLES = [(task, profile) for task in ("full", "binary") for profile in ("plan", "official")]


def paths(task: str) -> tuple[str, str]:
    folder = FIXTURES / "scores" / f"seedev-{task}"
    return str(folder / "reference"), str(folder / "system")


@pytest.mark.parametrize(("task", "profile"), EXAMPLES)
def test_the_examples_score_what_was_worked_out(task: str, profile: str) -> None:
    """The expected values are fractions: of full, matches are 1/2 + 1/2 + 1/2 + 1 in plan."""
    path = FIXTURES / "scores" / f"seedev-{task}" / "expected" / f"{profile}.tsv"
    lines = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    expected = {name: None if value == "-" else float(Fraction(value)) for name, value in lines}
    scores = score(f"seedev-{task}", *paths(task), profile=profile)
    assert scores.metrics == pytest.approx(expected)
    assert list(scores.metrics) == list(expected)
    assert scores.verdict.passed
    assert tsv(scores).count("\n") == len(expected)


def test_the_alignment_shows_every_event_of_either_side() -> None:
    table = score("seedev-full", *paths("full")).tables["alignment"]
    shown = table.select("reference", "predicted", "similarity", "negation", "missing", "extra")
    assert shown.rows() == [
        ("E1", "E1", 0.5, "", ["Hormone:T8"], []),
        ("E2", "E2", 0.5, "missing", [], []),
        ("E3", "E3", 0.5, "", [], ["Tissue:T3"]),
        ("E4", None, 0.0, "", [], []),
        ("E5", "E5", 1.0, "", [], []),
        (None, "E4", 0.0, "", [], []),
        (None, "E6", 0.0, "", [], []),
    ]
    assert set(table["document"]) == {"seed-1"}


def test_what_counts_without_being_an_event_is_in_the_alignment(tmp_path: Path) -> None:
    """In official binary, an entity and what stands for a dangling reference are predictions."""
    reference, system = paths("binary")
    shutil.copytree(system, tmp_path / "system")
    text = "T99\tTissue 0 3\tThe\nE1\tBinds_To Functional_Molecule:T98 Molecule:T2\n"
    (tmp_path / "system" / "seed-1.a2").write_text(text, "utf-8")
    given = ("seedev-binary", reference, str(tmp_path / "system"))
    plan, official = score(*given), score(*given, profile="official")
    assert (plan.metrics["predictions"], official.metrics["predictions"]) == (1, 3)
    rows = official.tables["alignment"].select("predicted", "predicted_type").drop_nulls().rows()
    assert rows == [("E1", "Binds_To"), ("T99", "Tissue"), ("T98", "DUMMY")]


def test_scores_without_the_alignment_are_the_same() -> None:
    whole = score("seedev-full", *paths("full"))
    short = score("seedev-full", *paths("full"), alignment=False)
    assert short.metrics == whole.metrics
    assert short.tables["scorings"].equals(whole.tables["scorings"])


def test_the_signature_names_files_by_their_content(tmp_path: Path) -> None:
    reference, system = paths("full")
    first = score("seedev-full", reference, system).signature
    parts = first.split("|")
    assert [part.partition(":")[0] for part in parts] == [
        "hlteval",
        "task",
        "profile",
        "reference",
        "system",
        "lenient",
    ]
    shutil.copytree(system, tmp_path / "elsewhere")
    copied = score("seedev-full", reference, str(tmp_path / "elsewhere")).signature
    assert copied == first
    (tmp_path / "elsewhere" / "seed-1.a2").write_text("", "utf-8")
    changed = score("seedev-full", reference, str(tmp_path / "elsewhere")).signature
    different = [a != b for a, b in zip(parts, changed.split("|"), strict=True)]
    assert different == [False, False, False, False, True, False]


def test_a_refusal_tells_the_codes_that_block() -> None:
    reference = str(FIXTURES / "standoff" / "valid" / "full")
    path = str(FIXTURES / "seedev" / "invalid" / "SEE205-entity-type")
    with pytest.raises(Refused, match=r"nothing was scored .* \(SEE205\)") as refused:
        score("seedev-full", reference, path)
    assert "--lenient" in refused.value.fix
    assert not refused.value.verdict.passed
    assert score("seedev-full", reference, path, lenient=True).notes


def test_findings_about_the_sentences_are_told() -> None:
    reference = str(FIXTURES / "standoff" / "valid" / "binary")
    path = FIXTURES / "seedev-sentences" / "invalid" / "SNT101-blanks.tsv"
    options = {"sentences": str(path)}
    with pytest.raises(Refused, match="--sentences"):
        score("seedev-binary", reference, reference, options=options)
    scores = score("seedev-binary", reference, reference, options=options, lenient=True)
    assert scores.verdict.by_code["SNT101"] == 1


def test_unknown_names_are_errors_of_the_program() -> None:
    with pytest.raises(KeyError):
        score("no-such-task", *paths("full"))
    with pytest.raises(FileNotFoundError):
        score("seedev-full", paths("full")[0], "nowhere")


def test_numbers_of_many_copies_are_those_of_one(tmp_path: Path) -> None:
    """Rates stay, counts grow; official SER alone depends on the size, as sums are cut there."""
    for task, profile in EXAMPLES:
        folder = tmp_path / task / profile
        for side, path in zip(("reference", "system"), paths(task), strict=True):
            (folder / side).mkdir(parents=True)
            for number in range(10):
                for file in Path(path).iterdir():
                    name = file.name.replace("seed-1", f"seed-{number}")
                    shutil.copyfile(file, folder / side / name)
        one = score(f"seedev-{task}", *paths(task), profile=profile).metrics
        many = score(
            f"seedev-{task}", str(folder / "reference"), str(folder / "system"), profile=profile
        ).metrics
        for name in ("f1", "recall", "precision"):
            assert many[name] == (None if one[name] is None else pytest.approx(one[name]))
        for name in ("matches", "substitutions", "insertions", "references"):
            assert many[name] == 10 * (one[name] or 0)
        if (task, profile) == ("full", "official"):
            assert (one["ser"], many["ser"]) == (0.4, 0.5)  # 1.5 is cut to 1, and 15 is not
        elif one["ser"] is not None:
            assert many["ser"] == pytest.approx(one["ser"])


@pytest.mark.parametrize("by", ["", "type"])
def test_every_metric_that_is_reported_has_its_interval(by: str, tmp_path: Path) -> None:
    """A measure that nobody declared, and the one that ranks beside it."""
    for name, shift in (("reference.tab", 0), ("system.tab", 1)):
        rows = [
            f"R\tm{at}\tx\tENG_{at // 5:02}:{at * 10}-{at * 10 + 2 + (shift and at % 6 == 0)}\t"
            f"{'NIL' if at % 3 else '1'}{at % 7 + (shift and at % 5 == 0)}\t"
            f"{'PER' if at % 4 else 'ORG'}\tNAM\t1.0\n"
            for at in range(60)
        ]
        (tmp_path / name).write_text("".join(rows), "utf-8")
    options = {"measure": "sets:is_linked:span+type muc", "by": by}
    paths = (str(tmp_path / "reference.tab"), str(tmp_path / "system.tab"))
    scores = score("lorehlt-edl", *paths, options=options, intervals=Intervals(50))
    assert "sets:is_linked:span+type.fscore" in scores.intervals
    assert "strong_typed_all_match.fscore" in scores.intervals
    assert "muc.fscore" in scores.intervals
    defined = [name for name, value in scores.metrics.items() if value is not None]
    assert list(scores.intervals) == defined
    for name, (low, high) in scores.intervals.items():
        assert low <= (scores.metrics[name] or 0.0) <= high, name


def test_how_a_value_is_shown_follows_from_its_statistic(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = msgspec.structs.replace(
        load("seedev-full"),
        statistics=(StatisticInfo("map", "Mean average precision."),),
        measures=(),
    )
    monkeypatch.setattr(score_formats, "load", lambda _: declared)
    scored = score("seedev-full", *paths("full"))
    names = ("MAP", "Hits", "Share")
    rows = [{"evaluation": "E", "scoring": "s", "measure": name, "value": 1.0} for name in names]
    rows[-1]["value"] = 0.5
    tables = {"scorings": scorings(rows)}
    changed = {"metrics": {"map": 1.0}, "intervals": {"map": (0.0, 1.0)}, "tables": tables}
    shown = markdown(type(scored)(**{**as_fields(scored), **changed}))
    assert "| map | 1.0000 | [0.0000, 1.0000] |" in shown
    assert "| s | 1.0000 | 1 | 0.5000 |" in shown


def as_fields(value: object) -> dict[str, object]:
    return {name: getattr(value, name) for name in value.__struct_fields__}  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Noted(EventMatch):
    """A metric with notes, but no files and no analysis of errors."""

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        return (f"{total.height} scorings",)


def test_a_metric_with_notes_alone_keeps_them(monkeypatch: pytest.MonkeyPatch) -> None:
    metric = Noted(**vars(seedev_metrics.full("plan")))
    declared = msgspec.structs.replace(load("seedev-full"), metric=lambda _: metric)
    monkeypatch.setattr("hlteval.workflows.run.request.load", lambda _: declared)
    scores = score("seedev-full", *paths("full"))
    assert scores.notes == ("22 scorings",)
    assert not scores.files


def test_options_are_typed_in_python_and_text_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "set.tpl").write_text('<B-d-1> :=\n X: "a" ##0#1#\n', "utf-8")
    path = str(tmp_path / "set.tpl")
    typed = {"beta": 2, "noisy": True, "align": False, "fillers": ("uh", "um"), "unscored": ["X"]}
    text = {"beta": "2", "noisy": "yes", "fillers": "uh,um", "unscored": "X"}
    one, other = (score("hub4", path, path, options=given) for given in (typed, text))
    assert one.signature == other.signature
    assert one.metrics == other.metrics
    assert one.metrics["both.pos"] == 0


def test_a_folder_with_a_link_that_leads_to_itself_is_one_submission(tmp_path: Path) -> None:
    members = [str(tmp_path / name) for name in ("a.tab", "b.tab")]
    for path in members:
        Path(path).touch()
    assert expand_folders("lorehlt-edl", [str(tmp_path)])[0] == members
    (tmp_path / "self").symlink_to("self")
    assert expand_folders("lorehlt-edl", [str(tmp_path)])[0] == [str(tmp_path)]
