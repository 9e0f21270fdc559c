"""`hlteval compare`, and the intervals of `hlteval score`."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import hlteval

Run = Callable[..., Any]
DEMO = Path(__file__).parents[2] / "hlteval" / "demo" / "comparison"


@pytest.fixture
def second(reference: Path, tmp_path: Path) -> Path:
    """A perfect submission."""
    folder = tmp_path / "perfect"
    folder.mkdir()
    for file in reference.glob("*.a2"):
        shutil.copy(file, folder)
    return folder


def test_systems_are_ranked_and_each_pair_is_tested(
    invoke: Run, reference: Path, system: Path, second: Path
) -> None:
    given = ("compare", "seedev-full", "-r", reference, system, second, "--bootstrap", 200)
    done = invoke(*given, "--format", "json")
    assert done.exit_code == 0, done.stderr
    result = json.loads(done.stdout)
    assert [item["name"] for item in result["systems"]] == ["perfect", system.name]
    assert result["systems"][0]["value"] == 1.0
    (pair,) = result["differences"]
    assert pair["difference"] == 1.0 - result["systems"][1]["value"]
    assert pair["wins"] + pair["losses"] + pair["ties"] >= 1
    assert pair["losses"] == 0
    assert pair["corrected"] == pair["probability"]
    assert done.stdout == invoke(*given, "--format", "json").stdout


def test_less_is_better_where_the_task_says_so(
    invoke: Run, reference: Path, system: Path, second: Path
) -> None:
    given = ("compare", "seedev-full", "-r", reference, system, second, "--bootstrap", 50)
    result = json.loads(invoke(*given, "--metric", "ser", "--format", "json").stdout)
    assert result["systems"][0]["value"] == 0.0
    assert "lower is better for ser" in result["notes"]


@pytest.mark.parametrize("test", ["permutation", "bootstrap", "jackknife"])
def test_a_system_and_its_copy_share_a_rank(
    invoke: Run, reference: Path, system: Path, tmp_path: Path, test: str
) -> None:
    copy = shutil.copytree(system, tmp_path / "copy")
    given = ("compare", "seedev-full", "-r", reference, system, copy, "--bootstrap", 50)
    result = json.loads(invoke(*given, "--test", test, "--format", "json").stdout)
    assert [item["rank"] for item in result["systems"]] == [1, 1]
    assert result["differences"][0]["probability"] == 1.0


@pytest.mark.parametrize("form", ["text", "tsv", "markdown", "latex"])
def test_every_format_names_the_systems(
    invoke: Run, reference: Path, system: Path, second: Path, form: str
) -> None:
    given = ("compare", "seedev-full", "-r", reference, system, second, "--bootstrap", 20)
    done = invoke(*given, "--format", form)
    assert done.exit_code == 0
    assert "perfect" in done.stdout
    assert "1.0000" in done.stdout


def test_what_weakens_a_comparison_is_told(
    invoke: Run, reference: Path, system: Path, second: Path
) -> None:
    file = min(second.glob("*.a2"))
    file.write_text(file.read_text("utf-8").replace("\t", " ", 1), "utf-8")
    given = ("compare", "seedev-full", "-r", reference, system, second, "--bootstrap", 20)
    notes = json.loads(invoke(*given, "--format", "json").stdout)["notes"]
    command = f"hlteval validate seedev-full {second} --against {reference}"
    errors = f"1 error in the submission (STD101); for details, run `{command}`"
    assert f"{second.name}: {errors}" in notes
    sentence = "no difference can be significant: 2 documents, 1 pair, smallest p 0.5"
    assert sentence in notes


@pytest.mark.parametrize("form", ["text", "json", "tsv", "markdown", "latex"])
def test_a_refused_system_has_a_row_and_the_others_are_ranked(
    invoke: Run, reference: Path, system: Path, second: Path, flawed: Path, form: str
) -> None:
    given = ("compare", "seedev-full", "-r", reference, "--bootstrap", 20, "--format", form)
    done = invoke(*given, system, flawed, second)
    assert done.exit_code == 1
    assert f"refused: {flawed.name}\n" in done.stderr
    assert "error[SEE205]" in done.stderr
    assert "blocking findings (SEE205)" in done.stderr
    without = invoke(*given, system, second)
    assert without.exit_code == 0
    if form == "json":
        result, other = json.loads(done.stdout), json.loads(without.stdout)
        assert (result["systems"], result["differences"]) == (
            other["systems"],
            other["differences"],
        )
        assert result["signature"] == other["signature"]
        ((name, report),) = result["refused"].items()
        assert (name, report["verdict"]) == (flawed.name, "refused")
        assert report["counts"]["code"] == {"SEE205": 1}
        assert "SEE205" in report["reason"]
        assert other["refused"] == {}
        return
    rows = [line for line in done.stdout.splitlines() if line.lstrip("| ").startswith("refused")]
    assert [flawed.name.replace("_", r"\_") in row for row in rows] == [True]
    assert not [line for line in without.stdout.splitlines() if line.lstrip("| ")[:7] == "refused"]


def test_nothing_is_compared_if_all_are_refused(
    invoke: Run, reference: Path, flawed: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(flawed, tmp_path / "copy")
    given = ("compare", "seedev-full", "-r", reference)
    done = invoke(*given, flawed, copy)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "all submissions are refused (SEE205)" in done.stderr
    assert done.stderr.count("error[SEE205]") == 2
    alone = invoke(*given, flawed)
    assert (alone.exit_code, alone.stdout) == (1, "")
    assert "nothing was scored because of blocking findings (SEE205)" in alone.stderr


def test_a_single_system_has_a_rank_and_no_pairs(
    invoke: Run, reference: Path, system: Path
) -> None:
    done = invoke("compare", "seedev-full", "-r", reference, system, "--bootstrap", 20)
    assert done.exit_code == 0
    assert "rank" in done.stdout
    assert "wins" not in done.stdout


def test_an_unknown_metric_is_an_error_of_usage(invoke: Run, reference: Path, system: Path) -> None:
    done = invoke("compare", "seedev-full", "-r", reference, system, "--metric", "nope")
    assert done.exit_code == 2
    assert "unknown metric nope" in done.stderr


def test_scores_have_intervals_where_they_are_wanted(invoke: Run) -> None:
    given = ("score", "hub4", "-r", DEMO / "reference.tpl", "-s", DEMO / "careful.tpl")
    done = json.loads(invoke(*given, "--bootstrap", 100, "--format", "json").stdout)
    low, high = done["intervals"]["both.f"]
    assert low <= done["metrics"]["both.f"] <= high
    assert "bootstrap:100|confidence:0.95|seed:0" in done["signature"]
    assert "both.optional" not in done["intervals"]  # 0 in every document: nothing varies
    without = json.loads(invoke(*given, "--format", "json").stdout)
    assert without["intervals"] == {}
    assert without["metrics"] == done["metrics"]
    lines = invoke(*given, "--bootstrap", 100, "--format", "tsv").stdout.splitlines()
    assert len(lines[0].split("\t")) == 4


def test_too_few_documents_have_no_interval_and_a_note(
    invoke: Run, reference: Path, system: Path
) -> None:
    given = ("score", "seedev-full", "-r", reference, "-s", system, "--bootstrap", 100)
    done = json.loads(invoke(*given, "--format", "json").stdout)
    assert done["intervals"] == {}
    assert any("2 documents with counts, at least 10 are needed" in note for note in done["notes"])


@pytest.fixture
def entities(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A reference of entities in many documents, and two systems."""
    return tuple(mentions(tmp_path / f"{number}.tab", number) for number in range(3))


def mentions(path: Path, number: int) -> Path:
    """Mentions of which a system, by its number, links some wrongly."""
    truth, errors = random.Random(1), random.Random(2 + number)
    rows = [
        f"R\tm{at}\tx\tENG_{at // 5:02}:{at * 10}-{at * 10 + 2}\t"
        f"NIL{truth.randrange(9) + (number and errors.random() < 0.2)}\tPER\tNAM\t1.0\n"
        for at in range(100)
    ]
    path.write_text("".join(rows), "utf-8")
    return path


def test_a_measure_over_clusters_is_compared_by_the_jackknife(
    invoke: Run, entities: tuple[Path, Path, Path]
) -> None:
    given = ("compare", "lorehlt-edl", "-r", *entities, "--metric", "muc.fscore")
    result = json.loads(invoke(*given, "--format", "json").stdout)
    for system in result["systems"]:
        assert system["interval"][0] < system["value"] < system["interval"][1]
    (pair,) = result["differences"]
    assert pair["interval"][0] <= pair["difference"] <= pair["interval"][1]
    assert 0 < pair["probability"] <= 1
    assert "|jackknife:20|confidence:0.95|seed:0" in result["signature"]
    assert result["signature"].endswith("test:jackknife|metric:muc.fscore")
    assert "bootstrap" not in result["signature"]


@pytest.mark.parametrize("test", ["bootstrap", "permutation"])
def test_tests_that_are_not_valid_for_clusters_are_refused(
    invoke: Run, entities: tuple[Path, Path, Path], test: str
) -> None:
    given = ("compare", "lorehlt-edl", "-r", *entities, "--metric", "muc.fscore", "--test", test)
    done = invoke(*given)
    assert done.exit_code == 2
    assert "use --test jackknife" in " ".join(done.stderr.replace("│", " ").split())


def test_a_profile_that_a_task_does_not_have_is_an_error_of_usage(invoke: Run) -> None:
    done = invoke("compare", "hub4", "-r", "r.tpl", "s.tpl", "--profile", "official")
    assert done.exit_code == 2
    assert "no profile official" in " ".join(done.stderr.replace("│", " ").split())


def test_systems_have_the_names_that_they_have_on_a_leaderboard(
    invoke: Run, reference: Path, system: Path, tmp_path: Path
) -> None:
    listed = [system, tmp_path / "a" / "run", tmp_path / "b" / "run"]
    for folder in listed[1:]:
        shutil.copytree(system, folder)
    given = ("seedev-full", "-r", reference, *listed, "--bootstrap", 20, "--format", "json")
    compared, board = (
        [row["name"] for row in json.loads(invoke(command, *given).stdout)["systems"]]
        for command in ("compare", "leaderboard")
    )
    assert compared == board == [system.name, "a/run", "b/run"]
    python = hlteval.compare("seedev-full", reference, listed, bootstrap=20)
    assert python.paths == dict(zip(compared, map(str, listed), strict=True))


def templettes(path: Path, wrong: Mapping[int, int], documents: int) -> Path:
    """Templettes of one contest per document, with some wrong slots of the three in some documents.

    Args:
        path: of the file.
        wrong: how many slots are wrong, by document; none in the others.
        documents: how many there are.
    """
    blocks = []
    for at in range(documents):
        slots = [
            f'    {slot}: "{"x" * (number <= wrong.get(at, 0))}{slot}" ##{number}0#{number}5#'
            for number, slot in enumerate(("NAME", "WINNER", "LOSER"), start=1)
        ]
        head = f"<TEMPLATE-C{at}-1> :=\n    DOC_NR: C{at} ##1#3#\n    EVENT: <CONTEST-C{at}-1>\n"
        blocks.append(f"{head}<CONTEST-C{at}-1> :=\n" + "".join(f"{slot}\n" for slot in slots))
    path.write_text("".join(blocks), "utf-8")
    return path


def ranked(invoke: Run, *words: object) -> dict[str, Any]:
    done = invoke(*words, "--format", "json")
    assert done.exit_code == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize(("replicates", "seed"), [(32, 0), (199, 1), (10_000, 2)])
def test_five_documents_have_the_probability_of_all_outcomes(
    invoke: Run, tmp_path: Path, replicates: int, seed: int
) -> None:
    """Five wins of five: 2 of 2⁵ outcomes are as large, .0625, with any draws."""
    reference = templettes(tmp_path / "reference.tpl", {}, 5)
    good = templettes(tmp_path / "good.tpl", {}, 5)
    bad = templettes(tmp_path / "bad.tpl", dict.fromkeys(range(5), 2), 5)
    given = ("hub4", "-r", reference, good, bad, "--bootstrap", replicates, "--seed", seed)
    result = ranked(invoke, "compare", *given)
    (pair,) = result["differences"]
    assert (pair["probability"], pair["monte_carlo_error"]) == (0.0625, 0.0)
    assert [system["rank"] for system in result["systems"]] == [1, 1]
    assert result["signature"].endswith("|test:exact|metric:both.f")
    assert "seed" not in result["signature"]  # no interval of 5 documents: nothing is drawn
    note = "no difference can be significant: 5 documents, 1 pair, smallest p 0.062"
    assert note in result["notes"]
    assert result["significance"] == {"documents": 5, "pairs": 1, "smallest": 0.0625, "note": note}


def test_counted_ranks_of_four_systems_do_not_depend_on_the_seed(
    invoke: Run, tmp_path: Path
) -> None:
    """8 wins of 8: p = 2 / 2⁸; 6 pairs: 6 · 2 / 256 = .0469 (Holm) for four of them."""
    reference = templettes(tmp_path / "reference.tpl", {}, 8)
    wrong = (
        {0: 1},
        {1: 1},
        dict.fromkeys(range(8), 3) | {0: 2},
        dict.fromkeys(range(8), 3) | {1: 2},
    )
    systems = [
        templettes(tmp_path / f"{name}.tpl", own, 8)
        for name, own in zip("abcd", wrong, strict=True)
    ]
    outcomes = []
    for seed in range(2):
        given = ("hub4", "-r", reference, *systems, "--seed", seed, "--bootstrap", ALL, *BOTH)
        result = ranked(invoke, "compare", *given)
        probabilities = [(pair["probability"], pair["corrected"]) for pair in result["differences"]]
        outcomes.append(([system["rank"] for system in result["systems"]], probabilities))
    assert outcomes == outcomes[:1] * 2
    ranks, probabilities = outcomes[0]
    assert ranks == [1, 1, 3, 3]
    assert sorted(probabilities)[:4] == [(2 / 256, 6 * 2 / 256)] * 4


ALL = 2**8
"""As many replicates as outcomes of 8 documents: more would change nothing."""
BOTH = ("--mode", "both")
"""The mode of the metric: the other modes are not compared."""
EIGHT = [dict.fromkeys(range(number), 1 + number % 3) for number in range(8)]


def test_eight_systems_on_eight_documents_are_not_distinguishable(
    invoke: Run, tmp_path: Path
) -> None:
    reference = templettes(tmp_path / "reference.tpl", {}, 8)
    systems = [templettes(tmp_path / f"s{at}.tpl", own, 8) for at, own in enumerate(EIGHT)]
    given = ("leaderboard", "hub4", "-r", reference, *systems, "--metric", "both.f", *BOTH)
    files = {form: tmp_path / f"board.{form}" for form in ("markdown", "latex", "html")}
    others = [word for form, path in files.items() for word in ("--output-file", f"{form}={path}")]
    done = invoke(*given, *others, "--bootstrap", ALL)
    assert done.exit_code == 0, done.stderr
    for text in (done.stdout, *(path.read_text("utf-8") for path in files.values())):
        assert "no difference can be significant: 8 documents, 28 pairs, smallest p 0.22" in text
        assert "not distinguishable" in text
        assert "Best by" not in text
    ranks = [line.split()[0] for line in done.stdout.splitlines() if " s" in line[:9]]
    assert ranks == ["rank", *"--------", "system", *"12345678"]


def test_significance_is_in_the_json_of_a_leaderboard(invoke: Run, tmp_path: Path) -> None:
    reference = templettes(tmp_path / "reference.tpl", {}, 8)
    systems = [templettes(tmp_path / f"s{at}.tpl", own, 8) for at, own in enumerate(EIGHT)]
    given = ("leaderboard", "hub4", "-r", reference, *systems, "--metric", "both.f", *BOTH)
    result = ranked(invoke, *given, "--bootstrap", ALL)
    (own,) = result["significance"]
    assert own["note"] in result["notes"]
    assert (own["metric"], own["documents"], own["pairs"]) == ("both.f", 8, 28)
    assert own["smallest"] == 28 * 2 / 256
    board = hlteval.leaderboard(
        "hub4", reference, systems, metrics=["both.f"], bootstrap=ALL, mode="both"
    )
    assert repr(board).endswith("; 8 systems, 0 refused; not distinguishable>")
    assert repr(board.comparisons[0]).endswith("; not distinguishable>")


def test_a_rank_that_hangs_on_the_draws_is_noted(invoke: Run, tmp_path: Path) -> None:
    """16 documents, 12 wins and 4 losses: exact p is 2 · 2517 / 2¹⁶ = .0768."""
    reference = templettes(tmp_path / "reference.tpl", {}, 16)
    good = templettes(tmp_path / "good.tpl", dict.fromkeys(range(4), 1), 16)
    bad = templettes(tmp_path / "bad.tpl", dict.fromkeys(range(4, 16), 1), 16)
    given = ("compare", "hub4", "-r", reference, good, bad, "--metric", "both.rec")
    result = ranked(invoke, *given, "--bootstrap", 60)
    (pair,) = result["differences"]
    assert 0 < pair["monte_carlo_error"] < 0.1
    assert result["signature"].endswith("|test:permutation|metric:both.rec")
    (note,) = [note for note in result["notes"] if "Monte Carlo" in note]
    assert note.startswith("1 rank by both.rec (bad) would change")
    exact = ranked(invoke, *given, "--bootstrap", 2**16)
    assert exact["differences"][0]["probability"] == 2 * (1 + 16 + 120 + 560 + 1820) / 2**16
    assert not [note for note in exact["notes"] if "Monte Carlo" in note]


def test_a_jackknife_of_five_documents_gives_no_probability(invoke: Run, tmp_path: Path) -> None:
    reference = templettes(tmp_path / "reference.tpl", {}, 5)
    good = templettes(tmp_path / "good.tpl", {0: 1}, 5)
    bad = templettes(tmp_path / "bad.tpl", dict(zip(range(5), (1, 2, 2, 2, 3), strict=True)), 5)
    result = ranked(invoke, "compare", "hub4", "-r", reference, good, bad, "--test", "jackknife")
    (pair,) = result["differences"]
    assert (pair["probability"], pair["corrected"]) == (None, None)
    reason = "no difference can be significant: 5 documents with counts, at least 6 are needed"
    assert result["significance"]["note"] == reason


def test_equal_systems_on_five_documents_have_no_probability_by_jackknife(
    invoke: Run, tmp_path: Path
) -> None:
    """The note that no difference can be significant stays if two systems are equal."""
    reference = templettes(tmp_path / "reference.tpl", {}, 5)
    names = {"first": {0: 1}, "second": {0: 1}, "third": dict.fromkeys(range(5), 2)}
    systems = [templettes(tmp_path / f"{name}.tpl", own, 5) for name, own in names.items()]
    given = ("compare", "hub4", "-r", reference, *systems, "--test", "jackknife")
    result = ranked(invoke, *given)
    assert [pair["probability"] for pair in result["differences"]] == [1.0, None, None]
    reason = "no difference can be significant: 5 documents with counts, at least 6 are needed"
    assert result["significance"]["note"] == reason
    assert f"not distinguishable: {reason}" in invoke(*given).stdout


def test_a_folder_has_the_errors_item_by_item(invoke: Run, tmp_path: Path) -> None:
    systems = [DEMO / "careful.tpl", DEMO / "bold.tpl"]
    given = ("compare", "hub4", "-r", DEMO / "reference.tpl", *systems, "--bootstrap", 9)
    folder = tmp_path / "compared"
    for _ in range(2):  # results are replaced
        done = invoke(*given, "-o", folder)
        assert done.exit_code == 0, done.stderr
    tables = {path.stem: path.read_text("utf-8").splitlines() for path in folder.glob("*.tsv")}
    assert sorted(tables) == [
        *("differences", "error_counts", "error_counts_by_document", "error_counts_by_label"),
        *("errors", "systems"),
    ]
    assert tables["error_counts"][1] == "careful\tbold\t51\t12\t5\t4\t0\t0\t0\t0"
    assert tables["error_counts_by_label"][1:] == [
        "careful\tbold\tCONTEST\t39\t12\t5\t4\t0\t0\t0\t0",
        "careful\tbold\tTEMPLATE\t12\t0\t0\t0\t0\t0\t0\t0",
    ]
    assert len(tables["error_counts_by_document"]) == 1 + 12
    assert len(tables["errors"]) == 1 + 216
    own = json.loads((folder / "comparison.json").read_text("utf-8"))
    assert own == json.loads(invoke(*given, "--format", "json").stdout)
    assert own["errors"][0]["only_first"] == 12
    (folder / "notes.md").write_text("mine")
    refused = invoke(*given, "-o", folder)
    assert refused.exit_code == 2
    assert "contains files other than a comparison" in refused.stderr


def test_texts_are_around_the_errors_of_a_report(invoke: Run, tmp_path: Path) -> None:
    folder = DEMO.parent / "entities"
    given = ("compare", "lorehlt-edl", "-r", folder / "reference.tab", folder / "system.tab")
    given += (folder / "reference.tab", "--texts", folder / "texts", "--bootstrap", 9)
    assert invoke(*given, "--report", tmp_path / "report.html").exit_code == 0
    assert "Mr Omar" in (tmp_path / "report.html").read_text("utf-8")
    refused = invoke(*given)
    assert refused.exit_code == 2
    assert "--texts has no effect without -o, --report or JSON" in refused.stderr
